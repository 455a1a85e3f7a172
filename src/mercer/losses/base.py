"""What a loss is, and the one a user means."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from mercer.core.arrays import Array, namespace
from mercer.core.collections import Collection, count, is_numeric, member, take
from mercer.kernels.base import Kernel, _same
from mercer.losses.rows import alone, side_by_side

_BLOCK = 32
"""Vectors per kernel call when only the diagonal of their matrix is wanted."""


class Loss(BaseEstimator):
    r"""A cost :math:`\Delta(y, \hat y)` of saying ŷ where y is true.

    A new loss is a dataclass (``@dataclass(eq=False, repr=False)``) with one method, `pointwise`.
    Override `paired` and `matrix` when there is a faster way.
    """

    def pointwise(self, y_true: Any, y_pred: Any) -> float:
        """Δ(y, ŷ) for two objects."""
        raise TypeError(f"{type(self).__name__} must define pointwise(y_true, y_pred)")

    def __call__(self, y_true: Any, y_pred: Any) -> float:
        """Δ(y, ŷ) for two objects."""
        return float(self.pointwise(y_true, y_pred))

    def paired(self, Y_true: Collection, Y_pred: Collection) -> Array:
        """Δ(y_i, ŷ_i) for each i."""
        A, B = side_by_side(Y_true, Y_pred, paired=True)
        return np.asarray([self._finite(A, B, i, i) for i in range(count(A))])

    def matrix(self, A: Collection, B: Collection) -> Array:
        """Δ(a, b) for each true object a in `A` and predicted object b in `B`."""
        A, B = side_by_side(A, B)
        rows = [[self._finite(A, B, i, j) for j in range(count(B))] for i in range(count(A))]
        return np.asarray(rows)

    def _finite(self, A: Collection, B: Collection, i: int, j: int) -> float:
        y, z = member(A, i), member(B, j)
        result = self.pointwise(y, z)
        try:
            value = float(result)
        except (TypeError, ValueError):
            value = math.nan
        if not math.isfinite(value):
            raise ValueError(
                f"{self!r} returned {result!r:.60} for y_true[{i}] = {y!r:.60} and "
                f"y_pred[{j}] = {z!r:.60}; expected a finite number for every pair of outputs"
            )
        return value

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and _same(vars(self), vars(other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        arguments = (f"{name}={value!r}" for name, value in self.get_params(deep=False).items())
        return f"{type(self).__name__}({', '.join(arguments)})"


@dataclass(eq=False, repr=False)
class CallableLoss(Loss):
    """A loss given as a plain function of a true and a predicted object.

    Parameters
    ----------
    function : callable
        ``function(y_true, y_pred)``, a finite number.
    row_shape : tuple of int, optional
        The shape of one output where outputs are vectors: () for a plain number, (8, 8) for an image.

    Examples
    --------
    >>> CallableLoss(lambda y, z: abs(len(y) - len(z))).paired(["ab", "c"], ["a", "c"]).tolist()
    [1.0, 0.0]
    """

    function: Callable[[Any, Any], float]
    row_shape: tuple[int, ...] | None = None

    def pointwise(self, y_true: Any, y_pred: Any) -> float:
        """The function's value, on outputs as the user writes them."""
        return self.function(self._own(y_true), self._own(y_pred))

    def _own(self, y: Any) -> Any:
        if self.row_shape is None or tuple(y.shape) == tuple(self.row_shape):
            return y
        return float(y[0]) if self.row_shape == () else namespace(y).reshape(y, self.row_shape)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"CallableLoss({getattr(self.function, '__name__', repr(self.function))})"


@dataclass(eq=False, repr=False)
class KernelLoss(Loss):
    r"""The output kernel's squared distance, :math:`l(y,y) + l(\hat y,\hat y) - 2\,l(y,\hat y)`.

    Parameters
    ----------
    kernel : Kernel
        A resolved output kernel.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> KernelLoss(Linear())([1.0, 2.0], [1.0, 0.0])
    4.0
    """

    kernel: Kernel

    def pointwise(self, y_true: Any, y_pred: Any) -> float:
        """The squared distance of two objects."""
        return float(self.matrix(alone(y_true), alone(y_pred))[0, 0])

    def paired(self, Y_true: Collection, Y_pred: Collection) -> Array:
        """Squared distances of pairs, without the whole matrix."""
        A, B = self._checked(Y_true, Y_pred, paired=True)
        # vectors: a small block is one fast call; objects: its off-diagonal would be work lost
        step = _BLOCK if is_numeric(A) else 1
        parts = [slice(i, min(i + step, count(A))) for i in range(0, count(A), step)]
        blocks = [self.kernel(take(A, part), take(B, part)) for part in parts]
        xp = namespace(blocks[0])
        cross = xp.concat([xp.linalg.diagonal(block) for block in blocks])
        return self._distance(self.kernel.diag(A), self.kernel.diag(B), cross)

    def matrix(self, A: Collection, B: Collection) -> Array:
        """Squared distances of all pairs."""
        A, B = self._checked(A, B)
        left, right = self.kernel.diag(A), self.kernel.diag(B)
        return self._distance(left[:, None], right[None, :], self.kernel(A, B))

    def _checked(self, A: Collection, B: Collection, paired: bool = False) -> tuple[Collection, Collection]:
        A, B = self.kernel.check(A, "Y_true"), self.kernel.check(B, "Y_pred")
        return side_by_side(A, B, paired=paired)

    def _distance(self, left: Array, right: Array, cross: Array) -> Array:
        distance = left + right - 2.0 * cross
        # under a positive semi-definite kernel, below zero is rounding; under any other, a figure
        return namespace(cross).clip(distance, 0.0, None) if self.kernel.is_psd else distance


def resolve_loss(loss: Any, kernel: Kernel, row_shape: tuple[int, ...] | None = None) -> Loss:
    """The `Loss` a user means: the output kernel's own, or any function of two objects.

    "rkhs" asks an estimator to choose its ridge by distances before decoding; between two objects
    that distance is the kernel's loss. `row_shape` is the shape in which the user writes one vector.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> resolve_loss(None, Linear())
    KernelLoss(kernel=Linear())
    """
    if loss is None or (isinstance(loss, str) and loss in ("kernel", "rkhs")):
        return KernelLoss(kernel)
    if isinstance(loss, type):
        raise TypeError(f"loss is the class {loss.__name__}; write {loss.__name__}() for a loss")
    if isinstance(loss, Loss):
        return loss
    if callable(loss):
        return CallableLoss(loss, row_shape)
    raise ValueError(
        f"loss={loss!r}; expected None or 'kernel' (the output kernel's distance), 'rkhs' (the "
        "distance before decoding), or a callable loss(y_true, y_pred) such as "
        "mercer.losses.ZeroOne()"
    )
