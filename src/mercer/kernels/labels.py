"""The kernel of multi-label data."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from mercer.core.arrays import Array, float64, is_array, is_numpy_array, namespace, to_numpy
from mercer.core.collections import Collection, as_objects, as_vectors, hash_key, reject_non_collection
from mercer.kernels._incidence import incidence, shared
from mercer.kernels.base import Kernel
from mercer.kernels.features import FeatureMap
from mercer.kernels.vectors import inner_products


@dataclass(eq=False, repr=False)
class LabelSets(Kernel):
    r"""The number of labels in common, :math:`k(A, B) = |A \cap B|`.

    The squared distance of two sets is the number of labels in one but not the other, the Hamming
    loss.

    Objects are sets of hashable labels (sets, frozensets, lists or tuples; a label named twice
    counts once), or the rows of a 0/1 indicator array, frame or list of arrays (a list of lists is
    read as sets; to estimators y may be a sparse matrix too). The empty set is an object like any
    other: its image is the origin.

    Parameters
    ----------
    labels : int or sequence, optional
        The labels there are, or how many, for labels 0 to labels − 1. Any other is then an error,
        and an indicator matrix has as many columns. By default any label may occur.

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

    def key(self, x: Any) -> Hashable:
        """Label sets are the same whatever collection they are written as."""
        return hash_key(x) if isinstance(x, np.ndarray) else frozenset(x)

    def pointwise(self, x: Any, z: Any) -> float:
        """The number of labels in common."""
        if is_array(x):
            return float(namespace(x).sum(float64(x) * float64(z)))
        return float(len(set(x) & set(z)))

    def check(self, X: Collection, name: str = "X") -> Collection:
        """`X` as a 0/1 matrix, or as an array of sets."""
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
            if not isinstance(labels, set | frozenset):
                _require_set(labels, f"{name}[{i}]")
            if known is not None:
                _require_known(labels, known, f"{name}[{i}]")
        _reject_indicator_lists(sets, name)
        return sets

    def _matrix(self, X: Collection, Z: Collection | None) -> Array:
        if _is_matrix(X):
            require_alike(X, Z)
            return inner_products(float64(X), None if Z is None else float64(Z))
        require_alike(X, Z)
        columns: dict[Hashable, int] = {}
        rows = _indicators(X, columns, grow=True)
        others = rows if Z is None else _indicators(Z, columns, grow=True)
        rows.resize(rows.shape[0], len(columns))
        return shared(rows, others)

    def _diag(self, X: Collection) -> Array:
        if _is_matrix(X):
            return namespace(X).sum(float64(X), axis=1)
        return np.asarray([float(len(set(labels))) for labels in X])

    def feature_map(self, X: Collection) -> LabelIndicators:
        """One column for each label in `X`, in order of first appearance, or those of the indicator matrix."""
        X = self.check(X)
        if _is_matrix(X):
            return LabelIndicators(list(range(X.shape[1])), from_matrix=True)
        return LabelIndicators(list(dict.fromkeys(label for labels in X for label in _ordered(labels))))


@dataclass
class LabelIndicators(FeatureMap):
    """A one in the column of each label of the set; labels without a column are left out."""

    labels: list[Hashable]
    from_matrix: bool = False
    """Whether the sets are the rows of an indicator matrix, whose columns are then the labels."""

    @property
    def dimension(self) -> int:  # type: ignore[override]
        """One column per label."""
        return len(self.labels)

    def __call__(self, X: Collection) -> Array:
        """The indicator rows."""
        X = LabelSets().check(X)
        if _is_matrix(X) != self.from_matrix or (self.from_matrix and X.shape[1] != self.dimension):
            expected = f"an indicator matrix of {self.dimension} columns" if self.from_matrix else "sets of labels"
            raise ValueError(f"X is {_described(X)}; expected {expected}, as in training")
        if self.from_matrix:
            return float64(X)
        columns = {label: j for j, label in enumerate(self.labels)}
        return _indicators(X, columns, grow=False).toarray()


