"""Inner products and distances of vectors, rows of a dense array of any library or of a sparse array."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from mercer.core.arrays import Array, is_numpy_array, is_torch_array, like, namespace, to_numpy, zeros
from mercer.core.sparse_rows import as_sparse_rows, is_sparse
from mercer.kernels.grams import to_squared_distances
from mercer.kernels.sparse_vectors import SparseVectors

_STEP = 4096
"""Rows of a Gram matrix that are filled at a time, for libraries that do not make it symmetric."""

_FAR = 2.0**20
"""Squared distance from the origin, in units of the squared scale, up to which distances come from inner products: their
rounding then changes a Gaussian by less than 1e-9."""


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
