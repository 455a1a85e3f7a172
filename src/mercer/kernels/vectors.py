"""Linear and Gaussian kernels on vectors, rows of a dense array of any library or of a sparse one, and their distances."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

from mercer.core.arrays import (
    Array,
    NumericalWarning,
    cached_property,
    exp,
    is_numpy_array,
    is_sparse,
    is_torch_array,
    like,
    namespace,
    to_numpy,
    zeros,
)
from mercer.core.collections import Collection, as_vectors, take
from mercer.core.sparse_rows import as_sparse_rows, dense_rows
from mercer.kernels.base import POSITIVE, Constraint, Kernel, row_blocks, to_squared_distances
from mercer.kernels.features import FeatureMap
from mercer.kernels.sparse_vectors import SparseVectors

_SAMPLE = 1000
"""Number of objects whose distances give a median: half a million pairs."""


_STEP = 4096
"""Rows of a Gram matrix that are filled at a time, for libraries that do not make it symmetric."""

_FAR = 2.0**20
"""Squared distance from the origin, in units of the squared scale, up to which distances come from inner products: their
rounding then changes a Gaussian by less than 1e-9."""


class VectorKernel(Kernel):
    """A kernel whose objects are vectors of one length."""

    takes_vectors = True

    @property
    def form(self) -> str | None:
        """Vectors, dense or sparse where the kernel takes both, unless a subclass checks more than that."""
        if type(self)._check is not VectorKernel._check:
            return None
        return "vectors" if self.takes_sparse else "dense vectors"

    def _check(self, X: Any, name: str) -> Collection:
        return as_sparse_rows(X, name) if self.takes_sparse and is_sparse(X) else as_vectors(X, name)


class RowKernel(VectorKernel):
    """A kernel of inner products or distances, which dense and sparse rows have."""

    takes_sparse = True

    def _encode(self, X: Collection, name: str) -> Any:
        return as_rows(X)


@dataclass(eq=False, repr=False)
class Linear(RowKernel):
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

    def _matrix(self, X: Any, Z: Any) -> Array:
        X, Z = alike(X, Z)
        return X.products(Z)

    def _diag(self, X: Any) -> Array:
        return X.squared_lengths

    def feature_map(self, X: Any) -> Vectors:
        """The vectors themselves."""
        return Vectors(np.shape(X)[1] if np.ndim(X) == 2 else self.check(X).shape[1])


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

    def of_distances(self, distances: Array) -> Array:
        """The kernel of distances in the form it computes with, over them."""
        raise TypeError(f"{type(self).__name__} must define of_distances(distances)")

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
class Gaussian(ScaledByDistance, RowKernel):
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

    def distances(self, X: Collection) -> Array:
        """Euclidean distances."""
        return self._distances(as_rows(X))

    def _distances(self, X: Any, scale: float = math.inf) -> Array:
        squared = X.squared_distances(None, scale)
        return namespace(squared).sqrt(namespace(squared).clip(squared, 0.0, None))

    def _median(self, X: Collection) -> float:
        rows = as_rows(X)
        median = self._median_of(self._distances(rows))
        return median if rows.is_near(median) else self._median_of(self._distances(rows, median))

    def of_distances(self, distances: Array) -> Array:
        """The kernel of squared distances, over them."""
        return to_gaussian(distances, float(self.scale))

    def shared_gram(self, X: Collection, known: dict[str, Any] | None = None) -> Array:
        """The Gram matrix; squared distances are kept for other scales."""
        if known is None:
            return self(X)
        if "squared distances" not in known:
            rows = as_rows(X)
            known["squared distances"] = rows, rows.squared_distances(None, math.inf)
        rows, squared = known["squared distances"]
        if not rows.is_near(float(self.scale)):
            return self(X)
        return self.of_distances(namespace(squared).asarray(squared, copy=True))

    def _matrix(self, X: Any, Z: Any) -> Array:
        X, Z = alike(X, Z)
        return self.of_distances(X.squared_distances(Z, float(self.scale)))

    def _diag(self, X: Any) -> Array:
        return X.ones()


@dataclass
class Vectors(FeatureMap):
    """The identity: vectors are their own features."""

    dimension: int

    def __call__(self, X: Any) -> Array:
        """The vectors as they are, sparse ones made dense."""
        # a checked collection is not checked again
        X = X if getattr(X, "ndim", 0) == 2 and str(X.dtype).endswith("float64") else Linear().check(X)
        if X.shape[1] != self.dimension:
            raise ValueError(f"X has {X.shape[1]} features; expected {self.dimension}, as in training")
        return dense_rows(X) if is_sparse(X) else X

    def sparse_rows(self, X: Any) -> sparse.csr_array:
        """The vectors, sparse."""
        return X if is_sparse(X) else super().sparse_rows(X)


def to_gaussian(squared: Array, scale: float) -> Array:
    """exp(−d² / (2 scale²)) over the squared distances; those below zero by rounding count as zero."""
    xp: Any = namespace(squared)
    if is_torch_array(squared):
        tensor: Any = squared
        return tensor.clamp_(min=0.0).mul_(-0.5 / scale).div_(scale).exp_()
    for rows in row_blocks(squared):
        # divided twice, so that neither a tiny nor a huge scale overflows when squared
        squared[rows, :] = exp(xp.clip(squared[rows, :], 0.0, None) / (-2.0 * scale) / scale)
    return squared


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


# -- inner products and distances of rows ----------------------------------------------------------------


def as_rows(X: Any) -> Any:
    """A checked collection of vectors, dense or sparse, as rows."""
    return SparseVectors(X) if is_sparse(X) else CentredVectors(X)


def alike(X: Any, Z: Any) -> tuple[Any, Any]:
    """Both as sparse rows if one of them is; an error if the vectors have different lengths."""
    if Z is None:
        return X, None
    _require_one_length(X, Z)
    return (X, Z) if is_sparse(X.vectors) == is_sparse(Z.vectors) else (X.sparse, Z.sparse)


class CentredVectors:
    """Dense vectors, and their squared norms around an origin: the mean, or the median, which few far vectors do not move."""

    ndim = 2

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

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of vectors and their length."""
        return tuple(self.vectors.shape)

    @cached_property
    def squared_lengths(self) -> Array:
        """The inner product of each vector with itself."""
        return namespace(self.vectors).sum(self.vectors * self.vectors, axis=1)

    @cached_property
    def sparse(self) -> SparseVectors:
        """The vectors as sparse rows."""
        return SparseVectors(as_sparse_rows(sparse.csr_array(to_numpy(self.vectors))))

    def products(self, other: CentredVectors | None) -> Array:
        """X Zᵀ, exactly symmetric if there is no other."""
        return inner_products(self.vectors, None if other is None else other.vectors)

    def squared_distances(self, other: CentredVectors | None, scale: float = math.inf) -> Array:
        """Squared distances with an error below about 1e-9 of the squared scale."""
        return _squared_distances(self, other, _FAR * scale * scale)

    def city_block(self, other: CentredVectors | None, scale: float = 0.0) -> Array:
        """L1 distances."""
        return city_block(self.vectors, self.vectors if other is None else matched(self.vectors, other.vectors))

    def is_near(self, scale: float) -> bool:
        """True if the origin is near all vectors, in units of the scale."""
        return float(namespace(self.norms).max(self.norms)) <= _FAR * scale * scale

    def ones(self) -> Array:
        """A one for each vector, in their library and on their device."""
        X: Any = self.vectors
        return namespace(X).ones(X.shape[0], dtype=X.dtype, device=None if is_numpy_array(X) else X.device)

    def __len__(self) -> int:
        return self.vectors.shape[0]


