"""Joint kernels: kernels on pairs (x, y), as operator-valued kernels induce them (Kadri et al. 2013, section 5.2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from mercer.core.arrays import Array, clip_spectrum, eigh, like, zeros
from mercer.core.collections import Collection, as_vectors, count, take
from mercer.core.gram_eigh import GramEigh
from mercer.core.validation import check_real, is_real
from mercer.embeddings import Embedding, Features, Spectral
from mercer.kernels import Gaussian, Kernel, Linear
from mercer.kernels.grams import own
from mercer.kernels.vectors import matched
from mercer.operators.base import Outputs, SeparableOperator


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
        """Return J between the pairs of `X` and `Y`, or between these and the pairs of `X2` and `Y2`."""
        if (X2 is None) != (Y2 is None):
            raise ValueError("only one of X2 and Y2 was given; expected both sides of the second pairs, or neither")
        for inputs, outputs, side in ((X, Y, ""), (X2, Y2, "2")):
            n, m = (0, 0) if inputs is None or outputs is None else (count(inputs), count(outputs))
            if n != m:
                raise ValueError(f"X{side} has {n} objects and Y{side} has {m}; expected pairs")
        return self._matrix(X, Y, X2, Y2)

    def resolve(self, X: Collection, Y: Collection) -> JointKernel:
        """Return the same with everything that depends on data (a median scale, a covariance) fixed from these pairs."""
        data = {"input_kernel": (X,), "output_kernel": (Y,), "left": (X, Y), "right": (X, Y), "joint": (X, Y)}
        parameters = self.get_params(deep=False)
        parts = {name: parameters[name].resolve(*data[name]) for name in data if name in parameters}
        return type(self)(**{**parameters, **parts})

    def blocks(self, X: Collection, X2: Collection | None, width: int) -> Array:
        """Return K(x, x') in `width` output coordinates, of shape (n, m, width, width)."""
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
        """Return the groups of `width` output coordinates, each with its Gram matrix; the same groups for all inputs."""
        raise TypeError(f"{type(self).__name__} must define groups(X, X2, width)")

    def blocks(self, X: Collection, X2: Collection | None, width: int) -> Array:
        """Return K(x, x'), zero off the diagonal."""
        groups = self.groups(X, X2, width)
        found = zeros((*groups[0].gram.shape, width, width), groups[0].gram)
        for coordinates, gram in groups:
            for a in coordinates.tolist():
                found[:, :, a, a] = gram
        return found

    def _matrix(self, X: Collection, Y: Collection, X2: Collection | None, Y2: Collection | None) -> Array:
        rows, others = _both(Y, Y2, "Y")
        parts = []
        for coordinates, gram in self.groups(X, X2, rows.shape[1]):
            left, right = (like(take(side.T, coordinates), gram) for side in (rows, others))
            parts.append(gram * (left.T @ right))
        return reduce(add, parts)

    def __add__(self, other: CoordinateJoint) -> SumJoint:
        return SumJoint(self, other) if isinstance(other, CoordinateJoint) else NotImplemented

    def __mul__(self, factor: float) -> ScaledJoint:
        return ScaledJoint(factor, self) if is_real(factor) else NotImplemented

    __rmul__ = __mul__
    # NumPy numbers would otherwise handle `number * joint kernel` themselves
    __array_ufunc__ = None


class TensorProductJoint(CoordinateJoint):
    r"""The product of two kernels, :math:`J = k(x, x')\, l(y, y')`, which the identity operator induces.

    Parameters
    ----------
    input_kernel : Kernel, default=Gaussian(scale="median")
        k.
    output_kernel : Kernel, default=Linear()
        l.

    Examples
    --------
    >>> TensorProductJoint(Linear(), Linear())([[2.0]], [[3.0]], [[5.0]], [[7.0]])
    array([[210.]])
    """

    def __init__(self, input_kernel: Kernel = Gaussian(scale="median"), output_kernel: Kernel = Linear()) -> None:  # noqa: B008
        self.input_kernel = input_kernel
        self.output_kernel = output_kernel

    def groups(self, X: Collection, X2: Collection | None, width: int) -> list[Group]:
        """Return one group of all coordinates, with k."""
        return [Group(np.arange(width), self.input_kernel(X, X2))]

    def _matrix(self, X: Collection, Y: Collection, X2: Collection | None, Y2: Collection | None) -> Array:
        gram = self.input_kernel(X, X2)
        return gram * like(self.output_kernel(Y, Y2), gram)


class DiagonalRegularizationJoint(CoordinateJoint):
    r"""A tensor product that also pairs each input coordinate with the same output coordinate.

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
    >>> joint = DiagonalRegularizationJoint(Linear(), weight=0.5)
    >>> joint([[1.0, 2.0]], [[1.0, 1.0]], [[3.0, 4.0]], [[1.0, 0.0]])
    array([[7.]])
    """

    def __init__(self, input_kernel: Kernel = Gaussian(scale="median"), weight: float = 0.5) -> None:  # noqa: B008
        self.input_kernel = input_kernel
        self.weight = weight

    def groups(self, X: Collection, X2: Collection | None, width: int) -> list[Group]:
        """Return a group for each coordinate, with (1 − λ) k + λ xᵃ x'ᵃ."""
        weight = check_real(self.weight, "weight", 0, 1, closed="both", expected="a number from 0 to 1")
        rows, others = _both(X, X2, "X")
        if rows.shape[1] != width:
            raise ValueError(f"inputs have {rows.shape[1]} coordinates and outputs {width}; expected as many of each")
        shared = (1.0 - weight) * self.input_kernel(X, X2)
        return [
            Group(np.asarray([a]), shared + weight * rows[:, a][:, None] * others[:, a][None, :]) for a in range(width)
        ]


class SumJoint(CoordinateJoint):
    """The sum of two joint kernels.

    Examples
    --------
    >>> (TensorProductJoint(Linear()) + 2.0 * TensorProductJoint(Linear()))([[1.0]], [[3.0]])
    array([[27.]])
    """

    def __init__(self, left: CoordinateJoint, right: CoordinateJoint) -> None:
        self.left = left
        self.right = right

    def groups(self, X: Collection, X2: Collection | None, width: int) -> list[Group]:
        """Return the coordinates that share a group in both parts, with the sum of the two Gram matrices."""
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
    """A multiple of a joint kernel, by a factor above zero.

    Examples
    --------
    >>> (3.0 * TensorProductJoint(Linear()))([[1.0]], [[2.0]])
    array([[12.]])
    """

    def __init__(self, factor: float, joint: CoordinateJoint) -> None:
        self.factor = factor
        self.joint = joint

    def groups(self, X: Collection, X2: Collection | None, width: int) -> list[Group]:
        """Return the groups inside, their Gram matrices multiplied."""
        factor = check_real(self.factor, "factor", expected="a number above zero")
        return [Group(coordinates, factor * gram) for coordinates, gram in self.joint.groups(X, X2, width)]


@dataclass(eq=False, repr=False)
class InducedJoint(JointKernel):
    r"""The joint kernel of an operator learned from data, :math:`J = k(x, x')\, \langle \psi(y), C\, \psi(y') \rangle`.

    For the covariance operator it is :math:`\frac{1}{n} k(x, x') \sum_s l(y, y_s)\, l(y_s, y')`: two outputs are similar if
    they are similar to the same training outputs.

    Parameters
    ----------
    input_kernel, output_kernel : Kernel
        k and l.
    operator : SeparableOperator
        C; `resolve` computes it from pairs. With `Identity()` the result is a `TensorProductJoint`.
    embedding : Embedding, optional
        The fitted coordinates of C; set by `resolve`.
    matrix : array, optional
        C in these coordinates; set by `resolve`.

    Examples
    --------
    >>> from mercer.operators import Covariance
    >>> X, Y = np.array([[1.0], [2.0]]), np.array([[1.0], [3.0]])
    >>> InducedJoint(Linear(), Linear(), Covariance()).resolve(X, Y)(X, Y)  # x x' y y' (1² + 3²)/2
    array([[  5.,  30.],
           [ 30., 180.]])
    """

    input_kernel: Kernel
    output_kernel: Kernel
    operator: SeparableOperator
    embedding: Embedding | None = None
    matrix: Array | None = None

    def resolve(self, X: Collection, Y: Collection) -> JointKernel:
        """Return the same with C from these pairs."""
        k, l = self.input_kernel.resolve(X), self.output_kernel.resolve(Y)
        if self.operator.is_identity:
            return TensorProductJoint(k, l)
        embedding = Spectral() if l.feature_map(Y) is None else Features()
        embedding.fit(l, l.check(Y, "Y"))
        values, vectors = eigh(own(k(X), k))
        values = clip_spectrum(values, f"the input Gram matrix of {k!r}")
        inputs = GramEigh(vectors, values, vectors)
        outputs = Outputs(like(embedding.coordinates_, vectors), count(Y), embedding.orthogonal_, inputs)
        return InducedJoint(k, l, self.operator, embedding, self.operator.matrix(outputs))

    def blocks(self, X: Collection, X2: Collection | None, width: int) -> Array:
        """Return k(x, x')·C."""
        return self.input_kernel(X, X2)[:, :, None, None] * self._fitted()[1][None, None, :, :]

    def _matrix(self, X: Collection, Y: Collection, X2: Collection | None, Y2: Collection | None) -> Array:
        embedding, matrix = self._fitted()
        sides = {"Y": Y} if Y2 is None else {"Y": Y, "Y2": Y2}
        rows = [like(embedding.transform(embedding.kernel_.check(side, name)), matrix) for name, side in sides.items()]
        return self.input_kernel(X, X2) * (rows[0] @ matrix @ rows[-1].T)

    def _fitted(self) -> tuple[Embedding, Array]:
        if self.embedding is None or self.matrix is None:
            raise ValueError(f"{type(self).__name__} has an operator learned from pairs; call resolve(X, Y) first")
        return self.embedding, self.matrix


def _both(first: Collection, second: Collection | None, name: str) -> tuple[Array, Array]:
    """Return both collections as vectors of one library; the first twice if there is no second."""
    rows = as_vectors(first, name)
    return rows, rows if second is None else matched(rows, as_vectors(second, f"{name}2"))
