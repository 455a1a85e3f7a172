"""Estimators that construct strings: answers nobody has seen, from end to end."""

import numpy as np
import pytest
from sklearn.base import clone

import mercer
from mercer import DependencyEstimator, NeighborsEstimator
from mercer.decoders import BeamSearch, BranchAndBound, Candidates, LongestPath
from mercer.kernels import Spectrum, Subsequence, WeightedDegree
from mercer.operators import ConditionalCovariance, Covariance, Identity

RNG = np.random.default_rng(0)
TABLE = str.maketrans("abcd", "wxyz")
WORDS = sorted({"".join(RNG.choice(list("abcd"), size=RNG.integers(4, 9))) for _ in range(160)})
RNG.shuffle(WORDS)
X, TEST = WORDS[:110], WORDS[110:]
Y = [word.translate(TABLE) for word in X]
TRUTH = [word.translate(TABLE) for word in TEST]


@pytest.mark.parametrize("operator", [Identity(), Covariance(), ConditionalCovariance(0.1)], ids=repr)
def test_strings_never_seen_are_found(operator):
    model = DependencyEstimator(Spectrum((1, 3)), Spectrum(3), operator).fit(X, Y)
    assert isinstance(model.decoder_, BeamSearch)
    assert "grown symbol by symbol" in model.reasons_["decoder"]
    found = model.predict(TEST)
    assert np.mean([word in Y for word in found]) < 0.1
    assert np.mean([a == b for a, b in zip(found, TRUTH, strict=True)]) > 0.6
    best = model.set_params(decoder=Candidates()).fit(X, Y)
    assert model.score(TEST, TRUTH) <= 0
    assert np.mean([a == b for a, b in zip(best.predict(TEST), TRUTH, strict=True)]) == 0


def test_gaps_in_and_n_grams_out():
    model = DependencyEstimator(Subsequence(2, 0.5).normalized(), Spectrum(3)).fit(X, Y)
    assert not set(model.predict(TEST)) <= set(Y)


def test_rank_agrees_with_predict_and_is_at_least_as_good_as_the_training_outputs():
    model = DependencyEstimator(Spectrum((1, 3)), Spectrum(3), alpha=0.1).fit(X, Y)
    plain = clone(model).set_params(decoder=Candidates()).fit(X, Y)
    answers = model.predict(TEST)
    for answer, ranked, training in zip(answers, model.rank(TEST, 4), plain.rank(TEST, 4), strict=True):
        assert ranked.objects[0] == answer
        assert len(set(ranked.objects)) == 4
        assert np.all(ranked.scores >= training.scores - 1e-9)


def test_reports_say_what_is_proven():
    model = DependencyEstimator(Spectrum((1, 3)), Spectrum(3), alpha=0.1, decoder=BranchAndBound(5.0)).fit(X, Y)
    reports = model.decoder_.reports(model._points_of(TEST[:10]))
    assert [report.object for report in reports] == model.predict(TEST[:10]).tolist()
    assert np.mean([report.optimal for report in reports]) > 0.5


def test_a_given_candidate_set_is_obeyed():
    model = DependencyEstimator(Spectrum((1, 3)), Spectrum(3), alpha=0.1).fit(X, Y)
    assert set(model.predict(TEST, candidates=TRUTH)) <= set(TRUTH)
    assert (
        np.mean([found == right for found, right in zip(model.predict(TEST, candidates=TRUTH), TRUTH, strict=True)])
        > 0.9
    )


def test_alpha_may_be_chosen_by_the_loss_of_constructed_strings():
    model = DependencyEstimator(Spectrum((1, 3)), Spectrum(2), loss="kernel").fit(X[:40], Y[:40])
    assert np.isfinite(model.loo_path_).all()
    assert model.score(TEST, TRUTH) > -4.0


def test_places_and_neighbours():
    model = DependencyEstimator(WeightedDegree(2), WeightedDegree(2)).fit(X, Y)
    assert isinstance(model.decoder_, LongestPath)
    assert np.mean([a == b for a, b in zip(model.predict(TEST), TRUTH, strict=True)]) > 0.8
    near = NeighborsEstimator(Spectrum(2), Spectrum(3), k=3).fit(X, Y)
    assert isinstance(near.decoder_, BeamSearch)
    assert len(near.predict(TEST)) == len(TEST)


@pytest.mark.parametrize("kernel", [Spectrum(3), Spectrum(2).normalized(), WeightedDegree(2)], ids=repr)
def test_a_model_that_constructs_is_saved_whole(tmp_path, kernel):
    pytest.importorskip("skops", reason="skops is not installed")
    model = DependencyEstimator(Spectrum((1, 3)), kernel, alpha=0.1).fit(X, Y)
    before = model.predict(TEST)
    loaded = mercer.load(mercer.save(model, tmp_path / "model.skops"))
    assert loaded.predict(TEST).tolist() == before.tolist()
    assert repr(loaded) == repr(model)
