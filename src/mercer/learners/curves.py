"""Ridge regression for curves on a grid, the smoothing chosen with alpha."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer.core.arrays import Array, to_numpy
from mercer.learners.base import Learner, LearningProblem
from mercer.learners.ridge import FittedRidge
from mercer.operators.smoothing import Smoothing, check_grid, quadrature_weights
from mercer.selection.alpha import RidgeSelection, leave_one_out_only
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

        scores = np.zeros((len(lengths), len(alphas)))
        if rule is not None or len(lengths) > 1:
            for i, length in enumerate(lengths):
                risks = path_of(length).risks(alphas.tolist())
                scores[i] = [np.average(to_numpy(risk), weights=problem.sample_weight) for risk in risks]
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
        lengths = default if self.lengths is None else np.asarray(self.lengths, dtype=float)
        if lengths.ndim != 1 or len(lengths) == 0 or not np.all(np.isfinite(lengths)) or np.any(lengths < 0):
            raise ValueError(f"lengths={self.lengths!r:.60}; expected a list of finite numbers, zero or more")
        return lengths

    def _alphas(self, rule: RidgeSelection | None, ridge: RidgeProblem) -> np.ndarray:
        if rule is None:
            return np.asarray([float(self.alpha)])
        if rule.alphas is not None:
            return np.sort(rule.grid(1.0))
        mean = float(np.mean(to_numpy(ridge.kernel.diag(ridge.inputs))))
        return np.logspace(-4, 2, 13) * (mean or 1.0)


@dataclass
class FittedCurves(FittedRidge):
    """A regression onto curves."""

    roots: Any = 1.0
    """Roots of the quadrature weights, by which the outputs of the ridge are multiplied."""

    def left_out_points(self) -> Array:
        """Return the curve predicted for each pair without it, the length and alpha held."""
        return super().left_out_points() / self.roots
