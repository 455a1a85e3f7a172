"""Contracts of the models of words: batches, safe fits, reading, threads, copies and files, as for every estimator."""

import copy
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from contracts import Interruption, assert_same, assert_unchanged, state
from sklearn.base import clone

import mercer
from mercer import AlignedSequences, Inflection

pytestmark = pytest.mark.filterwarnings("ignore::mercer.NumericalWarning")

STEMS = ["pako", "tumal", "kolu", "samat", "lopu", "mukal", "tapo", "salut", "kamo", "pulat", "motul", "lasap"]
TAGS = ["V;PRS", "V;PST", "V;NEG"]
INFLECT = {"V;PRS": lambda stem: stem + "i", "V;PST": lambda stem: stem + "t", "V;NEG": lambda stem: "ne " + stem}
LEMMAS = [(stem + "en", tags) for stem in STEMS for tags in TAGS]
FORMS = [INFLECT[tags](lemma[:-2]) for lemma, tags in LEMMAS]
CASES = {
    "AlignedSequences": (AlignedSequences(), STEMS * 2, [stem.replace("a", "ah").upper() for stem in STEMS] * 2),
    "Inflection": (Inflection(), LEMMAS, FORMS),
}
NEW = {
    "AlignedSequences": ["kapul", "x", "", "tomalu", "pa"],
    "Inflection": [
        (f"{w}en", t)
        for w, t in (("kapul", "V;PST"), ("x", "V;PRS"), ("motu", "V;NEG"), ("lapo", ""), ("sut", "V;PRS"))
    ],
}
EVERY = pytest.mark.parametrize("name", CASES)
MODELS = {}


def fitted(name):
    model, X, y = CASES[name]
    return clone(model).fit(X[6:], y[6:]).calibrate(X[:6], y[:6])


def model_of(name):
    """A model that is fitted once and only read."""
    if name not in MODELS:
        MODELS[name] = fitted(name)
    return MODELS[name]


def answers(name, model, new):
    some = CASES[name][2][:7]
    predicted, ranked, unsure = model.predict(new), model.rank(new, 3), model.abstention_score(new)
    sets, chosen = model.predict_set(new, 0.6), model.rank(new, 2, candidates=some)
    return [
        {
            "predict": predicted[i],
            "rank": (list(ranked[i].objects), ranked[i].scores),
            "predict_set": (list(sets[i].objects), sets[i].scores, sets[i].any_object),
            "abstention_score": unsure[i],
            "candidates": (list(chosen[i].objects), chosen[i].scores),
        }
        for i in range(len(new))
    ]


@EVERY
def test_answers_do_not_depend_on_the_batch(name):
    model, new = model_of(name), NEW[name]
    together = answers(name, model, new)
    assert_same([answers(name, model, [one])[0] for one in new], together, 1e-9)
    order = [3, 0, 4, 2, 1]
    assert_same(answers(name, model, [new[i] for i in order]), [together[i] for i in order], 1e-9)


@EVERY
def test_a_fit_that_raises_leaves_the_model_as_it_was(name):
    model, (_, X, y) = fitted(name), CASES[name]
    before, said = state(model), answers(name, model, NEW[name])
    for bad_X, bad_y in ((None, y), (X, None), (X, y[:-1]), (X[:0], y[:0]), (7.0, y), (X, [1.0] * len(y))):
        with pytest.raises((ValueError, TypeError)):
            model.fit(bad_X, bad_y)
        assert_unchanged(model, before)
    for bad in ((X[:4], y[:3]), (None, y[:3]), (X[:3], [3.0] * 3)):
        with pytest.raises((ValueError, TypeError)):
            model.calibrate(*bad)
        assert_unchanged(model, before)
    parameter = model.width
    model.set_params(width=-1)
    with pytest.raises(ValueError, match="width=-1"):
        model.fit(X, y)
    model.set_params(width=parameter)
    assert_unchanged(model, before)
    assert_same(answers(name, model, NEW[name]), said)


@EVERY
def test_a_fit_that_is_interrupted_leaves_the_model_as_it_was(name):
    model, (_, X, y) = fitted(name), CASES[name]
    before = state(model)
    counting = Interruption()
    counting.during(clone(model).fit, X[::-1], y[::-1])
    for at in np.linspace(1, counting.calls, 5).astype(int):
        interruption = Interruption(at)
        with pytest.raises(KeyboardInterrupt):
            interruption.during(model.fit, X[::-1], y[::-1])
        assert_unchanged(model, before, f"interrupted at call {at} of {counting.calls}, of {interruption.where}")


@EVERY
def test_a_second_fit_is_as_good_as_new(name):
    model, (_, X, y) = fitted(name), CASES[name]
    again = clone(model).fit(X[::-1], y[::-1]).fit(X[6:], y[6:]).calibrate(X[:6], y[:6])
    assert vars(again).keys() == vars(model).keys()
    assert_same(answers(name, again, NEW[name]), answers(name, model, NEW[name]))


@EVERY
def test_a_fit_takes_the_calibration_of_another_model_away(name):
    model, (_, X, y) = fitted(name), CASES[name]
    model.fit(X, y)
    with pytest.raises(ValueError, match="is not calibrated; call calibrate"):
        model.predict_set(NEW[name])


@EVERY
def test_answers_do_not_write_to_the_model(name):
    model = fitted(name)
    before = state(model)
    answers(name, model, NEW[name])
    model.score(CASES[name][1][:3], CASES[name][2][:3])
    assert_unchanged(model, before)


@EVERY
@pytest.mark.usefixtures("_hasty_threads")
def test_threads_share_a_model(name):
    model, new = model_of(name), NEW[name]
    expected = [answers(name, model, new[i : i + 2]) for i in range(4)]
    shared = fitted(name)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda i: answers(name, shared, new[i : i + 2]), range(4)))
    assert_same(found, expected, 1e-12)


@EVERY
def test_copies_and_files_say_the_same(name, tmp_path):
    model, new = model_of(name), NEW[name]
    expected = answers(name, model, new)
    assert_same(answers(name, copy.deepcopy(model), new), expected)
    assert_same(answers(name, mercer.load(mercer.save(model, tmp_path / "model")), new), expected)
    assert repr(clone(model)) == repr(model)
    assert not [part for part in vars(clone(model)) if part.endswith("_")]
