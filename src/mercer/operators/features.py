"""Finite features of inputs, for operator-valued kernels that are written in them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from mercer.core.arrays import (
    Array,
    NumericalWarning,
    is_array,
    is_sparse,
    like,
    namespace,
    solve_triangular,
    to_numpy,
    zeros,
)
from mercer.core.collections import Collection, count, take
from mercer.core.pivoted import pivoted_cholesky
from mercer.core.pivots import GreedyPivots
from mercer.core.validation import check_instance, check_whole
from mercer.kernels import FeatureMap, Gaussian, Kernel


class Nystroem(BaseEstimator):
    r"""Features of any kernel from few objects, :math:`\hat\phi(x) = R^{-1} k_x` with :math:`R R^\top = k` on the pivots.

    Pivots are chosen greedily, and :math:`\hat\phi(x) \cdot \hat\phi(z) = k(x, z)` wherever one of the two is a pivot.

    Parameters
    ----------
    kernel : Kernel
        k, positive semi-definite.
    rank : int, optional
        The number of features; by default as many as `tol` needs. If fewer are enough, the rest are zero.
    tol : float, default=1e-10
        Stop when this share of the trace of k is left.

    Examples
    --------
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
        """Return the map, with pivots chosen among `X`."""
        if self.kernel.pairwise:
            raise ValueError(f"kernel={self.kernel!r} is a Gram matrix; expected Precomputed(gram), on positions")
        kernel = self.kernel.resolve(X)
        X = kernel.check(X)
        if self.rank is not None:
            expected = f"None, or a whole number from 1 to {count(X)}, the number of training objects"
            check_whole(self.rank, "rank", most=count(X), expected=expected)
        found = pivoted_cholesky(kernel, X, rank=self.rank, tol=self.tol, pivots=GreedyPivots())
        if found.residual > 0.1:
            share = f"{found.residual:.1%} of the trace of {kernel!r}"
            message = f"{len(found.pivots)} Nyström features leave out {share}; raise rank"
            warnings.warn(message, NumericalWarning, stacklevel=4)
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
    """Share of the trace of the Gram matrix outside the features."""

    def __call__(self, X: Collection) -> Array:
        """Return φ(x) of each object."""
        rows = solve_triangular(self.triangle, self.kernel(X, self.pivots).T).T
        spare = self.dimension - rows.shape[1]
        return namespace(rows).concat([rows, zeros((rows.shape[0], spare), rows)], axis=1) if spare else rows


class RandomFourier(BaseEstimator):
    r"""Random cosines for a Gaussian kernel, :math:`\hat\phi(x) = \sqrt{2/m}\,\cos(\omega_i \cdot x + b_i)`.

    Parameters
    ----------
    kernel : Gaussian
        k.
    n_features : int, default=300
        m.
    random_state : int or RandomState, optional
        Seed of the frequencies ω and the phases b.

    Examples
    --------
    >>> X = np.linspace(0, 1, 5)[:, None]
    >>> RandomFourier(Gaussian(1.0), 2000, random_state=0).fit(X).residual < 0.05
    True
    """

    def __init__(self, kernel: Gaussian, n_features: int = 300, random_state: int | None = None) -> None:
        self.kernel = kernel
        self.n_features = n_features
        self.random_state = random_state

    def fit(self, X: Collection) -> FourierFeatures:
        """Return the map, with frequencies drawn for the kernel resolved on `X`."""
        check_instance(self.kernel, "kernel", Gaussian, expected="a Gaussian; use Nystroem for other kernels")
        m = check_whole(self.n_features, "n_features")
        kernel: Any = self.kernel.resolve(X)
        rows = kernel.check(X)
        rng = check_random_state(self.random_state)
        frequencies = rng.standard_normal((rows.shape[1], m)) / float(kernel.scale)
        features = FourierFeatures(kernel, frequencies, rng.uniform(0, 2 * np.pi, m), m, 0.0)
        some = take(rows, rng.permutation(rows.shape[0])[:500])
        gram, made = to_numpy(kernel(some)), to_numpy(features(some))
        features.residual = float(np.linalg.norm(made @ made.T - gram) / np.linalg.norm(gram))
        return features


@dataclass
class FourierFeatures(FeatureMap):
    """Random cosines with fixed frequencies."""

    kernel: Gaussian
    frequencies: np.ndarray
    phases: np.ndarray
    dimension: int
    residual: float
    """Relative error of the Gram matrix of the training objects, or of 500 of them."""

    def __call__(self, X: Collection) -> Array:
        """Return φ(x) of each object."""
        rows = self.kernel.check(X)
        frequencies, phases = (a if is_sparse(rows) else like(a, rows) for a in (self.frequencies, self.phases))
        waves = rows @ frequencies + phases
        return (2.0 / self.dimension) ** 0.5 * namespace(waves).cos(waves)


@dataclass
class KernelFeatures(FeatureMap):
    """The finite map of a kernel that has one, on collections of any form that the kernel takes."""

    kernel: Kernel
    map: FeatureMap
    dimension: int

    def __call__(self, X: Collection) -> Array:
        """Return φ(x) of each object."""
        return self.map(self.kernel.check(X))


@dataclass
class ExplicitFeatures(FeatureMap):
    """A function of an array of vectors that returns rows φ(x), or (n, p, dimension): features for each output."""

    function: Callable[[Any], Array]
    dimension: int

    def __call__(self, X: Collection) -> Array:
        """Return φ(x) of each object."""
        found = self.function(X)
        shape = tuple(found.shape) if is_array(found) else ()
        if len(shape) not in (2, 3) or shape[0] != count(X) or shape[-1] != self.dimension:
            raise ValueError(f"features gave an array of shape {shape}; expected ({count(X)}, {self.dimension})")
        return found


def fixed_features(features: Any, X: Collection) -> FeatureMap:
    """Return `features` as a map of fixed dimension: that of a kernel, one fitted to `X`, or a function as it is."""
    if isinstance(features, FeatureMap):
        return features
    if isinstance(features, Nystroem | RandomFourier):
        return features.fit(X)
    if isinstance(features, Kernel):
        kernel = features.resolve(X)
        found = kernel.feature_map(kernel.check(X))
        if found is None:
            raise ValueError(f"{features!r} has no finite feature map; expected Nystroem({features!r}), or another")
        return KernelFeatures(kernel, found, found.dimension)
    if callable(features):
        return ExplicitFeatures(features, int(features(X).shape[-1]))
    raise TypeError(f"features={features!r:.60}; expected a kernel, Nystroem(kernel), a FeatureMap or a function of X")


def kernel_of(features: Any) -> Kernel | None:
    """Return the scalar kernel behind `features`, which checks inputs; None for a function."""
    both = (features, getattr(features, "kernel", None))
    return next((each for each in both if isinstance(each, Kernel)), None)
