"""One alpha by a Cholesky factor."""

from __future__ import annotations

import warnings
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer.core.arrays import (
    Array,
    NumericalWarning,
    add_to_diagonal,
    cholesky,
    is_array,
    is_numpy_array,
    namespace,
    not_psd_message,
    solve_triangular,
    to_numpy,
)
from mercer.core.collections import Collection
from mercer.solvers.base import RidgeProblem, Solver, register, separable_only
from mercer.solvers.factorization import Factorization
from mercer.solvers.kernel_values import KernelBasis, PointMap
from mercer.solvers.ridge_path import ExplicitFeatures

_MANY = 50_000
"""Pairs on a device from which conjugate gradients are faster than a factor, as ``bench scale --device cuda`` measures."""


class Cholesky(Solver):
    r"""One alpha, identity operator: :math:`(k + \alpha I)^{-1}` by a Cholesky factor, in place. n³/3 operations.

    Parameters
    ----------
    device : str, optional
        Where the algebra runs, through PyTorch; by default where the Gram matrix is.

    Examples
    --------
    >>> Cholesky()
    Cholesky()
    """

    why = "one alpha with the identity operator needs one Cholesky factor"
    one_alpha = True
    makes_gram = True

    def __init__(self, device: str | None = None) -> None:
        self.device = device

    def supports(self, problem: RidgeProblem) -> str | None:
        """Return a reason for more than one alpha, operators other than the identity, and missing targets."""
        against = separable_only(problem, one_alpha=True)
        if against is not None or problem.operator.is_identity:
            return against
        return f"it is for the identity operator, and came with operator={problem.operator!r}; use solver='auto' or Exact()"

    def matrices(self, problem: RidgeProblem) -> float:
        """Return about one, and an inverse more if pairs are left out."""
        targets = 0.0 if problem.targets is None else 3.0 * problem.targets.shape[1] / problem.size
        return 1.2 + targets + 3.0 * problem.wants_left_out

    def too_large(self, problem: RidgeProblem) -> str | None:
        """Return a reason for as many vectors on a device as conjugate gradients solve in half the time."""
        there = is_array(problem.inputs) and not is_numpy_array(problem.inputs)
        waits = problem.wants_left_out or problem.targets is None
        if there and not waits and problem.size >= _MANY and problem.kernel.takes_vectors:
            return f"{self!r} takes longer than conjugate gradients from {_MANY} pairs on a device"
        return super().too_large(problem)

    def factorize(self, problem: RidgeProblem) -> CholeskyFactor:
        """Factor k + αI, in the memory of k."""
        assert problem.alpha is not None
        gram, alpha = problem.gram(self.matrices(problem), device=self.device), problem.alpha
        with suppress(np.linalg.LinAlgError):
            return CholeskyFactor(problem, cholesky(add_to_diagonal(gram, alpha)))
        values = np.linalg.eigvalsh(to_numpy(problem.gram()))
        rounding = 10 * problem.size * np.finfo(float).eps * values[-1]
        if values[0] > -rounding:
            warnings.warn(
                f"alpha={alpha:.3g} is lost in the rounding of the input Gram matrix, whose largest eigenvalue is "
                f"{values[-1]:.3g}; {rounding:.3g} was used. solver=Exact() works without it",
                NumericalWarning,
                stacklevel=3,
            )
            return CholeskyFactor(problem, cholesky(add_to_diagonal(problem.gram(device=self.device), rounding)))
        name = f"the input Gram matrix of {problem.kernel!r}, at alpha={alpha:g},"
        raise ValueError(not_psd_message(name, values[0], values[-1]))


class CholeskyFactor(Factorization):
    """The Cholesky factor of k + αI for the one alpha of a problem."""

    def __init__(self, problem: RidgeProblem, factor: Array) -> None:
        super().__init__(problem)
        self.factor = self.reference = factor

    def solve(self, right: Array, alpha: float) -> Array:
        """Return (k + αI)⁻¹ times `right`, by two triangular solves."""
        return solve_triangular(self.factor, solve_triangular(self.factor, right), transpose=True)

    def map(self, alpha: float) -> PointMap:
        """Return the map; if points are weights, one that solves for each input in place of an n×n inverse."""
        problem = self.problem
        if problem.targets is not None:
            return super().map(alpha)
        origin, q = None, problem.constant(self.factor)
        if q is not None:
            solved = self.solve(q[:, None], alpha)
            origin = problem.scaled(solved / float(q @ solved[:, 0]) / problem.total**0.5)[:, 0]
        basis = problem.basis()
        return PointMap(SolvedWeights(basis, problem, self.factor, origin, basis.columns), None, None)


@dataclass
class SolvedWeights:
    r"""Weights on the training outputs by triangular solves, :math:`w(x) = G^{-1} k_x + w_0\,(1 - 1^\top G^{-1} k_x)`.

    `factor` is the Cholesky factor of :math:`G = k + \alpha I`; `origin` is :math:`w_0 = G^{-1}1 / 1^\top G^{-1}1`, the
    weights of an input that is like no training input, or None without an intercept.
    """

    basis: KernelBasis
    problem: RidgeProblem
    factor: Array
    origin: Array | None
    columns: int

    def reduced(self) -> SolvedWeights:
        """Return the same without the training inputs and outputs, but for the inputs in the basis."""
        none: Any = ()
        return replace(self, problem=replace(self.problem, inputs=none, outputs=None, groups=None))

    def values(self, inputs: Collection, reference: Any = None) -> Array:
        """Return the weights of each input."""
        right = self.problem.scaled(self.basis.values(inputs, self.factor).T)
        found = self.problem.scaled(CholeskyFactor(self.problem, self.factor).solve(right, 0.0)).T
        if self.origin is None:
            return found
        return found + (1.0 - namespace(found).sum(found, axis=1))[:, None] * self.origin


register(Cholesky(), after=ExplicitFeatures)
