"""The base class of decoders that construct sequences, with the symbols of answers and their allowed lengths."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse

from mercer.core.arrays import Array, to_numpy
from mercer.core.collections import Collection, as_objects, count
from mercer.core.validation import is_real, is_whole
from mercer.decoders.base import Decoder, Ranked, check_count
from mercer.decoders.pool import ROUNDING, LeftOut, snapped
from mercer.decoders.strings.kernels import can_construct
from mercer.embeddings.base import Embedding
from mercer.embeddings.directions import Directions
from mercer.kernels.base import Kernel
from mercer.losses.base import Loss

_ENTRIES = 2**22  # most kernel values held dense at a time, 32 MiB of doubles
_SAME = 1e-9  # relative difference at which training outputs come first, and an answer counts as the best there is


@dataclass(frozen=True)
class Alphabet:
    """Symbols by number, in the order in which they first occur."""

    symbols: list[Hashable]
    kind: type[Any]  # the type of the training outputs

    @classmethod
    def of(cls, outputs: Collection, given: Iterable[Hashable] | None = None) -> Alphabet:
        """The given symbols, or by default those of the outputs."""
        kind = type(outputs[0])
        if given is None:
            symbols = list(dict.fromkeys(_plain(symbol) for output in outputs for symbol in output))
            if not symbols:
                raise ValueError("every training output is empty; expected outputs with symbols to make answers of")
            return cls(symbols, kind)
        symbols = list(given) if hasattr(given, "__iter__") else []
        if not symbols or len(set(symbols)) < len(symbols):
            raise ValueError(f"alphabet={given!r:.60}; expected at least one symbol, and each of them once")
        odd = [symbol for symbol in symbols if issubclass(kind, str) and list(str(symbol)) != [symbol]]
        if odd:
            raise ValueError(f"alphabet holds {odd[0]!r}; expected single characters, as the outputs are strings")
        return cls(symbols, kind)

    def __len__(self) -> int:
        return len(self.symbols)

    def word(self, numbers: Iterable[int]) -> Any:
        """The sequence of the symbols with these numbers."""
        symbols = [self.symbols[int(number)] for number in numbers]
        if issubclass(self.kind, str):
            return "".join(symbols)  # type: ignore[arg-type]
        return np.asarray(symbols) if issubclass(self.kind, np.ndarray) else self.kind(symbols)

    def words(self, rows: Sequence[Iterable[int]]) -> np.ndarray:
        """Sequences as a collection."""
        return np.fromiter(map(self.word, rows), dtype=object, count=len(rows))

    def numbers(self, sequence: Iterable[Any]) -> list[int]:
        """The number of each symbol; -1 for one that is not in the alphabet."""
        index = {symbol: number for number, symbol in enumerate(self.symbols)}
        return [index.get(_plain(symbol), -1) for symbol in sequence]

    def with_unseen(self) -> Alphabet:
        """The alphabet with one symbol more, its last, that no training output has."""
        other: Hashable = ("no such symbol",)
        if issubclass(self.kind, str):
            other = next(letter for letter in map(chr, range(1, len(self) + 2)) if letter not in self.symbols)
        elif issubclass(self.kind, np.ndarray):
            numbers: list[Any] = [symbol for symbol in self.symbols if is_real(symbol)]
            other = (max(numbers) + 1) if numbers else "\x01"
        return Alphabet([*self.symbols, other], self.kind)


def _plain(symbol: Any) -> Hashable:
    """The symbol as a Python value, where it is a NumPy one."""
    return symbol.item() if hasattr(symbol, "item") else symbol


class Lengths(NamedTuple):
    """The shortest and the longest allowed length of the answer, for each point."""

    low: np.ndarray
    high: np.ndarray

    def only(self, rows: Any) -> Lengths:
        """Those of some points."""
        return Lengths(self.low[rows], self.high[rows])


class LengthRule:
    """The parameter ``length`` of a decoder, checked: a number, a range, "predicted" or None."""

    def __init__(self, length: Any, seen: np.ndarray, shortest: int, longest: float) -> None:
        # `seen` are the lengths of outputs the kernel sees; it sees sequences from `shortest`, and knows them up to `longest`
        self.predicted = str(length) == "predicted"
        low, high = (int(seen.min()), int(seen.max())) if self.predicted else (shortest, int(seen.max()))
        if length is not None and not self.predicted:
            pair = tuple(length) if type(length) in (tuple, list) else (length, length)
            if len(pair) != 2 or not all(is_whole(n) and n >= 0 for n in pair) or pair[0] > pair[1]:
                raise ValueError(
                    f"length={length!r}; expected a whole number, (shortest, longest), 'predicted', or None for any length up "
                    "to that of the longest training output"
                )
            low, high = map(int, pair)
            if high < shortest:
                raise ValueError(
                    f"length={length!r}, and the output kernel sees nothing in a sequence of fewer than {shortest} symbols; "
                    f"expected {shortest} or more"
                )
            if low > longest:
                raise ValueError(
                    f"length={length!r}, and the longest training output has {longest} symbols; expected at most that, "
                    "since nothing is known of later positions"
                )
        self.low, self.high = max(low, shortest), int(min(high, longest))

    def of(self, points: int, weights: np.ndarray, lengths: np.ndarray) -> Lengths:
        """The limits for each of some points; predicted ones from their weights on outputs of these lengths."""
        if not self.predicted:
            return Lengths(np.full(points, self.low), np.full(points, self.high))
        total = weights.sum(axis=1)
        usable = total > 1e-3
        mean = np.where(usable, weights @ lengths / np.where(usable, total, 1.0), np.median(lengths))
        chosen = np.clip(np.rint(snapped(mean)), self.low, self.high).astype(np.int64)
        return Lengths(chosen, chosen)


@dataclass(frozen=True)
class Report:
    """One answer, its objective, and a bound on how much better another answer could be.

    Examples
    --------
    >>> Report("abc", objective=-2.0, bound=-2.5, constructed=True).gap
    0.5
    """

    object: Any
    """The sequence."""
    objective: float
    """The quantity minimised, l(y, y) − 2⟨h, ψ(y)⟩."""
    bound: float
    """No sequence the decoder may return has a lower objective; minus infinity where nothing is proven."""
    constructed: bool
    """False where the answer is a training output that no constructed sequence improves on."""

    @property
    def gap(self) -> float:
        """The difference of the objective and its bound."""
        return max(self.objective - self.bound, 0.0)

    @property
    def optimal(self) -> bool:
        """Whether the answer is proven to be the best there is."""
        return self.gap <= _SAME * max(1.0, abs(self.objective))


class Constructed(NamedTuple):
    """Sequences found for one point, as symbol numbers, and a score that none can exceed."""

    words: list[list[int]]
    limit: float


class StringDecoder(Decoder):
    """Constructs the sequence nearest to a point, symbol by symbol.

    A subclass defines `decodes`, `_prepare` and `_construct`. The sequences found are scored by the kernel and compared with
    the training outputs of an allowed length, so that no answer is worse than the best of those. Only sequences the kernel sees
    are answers.

    Attributes
    ----------
    alphabet_ : list
        The symbols answers are made of.
    """

    constructs = True

    def __init__(self, length: Any = None, alphabet: Iterable[Hashable] | None = None) -> None:
        self.length = length
        self.alphabet = alphabet

    @classmethod
    def suits(cls, kernel: Kernel, loss: Loss | None, outputs: Collection | None) -> tuple[Decoder, str] | None:
        """For the distance of kernels of n-grams or positions, where the outputs have few symbols."""
        return super().suits(kernel, loss, outputs) if can_construct(kernel, outputs) else None

    def fit(self, embedding: Embedding, loss: Any = None) -> Self:
        """Collect the symbols and the training outputs, and prepare to construct sequences."""
        super().fit(embedding, loss)
        outputs = embedding.outputs_
        seen = np.asarray(embedding.kernel_.sees(outputs))
        if not seen.any():
            raise ValueError(
                f"{embedding.kernel_!r} sees none of the training outputs, the longest of which has "
                f"{max(map(len, outputs))} symbols; expected longer outputs, or a kernel of shorter parts"
            )
        self._explicit = hasattr(embedding, "feature_map_")
        # coordinates along learned directions do not add up over symbols
        self.by_weights = isinstance(embedding, Directions)
        self._alphabet = Alphabet.of(outputs, self.alphabet)
        self.alphabet_ = self._alphabet.symbols
        self._lengths = np.asarray([len(output) for output in outputs])
        self._pool_lengths = np.asarray([len(output) for output in self._training_pool()[0].objects])
        shortest, longest = self._prepare()
        self._rule = LengthRule(self.length, self._lengths[seen], shortest, longest)
        return self

    def _prepare(self) -> tuple[int, float]:
        """Read the kernel; return the length of the shortest sequence it sees, and of the longest it knows about."""
        raise TypeError(f"{type(self).__name__} must define _prepare()")

    def _construct(self, points: np.ndarray, lengths: Lengths, k: int) -> list[Constructed]:
        """Up to k good sequences for each point, in terms of `_readout`."""
        raise TypeError(f"{type(self).__name__} must define _construct(points, lengths, k)")

    def decode(self, H: Array, leave_out: np.ndarray | LeftOut | None = None) -> Collection:
        """The sequence of each point. An output left out is not compared with, but may still be constructed."""
        return as_objects([report.object for report in self.reports(H, leave_out)])

    def reports(self, H: Array, leave_out: np.ndarray | LeftOut | None = None) -> list[Report]:
        """The answer of `decode` for each point, with its objective, a proven bound and the gap between them."""
        return [found[0] for found in self.solve(H, 1, leave_out)]

    def rank(self, H: Array, k: int, leave_out: np.ndarray | LeftOut | None = None) -> list[Ranked]:
        """The k best sequences found for each point, constructed or training outputs, scored ``2⟨h, ψ(y)⟩ - l(y, y)``."""
        return [
            Ranked(as_objects([report.object for report in own]), np.asarray([-report.objective for report in own]))
            for own in self.solve(H, k, leave_out)
        ]

    def solve(self, H: Array, k: int = 1, leave_out: np.ndarray | LeftOut | None = None) -> list[list[Report]]:
        """The k best sequences found for each point, best first, with a proven bound on the first."""
        k, H = check_count(k), np.atleast_2d(to_numpy(self._points(H)))
        pool, candidate_of = self._training_pool()
        allowed = self._allowed(len(pool), candidate_of, leave_out, H)
        points = self._coordinates(H)
        weights = to_numpy(self._weights(H)) if self._rule.predicted and self._explicit else points
        lengths = self._rule.of(len(H), weights, self._lengths)
        own = self._pool_lengths

        def within(rows: slice) -> np.ndarray:
            inside = (lengths.low[rows, None] <= own) & (own <= lengths.high[rows, None])
            return inside if allowed is None else inside & allowed(rows)

        found = self._construct(points, lengths, k)
        training = self._ranked(H, pool, k, within)
        each = zip(self._scored(H, found), training, found, strict=True)
        return [self._merged(made, known, limit, k) for made, known, (_, limit) in each]

    def _coordinates(self, points: np.ndarray) -> np.ndarray:
        """Points as they multiply the rows of `_readout`: features, or else weights on the fitted outputs."""
        return points if self._explicit or self.by_weights else to_numpy(self._weights(points))

    def _readout(self, words: np.ndarray) -> sparse.csr_array:
        """Rows whose product with a point, as `_coordinates` gives it, is ⟨h, ψ(y)⟩."""
        if self._explicit:
            return self.embedding_.feature_map_.sparse_rows(words)
        outputs, kernel = self.embedding_.outputs_, self.embedding_.kernel_
        step = max(1, _ENTRIES // count(outputs))
        parts = (words[start : start + step] for start in range(0, len(words), step))
        rows = [sparse.csr_array(to_numpy(kernel(part, outputs))) for part in parts]
        return sparse.csr_array(sparse.vstack(rows, format="csr"))

    def _scored(self, H: np.ndarray, found: list[Constructed]) -> list[list[tuple[float, Any]]]:
        """Scores, by the kernel itself, and sequences found for each point."""
        owner = np.repeat(np.arange(len(found)), [len(each.words) for each in found])
        words = self._alphabet.words([word for each in found for word in each.words])
        step = max(1, _ENTRIES // max(count(self.embedding_.outputs_), H.shape[1]))
        scored: list[list[tuple[float, Any]]] = [[] for _ in found]
        for start in range(0, len(words), step):
            part = slice(start, start + step)
            features, offsets = self._features(self.embedding_.kernel_.check(words[part]))
            scores = np.sum(H[owner[part]] * to_numpy(features), axis=1) - to_numpy(offsets)
            for row, score, word in zip(owner[part], scores, words[part], strict=True):
                scored[row].append((float(score), word))
        return scored

    def _merged(self, made: list[tuple[float, Any]], training: Ranked, limit: float, k: int) -> list[Report]:
        """The k best of both, each once; where they tie, training outputs first."""
        key = self.embedding_.kernel_.key
        known = set(map(key, training.objects))
        largest = max([1.0] + [abs(score) for score, _ in made])
        pairs = zip(training.scores.tolist(), training.objects, strict=True)
        entries = [(score + _SAME * largest, score, word, False) for score, word in pairs]
        entries += [(score, score, word, True) for score, word in made if key(word) not in known]
        if not entries:
            raise ValueError(
                f"no sequence of an allowed length (length={self.length!r}) could be made of the {len(self._alphabet)} symbols "
                f"of the alphabet; allow other lengths"
            )
        grid = 2.0 ** math.frexp(ROUNDING * largest)[1]
        entries.sort(key=lambda entry: -round(entry[0] / grid))
        scores = list(accumulate((entry[1] for entry in entries[:k]), min))
        bound = -max(limit, scores[0])
        return [
            Report(word, -score, bound if i == 0 else -np.inf, new)
            for i, (score, (_, _, word, new)) in enumerate(zip(scores, entries, strict=False))
        ]
