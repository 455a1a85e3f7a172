"""Output kernel learning: the matrix of a separable kernel, learned together with the regression."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from sklearn.exceptions import ConvergenceWarning

from mercer.core.arrays import Array, to_numpy
from mercer.core.collections import Collection
from mercer.core.gram_eigh import GramEigh
from mercer.core.validation import check_real, check_whole
from mercer.learners.base import Learner, LearningProblem
from mercer.operators.base import OperatorSpectrum
from mercer.selection.alpha import LeaveOneOut, best_alpha, leave_one_out_only
from mercer.solvers.base import KernelBasis, PointMap, RidgeProblem
from mercer.solvers.ridge_path import RidgePath


@dataclass
class OutputKernel(Learner):
    r"""Learn a matrix L while regressing with :math:`K(x, z) = k(x, z)\,L` (Dinuzzo et al. 2011).

    The parameters are those of `mercer.OutputKernelLearning`.

    Examples
    --------
    >>> OutputKernel(alpha=0.1).needs_coordinates
    True
    """

    alpha: Any = "loo"
    max_iter: int = 1000
    tol: float = 1e-9
    fit_intercept: bool = True

    def check_parameters(self) -> LeaveOneOut | None:
        """Return the rule for alpha; raise ValueError if a parameter is out of its range."""
        check_whole(self.max_iter, "max_iter", 0, expected="a whole number, 0 or more")
        check_real(self.tol, "tol", 0, 1, expected="a number between 0 and 1")
        return leave_one_out_only(self.alpha)

    def fit(self, problem: LearningProblem) -> FittedOutputKernel:
        """Learn L for one alpha, or for each of a grid."""
        rule = self.check_parameters()
        targets = to_numpy(problem.require_targets(self))
        ridge = RidgeProblem(
            problem.kernel,
            problem.inputs,
            targets,
            alpha=None if rule is not None else float(self.alpha),
            fit_intercept=self.fit_intercept,
            sample_weight=problem.sample_weight,
            groups=problem.groups,
        )
        paths = _Paths(self, ridge, ridge.decomposed())
        alphas = path = None
        alpha = ridge.alpha
        if rule is not None:
            alphas = rule.grid(paths.scale)
            path = problem.criterion.left_out(paths, alphas.tolist())
            alpha = best_alpha(alphas, path)
        assert alpha is not None
        found = paths.learn(alpha)
        if not found.converged and self.max_iter > 0:
            warnings.warn(
                f"output kernel learning stopped after {self.max_iter} steps, the last of which lowered the objective by "
                f"{1 - found.path[-1] / found.path[-2]:.2g} of it (tol={self.tol:g}); raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=2,
            )
        solved, directions = paths.path(found), paths.span.T @ found.directions
        attributes = {
            "alpha_": alpha,
            "alphas_": alphas,
            "loo_path_": path,
            "output_matrix_": (directions * found.gains) @ directions.T,
            "dual_coef_": to_numpy(solved.dual(alpha)),
            "objective_path_": found.path,
            "gap_": found.gap,
            "n_iter_": len(found.path) - 1,
            "kernel_": problem.kernel,
        }
        basis = KernelBasis.of(problem.kernel, problem.inputs)
        found_map, operator = PointMap(basis, *solved.coefficients(alpha)), OperatorSpectrum(found.gains, directions)
        return FittedOutputKernel(found_map, ridge, operator, alpha, attributes)


@dataclass
class FittedOutputKernel:
    """A regression with a learned output matrix."""

    map: PointMap
    ridge: RidgeProblem
    operator: OperatorSpectrum
    alpha: float
    attributes: dict[str, Any]

    def points(self, inputs: Collection) -> Array:
        """Return f(x) for each input."""
        return self.map.points(inputs)

    def left_out_points(self) -> Array:
        """Return the prediction for each pair without it, L held at its fit on all pairs."""
        path = RidgePath.of(self.ridge, self.ridge.decomposed(), learned=self.operator)
        return path.left_out_points(self.alpha)

    def weights(self, inputs: Collection) -> None:
        """Return None: the outputs are coupled by L."""
        return


class _Paths:
    """Fits with a learned L, one for each alpha, on one decomposition of the inputs."""

    def __init__(self, learner: OutputKernel, ridge: RidgeProblem, spectrum: GramEigh) -> None:
        self.learner, self.ridge, self.spectrum = learner, ridge, spectrum
        rows = ridge.centred(ridge.scaled(to_numpy(ridge.targets)))
        # outside the span of the outputs L and C are zero
        left, lengths, self.span = scipy.linalg.svd(rows, full_matrices=False)
        self.values = to_numpy(spectrum.values)
        self.inside = to_numpy(spectrum.vectors).T @ (left * lengths)
        diagonal = max(float(self.values.sum()) / ridge.total, np.finfo(float).tiny)
        self.start = float(np.cbrt(0.5 * lengths[0] ** 2 / diagonal))
        self.scale = diagonal * self.start or 1.0

    def learn(self, alpha: float) -> Gains:
        """Return L for one alpha."""
        learner = self.learner
        return learn_gains(self.values, self.inside, alpha, self.start, (learner.max_iter, learner.tol))

    def path(self, found: Gains) -> RidgePath:
        """Return the ridge path with a learned L."""
        operator = OperatorSpectrum(found.gains, self.span.T @ found.directions)
        return RidgePath.of(self.ridge, self.spectrum, learned=operator)

    def left_out_points(self, value: float) -> Array:
        """Return the prediction for each pair without it."""
        return self.path(self.learn(value)).left_out_points(value)

    def risks(self, values: Any, gram: Array | None = None) -> Any:
        """Yield the squared errors of those predictions, for each alpha."""
        for alpha in values:
            yield from self.path(self.learn(alpha)).risks([alpha])


@dataclass
class Gains:
    """A learned L = Q diag(gains) Qᵀ, and the coefficients that go with it, Uᵀ C Q."""

    directions: np.ndarray
    """Q, in the coordinates the targets came in."""
    gains: np.ndarray
    coefficients: np.ndarray
    path: np.ndarray
    gap: float
    converged: bool


def learn_gains(values: np.ndarray, targets: np.ndarray, alpha: float, start: float, stop: tuple[int, float]) -> Gains:
    """Return the result of block coordinate descent from L = `start`·I.

    Parameters
    ----------
    values : array (n,)
        Eigenvalues of K = U diag(values) Uᵀ.
    targets : array (n, q)
        Uᵀ Y, at most as many columns as rows.
    alpha, start : float
        λ, and the first L.
    stop : (int, float)
        Most steps, and the share of the objective that a step has to gain.
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
            return Gains(directions, gains, coefficients, np.asarray(path), gap, converged)
        # L³ = ½ Fᵀ K F; singular values of K^½ F keep small gains that the eigenvalues of the square would lose
        _, singular, turn = scipy.linalg.svd(half * gains / np.sqrt(2.0), full_matrices=False)
        directions, gains = directions @ turn.T, np.cbrt(singular**2)
