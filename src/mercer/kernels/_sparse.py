"""Objects as sparse rows, and their inner products as a dense Gram matrix."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.base import clone

from mercer.core.arrays import cached_property
from mercer.core.compiled import compiled
from mercer.core.threads import in_threads
from mercer.kernels.base import Kernel
from mercer.kernels.features import VocabularyMap

_BLAS = 24.0
"""Multiplications a dense product does while the sparse one does one."""

_DENSE = 2**25
"""Most entries of rows made dense, 256 MiB of doubles."""

_SMALL = 1e6
"""Multiplications, about a millisecond, for which a second thread is not worth starting."""


class SparseRows:
    """Sparse rows, with what their products with other rows need once."""

    def __init__(self, rows: sparse.csr_array) -> None:
        self.rows = rows

    @cached_property
    def columns(self) -> sparse.csc_array:
        """The rows by columns."""
        columns = self.rows.tocsc()
        columns.sort_indices()
        return columns

    @cached_property
    def per_column(self) -> np.ndarray:
        """The number of entries in each column."""
        return np.bincount(self.rows.indices, minlength=self.rows.shape[1]).astype(float)

    @cached_property
    def squared_lengths(self) -> np.ndarray:
        """The inner product of each row with itself."""
        return np.asarray(self.rows.multiply(self.rows).sum(axis=1)).ravel()


class Parts(NamedTuple):
    """The arrays of a sparse matrix."""

    starts: np.ndarray
    indices: np.ndarray
    values: np.ndarray

    @classmethod
    def of(cls, matrix: sparse.csr_array | sparse.csc_array) -> Self:
        return cls(matrix.indptr, matrix.indices, matrix.data)


def products(left: SparseRows, right: SparseRows | None = None, *, minima: bool = False) -> np.ndarray:
    """The inner product of each row of `left` with each of `right`; without `right`, with each of its own.

    With `minima`, entries of one sign add the smaller of their sizes in place of their product.
    """
    symmetric, other = right is None, left if right is None else right
    work = float(left.per_column @ other.per_column)
    (n, width), m = left.rows.shape, other.rows.shape[0]
    if not minima and n * m * width < _BLAS * work and (n + m) * width <= _DENSE:
        dense = left.rows.toarray()
        return dense @ (dense if symmetric else other.rows.toarray()).T
    # in order, so that both halves of a symmetric matrix add up the same terms in the same order
    rows, columns = Parts.of(left.rows.sorted_indices()), Parts.of(other.columns)
    # where there is less to multiply than to write, copying one half from the other takes longer
    mirrored = symmetric and work > n * m
    gram = np.zeros((n, m))
    in_threads(lambda chosen: _add_up(rows, columns, chosen, (mirrored, minima), gram), n, work > _SMALL)
    if mirrored:
        _mirror(gram)
    return gram


class Features(SparseRows):
    """Objects as sparse rows over the features that occur in their collection.

    A subclass sets `rows` and defines `rows_in`. Products of two collections are over the features of the larger one.
    """

    def rows_in(self, other: Self) -> sparse.csr_array:
        """These objects over the features of another collection; features that it lacks are left out."""
        raise TypeError(f"{type(self).__name__} must define rows_in(other)")

    def products(self, other: Self | None) -> np.ndarray:
        """The inner product of each object with each of another collection, or of its own."""
        if other is None:
            return products(self)
        if self.rows.nnz <= other.rows.nnz:
            return products(SparseRows(self.rows_in(other)), other)
        return products(self, SparseRows(other.rows_in(self)))


class FeatureKernel(Kernel):
    """A kernel that is the inner product of sparse features: `_encode` returns `Features`."""

    is_psd = True

    def _matrix(self, X: Features, Z: Features | None) -> np.ndarray:
        return X.products(Z)

    def _diag(self, X: Features) -> np.ndarray:
        return X.squared_lengths


class NumberedFeatures(Features):
    """Occurrences of features that have the same number in every collection."""

    def __init__(self, row: np.ndarray, number: np.ndarray, size: int, bound: float = math.inf) -> None:
        self.row, self.number, self.size = row, number, size
        if bound > 2 * len(number) + 1024:
            self.vocabulary, column = np.unique(number, return_inverse=True)
        else:  # numbers below a small bound are columns as they are
            self.vocabulary, column = np.arange(bound), number
        super().__init__(counted(row, column, (size, len(self.vocabulary))))

    def rows_in(self, other: Self) -> sparse.csr_array:
        """The occurrences of numbers in the vocabulary of another collection."""
        return counted_known(self.row, self.number, self.size, other.vocabulary)


class NumberedKernel(FeatureKernel):
    """A kernel that counts features that have the same number in every collection."""

    def occurrences(self, X: Any, name: str = "X") -> tuple[np.ndarray, np.ndarray]:
        """For each occurrence of a feature, its object and the number of the feature."""
        raise TypeError(f"{type(self).__name__} must define occurrences(X)")

    def feature_map(self, X: Any) -> NumberedCounts:
        """One column for each feature that occurs in `X`."""
        prepared = self.prepare(X)
        return NumberedCounts(np.unique(prepared.encoded.number), clone(self))

    def _encode(self, X: Any, name: str) -> NumberedFeatures:
        return NumberedFeatures(*self.occurrences(X, name), len(X))


@dataclass
class NumberedCounts(VocabularyMap):
    """Counts of some features in each object; features without a column are left out."""

    numbers: np.ndarray
    """The number of the feature of each column, ascending."""
    kernel: NumberedKernel

    def sparse_rows(self, X: Any) -> sparse.csr_array:
        """The counts, one row per object."""
        X = self.kernel.check(X)
        return counted_known(*self.kernel.occurrences(X), len(X), self.numbers)


def counted(
    row: np.ndarray, column: np.ndarray, shape: tuple[int, int], weights: np.ndarray | None = None
) -> sparse.csr_array:
    """The number of times each column occurs in each row, or the sum of the weights of those occurrences."""
    values = np.ones(len(row)) if weights is None else weights
    return sparse.coo_array((values, (row, column)), shape=shape).tocsr()


def counted_known(row: np.ndarray, number: np.ndarray, size: int, vocabulary: np.ndarray) -> sparse.csr_array:
    """The occurrences of numbers in a sorted vocabulary, one column for each of its numbers."""
    column, known = located(number, vocabulary)
    return counted(row[known], column[known], (size, len(vocabulary)))


def located(number: np.ndarray, vocabulary: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The position of each number in a sorted vocabulary, and True for those that are in it."""
    if len(vocabulary) == 0:
        return np.zeros(len(number), dtype=np.intp), np.zeros(len(number), dtype=bool)
    column = np.minimum(np.searchsorted(vocabulary, number), len(vocabulary) - 1)
    return column, vocabulary[column] == number


