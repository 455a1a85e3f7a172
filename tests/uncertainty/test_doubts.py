"""Doubts: marked answers err clearly more often than others, for every kind of output."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.svm import SVR

from mercer import AutoEstimator, DependencyEstimator
from mercer.core.collections import as_objects
from mercer.decoders import EachOf
from mercer.estimators import NeighborsEstimator
from mercer.kernels import Classes, Columns, Gaussian, Precomputed, Spectrum, Subsequence
from mercer.losses import F1, ZeroOne
from mercer.uncertainty.doubt_scale import DoubtScale, ScoredAnswers
from mercer.uncertainty.doubts import signs_of
from mercer.uncertainty.unlikeness import Unexplained, unlikeness

pytestmark = pytest.mark.filterwarnings("ignore::mercer.NumericalWarning")


def classes(rng):
    X, y = load_digits(return_X_y=True)
    rows = rng.permutation(len(X))[:800]
    return X[rows] + rng.normal(0, 5, (800, 64)), y[rows].astype(str)


def label_sets(rng):
    X = rng.uniform(-1, 1, (700, 2))
    noisy = np.where(X[:, 0] > 0.6, rng.uniform(-1, 1, 700), X[:, 0])
    sets = [
        frozenset([*["left"] * (a < 0), *["up"] * (b > 0), "all"])
        for a, b in zip(noisy.tolist(), X[:, 1].tolist(), strict=True)
    ]
    return X, as_objects(sets)


def numbers(rng):
    X = rng.uniform(-3, 3, (700, 2))
    return X, np.sin(X[:, 0]) + X[:, 1] + rng.normal(size=700) * np.where(X[:, 0] > 2, 2.0, 0.1)


@pytest.mark.parametrize(("task", "loss"), [(classes, None), (label_sets, F1()), (numbers, None)])
def test_marked_answers_have_clearly_more_loss(task, loss):
    X, y = task(np.random.default_rng(0))
    model = AutoEstimator(loss, effort="fast", random_state=0).fit(X[:300], y[:300])
    found, scale = model.doubts(X[300:]), model.doubt_scale()
    losses = model.losses(y[300:], model.predict(X[300:]))
    assert 0.02 < np.mean(found.marked) < 0.3
    assert losses[found.marked].mean() > 3 * losses[~found.marked].mean()
    assert scale.marked > 2 * scale.others
    surest = np.argsort(found.doubt)[: len(losses) // 2]
    assert losses[surest].mean() < 0.7 * losses.mean()
    # what is expected of all is what happens, within a third
    assert abs(found.expected_loss.mean() / losses.mean() - 1) < 0.34


def test_where_losses_are_the_same_everywhere_nothing_is_marked():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (300, 2))
    model = DependencyEstimator(Gaussian(1.0), alpha=0.1).fit(X, X[:, 0] + rng.normal(size=300))
    assert np.isinf(model.doubt_scale().level)
    assert not model.doubts(0.9 * X).marked.any()


def test_inputs_beyond_all_others_are_marked_with_few_pairs_too():
    X = np.random.default_rng(0).normal(size=(12, 2))
    model = DependencyEstimator(Gaussian(1.0), Classes(), alpha=0.1).fit(X, ["a", "b"] * 6)
    found = model.doubts([[0.0, 0.0], [50.0, -50.0]])
    assert found.marked.tolist() == [False, True]
    assert found.doubt[1] == 1.0


@pytest.mark.parametrize("n", [2, 4, 7])
def test_few_pairs_tell_inputs_that_are_farther_away_than_they_are_from_each_other(n):
    X = np.random.default_rng(0).normal(size=(n, 2))
    model = DependencyEstimator(Gaussian(1.0), Classes(), alpha=0.1).fit(X, ["a", "b"] * (n // 2) + ["a"] * (n % 2))
    found = model.doubts([*X, X.mean(axis=0), [50.0, -50.0]])
    assert found.marked.tolist() == [False] * (n + 1) + [True]
    words = ["recieve", "seperate", "recive", "seprate", "reseive", "separete", "receve"][:n]
    right = ["receive" if word[0] == "r" else "separate" for word in words]
    for model in (
        DependencyEstimator(Subsequence(2).normalized(), Classes(), alpha=0.1),
        AutoEstimator(effort="fast", random_state=0),
    ):
        model.fit(words, right)
        for candidates in (None, ["receive", "separate", "deceive"]):
            assert model.doubts(["xyzzy", "receiv", "recieve"], candidates).marked.tolist() == [True, False, False]


@pytest.fixture(scope="module")
def words():
    """Short words, of which some are near to each other: those to learn from, and new ones; and a typo of each."""
    rng = np.random.default_rng(0)
    every = sorted({"".join(rng.choice(list("abdeiklmnorstu"), rng.integers(4, 8))) for _ in range(420)})
    every = [every[i] for i in rng.permutation(len(every))]
    places = rng.integers(0, 100, len(every))
    typos = [word[: i % len(word)] + word[i % len(word) + 1 :] for word, i in zip(every, places, strict=True)]
    return (typos[:120], every[:120]), (typos[120:], every[120:])


@pytest.fixture(scope="module")
def speller(words):
    (typos, known), (_, new) = words
    return AutoEstimator(ZeroOne(), effort="fast", random_state=0).fit(typos, known, extra_outputs=new)


@pytest.fixture(scope="module")
def pairs():
    """Misspelt words of syllables, with a few x, y and z among them, and their right spelling."""
    rng = np.random.default_rng(1)
    syllables = [*(a + b for a in 3 * "bdfgklmnprstv" for b in "aeiou"), "xa", "xo", "ye", "yu", "zi", "za"]
    every = sorted({"".join(rng.choice(syllables, rng.integers(2, 5))) for _ in range(1100)})
    every = [every[i] for i in rng.permutation(len(every))][:1000]
    places = [int(rng.integers(len(word))) for word in every]
    return [word[:i] + word[i + 1 :] for word, i in zip(every, places, strict=True)], every


GIBBERISH = ["xyzzy", "qqqqq", "xqzwjxh", "zzxxyy", "#$%&"]


@pytest.mark.parametrize("n", [20, 100, 800])
def test_gibberish_is_marked_whatever_the_number_of_pairs(pairs, n):
    typos, words = pairs
    kernel = Spectrum((1, 3)).normalized()
    model = DependencyEstimator(kernel, kernel, loss=ZeroOne(), alpha=0.1).fit(typos[:n], words[:n])
    for candidates in (None, words[:900]):
        scale = model.doubt_scale(candidates)
        assert model.doubts(GIBBERISH, candidates, scale).marked.all()
        # the share of ordinary new words that is beyond all others
        beyond = model.doubts(typos[800:], candidates, replace(scale, level=np.inf)).marked
        assert beyond.mean() < 0.03


@pytest.mark.parametrize("n", [20, 100])
def test_gibberish_is_marked_when_words_are_constructed(pairs, n):
    typos, words = pairs
    model = AutoEstimator(effort="fast", random_state=0).fit(typos[:n], words[:n])
    for candidates in (None, words[:300]):
        assert model.doubts(GIBBERISH, candidates).marked.all()


STRANGE_TABLES = [
    DependencyEstimator(Columns(), alpha=1.0),
    DependencyEstimator(Columns(), regressor=SVR(kernel="precomputed")),
    NeighborsEstimator(Columns(), k=5),
    AutoEstimator(effort="fast", random_state=0),  # a mixture with forests
]


@pytest.mark.parametrize("model", STRANGE_TABLES, ids=["ridge", "regressor", "neighbours", "mixture"])
def test_tables_with_strange_values_are_marked_whatever_the_learner(model):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    table = {"size": rng.normal(100, 20, 300), "rooms": rng.integers(1, 6, 300).astype(float)}
    price = table["size"] * 3 + rng.normal(0, 10, 300)
    table["town"] = rng.choice(["Oslo", "Bergen", "Molde"], 300).tolist()
    new = {"size": [100.0, 1e6, -4000.0], "rooms": [3.0, 3.0, -70.0], "town": ["Oslo", "Oslo", "Atlantis"]}
    frames = [pd.DataFrame(each) for each in (table, new)]
    assert clone(model).fit(frames[0], price).doubts(frames[1]).marked.tolist() == [False, True, True]


@pytest.mark.parametrize("repeat", [1, 3])
def test_what_is_explained_is_that_of_a_fit_without_the_own_group(repeat):
    """The exact form, one inverse for all, against a solve for each object."""
    rng = np.random.default_rng(0)
    words = as_objects(["".join(rng.choice(list("abcd"), rng.integers(1, 7))) for _ in range(30)])
    groups = np.arange(30) // repeat
    measure = unlikeness(Spectrum(2), words)
    found = measure.of(words, words, groups, groups)
    kernel = Spectrum(2).normalized()
    for i in range(30):
        others = words[groups != groups[i]]
        similar = kernel(words[i : i + 1], others)[0]
        explained = similar @ np.linalg.solve(kernel(others) + np.eye(len(others)), similar)
        if len(words[i]) == 1:  # without a pair of letters, as others are
            explained = 1.0
        np.testing.assert_allclose(np.exp(-found[i]), explained, rtol=1e-9, atol=1e-12)
    assert np.isposinf(measure.of(as_objects(["zz"]), words)).all()
    assert np.isfinite(measure.of(as_objects(["z"]), words)).all()  # has no parts, as some training words
    longer = words[[len(word) > 1 for word in words]]
    assert np.isposinf(unlikeness(Spectrum(2), longer).of(as_objects(["z"]), longer)).all()


def test_a_kernel_that_is_not_positive_semi_definite_does_not_stop_it():
    class Signed(Spectrum):
        """Three words, of which two are unlike beyond reason."""

        def __call__(self, X, Z=None):
            return -4.0 * (1.0 - super().__call__(X, Z)) + super().__call__(X, Z)

    words = as_objects(["abab", "cdcd", "efef"])
    found = Unexplained(Signed(2).normalized(), np.arange(3)).of(as_objects(["abab", "xyxy"]), words)
    assert np.isfinite(found[0])


def test_words_among_candidates(words, speller):
    typos, new = words[1]
    scale = speller.doubt_scale(new)
    found = speller.doubts(typos, new, scale)
    wrong = speller.predict(typos, new) != np.array(new)
    assert scale.by_answers
    assert 0.02 < np.mean(found.marked) < 0.3
    assert wrong[found.marked].mean() > 5 * wrong[~found.marked].mean()
    assert speller.doubts(["xyzzyxyzzy"], new, scale).marked.tolist() == [True]
    # one by one as all at once
    alone = [speller.doubts([word], new, scale).expected_loss[0] for word in typos[:3]]
    np.testing.assert_allclose(alone, found.expected_loss[:3], rtol=1e-9)


def test_candidates_of_each_input_count_by_their_inputs(words, speller):
    (typos, _), (_, new) = words
    each = EachOf([new[:3], new[3:6]])
    scale = speller.doubt_scale(each)
    assert not scale.by_answers
    assert len(scale.curves) == 2
    found = speller.doubts([typos[0], "777"], each)
    assert found.marked.tolist() == [False, True]
    assert not speller.doubt_scale([new[:3], new[3:6]]).by_answers  # the same without EachOf


def test_groups_are_left_out_together_and_stay_in_one_fold():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 3)
    X = np.repeat(rng.normal(size=(40, 3)), 3, axis=0) + 1e-3 * rng.normal(size=(120, 3))
    y = np.repeat(rng.normal(size=40), 3)  # nothing to learn across groups
    model = DependencyEstimator(Gaussian(1.0), alpha=1e-3).fit(X, y, groups=groups)
    apart = model.doubt_scale()
    together = DependencyEstimator(Gaussian(1.0), alpha=1e-3).fit(X, y).doubt_scale()
    assert apart.mean > 100 * together.mean
    # the nearest of another group, not the copy of the same one
    signs = model._surroundings(X, apart.scored, among=True)
    assert signs[:, 0].min() > 1e-3


def test_pairs_held_out_take_the_place_of_training_pairs():
    rng = np.random.default_rng(0)
    X, y = numbers(rng)
    model = DependencyEstimator(Gaussian(1.0), alpha=0.1).fit(X[:200], y[:200])
    before = model.doubt_scale()
    model.calibrate(X[200:450], y[200:450])
    after = model.doubt_scale()
    assert (len(before.scored.losses), len(after.scored.losses)) == (200, 250)
    assert after.scored.held_out
    losses = model.losses(y[200:450], model.predict(X[200:450]))
    np.testing.assert_allclose(after.scored.losses, losses, rtol=1e-9)
    assert model.doubts(X[450:]).marked.any()


def test_given_gram_matrices_and_compact_models():
    rng = np.random.default_rng(0)
    X, y = numbers(rng)
    X, y = X[:150], y[:150]
    gram = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
    model = DependencyEstimator(Precomputed(), alpha=0.1).fit(gram, y)
    assert model.doubts(gram[:4]).expected_loss.shape == (4,)
    assert len(model.doubt_scale().curves) == 1  # the input is not seen
    compact = DependencyEstimator(Gaussian(1.0), alpha=0.1).fit(X, y).compact()
    with pytest.raises(ValueError, match="left out"):
        compact.doubts(X[:2])
    assert compact.calibrate(X, y).doubts(X[:2]).doubt.shape == (2,)


def test_words_that_are_constructed_have_doubts_from_folds():
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcdef"), 5)) for _ in range(80)]
    sounds = [word.replace("a", "X").replace("b", "YY") for word in words]
    model = AutoEstimator(effort="fast", random_state=0).fit(words, sounds)
    assert model.model_ is not None
    assert not model.doubt_scale().scored.held_out
    assert model.doubts(["abcde", "ab7de"]).marked.tolist() == [False, True]  # a symbol that was never seen
    model.calibrate(words[:30], sounds[:30])
    assert len(model.doubt_scale().scored.losses) == 30


def test_an_answer_without_a_rival_leads_infinitely_and_an_impossible_one_not():
    from mercer.decoders import Ranked

    impossible = Ranked(np.array(["a", "b"]), np.array([-np.inf, -np.inf]))
    alone = Ranked(np.array(["a"]), np.array([1.0]))
    assert signs_of([impossible, alone]).tolist() == [[np.inf, 0.0], [-1.0, -np.inf]]
    pairs = np.arange(30)
    signs = np.column_stack([pairs.astype(float), -pairs.astype(float)])
    scored = ScoredAnswers(signs, pairs / 30, pairs, pairs, held_out=True)
    scale = DoubtScale.fitted(np.where(signs == -3, -np.inf, signs), scored)
    assert scale.beyond(signs_of([impossible, alone])).tolist() == [True, False]
    assert np.isfinite(scale.expected_losses(signs_of([impossible, alone]))).all()
