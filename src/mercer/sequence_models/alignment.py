"""Alignment of sequences: the output symbols that each input symbol, or run of them, stands for, learned from pairs alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from mercer.core.compiled import compiled
from mercer.core.memory import require
from mercer.sequence_models.inventory import alternating_class
from mercer.sequence_models.symbols import UNKNOWN, Alphabet, Chunk, Symbols

_PLAIN_ROUNDS = 3  # rounds before shapes count
_COPIES = 6  # arrays of all events at a time


@dataclass
class Aligner:
    r"""Cut each output into the likeliest chunks of 0 to `longest` symbols, one per input symbol.

    With `reads` above one, a run of up to so many input symbols can stand for one output symbol together.

    .. math:: p(x, y) = \sum_{c_1 \dots c_n = y} \; \prod_i p(x_i, c_i)

    The table p is learned by expectation maximisation, from a start that prefers chunks of one symbol; `align` then cuts
    where the product is largest. An output symbol that nothing in the input stands for, such as an unwritten vowel, could go
    with the symbol before or after it. The table therefore has a second factor, :math:`q(\text{shape of } c \mid \text{kind of }
    x)` to the power of `consistency`: the shape is the pattern of vowels and consonants of a chunk (see `alternating_class`), the
    kind of a symbol is whether it mostly stands for vowels alone, and q their share in the same expected counts, so that all
    symbols agree on a side.

    A pair with more than `longest` output symbols for each input symbol has no such cut: the table is learned without it, and
    `align` cuts its output into chunks of nearly equal length.

    Parameters
    ----------
    longest : int
        Most output symbols that one input symbol may stand for.
    rounds : int
        Rounds of expectation maximisation.
    smoothing : float
        Count added to every pair of a symbol and a chunk that a cut of the training pairs allows.
    uneven : float
        Factor of a chunk's starting probability for each symbol it has more or less than one.
    copies : float
        Count added to each symbol that stands for itself; above zero if inputs and outputs share an alphabet.
    consistency : float
        Power of the factor of shapes; 0 for the plain table.
    reads : int
        Most input symbols that stand for one output symbol together.

    Examples
    --------
    >>> aligner = Aligner().fit(["box", "bob", "sox"], ["b o k s".split(), "b o b".split(), "s o k s".split()])
    >>> aligner.align("sob", "s o b".split())
    [('s',), ('o',), ('b',)]
    >>> aligner.align("ox", "o k s".split())
    [('o',), ('k', 's')]
    >>> aligner = Aligner(reads=2).fit(["sho", "she", "ho", "so"], ["So", "Se", "ho", "so"])
    >>> aligner.units("she", "Se")
    [(('s', 'h'), ('S',)), (('e',), ('e',))]
    >>> aligner.align("she", "Se")
    [('S',), (), ('e',)]
    """

    longest: int = 3
    rounds: int = 20
    smoothing: float = 1e-3
    uneven: float = 0.1
    copies: float = 0.0
    consistency: float = 1.0
    reads: int = 1

    def fit(self, X: Iterable[Symbols], Y: Iterable[Symbols]) -> Aligner:
        """Learn the table from the pairs that have a cut (`can_align`)."""
        pairs = [(x, y) for x, y in zip(X, Y, strict=True) if self.can_align(x, y)]
        self._known = np.empty(0, dtype=np.int64)
        if not pairs:
            return self
        self._inputs = Alphabet(symbol for x, _ in pairs for symbol in x)
        self._outputs = Alphabet(symbol for _, y in pairs for symbol in y)
        self.require_numbers(len(self._inputs), len(self._outputs))
        self._require_memory(pairs)
        lattices = [self.lattice(x, y) for x, y in pairs]
        starts = np.concatenate([[0], np.cumsum([len(lattice) for lattice in lattices])])
        known, events = np.unique(np.concatenate(lattices), return_inverse=True)
        prior = self.smoothing + self.copies * self._copied(known)
        table = self.uneven ** (np.abs(self._sizes(known) - 1.0) + np.sum(self._read(known) > 0, axis=0) - 1.0)
        lengths = np.asarray([(len(x), len(y)) for x, y in pairs], dtype=np.int64)
        shapes = _Shapes(known // self._chunk_codes(), self._chunk_symbols(known), self._output_kinds(pairs))
        for done in range(self.rounds):
            counts = _expected_counts(events, starts, lengths, table, (self.reads, self.longest))
            table = counts + prior
            if self.consistency and done >= _PLAIN_ROUNDS:
                table = table * shapes.shares(counts) ** self.consistency
            table = table / table.sum()
        self._known, self._log_table = known, np.log(table)
        return self

    def align(self, x: Symbols, y: Symbols) -> list[Chunk]:
        """Return the likeliest chunks of `y`, one for each symbol of `x`; unseen pairs of symbol and chunk are unlikely.

        What several input symbols stand for together is the chunk of the first of them.
        """
        return [part for read, chunk in self.units(x, y) for part in (chunk, *[()] * (len(read) - 1))]

    def units(self, x: Symbols, y: Symbols) -> list[tuple[Chunk, Chunk]]:
        """Return the likeliest chunks with the input symbols that stand for each."""
        if not len(x):
            if len(y):
                raise ValueError(f"an output of {len(y)} symbols cannot be cut for an empty input")
            return []
        if not len(self._known) or not self.can_align(x, y):
            ends = [len(y) * i // len(x) for i in range(len(x) + 1)]
            return [((symbol,), tuple(y[start:end])) for symbol, (start, end) in zip(x, pairwise(ends), strict=True)]
        codes = self.lattice(x, y)
        place = np.minimum(np.searchsorted(self._known, codes), len(self._known) - 1)
        unseen = float(self._log_table.min()) - 10.0
        scores = np.where(self._known[place] == codes, self._log_table[place], unseen)
        reads, sizes = _best_cut(scores.reshape(len(x), self.reads, len(y) + 1, self.longest + 1))
        found = zip(reads, np.cumsum(reads), sizes, np.cumsum(sizes), strict=True)
        return [(tuple(x[i - read : i]), tuple(y[j - size : j])) for read, i, size, j in found]

    def can_align(self, x: Symbols, y: Symbols) -> bool:
        """Whether `y` can be cut into chunks of at most `longest` symbols."""
        return len(y) <= self.longest * len(x)

    def can_number(self, inputs: int, outputs: int) -> bool:
        """Whether the runs and chunks of alphabets of these sizes can be told apart by 64-bit numbers."""
        return (inputs + 2) ** self.reads * (outputs + 2) ** self.longest <= 2**63

    def require_numbers(self, inputs: int, outputs: int) -> None:
        """Raise ValueError unless `can_number`."""
        if not self.can_number(inputs, outputs):
            sizes = f"{inputs} input and {outputs} output symbols make too many chunks to number"
            raise ValueError(f"{sizes}; lower longest={self.longest} or reads={self.reads}, or use fewer symbols")

    def _require_memory(self, pairs: list[tuple[Symbols, Symbols]]) -> None:
        """Raise MemoryError unless the events of all pairs fit in memory, some times over while they are numbered."""
        sizes = [len(x) * (len(y) + 1) for x, y in pairs]
        most = pairs[sizes.index(max(sizes))]
        what = f"the ways to align {len(pairs)} pairs, the longest of {len(most[0])} and {len(most[1])} symbols"
        require(
            sum(sizes), self.reads * (self.longest + 1), _COPIES, what, "leave the longest pairs out, or cut them up"
        )

    def _chunk_codes(self) -> int:
        return (len(self._outputs) + 2) ** self.longest

    def lattice(self, x: Symbols, y: Symbols) -> np.ndarray:
        """Number every event (x[i:i+read] stands for y[j:j+size]), laid out as [i, read−1, j, size]; others repeat."""
        base, radix = len(self._outputs) + 2, len(self._inputs) + 2
        letters, phones = self._inputs.codes(x) + 1, self._outputs.codes(y) + 1
        letters[letters == UNKNOWN + 1] = radix - 1
        phones[phones == UNKNOWN + 1] = base - 1
        chunks = np.zeros((len(y) + 1, self.longest + 1), dtype=np.int64)
        for size in range(1, self.longest + 1):
            chunks[:, size] = chunks[:, size - 1]
            reach = len(y) + 1 - size
            if reach > 0:
                chunks[:reach, size] = chunks[:reach, size - 1] * base + phones[size - 1 :]
        events = np.repeat((letters[:, None, None] * self._chunk_codes() + chunks)[:, None], self.reads, axis=1)
        run = letters
        for read in range(2, min(self.reads, len(x)) + 1):
            run = run[:-1] * radix + letters[read - 1 :]
            events[: len(run), read - 1, :-1, 1] = run[:, None] * self._chunk_codes() + phones
        return events.ravel()

    def numbers(self, units: Iterable[tuple[Chunk, Chunk]]) -> np.ndarray:
        """Return the numbers that `lattice` has for units of symbols it knows."""
        base, radix, found = len(self._outputs) + 2, len(self._inputs) + 2, []
        for read, written in units:
            run = chunk = 0
            for code in self._inputs.codes(read).tolist():
                run = run * radix + code + 1
            for code in self._outputs.codes(written).tolist():
                chunk = chunk * base + code + 1
            found.append(run * self._chunk_codes() + chunk)
        return np.asarray(found, dtype=np.int64)

    def _copied(self, known: np.ndarray) -> np.ndarray:
        itself = self._outputs.codes(self._inputs.symbols)
        letters = np.flatnonzero(itself != UNKNOWN)
        return np.isin(known, (letters + 1) * self._chunk_codes() + itself[letters] + 1).astype(float)

    def _read(self, known: np.ndarray) -> np.ndarray:
        """Return the input symbols of each event, numbered from 1, with zeros before them."""
        radix, runs = len(self._inputs) + 2, known // self._chunk_codes()
        return np.asarray([runs // radix**place % radix for place in range(self.reads)])

    def _sizes(self, known: np.ndarray) -> np.ndarray:
        return np.sum(self._chunk_symbols(known) > 0, axis=0)

    def _chunk_symbols(self, known: np.ndarray) -> np.ndarray:
        """Return the output symbols of each event's chunk, first to last, numbered from 1, with zeros before them."""
        base = len(self._outputs) + 2
        chunks = known % self._chunk_codes()
        return np.asarray([chunks // base**place % base for place in range(self.longest - 1, -1, -1)])

    def _output_kinds(self, pairs: list[tuple[Symbols, Symbols]]) -> np.ndarray:
        """Return 2 for each output symbol that is a vowel, 1 for the others, 0 for none."""
        vowels = alternating_class([y for _, y in pairs])
        return np.asarray([0, *(1 + (symbol in vowels) for symbol in self._outputs.symbols), 1])


class _Shapes:
    """The shape of each event's chunk, and the kind of its input symbol."""

    def __init__(self, symbols: np.ndarray, spelled: np.ndarray, kinds: np.ndarray) -> None:
        self.symbols = np.unique(symbols, return_inverse=True)[1]
        shapes, consonant = np.zeros(len(symbols), dtype=np.int64), np.zeros(len(symbols), dtype=bool)
        for own in kinds[spelled]:
            shapes, consonant = 3 * shapes + own, consonant | (own == 1)
        self.shapes = np.unique(shapes, return_inverse=True)[1]
        self.votes = np.where(shapes > 0, np.where(consonant, -1.0, 1.0), 0.0)

    def shares(self, counts: np.ndarray) -> np.ndarray:
        """Return the share of each event's shape among the events of symbols of its kind, from expected counts."""
        vowel = np.bincount(self.symbols, counts * self.votes) > 0.0
        cells = 2 * self.shapes + vowel[self.symbols]
        totals = np.bincount(cells, counts, minlength=2 * int(self.shapes.max() + 1)) + 0.5
        return (totals / np.tile(totals.reshape(-1, 2).sum(axis=0), len(totals) // 2))[cells]


@compiled
def _most(read: int, longest: int, left: int) -> int:
    """Return the most output symbols of a unit: one if it reads several input symbols."""
    return min(longest if read == 1 else 1, left)


@compiled
def _expected_counts(  # noqa: C901
    events: np.ndarray, starts: np.ndarray, lengths: np.ndarray, table: np.ndarray, most: tuple[int, int]
) -> np.ndarray:
    """Return the expected count of each event over all pairs, by sums over all cuts forwards and backwards."""
    counts = np.zeros(len(table))
    reads, longest = most
    for pair in range(len(lengths)):
        n, m = lengths[pair]
        cells = events[starts[pair] : starts[pair + 1]].reshape(n, reads, m + 1, longest + 1)
        before, after = np.zeros((n + 1, m + 1)), np.zeros((n + 1, m + 1))
        before[0, 0] = after[n, m] = 1.0
        # each row is scaled to sum to one, so that long sequences do not underflow; these are the logarithms of the scales
        up, down = np.zeros(n + 1), np.zeros(n + 1)
        for i in range(n):
            for j in range(m + 1):
                if before[i, j] > 0.0:
                    for read in range(1, min(reads, n - i) + 1):
                        for size in range(int(read > 1), _most(read, longest, m - j) + 1):
                            before[i + read, j + size] += before[i, j] * table[cells[i, read - 1, j, size]]
            total = before[i + 1].sum()
            before[i + 1 : i + 1 + reads] /= total
            up[i + 1] = up[i] + np.log(total)
        for i in range(n - 1, -1, -1):
            for read in range(1, min(reads, n - i) + 1):
                scale = np.exp(down[i + read] - down[i + 1])
                for j in range(m + 1):
                    for size in range(int(read > 1), _most(read, longest, m - j) + 1):
                        after[i, j] += scale * table[cells[i, read - 1, j, size]] * after[i + read, j + size]
            total = after[i].sum()
            after[i] /= total
            down[i] = down[i + 1] + np.log(total)
        if before[n, m] == 0.0:  # too unlikely to be told from zero
            continue
        whole = up[n] + np.log(before[n, m])
        for i in range(n):
            for read in range(1, min(reads, n - i) + 1):
                scale = np.exp(up[i] + down[i + read] - whole)
                for j in range(m + 1):
                    for size in range(int(read > 1), _most(read, longest, m - j) + 1):
                        event = cells[i, read - 1, j, size]
                        counts[event] += scale * before[i, j] * table[event] * after[i + read, j + size]
    return counts


@compiled
def _best_cut(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the input and output symbols of each unit in the best cut; `scores` has logarithms as [i, read−1, j, size]."""
    n, reads, m, longest = scores.shape[0], scores.shape[1], scores.shape[2] - 1, scores.shape[3] - 1
    best = np.full((n + 1, m + 1), -np.inf)
    chosen = np.zeros((n + 1, m + 1, 2), dtype=np.int64)
    best[0, 0] = 0.0
    for i in range(n):
        for j in range(m + 1):
            for read in range(1, min(reads, n - i) + 1):
                for size in range(int(read > 1), _most(read, longest, m - j) + 1):
                    value = best[i, j] + scores[i, read - 1, j, size]
                    if value > best[i + read, j + size]:
                        best[i + read, j + size] = value
                        chosen[i + read, j + size] = (read, size)
    units = np.zeros((n, 2), dtype=np.int64)
    i, j, number = n, m, 0
    while i > 0:
        units[number] = chosen[i, j]
        i, j = i - units[number, 0], j - units[number, 1]
        number += 1
    return units[:number][::-1, 0].copy(), units[:number][::-1, 1].copy()
