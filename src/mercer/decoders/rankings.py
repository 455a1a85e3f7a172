"""Rankings from points: by assignment, by sorting, and the order that agrees with most pairs."""

from __future__ import annotations

import numbers
import warnings
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.optimize import linear_sum_assignment

from mercer.core.arrays import Array, NumericalWarning, is_numpy_array, like, to_numpy
from mercer.core.collections import as_vectors
from mercer.decoders.base import Decoder
from mercer.decoders.families import unscaled
from mercer.decoders.linear_ordering import COMPARED, best_of_all, best_order, wins
from mercer.embeddings.base import Embedding
from mercer.kernels.algebra import Normalized
from mercer.kernels.base import Kernel
from mercer.kernels.centering import CenteredAt
from mercer.kernels.rankings import Borda, Kemeny, Lehmer, RankHamming, RankingKernel
from mercer.losses import Hamming, Kendall, Loss, SquaredError
from mercer.structures.rankings import ranked


class Peeled(NamedTuple):
    """A kernel on rankings, and what stood around it but for factors."""

    kernel: RankingKernel
    cosine: bool
    centre: CenteredAt | None


def peeled(kernel: Kernel) -> Peeled | None:
    """The kernel on rankings inside factors, a mean and a cosine, in this order; None for any other kernel.

    Examples
    --------
    >>> peeled(0.5 * Kemeny().normalized())
    Peeled(kernel=Kemeny(partial=False), cosine=True, centre=None)
    """
    kernel = unscaled(kernel)
    centre = kernel if isinstance(kernel, CenteredAt) else None
    kernel = kernel if centre is None else unscaled(centre.kernel)
    cosine = isinstance(kernel, Normalized)
    kernel = unscaled(kernel.kernel) if isinstance(kernel, Normalized) else kernel
    return Peeled(kernel, cosine, centre) if isinstance(kernel, RankingKernel) else None


class RankingDecoder(Decoder):
    """Searches all full rankings for the nearest one; a subclass defines `_place`.

    Answers count from 0 or from 1 as the training rankings do. Factors and a mean before the kernel change nothing, nor does
    a cosine where all full rankings have one norm.
    """

    families: ClassVar[tuple[type[RankingKernel], ...]] = ()

    def fit(self, embedding: Embedding, loss: Any = None) -> Self:
        """Check that the output kernel is one whose nearest ranking can be found."""
        found = peeled(embedding.kernel_)
        if found is None or not isinstance(found.kernel, self.families):
            known = " or ".join(f"{family.__name__}()" for family in self.families)
            raise TypeError(
                f"{type(self).__name__} needs output_kernel={known}, and came with {embedding.kernel_!r}; use that, or "
                "decoder='auto'"
            )
        if isinstance(found.kernel, Lehmer) and found.cosine:
            raise TypeError(
                f"{type(self).__name__} came with {embedding.kernel_!r}, under which codes cannot be decided item by item; use "
                "Lehmer() as it is"
            )
        super().fit(embedding, loss)
        self.peeled_ = found
        ranks = to_numpy(embedding.outputs_)
        self.items_ = ranks.shape[1]
        self.start_ = int(np.nanmin(ranks) >= 1) if ranked(ranks).any() else 0
        return self

    def decode(self, H: Array, leave_out: np.ndarray | None = None) -> Array:
        """The ranking of each point; any ranking will do, so leaving one out changes nothing."""
        ranks = self._place(self._mass(H)) + self.start_
        outputs = self.embedding_.outputs_
        return ranks if is_numpy_array(outputs) else like(ranks, outputs)

    def _place(self, mass: np.ndarray) -> np.ndarray:
        """The position, from 0, of each item for each row of features."""
        raise TypeError(f"{type(self).__name__} must define _place(mass)")

    def _mass(self, H: Array) -> np.ndarray:
        """Points in the features of the kernel on rankings itself."""
        embedding, centre = self.embedding_, self.peeled_.centre
        if embedding.kernel_ == self.peeled_.kernel and hasattr(embedding, "feature_map_"):
            return to_numpy(as_vectors(H, "H"))
        weights = to_numpy(self._weights(H))
        mass = weights @ self._rows(embedding.outputs_)
        if centre is None:
            return mass
        mean = to_numpy(centre.weights) @ self._rows(centre.reference)
        return mass + (1.0 - weights.sum(axis=1, keepdims=True)) * mean

    def _rows(self, outputs: Array) -> np.ndarray:
        rows = self.peeled_.kernel.features(to_numpy(outputs).astype(float))
        lengths = np.linalg.norm(rows, axis=1, keepdims=True) if self.peeled_.cosine else np.ones(1)
        return rows / np.where(lengths > 0, lengths, 1.0)


