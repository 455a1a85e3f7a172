"""Learners beside the kernel ridges: metrics and curves."""

from __future__ import annotations

import numpy as np
import pytest

from mercer import AutoEstimator
from mercer.automatic.menus import column_learners
from mercer.automatic.search import EFFORTS
from mercer.embeddings import Distinct
from mercer.kernels import Gaussian, Linear
from mercer.testing import learning_problem

rng = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("effort", "n", "d", "widths", "metrics"),
    [
        ("fast", 30, 3, 0, 0),
        ("balanced", 30, 3, 4, 1),
        ("balanced", 501, 3, 2, 0),
        ("best", 501, 3, 4, 3),
        ("best", 30, 81, 0, 3),
        ("best", 30, 201, 0, 0),
        ("best", 2001, 2, 0, 0),
    ],
)
def test_widths_and_metrics_are_for_few_columns_and_pairs(effort, n, d, widths, metrics) -> None:
    problem = learning_problem(Linear(), rng.standard_normal((n, d)), np.arange(n)[:, None] * 1.0)
    names = [name.split(",")[0] for name, _ in column_learners(problem, EFFORTS[effort])]
    assert (names.count("widths by column"), names.count("learned metric")) == (widths, metrics)


@pytest.mark.parametrize(
    ("effort", "n", "outputs", "alone"),
    [
        ("fast", 30, 3, 0),
        ("balanced", 30, 1, 0),
        ("balanced", 30, 3, 2),
        ("balanced", 501, 3, 0),
        ("best", 501, 3, 2),
        ("best", 30, 9, 0),
    ],
)
def test_few_outputs_have_widths_of_their_own(effort, n, outputs, alone) -> None:
    problem = learning_problem(Linear(), rng.standard_normal((n, 4)), rng.standard_normal((n, outputs)))
    names = [name for name, _ in column_learners(problem, EFFORTS[effort])]
    assert sum("column and output" in name for name in names) == alone


def test_metrics_need_coordinates_of_outputs_and_widths_their_features() -> None:
    X = rng.standard_normal((30, 3))
    for kernel, number in ((Linear(), 4), (Gaussian(1.0), 0)):
        problem = learning_problem(Linear(), X, X, kernel, Distinct())
        assert len(column_learners(problem, EFFORTS["best"])) == number


def test_fast_effort_learns_no_metrics() -> None:
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


def test_linear_ridges_have_an_alpha_for_components_of_several_outputs() -> None:
    X = rng.standard_normal((60, 4))
    both = X[:, :1] * [[1.0, 1.0]] + 0.5 * rng.standard_normal((60, 2)) * [[1.0, -1.0]]
    names = {
        width: [
            row.kernel for row in AutoEstimator().fit(X, both[:, :width]).leaderboard_ if "components" in row.kernel
        ]
        for width in (1, 2)
    }
    assert not names[1]
    assert sorted(names[2]) == ["linear, as they are, components of outputs", "linear, components of outputs"]


def test_points_of_curves_have_one_unit_and_columns_have_their_own() -> None:
    grid = np.linspace(0.0, 1.0, 20)
    X = rng.uniform(0.5, 2.0, (40, 2))
    curves = X[:, :1] * np.sin(6.0 * grid + X[:, 1:]) * np.linspace(1.0, 100.0, 20)
    model = AutoEstimator(effort="fast").fit(X, curves)
    assert model.reasons_["loss"] == "squared errors, of all points"
    assert -model.score(X, curves) == pytest.approx(np.mean(np.sum((model.predict(X) - curves) ** 2, axis=1)))
    columns = AutoEstimator(effort="fast", outputs="vectors").fit(X, curves)
    assert columns.reasons_["loss"] == "squared errors, each column in units of its deviation"


def test_pictures_are_also_compared_as_they_are() -> None:
    names = {
        row.kernel
        for row in AutoEstimator(effort="fast").fit(rng.standard_normal((30, 3)), np.arange(30.0)).leaderboard_
    }
    assert "Gaussian, as they are, width 1" in names
