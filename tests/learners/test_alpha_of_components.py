"""An alpha for each principal component of the outputs, against ridges fitted one by one."""

from __future__ import annotations

import numpy as np
import pytest

from mercer.kernels import Linear
from mercer.learners.ridge import DECADES, _clearly_best, best_of_each
from mercer.solvers import Exact
from mercer.testing import learning_problem

rng = np.random.default_rng(0)
X = rng.standard_normal((40, 6))
TURN = np.linalg.qr(rng.standard_normal((3, 3)))[0]
# the first component follows the inputs, the others are noise
SCORES = np.column_stack([5.0 * X[:, 0] + 0.1 * rng.standard_normal(40), *rng.standard_normal((2, 40))])
Y = SCORES @ TURN.T + 7.0


def fitted(components: bool, weight: np.ndarray | None = None):
    problem = learning_problem(Linear(), X, Y)
    problem.sample_weight = weight
    ridge = problem.ridge(problem.require_targets("a test"), True)
    path = Exact().factorize(ridge)
    return path, best_of_each(path, ridge, Exact(), components), ridge


@pytest.mark.parametrize("weight", [None, np.where(np.arange(40) < 20, 2.0, 1.0)], ids=["plain", "weighted"])
def test_left_out_points_are_those_of_fits_without_the_pair(weight) -> None:
    path, found, _ = fitted(True, weight)
    w = np.ones(40) if weight is None else weight
    mean = np.average(Y, axis=0, weights=w)
    axes = np.linalg.svd(np.sqrt(w)[:, None] * (Y - mean), full_matrices=False)[2].T
    grid = 10.0**DECADES * path.scale
    left = np.stack([path.left_out_points(alpha) for alpha in grid])
    chosen = _clearly_best((w / w.mean())[:, None] * ((left - Y) @ axes) ** 2)
    expected = mean + sum(np.outer((left[i] - mean) @ axes[:, j], axes[:, j]) for j, i in enumerate(chosen))
    assert len(set(chosen)) > 1
    assert np.allclose(found.left_out_points(), expected)
    maps = [path.map(alpha) for alpha in grid]
    at_new = mean + sum(np.outer((maps[i].points(X[:5]) - mean) @ axes[:, j], axes[:, j]) for j, i in enumerate(chosen))
    assert np.allclose(found.points(X[:5]), at_new)


def test_components_of_noise_are_drawn_to_the_mean() -> None:
    _, plain, _ = fitted(False)
    _, turned, _ = fitted(True)
    lost = [float(np.sum((own.left_out_points() - Y) ** 2)) for own in (plain, turned)]
    assert lost[1] < lost[0]


def test_an_alpha_of_its_own_has_to_be_clearly_better() -> None:
    squares = np.ones((3, 20, 2))
    squares[1, :, 0] = 0.5  # clearly
    squares[2, :, 1] = np.where(np.arange(20) == 0, 0.0, 1.0)  # for one pair alone
    squares[0] += 1e-6
    together = int(np.argmin(squares.sum(axis=(1, 2))))
    assert _clearly_best(squares).tolist() == [1, together]