def _require_one_length(X: Any, Z: Any) -> None:
    if X.shape[1] != Z.shape[1]:
        raise ValueError(
            f"X has {X.shape[1]} features and Z has {Z.shape[1]}; expected vectors of one length on both sides"
        )


def matched(X: Array, Z: Array) -> Array:
    """`Z` in the library of `X`; an error if the vectors have different lengths."""
    _require_one_length(X, Z)
    return like(Z, X)


def inner_products(X: Array, Z: Array | None) -> Array:
    """X Zᵀ, exactly symmetric if there is no `Z`."""
    if Z is not None:
        return X @ matched(X, Z).T
    if is_numpy_array(X):
        return X @ X.T  # NumPy sees that both sides are one matrix and fills one triangle from the other
    gram = zeros((X.shape[0], X.shape[0]), X)
    for start in range(0, X.shape[0], _STEP):
        own, before = slice(start, min(start + _STEP, X.shape[0])), slice(0, start)
        among = X[own, :] @ X[own, :].T
        gram[own, own] = 0.5 * (among + among.T)
        if start:
            gram[own, before] = X[own, :] @ X[before, :].T
            gram[before, own] = gram[own, before].T
    return gram


def squared_euclidean(X: Array, Z: Array | None, scale: float = 1.0) -> Array:
    """Squared distances with an error below about 1e-9 of the squared scale; rounding may leave some below zero."""
    return CentredVectors(X).squared_distances(None if Z is None else CentredVectors(Z), scale)


def _squared_distances(X: CentredVectors, Z: CentredVectors | None, limit: float) -> Array:
    """Squared distances by one matrix product, whose rounding grows with the norms.

    If a norm is above `limit`, the median is the origin, so that a far vector does not spoil the distances of the others,
    and distances of vectors that are still beyond the limit come from differences.
    """
    xp = namespace(X.vectors)
    if Z is None:
        others = X.vectors
        gram = inner_products(X.rows, None)
        left = right = xp.asarray(xp.linalg.diagonal(gram), copy=True)
        squared = to_squared_distances(gram, left, right)
    else:
        others = matched(X.vectors, Z.vectors)
        rows = X.vectors - like(Z.origin, others)
        left, right = xp.sum(rows * rows, axis=1), like(Z.norms, others)
        if is_torch_array(rows):
            squared = _by_one_product(rows, Z, left)
        else:
            squared = to_squared_distances(rows @ like(Z.rows, others).T, left, right)
    if max(float(xp.max(left)), float(xp.max(right))) <= limit:
        return squared
    if not (X if Z is None else Z).by_median:
        return _squared_distances(X.robust, None if Z is None else Z.robust, limit)
    for i in np.flatnonzero(to_numpy(left) > limit).tolist():
        squared[i, :] = xp.sum((others - X.vectors[i, :]) ** 2, axis=1)
        if Z is None:
            squared[:, i] = squared[i, :]
    return squared


def _by_one_product(rows: Array, Z: CentredVectors, left: Array) -> Array:
    """‖x‖² + ‖z‖² − 2 x·z of rows seen from the origin of `Z`, as (−2x, ‖x‖², 1)·(z, 1, ‖z‖²).

    On a device one product with two more columns is faster than passes over the result.
    """
    xp, others = namespace(rows), like(Z.rows, rows)
    ones, own = zeros((others.shape[0], 1), rows) + 1.0, zeros((rows.shape[0], 1), rows) + 1.0
    wide = xp.concat([others, ones, like(Z.norms, rows)[:, None]], axis=1)
    return xp.concat([-2.0 * rows, left[:, None], own], axis=1) @ wide.T


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
