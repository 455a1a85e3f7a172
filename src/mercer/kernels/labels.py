"""The number of labels in common, for multi-label data."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

from mercer.core.arrays import Array, float64, is_array, is_numpy_array, is_sparse, to_numpy
from mercer.core.collections import Collection, as_objects, as_vectors, hash_key, reject_non_collection
from mercer.core.sparse_rows import as_sparse_rows, dense_rows
from mercer.core.validation import is_whole
from mercer.kernels._sparse import Features, incidence, translation
from mercer.kernels.base import Kernel
from mercer.kernels.features import Vocabulary
from mercer.kernels.vectors import alike, as_rows


@dataclass(eq=False, repr=False)
class LabelSets(Kernel):
    r"""The number of labels in common, :math:`k(A, B) = |A \cap B|`.

    The squared distance of two sets is the number of labels in one but not the other, the Hamming loss.

    Objects are sets of hashable labels (sets, frozensets, lists or tuples; a label named twice counts once), or the rows of a
    0/1 indicator array, sparse array, frame or list of arrays (a list of lists is read as sets).
    The image of the empty set is the origin.

    Parameters
    ----------
    labels : int or sequence, optional
        The labels there are, or their number, for labels 0 to labels − 1. Any other is then an error, and an indicator matrix
        has as many columns. By default any label may occur.

    Examples
    --------
    >>> LabelSets()([{"sea", "sun"}, {"sun"}, set()])
    array([[2., 1., 0.],
           [1., 1., 0.],
           [0., 0., 0.]])
    >>> LabelSets()(np.array([[1, 1, 0], [0, 1, 1]]))
    array([[2., 1.],
           [1., 2.]])
    """

    labels: int | Sequence[Hashable] | None = None

    is_psd = True
    takes_sparse = True

    def key(self, x: Any) -> Hashable:
        """The set, however it is written."""
        return hash_key(x) if is_array(x) else frozenset(x)

    def _check(self, X: Any, name: str) -> Collection:
        if not is_sparse(X):
            reject_non_collection(X, name)
        known = None if self.labels is None else _known_labels(self.labels)
        matrix = _as_matrix(X, name)
        if matrix is not None:
            _require_indicator(matrix, name)
            if known is not None and matrix.shape[1] != len(known):
                raise ValueError(
                    f"{name} has {matrix.shape[1]} columns; expected one for each of the {len(known)} labels"
                )
            return matrix
        sets = as_objects(X, name)
        for i, labels in enumerate(sets):
            _require_set(labels, f"{name}[{i}]")
            if known is not None:
                _require_known(labels, known, f"{name}[{i}]")
        _reject_indicator_lists(sets, name)
        return sets

    def _encode(self, X: Collection, name: str) -> Any:
        if not _is_matrix(X):
            return _Sets([_as_set(labels) for labels in X])
        return as_rows(X if is_sparse(X) else float64(X))

    def _matrix(self, X: Any, Z: Any) -> Array:
        require_alike(X, Z)
        X, Z = alike(X, Z) if _is_matrix(X) else (X, Z)
        return X.products(Z)

    def _diag(self, X: Any) -> Array:
        return X.squared_lengths  # of zeros and ones: the number of ones

    def feature_map(self, X: Any) -> LabelIndicators:
        """One column for each label in `X`, in order of first appearance, or those of the indicator matrix."""
        X = self.check(X)
        if _is_matrix(X):
            return LabelIndicators(list(range(X.shape[1])), from_matrix=True)
        return LabelIndicators(list(dict.fromkeys(label for labels in X for label in _ordered(labels))))


class _Sets(Features):
    """Sets of labels as rows of zeros and ones, with a column for each label."""

    def __init__(self, sets: list[set[Hashable] | frozenset[Hashable]]) -> None:
        self.columns_of: dict[Hashable, int] = {}
        numbers = [self.columns_of.setdefault(label, len(self.columns_of)) for labels in sets for label in labels]
        self.numbers = np.asarray(numbers, dtype=np.intp)
        self.counts = np.asarray([len(labels) for labels in sets], dtype=np.intp)
        super().__init__(incidence(self.numbers, self.counts, len(self.columns_of)))

    def rows_in(self, other: Self) -> sparse.csr_array:
        """The labels that occur in another collection."""
        return self.rows_of(other.columns_of)

    def rows_of(self, columns: dict[Hashable, int]) -> sparse.csr_array:
        """The sets over the given columns; labels without one are left out."""
        numbers = translation(self.columns_of, columns)[self.numbers]
        row = np.repeat(np.arange(len(self.counts)), self.counts)[numbers >= 0]
        return incidence(numbers[numbers >= 0], np.bincount(row, minlength=len(self.counts)), len(columns))


@dataclass
class LabelIndicators(Vocabulary):
    """A one in the column of each label of the set; labels without a column are left out."""

    labels: list[Hashable]
    from_matrix: bool = False
    """True if the sets are the rows of an indicator matrix, whose columns are then the labels."""

    def __call__(self, X: Any) -> Array:
        """The indicator rows."""
        X = LabelSets().check(X)
        if _is_matrix(X) != self.from_matrix or (self.from_matrix and X.shape[1] != self.dimension):
            expected = f"an indicator matrix of {self.dimension} columns" if self.from_matrix else "sets of labels"
            raise ValueError(f"X is {_described(X)}; expected {expected}, as in training")
        if self.from_matrix:
            return dense_rows(X) if is_sparse(X) else float64(X)
        columns = {label: j for j, label in enumerate(self.labels)}
        return _Sets([_as_set(labels) for labels in X]).rows_of(columns).toarray()


def _as_set(labels: Any) -> set[Hashable] | frozenset[Hashable]:
    return labels if type(labels) in (set, frozenset) else set(labels)


def _ordered(labels: Any) -> Iterable[Hashable]:
    """The labels in an order that does not change from run to run (text hashes do)."""
    if hasattr(labels, "index"):  # a list or tuple
        return labels
    return sorted(labels, key=lambda label: (type(label).__name__, repr(label)))


def _is_matrix(X: Collection) -> bool:
    return getattr(X, "ndim", 1) == 2


def _as_matrix(X: Any, name: str) -> Array | None:
    """`X` as a 2-D array of numbers where it is an array, sparse or not, a frame or a list of arrays; else None."""
    if is_sparse(X):
        return as_sparse_rows(X, name)
    if is_array(X) and not (is_numpy_array(X) and X.dtype == object):
        return X if X.ndim == 2 else None
    if hasattr(X, "ndim") and X.ndim == 2:  # a pandas frame, or a column of sets
        return np.asarray(X) if X.shape[1] > 1 and not is_array(X) else None
    rows = list(X)
    return as_vectors(rows, name) if rows and all(is_array(row) and row.ndim == 1 for row in rows) else None


def _known_labels(labels: Any) -> frozenset[Hashable]:
    if is_whole(labels) and labels > 0:
        return frozenset(range(int(labels)))
    if isinstance(labels, str) or not hasattr(labels, "__iter__"):
        raise ValueError(
            f"labels={labels!r} in LabelSets; expected the labels there are, or their number, a whole number from 1"
        )
    return frozenset(labels)


def _require_known(labels: Any, known: frozenset[Hashable], name: str) -> None:
    strange = [label for label in _ordered(labels) if label not in known]
    if strange:
        expected = (
            f"one from 0 to {len(known) - 1}" if known == set(range(len(known))) else f"one of the {len(known)} named"
        )
        raise ValueError(f"{name} has the label {strange[0]!r}; expected {expected} by labels=...")


def _reject_indicator_lists(sets: np.ndarray, name: str) -> None:
    """Raise ValueError for lists of zeros and ones with repeats, which are meant as rows of indicators."""
    lists = [labels for labels in sets if hasattr(labels, "index")]
    repeated = any(len(labels) > len(set(labels)) for labels in lists)
    if repeated and len(lists) == len(sets) and set().union(*lists) <= {0, 1}:
        widths = sorted({len(labels) for labels in lists})
        ragged = f"; its rows have {widths[0]} to {widths[-1]} entries, and an array needs rows of one length" * (
            len(widths) > 1
        )
        raise ValueError(
            f"{name} is a list of lists of zeros and ones, with repeats, so these are not labels; expected sets of labels, or an "
            f"indicator matrix: write np.asarray({name}){ragged}"
        )


def _require_indicator(matrix: Any, name: str) -> None:
    first = 0
    if is_sparse(matrix):  # the first row with another entry than 1, or any row
        first = int(np.searchsorted(matrix.indptr, np.argmax(np.append(matrix.data != 1, True)), side="right")) - 1
        matrix = matrix[[min(first, matrix.shape[0] - 1)]].toarray()
    values = to_numpy(matrix)
    if values.dtype.kind not in "biuf":
        raise TypeError(
            f"{name} is a matrix of dtype {values.dtype}; expected 0 and 1. For sets of labels pass a list of sets"
        )
    if 0 in values.shape:
        raise ValueError(f"{name} has shape {values.shape}; expected at least one object and one label")
    wrong = ~((values == 0) | (values == 1))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise ValueError(
            f"row {first + row} of {name} holds {values[row, column]} in column {column}; expected 0 or 1, where 1 says that the "
            "object has the label. For vectors of numbers use mercer.kernels.Linear or Gaussian"
        )


def _require_set(labels: Any, name: str) -> None:
    wanted = "expected a set (or list, or tuple) of labels"
    if not isinstance(labels, set | frozenset | list | tuple):
        raise TypeError(f"{name} is {labels!r:.60}, a {type(labels).__name__}; {wanted}")
    try:
        _as_set(labels)
    except TypeError as error:
        raise TypeError(f"{name} is {labels!r:.60}, with labels that have no hash; {wanted}") from error


def _described(X: Collection) -> str:
    return f"an indicator matrix of {X.shape[1]} columns" if _is_matrix(X) else "a collection of sets"


def require_alike(X: Collection, Z: Collection | None, name: str = "X", other: str = "Z") -> None:
    """Raise ValueError unless both are sets, or both indicator matrices with the same columns."""
    if Z is not None and (_is_matrix(X) != _is_matrix(Z) or (_is_matrix(X) and X.shape[1] != Z.shape[1])):
        raise ValueError(
            f"{name} is {_described(X)} and {other} is {_described(Z)}; expected two collections of sets, or "
            "two indicator matrices with the same columns"
        )
