import numpy as np
import pytest

from experiments.papers import entangled_methods as methods
from experiments.papers.entangled_simulated import WAYS, conditional_mean, draw
from experiments.protocol import Split
from experiments.registry import experiment
from experiments.runner import reproduce
from mercer.datasets import store
from mercer.estimators import EntangledRidge, OperatorValuedRidge, OutputKernelLearning
from mercer.kernels import Gaussian, Precomputed
from mercer.operators import Separable


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((14, 3))
    Y = np.sin(X @ rng.standard_normal((3, 4))) + 0.1 * rng.standard_normal((14, 4))
    return Gaussian(2.0)(X), Y, np.arange(10), np.arange(10, 14)


def test_independent_path_is_ridge_around_the_mean(problem):
    gram, Y, train, held = problem
    path = methods.independent_path(*problem)
    mean = Y[train].mean(axis=0)
    for alpha, predicted in zip(methods.ALPHAS, path, strict=True):
        model = OperatorValuedRidge(Separable(Precomputed(gram)), alpha=float(alpha), fit_intercept=False)
        model.fit(train, Y[train] - mean)
        np.testing.assert_allclose(predicted, model.predict(held) + mean, atol=1e-9)


def test_covariance_path_is_the_separable_ridge_with_the_covariance(problem):
    gram, Y, train, held = problem
    targets = Y[train] - Y[train].mean(axis=0)
    T = targets.T @ targets
    T /= np.mean(np.linalg.eigvalsh(T))
    alpha = float(methods.ALPHAS[5])
    model = OperatorValuedRidge(Separable(Precomputed(gram), T), alpha=alpha, fit_intercept=False)
    expected = model.fit(train, targets).predict(held) + Y[train].mean(axis=0)
    np.testing.assert_allclose(methods.covariance_path(*problem)[5], expected, atol=1e-9)


def test_output_kernel_path_does_not_depend_on_the_unit_of_the_outputs(problem):
    gram, Y, train, held = problem
    path = methods.output_kernel_path(*problem)
    np.testing.assert_allclose(methods.output_kernel_path(gram, 100 * Y, train, held), 100 * path, rtol=1e-6)
    mean = Y[train].mean(axis=0)
    alpha = float(methods.ALPHAS[4] * np.linalg.norm(Y[train] - mean, 2) ** (2 / 3))
    model = OutputKernelLearning(Precomputed(gram), alpha=alpha, tol=1e-4, fit_intercept=False)
    np.testing.assert_allclose(path[4], model.fit(train, Y[train] - mean).predict(held) + mean)


@pytest.mark.parametrize(("place", "mode"), [(0, "entangled"), (1, "partial-trace")])
def test_entangled_pair_is_the_estimator_at_every_ridge(problem, place, mode):
    gram, Y, train, held = problem
    train = train[np.lexsort(Y[train].T[::-1])]  # the order in which the estimator chooses its pivots
    ascent = methods.Ascent(rank=6, gamma=0.4, steps=7)
    path = methods.entangled_pairs(gram, Y, Split(train, held), [ascent], seed=3)[0][place]
    mean = Y[train].mean(axis=0)
    for alpha, predicted in list(zip(methods.ALPHAS, path, strict=True))[::5]:
        model = EntangledRidge(Precomputed(gram), mode=mode, alpha=float(alpha), fit_intercept=False)
        model.set_params(kraus_rank=6, gamma=0.4, max_iter=7, random_state=3)
        centred = model.fit(train, Y[train] - mean).predict(held)
        np.testing.assert_allclose(predicted, centred + mean, atol=1e-8)


def test_measures_are_those_of_the_kernel_that_predicts(problem):
    gram, Y, train, _ = problem
    measured = methods.measures(gram, Y, train, methods.Ascent(rank=6, gamma=0.4, steps=7), seed=3)
    assert measured["kraus_rank"] == 6
    assert measured["is_entangled"] == 1.0
    assert 0 < measured["asymmetry"] < measured["product_distance"] < 1
    assert set(measured) == set(methods.MEASURES)


def test_inner_errors_are_those_of_each_left_out_sample(problem):
    gram, Y, train, _ = problem
    errors = methods.inner_errors(methods.independent_path, [gram], Y, train, seed=5)
    order = np.random.default_rng(5).permutation(train)
    others = np.setdiff1d(train, order[:1])
    predicted = methods.independent_path(gram, Y, others, order[:1])
    np.testing.assert_allclose(errors[0, :, 0], np.sum((predicted - Y[order[:1]]) ** 2, axis=(1, 2)))
    assert methods.least(errors.sum(axis=2)) == methods.chosen(methods.independent_path, [gram], Y, train, seed=5)


def test_the_choice_never_sees_the_test_outputs(problem):
    gram, Y, train, held = problem
    changed = Y.copy()
    changed[held] += 100.0
    for path in (methods.covariance_path, *methods.entangled_paths(methods.ASCENTS[:2], seed=0)):
        before = methods.nested(path, [gram, gram**2], Y, Split(train, held), seed=1)
        after = methods.nested(path, [gram, gram**2], changed, Split(train, held), seed=1)
        np.testing.assert_array_equal(before[0], after[0])
        assert before[1] == after[1]


def test_the_choice_has_the_least_error_over_the_folds(problem):
    gram, Y, train, _ = problem
    wrong = Y[None] + np.array([0.5, 0.1, 0.3])[:, None, None]

    def path(gram, outputs, train, held):
        return wrong[:, held] * gram[0, 0]

    assert methods.chosen(path, [2 * gram, gram], Y, train, seed=0) == (1, 1)


