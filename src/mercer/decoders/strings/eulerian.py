"""Predicted counts of n-grams as the edges of a graph, and the sequence that walks each of them once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from mercer.core.arrays import Array, to_numpy
from mercer.core.validation import check_real
from mercer.decoders.families import unscaled
from mercer.decoders.strings.base import Constructed, refuse
from mercer.decoders.strings.beam import BeamSearch
from mercer.decoders.strings.kernels import window_terms
from mercer.decoders.strings.lengths import Lengths
from mercer.decoders.strings.walks import Edges, count_walks, walk
from mercer.decoders.strings.windows import WindowModel


class EulerianWalk(BeamSearch):
    r"""The sequence whose n-grams are those predicted, by a walk through all of them (Cortes, Mohri and Weston 2005).

    Under ``Spectrum(n)`` a point is a predicted count for each n-gram. Rounded, the counts are the edges of a graph on
    stretches of n − 1 symbols, and a walk that uses every edge once is a sequence with exactly these n-grams: no sequence is
    nearer, and finding it takes time linear in its length. The walk is unique where the counts determine the sequence.

    Rounded predictions often allow no such walk. Then edges are dropped or repeated: the heaviest connected part is walked in as
    few pieces as possible, these are joined, and the better of the result and a beam search is the answer.

    Parameters
    ----------
    threshold : float, default=0.5
        The fraction from which a count is rounded up. Only at one half is a walk through all edges proven to be the best.
    width, length, alphabet
        As for `BeamSearch`; a walk of another length than allowed is not an answer.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.embeddings import Implicit
    >>> from mercer.kernels import Spectrum
    >>> embedding = Implicit().fit(Spectrum(2), np.array(["abc", "cda", "bc"], dtype=object))
    >>> decoder = EulerianWalk(length=(2, 9)).fit(embedding)
    >>> decoder.decode(np.array([[0.8, 0.9, 0.1]]))
    array(['abcda'], dtype=object)
    >>> decoder.walks(np.array([[0.8, 0.9, 0.1]]))
    [4]
    """

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

    def walks(self, H: Array) -> list[int]:
        """Number of sequences with exactly the predicted n-grams, for each point; 0 where there is none."""
        return [count_walks(graph) for graph in self._graphs(self._coordinates(to_numpy(self._points(H))))]

    def _prepare(self) -> tuple[int, int | None]:
        check_real(self.threshold, "threshold", 0, 1, closed="right", expected="a number above 0, at most 1")
        terms = window_terms(unscaled(self.embedding_.kernel_))
        if terms is None or len(terms) > 1 or terms[0].changes:
            raise refuse(self, self.embedding_.kernel_, "Spectrum of one length")
        return super()._prepare()

    def _graphs(self, points: np.ndarray) -> list[Edges]:
        """The n-grams each point predicts, with their rounded counts."""
        machine = self.model_.machine
        edges = np.flatnonzero(machine.lengths == self.model_.shortest)
        factor = float(self.model_.tables[0, 0])
        rises = self.model_.targets(points)[:, edges] / factor
        counts = np.floor(rises + 1.0 - self.threshold).astype(int)
        return [{machine.stretches[s]: int(n) for s, n in zip(edges, row, strict=True) if n > 0} for row in counts]

    def _construct(self, points: np.ndarray, lengths: Lengths, k: int) -> list[Constructed]:
        graphs = self._graphs(points)
        words = [walk(graph) for graph in graphs]
        usable = np.asarray([lengths.allow(i, len(word)) for i, word in enumerate(words)])
        exact = usable & np.asarray([count_walks(graph) > 0 for graph in graphs])
        # a beam where no walk goes through all edges, or where more than one answer is asked for
        beamed = np.flatnonzero(~exact | (k > 1))
        rest: dict[int, Constructed] = {}
        if len(beamed):
            found = super()._construct(points[beamed], lengths.only(beamed), k)
            rest = dict(zip(beamed.tolist(), found, strict=True))
        return [
            _joined([word] if usable[i] else [], rest.get(i) or Constructed([], self._limit(points[i], lengths, i)))
            for i, word in enumerate(words)
        ]

    def _limit(self, point: np.ndarray, lengths: Lengths, row: int) -> float:
        target = self.model_.targets(point[None, :])[0]
        return self.model_.limit(target, int(lengths.low[row]), int(lengths.high[row]))


def _joined(own: list[list[int]], rest: Constructed) -> Constructed:
    return Constructed(own + [word for word in rest.words if word not in own], rest.limit)
