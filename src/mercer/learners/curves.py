"""Ridge regression for curves on a grid, the smoothing chosen with alpha."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer.core.arrays import Array, to_numpy
from mercer.core.collections import Collection
from mercer.learners.base import Learner, LearningProblem
from mercer.operators.smoothing import Smoothing, check_grid, quadrature_weights
from mercer.selection.alpha import RidgeSelection, leave_one_out_only
from mercer.solvers.base import KernelBasis, PointMap, RidgeProblem
from mercer.solvers.ridge_path import RidgePath


@dataclass
class SmoothedCurves(Learner):
    """Ridge regression with an operator that smooths over the grid of the outputs.

    The parameters are those of `mercer.CurveRidge`.

    Examples
    --------
    >>> SmoothedCurves(period=365.0).needs_coordinates
    True
    """

    grid: Any = None
    lengths: Sequence[float] | None = None
    period: float | None = None
    alpha: Any = "loo"
    fit_intercept: bool = True

    def fit(self, problem: LearningProblem) -> FittedCurves:
        """Choose the length and alpha by exact leave-one-out, all on one decomposition of the inputs."""
        rule = leave_one_out_only(self.alpha)
        outputs = to_numpy(problem.require_targets(self))
        p = outputs.shape[1]
        points = check_grid(np.arange(float(p)) if self.grid is None else self.grid, self.period)
        if len(points) != p:
            raise ValueError(f"y has {p} columns and grid has {len(points)} points; expected as many of each")
        roots = np.sqrt(quadrature_weights(points, self.period))
        ridge = RidgeProblem(
            problem.kernel,
            problem.inputs,
            outputs * roots,
            fit_intercept=self.fit_intercept,
            sample_weight=problem.sample_weight,
            groups=problem.groups,
        )
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
        # of equals the largest alpha
        best, last = divmod(int(np.argmin(scores[:, ::-1])), len(alphas))
        length, alpha = float(lengths[best]), float(alphas[len(alphas) - 1 - last])
        path = path_of(length)
        coefficients, intercept = path.coefficients(alpha)
        basis = KernelBasis.of(problem.kernel, problem.inputs)
        found = PointMap(basis, coefficients / roots, None if intercept is None else intercept / roots)
        attributes = {
            "length_": length,
            "alpha_": alpha,
            "lengths_": lengths,
            "alphas_": alphas,
            "loo_path_": scores,
            "kernel_": problem.kernel,
            "dual_coef_": found.coefficients,
            "intercept_": np.zeros(p) if found.intercept is None else found.intercept,
        }
        operator = Smoothing(length, points, self.period, quadrature=True)
        return FittedCurves(found, replace(ridge, operator=operator), roots, alpha, attributes)

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
class FittedCurves:
    """A regression onto curves."""

    map: PointMap
    ridge: RidgeProblem
    roots: np.ndarray
    alpha: float
    attributes: dict[str, Any]

    def points(self, inputs: Collection) -> Array:
        """Return the curve predicted for each input."""
        return self.map.points(inputs)

    def left_out_points(self) -> Array:
        """Return the curve predicted for each pair without it, the length and alpha held."""
        path = RidgePath.of(self.ridge, self.ridge.decomposed())
        return path.left_out_points(self.alpha) / self.roots

    def weights(self, inputs: Collection) -> Array | None:
        """Return weights on the training curves where the points of a curve are learned one by one; else None."""
        if self.attributes["length_"] > 0:
            return None
        path = RidgePath.of(self.ridge, self.ridge.decomposed(), self.map.basis)
        return path.on_weights().map(self.alpha).points(inputs)
