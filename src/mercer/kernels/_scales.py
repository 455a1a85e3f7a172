"""The width of a bell-shaped kernel: a number, or the median distance of the training objects."""

from __future__ import annotations

import math
import warnings
from numbers import Real
from typing import Any, Self

import numpy as np

from mercer.core.arrays import Array, NumericalWarning, to_numpy
from mercer.core.collections import Collection, take
from mercer.kernels.base import Kernel

_SAMPLE = 1000
"""Objects whose distances are looked at for a median: half a million pairs."""


def require_positive(value: Any, name: str, owner: Kernel) -> None:
    """Raise unless `value` is a finite number above zero."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < math.inf:
        raise ValueError(f"{name}={value!r:.60} in {type(owner).__name__}; expected a finite number above zero")


class ScaledByDistance(Kernel):
    """A kernel that falls with a distance measured in units of `scale`, which may be ``"median"``."""

    scale: float | str

    def distances(self, X: Collection) -> Array:
        """The matrix of distances the scale is measured against, one row and column per object."""
        raise TypeError(f"{type(self).__name__} must define distances(X)")

    def check_parameters(self) -> None:
        """The scale is a number above zero, or "median"."""
        if isinstance(self.scale, str):
            if self.scale != "median":
                raise ValueError(
                    f"scale={self.scale!r} in {type(self).__name__}; expected a number above zero, "
                    "or 'median' for the median distance of the training objects"
                )
        else:
            require_positive(self.scale, "scale", self)

    @property
    def is_resolved(self) -> bool:
        """Whether the scale is a number."""
        return super().is_resolved and not isinstance(self.scale, str)

    def _resolved(self, X: Collection) -> Self:
        if not isinstance(self.scale, str):
            return self
        parameters = self.get_params(deep=False)
        distances = to_numpy(self.distances(sample(X, self.pairwise)))
        parameters["scale"] = median_distance(distances, type(self).__name__)
        return type(self)(**parameters)


def sample(X: Collection, pairwise: bool) -> Collection:
    """`X`, or a fixed random choice of its objects when there are many (rows and columns of a Gram matrix)."""
    n = X.shape[0]
    if n <= _SAMPLE:
        return X
    chosen = np.sort(np.random.default_rng(0).choice(n, _SAMPLE, replace=False))
    rows = take(X, chosen)
    return take(rows.T, chosen).T if pairwise else rows


def median_distance(distances: np.ndarray, owner: str) -> float:
    """The median over distinct pairs; over the pairs that differ when most are equal; 1.0 when all are."""
    return median_of(distances[np.triu_indices(len(distances), 1)], len(distances), owner)


def median_of(pairs: np.ndarray, count: int, owner: str) -> float:
    """The same from the distances of pairs of `count` objects."""
    median = float(np.median(pairs)) if pairs.size else 0.0
    if median > 0:
        return median
    apart = pairs[pairs > 0]
    found = float(np.median(apart)) if apart.size else 1.0
    what = f"the median of the {apart.size} pairs that differ, {found:.6g}, is used" if apart.size else "1.0 is used"
    warnings.warn(
        f"scale='median' in {owner}: the median distance of {count} objects is zero, "
        f"{what}; give a number if you know the scale",
        NumericalWarning,
        stacklevel=6,
    )
    return found
