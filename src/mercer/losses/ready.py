"""Losses ready to use, each with a vectorised form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.core.arrays import Array, namespace, to_numpy
from mercer.core.collections import Collection, as_vectors, hash_key, is_numeric, members
from mercer.losses.base import Loss
from mercer.losses.edits import edit_distances
from mercer.losses.rows import alone, side_by_side
from mercer.structures.sequences import encode


@dataclass(eq=False, repr=False)
class ZeroOne(Loss):
    r"""1 for a wrong object, 0 for the right one, :math:`[y \ne \hat y]`, on objects of any kind.

    Examples
    --------
    >>> ZeroOne().paired(["ab", "c"], ["ab", "d"]).tolist()
    [0.0, 1.0]
    """

    def pointwise(self, y_true: Any, y_pred: Any) -> float:
        """Whether the two objects differ."""
        a, b = _key(y_true), _key(y_pred)
        if _is_identity(a) and _is_identity(b):  # no hash: only the objects' own == can tell
            return float(not bool(y_true == y_pred))
        return float(a != b)

    def matrix(self, A: Collection, B: Collection) -> Array:
        """Which objects differ from which."""
        A, B = side_by_side(A, B)
        left, right = [_key(a) for a in members(A)], [_key(b) for b in members(B)]
        if any(map(_is_identity, left)) and any(map(_is_identity, right)):
            return super().matrix(A, B)
        rows, columns = encode([left], [right])
        return (rows.symbols[:, None] != columns.symbols).astype(float)


@dataclass(eq=False, repr=False)
class Hamming(Loss):
    r"""Positions that differ: for vectors and sequences their share, for sets their number.

    Vectors and sequences: :math:`\frac{1}{\max(|y|, |\hat y|)} \sum_p [y_p \ne \hat y_p]`, where a
    position only one of the two has counts as different. Sets: the size of the symmetric
    difference, :math:`|y \triangle \hat y|`, since a set does not say how many labels there are.

    Examples
    --------
    >>> Hamming()("abcd", "abxd"), Hamming()({1, 2}, {2, 3, 4})
    (0.25, 3.0)
    """

    def pointwise(self, y_true: Any, y_pred: Any) -> float:
        """The loss of one pair."""
        return float(self.paired(alone(y_true), alone(y_pred))[0])

    def paired(self, Y_true: Collection, Y_pred: Collection) -> Array:
        """The loss of each pair."""
        A, B = side_by_side(Y_true, Y_pred, paired=True)
        if _are_sets(A) and _are_sets(B):
            return np.asarray([float(len(a ^ b)) for a, b in zip(A, B, strict=True)])
        rows, others, lengths, other_lengths = _aligned(A, B)
        xp = namespace(rows)
        differing = xp.sum(xp.astype(rows != others, xp.float64), axis=1)
        return differing / xp.maximum(lengths, other_lengths)

    def matrix(self, A: Collection, B: Collection) -> Array:
        """The loss of all pairs."""
        A, B = side_by_side(A, B)
        if _are_sets(A) and _are_sets(B):
            return np.asarray([[float(len(a ^ b)) for b in B] for a in A])
        rows, others, lengths, other_lengths = _aligned(A, B)
        xp = namespace(rows)
        differing = xp.zeros((rows.shape[0], others.shape[0]), dtype=xp.float64)
        for p in range(rows.shape[1]):
            differing += xp.astype(rows[:, p][:, None] != others[:, p][None, :], xp.float64)
        return differing / xp.maximum(lengths[:, None], other_lengths[None, :])


@dataclass(eq=False, repr=False)
class SquaredError(Loss):
    r"""The squared distance of two vectors, :math:`\sum_i (y_i - \hat y_i)^2`.

    Examples
    --------
    >>> SquaredError()([0.0, 1.0], [2.0, 1.0])
    4.0
    """

    def pointwise(self, y_true: Any, y_pred: Any) -> float:
        """The squared distance of two vectors."""
        return float(self.paired(alone(y_true), alone(y_pred))[0])

    def paired(self, Y_true: Collection, Y_pred: Collection) -> Array:
        """The squared distance of each pair."""
        A, B = _vectors(Y_true, Y_pred, paired=True)
        return namespace(A).sum((A - B) ** 2, axis=1)

    def matrix(self, A: Collection, B: Collection) -> Array:
        """The squared distance of all pairs."""
        A, B = _vectors(A, B, paired=False)
        xp = namespace(A)
        centre = xp.mean(B, axis=0)  # close to the origin, less is lost to cancellation
        A, B = A - centre, B - centre
        squares = xp.sum(A * A, axis=1)[:, None] + xp.sum(B * B, axis=1)[None, :]
        return xp.clip(squares - 2.0 * (A @ B.T), 0.0, None)


@dataclass(eq=False, repr=False)
class EditDistance(Loss):
    r"""Levenshtein distance: the fewest symbols to insert, delete or replace to turn y into ŷ.

    :math:`\Delta(ya, zb) = \min(\Delta(y, z) + [a \ne b], \Delta(y, zb) + 1, \Delta(ya, z) + 1)`
    for strings, or sequences of any hashable symbols.

    Examples
    --------
    >>> EditDistance()("kitten", "sitting")
    3.0
    """

    def pointwise(self, y_true: Any, y_pred: Any) -> float:
        """The distance of one pair."""
        return float(self.paired(alone(y_true), alone(y_pred))[0])

    def paired(self, Y_true: Collection, Y_pred: Collection) -> Array:
        """The distance of each pair."""
        A, B = side_by_side(Y_true, Y_pred, paired=True)
        return self._distances(A, B, paired=True)[:, 0]

    def matrix(self, A: Collection, B: Collection) -> Array:
        """The distance of all pairs."""
        A, B = side_by_side(A, B)
        return self._distances(A, B, paired=False)

    def _distances(self, A: Collection, B: Collection, paired: bool) -> np.ndarray:
        left, right = encode(_sequences(A, "y_true"), _sequences(B, "y_pred"))
        return edit_distances(*left, *right, paired)


def _vectors(A: Collection, B: Collection, paired: bool) -> tuple[Array, Array]:
    A, B = as_vectors(A, "Y_true"), as_vectors(B, "Y_pred")
    _require_same_width(A, B)
    return side_by_side(A, B, paired=paired)


def _require_same_width(A: Array, B: Array) -> None:
    if A.shape[1] != B.shape[1]:
        raise ValueError(
            f"the vectors of Y_true have {A.shape[1]} entries and those of Y_pred {B.shape[1]}; "
            "expected as many in both"
        )


def _aligned(A: Collection, B: Collection) -> tuple[Array, Array, Array, Array]:
    """Rows to compare position by position, and each row's length (1 at least: a divisor)."""
    if is_numeric(A) and is_numeric(B):
        xp = namespace(A, B)
        A, B = xp.reshape(A, (A.shape[0], -1)), xp.reshape(B, (B.shape[0], -1))
        _require_same_width(A, B)
        lengths = (xp.full((rows.shape[0],), float(A.shape[1])) for rows in (A, B))
        return A, B, *lengths
    left, right = encode(_sequences(A, "y_true"), _sequences(B, "y_pred"))
    width = max(left.lengths.max(), right.lengths.max())
    lengths = (np.maximum(codes.lengths, 1).astype(float) for codes in (left, right))
    return left.padded(width), right.padded(width), *lengths


def _sequences(objects: Collection, name: str) -> list[Any]:
    sequences = [to_numpy(part).tolist() if is_numeric(part) else part for part in members(objects)]
    for i, sequence in enumerate(sequences):
        if not hasattr(sequence, "__len__") or isinstance(sequence, set | frozenset | dict):
            raise TypeError(
                f"{name}[{i}] is {sequence!r:.60}, a {type(sequence).__name__}; expected a sequence, such as a string"
            )
    return sequences


def _are_sets(objects: Collection) -> bool:
    return not is_numeric(objects) and all(isinstance(part, set | frozenset) for part in objects)


def _key(thing: Any) -> Any:
    """`hash_key`, with arrays of numbers equal whatever their dtype and library."""
    if is_numeric(thing):
        array = to_numpy(thing)
        return hash_key(array.astype(float)) if array.ndim else array.item()
    return hash_key(thing)


def _is_identity(key: Any) -> bool:
    return isinstance(key, tuple) and len(key) == 2 and key[0] == "id"
