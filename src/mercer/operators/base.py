"""Operators: how output features act on each other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, Self

from sklearn.base import BaseEstimator

from mercer.core.arrays import Array, clip_spectrum, eigh, namespace
from mercer.core.collections import Collection
from mercer.kernels.base import Kernel

if TYPE_CHECKING:
    from mercer.operators.separable import Separable


class Inputs(Protocol):
    r"""The input Gram matrix as operators see it, :math:`k = U T U^\top` with orthonormal columns in U.

    Solvers bring it in a form that is cheap to solve in: T diagonal (`mercer.core.gram_eigh.GramEigh`) or tridiagonal.
    """

    @property
    def complete(self) -> bool:
        """Whether U spans everything."""

    def inside(self, rows: Array) -> Array:
        """Return Uᵀ times `rows`."""

    def outside(self, inside: Array) -> Array:
        """Return U times `inside`."""

    def whitened(self, inside: Array, ridge: float) -> Array:
        """Return W with WᵀW = `inside`ᵀ (T + ridge I)⁻¹ `inside`."""


@dataclass
class Outputs:
    """Outputs as operators see them: coordinates, and the part of them the inputs explain.

    Attributes
    ----------
    coordinates : array (N, r)
        Rows of V for the n paired outputs, then for outputs without inputs; around their mean where there is an intercept,
        times the roots of sample weights where there are any.
    paired : int
        n, the number of rows that have an input.
    orthogonal : bool
        Whether the columns of `coordinates` are orthogonal.
    inputs : Inputs
        The input Gram matrix k.
    total : float, optional
        The sum of the weights of all rows; N by default.
    """

    coordinates: Array
    paired: int
    orthogonal: bool
    inputs: Inputs
    total: float | None = None

    @property
    def weight(self) -> float:
        """The sum of the weights of all rows."""
        return float(self.coordinates.shape[0]) if self.total is None else self.total

    @property
    def paired_weight(self) -> float:
        """The sum of the weights of the paired rows."""
        return self.weight - (self.coordinates.shape[0] - self.paired)

    @cached_property
    def inside(self) -> Array:
        """UᵀV over the paired outputs; the solver goes on with it, so it is not to be changed."""
        return self.inputs.inside(self.coordinates[: self.paired, :])


@dataclass
class OperatorSpectrum:
    """C = Q diag(c) Qᵀ. `vectors` is None when C is already diagonal."""

    values: Array
    vectors: Array | None


class Operator(BaseEstimator):
    """An operator-valued kernel K(x, z): how inputs are alike, and how output features act on each other.

    There are two kinds: `SeparableOperator`, one matrix C learned from the outputs, K(x, z) = k(x, z)·C; and
    `OperatorValuedKernel`, whose blocks K(x, z) need not be multiples of one matrix.
    """

    separable: bool = False
    """Whether K(x, z) is one scalar kernel times one matrix."""
    is_identity: bool = False
    """Whether every output feature is learned alone."""
    wants_orthogonal: bool = False
    """Whether coordinates with orthogonal columns save work."""

    @property
    def outputs(self) -> int | None:
        """The number of outputs it is for; None for any."""
        return None

    def kernels(self) -> list[Kernel]:
        """Return the scalar kernels inside; none where inputs are compared by the kernel of the estimator."""
        return []

    def resolve(self, X: Collection, p: int) -> Self:
        """Return an operator for p outputs with everything that depends on the inputs fixed from `X`."""
        return self


class SeparableOperator(Operator):
    """An operator-valued kernel K(x, z) = k(x, z)·C, given by the r×r matrix C it is in the output coordinates.

    A new operator defines `matrix`; `spectrum` may be overridden where the eigenvectors are known without work.
    """

    separable = True

    def matrix(self, outputs: Outputs) -> Array:
        """Return C, symmetric and positive semi-definite."""
        raise TypeError(f"{type(self).__name__} must define matrix(outputs)")

    def spectrum(self, outputs: Outputs) -> OperatorSpectrum | None:
        """Return the eigendecomposition of C; None stands for the identity."""
        matrix = self.matrix(outputs)
        # a copy: the matrix may be one the operator keeps
        values, vectors = eigh(namespace(matrix).asarray(matrix, copy=True))
        return OperatorSpectrum(clip_spectrum(values, f"the operator {self!r}"), vectors)

    def __call__(self, kernel: Kernel, outputs: Outputs) -> Separable:
        """Return the operator-valued kernel k(x, z)·C, with C taken from these outputs."""
        from mercer.operators.separable import Separable

        return Separable(kernel, self.matrix(outputs))