class Assignment(RankingDecoder):
    r"""The nearest ranking under `RankHamming`: items are assigned to positions, :math:`\max_\pi \sum_i P_{i\pi(i)}`.

    Exact for any number of items, by the Hungarian method in O(K³).

    Examples
    --------
    >>> from mercer.embeddings import Features
    >>> embedding = Features().fit(RankHamming(), np.array([[0, 1, 2], [2, 0, 1]]))
    >>> Assignment().fit(embedding).decode(embedding.coordinates_).tolist()
    [[0, 1, 2], [2, 0, 1]]
    """

    families = (RankHamming,)

    def _place(self, mass: np.ndarray) -> np.ndarray:
        matrices = mass.reshape(-1, self.items_, self.items_)
        return np.asarray([linear_sum_assignment(matrix, maximize=True)[1] for matrix in matrices], dtype=np.int64)


class Sorting(RankingDecoder):
    r"""The nearest ranking under `Borda` or `Lehmer`, :math:`O(K \log K)`.

    `Borda`: items sorted by their coordinate, largest first; by the rearrangement inequality no ranking is nearer.
    `Lehmer`: each coordinate rounded to the nearest code it may have, and the codes read as a ranking. Both are exact. Equal
    coordinates keep the order in which items are listed.

    Examples
    --------
    >>> from mercer.embeddings import Features
    >>> embedding = Features().fit(Borda(), np.array([[1, 2, 3], [3, 1, 2]]))
    >>> Sorting().fit(embedding).decode(np.array([[-0.2, 0.9, -0.7]])).tolist()
    [[2, 1, 3]]
    """

    families = (Borda, Lehmer)

    def _place(self, mass: np.ndarray) -> np.ndarray:
        if isinstance(self.peeled_.kernel, Borda):
            return _inverse(np.argsort(-mass, axis=1, kind="stable"))
        codes = np.clip(np.rint(mass), 0, np.arange(1, self.items_)).astype(np.int64)
        return _from_codes(codes)


