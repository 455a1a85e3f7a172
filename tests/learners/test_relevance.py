"""Widths of columns by marginal likelihood."""

from dataclasses import replace

import numpy as np
import pytest

from mercer import AutoEstimator, DependencyEstimator, load, save
from mercer.embeddings import Distinct
from mercer.kernels import Gaussian, Kemeny, Linear, NormalScores, Spectrum
from mercer.learners import RelevantColumns
from mercer.learners.relevance import Process
from mercer.testing import check_learner, learning_problem

rng = np.random.default_rng(0)
X = rng.standard_normal((24, 3))
Y = np.column_stack([np.sin(2 * X[:, 0]), X[:, 0] ** 2]) + 0.1 * rng.standard_normal((24, 2))


@pytest.mark.parametrize(
    "learner",
    [
        RelevantColumns(iterations=5),
        RelevantColumns(iterations=5, each=True),
        RelevantColumns(shape="Laplacian"),
        RelevantColumns(NormalScores(), "Gaussian", 3),
    ],
)
def test_contract(learner):
    check_learner(learner, learning_problem(Linear(), X[:14], Y[:14]), rng.standard_normal((3, 3)), held="folds")


@pytest.mark.parametrize("shape", ["Gaussian", "Laplacian"])
def test_gradient_of_the_likelihood(shape):
    process = Process.of(X, Y, rng.uniform(0.5, 2.0, 24), shape)
    at = np.append(np.full(3, process.typical), [-1.0, -2.0]) + 0.2 * rng.standard_normal(5)
    steps = 1e-5 * np.eye(5)
    numeric = [(process.loss(at + step)[0] - process.loss(at - step)[0]) / 2e-5 for step in steps]
    assert np.allclose(process.loss(at)[1], numeric, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("shape", ["Gaussian", "Laplacian"])
def test_likelihood_is_that_of_a_gaussian_process(shape):
    from scipy.stats import multivariate_normal

    process, at = Process.of(X, Y[:, :1], None, shape), np.array([0.1, 0.4, -0.3, -1.0, -2.0])
    widths, slope, noise = process.read(at)
    gaps = (X[:, None] - X[None]) / widths
    kernel = np.exp(-0.5 * np.sum(gaps**2, axis=2)) if shape == "Gaussian" else np.exp(-np.sum(np.abs(gaps), axis=2))
    whole, centred = kernel + slope * X @ X.T + noise * np.eye(24), Y[:, 0] - Y[:, 0].mean()
    variance = centred @ np.linalg.solve(whole, centred) / 24
    prior = 0.5 * np.sum(((at[:3] - process.typical) / 2.0) ** 2)
    likelihood = multivariate_normal.logpdf(centred, cov=variance * whole)
    assert process.loss(at)[0] == pytest.approx(prior - likelihood - 12 * np.log(2 * np.pi) - 12)


@pytest.mark.parametrize("shape", ["Gaussian", "Laplacian"])
def test_columns_of_noise_have_large_widths(shape):
    model = DependencyEstimator(Linear(), regressor=RelevantColumns(shape=shape)).fit(X, Y)
    assert model.widths_[1:].min() > 2 * model.widths_[0]


def test_each_output_has_widths_of_its_own(tmp_path):
    outputs = np.column_stack([np.sin(2 * X[:, 0]), np.sin(2 * X[:, 2]), np.ones(24)])
    model = DependencyEstimator(Linear(), regressor=RelevantColumns(each=True)).fit(X, outputs)
    assert np.argmin(model.widths_, axis=1)[:2].tolist() == [0, 2]
    # a constant tells nothing: it keeps the widths of all together
    together = DependencyEstimator(Linear(), regressor=RelevantColumns()).fit(X, outputs)
    assert np.allclose(model.widths_[2], together.widths_)
    assert np.allclose(load(save(model, tmp_path / "model.skops")).predict(X), model.predict(X))
    assert np.allclose(model.compact().predict(X), model.predict(X))


def test_widths_of_an_output_are_drawn_to_those_of_all():
    process = Process.of(X, Y, None, "Laplacian")
    found = process.fit(30)
    own = process.near(found, 0)
    assert own.targets.shape == (24, 1)
    assert own.loss(found + np.array([0.5, 0, 0, 0, 0]))[0] - replace(own, deviation=np.inf).loss(
        found + np.array([0.5, 0, 0, 0, 0])
    )[0] == pytest.approx(0.125)


@pytest.mark.parametrize("pairs", [2, 24])
def test_one_output_and_few_pairs_share_their_widths(pairs):
    outputs = Y[:pairs, :1] if pairs == 24 else np.hstack([Y, Y])[:pairs]
    problem = learning_problem(Linear(), X[:pairs], outputs)
    found = [RelevantColumns(each=each).fit(problem) for each in (False, True)]
    assert np.array_equal(found[0].points(X), found[1].points(X))


def test_rankings_have_widths():
    ranks = np.argsort(np.column_stack([X[:, 0], -X[:, 0], np.zeros(24)]), axis=1)
    problem = learning_problem(Linear(), X, ranks, Kemeny(), Distinct())
    fitted = RelevantColumns().fit(problem)
    assert fitted.attributes["widths_"][1:].min() > 2 * fitted.attributes["widths_"][0]


@pytest.mark.parametrize("outputs", [np.ones((24, 1)), Y])
@pytest.mark.parametrize("shape", ["Gaussian", "Laplacian"])
def test_constants(outputs, shape):
    inputs = np.ones((24, 2)) if outputs is Y else X
    fitted = RelevantColumns(shape=shape).fit(learning_problem(Linear(), inputs, outputs))
    assert np.allclose(fitted.points(inputs), outputs.mean(axis=0))


def test_many_pairs_are_drawn_from():
    inputs = rng.standard_normal((500, 2))
    process = Process.of(inputs, inputs[:, :1], None, "Gaussian")
    assert process.rows.shape == (400, 2)


def test_auto_estimator_learns_which_columns_matter():
    draws = np.random.default_rng(0)  # of its own: the tests before may be others
    inputs = draws.uniform(-1, 1, (120, 12))
    y = np.sin(4 * inputs[:100, 3]) + 0.05 * draws.standard_normal(100)
    model = AutoEstimator(random_state=0).fit(inputs[:100], y)
    assert model.leaderboard_[0].learner.startswith(("widths by column", "learned metric"))
    assert any(entry.learner.startswith("widths by column") for entry in model.leaderboard_[:6])
    assert np.mean((model.predict(inputs[100:]) - np.sin(4 * inputs[100:, 3])) ** 2) < 0.02


@pytest.mark.parametrize(
    ("parameters", "message"), [({"shape": "square"}, "shape='square'"), ({"iterations": 0}, "iterations=0")]
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        RelevantColumns(**parameters)


def test_objects_have_no_columns():
    with pytest.raises(ValueError, match="the inputs are objects for Spectrum"):
        RelevantColumns().fit(learning_problem(Spectrum(2), ["abc", "abd", "bcd"], np.eye(3)))


def test_outputs_without_features():
    problem = learning_problem(Linear(), X, Y, Gaussian(1.0), Distinct())
    with pytest.raises(ValueError, match="outputs of at most 200 features"):
        RelevantColumns().fit(problem)
