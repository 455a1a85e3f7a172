"""Ridge regression for curves on a grid, the smoothing chosen with alpha."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer.core.arrays import Array, to_numpy
from mercer.core.validation import numbers
from mercer.learners.base import Learner, LearningProblem
from mercer.learners.ridge import FittedRidge
from mercer.operators.smoothing import Smoothing, check_grid, quadrature_weights
from mercer.selection.alpha import RidgeSelection, copies_together, leave_one_out_only, search_alpha, warn_if_lost
from mercer.solvers import Exact, RidgePath, RidgeProblem


@dataclass
class SmoothedCurves(Learner):
    """Ridge regression with an operator that smooths over the grid of the outputs.

    The parameters are those of `mercer.CurveRidge`.

    Examples
    --------
    >>> SmoothedCurves(lengths=[0.0, 2.0]).lengths
    [0.0, 2.0]
    """

    grid: Any = None
    lengths: Sequence[float] | None = None
    period: float | None = None
    alpha: Any = "loo"
    fit_intercept: bool = True

    def fit(self, problem: LearningProblem) -> FittedCurves:
        """Choose the length and alpha by exact leave-one-out, on one decomposition of the inputs."""
        rule = leave_one_out_only(self.alpha)
        problem = copies_together(problem, rule)
        outputs = to_numpy(problem.require_targets(self))
        p = outputs.shape[1]
        points = check_grid(np.arange(float(p)) if self.grid is None else self.grid, self.period)
        if len(points) != p:
            raise ValueError(f"y has {p} columns and grid has {len(points)} points; expected as many of each")
        roots = np.sqrt(quadrature_weights(points, self.period))
        ridge = problem.ridge(outputs * roots, self.fit_intercept)
        lengths, alphas = self._lengths(points), self._alphas(rule, ridge)
        spectrum = ridge.decomposed()

        def path_of(length: float) -> RidgePath:
            operator = Smoothing(float(length), points, self.period, quadrature=True)
            return RidgePath.of(replace(ridge, operator=operator), spectrum)

        tried: dict[float, np.ndarray] = {}  # the scores of all lengths for each alpha

        def lowest(some: np.ndarray) -> np.ndarray:
            risks = (path_of(length).risks(some.tolist()) for length in lengths)
            means = [[np.average(to_numpy(risk), weights=problem.sample_weight) for risk in each] for each in risks]
            tried.update(zip(some.tolist(), np.transpose(means), strict=True))
            return np.min(means, axis=0)

        scores = np.zeros((len(lengths), len(alphas)))
        if rule is not None or len(lengths) > 1:
            alphas = search_alpha(alphas, lowest, grows=rule is not None and rule.alphas is None)[1]
            scores = np.stack([tried[alpha] for alpha in alphas.tolist()], axis=1)
        # the largest alpha of equal scores
        best, last = divmod(int(np.argmin(scores[:, ::-1])), len(alphas))
        length, alpha = float(lengths[best]), float(alphas[len(alphas) - 1 - last])
        path = path_of(length)
        coefficients, intercept = path.coefficients(alpha)
        mean = None if intercept is None else intercept / roots
        attributes = {
            "length_": length,
            "alpha_": alpha,
            "lengths_": lengths,
            "alphas_": alphas,
            "loo_path_": scores,
            "kernel_": problem.kernel,
            "dual_coef_": coefficients / roots,
            "intercept_": np.zeros(p) if mean is None else mean,
        }
        parts = (ridge.basis(), attributes["dual_coef_"], mean)
        # points of a curve that are learned alone have weights on the training curves
        return FittedCurves(*parts, path.problem, Exact(), alpha, attributes, length == 0, roots=roots)

    def _lengths(self, points: np.ndarray) -> np.ndarray:
        width = points[-1] - points[0] if self.period is None else self.period
        default = np.append(0.0, width / 2.0 ** np.arange(6, 0, -1)) if width > 0 else np.zeros(1)
        lengths = default if self.lengths is None else numbers(self.lengths)
        if lengths.ndim != 1 or len(lengths) == 0 or not np.all(np.isfinite(lengths)) or np.any(lengths < 0):
            raise ValueError(f"lengths={self.lengths!r:.60}; expected a list of finite numbers, zero or more")
        return lengths

    def _alphas(self, rule: RidgeSelection | None, ridge: RidgeProblem) -> np.ndarray:
        mean = float(np.mean(to_numpy(ridge.kernel.diag(ridge.inputs))))
        if rule is None:
            warn_if_lost(float(self.alpha), mean)
            return np.asarray([float(self.alpha)])
        if rule.alphas is not None:
            return np.sort(rule.grid(1.0))
        return np.logspace(-4, 2, 13) * (mean or 1.0)


@dataclass
class FittedCurves(FittedRidge):
    """A regression onto curves."""

    roots: Any = 1.0
    """Roots of the quadrature weights, by which the outputs of the ridge are multiplied."""

    def points_without(self, groups: np.ndarray | None) -> Array:
        """Return the curve predicted for each pair without its group, the length and alpha held."""
        return super().points_without(groups) / self.roots
