"""Models of words that answer in place of the mixture."""

from __future__ import annotations

from copy import copy
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

import mercer
from mercer import AutoEstimator
from mercer.automatic.kinds import Kind
from mercer.automatic.search import EFFORTS, Clock
from mercer.automatic.whole_models import Offer, WholeModels, left_out_losses, offers
from mercer.core.arrays import NumericalWarning
from mercer.core.collections import as_objects
from mercer.decoders import Ranked
from mercer.kernels import Gaussian, Linear
from mercer.learners import Mixture, OnKernel, Ridge
from mercer.losses import EditDistance, ZeroOne
from mercer.sequence_models import AlignedSequences, Inflection
from mercer.sequence_models.answers import IN_FOLDS, RankedAnswers
from mercer.testing import learning_problem
from mercer.uncertainty.conformal import HELD_OUT

_RULES = {"ca": "ka", "ce": "se", "co": "ko", "ci": "si", "ta": "ta", "ge": "xe", "go": "go", "ti": "ti"}


def _spoken(n: int, seed: int) -> tuple[list[str], list[str]]:
    rng = np.random.default_rng(seed)
    parts = [[list(_RULES)[i] for i in rng.permutation(8)[: rng.integers(2, 5)]] for _ in range(n)]
    return ["".join(one) for one in parts], ["".join(_RULES[part] for part in one) for one in parts]


def _verbs() -> tuple[list[tuple[str, str]], list[str]]:
    lemmas = ["walk", "bake", "play", "hope", "talk", "note", "jump", "dance", "look", "smoke", "call", "close"]
    past, ing = {True: "d", False: "ed"}, {True: -1, False: None}
    X = [(lemma, tags) for tags in ("V;PST", "V;PRS;PTCP") for lemma in lemmas]
    return X, [w + past[w[-1] == "e"] if t == "V;PST" else w[: ing[w[-1] == "e"]] + "ing" for w, t in X]


@pytest.fixture(scope="module")
def speller() -> AutoEstimator:
    return AutoEstimator(effort="fast").fit(*_spoken(90, 0))


def test_words_that_follow_letters_are_constructed(speller: AutoEstimator) -> None:
    words, sounds = _spoken(30, 1)
    assert isinstance(speller.model_, AlignedSequences)
    assert list(speller.predict(words)) == sounds
    assert speller.score(words, sounds) == 0.0
    assert [found.objects[0] for found in speller.rank(words, k=2)] == sounds
    rows = {row.learner: row for row in speller.leaderboard_}
    assert {"aligned sequences", "edit scripts", "ridge"} <= set(rows)
    assert rows["aligned sequences"].weight == 1.0
    assert sum(row.weight for row in speller.leaderboard_) == pytest.approx(1.0)
    assert speller.left_out_loss_ == rows["aligned sequences"].loss == min(row.loss for row in speller.leaderboard_)
    assert "by the best kernel" in speller.reasons_["model"]


def test_given_candidates_are_chosen_by_the_mixture(speller: AutoEstimator, monkeypatch: pytest.MonkeyPatch) -> None:
    words, sounds = _spoken(6, 1)

    def fails(*arguments: object) -> None:
        raise AssertionError("the model was asked")

    monkeypatch.setattr(AlignedSequences, "rank", fails)
    found = speller.predict(words, candidates=sounds)
    assert set(found) <= set(sounds)
    assert [ranked.objects[0] for ranked in speller.rank(words, 1, candidates=sounds)] == list(found)
    speller.predict_set(words[:2], candidates=sounds)
    assert speller.abstention_score(words, candidates=sounds).shape == (6,)
    for ask in (speller.predict, speller.predict_set, speller.abstention_score):
        with pytest.raises(AssertionError, match="was asked"):
            ask(words)


def test_the_answer_that_is_explained_is_the_prediction(speller: AutoEstimator) -> None:
    words, _ = _spoken(6, 1)
    for word, answer in zip(words, speller.predict(words), strict=True):
        explanation = speller.explain(word)
        assert explanation.prediction == answer
        assert explanation.carriers


def test_sets_are_those_of_the_model(speller: AutoEstimator) -> None:
    words, sounds = _spoken(30, 3)
    assert speller.model_ is not None
    assert speller.model_.calibration_.source == IN_FOLDS
    sets = speller.predict_set(words, 0.8)
    for found, ranked in zip(sets, speller.rank(words, 10**6), strict=True):
        assert list(found.objects) == list(ranked.objects[: len(found.objects)])
    assert np.mean([sound in found.objects for found, sound in zip(sets, sounds, strict=True)]) >= 0.7
    assert ((speller.abstention_score(words) >= 0) & (speller.abstention_score(words) <= 1)).all()
    again = copy(speller).calibrate(words, sounds)
    assert again.model_ is not speller.model_
    assert again.model_.calibration_.source == HELD_OUT
    assert speller.model_.calibration_.source == IN_FOLDS
    own = again.predict_set(words, 0.5, by=lambda word: len(word) % 2)
    assert len(own) == len(words)
    curve = again.risk_coverage_curve(words, sounds)
    assert curve.risk[-1] == pytest.approx(-again.score(words, sounds))


