"""Inner products and distances of sparse vectors."""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse

from mercer.core.arrays import Array, cached_property
from mercer.core.compiled import compiled
from mercer.core.threads import in_threads
from mercer.kernels._sparse import Parts, SparseRows, products
from mercer.kernels.base import to_squared_distances

_FAR = 2.0**16
"""Squared length, or sum of absolute entries, in units of the (squared) scale, up to which distances come from sums over
common entries: their rounding then changes a Gaussian or a Laplacian by less than 1e-10."""


class SparseVectors(SparseRows):
    """Sparse vectors, which are not centred, since that would fill their zeros."""

    ndim = 2

    @property
    def vectors(self) -> sparse.csr_array:
        """The vectors."""
        return self.rows

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of vectors and their length."""
        return tuple(self.rows.shape)

    @property
    def sparse(self) -> SparseVectors:
        """The vectors themselves."""
        return self

    def products(self, other: SparseVectors | None) -> np.ndarray:
        """X Zᵀ, exactly symmetric if there is no other."""
        return products(self, other)

    def squared_distances(self, other: SparseVectors | None, scale: float = math.inf) -> Array:
        """Squared distances from inner products, and from differences for vectors that are far in units of the scale."""
        gram = products(self, other)
        left = np.diag(gram).copy() if other is None else self.squared_lengths
        squared = to_squared_distances(gram, left, left if other is None else other.squared_lengths)
        return self._by_differences(squared, other, left > _FAR * scale * scale, squares=True)

    def city_block(self, other: SparseVectors | None, scale: float = 0.0) -> Array:
        """L1 distances, ‖x‖₁ + ‖z‖₁ less twice the smaller entries of one sign, and from differences for far vectors."""
        left = self.absolute_sums
        far = left > _FAR * scale
        if far.all():
            distances: Array = np.empty((len(self), len(other or self)))
        else:
            common = products(self, other, minima=True)
            left = np.diag(common).copy() if other is None else left
            right = left if other is None else other.absolute_sums
            distances = to_squared_distances(common, left, right)
            np.maximum(common, 0.0, out=common)
        return self._by_differences(distances, other, far, squares=False)

    @cached_property
    def absolute_sums(self) -> np.ndarray:
        """The sum of the absolute entries of each vector."""
        return np.asarray(abs(self.rows).sum(axis=1)).ravel()

    def is_near(self, scale: float) -> bool:
        """True if the lengths of all vectors are small, in units of the scale."""
        return float(np.max(self.squared_lengths)) <= _FAR * scale * scale

    def ones(self) -> np.ndarray:
        """A one for each vector."""
        return np.ones(len(self))

    def _by_differences(
        self, distances: Array, other: SparseVectors | None, far: np.ndarray, *, squares: bool
    ) -> Array:
        """`distances` with those of far vectors replaced by sums of absolute or squared differences."""
        chosen = np.flatnonzero(far)
        if len(chosen) == 0:
            return distances
        left, right = Parts.of(self.rows), Parts.of((self if other is None else other).rows)
        found = np.empty((len(chosen), len(right.starts) - 1))
        in_threads(lambda some: _add_differences(left, right, (some, chosen, squares), found), len(chosen))
        distances[chosen, :] = found
        if other is None:
            distances[:, chosen] = found.T
        return distances

    def __len__(self) -> int:
        return self.rows.shape[0]


@compiled
def _add_differences(left: Parts, right: Parts, how: tuple[np.ndarray, np.ndarray, bool], out: np.ndarray) -> None:
    """Add up the differences of rows with sorted columns, by walking along both."""
    some, chosen, squares = how
    for place in some:
        first, end = left.starts[chosen[place]], left.starts[chosen[place] + 1]
        for j in range(len(right.starts) - 1):
            p, q, last, total = first, right.starts[j], right.starts[j + 1], 0.0
            while p < end or q < last:
                difference = 0.0
                here, there = p < end, q < last
                if here and there:
                    here, there = left.indices[p] <= right.indices[q], right.indices[q] <= left.indices[p]
                if here:
                    difference += left.values[p]
                    p += 1
                if there:
                    difference -= right.values[q]
                    q += 1
                total += difference * difference if squares else abs(difference)
            out[place, j] = total
