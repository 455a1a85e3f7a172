"""Joint kernels: similarities of pairs (x, y), as operator-valued kernels induce them (Kadri et al. 2013, section 5.2)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from mercer.core.arrays import Array, like, zeros
from mercer.core.collections import Collection, as_vectors, count, take
from mercer.kernels import Gaussian, Linear
from mercer.kernels.base import Kernel
from mercer.kernels.vectors import matched


class Group(NamedTuple):
    """Output coordinates that share a scalar kernel, and its Gram matrix."""

    coordinates: np.ndarray
    gram: Array


class JointKernel(BaseEstimator):
    r"""A kernel on pairs that an operator-valued kernel K induces.

    .. math:: J((x, y), (x', y')) = \langle \psi(y),\, K(x, x')\, \psi(y') \rangle

    `blocks` is K in output coordinates, dense; calling the object gives J.
    """

    def __call__(
        self, X: Collection, Y: Collection, X2: Collection | None = None, Y2: Collection | None = None
    ) -> Array:
        """J between the pairs of `X` and `Y`, or between these and the pairs of `X2` and `Y2`."""
        if (X2 is None) != (Y2 is None):
            raise ValueError("only one of X2 and Y2 was given; expected both sides of the second pairs, or neither")
        for inputs, outputs, which in ((X, Y, ""), (X2, Y2, "2")):
            if inputs is not None and count(inputs) != count(outputs):
                raise ValueError(
                    f"X{which} has {count(inputs)} objects and Y{which} has {count(outputs)}; expected pairs, one output "
                    "for each input"
                )
        return self._matrix(X, Y, X2, Y2)

    def resolve(self, X: Collection, Y: Collection) -> JointKernel:
        """The same with everything that depends on data (a median scale, a covariance) taken from these pairs."""
        raise TypeError(f"{type(self).__name__} must define resolve(X, Y)")

    def blocks(self, X: Collection, X2: Collection | None, width: int) -> Array:
        """K(x, x') in `width` output coordinates, of shape (n, m, width, width)."""
        raise TypeError(f"{type(self).__name__} must define blocks(X, X2, width)")

    def _matrix(self, X: Collection, Y: Collection, X2: Collection | None, Y2: Collection | None) -> Array:
        raise TypeError(f"{type(self).__name__} must define _matrix(X, Y, X2, Y2)")


class CoordinateJoint(JointKernel):
    r"""A joint kernel whose K(x, x') is diagonal: each output coordinate has a scalar kernel of its own.

    .. math:: J((x, y), (x', y')) = \sum_a \kappa_a(x, x')\, y^a y'^a

    Coordinates with the same kernel form a group. A new one defines `groups`. They add and scale:
    ``0.5 * PatchwiseJoint((30, 32)) + 0.5 * TensorProductJoint()``.
    """

    def groups(self, X: Collection, X2: Collection | None, width: int) -> list[Group]:
        """The groups of `width` output coordinates, each with its Gram matrix; the same groups for all inputs."""
        raise TypeError(f"{type(self).__name__} must define groups(X, X2, width)")

    def blocks(self, X: Collection, X2: Collection | None, width: int) -> Array:
        """K(x, x'), zero off the diagonal."""
        groups = self.groups(X, X2, width)
        found = zeros((*groups[0].gram.shape, width, width), groups[0].gram)
        for coordinates, gram in groups:
            for a in coordinates.tolist():
                found[:, :, a, a] = gram
        return found

    def _matrix(self, X: Collection, Y: Collection, X2: Collection | None, Y2: Collection | None) -> Array:
        rows = as_vectors(Y, "Y")
        others = rows if Y2 is None else matched(rows, as_vectors(Y2, "Y2"))
        parts = []
        for coordinates, gram in self.groups(X, X2, rows.shape[1]):
            left, right = (like(take(side.T, coordinates), gram) for side in (rows, others))
            parts.append(gram * (left.T @ right))
        return sum(parts[1:], start=parts[0])

    def __add__(self, other: CoordinateJoint) -> SumJoint:
        return SumJoint(self, other) if isinstance(other, CoordinateJoint) else NotImplemented

    def __mul__(self, factor: float) -> ScaledJoint:
        return ScaledJoint(factor, self) if isinstance(factor, int | float | np.number) else NotImplemented

    __rmul__ = __mul__
    # NumPy numbers would otherwise take `number * joint kernel` for themselves
    __array_ufunc__ = None


class TensorProductJoint(CoordinateJoint):
    r"""Inputs alike and outputs alike, :math:`J = k(x, x')\, l(y, y')`: what the identity operator induces.

    Parameters
    ----------
    input_kernel : Kernel, default=Gaussian(scale="median")
        k.
    output_kernel : Kernel, default=Linear()
        l.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> TensorProductJoint(Linear(), Linear())([[2.0]], [[3.0]], [[5.0]], [[7.0]])
    array([[210.]])
    """

    def __init__(self, input_kernel: Kernel = Gaussian(scale="median"), output_kernel: Kernel = Linear()) -> None:  # noqa: B008
        self.input_kernel = input_kernel
        self.output_kernel = output_kernel

    def resolve(self, X: Collection, Y: Collection) -> TensorProductJoint:
        """Both kernels resolved."""
        return TensorProductJoint(self.input_kernel.resolve(X), self.output_kernel.resolve(Y))

    def groups(self, X: Collection, X2: Collection | None, width: int) -> list[Group]:
        """One for all coordinates, with k."""
        return [Group(np.arange(width), self.input_kernel(X, X2))]

    def _matrix(self, X: Collection, Y: Collection, X2: Collection | None, Y2: Collection | None) -> Array:
        gram = self.input_kernel(X, X2)
        return gram * like(self.output_kernel(Y, Y2), gram)


class DiagonalRegularizationJoint(CoordinateJoint):
    r"""A tensor product that also knows which input coordinate goes with which output coordinate.

    .. math:: J = (1 - \lambda)\, k(x, x')\, \langle y, y' \rangle + \lambda \sum_a x^a x'^a y^a y'^a

    induced by :math:`K(x, x') = (1 - \lambda) k(x, x') I + \lambda\,\mathrm{diag}(x \odot x')`. Inputs and outputs are
    vectors of one length.

    Parameters
    ----------
    input_kernel : Kernel, default=Gaussian(scale="median")
        k, on vectors.
    weight : float, default=0.5
        λ between 0 and 1.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> joint = DiagonalRegularizationJoint(Linear(), weight=0.5)
    >>> joint([[1.0, 2.0]], [[1.0, 1.0]], [[3.0, 4.0]], [[1.0, 0.0]])
    array([[7.]])
    """

    def __init__(self, input_kernel: Kernel = Gaussian(scale="median"), weight: float = 0.5) -> None:  # noqa: B008
        self.input_kernel = input_kernel
        self.weight = weight

    def resolve(self, X: Collection, Y: Collection) -> DiagonalRegularizationJoint:
        """The input kernel resolved."""
        return DiagonalRegularizationJoint(self.input_kernel.resolve(X), self.weight)

    def groups(self, X: Collection, X2: Collection | None, width: int) -> list[Group]:
        """Each coordinate for itself, with (1 − λ) k + λ xᵃ x'ᵃ."""
        weight = float(self.weight)
        if not 0 <= weight <= 1:
            raise ValueError(f"weight={self.weight!r} in {type(self).__name__}; expected a number from 0 to 1")
        rows = as_vectors(X, "X")
        others = rows if X2 is None else matched(rows, as_vectors(X2, "X2"))
        if rows.shape[1] != width:
            raise ValueError(
                f"inputs have {rows.shape[1]} coordinates and outputs {width}; expected as many of each, since "
                f"{type(self).__name__} pairs them"
            )
        shared = (1.0 - weight) * self.input_kernel(X, X2)
        return [
            Group(np.asarray([a]), shared + weight * rows[:, a][:, None] * others[:, a][None, :]) for a in range(width)
        ]


class SumJoint(CoordinateJoint):
    """The sum of two joint kernels.

    Parameters
    ----------
    left, right : CoordinateJoint

    Examples
    --------
    >>> (TensorProductJoint(Linear()) + 2.0 * TensorProductJoint(Linear()))([[1.0]], [[3.0]])
    array([[27.]])
    """

    def __init__(self, left: CoordinateJoint, right: CoordinateJoint) -> None:
        self.left = left
        self.right = right

    def resolve(self, X: Collection, Y: Collection) -> SumJoint:
        """Both parts resolved."""
        return SumJoint(self.left.resolve(X, Y), self.right.resolve(X, Y))

    def groups(self, X: Collection, X2: Collection | None, width: int) -> list[Group]:
        """Coordinates that share a group in both parts, with the sum of the two Gram matrices."""
        found = []
        right = self.right.groups(X, X2, width)
        owner = np.empty(width, dtype=np.intp)
        for number, group in enumerate(right):
            owner[group.coordinates] = number
        for mine, gram in self.left.groups(X, X2, width):
            for number in np.unique(owner[mine]).tolist():
                found.append(Group(mine[owner[mine] == number], gram + like(right[number].gram, gram)))
        return found


class ScaledJoint(CoordinateJoint):
    """A multiple of a joint kernel.

    Parameters
    ----------
    factor : float
        Above zero.
    joint : CoordinateJoint

    Examples
    --------
    >>> (3.0 * TensorProductJoint(Linear()))([[1.0]], [[2.0]])
    array([[12.]])
    """

    def __init__(self, factor: float, joint: CoordinateJoint) -> None:
        self.factor = factor
        self.joint = joint

    def resolve(self, X: Collection, Y: Collection) -> ScaledJoint:
        """The joint kernel inside resolved."""
        return ScaledJoint(self.factor, self.joint.resolve(X, Y))

    def groups(self, X: Collection, X2: Collection | None, width: int) -> list[Group]:
        """The groups inside, their Gram matrices multiplied."""
        if not self.factor > 0:
            raise ValueError(f"factor={self.factor!r} in ScaledJoint; expected a number above zero")
        return [Group(own, float(self.factor) * gram) for own, gram in self.joint.groups(X, X2, width)]
