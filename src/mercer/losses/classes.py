"""Losses of classes, and of objects that are equal or not."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.core.arrays import Array, to_numpy
from mercer.core.collections import Collection, hash_key, is_numeric, members
from mercer.losses.base import Loss, side_by_side
from mercer.structures.sequences import is_sequence


@dataclass(eq=False, repr=False)
class ZeroOne(Loss):
    r"""1 for a wrong object, 0 for the right one, :math:`[y \ne \hat y]`.

    Examples
    --------
    >>> ZeroOne().paired(["ab", "c"], ["ab", "d"]).tolist()
    [0.0, 1.0]
    """

    def pointwise(self, y_true: Any, y_pred: Any) -> float:
        """Whether the two objects differ."""
        a, b = _equality_key(y_true), _equality_key(y_pred)
        if _by_identity(a, y_true) and _by_identity(b, y_pred):  # no hash: only the objects' own == can tell
            return float(not bool(y_true == y_pred))
        return float(a != b)

    def compute(self, Y_true: Collection, Y_pred: Collection, paired: bool) -> Array:
        """Whether objects differ."""
        A, B = side_by_side(Y_true, Y_pred, paired=paired)
        left, right = members(A), members(B)
        keys, others = [_equality_key(a) for a in left], [_equality_key(b) for b in right]
        if any(map(_by_identity, keys, left)) and any(map(_by_identity, others, right)):
            return super().compute(A, B, paired)
        numbers: dict[Any, int] = {}
        rows, columns = (
            np.asarray([numbers.setdefault(key, len(numbers)) for key in own], dtype=np.int64) for own in (keys, others)
        )
        return ((rows if paired else rows[:, None]) != columns).astype(float)


@dataclass(eq=False, repr=False)
class CostMatrix(Loss):
    r"""A table of costs, :math:`\Delta(c_i, c_j) = C_{ij}`: the cost of predicting c_j where c_i is true.

    The table need not be symmetric, nor zero on its diagonal. An estimator with this loss decodes by least expected cost,
    :math:`\arg\min_j \sum_i w_i C_{ij}`, with the weights of the training outputs.

    Parameters
    ----------
    classes : sequence of hashable objects
        c_1, c_2, …: numbers, strings, tuples.
    costs : array (classes, classes)
        C, rows for true classes, columns for predicted ones.

    Examples
    --------
    >>> loss = CostMatrix(["healthy", "ill"], [[0.0, 1.0], [20.0, 0.0]])
    >>> loss("ill", "healthy"), loss("healthy", "ill")
    (20.0, 1.0)
    """

    outputs = "classes: numbers, strings or tuples"
    classes: Sequence[Hashable]
    costs: Any

    def compute(self, Y_true: Collection, Y_pred: Collection, paired: bool) -> Array:
        """Costs."""
        A, B = side_by_side(Y_true, Y_pred, paired=paired)
        costs = self._table()
        rows, columns = self._numbers(A, "y_true"), self._numbers(B, "y_pred")
        return costs[rows, columns] if paired else costs[np.ix_(rows, columns)]

    def _numbers(self, objects: Collection, name: str) -> np.ndarray:
        """The number of the class of each object."""
        place = {_class_key(one): i for i, one in enumerate(self.classes)}
        keys = [_class_key(one) for one in members(objects)]
        for i, key in enumerate(keys):
            if key not in place:
                wrong = f"{name}[{i}] is {members(objects)[i]!r:.60}"
                raise ValueError(f"{wrong}; expected one of the classes {self.classes!r:.80}")
        return np.asarray([place[key] for key in keys], dtype=np.intp)

    def _table(self) -> np.ndarray:
        if not is_sequence(self.classes):
            raise ValueError(f"classes={self.classes!r:.80} in CostMatrix; expected the classes in a list")
        n = len(self.classes)
        if len({_class_key(one) for one in self.classes}) != n:
            raise ValueError(f"classes={self.classes!r:.80} in CostMatrix; expected each class once")
        try:
            costs = np.asarray(to_numpy(self.costs) if is_numeric(self.costs) else self.costs, dtype=float)
        except (TypeError, ValueError) as error:
            raise ValueError(f"costs={self.costs!r:.80} in CostMatrix; expected {n} rows of {n} numbers") from error
        if costs.shape != (n, n):
            raise ValueError(f"costs has shape {costs.shape} in CostMatrix; expected {(n, n)} for {n} classes")
        if not np.isfinite(costs).all():
            i, j = np.argwhere(~np.isfinite(costs))[0]
            raise ValueError(f"costs[{i}, {j}] is {costs[i, j]} in CostMatrix; expected a finite number")
        return costs


def _equality_key(thing: Any) -> Any:
    """`hash_key`, with arrays of numbers equal whatever their dtype and library."""
    if is_numeric(thing):
        array = to_numpy(thing)
        return hash_key(array.astype(float)) if array.ndim else array.item()
    return hash_key(thing)


def _by_identity(key: Any, thing: Any) -> bool:
    """Whether `hash_key` could do no better than the identity of an object."""
    return bool(key == ("id", id(thing)))


def _class_key(thing: Any) -> Hashable:
    """A key that is equal for equal classes, whatever the library and the precision of numbers."""
    if is_numeric(thing):
        array = to_numpy(thing)
        return array.item() if array.size == 1 else tuple(array.ravel().tolist())
    return hash_key(thing)
