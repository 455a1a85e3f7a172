"""Finite features of inputs, for operator-valued kernels that are written in them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn.base import BaseEstimator

from mercer.core.arrays import Array, NumericalWarning, is_array, namespace, solve_triangular, zeros
from mercer.core.collections import Collection, count, take
from mercer.core.pivoted import pivoted_cholesky
from mercer.kernels.base import Kernel
from mercer.kernels.features import FeatureMap
from mercer.operators.random_features import RandomFourier


class Nystroem(BaseEstimator):
    r"""Features of any kernel from few objects, :math:`\hat\phi(x) = R^{-1} k_x` with :math:`R R^\top = k` on the pivots.

    Pivots are chosen greedily, and :math:`\hat\phi(x) \cdot \hat\phi(z) = k(x, z)` wherever one of the two is a pivot.

    Parameters
    ----------
    kernel : Kernel
        k, positive semi-definite.
    rank : int, optional
        The number of features; by default as many as `tol` asks for. Where fewer say it all, the rest are zero.
    tol : float, default=1e-10
        Stop when this share of the trace of k is left.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> X = np.linspace(0, 1, 40)[:, None]
    >>> features = Nystroem(Gaussian(1.0)).fit(X)
    >>> bool(np.allclose(features(X) @ features(X).T, Gaussian(1.0)(X))), features.residual < 1e-10
    (True, True)
    """

    def __init__(self, kernel: Kernel, rank: int | None = None, tol: float = 1e-10) -> None:
        self.kernel = kernel
        self.rank = rank
        self.tol = tol

    def fit(self, X: Collection) -> NystroemFeatures:
        """The map, its pivots chosen among `X`."""
        if self.rank is not None and (isinstance(self.rank, bool) or int(self.rank) != self.rank or self.rank < 1):
            raise ValueError(f"rank={self.rank!r} in Nystroem; expected a positive whole number, or None to go by tol")
        if self.kernel.pairwise:
            raise ValueError(
                f"kernel={self.kernel!r} in Nystroem is a Gram matrix; expected a kernel of objects. Give positions to "
                "Precomputed(gram) instead"
            )
        kernel = self.kernel.resolve(X)
        X = kernel.check(X)
        if self.rank is not None and self.rank > count(X):
            raise ValueError(
                f"rank={self.rank!r} in Nystroem; expected at most the number of training objects, {count(X)}"
            )
        found = pivoted_cholesky(kernel, X, rank=self.rank, tol=self.tol)
        if found.residual > 0.1:
            warnings.warn(
                f"{len(found.pivots)} Nyström features leave out {found.residual:.1%} of the trace of {kernel!r}; raise rank",
                NumericalWarning,
                stacklevel=4,
            )
        dimension = len(found.pivots) if self.rank is None else int(self.rank)
        return NystroemFeatures(kernel, take(X, found.pivots), found.triangle, dimension, found.residual)


@dataclass
class NystroemFeatures(FeatureMap):
    """Kernel values against fixed pivots, made orthonormal."""

    kernel: Kernel
    pivots: Collection
    triangle: Array
    dimension: int
    residual: float
    """Share of the trace of the Gram matrix the features leave out."""

    def __call__(self, X: Collection) -> Array:
        """The rows φ̂(x)."""
        rows = solve_triangular(self.triangle, self.kernel(X, self.pivots).T).T
        spare = self.dimension - rows.shape[1]
        return namespace(rows).concat([rows, zeros((rows.shape[0], spare), rows)], axis=1) if spare else rows


@dataclass
class KernelFeatures(FeatureMap):
    """The finite map of a kernel that has one, with what it takes for objects."""

    kernel: Kernel
    map: FeatureMap
    dimension: int

    def __call__(self, X: Collection) -> Array:
        """The rows φ(x)."""
        return self.map(self.kernel.check(X))


@dataclass
class ExplicitFeatures(FeatureMap):
    """A function of an array of vectors, whose result has `dimension` numbers per vector (and per output)."""

    function: Callable[[Any], Array]
    dimension: int

    def __call__(self, X: Collection) -> Array:
        """The rows φ(x), or (n, p, N) where outputs have features of their own."""
        found = self.function(X)
        if not is_array(found) or found.ndim not in (2, 3) or found.shape[0] != count(X):
            shape = tuple(found.shape) if is_array(found) else type(found).__name__
            raise ValueError(
                f"features gave {shape} for {count(X)} objects; expected an array with one row of numbers for each object"
            )
        if found.shape[-1] != self.dimension:
            raise ValueError(f"features gave {found.shape[-1]} columns; expected {self.dimension}, as in training")
        return found


def fixed_features(features: Any, X: Collection) -> FeatureMap:
    """`features` as a map of fixed dimension: a kernel's own, Nyström's fitted to `X`, or a function as it is."""
    if isinstance(features, FeatureMap):
        return features
    if isinstance(features, Nystroem | RandomFourier):
        return features.fit(X)
    if isinstance(features, Kernel):
        kernel = features.resolve(X)
        found = kernel.feature_map(kernel.check(X))
        if found is None:
            raise ValueError(
                f"features={features!r} has no finite feature map; expected a kernel that has one, or "
                f"Nystroem({features!r}, rank=...)"
            )
        return KernelFeatures(kernel, found, found.dimension)
    if callable(features):
        return ExplicitFeatures(features, int(features(X).shape[-1]))
    raise TypeError(
        f"features={features!r:.60}; expected a kernel with a finite feature map, Nystroem(kernel, rank), a FeatureMap, or a "
        "function of an array of vectors"
    )


def kernel_of(features: Any) -> Kernel | None:
    """The scalar kernel behind `features`, which says what inputs may be; None for bare functions."""
    kernel = features if isinstance(features, Kernel) else getattr(features, "kernel", None)
    return kernel if isinstance(kernel, Kernel) else None
