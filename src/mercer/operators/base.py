"""What an operator is: how output features act on each other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from sklearn.base import BaseEstimator

from mercer.arrays import Array


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
    input_vectors, input_values : array (n, m), array (m,)
        Eigenvectors U and eigenvalues s of the input Gram matrix k.
    """

    coordinates: Array
    paired: int
    orthogonal: bool
    input_vectors: Array
    input_values: Array

    @cached_property
    def inside(self) -> Array:
        """UᵀV over the paired outputs."""
        return self.input_vectors.T @ self.coordinates[: self.paired, :]


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
        from mercer.arrays import clip_spectrum, eigh

        values, vectors = eigh(self.matrix(outputs))
        return OperatorSpectrum(clip_spectrum(values, f"the operator {self!r}"), vectors)
