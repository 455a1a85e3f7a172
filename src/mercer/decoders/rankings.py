"""Rankings from points: by assignment, by sorting, and the order that agrees with most pairs."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

import numpy as np
from scipy.optimize import linear_sum_assignment

from mercer.core.arrays import Array, NumericalWarning, is_numpy_array, like, to_numpy
from mercer.core.collections import Collection
from mercer.core.validation import check_real, check_whole
from mercer.decoders.base import Decoder, is_distance_of, layers, register, unscaled
from mercer.decoders.linear_ordering import COMPARED, best_of_all, best_order, wins
from mercer.decoders.pool import LeftOut, snapped
from mercer.embeddings.base import Embedding
from mercer.kernels.base import Kernel
from mercer.kernels.rankings import Borda, Kemeny, Lehmer, RankHamming
from mercer.losses import Hamming, Kendall, Loss, SquaredError
from mercer.structures.rankings import ranked

# losses that are, on full rankings, the distance of a kernel up to a factor
_DISTANCES: dict[type, type[Loss]] = {Kemeny: Kendall, RankHamming: Hamming, Borda: SquaredError}


class RankingDecoder(Decoder):
    """The nearest of all full rankings; a subclass defines `_place`.

    Answers count from 0 or from 1 as the training rankings do. Factors and a mean around the kernel change nothing, nor does a
    cosine where all full rankings have one norm.
    """

    method: ClassVar[str] = ""  # the nearest ranking in words

    @classmethod
    def decodes(cls, kernel: Kernel) -> bool:
        """For those in `kernels`, but not for a cosine of `Lehmer`, under which full rankings have different norms."""
        found = layers(kernel)
        return isinstance(found.core, cls.kernels) and not (found.normalized and isinstance(found.core, Lehmer))

    @classmethod
    def suits(cls, kernel: Kernel, loss: Loss | None, outputs: Collection | None) -> tuple[Decoder, str] | None:
        """For the distance of the kernel, or the loss that amounts to it."""
        own = is_distance_of(loss, kernel)
        if not (own or type(loss) is _DISTANCES.get(type(layers(kernel).core))):
            return None
        scored = "" if own else f", and {loss!r} is its distance on full rankings"
        return cls(), f"under {unscaled(kernel)!r} the nearest of all rankings is {cls.method}{scored}"

    def fit(self, embedding: Embedding, loss: Any = None) -> Self:
        """Take the kernel apart, and see how the training rankings count."""
        super().fit(embedding, loss)
        self.layers_ = layers(embedding.kernel_)
        ranks = to_numpy(embedding.outputs_)
        self.items_ = ranks.shape[1]
        self.start_ = int(np.nanmin(ranks) >= 1) if ranked(ranks).any() else 0
        return self

    def decode(self, H: Array, leave_out: np.ndarray | LeftOut | None = None) -> Array:
        """The ranking of each point; any ranking is possible, so leaving one out changes nothing."""
        ranks = self._place(self._mass(H)) + self.start_
        outputs = self.embedding_.outputs_
        return ranks if is_numpy_array(outputs) else like(ranks, outputs)

    def _place(self, mass: np.ndarray) -> np.ndarray:
        """The position, from 0, of each item for each row of features."""
        raise TypeError(f"{type(self).__name__} must define _place(mass)")

    def _mass(self, H: Array) -> np.ndarray:
        """Points in the features of the kernel on rankings itself."""
        mass, centre = self._expectations(H, type(self.layers_.core), self._rows), self.layers_.centre
        if centre is not None:
            weights, mean = to_numpy(self._weights(H)), to_numpy(centre.weights) @ self._rows(centre.reference)
            mass = mass + (1.0 - weights.sum(axis=1, keepdims=True)) * mean
        return snapped(mass)

    def _rows(self, outputs: Collection) -> np.ndarray:
        rows = self.layers_.core.features(to_numpy(outputs).astype(float))
        lengths = np.linalg.norm(rows, axis=1, keepdims=True) if self.layers_.normalized else np.ones(1)
        return rows / np.where(lengths > 0, lengths, 1.0)


@register(priority=40)
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

    kernels = (RankHamming,)
    needs = "RankHamming()"
    method = "an assignment of items to positions"

    def _place(self, mass: np.ndarray) -> np.ndarray:
        matrices = mass.reshape(-1, self.items_, self.items_)
        return np.asarray([linear_sum_assignment(matrix, maximize=True)[1] for matrix in matrices], dtype=np.int64)


@register(priority=40)
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

    kernels = (Borda, Lehmer)
    needs = "Borda(), or Lehmer() without a cosine,"
    method = "found by sorting"

    def _place(self, mass: np.ndarray) -> np.ndarray:
        if isinstance(self.layers_.core, Borda):
            return np.argsort(np.argsort(-mass, axis=1, kind="stable"), axis=1)
        codes = np.clip(np.rint(mass), 0, np.arange(1, self.items_)).astype(np.int64)
        place = np.zeros((len(mass), self.items_), dtype=np.int64)
        for j in range(1, self.items_):  # item j stands at place j − c_j among items 0 to j, and those after it move on
            own = j - codes[:, j - 1]
            place[:, :j] += place[:, :j] >= own[:, None]
            place[:, j] = own
        return place


@register(priority=40)
class KemenyOrder(RankingDecoder):
    r"""The nearest ranking under `Kemeny`: the order that agrees with the most weight of pairs.

    .. math:: \arg\max_y \sum_{i<j} h_{ij}\, s_{ij}(y)

    Where the signs of h are consistent, the order is read off. Otherwise up to 6 items are decided by comparing all orders. Of
    more, only items in a cycle, each ahead of another, are searched: by dynamic programming over sets of leading items with
    bounds. That is exact for up to about 14 items in one cycle, and beyond that as long as at most `width` sets of one size
    remain; after that, or after `time_limit`, the best order found is returned with a `NumericalWarning`, and `gaps` says how
    much it may fall short.

    Parameters
    ----------
    width : int
        Most sets of leading items of one size that are followed.
    time_limit : float
        Seconds for one ranking, after which the search is cut short.

    Examples
    --------
    >>> from mercer.embeddings import Features
    >>> embedding = Features().fit(Kemeny(), np.array([[0, 1, 2], [2, 0, 1]]))
    >>> decoder = KemenyOrder().fit(embedding)
    >>> decoder.decode(np.array([[2.0, -1.0, 2.0]])).tolist()  # 0 ahead of 1 ahead of 2 ahead of 0
    [[0, 1, 2]]
    >>> decoder.gaps(np.array([[2.0, -1.0, 2.0]]))
    array([0.])
    """

    kernels = (Kemeny,)
    needs = "Kemeny()"
    method = "a Kemeny order"

    def __init__(self, width: int = 20_000, time_limit: float = 10.0) -> None:
        self.width = width
        self.time_limit = time_limit

    def fit(self, embedding: Embedding, loss: Any = None) -> Self:
        """Check the parameters."""
        check_whole(self.width, "width", expected="the number of sets to follow, a whole number from 1")
        check_real(self.time_limit, "time_limit", closed="both", expected="seconds, zero or more")
        return super().fit(embedding, loss)

    def gaps(self, H: Array) -> np.ndarray:
        """For each point, a bound on how much a better order could add to the sum; 0 where the order is the best."""
        return self._ordered(self._mass(H))[1]

    def _place(self, mass: np.ndarray) -> np.ndarray:
        place, gap = self._ordered(mass)
        if gap.any():
            warnings.warn(
                f"{np.count_nonzero(gap)} of {len(gap)} rankings were not proved to be the nearest: a better order could add "
                f"{gap.max():.3g} to the sum of its pairs (gaps(H) gives the bound of each). Raise width or time_limit",
                NumericalWarning,
                stacklevel=3,
            )
        return place

    def _ordered(self, mass: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The position of each item, and the gap, for each row."""
        items = self.items_
        gains = np.zeros((len(mass), items, items))
        left, right = np.triu_indices(items, 1)
        gains[:, left, right], gains[:, right, left] = mass, -mass
        count = wins(gains)
        place, gap = items - 1 - count, np.zeros(len(mass))
        cyclic = np.flatnonzero(np.any(np.sort(count, axis=1) != np.arange(items), axis=1))
        if items <= COMPARED:
            place[cyclic] = best_of_all(mass[cyclic], items)
            return place, gap
        for i in cyclic:
            found = best_order(gains[i], self.width, float(self.time_limit))
            place[i] = np.argsort(found.order)
            gap[i] = found.gap
        return place, gap
