"""Answers that say how sure they are: coverage as promised, abstention that helps, parts that add up."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.svm import SVR
from threadpoolctl import threadpool_limits

import mercer
from mercer import DependencyEstimator, NeighborsEstimator, OperatorValuedRidge
from mercer.core.arrays import NumericalWarning
from mercer.embeddings import PrincipalComponents
from mercer.kernels import (
    Classes,
    Gaussian,
    Kemeny,
    LabelSets,
    Linear,
    Positions,
    Precomputed,
    Spectrum,
    Subsequence,
    WeightedDegree,
)
from mercer.losses import CostMatrix, EditDistance, ZeroOne
from mercer.operators import Covariance
from mercer.report import explanation_gallery, explanation_html, explanation_table
from mercer.report.explained import brief
from mercer.solvers import LowRank
from mercer.uncertainty import PredictionSet
from mercer.uncertainty.conformal import HELD_OUT, LEFT_OUT, Calibration

WORDS = ["abab", "abba", "baab", "bbaa", "aabb", "baba", "abaa", "bbab", "aaab", "babb", "abbb", "baaa"]


def classes(n, seed, spread=1.2):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, n)
    centres = np.array([[0, 0], [2, 0], [0, 2], [2, 2]])
    return centres[y] + spread * rng.normal(size=(n, 2)) / np.sqrt(2), y


def holds(sets, y):
    return np.array([truth in found.objects.tolist() for found, truth in zip(sets, y, strict=True)])


@pytest.mark.parametrize("held_out", [True, False], ids=["held out", "left out"])
@pytest.mark.parametrize("coverage", [0.8, 0.9])
def test_coverage_over_fifty_splits_is_as_promised(held_out, coverage):
    """The mean over 50 splits is within 2 points of nominal (its standard error is about half a point)."""
    found = []
    for seed in range(50):
        X, y = classes(420, seed)
        model = DependencyEstimator(Gaussian(1.0), Classes(), alpha=1.0)
        with threadpool_limits(1):
            if held_out:
                model.fit(X[:100], y[:100]).calibrate(X[100:220], y[100:220])
            else:
                model.fit(X[:220], y[:220])
            found.append(holds(model.predict_set(X[220:], coverage), y[220:]).mean())
        assert model.calibration_.source == (HELD_OUT if held_out else LEFT_OUT)
    assert abs(np.mean(found) - coverage) < 0.02


def test_jackknife_sets_are_those_of_refitting_without_each_pair():
    X, y = classes(22, 4)
    for loss, kernel, outputs in ((None, Classes(), y), (ZeroOne(), Gaussian(1.0), np.eye(4)[y])):
        model = DependencyEstimator(Gaussian(1.0), kernel, alpha=0.3, loss=loss)
        model.fit(X[:18], outputs[:18])
        candidates = np.unique(outputs, axis=0)
        agree = np.zeros((4, len(candidates)))
        for i in range(18):
            rest = np.arange(18) != i
            other = clone(model).fit(X[:18][rest], outputs[:18][rest])
            own = other.calibrate(X[i : i + 1], outputs[i : i + 1]).calibration_.scores[0]
            for j in range(len(candidates)):
                each = candidates[[j] * 4]
                agree[:, j] += own >= other.calibrate(X[18:], each).calibration_.scores
        for coverage in (0.3, 0.7, 0.9):
            sets = model.predict_set(X[18:], coverage, candidates=candidates, method="jackknife+")
            for found, counts in zip(sets, agree, strict=True):
                expected = candidates[(1 + counts) / 19 > 1 - coverage]
                assert sorted(map(str, found.objects)) == sorted(map(str, expected))
                assert (np.diff(found.scores) <= 0).all()


@pytest.mark.parametrize("kernel", [Positions(), WeightedDegree(2), Spectrum(2)], ids=repr)
def test_sets_hold_training_outputs_where_any_string_can_be_an_answer(kernel):
    rng = np.random.default_rng(2)
    X = ["".join(rng.choice(list("abcdefgh"), 12)) for _ in range(40)]  # 8¹² strings are not to be gone through
    y = [x.upper() for x in X[:8]] * 5
    model = DependencyEstimator(Positions(), kernel, alpha=0.5).fit(X, y)
    assert model.decoder_.constructs
    sets = model.predict_set(X, 0.5)
    assert all(set(found.objects.tolist()) <= set(y) for found in sets)
    assert max(len(found.objects) for found in sets) > 0
    assert model.rank(X[:1], 30)[0].objects[0] == model.predict(X[:1])[0]


def test_the_jackknife_covers_too():
    found = []
    for seed in range(20):
        X, y = classes(320, seed)
        with threadpool_limits(1):
            model = DependencyEstimator(Gaussian(1.0), Classes(), alpha=1.0).fit(X[:120], y[:120])
            found.append(holds(model.predict_set(X[120:], 0.9, method="jackknife+"), y[120:]).mean())
    assert abs(np.mean(found) - 0.9) < 0.02


def test_more_coverage_means_larger_sets_that_hold_the_smaller_ones():
    X, y = classes(300, 0)
    model = DependencyEstimator(Gaussian(1.0), Classes(), alpha=1.0).fit(X[:200], y[:200])
    few, many = model.predict_set(X[200:], 0.7), model.predict_set(X[200:], 0.97)
    assert np.mean([len(s.objects) for s in few]) < np.mean([len(s.objects) for s in many])
    for small, large, ranked in zip(few, many, model.rank(X[200:], k=4), strict=True):
        assert large.objects.tolist() == ranked.objects[: len(large.objects)].tolist()
        assert small.objects.tolist() == large.objects[: len(small.objects)].tolist()


def test_the_threshold_is_the_order_statistic_of_the_definition():
    scores = np.random.default_rng(0).permutation(np.arange(1.0, 100.0))  # 1 to 99
    calibration = Calibration(scores, np.ones(99, dtype=bool), HELD_OUT)
    assert calibration.threshold(0.9) == 90.0
    assert calibration.threshold(0.901) == 91.0
    assert calibration.threshold(0.99) == 99.0
    assert calibration.threshold(0.995) == np.inf
    assert calibration.p_values(np.array([90.0, 90.5, 0.0, 99.5])).tolist() == [0.11, 0.10, 1.0, 0.01]


def tied(n, seed, kinds=3):
    """Pairs whose inputs take few values, so that many scores tie exactly."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, kinds, n)
    return (y[:, None] + rng.integers(-1, 2, (n, 1))).astype(float), y


