"""Ridge regression on few features for one alpha: a Cholesky factor in place of an eigendecomposition."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer.core.arrays import Array, add_to_diagonal, cached_property, cholesky, like, namespace, solve_triangular
from mercer.solvers.base import RidgeProblem, Solver
from mercer.solvers.factorization import Factorization
from mercer.solvers.kernel_values import PointMap

_NUMBERS = 2**21
"""Entries of the features that are centred at a time."""


@dataclass
class FeatureSpace:
    """Features of the training inputs, and the way from coefficients on them to coefficients on a basis."""

    rows: Array
    """F (n × m)."""
    to_basis: Callable[[Array], Array]
    basis: Any
    residual: float = 0.0


class FeatureRidge(Factorization):
    r"""The identity operator on features, :math:`w = (F^\top F + \alpha I)^{-1} F^\top V`, in n m² operations.

    What needs more than the map, such as left-out points, comes from the whole path of `solver`.
    """

    def __init__(self, problem: RidgeProblem, features: FeatureSpace, solver: Solver) -> None:
        super().__init__(problem)
        self.features, self.solver, self.residual = features, solver, features.residual
        rows, self.rank, self.reference = features.rows, features.rows.shape[1], features.rows
        targets, constant = like(problem.targets, rows), problem.constant(rows)
        self.mean, self.level = None, None
        self._factor: tuple[float, Array] | None = None
        if constant is not None:
            self.mean, self.level = problem.mean(rows), problem.mean(targets)
            targets = targets - self.level
        targets = problem.scaled(targets)
        self.gram: Any = 0.0
        self.right: Any = 0.0
        step = max(self.rank, _NUMBERS // self.rank)
        for start in range(0, problem.size, step):
            some = slice(start, min(start + step, problem.size))
            part = rows[some, :] if self.mean is None else rows[some, :] - self.mean
            part = part if problem.roots is None else part * like(problem.roots[some], part)[:, None]
            self.gram = self.gram + part.T @ part
            self.right = self.right + part.T @ targets[some, :]

    def coefficients(self, alpha: float) -> tuple[Array, Array | None]:
        """Return B and b with h(x) = κ_x B + b."""
        with suppress(np.linalg.LinAlgError):
            found = self._solved_features(self.right, alpha)
            level = None if self.mean is None else self.level - self.mean @ found
            return self.features.to_basis(found), level
        return self.path.coefficients(alpha)  # alpha is lost in rounding

    def centred_solve(self, right: Array, alphas: Array) -> Array:
        """Return (F Fᵀ + αI)⁻¹ times `right`, which is orthogonal to the constant; all columns have one alpha."""
        alpha, problem, rows = float(alphas[0]), self.problem, self.features.rows
        with suppress(np.linalg.LinAlgError):
            inside = self._solved_features(rows.T @ problem.scaled(right), alpha)
            return (right - problem.centred(problem.scaled(rows @ inside))) / alpha
        return self.path.centred_solve(right, alphas)  # alpha is lost in rounding

    def _solved_features(self, right: Array, alpha: float) -> Array:
        """(FᵀF + αI)⁻¹ times `right`; raise LinAlgError if alpha is lost in rounding."""
        if self._factor is None or self._factor[0] != alpha:
            gram = namespace(self.gram).asarray(self.gram, copy=True)
            self._factor = alpha, cholesky(add_to_diagonal(gram, alpha))
        factor = self._factor[1]
        return solve_triangular(factor, solve_triangular(factor, right), transpose=True)

    def map(self, alpha: float) -> PointMap:
        """Return the map from inputs to points."""
        return PointMap(self.features.basis, *self.coefficients(alpha))

    @cached_property
    def path(self) -> Any:
        """The path of the same problem, by an eigendecomposition."""
        return self.solver.factorize(replace(self.problem, alpha=None))

    @property
    def spectrum(self) -> Any:
        """The eigendecomposition of the path."""
        return self.path.spectrum

    def dual(self, alpha: float) -> Array:
        """Return Z with h(x) = k_x Z + b."""
        return self.path.dual(alpha)

    def left_out_residuals(self, alpha: float) -> Array:
        """Return vⱼ − h₋ⱼ(xⱼ) for each pair."""
        return self.path.left_out_residuals(alpha)

    def on_weights(self) -> Factorization:
        """Return the path with weights on the training outputs for targets."""
        return self.path.on_weights()

    def generalized_risk(self, alpha: float, gram: Array | None = None) -> float:
        """Return the score of generalised cross-validation."""
        return self.path.generalized_risk(alpha, gram)

    @property
    def scale(self) -> float:
        """The size of alpha that is neither small nor large."""
        return self.path.scale
