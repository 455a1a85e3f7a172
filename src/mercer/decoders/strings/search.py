"""Sequences grown symbol by symbol: by a beam of the best few, and by branch and bound with a proof."""

from __future__ import annotations

import heapq
import time
from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from scipy import sparse

from mercer.core.arrays import to_numpy
from mercer.core.validation import check_real, check_whole
from mercer.decoders.base import register, unscaled
from mercer.decoders.strings.base import Constructed, Lengths, StringDecoder
from mercer.decoders.strings.kernels import Term, neighbours, unnormalised, window_terms
from mercer.decoders.strings.prefixes import Model, Prefixes
from mercer.decoders.strings.subsequences import SubsequenceModel
from mercer.decoders.strings.windows import Automaton, WindowModel
from mercer.kernels import Subsequence
from mercer.kernels.base import Kernel
from mercer.kernels.strings.base import length_range

Words = list[tuple[float, list[int]]]  # score and symbol numbers of some sequences
_ITEMS = 2**20  # most extensions scored at a time
_FEATURES = 2**16  # most subsequences a model counts
_BATCH = 256  # prefixes extended at a time
_MEMORY = 2**28  # most bytes of open prefixes
_ROUNDING = 1e-10  # difference of a bound and a score, relative to its size, that counts as rounding


