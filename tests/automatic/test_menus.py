"""Learners beside the kernel ridges: metrics and curves."""

from __future__ import annotations

import numpy as np
import pytest

from mercer import AutoEstimator
from mercer.automatic.menus import metric_learners
from mercer.embeddings import Distinct
from mercer.kernels import Linear
from mercer.testing import learning_problem

rng = np.random.default_rng(0)


@pytest.mark.parametrize(("n", "d", "tried"), [(30, 3, True), (30, 201, False), (2001, 2, False)])
def test_metrics_are_for_few_columns_and_pairs(n: int, d: int, tried: bool) -> None:
    problem = learning_problem(Linear(), rng.standard_normal((n, d)), np.arange(n)[:, None] * 1.0)
    assert bool(metric_learners(problem)) == tried


def test_metrics_need_coordinates_of_outputs() -> None:
    X = rng.standard_normal((30, 3))
    assert not metric_learners(learning_problem(Linear(), X, X, embedding=Distinct()))


def test_only_the_best_effort_learns_metrics() -> None:
    X = rng.standard_normal((70, 12))
    y = np.sin(2.0 * X[:, 3])
    boards = {
        effort: AutoEstimator(effort=effort, random_state=0).fit(X, y).leaderboard_ for effort in ("fast", "best")
    }
    metrics = {effort: [row for row in board if "metric" in row.learner] for effort, board in boards.items()}
    assert not metrics["fast"]
    assert len(metrics["best"]) == 3
    # eleven columns of twelve have no effect, which no kernel of the menu can know
    assert min(row.loss for row in metrics["best"]) < min(row.loss for row in boards["best"] if row.learner == "ridge")


def test_curves_are_smoothed_on_the_best_kernels() -> None:
    grid = np.linspace(0.0, 1.0, 20)
    X = rng.uniform(0.5, 2.0, (40, 2))
    model = AutoEstimator(effort="fast").fit(X, X[:, :1] * np.sin(6.0 * grid + X[:, 1:]))
    names = [row.learner for row in model.leaderboard_]
    assert model.kinds_["outputs"] == "curves"
    assert sum("smoothed along the curve" in name for name in names) == 3
    assert sum("covariance of the curve" in name for name in names) == 1