LETTERS = np.array(["ab", "ba", "bb"], dtype=object)
CORNERS = np.array([[0.0, 0.0], [1.0, 0.3], [0.2, 1.0]])
IN_TIES = {
    "classes": (DependencyEstimator(Gaussian(1.0), Classes(), alpha=0.1), lambda y: y),
    "classes, expected loss": (DependencyEstimator(Gaussian(1.0), Classes(), alpha=0.1, loss=ZeroOne()), lambda y: y),
    "strings": (DependencyEstimator(Gaussian(1.0), Subsequence(2), alpha=0.1), lambda y: LETTERS[y]),
    "strings, expected loss": (
        DependencyEstimator(Gaussian(1.0), Subsequence(2), alpha=0.1, loss=EditDistance()),
        lambda y: LETTERS[y],
    ),
    "vectors": (DependencyEstimator(Gaussian(1.0), Linear(), alpha=0.1), lambda y: CORNERS[y]),
    "neighbours": (NeighborsEstimator(Gaussian(1.0), Classes(), k=5), lambda y: y),
}


def alike(found, expected):
    assert [item.objects.tolist() for item in found] == [item.objects.tolist() for item in expected]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.scores, other.scores, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", IN_TIES)
@pytest.mark.parametrize("held_out", [True, False], ids=["held out", "left out"])
def test_a_batch_has_the_sets_and_scores_of_its_rows(name, held_out):
    for seed in range(6):
        (X, y), (model, outputs) = tied(100, seed), IN_TIES[name]
        model = clone(model).fit(X[:40], outputs(y[:40]))
        if held_out:
            model.calibrate(X[40:70], outputs(y[40:70]))
        new, order = X[70:], np.random.default_rng(seed).permutation(30)
        rows = [new[i : i + 1] for i in range(30)]
        for options in ({}, {"candidates": outputs(np.arange(3))}, {"method": "jackknife+"}):
            if options.get("method") and name == "neighbours":
                continue
            sets = model.predict_set(new, 0.8, **options)
            alike([model.predict_set(row, 0.8, **options)[0] for row in rows], sets)
            alike(model.predict_set(new[order], 0.8, **options), [sets[i] for i in order])
        scores = model.abstention_score(new)
        np.testing.assert_allclose(np.concatenate([model.abstention_score(row) for row in rows]), scores, atol=1e-12)
        np.testing.assert_allclose(model.abstention_score(new[order]), scores[order], atol=1e-12)