class KemenyOrder(RankingDecoder):
    r"""The nearest ranking under `Kemeny`: the order that agrees with the most weight of pairs.

    .. math:: \arg\max_y \sum_{i<j} h_{ij}\, s_{ij}(y)

    Where the signs of h contradict each other nowhere, the order is read off. Otherwise up to 6 items are decided by
    comparing all orders. Of more, only items in a tangle, each ahead of another in a circle, are searched: by dynamic
    programming over sets of leading items with bounds. That is exact for up to about 14 items in one tangle, and beyond that
    as long as no more than `width` sets of one size stay in the race; after that, or after `time_limit`, the best order found
    comes back with a `NumericalWarning`, and `gap_` says by how much it may fall short.

    Parameters
    ----------
    width : int
        Most sets of leading items of one size that are followed.
    time_limit : float
        Seconds for one ranking, after which the search is only finished off.

    Attributes
    ----------
    gap_ : array (q,)
        For each ranking decoded last, a bound on how much a better order could add to the sum above; 0 where it is the best.

    Examples
    --------
    >>> from mercer.embeddings import Features
    >>> embedding = Features().fit(Kemeny(), np.array([[0, 1, 2], [2, 0, 1]]))
    >>> KemenyOrder().fit(embedding).decode(np.array([[2.0, -1.0, 2.0]])).tolist()  # 0 ahead of 1 ahead of 2 ahead of 0
    [[0, 1, 2]]
    """

    families = (Kemeny,)
    gap_: np.ndarray

    def __init__(self, width: int = 20_000, time_limit: float = 10.0) -> None:
        self.width = width
        self.time_limit = time_limit

    def fit(self, embedding: Embedding, loss: Any = None) -> Self:
        """Check the parameters and that the output kernel is `Kemeny`."""
        if isinstance(self.width, bool) or not isinstance(self.width, numbers.Integral) or self.width < 1:
            raise ValueError(f"width={self.width!r}; expected how many sets to follow, a whole number from 1")
        if not isinstance(self.time_limit, numbers.Real) or not self.time_limit >= 0:
            raise ValueError(f"time_limit={self.time_limit!r}; expected seconds, zero or more")
        return super().fit(embedding, loss)

    def _place(self, mass: np.ndarray) -> np.ndarray:
        items = self.items_
        gains = np.zeros((len(mass), items, items))
        left, right = np.triu_indices(items, 1)
        gains[:, left, right], gains[:, right, left] = mass, -mass
        count = wins(gains)
        place = items - 1 - count
        gap = np.zeros(len(mass))
        tangled = np.flatnonzero(np.any(np.sort(count, axis=1) != np.arange(items), axis=1))
        if items <= COMPARED:
            place[tangled] = best_of_all(mass[tangled], items)
            tangled = tangled[:0]
        for i in tangled:
            found = best_order(gains[i], self.width, float(self.time_limit))
            place[i] = _inverse(found.order[None, :])[0]
            gap[i] = found.gap
        self.gap_ = gap
        if gap.any():
            warnings.warn(
                f"{np.count_nonzero(gap)} of {len(gap)} rankings were not proved to be the nearest: a better order could add "
                f"{gap.max():.3g} to the sum of its pairs (gap_ has the figure of each). Raise width or time_limit",
                NumericalWarning,
                stacklevel=3,
            )
        return place


_MATCHED: tuple[tuple[type[RankingKernel], type[Loss]], ...] = (
    (Kemeny, Kendall),
    (RankHamming, Hamming),
    (Borda, SquaredError),
)
"""Losses that are, on full rankings, the distance of a kernel up to a factor."""


def ranking_decoder(kernel: Kernel, loss: Loss, own: bool) -> tuple[Decoder, str] | None:
    """The decoder for a kernel on rankings and why, if the loss is (`own`) or amounts to that kernel's; else None.

    Examples
    --------
    >>> decoder, _ = ranking_decoder(Kemeny(), Kendall(), own=False)
    >>> type(decoder).__name__
    'KemenyOrder'
    """
    found = peeled(kernel)
    if found is None or (isinstance(found.kernel, Lehmer) and found.cosine):
        return None
    if not own and not any(isinstance(found.kernel, k) and isinstance(loss, d) for k, d in _MATCHED):
        return None
    shown = repr(unscaled(kernel))
    scored = "" if own else f", and {loss!r} is its distance on full rankings"
    if isinstance(found.kernel, Kemeny):
        return KemenyOrder(), f"under {shown} the nearest of all rankings is a Kemeny order{scored}"
    if isinstance(found.kernel, RankHamming):
        return Assignment(), f"under {shown} the nearest of all rankings is an assignment of items to positions{scored}"
    return Sorting(), f"under {shown} the nearest of all rankings is found by sorting{scored}"


def _inverse(orders: np.ndarray) -> np.ndarray:
    """Items, best first, as the position of each item."""
    place = np.empty(orders.shape, dtype=np.int64)
    np.put_along_axis(place, orders, np.broadcast_to(np.arange(orders.shape[1]), orders.shape), axis=1)
    return place


def _from_codes(codes: np.ndarray) -> np.ndarray:
    """Positions of items whose Lehmer codes (but the first, 0) are given.

    Going backwards, item j stands at place j − c_j among items 0 to j, and those before it close the gap.
    """
    items = codes.shape[1] + 1
    place = np.zeros((len(codes), items), dtype=np.int64)
    for j in range(1, items):
        own = j - codes[:, j - 1]
        place[:, :j] += place[:, :j] >= own[:, None]
        place[:, j] = own
    return place
