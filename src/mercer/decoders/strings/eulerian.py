"""Predicted counts of n-grams as the edges of a graph, and the sequence that walks each of them once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from mercer.decoders.families import unscaled
from mercer.decoders.strings.base import Constructed, refuse
from mercer.decoders.strings.beam import BeamSearch
from mercer.decoders.strings.lengths import Lengths
from mercer.decoders.strings.walks import Edges, count_walks, walk
from mercer.decoders.strings.windows import WindowModel
from mercer.kernels import Spectrum
from mercer.kernels.strings._lengths import length_range


class EulerianWalk(BeamSearch):
    r"""The sequence whose n-grams are those predicted, by a walk through all of them (Cortes, Mohri and Weston 2005).

    Under ``Spectrum(n)`` a point is a predicted number of times for each n-gram. Rounded, they are the edges of a graph on
    stretches of n − 1 symbols, and a walk that uses every edge once is a sequence with just these n-grams: no sequence is
    nearer, and finding it takes time linear in its length. The walk is unique where the counts determine the sequence.

    Rounded predictions often allow no such walk. Then edges are dropped or repeated: the heaviest connected part is walked in as
    few pieces as possible, these are put together, and the better of that and a beam search is the answer.

    Parameters
    ----------
    threshold : float, default=0.5
        The part of a count from which it is rounded up. Only at one half is a walk through all edges proven to be the best.
    width, length, alphabet
        As for `BeamSearch`; a walk of another length than allowed is no answer.

    Attributes
    ----------
    walks_ : list of int
        For each point of the last `decode` how many sequences have just the predicted n-grams; 0 where none has.
    reports_ : list of Report
        Objective, proven bound and gap of each answer.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.embeddings import Implicit
    >>> from mercer.kernels import Spectrum
    >>> embedding = Implicit().fit(Spectrum(2), np.array(["abc", "cda", "bc"], dtype=object))
    >>> decoder = EulerianWalk(length=(2, 9)).fit(embedding)
    >>> decoder.decode(np.array([[0.8, 0.9, 0.1]]))
    array(['abcda'], dtype=object)
    >>> decoder.walks_, decoder.reports_[0].optimal
    ([4], True)
    """

    walks_: list[int]
    model_: WindowModel

    def __init__(
        self,
        threshold: float = 0.5,
        width: int = 64,
        length: Any = None,
        alphabet: Iterable[Hashable] | None = None,
    ) -> None:
        self.threshold = threshold
        self.width = width
        self.length = length
        self.alphabet = alphabet

    def _prepare(self) -> tuple[int, int | None]:
        if not isinstance(self.threshold, float | int) or not 0 < self.threshold <= 1:
            raise ValueError(f"threshold={self.threshold!r}; expected a number above 0, at most 1")
        kernel = unscaled(self.embedding_.kernel_)
        if not isinstance(kernel, Spectrum) or len(length_range(kernel.length)) != 1:
            raise refuse(self, self.embedding_.kernel_, "Spectrum of one length")
        return super()._prepare()

    def _construct(self, points: np.ndarray, lengths: Lengths, k: int) -> list[Constructed]:
        span, machine = self.model_.shortest, self.model_.machine
        edges = np.flatnonzero(machine.lengths == span)
        cost = float(self.model_.tables[0, 0])  # the factor before the kernel
        rises = self.model_.targets(points)[:, edges] / cost
        counts = np.floor(rises + 1.0 - self.threshold).astype(int)
        words: list[list[int]] = []
        self.walks_ = []
        for row in counts:
            graph: Edges = {machine.stretches[state]: int(n) for state, n in zip(edges, row, strict=True) if n > 0}
            self.walks_.append(count_walks(graph))
            words.append(walk(graph))
        usable = np.asarray([lengths.allow(i, len(word)) for i, word in enumerate(words)])
        # a beam where no walk goes through all edges, or where more than one answer is asked for
        open_ones = np.flatnonzero(~(usable & (np.asarray(self.walks_) > 0)) | (k > 1))
        rest = dict.fromkeys(range(len(points)), Constructed([], np.inf))
        if len(open_ones):
            some = Lengths(lengths.low[open_ones], lengths.high[open_ones])
            rest |= dict(zip(open_ones.tolist(), super()._construct(points[open_ones], some, k), strict=True))
        found = []
        for i, word in enumerate(words):
            limit = rest[i].limit if i in open_ones else self._limit(points[i : i + 1], lengths, i)
            own = [word] if usable[i] else []
            found.append(Constructed(own + [other for other in rest[i].words if other != word], limit))
        return found

    def _limit(self, point: np.ndarray, lengths: Lengths, row: int) -> float:
        return self.model_.limit(self.model_.targets(point)[0], int(lengths.low[row]), int(lengths.high[row]))
