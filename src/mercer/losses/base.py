"""Losses: the base class, the output kernel's loss, losses given as functions, and `resolve_loss`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from mercer.core.arrays import Array, is_sparse, like, namespace
from mercer.core.collections import Collection, as_objects, count, is_numeric, member, take
from mercer.kernels.base import Kernel, _same

_BLOCK = 32  # vectors per kernel call when only the diagonal of their matrix is wanted


class Loss(BaseEstimator):
    r"""A cost :math:`\Delta(y, \hat y)` of predicting ŷ where y is true.

    A new loss is a dataclass (``@dataclass(eq=False, repr=False)``) with one method, in the file of the outputs it compares:
    `pointwise` for two objects, or `compute` for two collections. `outputs` says in words which objects those are.
    """

    outputs: ClassVar[str] = "objects of any kind"
    takes_scores: ClassVar[bool] = False
    """Whether a prediction is a vector of scores of the labels, rather than an object like the true one."""

    def pointwise(self, y_true: Any, y_pred: Any) -> float:
        """Δ(y, ŷ) for two objects."""
        if type(self).compute is Loss.compute:
            raise TypeError(f"{type(self).__name__} must define pointwise(y_true, y_pred)")
        return float(self.compute(alone(y_true), alone(y_pred), paired=True)[0])

    def compute(self, Y_true: Collection, Y_pred: Collection, paired: bool) -> Array:
        """Δ(y_i, ŷ_i) for each i if `paired`, else the matrix of Δ(y_i, ŷ_j)."""
        A, B = side_by_side(Y_true, Y_pred, paired=paired)
        if paired:
            return np.asarray([self._finite(A, B, i, i) for i in range(count(A))])
        return np.asarray([[self._finite(A, B, i, j) for j in range(count(B))] for i in range(count(A))])

    def __call__(self, y_true: Any, y_pred: Any) -> float:
        """Δ(y, ŷ) for two objects."""
        return float(self.pointwise(y_true, y_pred))

    def paired(self, Y_true: Collection, Y_pred: Collection) -> Array:
        """Δ(y_i, ŷ_i) for each i."""
        return self.compute(Y_true, Y_pred, paired=True)

    def matrix(self, A: Collection, B: Collection) -> Array:
        """Δ(a, b) for each true object a in `A` and predicted object b in `B`."""
        return self.compute(A, B, paired=False)

    def _finite(self, A: Collection, B: Collection, i: int, j: int) -> float:
        y, z = member(A, i), member(B, j)
        result = self.pointwise(y, z)
        try:
            value = float(result)
        except (TypeError, ValueError):
            value = math.nan
        if not math.isfinite(value):
            pair = f"y_true[{i}] = {y!r:.60} and y_pred[{j}] = {z!r:.60}"
            raise ValueError(f"{self!r} returned {result!r:.60} for {pair}; expected a finite number for every pair")
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
        """The value of the function, on outputs as the user writes them."""
        return self.function(self._as_written(y_true), self._as_written(y_pred))

    def _as_written(self, y: Any) -> Any:
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

    outputs = "objects that the kernel compares"
    kernel: Kernel

    def compute(self, Y_true: Collection, Y_pred: Collection, paired: bool) -> Array:
        """Squared distances; of pairs, without the whole matrix."""
        checked = self.kernel.check(Y_true, "Y_true"), self.kernel.check(Y_pred, "Y_pred")
        A, B = side_by_side(*checked, paired=paired)
        left, right = broadcast(self.kernel.diag(A), self.kernel.diag(B), paired)
        distance = left + right - 2.0 * (self._diagonal(A, B) if paired else self.kernel(A, B))
        # a negative distance is a rounding error under a positive semi-definite kernel, and a value under any other
        return namespace(distance).clip(distance, 0.0, None) if self.kernel.is_psd else distance

    def _diagonal(self, A: Collection, B: Collection) -> Array:
        """l(a_i, b_i) for each i."""
        # vectors: a small block is one fast call; objects: its off-diagonal would be work lost
        step = _BLOCK if is_numeric(A) else 1
        parts = [slice(i, min(i + step, count(A))) for i in range(0, count(A), step)]
        blocks = [self.kernel(take(A, part), take(B, part)) for part in parts]
        xp = namespace(blocks[0])
        return xp.concat([xp.linalg.diagonal(block) for block in blocks])


def resolve_loss(loss: Any, kernel: Kernel, row_shape: tuple[int, ...] | None = None) -> Loss:
    """Return the `Loss` that a user's parameter stands for: the output kernel's own, a loss, or a function of two objects.

    "rkhs" asks an estimator to choose alpha by distances before decoding; between two objects that distance is the kernel's
    loss. `row_shape` is the shape in which the user writes one vector.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> resolve_loss(None, Linear())
    KernelLoss(kernel=Linear())
    """
    if loss is None or (isinstance(loss, str) and loss in ("kernel", "rkhs")):
        return KernelLoss(kernel)
    return as_loss(loss, row_shape)


def as_loss(loss: Any, row_shape: tuple[int, ...] | None = None) -> Loss:
    """Return a loss, or a function of two objects as a `CallableLoss`."""
    if isinstance(loss, type):
        raise TypeError(f"loss is the class {loss.__name__}; write {loss.__name__}() for a loss")
    if isinstance(loss, Loss):
        return loss
    if callable(loss):
        return CallableLoss(loss, row_shape)
    names = "None or 'kernel' (the output kernel's distance), 'rkhs' (the distance before decoding)"
    raise ValueError(f"loss={loss!r}; expected {names}, or a callable loss(y_true, y_pred) such as ZeroOne()")


def side_by_side(A: Any, B: Any, *, paired: bool = False) -> tuple[Any, Any]:
    """Return true and predicted objects as numeric arrays of one library or as object arrays; as many of each if `paired`."""
    A = A if is_numeric(A) else as_objects(A, "Y_true")
    B = B if is_numeric(B) else as_objects(B, "Y_pred")
    n, m = count(A), count(B)
    if paired and n != m:
        raise ValueError(f"Y_true has {n} objects and Y_pred has {m}; expected one prediction for each")
    return A, (like(B, A) if is_numeric(A) and is_numeric(B) else B)


def alone(thing: Any) -> Collection:
    """Return a collection of one object: an array for a vector or a number, one row for a sparse vector."""
    if isinstance(thing, Real):
        return np.asarray([thing])
    if hasattr(thing, "columns"):  # a frame or a table of one row
        return thing
    if hasattr(thing, "iloc"):  # a row of a frame
        return thing.to_frame().T.infer_objects()
    if is_sparse(thing):
        return thing.reshape(1, -1)
    return thing[None, ...] if is_numeric(thing) else np.fromiter([thing], dtype=object, count=1)


def broadcast(left: Array, right: Array, paired: bool) -> tuple[Array, Array]:
    """Return a number for each row and for each column, ready for arithmetic on pairs or on the whole matrix."""
    return (left, right) if paired else (left[:, None], right[None, :])


def row_products(A: Array, B: Array, paired: bool) -> Array:
    """Return the inner products of rows: of the i-th with the i-th if `paired`, else of all pairs."""
    return namespace(A).sum(A * B, axis=1) if paired else A @ B.T


def require_same_width(A: Collection, B: Collection, what: str) -> None:
    """Raise ValueError unless the rows of both matrices have as many entries."""
    if A.shape[1] != B.shape[1]:
        raise ValueError(f"Y_true has {A.shape[1]} {what} and Y_pred {B.shape[1]}; expected as many in both")
