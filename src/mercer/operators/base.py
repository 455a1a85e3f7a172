"""What an operator is: how output features act on each other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from sklearn.base import BaseEstimator

from mercer.core.arrays import Array, namespace


class Inputs(Protocol):
    r"""What an operator may look at of the input Gram matrix, :math:`k = U T U^\top` with orthonormal columns in U.

    Solvers bring it in a form that is cheap to solve in: T diagonal (`mercer.solvers.GramEigh`) or tridiagonal.
    """

    complete: bool
    """Whether U is square."""

    def inside(self, rows: Array) -> Array:
        """Uᵀ times `rows`."""

    def outside(self, inside: Array) -> Array:
        """U times `inside`."""

    def whitened(self, inside: Array, ridge: float) -> Array:
        """W with WᵀW = `inside`ᵀ (T + ridge I)⁻¹ `inside`."""


@dataclass
class Outputs:
    """What an operator may look at: outputs as coordinates, and the part of them the inputs explain.

    Attributes
    ----------
    coordinates : array (N, r)
        Rows of V for the n paired outputs, then for outputs without inputs.
    paired : int
        n, how many rows have an input.
    orthogonal : bool
        Whether the columns of `coordinates` are orthogonal.
    inputs : Inputs
        The input Gram matrix k.
    """

    coordinates: Array
    paired: int
    orthogonal: bool
    inputs: Inputs

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
    """An operator-valued kernel K(x, z) = k(x, z)·C, given by the r×r matrix C it is in the output coordinates.

    A new operator defines `matrix`; `spectrum` may be overridden where the eigenvectors are known without work.
    """

    def __call__(self, kernel_values: Array, outputs: Outputs) -> Array:
        """The blocks K(x, z) = k(x, z)·C, of shape (n, m, r, r) for n×m kernel values."""
        return kernel_values[:, :, None, None] * self.matrix(outputs)[None, None, :, :]

    def matrix(self, outputs: Outputs) -> Array:
        """C, symmetric and positive semi-definite."""
        raise TypeError(f"{type(self).__name__} must define matrix(outputs)")

    def spectrum(self, outputs: Outputs) -> OperatorSpectrum | None:
        """The eigendecomposition of C; None stands for the identity."""
        from mercer.core.arrays import clip_spectrum, eigh

        matrix = self.matrix(outputs)
        # a copy: the matrix may be one the operator keeps
        values, vectors = eigh(namespace(matrix).asarray(matrix, copy=True))
        return OperatorSpectrum(clip_spectrum(values, f"the operator {self!r}"), vectors)