@pytest.mark.parametrize("name", ["classes", "classes, expected loss", "strings"])
def test_coverage_does_not_depend_on_the_batch(name):
    """Scores that tie with the threshold count as covered, whatever their last bit: exchangeable pairs, 40 models."""
    alone, together = [], []
    for seed in range(40):
        (X, y), (model, outputs) = tied(120, seed), IN_TIES[name]
        model = clone(model).fit(X[:40], outputs(y[:40])).calibrate(X[40:80], outputs(y[40:80]))
        rows = [model.predict_set(X[i : i + 1], 0.9)[0] for i in range(80, 120)]
        alone.append(holds(rows, outputs(y[80:])).mean())
        together.append(holds(model.predict_set(X[80:], 0.9), outputs(y[80:])).mean())
    assert alone == together
    assert np.mean(alone) > 0.9


def test_scores_within_the_slack_tie():
    scores, listed = np.array([0.1, 0.2, 0.3]), np.ones(3, dtype=bool)
    calibration = Calibration(scores, listed, HELD_OUT, slack=1e-9)
    assert calibration.threshold(0.5) == 0.2 + 1e-9
    assert calibration.p_values(np.array([0.2 + 1e-12, 0.2 - 1e-12, 0.2 + 1e-6])).tolist() == [0.75, 0.75, 0.5]


def test_the_slack_follows_the_size_of_the_outputs():
    X, y = classes(40, 0)
    found = []
    for size in (1.0, 1e6):
        model = DependencyEstimator(Gaussian(1.0), Linear(), alpha=0.1).fit(X, size * CORNERS[y % 3])
        model.abstention_score(X)
        found.append(model.calibration_.slack)
    assert 0 < found[0] < 1e-8
    assert found[1] == pytest.approx(1e12 * found[0])


def test_left_out_scores_are_those_of_refitting():
    X, y = classes(25, 3)
    for model in (
        DependencyEstimator(Gaussian(1.0), Classes(), alpha=0.3),
        DependencyEstimator(Gaussian(1.0), Classes(), alpha=0.3, loss=ZeroOne()),
        NeighborsEstimator(Gaussian(1.0), Classes(), k=3),
    ):
        model.fit(X, y).predict_set(X[:1])
        for i in range(0, 25, 4):
            rest = np.arange(25) != i
            other = clone(model).fit(X[rest], y[rest]).calibrate(X[[i]], y[[i]])
            np.testing.assert_allclose(other.calibration_.scores, model.calibration_.scores[[i]], atol=1e-9)
            assert other.calibration_.listed.tolist() == model.calibration_.listed[[i]].tolist()