def _ordered(labels: Any) -> Any:
    """The labels in an order that does not change from run to run, where they have one (text hashes differ)."""
    if not isinstance(labels, set | frozenset):
        return labels
    return sorted(labels, key=lambda label: (type(label).__name__, repr(label)))


def _indicators(X: Collection, columns: dict[Hashable, int], grow: bool) -> sparse.csr_array:
    """Sets as a 0/1 matrix; labels without a column get a new one (`grow`) or are left out."""
    sets = [labels if isinstance(labels, set | frozenset) else set(labels) for labels in X]
    if grow:
        items = [columns.setdefault(label, len(columns)) for labels in sets for label in labels]
        counts = [len(labels) for labels in sets]
    else:
        known = [[columns[label] for label in labels if label in columns] for labels in sets]
        items, counts = [item for row in known for item in row], [len(row) for row in known]
    return incidence(np.asarray(items, dtype=np.intp), np.asarray(counts, dtype=np.intp), len(columns))


def _is_matrix(X: Collection) -> bool:
    return is_array(X) and X.ndim == 2


def _as_matrix(X: Collection, name: str) -> Array | None:
    """`X` as a 2-D array of numbers where it is an array, a frame or a list of arrays; else None."""
    if is_array(X) and not (is_numpy_array(X) and X.dtype == object):
        return None if X.ndim != 2 else X
    if hasattr(X, "ndim") and X.ndim == 2:  # a pandas frame, or a column of sets
        return np.asarray(X) if X.shape[1] > 1 and not is_array(X) else None
    rows = list(X)
    return as_vectors(rows, name) if rows and all(is_array(row) and row.ndim == 1 for row in rows) else None


def _known_labels(labels: Any) -> frozenset[Hashable]:
    if isinstance(labels, int | np.integer) and not isinstance(labels, bool) and labels > 0:
        return frozenset(range(int(labels)))
    if isinstance(labels, str) or not hasattr(labels, "__iter__"):
        raise ValueError(
            f"labels={labels!r} in LabelSets; expected the labels there are, or how many, a whole number from 1"
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
    """Lists of zeros and ones, some twice, are meant as rows of indicators."""
    lists = [labels for labels in sets if isinstance(labels, list | tuple)]
    repeated = any(len(labels) > len(set(labels)) for labels in lists)
    if repeated and len(lists) == len(sets) and set().union(*lists) <= {0, 1}:
        widths = sorted({len(labels) for labels in lists})
        ragged = f"; its rows have {widths[0]} to {widths[-1]} entries, and an array needs rows of one length" * (
            len(widths) > 1
        )
        raise ValueError(
            f"{name} is a list of lists of zeros and ones, with repeats, so these are no labels; expected sets of labels, or an "
            f"indicator matrix: write np.asarray({name}){ragged}"
        )


def _require_indicator(matrix: Array, name: str) -> None:
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
            f"row {row} of {name} holds {values[row, column]} in column {column}; expected 0 or 1, "
            "whether the object has the label. For vectors of numbers use mercer.kernels.Linear or "
            "Gaussian"
        )


def _require_set(labels: Any, name: str) -> None:
    wanted = "expected a set (or list, or tuple) of labels"
    if not isinstance(labels, set | frozenset | list | tuple):
        raise TypeError(f"{name} is {labels!r:.60}, a {type(labels).__name__}; {wanted}")
    try:
        set(labels)
    except TypeError as error:
        raise TypeError(f"{name} is {labels!r:.60}, with labels that have no hash; {wanted}") from error


def _described(X: Collection) -> str:
    return f"an indicator matrix of {X.shape[1]} columns" if _is_matrix(X) else "a collection of sets"


def require_alike(X: Collection, Z: Collection | None, name: str = "X", other: str = "Z") -> None:
    """Raise unless both are sets, or both indicator matrices with the same columns."""
    if Z is not None and (_is_matrix(X) != _is_matrix(Z) or (_is_matrix(X) and X.shape[1] != Z.shape[1])):
        raise ValueError(
            f"{name} is {_described(X)} and {other} is {_described(Z)}; expected two collections of sets, or "
            "two indicator matrices with the same columns"
        )
