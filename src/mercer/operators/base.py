"""Operators: the interaction of output features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

from sklearn.base import BaseEstimator

from mercer.core.arrays import Array, cached_property, clip_spectrum, eigh, namespace
from mercer.core.collections import Collection
from mercer.kernels.base import Kernel

if TYPE_CHECKING:
    from mercer.operators.separable import Separable


class Inputs(Protocol):
    r"""The input Gram matrix, :math:`k = U T U^\top` with orthonormal columns in U and T diagonal or tridiagonal."""

    @property
    def complete(self) -> bool:
        """True if U spans the whole space."""

    def inside(self, rows: Array) -> Array:
        """Return Uᵀ times `rows`."""

    def outside(self, inside: Array) -> Array:
        """Return U times `inside`."""

    def whitened(self, inside: Array, ridge: float) -> Array:
        """Return W with WᵀW = `inside`ᵀ (T + ridge·I)⁻¹ `inside`."""


@dataclass
class Outputs:
    """Coordinates of the outputs, with the Gram matrix of their inputs.

    Attributes
    ----------
    coordinates : array (N, r)
        Rows of V for the n paired outputs, then for outputs without inputs; centred if there is an intercept, and multiplied by
        the roots of sample weights.
    paired : int
        n, the number of rows with an input.
    orthogonal : bool
        True if the columns of `coordinates` are orthogonal.
    inputs : Inputs
        The input Gram matrix k.
    total : float, optional
        The sum of the weights of all rows; N by default.
    roots : array (N,), optional
        Square roots of the weights of all rows; None where all are one.
    """

    coordinates: Array
    paired: int
    orthogonal: bool
    inputs: Inputs
    total: float | None = None
    roots: Array | None = None

    @property
    def weight(self) -> float:
        """The sum of the weights of all rows."""
        return float(self.coordinates.shape[0]) if self.total is None else self.total

    @property
    def paired_weight(self) -> float:
        """The sum of the weights of the paired rows."""
        return self.weight - (self.coordinates.shape[0] - self.paired)

    def around_mean(self, rows: int) -> Array:
        """Return the first rows without their mean, weighted by the sample weights."""
        first = self.coordinates[:rows, :]
        if self.roots is None:
            return first - namespace(first).mean(first, axis=0)
        unit = self.roots[:rows] / float(namespace(first).sum(self.roots[:rows] ** 2)) ** 0.5
        return first - unit[:, None] * (unit @ first)

    @cached_property
    def inside(self) -> Array:
        """UᵀV over the paired outputs; solvers use it too, so it must not be changed."""
        return self.inputs.inside(self.coordinates[: self.paired, :])


@dataclass
class OperatorSpectrum:
    """The decomposition C = Q diag(c) Qᵀ; `vectors` is None if C is diagonal."""

    values: Array
    vectors: Array | None


class Operator(BaseEstimator):
    """An operator-valued kernel K(x, z): the similarity of inputs, and the interaction of output features.

    There are two kinds: `SeparableOperator`, K(x, z) = k(x, z)·C with one matrix C resolved from the outputs, and
    `OperatorValuedKernel`, with blocks K(x, z) that need not be multiples of one matrix.
    """

    separable: bool = False
    """True if K(x, z) is a scalar kernel times one matrix."""
    is_identity: bool = False
    """True if every output feature is learned alone."""
    has_kernels: bool = False
    """True if the operator compares inputs by kernels of its own, which `resolve` fixes."""
    wants_orthogonal: bool = False
    """True if coordinates with orthogonal columns save work."""

    @property
    def outputs(self) -> int | None:
        """The number of outputs; None if any number will do, or if `resolve` sets it."""
        return None

    def kernels(self) -> list[Kernel]:
        """Return the scalar kernels inside: by default `kernel`, if the operator has that parameter."""
        return [self.kernel] if hasattr(self, "kernel") else []

    def resolve(self, X: Collection, p: int) -> Self:
        """Return the operator for p outputs, with everything that depends on data fixed from `X`."""
        return self


class SeparableOperator(Operator):
    """An operator-valued kernel K(x, z) = k(x, z)·C, given by the r×r matrix C in output coordinates.

    A new operator defines `matrix`, and overrides `spectrum` if the eigenvectors are known.
    """

    separable = True

    def matrix(self, outputs: Outputs) -> Array:
        """Return C, a symmetric positive semi-definite matrix."""
        raise TypeError(f"{type(self).__name__} must define matrix(outputs)")

    def spectrum(self, outputs: Outputs) -> OperatorSpectrum | None:
        """Return the eigendecomposition of C, or None for the identity."""
        matrix = self.matrix(outputs)
        # a copy: eigh may overwrite, and the operator may keep its matrix
        values, vectors = eigh(namespace(matrix).asarray(matrix, copy=True))
        return OperatorSpectrum(clip_spectrum(values, f"the operator {self!r}"), vectors)

    def __call__(self, kernel: Kernel, outputs: Outputs) -> Separable:
        """Return the operator-valued kernel k(x, z)·C with C from these outputs."""
        from mercer.operators.separable import Separable

        return Separable(kernel, self.matrix(outputs))
