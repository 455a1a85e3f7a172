"""The best of all sequences with a proof, or the best found in the time there is, with a gap."""

from __future__ import annotations

import heapq
import time
from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.core.validation import check_real
from mercer.decoders.strings.answers import Lengths
from mercer.decoders.strings.base import Constructed
from mercer.decoders.strings.beam import BeamSearch, grow
from mercer.decoders.strings.prefixes import Model, Prefixes

_BATCH = 256  # prefixes extended at a time
_MEMORY = 2**28  # most bytes of open prefixes
_ROUNDING = 1e-10  # difference of a bound and a score, relative to its size, that counts as rounding


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

    def _prepare(self) -> tuple[int, int | None]:
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
    best: list[tuple[float, list[int]]]  # score and symbols of the best sequences so far, best first

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
