"""Costs a user sets: a table for classes, prices of edits for sequences."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numba import njit

from mercer.core.arrays import Array, to_numpy
from mercer.core.collections import Collection, hash_key, is_numeric, members
from mercer.losses.base import Loss
from mercer.losses.ready import _sequences
from mercer.losses.rows import alone, side_by_side


@dataclass(eq=False, repr=False)
class CostMatrix(Loss):
    r"""A table of costs, :math:`\Delta(c_i, c_j) = C_{ij}`: what it costs to say c_j where c_i is true.

    The table need not be symmetric, nor zero on its diagonal. An estimator that is given this loss decodes by least expected
    cost, :math:`\arg\min_j \sum_i w_i C_{ij}`, with the weights of the training outputs.

    Parameters
    ----------
    classes : sequence of hashable objects
        c_1, c_2, …: numbers, strings, tuples.
    costs : array (classes, classes)
        C, rows for what is true, columns for what is said.

    Examples
    --------
    >>> loss = CostMatrix(["healthy", "ill"], [[0.0, 1.0], [20.0, 0.0]])
    >>> loss("ill", "healthy"), loss("healthy", "ill")
    (20.0, 1.0)
    """

    classes: Sequence[Hashable]
    costs: Any

    def pointwise(self, y_true: Any, y_pred: Any) -> float:
        """The cost of one pair."""
        return float(self.paired(alone(y_true), alone(y_pred))[0])

    def paired(self, Y_true: Collection, Y_pred: Collection) -> Array:
        """The cost of each pair."""
        A, B = side_by_side(Y_true, Y_pred, paired=True)
        costs = self._table()
        return costs[self._rows(A, "y_true"), self._rows(B, "y_pred")]

    def matrix(self, A: Collection, B: Collection) -> Array:
        """The cost of all pairs."""
        A, B = side_by_side(A, B)
        costs = self._table()
        return costs[np.ix_(self._rows(A, "y_true"), self._rows(B, "y_pred"))]

    def _rows(self, objects: Collection, name: str) -> np.ndarray:
        place = {_class_key(one): i for i, one in enumerate(self.classes)}
        keys = [_class_key(one) for one in members(objects)]
        for i, key in enumerate(keys):
            if key not in place:
                raise ValueError(
                    f"{name}[{i}] is {members(objects)[i]!r:.60}, which is none of the classes {self.classes!r:.80}"
                )
        return np.asarray([place[key] for key in keys], dtype=np.intp)

    def _table(self) -> np.ndarray:
        if not isinstance(self.classes, Sequence | np.ndarray):
            raise ValueError(f"classes={self.classes!r:.80} in CostMatrix; expected the classes in a list")
        n = len(self.classes)
        if len({_class_key(one) for one in self.classes}) != n:
            raise ValueError(f"classes={self.classes!r:.80} in CostMatrix; expected each class once")
        try:
            costs = np.asarray(to_numpy(self.costs) if is_numeric(self.costs) else self.costs, dtype=float)
        except (TypeError, ValueError) as error:
            raise ValueError(f"costs={self.costs!r:.80} in CostMatrix; expected {n} rows of {n} numbers") from error
        if costs.shape != (n, n):
            raise ValueError(
                f"costs has shape {costs.shape} in CostMatrix; expected {(n, n)}, a finite number for each class that "
                "is true and each that is said"
            )
        if not np.isfinite(costs).all():
            i, j = np.argwhere(~np.isfinite(costs))[0]
            raise ValueError(f"costs[{i}, {j}] is {costs[i, j]} in CostMatrix; expected a finite number")
        return costs


@dataclass(eq=False, repr=False)
class WeightedEditDistance(Loss):
    r"""The least price of the edits that turn y into ŷ, for strings or sequences of any hashable symbols.

    .. math:: \Delta(ya, zb) = \min(\Delta(y, z) + r(a, b),\; \Delta(y, zb) + d,\; \Delta(ya, z) + i)

    with the price i of a symbol in ŷ that y does not have, d of one in y that ŷ does not have, and r(a, b) of saying b for a,
    which is 0 for a = b. Not symmetric unless the prices are.

    Parameters
    ----------
    insertion, deletion, replacement : float
        i, d and r(a, b), zero or more.
    pairs : sequence of (a, b, price), optional
        Prices of single replacements, a true and b said, instead of `replacement`.

    Examples
    --------
    >>> loss = WeightedEditDistance(insertion=2.0, pairs=[("t", "d", 0.1)])
    >>> loss("cat", "cad"), loss("cad", "cat"), loss("cat", "cats")
    (0.1, 1.0, 2.0)
    """

    insertion: float = 1.0
    deletion: float = 1.0
    replacement: float = 1.0
    pairs: Sequence[tuple[Hashable, Hashable, float]] = ()

    def pointwise(self, y_true: Any, y_pred: Any) -> float:
        """The price of one pair."""
        return float(self.paired(alone(y_true), alone(y_pred))[0])

    def paired(self, Y_true: Collection, Y_pred: Collection) -> Array:
        """The price of each pair."""
        A, B = side_by_side(Y_true, Y_pred, paired=True)
        return self._prices(A, B, paired=True)[:, 0]

    def matrix(self, A: Collection, B: Collection) -> Array:
        """The price of all pairs."""
        A, B = side_by_side(A, B)
        return self._prices(A, B, paired=False)

    def _prices(self, A: Collection, B: Collection, paired: bool) -> np.ndarray:
        self._check_parameters()
        left, right = _sequences(A, "y_true"), _sequences(B, "y_pred")
        number: dict[Hashable, int] = {}
        codes = [
            [[number.setdefault(hash_key(symbol), len(number)) for symbol in sequence] for sequence in side]
            for side in (left, right)
        ]
        # only symbols that some price is for are kept apart in the table; any other has the last row and column
        priced = sorted({number[hash_key(s)] for a, b, _ in self.pairs for s in (a, b) if hash_key(s) in number})
        place = {code: i for i, code in enumerate(priced)}
        table = np.full((len(priced) + 1, len(priced) + 1), float(self.replacement))
        for a, b, price in self.pairs:
            if hash_key(a) in number and hash_key(b) in number:
                table[place[number[hash_key(a)]], place[number[hash_key(b)]]] = float(price)
        kind = np.asarray([place.get(code, len(priced)) for code in range(len(number))], dtype=np.int64)
        true, said = _joined(codes[0]), _joined(codes[1])
        return _weighted_edits(*true, *said, kind, table, float(self.insertion), float(self.deletion), paired)

    def _check_parameters(self) -> None:
        if isinstance(self.pairs, str) or not isinstance(self.pairs, Sequence):
            raise ValueError(
                f"pairs={self.pairs!r:.80} in WeightedEditDistance; expected a list of (true, said, price)"
            )
        for i, pair in enumerate(self.pairs):
            if not isinstance(pair, tuple | list) or len(pair) != 3:
                raise ValueError(f"pairs[{i}] is {pair!r:.60} in WeightedEditDistance; expected (true, said, price)")
        prices = {name: getattr(self, name) for name in ("insertion", "deletion", "replacement")}
        prices |= {f"the price of {a!r} → {b!r}": price for a, b, price in self.pairs}
        for name, price in prices.items():
            if isinstance(price, bool) or not isinstance(price, Real) or not 0 <= float(price) < np.inf:
                raise ValueError(f"{name} is {price!r} in WeightedEditDistance; expected a number, zero or more")


def _class_key(thing: Any) -> Hashable:
    """What equal classes have in common, whatever the library and the precision of numbers."""
    if is_numeric(thing):
        array = to_numpy(thing)
        return array.item() if array.size == 1 else tuple(array.ravel().tolist())
    return hash_key(thing)


def _joined(sequences: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    starts = np.concatenate([[0], np.cumsum([len(sequence) for sequence in sequences])]).astype(np.int64)
    return np.asarray([code for sequence in sequences for code in sequence], dtype=np.int64), starts


@njit(cache=True, nogil=True)
def _weighted_edits(
    a: np.ndarray,
    a_starts: np.ndarray,
    b: np.ndarray,
    b_starts: np.ndarray,
    kind: np.ndarray,
    table: np.ndarray,
    insertion: float,
    deletion: float,
    paired: bool,
) -> np.ndarray:
    n = len(a_starts) - 1
    prices = np.empty((n, 1 if paired else len(b_starts) - 1))
    row = np.empty(len(b) + 1)
    for i in range(n):
        left = a[a_starts[i] : a_starts[i + 1]]
        for column in range(prices.shape[1]):
            j = i if paired else column
            right = b[b_starts[j] : b_starts[j + 1]]
            for q in range(len(right) + 1):
                row[q] = q * insertion
            for p in range(len(left)):
                diagonal = row[0]
                row[0] = (p + 1) * deletion
                for q in range(len(right)):
                    same = left[p] == right[q]
                    replaced = diagonal + (0.0 if same else table[kind[left[p]], kind[right[q]]])
                    diagonal = row[q + 1]
                    row[q + 1] = min(replaced, min(diagonal + deletion, row[q] + insertion))
            prices[i, column] = row[len(right)]
    return prices
