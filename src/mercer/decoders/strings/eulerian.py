"""Predicted counts of n-grams as the edges of a graph, and the sequence that walks each of them once."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable
from math import factorial, prod
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from mercer.core.arrays import Array, to_numpy
from mercer.core.validation import check_real
from mercer.decoders.strings.base import Constructed, Lengths
from mercer.decoders.strings.kernels import window_terms
from mercer.decoders.strings.search import BeamSearch
from mercer.decoders.strings.windows import WindowModel
from mercer.kernels.base import Kernel

Gram = tuple[int, ...]  # n symbols: an edge from its first n − 1 symbols to its last n − 1
Edges = dict[Gram, int]  # the count of each n-gram


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
    >>> from mercer.embeddings import Implicit
    >>> from mercer.kernels import Spectrum
    >>> embedding = Implicit().fit(Spectrum(2), np.array(["abc", "cda", "bc"], dtype=object))
    >>> decoder = EulerianWalk(length=(2, 9)).fit(embedding)
    >>> decoder.decode(np.array([[0.8, 0.9, 0.1]]))
    array(['abcda'], dtype=object)
    >>> decoder.walks(np.array([[0.8, 0.9, 0.1]]))
    [4]
    """

    needs = "Spectrum of one length"
    model_: WindowModel

    def __init__(
        self, threshold: float = 0.5, width: int = 64, length: Any = None, alphabet: Iterable[Hashable] | None = None
    ) -> None:
        super().__init__(width, length, alphabet)
        self.threshold = threshold

    @classmethod
    def decodes(cls, kernel: Kernel) -> bool:
        """For kernels of common n-grams of one length, each compared with its equals alone."""
        terms = window_terms(kernel)
        return terms is not None and len(terms) == 1 and not terms[0].changes

    def walks(self, H: Array) -> list[int]:
        """Number of sequences with exactly the predicted n-grams, for each point; 0 where there is none."""
        points = self._coordinates(to_numpy(self._points(H)))
        return [count_walks(graph) for graph in self._graphs(self.model_.targets(points))]

    def _prepare(self) -> tuple[int, float]:
        check_real(self.threshold, "threshold", 0, 1, closed="right", expected="a number above 0, at most 1")
        return super()._prepare()

    def _graphs(self, targets: np.ndarray) -> list[Edges]:
        """The n-grams each point predicts, with their rounded counts."""
        machine, factor = self.model_.machine, float(self.model_.tables[0, 0])
        edges = np.flatnonzero(machine.lengths == self.model_.shortest)
        counts = np.floor(targets[:, edges] / factor + 1.0 - self.threshold).astype(int)
        return [{machine.stretches[s]: int(n) for s, n in zip(edges, row, strict=True) if n > 0} for row in counts]

    def _construct(self, points: np.ndarray, lengths: Lengths, k: int) -> list[Constructed]:
        targets = self.model_.targets(points)
        graphs = self._graphs(targets)
        words = [walk(graph) for graph in graphs]
        sizes = np.asarray([len(word) for word in words])
        usable = (lengths.low <= sizes) & (sizes <= lengths.high)
        exact = usable & np.asarray([count_walks(graph) > 0 for graph in graphs])
        # a beam where no walk goes through all edges, or where more than one answer is asked for
        beamed = np.flatnonzero(~exact | (k > 1))
        rest = dict(zip(beamed.tolist(), super()._construct(points[beamed], lengths.only(beamed), k), strict=True))
        found = []
        for i, (word, target, low, high) in enumerate(zip(words, targets, *lengths, strict=True)):
            others, limit = rest.get(i) or Constructed([], self.model_.limit(target, int(low), int(high)))
            found.append(Constructed([word] * bool(usable[i]) + [other for other in others if other != word], limit))
        return found


def walk(edges: Edges) -> list[int]:
    """A sequence with the n-grams of the heaviest connected part, exactly those where one walk goes through all of them."""
    part = max(connected_parts(edges), key=lambda part: sum(part.values()), default={})
    word: list[int] = []
    for trail in sorted(_trails(part), key=len, reverse=True):
        text = [*trail[0], *(gram[-1] for gram in trail[1:])]
        shared = max(n for n in range(min(len(word), len(trail[0]) - 1) + 1) if word[len(word) - n :] == text[:n])
        word += text[shared:]
    return word


