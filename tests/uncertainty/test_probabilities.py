"""Probabilities that sum to one, are calibrated where that helps, and a curve of risk that falls with doubt."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.metrics import log_loss

import mercer
from mercer import DependencyEstimator, NeighborsEstimator, OperatorValuedRidge
from mercer.kernels import Classes, Gaussian, Kemeny, LabelSets, Overlap, Subsequence
from mercer.losses import ZeroOne
from mercer.uncertainty.probabilities import ProbabilityMap

K = Gaussian(1.0)


def classes(n, seed, names=("ash", "birch", "cedar", "fir")):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, n)
    centres = np.array([[0, 0], [2, 0], [0, 2], [2, 2]])
    return centres[y] + 0.85 * rng.normal(size=(n, 2)), np.array(names, dtype=object)[y]


def sets(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    Y = (X @ rng.normal(size=(2, 3)) + 0.5 * rng.normal(size=(n, 3)) > 0.3).astype(int)
    return X, Y


@pytest.mark.parametrize("model", [DependencyEstimator(K, Classes()), NeighborsEstimator(K, Classes(), k=7)])
def test_class_probabilities_are_those_of_the_weights_and_lower_the_log_loss(model):
    X, y = classes(500, 0)
    model = clone(model).fit(X[:200], y[:200])
    assert model.classes_.tolist() == ["ash", "birch", "cedar", "fir"]
    found = model.predict_proba(X[200:])
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    weights = model.decision_weights(X[200:])
    shares = np.stack([weights[:, y[:200] == name].sum(axis=1) for name in model.classes_], axis=1)
    ordered = np.maximum(shares, 0)
    assert ((np.diff(np.take_along_axis(found, np.argsort(ordered, axis=1), axis=1), axis=1)) >= -1e-12).all()
    right = y[200:, None] == model.classes_
    assert np.log(found[right]).mean() > np.log(np.maximum(ProbabilityMap()(shares)[right], 1e-6)).mean()
    sure = found.max(axis=1)
    right = model.classes_[found.argmax(axis=1)] == y[200:]
    assert abs(sure.mean() - right.mean()) < 0.06
    np.testing.assert_allclose(np.vstack([model.predict_proba(x[None]) for x in X[200:210]]), found[:10], atol=1e-9)


def test_the_map_is_the_best_of_its_kind_on_pairs_that_were_not_trained_on():
    X, y = classes(200, 1)
    model = DependencyEstimator(K, Classes(), alpha=3.0).fit(X, y)
    right = y[:, None] == model.classes_
    shares = model._class_shares(model.map_.left_out_points())

    def loss(power, floor):
        return -np.log(ProbabilityMap(power, floor)(shares)[right]).mean()

    chosen = model._class_map_
    best = loss(chosen.power, chosen.floor)
    assert all(best <= loss(p, f) + 1e-6 for p in np.logspace(-1, 1, 15) for f in np.logspace(-6, 0, 13))
    model.calibrate(*classes(100, 2))
    assert model._class_map_ != chosen


def test_a_map_that_helps_nothing_is_not_used():
    shares = np.tile([[0.75, 0.25]], (40, 1))
    right = np.zeros((40, 2))
    right[np.arange(40), [0, 0, 0, 1] * 10] = 1
    found = ProbabilityMap.fitted(shares, right)(shares)
    np.testing.assert_allclose(found, shares, atol=1e-4)
    np.testing.assert_array_equal(ProbabilityMap()(np.array([[-1.0, -2.0]])), [[0.5, 0.5]])
    assert ProbabilityMap.fitted(shares, np.zeros((40, 2))) == ProbabilityMap()


@pytest.mark.parametrize("kernel", [LabelSets(), Overlap()], ids=repr)
@pytest.mark.parametrize("form", ["rows", "sets", "sparse"])
def test_label_probabilities_agree_for_every_form_of_label_sets(kernel, form):
    X, Y = sets(260, 3)
    model = DependencyEstimator(K, kernel, alpha=1.0).fit(X[:160], Y[:160])
    expected = model.label_probabilities(X[160:])
    outputs = {"rows": Y, "sparse": csr_array(Y), "sets": [frozenset(np.flatnonzero(row).tolist()) for row in Y]}[form]
    model = DependencyEstimator(K, kernel, alpha=1.0).fit(X[:160], outputs[:160])
    order = np.argsort(model.labels_.astype(int))
    np.testing.assert_allclose(model.label_probabilities(X[160:])[:, order], expected, atol=1e-4)
    assert ((expected >= 0) & (expected <= 1)).all()
    uniform = log_loss(Y[160:].ravel(), np.full(300, Y[:160].mean()))
    assert log_loss(Y[160:].ravel(), np.clip(expected, 1e-9, 1 - 1e-9).ravel()) < 0.7 * uniform
    whole = model.predict_proba(X[160:])
    assert whole.shape == (100, len(np.unique(Y[:160], axis=0)))
    np.testing.assert_allclose(whole.sum(axis=1), 1.0)


def test_other_objects_have_probabilities_too():
    words = ["abab", "abba", "baab", "bbaa"] * 4
    strings = DependencyEstimator(Subsequence(2), Subsequence(2), alpha=0.1).fit(words, [word[::-1] for word in words])
    assert strings.predict_proba(["abab"]).shape == (1, 4)
    orders = DependencyEstimator(K, Kemeny(), alpha=0.1).fit(np.eye(4), np.argsort(np.eye(4)[:, :3], axis=1))
    assert orders.predict_proba(np.eye(4)).shape == (4, len(orders.classes_))
    with pytest.raises(ValueError, match="the outputs are not label sets .* use predict_proba"):
        strings.label_probabilities(["abab"])
    assert strings.calibration_ is None or strings.calibration_.unlisted >= 0


def test_vectors_have_no_classes():
    X, Y = np.eye(6), np.arange(6.0)
    for model in (DependencyEstimator(alpha=0.1), OperatorValuedRidge(alpha=0.1)):
        assert not hasattr(model, "predict_proba")
        model.fit(X, Y)
        assert not hasattr(model, "predict_proba")
        assert not hasattr(model, "classes_")
    assert hasattr(DependencyEstimator(K, Classes()), "predict_proba")


def test_the_curve_of_risk_is_that_of_its_definition():
    X, y = classes(400, 4)
    model = DependencyEstimator(K, Classes(), alpha=1.0, loss=ZeroOne()).fit(X[:200], y[:200])
    coverage, risk = found = model.risk_coverage_curve(X[200:], y[200:])
    doubt, wrong = model.abstention_score(X[200:]), model.predict(X[200:]) != y[200:]
    for share in (0.25, 0.5, 1.0):
        place = round(share * 200) - 1
        assert coverage[place] == share
        low = np.sort(doubt)[place]
        surest, tied = doubt < low - 1e-9, np.abs(doubt - low) < 1e-9
        expected = (wrong[surest].sum() + wrong[tied].mean() * (place + 1 - surest.sum())) / (place + 1)
        assert risk[place] == pytest.approx(expected)
    assert risk[-1] == pytest.approx(-model.score(X[200:], y[200:]))
    assert found.area < risk[-1]
    order = np.random.default_rng(0).permutation(200)
    np.testing.assert_allclose(model.risk_coverage_curve(X[200:][order], y[200:][order]).risk, risk, atol=1e-12)
    with pytest.raises(ValueError, match="X has 200 objects and y has 3"):
        model.risk_coverage_curve(X[200:], y[:3])


def test_right_answers_that_are_not_candidates_are_counted():
    X, y = classes(60, 5)
    y[50] = "yew"
    model = DependencyEstimator(K, Classes(), alpha=1.0).fit(X[:40], y[:40]).calibrate(X[40:], y[40:])
    assert model.calibration_.unlisted == 1
    assert model.predict_proba(X[40:]).shape == (20, 4)


def test_models_with_probabilities_can_be_saved(tmp_path):
    X, y = classes(60, 6)
    model = DependencyEstimator(K, Classes(), alpha=1.0).fit(X, y)
    expected = model.predict_proba(X)
    mercer.save(model, tmp_path / "model.mercer")
    np.testing.assert_allclose(mercer.load(tmp_path / "model.mercer").predict_proba(X), expected)


def test_the_automatic_estimator_has_probabilities():
    X, y = classes(120, 7)
    assert hasattr(mercer.AutoEstimator(), "predict_proba")
    model = mercer.AutoEstimator(effort="fast", random_state=0).fit(X[:80], y[:80])
    found = model.predict_proba(X[80:])
    assert (model.classes_[found.argmax(axis=1)] == y[80:]).mean() > 0.6
    assert model.risk_coverage_curve(X[80:], y[80:]).risk.shape == (40,)
    numbers = mercer.AutoEstimator(effort="fast", random_state=0).fit(X[:80], X[:80, 0] + 0.5)
    assert not hasattr(numbers, "predict_proba")