def test_score_checks_lengths(speller: AutoEstimator) -> None:
    with pytest.raises(ValueError, match="X has 2 objects and y has 1"):
        speller.score(["ca", "ce"], ["ka"])


def test_saved_with_its_model(speller: AutoEstimator, tmp_path: object) -> None:
    again = mercer.load(mercer.save(speller, f"{tmp_path}/model.skops"))
    words, sounds = _spoken(5, 2)
    assert list(again.predict(words)) == sounds


def test_lemmas_with_tags() -> None:
    X, y = _verbs()
    model = AutoEstimator(effort="fast").fit(X, y)
    assert model.kinds_ == {"inputs": "lemmas with tags", "outputs": "strings"}
    assert isinstance(model.model_, Inflection)
    assert list(model.predict([("hike", "V;PST"), ("fill", "V;PRS;PTCP")])) == ["hiked", "filling"]
    assert list(model.predict([("hike", "V;PST")], candidates=["hiked", "rode"])) == ["hiked"]


def test_the_kernel_answers_where_it_is_as_good() -> None:
    rng = np.random.default_rng(0)
    letters = {"bird": "abc", "fish": "xyz"}
    y = [["bird", "fish"][i] for i in rng.integers(2, size=60)]
    X = ["".join(rng.choice(list(letters[kind]), 12)) for kind in y]
    model = AutoEstimator(effort="fast", outputs="strings").fit(X, y)
    assert model.model_ is None
    assert list(model.predict(["abcabc", "zyxzyx"])) == ["bird", "fish"]
    assert {"aligned sequences", "edit scripts"} <= {row.learner for row in model.leaderboard_}
    assert sum(row.weight for row in model.leaderboard_) == pytest.approx(1.0)


def test_a_dictionary_is_chosen_from() -> None:
    words, sounds = _spoken(40, 0)
    assert not offers(Kind("strings", ""), Kind("strings", ""), dictionary=True)
    model = AutoEstimator(effort="fast").fit(words, sounds, extra_outputs=["kakako", "sisiko"])
    assert model.model_ is None
    assert not {"aligned sequences", "edit scripts"} & {row.learner for row in model.leaderboard_}


def test_offers_follow_the_kinds() -> None:
    names = {
        (x, y): [offer.name for offer in offers(Kind(x, ""), Kind(y, ""))]
        for x, y in product(
            ("strings", "sequences", "vectors", "lemmas with tags"), ("strings", "sequences", "classes")
        )
    }
    assert names["strings", "strings"] == ["aligned sequences", "edit scripts"]
    assert names["strings", "sequences"] == names["sequences", "strings"] == ["aligned sequences"]
    assert names["lemmas with tags", "strings"] == ["edit scripts"]
    assert not any(own for (x, y), own in names.items() if x == "vectors" or y == "classes")


class _Spy(RankedAnswers):
    """Predicts the input, and keeps what it was fitted on."""

    fits: list[set[str]]

    def __init__(self, right: bool = True) -> None:
        self.right = right

    def fit(self, X: np.ndarray, y: np.ndarray) -> _Spy:
        type(self).fits.append(set(X))
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        assert not type(self).fits[-1] & set(X)  # a pair is not predicted from itself
        return as_objects([x if self.right else "" for x in X])

    def rank(self, X: np.ndarray, k: int = 5) -> list[Ranked]:  # type: ignore[override]
        return [Ranked(as_objects([x]), np.zeros(1)) for x in self.predict(X)]


def _problem(n: int, groups: np.ndarray | None = None, weight: np.ndarray | None = None) -> SimpleNamespace:
    words = as_objects([f"w{i}" for i in range(n)])
    return SimpleNamespace(inputs=words, outputs=words, size=n, groups=groups, sample_weight=weight)


@pytest.mark.parametrize(
    ("n", "effort", "seen"), [(60, "fast", [40]), (60, "best", [40, 40, 40]), (900, "balanced", [200, 200])]
)
def test_models_are_compared_on_the_same_left_out_pairs(n: int, effort: str, seen: list[int]) -> None:
    _Spy.fits = []
    whole = WholeModels([Offer("spy", _Spy, 0.0)], EFFORTS[effort], Clock())
    whole.compare(lambda X, y: _Spy(right=False).fit(X, y), _problem(n), ZeroOne())
    folds = len(seen)
    assert list(map(len, _Spy.fits)) == [*seen, *seen, n]
    assert _Spy.fits[:folds] == _Spy.fits[folds : 2 * folds]
    assert isinstance(whole.model, _Spy)
    assert whole.entries[0].loss == 0.0
    assert whole.reason == "spy: ZeroOne() is 0 for pairs left out, 1 by the best kernel"