def translation(source: Mapping[Hashable, int], target: Mapping[Hashable, int]) -> np.ndarray:
    """For each number that `source` gives to a key, the number that `target` gives it, or -1."""
    table = np.full(len(source), -1, dtype=np.intp)
    smaller, other = (source, target) if len(source) <= len(target) else (target, source)
    for key in smaller:
        if key in other:
            table[source[key]] = target[key]
    return table


def incidence(items: np.ndarray, counts: np.ndarray, width: int) -> sparse.csr_array:
    """A 0/1 matrix with ones in the columns `items`, `counts[i]` of them in row i."""
    starts = np.concatenate([[0], np.cumsum(counts)])
    return sparse.csr_array((np.ones(len(items)), items, starts), shape=(len(counts), width))


@compiled
def _add_up(left: Parts, columns: Parts, rows: np.ndarray, how: tuple[bool, bool], gram: np.ndarray) -> None:
    """For each entry of a row, its product with the entries of the same column; up to the diagonal where symmetric."""
    symmetric, minima = how
    for i in rows:
        for p in range(left.starts[i], left.starts[i + 1]):
            column, value = left.indices[p], left.values[p]
            for q in range(columns.starts[column], columns.starts[column + 1]):
                j = columns.indices[q]
                if symmetric and j > i:
                    break
                other = columns.values[q]
                if not minima:
                    gram[i, j] += value * other
                elif value * other > 0:
                    gram[i, j] += min(abs(value), abs(other))


@compiled
def _mirror(gram: np.ndarray) -> None:
    """Copy the entries below the diagonal to above it, in tiles that stay in the cache."""
    n, tile = gram.shape[0], 64
    for top in range(0, n, tile):
        for left in range(0, top + 1, tile):
            for i in range(top, min(top + tile, n)):
                for j in range(left, min(left + tile, i)):
                    gram[j, i] = gram[i, j]