@register(priority=20)
class BeamSearch(StringDecoder):
    r"""A sequence near a point, :math:`\arg\max_y 2\langle h, \psi(y)\rangle - l(y,y)`, grown symbol by symbol.

    At every length the `width` best prefixes are kept, and the best of all lengths is the answer: usually the best there is, in
    time linear in the number of points. The answer is never worse than the best training output. For kernels of common n-grams
    (`Spectrum`, `Mismatch`, their sums and multiples) and `Subsequence`, plain or normalised.

    Parameters
    ----------
    width : int, default=64
        Prefixes kept at every length.
    length : int, (int, int), "predicted" or None
        The length of every answer; the shortest and the longest; the mean length of the training outputs under the weights of
        the point, rounded; or None, for any length up to that of the longest training output.
    alphabet : collection of symbols, optional
        The symbols answers are made of; by default those of the training outputs.

    Examples
    --------
    >>> from mercer.embeddings import Implicit
    >>> from mercer.kernels import Spectrum
    >>> embedding = Implicit().fit(Spectrum(2), np.array(["abc", "cde", "bcd"], dtype=object))
    >>> decoder = BeamSearch(length=(2, 5)).fit(embedding)
    >>> decoder.decode(np.array([[0.9, 0.9, 0.2]]))
    array(['abcde'], dtype=object)
    >>> decoder.reports(np.array([[0.9, 0.9, 0.2]]))[0].optimal
    True
    """

    needs = "Spectrum, Mismatch or Subsequence, plain or normalised,"
    reason = "{kernel} adds up over n-grams, so a sequence can be grown symbol by symbol"
    model_: Model

    def __init__(self, width: int = 64, length: Any = None, alphabet: Iterable[Hashable] | None = None) -> None:
        super().__init__(length, alphabet)
        self.width = width

    @classmethod
    def decodes(cls, kernel: Kernel) -> bool:
        """For kernels of common n-grams, or of subsequences of one length."""
        inner = unscaled(unnormalised(kernel))
        one_length = isinstance(inner, Subsequence) and len(length_range(inner.length)) == 1
        return one_length or window_terms(inner) is not None

    def _prepare(self) -> tuple[int, float]:
        check_whole(self.width, "width", expected="the number of prefixes to keep, a whole number from 1")
        kernel = self.embedding_.kernel_
        inner = unnormalised(kernel)
        norm = None if inner is kernel else float(to_numpy(kernel.diag(self._training_pool()[0].objects[:1]))[0])
        terms = window_terms(inner)
        self.model_ = self._subsequences(inner, norm) if terms is None else self._windows(inner, terms, norm)
        return self.model_.shortest, np.inf

    def _windows(self, inner: Kernel, terms: list[Term], norm: float | None) -> WindowModel:
        _require_symbols(inner, self.alphabet_)
        symbols, longest = len(self.alphabet_), max(term.length for term in terms)
        texts = [self._alphabet.numbers(output) for output in self.embedding_.outputs_]
        texts += [stretch for term in terms if term.changes for stretch in neighbours(texts, term, symbols)]
        machine = Automaton.of(texts, longest, symbols)
        return WindowModel(terms, machine, self._values(machine.stretches, inner), norm)

    def _subsequences(self, inner: Kernel, norm: float | None) -> SubsequenceModel:
        kernel: Any = unscaled(inner)
        symbols, length, decay = len(self.alphabet_), length_range(kernel.length)[0], float(kernel.decay)
        if symbols**length > _FEATURES:
            raise ValueError(
                f"{symbols} symbols have {symbols**length} subsequences of length {length}, too many to count in every answer "
                f"(over {_FEATURES}); use Candidates(), a shorter length or a smaller alphabet"
            )
        words = list(product(range(symbols), repeat=length))
        # a word of that length has one subsequence, of weight decay^length
        square = float(to_numpy(inner.diag(self._alphabet.words(words[:1])))[0])
        scale = np.sqrt(square) / decay**length
        return SubsequenceModel((symbols, length), decay, scale, self._values(words, inner), norm)

    def _values(self, stretches: list[tuple[int, ...]], inner: Kernel) -> sparse.csr_array:
        """⟨h, φ(u)⟩ of each stretch; the norms that a cosine divides by are multiplied back."""
        words = self._alphabet.words(stretches)
        rows = self._readout(words)
        if inner is self.embedding_.kernel_:
            return rows
        return sparse.csr_array(sparse.diags_array(np.sqrt(to_numpy(inner.diag(words)))) @ rows)

    def _construct(self, points: np.ndarray, lengths: Lengths, k: int) -> list[Constructed]:
        width = int(self.width)
        size = max(1, _ITEMS // (width * self.model_.symbols))
        found: list[Constructed] = []
        for start in range(0, len(points), size):
            part = lengths.only(slice(start, start + size))
            targets = self.model_.targets(points[start : start + size])
            grown = grow(self.model_, targets, part, width, k)
            for target, own, low, high in zip(targets, grown, *part, strict=True):
                limit = self.model_.limit(target, int(low), int(high))
                found.append(Constructed([word for _, word in own], limit))
        return found


def grow(model: Model, targets: np.ndarray, lengths: Lengths, width: int, k: int) -> list[Words]:
    """Score and symbols of the k best sequences met by a beam, for each row of `targets`; the path does not depend on k."""
    n, longest = len(targets), int(lengths.high.max())
    ahead = model.outlook(targets)
    beam = model.starts(targets, width, longest)
    found: list[Words] = [[] for _ in range(n)]
    for size in range(model.shortest, longest + 1):
        scores = model.value(beam.linear, beam.square)
        inside = (lengths.low[beam.owner] <= size) & (size <= lengths.high[beam.owner])
        for row in _best(np.where(inside, scores, -np.inf), n, k):
            found[beam.owner[row]].append((float(scores[row]), beam.text[row, :size].tolist()))
        if size < longest:
            sums = model.extended(beam, targets)
            best = _best(model.value(*ahead(beam, sums)).ravel(), n, width)
            beam = model.grown(beam, *np.divmod(best, model.symbols), sums)
    return [sorted(own, key=lambda entry: -entry[0])[:k] for own in found]


def _best(scores: np.ndarray, n: int, k: int) -> np.ndarray:
    """Positions of the k best finite scores of each of n points, which have equal shares of `scores`."""
    each = len(scores) // n
    table = scores.reshape(n, each)
    k = min(k, each)
    order = np.argpartition(-table, k - 1, axis=1)[:, :k] if k < each else np.tile(np.arange(each), (n, 1))
    positions = (order + each * np.arange(n)[:, None]).ravel()
    return positions[np.isfinite(scores[positions])]


def _require_symbols(kernel: Kernel, alphabet: list[Hashable]) -> None:
    """Raise ValueError if the alphabet of the answers has a symbol that a mismatch kernel does not know."""
    for part in kernel.parts():
        _require_symbols(part, alphabet)
    known = getattr(kernel, "alphabet", None)
    unknown = [] if known is None else [symbol for symbol in alphabet if symbol not in known]
    if unknown:
        raise ValueError(
            f"alphabet holds {unknown[0]!r}, which is not in that of {kernel!r:.80}; expected symbols the kernel knows"
        )


class BranchAndBound(BeamSearch):
    r"""The sequence nearest to a point, :math:`\arg\max_y 2\langle h, \psi(y)\rangle - l(y,y)`, with a proof.

    Prefixes are extended, the most promising first, and dropped when no end can make them better than the best known sequence.
    When none is left the answer is the best of all sequences of an allowed length; when the time is over, the gap in `reports`
    bounds how much better another could be. Starts from the answer of `BeamSearch`, so it is never worse.

    The bounds are sharp for `Spectrum`, sound but loose for `Mismatch`, `Subsequence` and normalised kernels, where the proof
    takes long for answers of more than about ten symbols.

    Parameters
    ----------
    time_limit : float, default=1.0
        Seconds for each point.
    width, length, alphabet
        As for `BeamSearch`.

    Examples
    --------
    >>> from mercer.embeddings import Implicit
    >>> from mercer.kernels import Spectrum
    >>> embedding = Implicit().fit(Spectrum(2), np.array(["abab", "baa", "abb"], dtype=object))
    >>> report = BranchAndBound().fit(embedding).reports(np.array([[0.5, 0.6, 0.3]]))[0]
    >>> report.object, report.optimal, round(report.objective, 3)
    ('abaa', True, -3.0)
    """

    def __init__(
        self, time_limit: float = 1.0, width: int = 64, length: Any = None, alphabet: Iterable[Hashable] | None = None
    ) -> None:
        super().__init__(width, length, alphabet)
        self.time_limit = time_limit

    def _prepare(self) -> tuple[int, float]:
        check_real(self.time_limit, "time_limit", closed="right", expected="seconds for each point, above 0")
        return super()._prepare()

    def _construct(self, points: np.ndarray, lengths: Lengths, k: int) -> list[Constructed]:
        found = []
        for i, point in enumerate(points):
            target, own = self.model_.targets(point[None, :]), lengths.only(slice(i, i + 1))
            first = grow(self.model_, target, own, int(self.width), k)[0]
            search = Search(self.model_, target, (int(own.low[0]), int(own.high[0])), k, first)
            limit = search.run(float(self.time_limit))
            found.append(Constructed([word for _, word in search.best], limit))
        return found


@dataclass
class Search:
    """Best-first search for the k best sequences of one point."""

    model: Model
    target: np.ndarray  # one row
    lengths: tuple[int, int]  # the shortest and the longest allowed
    k: int
    best: Words  # the best sequences so far, best first

    def run(self, seconds: float) -> float:
        """Search until nothing is open or the time is over; return a score that no sequence exceeds."""
        low, high = self.lengths
        bounds = self.model.bounder(self.target[0], low, high)
        root = self.model.empty(self.target, high)
        heap, stored, size = [(-float(bounds(root)[0]), 0, 0)], [root], 0
        deadline = time.monotonic() + seconds  # preparation does not count
        while heap and -heap[0][0] > self._least() and time.monotonic() < deadline and size < _MEMORY:
            rows: dict[int, list[int]] = defaultdict(list)
            for _ in range(_BATCH):
                if not heap or -heap[0][0] <= self._least():
                    break
                _, part, row = heapq.heappop(heap)
                rows[part].append(row)
            parents = Prefixes.joined([stored[part].take(rows[part]) for part in sorted(rows)])
            each = np.divmod(np.arange(len(parents) * self.model.symbols), self.model.symbols)
            children = self.model.grown(parents, *each, self.model.extended(parents, self.target))
            self._keep(children.take(np.flatnonzero(children.size >= low)))
            unfinished = children.take(np.flatnonzero(children.size < high))
            if not len(unfinished):
                continue
            limits = bounds(unfinished)
            kept = np.flatnonzero(limits > self._least())
            for row, limit in enumerate(limits[kept]):
                heapq.heappush(heap, (-float(limit), len(stored), row))
            stored.append(unfinished.take(kept))
            size += stored[-1].text.nbytes + stored[-1].state.nbytes
        score = self.best[0][0] if self.best else -np.inf
        return max(score, -heap[0][0]) if heap else score

    def _least(self) -> float:
        """The score a sequence has to exceed to be kept."""
        if len(self.best) < self.k:
            return -np.inf
        score = self.best[-1][0]
        return score + _ROUNDING * max(1.0, abs(score))

    def _keep(self, ended: Prefixes) -> None:
        """Keep the sequences that are among the k best."""
        scores = self.model.value(ended.linear, ended.square)
        known = {tuple(word) for _, word in self.best}
        for i in np.argsort(-scores, kind="stable")[: self.k]:
            word = ended.text[i, : ended.size[i]].tolist()
            if np.isfinite(scores[i]) and tuple(word) not in known:
                self.best.append((float(scores[i]), word))
        self.best = sorted(self.best, key=lambda entry: -entry[0])[: self.k]
