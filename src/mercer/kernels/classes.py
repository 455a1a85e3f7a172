"""Same class or not, for plain classification."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from mercer.core.arrays import Array, is_array, is_numpy_array, like, to_numpy
from mercer.core.collections import Collection, as_objects, is_numeric, reject_non_collection
from mercer.kernels._sparse import translation
from mercer.kernels.base import Kernel
from mercer.kernels.features import Vocabulary


@dataclass(eq=False, repr=False)
class Classes(Kernel):
    r"""Same class or not, :math:`k(y, y') = \tfrac12 [y = y']`.

    The squared distance of two classes, :math:`k(y,y) + k(y',y') - 2k(y,y')`, is the zero-one loss.

    A class is anything hashable: a number, a string, a tuple. Numbers stay an array of numbers, so that predictions are
    numbers too.

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

    def _check(self, X: Any, name: str) -> Collection:
        reject_non_collection(X, name)
        X = _numbers(X)
        if not is_numeric(X):
            classes = as_objects(X, name)
            for i, label in enumerate(classes):
                _require_hashable(label, f"{name}[{i}]")
            return classes
        if X.ndim == 2 and X.shape[1] == 1:
            X = X[:, 0]
        if X.ndim != 1:
            raise ValueError(
                f"{name} has shape {tuple(X.shape)}; expected one class per object, shape (n,). For several labels per object "
                "use mercer.kernels.LabelSets, for vectors mercer.kernels.Linear or Gaussian"
            )
        if X.shape[0] == 0:
            raise ValueError(f"{name} is empty; expected at least one object")
        _require_finite(to_numpy(X), name)
        return X

    def _encode(self, X: Collection, name: str) -> _Codes:
        return _Codes(X)

    def _matrix(self, X: _Codes, Z: _Codes | None) -> Array:
        rows = X.codes if Z is None else translation(X.index, Z.index)[X.codes]
        # booleans to doubles and the half in one pass
        return in_library(np.multiply(rows[:, None] == (X if Z is None else Z).codes, 0.5), X.objects)

    def _diag(self, X: _Codes) -> Array:
        return in_library(np.full(len(X.codes), 0.5), X.objects)

    def feature_map(self, X: Any) -> ClassIndicators:
        """One column for each class in `X`, holding √½ where the object is of that class."""
        return ClassIndicators(list(dict.fromkeys(_listed(self.check(X)))))


class _Codes:
    """Classes as integers."""

    def __init__(self, objects: Collection) -> None:
        self.objects = objects
        self.index: dict[Hashable, int] = {}
        if is_numeric(objects):
            distinct, self.codes = np.unique(to_numpy(objects), return_inverse=True)
            self.index = {label: j for j, label in enumerate(distinct.tolist())}
        else:
            self.codes = np.asarray([self.index.setdefault(label, len(self.index)) for label in _listed(objects)])


@dataclass
class ClassIndicators(Vocabulary):
    """√½ in the column of the object's class; a class without a column gives a row of zeros."""

    classes: list[Hashable]

    def __call__(self, X: Any) -> Array:
        """The scaled indicator rows."""
        found: _Codes = Classes().prepare(X).encoded
        column = translation(found.index, {label: j for j, label in enumerate(self.classes)})[found.codes]
        return in_library((column[:, None] == np.arange(len(self.classes))) * np.sqrt(0.5), found.objects)


def in_library(a: np.ndarray, X: Collection) -> Array:
    """`a` in the library and on the device of `X`."""
    return a if is_numpy_array(X) else like(a, X)


def _numbers(X: Any) -> Any:
    """A list or column of plain numbers as an array; anything else as it is."""
    if is_array(X):
        return X
    if hasattr(X, "dtype") or hasattr(
        X, "columns"
    ):  # a column, or a frame, which is iterated by the names of its columns
        column = np.asarray(X)
        return column if column.dtype.kind in "biuf" else X
    items = list(X)
    return np.asarray(items) if items and all(isinstance(item, Real | np.bool_) for item in items) else items


def _listed(X: Collection) -> list[Any]:
    return to_numpy(X).tolist()


def _require_hashable(label: Any, name: str) -> None:
    try:
        hash(label)
    except TypeError as error:
        raise TypeError(
            f"{name} is {label!r:.60}, a {type(label).__name__}, which has no hash; expected a class: a number, a string, a tuple"
        ) from error


def _require_finite(X: np.ndarray, name: str) -> None:
    if X.dtype.kind == "f" and not np.isfinite(X).all():
        first = int(np.argmin(np.isfinite(X)))
        raise ValueError(
            f"{name} contains NaN or infinity, first {name}[{first}] = {X[first]}; expected a class. Drop such objects first"
        )
