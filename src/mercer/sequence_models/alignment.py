"""Alignment of sequences: the output symbols that each input symbol stands for, learned from pairs alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from mercer.core.compiled import compiled
from mercer.sequence_models.inventory import alternating_class
from mercer.sequence_models.symbols import UNKNOWN, Alphabet, Chunk, Symbols

_PLAIN_ROUNDS = 3  # rounds before shapes count


@dataclass
class Aligner:
    r"""Cut each output into the likeliest chunks of 0 to `longest` symbols, one per input symbol.

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

    Examples
    --------
    >>> aligner = Aligner().fit(["box", "bob", "sox"], ["b o k s".split(), "b o b".split(), "s o k s".split()])
    >>> aligner.align("sob", "s o b".split())
    [('s',), ('o',), ('b',)]
    >>> aligner.align("ox", "o k s".split())
    [('o',), ('k', 's')]
    """

    longest: int = 3
    rounds: int = 20
    smoothing: float = 1e-3
    uneven: float = 0.1
    copies: float = 0.0
    consistency: float = 1.0

    def fit(self, X: Iterable[Symbols], Y: Iterable[Symbols]) -> Aligner:
        """Learn the table from the pairs that have a cut (`can_align`)."""
        pairs = [(x, y) for x, y in zip(X, Y, strict=True) if self.can_align(x, y)]
        self._known = np.empty(0, dtype=np.int64)
        if not pairs:
            return self
        self._inputs = Alphabet(symbol for x, _ in pairs for symbol in x)
        self._outputs = Alphabet(symbol for _, y in pairs for symbol in y)
        if (len(self._inputs) + 1) * self._chunk_codes() > 2**63:
            sizes = f"{len(self._inputs)} input and {len(self._outputs)} output symbols"
            raise ValueError(
                f"{sizes} make too many chunks to number; lower longest={self.longest}, or use fewer symbols"
            )
        lattices = [self._lattice(x, y) for x, y in pairs]
        starts = np.concatenate([[0], np.cumsum([len(lattice) for lattice in lattices])])
        known, events = np.unique(np.concatenate(lattices), return_inverse=True)
        prior = self.smoothing + self.copies * self._copied(known)
        table = self.uneven ** np.abs(self._sizes(known) - 1.0)
        lengths = np.asarray([(len(x), len(y)) for x, y in pairs], dtype=np.int64)
        shapes = _Shapes(known // self._chunk_codes(), self._chunk_symbols(known), self._output_kinds(pairs))
        for done in range(self.rounds):
            counts = _expected_counts(events, starts, lengths, table, self.longest)
            table = counts + prior
            if self.consistency and done >= _PLAIN_ROUNDS:
                table = table * shapes.shares(counts) ** self.consistency
            table = table / table.sum()
        self._known, self._log_table = known, np.log(table)
        return self

    def align(self, x: Symbols, y: Symbols) -> list[Chunk]:
        """Return the likeliest chunks of `y`, one for each symbol of `x`; unseen pairs of symbol and chunk are unlikely."""
        if not len(x):
            if len(y):
                raise ValueError(f"an output of {len(y)} symbols cannot be cut for an empty input")
            return []
        if not len(self._known) or not self.can_align(x, y):
            ends = [len(y) * i // len(x) for i in range(len(x) + 1)]
            return [tuple(y[start:end]) for start, end in pairwise(ends)]
        codes = self._lattice(x, y)
        place = np.minimum(np.searchsorted(self._known, codes), len(self._known) - 1)
        unseen = float(self._log_table.min()) - 10.0
        scores = np.where(self._known[place] == codes, self._log_table[place], unseen)
        sizes = _best_cut(scores.reshape(len(x), len(y) + 1, self.longest + 1))
        return [tuple(y[end - size : end]) for size, end in zip(sizes, np.cumsum(sizes), strict=True)]

    def can_align(self, x: Symbols, y: Symbols) -> bool:
        """Whether `y` can be cut into chunks of at most `longest` symbols."""
        return len(y) <= self.longest * len(x)

    def _chunk_codes(self) -> int:
        return (len(self._outputs) + 2) ** self.longest

    def _lattice(self, x: Symbols, y: Symbols) -> np.ndarray:
        """Number every event (x_i stands for y[j:j+size]), laid out as [i, j, size]; chunks past the end repeat."""
        base = len(self._outputs) + 2
        letters, phones = self._inputs.codes(x), self._outputs.codes(y) + 1
        letters[letters == UNKNOWN] = len(self._inputs)
        phones[phones == UNKNOWN + 1] = base - 1
        chunks = np.zeros((len(y) + 1, self.longest + 1), dtype=np.int64)
        for size in range(1, self.longest + 1):
            chunks[:, size] = chunks[:, size - 1]
            reach = len(y) + 1 - size
            if reach > 0:
                chunks[:reach, size] = chunks[:reach, size - 1] * base + phones[size - 1 :]
        return (letters[:, None, None] * self._chunk_codes() + chunks).ravel()

    def _copied(self, known: np.ndarray) -> np.ndarray:
        itself = self._outputs.codes(self._inputs.symbols)
        letters = np.flatnonzero(itself != UNKNOWN)
        return np.isin(known, letters * self._chunk_codes() + itself[letters] + 1).astype(float)

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
        self.symbols = symbols
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
def _expected_counts(  # noqa: C901
    events: np.ndarray, starts: np.ndarray, lengths: np.ndarray, table: np.ndarray, longest: int
) -> np.ndarray:
    """Return the expected count of each event over all pairs, by sums over all cuts forwards and backwards."""
    counts = np.zeros(len(table))
    for pair in range(len(lengths)):
        n, m = lengths[pair]
        cells = events[starts[pair] : starts[pair + 1]].reshape(n, m + 1, longest + 1)
        before, after = np.zeros((n + 1, m + 1)), np.zeros((n + 1, m + 1))
        before[0, 0] = after[n, m] = 1.0
        for i in range(n):
            # each row is scaled to sum to one, so that long sequences do not underflow
            for j in range(m + 1):
                if before[i, j] > 0.0:
                    for size in range(min(longest, m - j) + 1):
                        before[i + 1, j + size] += before[i, j] * table[cells[i, j, size]]
            before[i + 1] /= before[i + 1].sum()
        for i in range(n - 1, -1, -1):
            for j in range(m + 1):
                for size in range(min(longest, m - j) + 1):
                    after[i, j] += table[cells[i, j, size]] * after[i + 1, j + size]
            after[i] /= after[i].sum()
        for i in range(n):
            total = 0.0
            for j in range(m + 1):
                for size in range(min(longest, m - j) + 1):
                    total += before[i, j] * table[cells[i, j, size]] * after[i + 1, j + size]
            for j in range(m + 1):
                for size in range(min(longest, m - j) + 1):
                    event = cells[i, j, size]
                    counts[event] += before[i, j] * table[event] * after[i + 1, j + size] / total
    return counts


@compiled
def _best_cut(scores: np.ndarray) -> np.ndarray:
    """Return the size of each chunk in the best cut; `scores` holds log-probabilities as [i, j, size]."""
    n, m, longest = scores.shape[0], scores.shape[1] - 1, scores.shape[2] - 1
    best = np.full((n + 1, m + 1), -np.inf)
    chosen = np.zeros((n + 1, m + 1), dtype=np.int64)
    best[0, 0] = 0.0
    for i in range(n):
        for j in range(m + 1):
            for size in range(min(longest, m - j) + 1):
                value = best[i, j] + scores[i, j, size]
                if value > best[i + 1, j + size]:
                    best[i + 1, j + size] = value
                    chosen[i + 1, j + size] = size
    sizes = np.zeros(n, dtype=np.int64)
    j = m
    for i in range(n, 0, -1):
        sizes[i - 1] = chosen[i, j]
        j -= sizes[i - 1]
    return sizes