def count_walks(edges: Edges) -> int:
    """Number of sequences with exactly these n-grams and counts, by the BEST theorem."""
    surplus = _surplus(edges)
    odd = sorted((n, node) for node, n in surplus.items() if n)
    if not edges or len(connected_parts(edges)) > 1 or [n for n, _ in odd] not in ([], [-1, 1]):
        return 0
    joined = [(gram[:-1], gram[1:], n) for gram, n in edges.items()]
    if odd:  # an edge from the end back to the start closes every walk to a circuit
        joined.append((odd[0][1], odd[1][1], 1))
    out: Counter[Gram] = Counter()
    for source, _, n in joined:
        out[source] += n
    place = {node: i for i, node in enumerate(out)}
    laplacian = [[0] * len(out) for _ in out]
    for source, target, n in joined:
        laplacian[place[source]][place[source]] += n
        laplacian[place[source]][place[target]] -= n
    circuits = _determinant([row[1:] for row in laplacian[1:]]) * prod(factorial(n - 1) for n in out.values())
    begins = 1 if odd else sum(out.values())  # a circuit may begin at any of its edges
    # exchanging equal n-grams does not change the sequence
    return circuits * begins // prod(factorial(n) for n in edges.values())


def connected_parts(edges: Edges) -> list[Edges]:
    """The edges of each connected part of the graph."""
    place: dict[Gram, int] = {}
    ends = [[place.setdefault(node, len(place)) for node in (gram[:-1], gram[1:])] for gram in edges]
    sources, targets = np.asarray(ends, dtype=int).reshape(-1, 2).T
    graph = sparse.coo_array((np.ones(len(ends)), (sources, targets)), shape=(len(place), len(place)))
    parts: defaultdict[int, Edges] = defaultdict(dict)
    for (gram, n), part in zip(edges.items(), connected_components(graph)[1][sources], strict=True):
        parts[part][gram] = n
    return list(parts.values())


def _trails(part: Edges) -> list[list[Gram]]:
    """The fewest walks that together use every edge of a connected part once, as lists of n-grams (Hierholzer)."""
    left: defaultdict[Gram, list[Gram]] = defaultdict(list)
    for gram, n in part.items():
        left[gram[:-1]] += [gram] * n
    starts = [node for node, n in _surplus(part).items() for _ in range(n)] or [gram[:-1] for gram in list(part)[:1]]
    trails = [_until_stuck(start, left) for start in starts]
    for trail in trails:  # circuits are left: each is inserted where it touches a walk
        at = 0
        while at <= len(trail):
            node = trail[at][:-1] if at < len(trail) else trail[-1][1:]
            if left[node]:
                trail[at:at] = _until_stuck(node, left)
            else:
                at += 1
    return trails


def _until_stuck(node: Gram, left: defaultdict[Gram, list[Gram]]) -> list[Gram]:
    """Follow unused edges, and remove them, until there are none."""
    trail = []
    while left[node]:
        trail.append(left[node].pop())
        node = trail[-1][1:]
    return trail


def _surplus(edges: Edges) -> Counter[Gram]:
    """For each node, the number of edges that leave it less that of edges that enter it."""
    surplus: Counter[Gram] = Counter()
    for gram, n in edges.items():
        surplus[gram[:-1]] += n
        surplus[gram[1:]] -= n
    return surplus


def _determinant(matrix: list[list[int]]) -> int:
    """The exact determinant of whole numbers (Bareiss); no pivot of a Laplacian of a connected graph is zero."""
    rows, before = [list(row) for row in matrix], 1
    for k in range(len(rows) - 1):
        for i in range(k + 1, len(rows)):
            for j in range(k + 1, len(rows)):
                rows[i][j] = (rows[i][j] * rows[k][k] - rows[i][k] * rows[k][j]) // before
        before = rows[k][k]
    return rows[-1][-1] if rows else 1
