"""Sparse rows: vectors of which only the entries other than zero are kept, as SciPy's sparse arrays hold them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np
from scipy import sparse

from mercer.core import memory
from mercer.core.arrays import is_sparse


def as_sparse_rows(collection: Any, name: str = "X") -> sparse.csr_array:
    """Return a sparse array of any format as a `csr_array` of finite doubles, without zeros or duplicates, columns in order.

    Examples
    --------
    >>> as_sparse_rows(sparse.coo_matrix([[0, 2], [1, 0]])).toarray()
    array([[0., 2.],
           [1., 0.]])
    """
    if collection.ndim != 2 or 0 in collection.shape:
        raise ValueError(
            f"{name} is a sparse array of shape {collection.shape}; expected two axes, at least one object and one feature"
        )
    if collection.dtype.kind not in "biuf":
        raise TypeError(f"{name} is a sparse array of dtype {collection.dtype}; expected real numbers")
    rows = sparse.csr_array(collection, dtype=np.float64)
    if not (rows.has_canonical_format and np.all(rows.data)):
        rows = rows.copy()  # the user's arrays stay as they are
        rows.sum_duplicates()
        rows.eliminate_zeros()
    bad = np.flatnonzero(~np.isfinite(rows.data))
    if len(bad):
        row = int(np.searchsorted(rows.indptr, bad[0], side="right")) - 1
        raise ValueError(f"{name} contains NaN or infinity, first in row {row}; drop or impute such rows first")
    return rows


def dense_rows(rows: sparse.csr_array) -> np.ndarray:
    """Return the rows as a dense array; raise MemoryError if it would not fit."""
    way_out = "use a kernel without explicit features, such as Gaussian(), or fewer columns"
    memory.require(rows.shape[0], rows.shape[1], 1, "sparse rows as explicit features", way_out)
    return rows.toarray()


def row_keys(rows: sparse.csr_array) -> Iterator[Hashable]:
    """Yield a key for each of the checked rows, equal for equal rows."""
    for start, stop in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        yield rows.indices[start:stop].tobytes(), rows.data[start:stop].tobytes()


def same_rows(a: Any, b: Any) -> bool:
    """Return True if two collections are sparse, checked and equal."""
    if not (is_sparse(a) and is_sparse(b)) or a.shape != b.shape:
        return False
    return all(np.array_equal(getattr(a, part), getattr(b, part)) for part in ("indptr", "indices", "data"))
