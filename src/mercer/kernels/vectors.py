"""Kernels on vectors, rows of a numeric array of any library, and the width of bell-shaped kernels."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from mercer.core.arrays import Array, NumericalWarning, exp, is_numpy_array, is_torch_array, like, namespace, to_numpy
from mercer.core.collections import Collection, as_vectors, take
from mercer.core.validation import is_real
from mercer.kernels.base import POSITIVE, Constraint, Kernel, row_blocks, whole
from mercer.kernels.features import FeatureMap

_SAMPLE = 1000
"""Number of objects whose distances give a median: half a million pairs."""

_FAR = 2.0**20
"""Squared distance from the origin, in units of the squared scale, up to which distances come from inner products: their
rounding then changes a Gaussian by less than 1e-9."""


class VectorKernel(Kernel):
    """A kernel whose objects are vectors of one length."""

    takes_vectors = True

    @property
    def form(self) -> str | None:
        """Vectors, unless a subclass checks more than that."""
        return "vectors" if type(self)._check is VectorKernel._check else None

    def _check(self, X: Any, name: str) -> Array:
        return as_vectors(X, name)


@dataclass(eq=False, repr=False)
class Linear(VectorKernel):
    r"""The inner product, :math:`k(x, z) = x \cdot z`.

    Examples
    --------
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0], [0.0, 1.0]])
    array([[11.,  2.]])
    """

    is_psd = True

    def pointwise(self, x: Any, z: Any) -> float:
        """The inner product of two vectors."""
        return float(namespace(x).sum(x * z))

    def _matrix(self, X: Array, Z: Array | None) -> Array:
        return inner_products(X, Z)

    def _diag(self, X: Array) -> Array:
        return namespace(X).sum(X * X, axis=1)

    def feature_map(self, X: Any) -> Vectors:
        """The vectors themselves."""
        return Vectors(np.shape(X)[1] if np.ndim(X) == 2 else self.check(X).shape[1])


@dataclass(eq=False, repr=False)
class Polynomial(VectorKernel):
    r"""Products of up to `degree` features, :math:`k(x, z) = (\gamma\, x \cdot z + c)^d`.

    Parameters
    ----------
    degree : int
        d, at least 1.
    coef0 : float
        c, not negative: the weight of the lower degrees. With 0 only products of exactly `degree` features count.
    gamma : float
        γ, above zero.

    Examples
    --------
    >>> Polynomial(degree=2)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[144.]])
    """

    is_psd = True
    constraints = {
        "degree": whole(1),
        "coef0": Constraint(lambda c: is_real(c) and 0 <= c < math.inf, "a finite number, zero or more"),
        "gamma": POSITIVE,
    }

    degree: int = 3
    coef0: float = 1.0
    gamma: float = 1.0

    def pointwise(self, x: Any, z: Any) -> float:
        """The polynomial of the inner product."""
        return (self.gamma * float(namespace(x).sum(x * z)) + self.coef0) ** self.degree

    def _matrix(self, X: Array, Z: Array | None) -> Array:
        gram = inner_products(X, Z)
        for rows in row_blocks(gram):
            gram[rows, :] = self._power(gram[rows, :])
        return gram

    def _diag(self, X: Array) -> Array:
        return self._power(namespace(X).sum(X * X, axis=1))

    def _power(self, products: Array) -> Array:
        base = float(self.gamma) * products + float(self.coef0)
        power = base
        for _ in range(int(self.degree) - 1):  # several times faster than a general power
            power = power * base
        return power


class ScaledByDistance(Kernel):
    """A kernel that falls with a distance measured in units of `scale`, which may be ``"median"``."""

    constraints = {
        "scale": Constraint(
            lambda scale: scale == "median" if isinstance(scale, str) else POSITIVE.holds(scale),
            "a finite number above zero, or 'median' for the median distance of the training objects",
        )
    }

    scale: float | str

    def distances(self, X: Any) -> Array:
        """The distances the scale is compared with, one row and column per object of a checked collection."""
        raise TypeError(f"{type(self).__name__} must define distances(X)")

    @property
    def is_resolved(self) -> bool:
        """True if the scale is a number."""
        return super().is_resolved and self._is_number

    @property
    def _is_number(self) -> bool:
        return not isinstance(self.scale, str)

    def _resolved(self, X: Collection) -> Self:
        if self._is_number:
            return self
        return type(self)(**self.get_params(deep=False) | {"scale": self._median(sample(X, self.pairwise))})

    def _median(self, X: Any) -> float:
        return self._median_of(self.distances(X))

    def _median_of(self, distances: Array) -> float:
        pairs = to_numpy(distances)[np.triu_indices(distances.shape[0], 1)]
        return median_of(pairs, distances.shape[0], type(self).__name__)


@dataclass(eq=False, repr=False)
class Gaussian(ScaledByDistance, VectorKernel):
    r"""The radial basis function, :math:`k(x, z) = \exp(-\|x - z\|^2 / (2 s^2))`.

    Parameters
    ----------
    scale : float or "median"
        s, a distance. "median" is the median distance of the training vectors (of 1000 of them if there are more).

    Examples
    --------
    >>> Gaussian(scale=2.0)([[0.0], [2.0]]).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    """

    is_psd = True

    scale: float | str = 1.0

    def pointwise(self, x: Any, z: Any) -> float:
        """The radial basis function of two vectors."""
        xp = namespace(x)
        return float(xp.exp(-xp.sum((x - z) ** 2) / (2.0 * float(self.scale) ** 2)))

    def distances(self, X: Array) -> Array:
        """Euclidean distances."""
        return self._distances(CentredVectors(X))

    def _distances(self, X: CentredVectors, limit: float = math.inf) -> Array:
        squared = squared_distances(X, None, limit)
        return namespace(squared).sqrt(namespace(squared).clip(squared, 0.0, None))

    def _median(self, X: Array) -> float:
        vectors = CentredVectors(X)
        median = self._median_of(self._distances(vectors))
        limit = _FAR * median * median
        if float(namespace(X).max(vectors.norms)) <= limit:
            return median
        return self._median_of(self._distances(vectors, limit))

    def _encode(self, X: Array, name: str) -> CentredVectors:
        return CentredVectors(X)

    def _matrix(self, X: CentredVectors, Z: CentredVectors | None) -> Array:
        scale = float(self.scale)
        return to_gaussian(squared_distances(X, Z, _FAR * scale * scale), scale)

    def _diag(self, X: CentredVectors) -> Array:
        return ones(X.vectors)


@dataclass(eq=False, repr=False)
class Laplacian(ScaledByDistance, VectorKernel):
    r"""The double exponential, :math:`k(x, z) = \exp(-\|x - z\|_1 / s)`.

    Parameters
    ----------
    scale : float or "median"
        s, a distance. "median" is the median L1 distance of the training vectors (of 1000 if there are more).

    Examples
    --------
    >>> Laplacian(scale=2.0)([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.3679]])
    """

    is_psd = True

    scale: float | str = 1.0

    def pointwise(self, x: Any, z: Any) -> float:
        """The double exponential of two vectors."""
        xp = namespace(x)
        return float(xp.exp(-xp.sum(xp.abs(x - z)) / float(self.scale)))

    def distances(self, X: Array) -> Array:
        """L1 distances."""
        return city_block(X, X)

    def _matrix(self, X: Array, Z: Array | None) -> Array:
        gram = city_block(X, X if Z is None else matched(X, Z))
        for rows in row_blocks(gram):
            gram[rows, :] = exp(gram[rows, :] / -float(self.scale))
        return gram

    def _diag(self, X: Array) -> Array:
        return ones(X)


@dataclass
class Vectors(FeatureMap):
    """The identity: vectors are their own features."""

    dimension: int

    def __call__(self, X: Any) -> Array:
        """The vectors as they are."""
        # a checked collection is not checked again
        X = X if getattr(X, "ndim", 0) == 2 and str(X.dtype).endswith("float64") else as_vectors(X)
        if X.shape[1] != self.dimension:
            raise ValueError(f"X has {X.shape[1]} features; expected {self.dimension}, as in training")
        return X


class CentredVectors:
    """Vectors and their squared norms around an origin: the mean, or the median, which few far vectors do not move."""

    def __init__(self, vectors: Array, by_median: bool = False) -> None:
        self.vectors = vectors
        self.by_median = by_median

    @cached_property
    def origin(self) -> Array:
        """The origin; distances do not depend on it, and near it little is lost to cancellation."""
        xp = namespace(self.vectors)
        if self.by_median:
            return xp.sort(self.vectors, axis=0)[self.vectors.shape[0] // 2, :]
        return xp.mean(self.vectors, axis=0)

    @cached_property
    def rows(self) -> Array:
        """The vectors seen from the origin."""
        return self.vectors - self.origin

    @cached_property
    def norms(self) -> Array:
        """Squared distances from the origin."""
        return namespace(self.rows).sum(self.rows * self.rows, axis=1)

    @cached_property
    def robust(self) -> CentredVectors:
        """The same vectors around the median."""
        return CentredVectors(self.vectors, by_median=True)

    def __len__(self) -> int:
        return self.vectors.shape[0]


def matched(X: Array, Z: Array) -> Array:
    """`Z` in the library of `X`; an error if the vectors have different lengths."""
    if X.shape[1] != Z.shape[1]:
        raise ValueError(
            f"X has {X.shape[1]} features and Z has {Z.shape[1]}; expected vectors of one length on both sides"
        )
    return like(Z, X)


def inner_products(X: Array, Z: Array | None) -> Array:
    """X Zᵀ, exactly symmetric if there is no `Z`."""
    if Z is not None:
        return X @ matched(X, Z).T
    products = X @ X.T
    # NumPy sees that both sides are one matrix and fills one triangle from the other; others may not
    return products if is_numpy_array(X) else 0.5 * (products + products.T)


def squared_euclidean(X: Array, Z: Array | None, scale: float = 1.0) -> Array:
    """Squared distances with an error below about 1e-9 of the squared scale; rounding may leave some below zero."""
    return squared_distances(CentredVectors(X), None if Z is None else CentredVectors(Z), _FAR * scale * scale)


def squared_distances(X: CentredVectors, Z: CentredVectors | None, limit: float = math.inf) -> Array:
    """Squared distances by one matrix product, whose rounding grows with the norms.

    If a norm is above `limit`, the median is the origin, so that a far vector does not spoil the distances of the others,
    and distances of vectors that are still beyond the limit come from differences.
    """
    xp = namespace(X.vectors)
    if Z is None:
        others = X.vectors
        products = inner_products(X.rows, None)
        left = right = xp.asarray(xp.linalg.diagonal(products), copy=True)
    else:
        others = matched(X.vectors, Z.vectors)
        rows = X.vectors - like(Z.origin, others)
        products = rows @ like(Z.rows, others).T
        left, right = xp.sum(rows * rows, axis=1), like(Z.norms, others)
    squared = to_squared_distances(products, left, right)
    if max(float(xp.max(left)), float(xp.max(right))) <= limit:
        return squared
    if not (X if Z is None else Z).by_median:
        return squared_distances(X.robust, None if Z is None else Z.robust, limit)
    for i in np.flatnonzero(to_numpy(left) > limit).tolist():
        squared[i, :] = xp.sum((others - X.vectors[i, :]) ** 2, axis=1)
        if Z is None:
            squared[:, i] = squared[i, :]
    return squared


def to_squared_distances(gram: Array, left: Array, right: Array) -> Array:
    """‖φ(x) − φ(z)‖² = k(x, x) + k(z, z) − 2 k(x, z), over `gram`; rounding may leave some below zero."""
    for rows in row_blocks(gram):
        # the two norms are added first: a sum of two is the same in either order, so symmetry is exact
        gram[rows, :] = (left[rows, None] + right[None, :]) - 2.0 * gram[rows, :]
    return gram


def to_gaussian(squared: Array, scale: float) -> Array:
    """exp(−d² / (2 scale²)) over the squared distances; those below zero by rounding count as zero."""
    xp = namespace(squared)
    for rows in row_blocks(squared):
        # divided twice, so that neither a tiny nor a huge scale overflows when squared
        squared[rows, :] = exp(xp.clip(squared[rows, :], 0.0, None) / (-2.0 * scale) / scale)
    return squared


def city_block(X: Any, Z: Any) -> Array:
    """L1 distances of all pairs."""
    if is_numpy_array(X):
        from scipy.spatial.distance import cdist

        return cdist(X, Z, "cityblock")
    if is_torch_array(X):
        import torch

        return torch.cdist(X, Z, p=1.0)
    xp = namespace(X)
    return xp.stack([xp.sum(xp.abs(X[i, :] - Z), axis=1) for i in range(X.shape[0])])


def ones(X: Any) -> Array:
    """A one for each object, in the library and on the device of `X`."""
    xp = namespace(X)
    return xp.ones(X.shape[0], dtype=X.dtype, device=None if is_numpy_array(X) else X.device)


def sample(X: Collection, pairwise: bool) -> Collection:
    """`X`, or a fixed random choice of its objects if there are many (rows and columns of a Gram matrix)."""
    n = X.shape[0]
    if n <= _SAMPLE:
        return X
    chosen = np.sort(np.random.default_rng(0).choice(n, _SAMPLE, replace=False))
    rows = take(X, chosen)
    return take(rows.T, chosen).T if pairwise else rows


def median_of(pairs: np.ndarray, count: int, owner: str) -> float:
    """The median distance over pairs of `count` objects; over the pairs that differ if most are equal; 1.0 if all are."""
    median = float(np.median(pairs)) if pairs.size else 0.0
    if median > 0:
        return median
    apart = pairs[pairs > 0]
    found = float(np.median(apart)) if apart.size else 1.0
    used = f"the median of the {apart.size} pairs that differ, {found:.6g}, is used" if apart.size else "1.0 is used"
    warnings.warn(
        f"scale='median' in {owner}: the median distance of {count} objects is zero, {used}; give a number if you know "
        "the scale",
        NumericalWarning,
        stacklevel=7,
    )
    return found
