"""Finite feature maps: kernels whose φ(x) can be written down as a row of numbers."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from mercer.core.arrays import Array, to_numpy
from mercer.core.collections import Collection


class FeatureMap:
    """A map from objects to rows of numbers; `dimension` columns, the same for every call.

    What a vocabulary taken from the training objects does not cover (a label never seen) is left out of the row. That
    is exact for the inner product with any combination of training objects, which is all that is ever asked.
    """

    dimension: int

    def __call__(self, X: Collection) -> Array:
        """The rows φ(x), one per object."""
        raise TypeError(f"{type(self).__name__} must define __call__(X)")

    def sparse_rows(self, X: Collection) -> sparse.csr_array:
        """The same rows with only what is not zero kept, for those who need no dense array."""
        return sparse.csr_array(to_numpy(self(X)))


class SparseFeatureMap(FeatureMap):
    """A map whose rows are mostly zero: it defines `sparse_rows`, and the dense rows follow."""

    def __call__(self, X: Collection) -> np.ndarray:
        """The rows φ(x), zeros filled in."""
        return self.sparse_rows(X).toarray()

    def sparse_rows(self, X: Collection) -> sparse.csr_array:
        """The rows φ(x), one per object, with only what is not zero kept."""
        raise TypeError(f"{type(self).__name__} must define sparse_rows(X)")
