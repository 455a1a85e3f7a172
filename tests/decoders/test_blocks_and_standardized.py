"""Candidates in blocks give what all at once give; standardised scores are the plain definition."""

import numpy as np
import pytest

import mercer
from mercer import DependencyEstimator, NeighborsEstimator
from mercer.decoders import Blocks, Candidates, Standardized, best_of_blocks
from mercer.decoders import streaming as streaming_module
from mercer.embeddings import Implicit, PrincipalComponents
from mercer.kernels import Gaussian, Linear, Subsequence
from mercer.testing import check_decoder

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(30, 3)), rng.normal(size=(30, 2))
NEW, CANDIDATES = rng.normal(size=(7, 3)), rng.normal(size=(40, 2))
WORDS = ["abab", "abba", "baab", "bbaa", "aabb", "baba"]


def fitted(decoder=None, **arguments):
    return DependencyEstimator(Gaussian(2.0), Gaussian(1.0), decoder=decoder or Candidates(), **arguments).fit(X, Y)


# -- blocks -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 3, 100])
@pytest.mark.parametrize("size", [1, 7, 40])
def test_blocks_rank_like_one_collection(k, size):
    model = fitted(alpha=0.1)
    whole = model.rank(NEW, k, CANDIDATES)
    parts = model.rank(NEW, k, Blocks(CANDIDATES[start : start + size] for start in range(0, 40, size)))
    for a, b in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(a.objects, b.objects)
        np.testing.assert_allclose(a.scores, b.scores, rtol=1e-12)


def test_large_blocks_are_cut(monkeypatch):
    model = fitted(alpha=0.1)
    wanted = model.predict(NEW, CANDIDATES)
    monkeypatch.setattr(streaming_module, "_ENTRIES", 5 * len(X))
    sizes = []
    pool = model.decoder_._given
    model.decoder_._given = lambda part, name: (sizes.append(len(part)), pool(part, name))[1]
    np.testing.assert_array_equal(model.predict(NEW, Blocks([CANDIDATES])), wanted)
    assert sizes == [5] * 8


def test_equal_candidates_in_two_blocks_go_to_the_first():
    model = DependencyEstimator(Subsequence(2), Subsequence(2), alpha=0.1).fit(WORDS, WORDS)
    first, again = np.str_("abab"), "abab"
    found = model.rank(["abab"], 2, Blocks([[first], [again, "bbbb"]]))[0]
    assert found.objects[0] is first
    assert found.objects[1] is again


def test_bad_blocks():
    model = fitted(alpha=0.1)
    with pytest.raises(ValueError, match="no blocks"):
        model.predict(NEW, Blocks([]))
    with pytest.raises(TypeError, match=r"candidates\[1\] is 3.0, a float; expected a block"):
        model.predict(NEW, Blocks([CANDIDATES, 3.0]))
    embedding = Implicit().fit(Linear(), np.eye(2))
    with pytest.raises(ValueError, match="no blocks"):
        best_of_blocks(Candidates().fit(embedding), np.eye(2), [], 1)


# -- standardised scores ----------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.3, "loo"], ids=["Cholesky", "spectrum"])
@pytest.mark.parametrize("embedding", ["auto", PrincipalComponents()], ids=["implicit", "components"])
def test_scores_are_standardised_by_refitting_without_each_pair(alpha, embedding):
    if isinstance(alpha, float) and not isinstance(embedding, str):
        pytest.skip("components are held fixed in leave-one-out, and are refitted here")
    by_hand = not isinstance(embedding, str)  # the formula below has no intercept
    model = fitted(Standardized(), alpha=alpha, embedding=embedding, fit_intercept=not by_hand)
    usual = []
    for j in range(len(X)):
        rest = np.arange(len(X)) != j
        if not by_hand:
            other = DependencyEstimator(Gaussian(2.0), Gaussian(1.0), alpha=model.alpha_).fit(X[rest], Y[rest])
            usual.append(other.decision_weights(X[[j]])[0] @ Gaussian(1.0)(Y[rest], CANDIDATES))
        else:  # the components stay those of all outputs
            gram = Gaussian(2.0)(X[rest]) + model.alpha_ * np.eye(len(X) - 1)
            weights = np.linalg.solve(gram, Gaussian(2.0)(X[rest], X[[j]]))[:, 0]
            point = weights @ model.embedding_.coordinates_[rest]
            usual.append(point @ model.embedding_.transform(CANDIDATES).T)
    usual = np.array(usual)
    points = model._points_of(NEW)
    plain = points @ model.embedding_.transform(CANDIDATES).T
    wanted = (plain - usual.mean(axis=0)) / usual.std(axis=0)
    for found, scores in zip(model.rank(NEW, 40, CANDIDATES), wanted, strict=True):
        np.testing.assert_array_equal(found.objects, CANDIDATES[np.argsort(-scores)])
        np.testing.assert_allclose(found.scores, np.sort(scores)[::-1], rtol=1e-8)


def test_a_hub_no_longer_wins():
    # outputs on a circle around a candidate that is close to all of them
    angles = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    candidates = np.vstack([[0.0, 0.0], 1.8 * circle])
    kernels = Gaussian(1.5), Gaussian(1.2)
    plain = DependencyEstimator(*kernels, alpha=3.0, decoder=Candidates()).fit(circle, circle)
    fair = DependencyEstimator(*kernels, alpha=3.0, decoder=Standardized()).fit(circle, circle)
    assert (plain.predict(circle, candidates) == 0.0).all()
    np.testing.assert_array_equal(fair.predict(circle, candidates), 1.8 * circle)


def test_a_candidate_that_never_varies_scores_zero():
    model = fitted(Standardized(), alpha=0.1)
    far = model.rank(NEW, 1, np.full((1, 2), 1e6))
    assert [found.scores.tolist() for found in far] == [[0.0]] * len(NEW)


def test_the_contract_without_calibration():
    check_decoder(Standardized(), Implicit().fit(Gaussian(1.0), Y[:6]), rng.normal(size=(3, 6)))
    neighbors = NeighborsEstimator(Gaussian(1.0), Gaussian(1.0), k=3, decoder=Standardized()).fit(X, Y)
    plain = NeighborsEstimator(Gaussian(1.0), Gaussian(1.0), k=3, decoder=Candidates()).fit(X, Y)
    neighbors.decoder_.fit(neighbors.embedding_)
    np.testing.assert_array_equal(neighbors.predict(NEW), plain.predict(NEW))


def test_a_calibrated_model_is_saved_whole(tmp_path):
    pytest.importorskip("skops", reason="skops is not installed")
    model = fitted(Standardized(), alpha=0.1)
    loaded = mercer.load(mercer.save(model, tmp_path / "model.skops"))
    np.testing.assert_array_equal(model.predict(NEW, CANDIDATES), loaded.predict(NEW, CANDIDATES))
