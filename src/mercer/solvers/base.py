"""What a solver is, and what it hands to the estimator."""

from __future__ import annotations

from dataclasses import dataclass

from sklearn.base import BaseEstimator

from mercer.core.arrays import Array, cholesky, like, solve_triangular
from mercer.core.collections import Collection
from mercer.core.gram_eigh import GramEigh
from mercer.kernels.base import Kernel


class Solver(BaseEstimator):
    r"""How :math:`(k \otimes C + \alpha I)^{-1}` is applied."""


class SpectralSolver(Solver):
    """A solver that decomposes the input Gram matrix once and then has every ridge, fold and query cheaply."""

    penalty: str = "function"
    device: str | None

    def factorize(self, kernel: Kernel, inputs: Collection) -> GramEigh:
        """Decompose the Gram matrix of `inputs` under a resolved kernel."""
        raise TypeError(f"{type(self).__name__} must define factorize(kernel, inputs)")


@dataclass
class LinearMap:
    """Points from kernel values by coefficients, h(x) = k_x B."""

    coefficients: Array

    def __call__(self, kernel_values: Array) -> Array:
        """One row per query."""
        return like(kernel_values, self.coefficients) @ self.coefficients


@dataclass
class CholeskyMap:
    """Weights from kernel values by two triangular solves, h(x) = (k + αI)⁻¹ k_x."""

    factor: Array

    @classmethod
    def of(cls, gram: Array) -> CholeskyMap:
        """Factor k + αI in place."""
        return cls(cholesky(gram))

    def solve(self, right: Array) -> Array:
        """(k + αI)⁻¹ applied to columns."""
        return solve_triangular(self.factor, solve_triangular(self.factor, right), transpose=True)

    def __call__(self, kernel_values: Array) -> Array:
        """One row per query."""
        return self.solve(like(kernel_values, self.factor).T).T
