"""Losses of vectors."""

from __future__ import annotations

from dataclasses import dataclass

from mercer.core.arrays import Array, namespace
from mercer.core.collections import Collection, as_vectors
from mercer.losses.base import Loss, broadcast, require_same_width, side_by_side


@dataclass(eq=False, repr=False)
class SquaredError(Loss):
    r"""The squared distance of two vectors, :math:`\sum_i (y_i - \hat y_i)^2`.

    Examples
    --------
    >>> SquaredError()([0.0, 1.0], [2.0, 1.0])
    4.0
    """

    outputs = "vectors, images and other arrays of numbers"

    def compute(self, Y_true: Collection, Y_pred: Collection, paired: bool) -> Array:
        """Squared distances."""
        A, B = as_vectors(Y_true, "Y_true"), as_vectors(Y_pred, "Y_pred")
        require_same_width(A, B, "entries per vector")
        A, B = side_by_side(A, B, paired=paired)
        xp = namespace(A)
        if paired:
            return xp.sum((A - B) ** 2, axis=1)
        centre = xp.mean(B, axis=0)  # close to the origin, less is lost to cancellation
        A, B = A - centre, B - centre
        left, right = broadcast(xp.sum(A * A, axis=1), xp.sum(B * B, axis=1), paired)
        return xp.clip(left + right - 2.0 * (A @ B.T), 0.0, None)