def test_of_equal_losses_the_kernel() -> None:
    _Spy.fits = []
    whole = WholeModels([Offer("spy", _Spy, 0.0)], EFFORTS["fast"], Clock())
    whole.compare(lambda X, y: _Spy().fit(X, y), _problem(30), ZeroOne())
    assert whole.model is None
    assert whole.entries[0].weight == 0.0


def test_groups_are_left_out_together() -> None:
    _Spy.fits, groups = [], np.arange(60) // 4
    problem = _problem(60, groups)
    whole = WholeModels([Offer("spy", _Spy, 0.0)], EFFORTS["best"], Clock())
    whole.compare(lambda X, y: _Spy().fit(X, y), problem, ZeroOne())
    for fitted in _Spy.fits:
        inside = np.isin(problem.inputs, list(fitted))
        assert all(len(set(inside[groups == group])) == 1 for group in range(15))


@pytest.mark.parametrize(
    ("problem", "seconds", "limit"),
    [
        (_problem(5), 0.0, None),
        (_problem(60, groups=np.arange(60) % 2), 0.0, None),
        (_problem(60, weight=np.ones(60)), 0.0, None),
        (_problem(60), 1.0, None),
        (_problem(60), 0.1, 5.0),
    ],
)
def test_nothing_is_tried_that_is_too_small_weighted_or_too_long(
    problem: SimpleNamespace, seconds: float, limit: float | None
) -> None:
    _Spy.fits = []
    whole = WholeModels([Offer("spy", _Spy, seconds)], EFFORTS["fast"], Clock(limit))
    whole.compare(lambda X, y: _Spy().fit(X, y), problem, ZeroOne())
    assert whole.model is None
    assert not _Spy.fits
    assert not whole.entries
    assert ("too long" in whole.reason) == (seconds > 0)


def test_a_model_that_fails_is_left_out_with_a_warning() -> None:
    def refuses() -> _Spy:
        raise ValueError("no such words")

    _Spy.fits = []
    whole = WholeModels([Offer("spy", refuses, 0.0)], EFFORTS["fast"], Clock())  # type: ignore[arg-type]
    with pytest.warns(NumericalWarning, match="spy were left out: no such words"):
        whole.compare(lambda X, y: _Spy().fit(X, y), _problem(30), ZeroOne())
    assert whole.model is None


def test_left_out_losses_are_those_of_the_held_out_pairs() -> None:
    _Spy.fits, problem = [], _problem(6)
    splits = [(np.array([0, 1, 2, 3]), np.array([5, 4])), (np.array([4, 5]), np.array([0]))]
    found = left_out_losses(lambda X, y: _Spy(False).fit(X, y), problem, EditDistance(), splits)  # type: ignore[arg-type]
    assert found.tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("loss", [None, EditDistance()])
def test_outputs_that_occur_once_still_tell_kernels_apart(loss: object) -> None:
    rng = np.random.default_rng(3)
    words = sorted({"".join(rng.choice(list("abdeiklmnorstu"), rng.integers(5, 9))) for _ in range(100)})
    typos = [word[:i] + word[i + 1 :] for word, i in zip(words, rng.integers(1, 5, len(words)), strict=True)]
    order = rng.permutation(len(words))
    train, test = order[:70], order[70:]
    model = AutoEstimator(loss=loss, effort="fast").fit([typos[i] for i in train], [words[i] for i in train])
    truth = [words[i] for i in test]
    found = model.predict([typos[i] for i in test], candidates=truth)
    assert np.mean([one == right for one, right in zip(found, truth, strict=True)]) > 0.9


def test_a_mixture_leaves_whole_groups_out() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 2))
    problem, groups = learning_problem(Gaussian(1.0), X, np.sin(X)), np.arange(20) % 2
    learners = [Ridge(alpha=0.1), OnKernel(Linear(), Ridge(alpha=1.0))]
    mixture = Mixture(learners).fit(problem)
    found = mixture.points_without(groups)
    for half in (0, 1):
        maps = [learner.fit(problem.subset(np.flatnonzero(groups != half))) for learner in learners]
        weighted = zip(mixture.mixture_weights, maps, strict=True)
        expected = sum(weight * own.points(X[groups == half]) for weight, own in weighted)
        np.testing.assert_allclose(found[groups == half], expected, atol=1e-9)
