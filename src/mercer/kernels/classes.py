"""The kernel of plain classification."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from mercer.core.arrays import Array, is_array, is_numpy_array, like, to_numpy
from mercer.core.collections import Collection, as_objects, reject_non_collection
from mercer.kernels.base import Kernel
from mercer.kernels.features import FeatureMap


@dataclass(eq=False, repr=False)
class Classes(Kernel):
    r"""Same class or not, :math:`k(y, y') = \tfrac12 [y = y']`.

    The squared distance of two classes, :math:`k(y,y) + k(y',y') - 2k(y,y')`, is the zero-one loss.

    A class is anything hashable: a number, a string, a tuple. Numbers stay an array of numbers, so
    that predictions are numbers too.

    Examples
    --------
    >>> Classes()(["cat", "dog", "cat"])
    array([[0.5, 0. , 0.5],
           [0. , 0.5, 0. ],
           [0.5, 0. , 0.5]])
    """

    is_psd = True

    def pointwise(self, x: Any, z: Any) -> float:
        """One half for the same class, else zero."""
        return 0.5 * bool(x == z)

    def check(self, X: Collection, name: str = "X") -> Collection:
        """`X` as a 1-D array: of numbers where all classes are numbers, of objects otherwise."""
        reject_non_collection(X, name)
        X = _numbers(X)
        if is_array(X) and not _is_objects(X):
            if X.ndim == 2 and X.shape[1] == 1:
                X = X[:, 0]
            if X.ndim != 1:
                raise ValueError(
                    f"{name} has shape {tuple(X.shape)}; expected one class per object, shape (n,). "
                    "For several labels per object use mercer.kernels.LabelSets, for vectors "
                    "mercer.kernels.Linear or Gaussian"
                )
            if X.shape[0] == 0:
                raise ValueError(f"{name} is empty; expected at least one object")
            _require_known(to_numpy(X), name)
            return X
        classes = as_objects(X, name)
        for i, label in enumerate(classes):
            if not _hashable(label):
                raise TypeError(
                    f"{name}[{i}] is {label!r:.60}, a {type(label).__name__}, which has no hash; "
                    "expected a class: a number, a string, a tuple"
                )
        return classes

    def _matrix(self, X: Collection, Z: Collection | None) -> Array:
        if Z is None:
            rows = columns = class_codes(X)[0]
        else:
            rows, columns = class_codes(X, Z)
        # booleans to doubles and the half in one pass
        return _in_library(np.multiply(rows[:, None] == columns, 0.5), X)

    def _diag(self, X: Collection) -> Array:
        return _in_library(np.full(X.shape[0], 0.5), X)

    def feature_map(self, X: Collection) -> ClassIndicators:
        """One column for each class in `X`, holding √½ where the object is of that class."""
        return ClassIndicators(list(dict.fromkeys(_listed(self.check(X)))))


@dataclass
class ClassIndicators(FeatureMap):
    """√½ in the column of the object's class; a class without a column gives a row of zeros."""

    classes: list[Hashable]

    @property
    def dimension(self) -> int:  # type: ignore[override]
        """One column per class."""
        return len(self.classes)

    def __call__(self, X: Collection) -> Array:
        """The scaled indicator rows."""
        X = Classes().check(X)
        column = {label: j for j, label in enumerate(self.classes)}
        found = np.asarray([column.get(label, -1) for label in _listed(X)])
        rows = np.zeros((len(found), len(self.classes)))
        known = np.flatnonzero(found >= 0)
        rows[known, found[known]] = np.sqrt(0.5)
        return _in_library(rows, X)


def class_codes(*collections: Collection) -> list[np.ndarray]:
    """The same integer for the same class, throughout the checked collections."""
    if not any(map(_is_objects, collections)):
        arrays = [to_numpy(collection) for collection in collections]
        codes = np.unique(np.concatenate(arrays), return_inverse=True)[1]
        return np.split(codes, np.cumsum([len(array) for array in arrays])[:-1])
    numbers: dict[Hashable, int] = {}
    return [
        np.asarray([numbers.setdefault(label, len(numbers)) for label in _listed(collection)])
        for collection in collections
    ]


def _numbers(X: Collection) -> Collection:
    """A list or column of plain numbers as an array; anything else as it is."""
    if is_array(X):
        return X
    if hasattr(X, "dtype"):  # a pandas column
        column = np.asarray(X)
        return column if column.dtype.kind in "biuf" else X
    items = list(X)
    return np.asarray(items) if items and all(isinstance(item, Real | np.bool_) for item in items) else items


def _is_objects(X: Array) -> bool:
    return is_numpy_array(X) and X.dtype.kind not in "biuf"


def _listed(X: Collection) -> list[Any]:
    return to_numpy(X).tolist()


def _in_library(a: np.ndarray, X: Collection) -> Array:
    return a if is_numpy_array(X) else like(a, X)


def _hashable(label: Any) -> bool:
    try:
        hash(label)
    except TypeError:
        return False
    return True


def _require_known(X: np.ndarray, name: str) -> None:
    if X.dtype.kind == "f" and not np.isfinite(X).all():
        first = int(np.argmin(np.isfinite(X)))
        raise ValueError(
            f"{name} contains NaN or infinity, first {name}[{first}] = {X[first]}; expected a "
            "class. Drop such objects first"
        )