@pytest.mark.parametrize("way", list(WAYS))
def test_simulated_outputs_follow_the_model(way):
    K, A, mixing, Y = draw(way, 12, 4, seed=1)
    assert np.std(Y) == pytest.approx(1.0)
    assert np.linalg.eigvalsh(A).min() > -1e-9
    assert np.trace(A) == pytest.approx(12)
    # block (i, j) is (A_ij T + K_ij I) / s: T and s from one block say what all the others are
    blocks = mixing.reshape(12, 4, 12, 4).transpose(0, 2, 1, 3)
    scale = 4 * (A[0, 0] + K[0, 0]) / np.trace(blocks[0, 0])
    T = (scale * blocks[0, 0] - K[0, 0] * np.eye(4)) / A[0, 0]
    assert np.linalg.matrix_rank(T, tol=1e-8) == 2
    np.testing.assert_allclose(scale * blocks, A[:, :, None, None] * T + K[:, :, None, None] * np.eye(4), atol=1e-9)


def test_best_prediction_is_the_conditional_mean_of_the_normal_distribution():
    _, _, mixing, Y = draw("one input", 12, 3, seed=1)
    covariance = mixing @ mixing.T
    expected = covariance[15:, :15] @ np.linalg.solve(covariance[:15, :15] + 0.25 * np.eye(15), Y[:5].ravel())
    np.testing.assert_allclose(conditional_mean(mixing, Y[:5], 0.5).ravel(), expected, atol=1e-6)


def small(name, folder):
    chosen = experiment(name)
    first, second = (reproduce(chosen, folder / part, small=True) for part in "ab")
    assert first.rows == second.rows
    assert '<figure class="lines">' in (folder / "a" / f"{name}.html").read_text(encoding="utf-8")
    return chosen, first.rows


def test_small_simulated(tmp_path):
    chosen, rows = small("entangled-simulated", tmp_path)
    scores = {(row["method"], row["A"], row["n"], row["p"]): row["value"] for row in rows if row["metric"] == "MSE"}
    # outputs have unit variance, and knowing the model is better than learning it
    for (method, way, n, p), value in scores.items():
        assert 0 < value < 1
        assert method == "A and T known" or scores["A and T known", way, n, p] < value
    assert sum("knowing A and T would gain" in note for note in chosen.notes(rows)) == 2


@pytest.mark.data
def test_small_weather(tmp_path):
    if store.data_folder() is None or not (store.data_folder() / "canadian_weather").is_dir():
        pytest.skip("needs the weather: set MERCER_DATA to a folder that holds canadian_weather/")
    chosen, rows = small("entangled-weather", tmp_path)
    scores = {
        (row["method"], row["n"]): row["value"]
        for row in rows
        if row["outputs"] == "log10 mm" and row["metric"] == "nMSE"
    }
    assert scores["smoothing operator", 10] < scores["KRR", 10] < 1.0
    assert all(0.3 < value < 2.0 for value in scores.values())
    assert len([row for row in rows if "paper" in row]) == 2
    assert "reading of the poster" in chosen.notes(rows)[0]


@pytest.mark.data
def test_small_poster(tmp_path):
    if store.data_folder() is None or not (store.data_folder() / "canadian_weather").is_dir():
        pytest.skip("needs the weather: set MERCER_DATA to a folder that holds canadian_weather/")
    chosen, rows = small("entangled-poster", tmp_path)
    scores = {(row["method"], row["metric"], row["choice"]): row["value"] for row in rows}
    for method in ("KRR", "OKL", "EKL", "ptrEKL"):
        # the choice by the test stations bounds the others
        assert scores[method, "nMSE", "on the test stations"] <= scores[method, "nMSE", "inner folds"] + 1e-12
    assert scores["EKL or ptrEKL", "nMSE", "on the test stations"] <= min(
        scores[method, "nMSE", "on the test stations"] for method in ("EKL", "ptrEKL")
    )
    assert sum("poster" in note for note in chosen.notes(rows)) == 1


@pytest.mark.data
def test_small_gait(tmp_path):
    if store.data_folder() is None or not (store.data_folder() / "functional").is_dir():
        pytest.skip("needs the gait curves: set MERCER_DATA to a folder that holds functional/")
    chosen = experiment("gait")
    first, second = (reproduce(chosen, tmp_path / part, small=True) for part in "ab")
    assert first.rows == second.rows
    scores = {row["method"]: row["value"] for row in first.rows}
    assert scores["linear kernel, smoothing operator"] < 0.9 * scores["mean curve"]
    assert (tmp_path / "a" / "gait.html").read_text(encoding="utf-8").count('<figure class="lines">') == 4


@pytest.mark.data
def test_small_steps(tmp_path):
    if store.data_folder() is None or not (store.data_folder() / "canadian_weather").is_dir():
        pytest.skip("needs the weather: set MERCER_DATA to a folder that holds canadian_weather/")
    chosen, rows = small("entangled-steps", tmp_path)
    scores = {(row["method"], row["metric"], row["steps"]): row["value"] for row in rows}
    assert scores["EKL", "nMSE", 10] < scores["EKL", "nMSE", 100]
    assert all(0 < scores["EKL", "distance to the nearest separable kernel", steps] < 1 for steps in (10, 40, 100))
    assert len(chosen.notes(rows)) == 3
