"""Ridge regression with a learned metric."""

import numpy as np
import pytest
from sklearn.metrics import r2_score

from mercer import DependencyEstimator
from mercer.kernels import Encoded, Gaussian, Linear, Matern, NormalScores, Projected, Spectrum, ZScores
from mercer.learners import LearnedMetric
from mercer.learners.metric import gradient_products
from mercer.testing import check_learner, learning_problem

rng = np.random.default_rng(0)
X = rng.standard_normal((40, 5))
Y = np.column_stack([np.sin(2 * X[:, 0]), X[:, 0] * X[:, 1]])


@pytest.mark.parametrize(
    "learner",
    [
        LearnedMetric(iterations=2),
        LearnedMetric(NormalScores(), 1.5, 2.0, 1, True),
        LearnedMetric(nu=2.5, iterations=1),
    ],
)
def test_contract(learner):
    check_learner(learner, learning_problem(Gaussian(1.0), X[:14], Y[:14]), X[14:17], held="folds")


@pytest.mark.parametrize("nu", [1.5, 2.5])
def test_gradient_products_against_differences(nu):
    kernel, rows, coefficients = Matern(1.3, nu), X[:9, :3], rng.standard_normal((9, 2))
    weight, step, expected = rng.uniform(0.5, 2.0, 9), 1e-6, np.zeros((3, 3))

    def h(x):
        return (kernel(x[None, :], rows) @ coefficients)[0]

    for i in range(9):
        moved = [h(rows[i] + step * e) - h(rows[i] - step * e) for e in np.eye(3)]
        gradient = np.asarray(moved) / (2 * step)
        expected += weight[i] * gradient @ gradient.T
    np.testing.assert_allclose(gradient_products(kernel, rows, coefficients, weight), expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("diagonal", [False, True])
def test_columns_without_effect_lose_their_weight(diagonal):
    many = rng.standard_normal((200, 8))
    y = np.sin(2 * many[:, 2]) + many[:, 5]
    model = DependencyEstimator(Linear(), regressor=LearnedMetric(diagonal=diagonal)).fit(many[:150], y[:150])
    weights = np.diag(model.metric_)
    assert set(np.argsort(-weights)[:2]) == {2, 5}
    assert weights[[2, 5]].sum() > 0.8 * weights.sum()
    plain = DependencyEstimator(Encoded(ZScores(), Matern("median"))).fit(many[:150], y[:150])
    errors = [1 - r2_score(y[150:], one.predict(many[150:])) for one in (model, plain)]
    assert errors[0] < 0.7 * errors[1]


def test_left_out_points_are_no_better_than_noise_allows():
    """With the metric held, leave-one-out finds structure in pure noise; folds do not."""
    noise = rng.standard_normal((60, 20))
    y = rng.standard_normal((60, 1))
    fitted = LearnedMetric().fit(learning_problem(Linear(), noise, y))
    held, honest = np.mean((fitted.left_out - y) ** 2), np.mean((fitted.left_out_points() - y) ** 2)
    assert held < 0.9 * np.var(y) < honest


def test_outputs_that_do_not_change_keep_the_metric():
    fitted = LearnedMetric().fit(learning_problem(Linear(), X, np.ones((40, 1))))
    np.testing.assert_allclose(fitted.attributes["metric_"], np.eye(5))
    np.testing.assert_allclose(fitted.points(X[:3]), 1.0)


def test_projected_rows_have_the_distances_of_the_metric():
    root = rng.standard_normal((5, 5))
    kernel = Encoded(Projected(ZScores(), root), Gaussian(2.0)).resolve(X)
    away = (X[0] - X[1]) / X.std(axis=0)
    assert kernel(X[:1], X[1:2])[0, 0] == pytest.approx(np.exp(-(away @ root @ root.T @ away) / 8.0))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [({"nu": 1.0}, "nu=1.0"), ({"width": 0.0}, "width=0.0"), ({"iterations": 0}, "iterations=0")],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        LearnedMetric(**parameters)


def test_objects_are_refused():
    with pytest.raises(ValueError, match="a metric is learned for vectors"):
        LearnedMetric().fit(learning_problem(Spectrum(2), ["abc", "abd", "bcd"], np.eye(3)))
