"""Inner products of sparse rows, as a dense Gram matrix."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from mercer.core.compiled import compiled
from mercer.core.threads import in_threads

_BLAS = 24.0
"""Multiplications a dense product does while the sparse one does one."""

_DENSE = 2**25
"""Most entries of rows made dense, 256 MiB of doubles."""

_SMALL = 1e6
"""Multiplications, about a millisecond, for which a second thread is not worth starting."""


def products(left: sparse.csr_array, right: sparse.csr_array | None = None) -> np.ndarray:
    """The inner product of each row of `left` with each of `right`; without `right`, with each of its own.

    Examples
    --------
    >>> products(sparse.csr_array([[1.0, 2.0], [0.0, 3.0]]))
    array([[5., 6.],
           [6., 9.]])
    """
    symmetric, other = right is None, left if right is None else right
    work = float(_per_column(left) @ _per_column(other))
    (n, width), m = left.shape, other.shape[0]
    if n * m * width < _BLAS * work and (n + m) * width <= _DENSE:
        dense = left.toarray()
        return dense @ (dense if symmetric else other.toarray()).T
    columns = other.tocsc()
    columns.sort_indices()
    # in order, so that both halves of a symmetric matrix add up the same terms in the same order
    left = left.sorted_indices()
    # where there is less to multiply than to write, copying one half from the other is the longer way
    mirrored = symmetric and work > n * m
    gram = np.zeros((n, m))

    def fill(rows: np.ndarray) -> None:
        _add_up(
            left.indptr, left.indices, left.data, columns.indptr, columns.indices, columns.data, rows, mirrored, gram
        )

    in_threads(fill, n, work > _SMALL)
    if mirrored:
        _mirror(gram)
    return gram


def squared_lengths(rows: sparse.csr_array) -> np.ndarray:
    """The inner product of each row with itself."""
    return np.asarray(rows.multiply(rows).sum(axis=1)).ravel()


def _per_column(rows: sparse.csr_array) -> np.ndarray:
    return np.bincount(rows.indices, minlength=rows.shape[1]).astype(float)


@compiled
def _add_up(
    starts: np.ndarray,
    indices: np.ndarray,
    values: np.ndarray,
    column_starts: np.ndarray,
    column_rows: np.ndarray,
    column_values: np.ndarray,
    rows: np.ndarray,
    symmetric: bool,
    gram: np.ndarray,
) -> None:
    """For each entry of a row, its product with the entries of the same column; up to the diagonal where symmetric."""
    for i in rows:
        for p in range(starts[i], starts[i + 1]):
            column, value = indices[p], values[p]
            for q in range(column_starts[column], column_starts[column + 1]):
                j = column_rows[q]
                if symmetric and j > i:
                    break
                gram[i, j] += value * column_values[q]


@compiled
def _mirror(gram: np.ndarray) -> None:
    """Copy what is below the diagonal to above it, in tiles that stay in the cache."""
    n, tile = gram.shape[0], 64
    for top in range(0, n, tile):
        for left in range(0, top + 1, tile):
            for i in range(top, min(top + tile, n)):
                for j in range(left, min(left + tile, i)):
                    gram[j, i] = gram[i, j]
