"""Kernels on rankings, each with its finite feature map."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mercer.core.arrays import Array, to_numpy
from mercer.core.collections import Collection
from mercer.kernels.base import Kernel
from mercer.kernels.classes import in_library
from mercer.kernels.features import FeatureMap
from mercer.structures.rankings import as_rankings, order_key, pair_signs, positions


@dataclass(eq=False, repr=False)
class RankingKernel(Kernel):
    """A kernel on rankings: rows of ranks, ``y[i]`` the rank of item i, the smallest rank best.

    Ranks go from 0 to K−1 or from 1 to K. A new one defines `features`.

    Parameters
    ----------
    partial : bool, default=False
        Allow ties (equal ranks) and items that are not ranked (NaN); then only the order of the ranks counts.
    """

    is_psd = True

    partial: bool = False

    def features(self, ranks: np.ndarray) -> np.ndarray:
        """φ(y) of each row of ranks."""
        raise TypeError(f"{type(self).__name__} must define features(ranks)")

    def _check(self, X: Any, name: str) -> Collection:
        return as_rankings(X, name, partial=bool(self.partial))

    def key(self, x: Any) -> Hashable:
        """The order of the items."""
        return order_key(x)

    def sees(self, X: Any) -> np.ndarray:
        """False for rankings without an order: fewer than two items ranked, or all of them tied."""
        return np.any(pair_signs(to_numpy(self.check(X))) != 0, axis=1)

    def feature_map(self, X: Any) -> RankFeatures:
        """The features of rankings of as many items."""
        return RankFeatures(self, self.check(X).shape[1])

    def _encode(self, X: Any, name: str) -> _Ranked:
        return _Ranked(X, self.features(to_numpy(X).astype(float)))

    def _matrix(self, X: _Ranked, Z: _Ranked | None) -> Array:
        if Z is None:
            gram = X.rows @ X.rows.T
            return in_library((gram + gram.T) / 2, X.ranks)
        if Z.ranks.shape[1] != X.ranks.shape[1]:
            raise ValueError(
                f"X ranks {X.ranks.shape[1]} items and Z ranks {Z.ranks.shape[1]}; expected rankings of the same items"
            )
        return in_library(X.rows @ Z.rows.T, X.ranks)

    def _diag(self, X: _Ranked) -> Array:
        return in_library(np.sum(X.rows**2, axis=1), X.ranks)


class _Ranked(NamedTuple):
    """Rankings and their features."""

    ranks: Array
    rows: np.ndarray


@dataclass(eq=False, repr=False)
class Kemeny(RankingKernel):
    r"""Pairs in the same order less pairs in the other, :math:`k(y, z) = \sum_{i<j} s_{ij}(y)\, s_{ij}(z)`.

    :math:`s_{ij}(y)` is 1 where item i is ahead of item j, −1 where it is behind, 0 where they are tied or one of them is
    not ranked. The squared distance of two full rankings is four times the number of pairs they disagree on; the cosine,
    ``Kemeny(partial=True).normalized()``, is Kendall's τ (τ-b where there are ties).

    Examples
    --------
    >>> Kemeny()([[0, 1, 2], [0, 2, 1], [2, 1, 0]])
    array([[ 3.,  1., -3.],
           [ 1.,  3., -1.],
           [-3., -1.,  3.]])
    """

    def features(self, ranks: np.ndarray) -> np.ndarray:
        """The sign of each pair of items."""
        return pair_signs(ranks)


@dataclass(eq=False, repr=False)
class RankHamming(RankingKernel):
    r"""Items that have the same rank in both, :math:`k(y, z) = \sum_i [y_i = z_i]`: permutation matrices side by side.

    The squared distance of two full rankings is twice the number of items ranked differently. A tied item is spread
    evenly over the positions of its tie; an item that is not ranked is nowhere, and the others are counted among
    themselves.

    Examples
    --------
    >>> RankHamming()([[0, 1, 2], [0, 2, 1], [2, 1, 0]])
    array([[3., 1., 1.],
           [1., 3., 0.],
           [1., 0., 3.]])
    """

    def features(self, ranks: np.ndarray) -> np.ndarray:
        """The share of each item (slow index) at each position (fast index)."""
        first, last = positions(ranks)
        place = np.arange(ranks.shape[1])
        inside = (first[:, :, None] <= place) & (place <= last[:, :, None])  # NaN is in no span
        shares = inside / np.maximum(inside.sum(axis=2, keepdims=True), 1)
        return shares.reshape(len(ranks), -1)


@dataclass(eq=False, repr=False)
class Borda(RankingKernel):
    r"""Products of centred ranks, :math:`k(y, z) = \sum_i (\bar y - y_i)(\bar z - z_i)`.

    The squared distance of two full rankings is the sum of squared differences of their ranks; the cosine is Spearman's
    ρ. Tied items share the mean of their positions; items that are not ranked have 0, as if in the middle.

    Examples
    --------
    >>> Borda()([[0, 1, 2], [0, 2, 1], [2, 1, 0]])
    array([[ 2.,  1., -2.],
           [ 1.,  2., -1.],
           [-2., -1.,  2.]])
    """

    def features(self, ranks: np.ndarray) -> np.ndarray:
        """The distance of each item ahead of the middle."""
        first, last = positions(ranks)
        place = (first + last) / 2
        known = ~np.isnan(place)
        middle = (known.sum(axis=1, keepdims=True) - 1) / 2
        return np.where(known, middle - place, 0.0)


@dataclass(eq=False, repr=False)
class Lehmer(RankingKernel):
    r"""Products of Lehmer codes, :math:`k(y, z) = \sum_j c_j(y)\, c_j(z)`, :math:`c_j(y) = |\{i < j : y_i > y_j\}|`.

    The code of item j is how many of the items listed before it are ranked behind it: any whole number from 0 to j, free
    of the other items' codes, so that a point is decoded item by item. Pairs that are tied or not both ranked count one
    half. The code depends on the order in which items are listed (Korba et al. 2018).

    Examples
    --------
    >>> Lehmer().feature_map([[0, 1, 2]])([[0, 1, 2], [0, 2, 1], [2, 1, 0]]).tolist()
    [[0.0, 0.0], [0.0, 1.0], [1.0, 2.0]]
    """

    def features(self, ranks: np.ndarray) -> np.ndarray:
        """c_j for each item but the first, whose code is always 0."""
        behind = (1.0 - pair_signs(ranks)) / 2
        _, second = np.triu_indices(ranks.shape[1], 1)
        member = second[:, None] == np.arange(1, ranks.shape[1])
        return behind @ member.astype(float)


@dataclass
class RankFeatures(FeatureMap):
    """The features of a kernel on rankings of a fixed number of items."""

    kernel: RankingKernel
    items: int

    @property
    def dimension(self) -> int:  # type: ignore[override]
        """One column for each pair of items, each item and position, or each item."""
        return self.kernel.features(np.arange(self.items, dtype=float)[None, :]).shape[1]

    def __call__(self, X: Any) -> Array:
        """The rows φ(y)."""
        X = self.kernel.check(X)
        if X.shape[1] != self.items:
            raise ValueError(f"X ranks {X.shape[1]} items; expected {self.items}, as in training")
        return in_library(self.kernel.features(to_numpy(X).astype(float)), X)
