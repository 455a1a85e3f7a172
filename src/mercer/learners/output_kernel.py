"""Output kernel learning: the matrix of a separable kernel, learned together with the regression."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg
from sklearn.exceptions import ConvergenceWarning

from mercer.core.arrays import Array, to_numpy
from mercer.core.validation import check_real, check_whole
from mercer.learners.base import Learner, LearningProblem
from mercer.learners.ridge import FittedRidge
from mercer.operators.base import OperatorSpectrum, Outputs, SeparableOperator
from mercer.selection.alpha import copies_together, leave_one_out_only
from mercer.solvers import Exact, RidgePath, RidgeProblem


@dataclass
class OutputKernel(Learner):
    r"""Learn a matrix L while regressing with :math:`K(x, z) = k(x, z)\,L` (Dinuzzo et al. 2011).

    The parameters are those of `mercer.OutputKernelLearning`.

    Examples
    --------
    >>> OutputKernel(alpha=0.1)
    OutputKernel(alpha=0.1, max_iter=1000, tol=1e-09, fit_intercept=True)
    """

    alpha: Any = "loo"
    max_iter: int = 1000
    tol: float = 1e-9
    fit_intercept: bool = True

    def __post_init__(self) -> None:
        check_whole(self.max_iter, "max_iter", 0, expected="a whole number, 0 or more")
        check_real(self.tol, "tol", 0, 1, expected="a number between 0 and 1")

    def fit(self, problem: LearningProblem) -> FittedRidge:
        """Learn L for one alpha, or for each of a grid."""
        problem = copies_together(problem, leave_one_out_only(self.alpha))
        ridge = problem.ridge(to_numpy(problem.require_targets(self)), self.fit_intercept)
        paths = _Paths(self, ridge)
        attributes = problem.choose_alpha(self.alpha, paths)
        alpha = attributes["alpha_"]
        found = paths.learn(alpha)
        if not found.converged and self.max_iter > 0:
            warnings.warn(
                f"output kernel learning stopped after {self.max_iter} steps, the last of which lowered the objective by "
                f"{1 - found.path[-1] / found.path[-2]:.2g} of it (tol={self.tol:g}); raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=2,
            )
        path = paths.path(found)
        attributes |= {
            "output_matrix_": path.problem.operator.matrix(),
            "dual_coef_": to_numpy(path.dual(alpha)),
            "objective_path_": found.path,
            "gap_": found.gap,
            "n_iter_": len(found.path) - 1,
            "kernel_": problem.kernel,
        }
        return FittedRidge(ridge.basis(), *path.coefficients(alpha), path.problem, Exact(), alpha, attributes)


class OutputMatrix(SeparableOperator):
    """A matrix L = Q diag(c) Qᵀ, given by its decomposition."""

    def __init__(self, gains: np.ndarray, directions: np.ndarray) -> None:
        self.gains = gains
        self.directions = directions

    def matrix(self, outputs: Outputs | None = None) -> np.ndarray:
        """Return L."""
        return (self.directions * self.gains) @ self.directions.T

    def spectrum(self, outputs: Outputs) -> OperatorSpectrum:
        """Return c and Q."""
        return OperatorSpectrum(self.gains, self.directions)


class _Paths:
    """Fits with a learned L, one for each alpha, on one decomposition of the inputs."""

    def __init__(self, learner: OutputKernel, ridge: RidgeProblem) -> None:
        self.learner, self.ridge, self.spectrum = learner, ridge, ridge.decomposed()
        rows = ridge.centred(ridge.scaled(to_numpy(ridge.targets)))
        # outside the span of the outputs L and C are zero
        left, lengths, self.span = scipy.linalg.svd(rows, full_matrices=False)
        self.values = to_numpy(self.spectrum.values)
        self.inside = to_numpy(self.spectrum.vectors).T @ (left * lengths)
        diagonal = float(self.values.sum()) / ridge.total or 1.0  # inputs may all be alike
        self.start = float(np.cbrt(0.5 * lengths[0] ** 2 / diagonal))
        self.scale = diagonal * self.start or 1.0

    def learn(self, alpha: float) -> Gains:
        """Return L for one alpha."""
        learner = self.learner
        return learn_gains(self.values, self.inside, alpha, self.start, (learner.max_iter, learner.tol))

    def path(self, found: Gains) -> RidgePath:
        """Return the ridge path with a learned L."""
        operator = OutputMatrix(found.gains, self.span.T @ found.directions)
        return RidgePath.of(replace(self.ridge, operator=operator), self.spectrum)

    def left_out_points(self, value: float) -> Array:
        """Return the prediction for each pair without it."""
        return self.path(self.learn(value)).left_out_points(value)

    def risks(self, values: Any, gram: Array | None = None) -> Any:
        """Yield the squared errors of those predictions, for each alpha."""
        for alpha in values:
            yield from self.path(self.learn(alpha)).risks([alpha])


@dataclass
class Gains:
    """A learned L = Q diag(gains) Qᵀ."""

    directions: np.ndarray
    """Q, in the coordinates of the targets."""
    gains: np.ndarray
    path: np.ndarray
    gap: float
    converged: bool


def learn_gains(values: np.ndarray, targets: np.ndarray, alpha: float, start: float, stop: tuple[int, float]) -> Gains:
    """Return the result of block coordinate descent from L = `start`·I.

    `values` are the eigenvalues of K = U diag(values) Uᵀ, and `targets` is Uᵀ Y. `stop` holds the most steps, and the share of
    the objective that a step has to gain.
    """
    max_iter, tol = stop
    directions, gains = np.eye(targets.shape[1]), np.full(targets.shape[1], start)
    roots, path = np.sqrt(values)[:, None], []
    while True:
        rotated = targets @ directions
        # in the eigenvectors of K and of L, K C L + αC = Y is a division
        coefficients = rotated / (values[:, None] * gains + alpha)
        path.append(0.5 * float(np.sum(rotated * coefficients)) + 0.5 * float(gains @ gains))
        half = roots * coefficients
        converged = len(path) > 1 and path[-2] - path[-1] <= tol * path[-2]
        if converged or len(path) > max_iter:
            gap = 0.5 * float(np.sum((np.diag(gains) - 0.5 * half.T @ half) ** 2))
            return Gains(directions, gains, np.asarray(path), gap, converged)
        # L³ = ½ Fᵀ K F; singular values of K^½ F keep small gains that the eigenvalues of the square would lose
        _, singular, turn = scipy.linalg.svd(half * gains / np.sqrt(2.0), full_matrices=False)
        directions, gains = directions @ turn.T, np.cbrt(singular**2)