@pytest.mark.filterwarnings("ignore::mercer.NumericalWarning")
@pytest.mark.parametrize(
    ("model", "X", "y"),
    [
        (DependencyEstimator(Gaussian(1.0), Classes(), Covariance()), *classes(30, 1)),
        (DependencyEstimator(Gaussian(1.0), Gaussian(1.0), embedding=PrincipalComponents()), *classes(30, 1)[:1] * 2),
        (DependencyEstimator(Gaussian(1.0), Classes(), solver=LowRank(rank=10)), *classes(30, 1)),
        (DependencyEstimator(Subsequence(2), Subsequence(2), loss=EditDistance()), WORDS, WORDS[::-1]),
        (DependencyEstimator(Subsequence(2), LabelSets(), alpha=0.1), WORDS, [set(w[:2]) for w in WORDS]),
        (DependencyEstimator(Gaussian(1.0), Kemeny()), np.eye(6), [[0, 1, 2], [1, 0, 2]] * 3),
        (DependencyEstimator(Precomputed(), Classes(), alpha=0.1), np.eye(6), list("ababab")),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_kind_of_model_gives_sets_abstains_and_explains(tmp_path, model, X, y):
    model.fit(X, y)
    assert len(model.predict_set(X, 0.8)) == len(X)
    abstain = model.abstention_score(X)
    assert abstain.shape == (len(X),)
    assert ((abstain >= 0) & (abstain <= 1)).all()
    explanation = model.explain(X[1], k=3)
    weights = model.decision_weights(X[1:2])[0]
    for one in explanation.carriers:
        assert one.weight == pytest.approx(weights[one.position])
    assert sum(abs(one.share) for one in explanation.carriers) + explanation.rest == pytest.approx(1.0)
    assert (explanation.carriers[0].input is None) == model.input_kernel_.pairwise
    pytest.importorskip("skops", reason="skops is not installed")
    loaded = mercer.load(mercer.save(model, tmp_path / "model"))
    assert np.array_equal(loaded.abstention_score(X), abstain)


def test_dropping_the_most_uncertain_raises_accuracy():
    X, y = classes(800, 5)
    model = DependencyEstimator(Gaussian(1.0), Classes(), alpha=1.0).fit(X[:200], y[:200])
    right = model.predict(X[200:]) == y[200:]
    order = np.argsort(model.abstention_score(X[200:]))
    shares = [right[order[: int(600 * share)]].mean() for share in (1.0, 0.75, 0.5)]
    assert shares[0] + 0.05 < shares[1] < shares[2]


EXPECTED_LOSSES = [(ZeroOne(), Classes()), (CostMatrix([0, 1, 2, 3], 5.0 * (1 - np.eye(4))), Classes())]


@pytest.mark.parametrize(("loss", "kernel"), EXPECTED_LOSSES)
@pytest.mark.parametrize("alpha", [0.1, 10.0])
def test_under_an_expected_loss_too_nothing_is_sure_where_nothing_is_known(loss, kernel, alpha):
    X, y = classes(800, 5)
    model = DependencyEstimator(Gaussian(1.0), kernel, alpha=alpha, loss=loss).fit(X[:200], y[:200])
    inside, outside = model.abstention_score(X[200:]), model.abstention_score(X[:20] + 50.0)
    np.testing.assert_allclose(outside, 1.0, atol=1e-9)
    np.testing.assert_allclose(model.abstention_score(X[:20] + 50.0, candidates=[0, 1]), 1.0, atol=1e-9)
    plain = 1 - model.calibration_.p_values(model.decoder_.objective(model._points_of(X[200:]), model.predict(X[200:])))
    support = model.decoder_.support(model._points_of(X[200:]), model.map_.origin)
    usual = support >= np.quantile(model.calibration_.support, 0.05)
    np.testing.assert_array_equal(inside[usual], plain[usual])
    assert 0.85 < usual.mean() < 1
    assert (inside[~usual] > plain[~usual]).all()
    wrong = model.predict(X[200:]) != y[200:]
    assert roc_auc_score(wrong, inside) > max(0.7, roc_auc_score(wrong, plain) - 0.01)
    # from far away to the middle of a class
    path = model.abstention_score(np.linspace(8.0, 0.0, 9)[:, None] * [1.0, 0.0])
    assert path[0] > 0.99
    assert path[-1] < 0.7


def test_strings_that_share_nothing_with_those_trained_on_are_left_to_someone_else():
    model = DependencyEstimator(Subsequence(2).normalized(), Subsequence(2), alpha=0.1, loss=EditDistance())
    model.fit(WORDS, WORDS[::-1])
    assert model.abstention_score(["cdcd", "dd"]).tolist() == [1.0, 1.0]
    assert model.abstention_score(WORDS).max() < 1
    model.calibrate(WORDS[:6], WORDS[5::-1])
    assert model.abstention_score(["cdcd"]).tolist() == [1.0]


def test_the_share_of_weight_is_of_what_calibration_inputs_have():
    scores, listed = np.arange(21.0), np.ones(21, dtype=bool)
    calibration = Calibration(scores, listed, HELD_OUT, np.append(np.linspace(0.5, 1.2, 20), 0.0))  # 5% below 0.5
    np.testing.assert_allclose(calibration.backed(np.array([0.7, 0.5, 0.25, 0.0, -0.1])), [1.0, 1.0, 0.5, 0.0, 0.0])
    without = Calibration(scores, listed, HELD_OUT, np.zeros(21))
    assert without.backed(np.array([0.1, 0.0])).tolist() == [1.0, 0.0]


def test_the_abstention_score_is_a_p_value_of_the_prediction():
    X, y = classes(120, 6)
    model = DependencyEstimator(Gaussian(1.0), Classes(), alpha=1.0).fit(X[:80], y[:80])
    found = model.abstention_score(X[80:])
    best = np.array([ranked.scores[0] for ranked in model.rank(X[80:], k=1)])
    right = model.calibration_.scores
    expected = 1 - (1 + (right[None, :] >= -best[:, None] - 1e-12).sum(axis=1)) / 81
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_allclose(model.abstention_score(X[80:], candidates=[0, 1, 2, 3]), found, atol=1e-12)


def test_the_parts_are_those_of_the_score():
    X, y = classes(40, 2)
    model = DependencyEstimator(Gaussian(1.0), Classes(), alpha=0.5).fit(X, y)
    explanation = model.explain(X[3], k=40)
    assert explanation.prediction == model.predict(X[3:4])[0]
    assert explanation.rest == 0
    parts = {one.position: one.weight * one.similarity for one in explanation.carriers}
    score = model.rank(X[3:4], k=1)[0].scores[0]
    np.testing.assert_allclose(2 * sum(parts.values()) - 0.5, score)  # 2⟨h, ψ(y)⟩ − l(y, y)
    assert [one.position for one in explanation.carriers] == sorted(parts, key=lambda j: -abs(parts[j]))
    np.testing.assert_array_equal(explanation.carriers[0].input, X[explanation.carriers[0].position])


def test_explanations_show_as_text_table_picture_and_gallery():
    rng = np.random.default_rng(0)
    X, Y = rng.uniform(-1, 1, (8, 16)), rng.normal(size=(8, 2, 3))
    model = DependencyEstimator(Linear(), Linear(), alpha=0.1).fit(X, Y)
    explanation = model.explain(X[0], k=4)
    assert explanation.prediction.shape == (2, 3)
    assert explanation.carriers[0].output.shape == (2, 3)
    assert len(str(explanation).splitlines()) == 6
    table = explanation_table(explanation)
    assert table.rows[-1][0] == "others"
    assert len(table.rows) == 5
    page = explanation_html(explanation)
    assert page.count("<dd>") == 4
    against = sum(one.share < 0 for one in explanation.carriers)
    assert page.count('<i class="against"') == against > 0
    assert explanation_gallery(explanation, lambda x: x.reshape(4, 4)).count("<img") == 5
    words = DependencyEstimator(Subsequence(2), Classes(), alpha=0.1).fit(["<b>aab", "bba"], ["x", "y"])
    assert "<b>" not in explanation_html(words.explain("<b>aab"))
    assert brief("a" * 50) == "'" + "a" * 38 + "…"


def test_a_scalar_output_is_a_number_again():
    model = DependencyEstimator(Linear(), Linear(), alpha=0.1).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    assert np.shape(model.explain([1.0]).prediction) == ()


def test_right_answers_that_are_no_candidates_are_owned_up_to():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    Y = X @ rng.normal(size=(2, 2))
    model = DependencyEstimator(Gaussian(1.0), Gaussian(1.0), alpha=0.1).fit(X, Y)
    with pytest.warns(
        NumericalWarning, match=r"coverage=0.9 cannot be promised by candidates: 100.0% of the right answers of 30"
    ):
        sets = model.predict_set(X)
    assert all(len(found.objects) == 30 and found.any_object and found.contains([7.0, 7.0]) for found in sets)
    with pytest.warns(NumericalWarning, match=r"the sets stand for every object \(any_object\)"):
        sets = model.predict_set(X, method="jackknife+")
    assert all(len(found.objects) == 30 and found.any_object for found in sets)
    sets = model.predict_set(X[:2], candidates=Y[:10])  # the caller vouches for these
    assert max(len(found.objects) for found in sets) <= 10
    assert not any(found.any_object for found in sets)


@pytest.mark.filterwarnings("ignore:coverage=")
@pytest.mark.parametrize("method", ["auto", "jackknife+"])
def test_coverage_holds_where_right_answers_are_not_always_candidates(method):
    """Classes of which many occur once: a share of right answers is new, and is covered by sets that stand for every object."""
    covered, listed = {0.7: [], 0.95: []}, []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        y = np.where(rng.random(160) < 0.9, rng.integers(0, 3, 160), rng.integers(10, 10_000, 160))
        X = np.minimum(y, 10)[:, None] + rng.normal(size=(160, 1))
        model = DependencyEstimator(Gaussian(1.0), Classes(), alpha=1.0)
        if method == "auto":
            model.fit(X[:60], y[:60]).calibrate(X[60:120], y[60:120])
        else:
            model.fit(X[:120], y[:120])
        for level, found in covered.items():
            sets = model.predict_set(X[120:], level, method=method)
            found.append(np.mean([each.contains(right) for each, right in zip(sets, y[120:], strict=True)]))
            assert level == 0.95 or not any(each.any_object for each in sets)
        listed.append(holds(sets, y[120:]).mean())
    assert np.mean(listed) < 0.92  # all candidates together
    assert np.mean(covered[0.95]) > 0.95
    assert 0.67 < np.mean(covered[0.7]) < 0.8


def test_a_set_is_a_ranking_that_can_be_copied():
    found = PredictionSet(np.array([[0, 1], [1, 1]]), np.array([0.5, 0.1]), any_object=True)
    objects, scores = found
    assert objects is found.objects
    assert scores is found.scores
    again = pickle.loads(pickle.dumps(found))
    assert again.any_object
    assert again.objects.tolist() == objects.tolist()
    closed = PredictionSet(objects, scores)
    assert closed.contains(np.array([1, 1]))
    assert not closed.contains(np.array([0, 0]))
    assert "any_object=False" in repr(closed)


def test_too_few_pairs_are_owned_up_to():
    X, y = classes(60, 0)
    model = DependencyEstimator(Gaussian(1.0), Classes(), alpha=1.0).fit(X[:50], y[:50]).calibrate(X[50:], y[50:])
    with pytest.warns(
        NumericalWarning, match=r"coverage=0.95 cannot be promised by candidates: there are 10 calibration pairs"
    ):
        model.predict_set(X, 0.95)


def test_fitting_again_forgets_the_calibration():
    X, y = classes(60, 0)
    model = DependencyEstimator(Gaussian(1.0), Classes(), alpha=1.0).fit(X, y).calibrate(X, y)
    assert model.fit(X, y).calibration_ is None


@pytest.mark.parametrize("coverage", [0, 1, 90, -0.1, "much", True, np.nan])
def test_bad_coverage(coverage):
    X, y = classes(20, 0)
    model = DependencyEstimator(Gaussian(1.0), Classes(), alpha=1.0).fit(X, y)
    with pytest.raises(ValueError, match="coverage=.*between 0 and 1"):
        model.predict_set(X, coverage)


def test_other_bad_arguments():
    X, y = classes(20, 0)
    model = DependencyEstimator(Gaussian(1.0), Classes(), alpha=1.0).fit(X, y)
    with pytest.raises(ValueError, match="X has 3 objects and y has 2"):
        model.calibrate(X[:3], y[:2])
    with pytest.raises(ValueError, match="k=0; expected the number of pairs"):
        model.explain(X[0], k=0)
    with pytest.raises(ValueError, match="method='split'; expected 'auto' or 'jackknife"):
        model.predict_set(X, method="split")
    with pytest.raises(ValueError, match=r"NeighborsEstimator has no jackknife\+"):
        NeighborsEstimator(Gaussian(1.0), Classes()).fit(X, y).predict_set(X, method="jackknife+")
    machine = DependencyEstimator(Gaussian(1.0), Classes(), regressor=SVR(kernel="precomputed")).fit(X, y)
    assert len(machine.predict_set(X)) == 20  # pairs are left out by folds
    assert len(machine.calibrate(X, y).predict_set(X, 0.8)) == 20


@pytest.mark.parametrize("model", [DependencyEstimator(), NeighborsEstimator()], ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("method", ["explain", "predict_set", "abstention_score", "decision_weights"])
def test_nothing_is_answered_before_fit(model, method):
    with pytest.raises(NotFittedError):
        getattr(model, method)(np.zeros((1, 2)))


def test_missing_outputs_are_not_taken_for_right_answers():
    X, Y = np.random.default_rng(0).standard_normal((2, 20, 2))
    model = OperatorValuedRidge().fit(X, np.where(np.eye(20)[:, :2] > 0, np.nan, Y))
    assert np.isnan(model.map_.left_out_points()[[0, 1], [0, 1]]).all()
    with pytest.raises(ValueError, match=r"some training outputs are missing; call calibrate\(X, y\)"):
        model.predict_set(X[:2])
    assert len(model.calibrate(X, Y).predict_set(X[:2], 0.8)) == 2


def test_explanations_write_numbers_of_numpy_plainly():
    X, y = np.arange(12.0)[:, None], np.arange(12) % 2
    assert "np." not in str(DependencyEstimator(Gaussian(), Classes()).fit(X, y).explain(X[0]))
