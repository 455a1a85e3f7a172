"""Every estimator by every method of uncertainty: held out, left out, jackknife+; groups, labels, weights under a shift."""

from functools import cache

import numpy as np
import pytest
from sklearn.base import clone
from test_every_estimator import CASES, NEW_WORDS, WORDS

from mercer.core.collections import hash_key
from mercer.sequence_models import AlignedSequences, Inflection

pytestmark = pytest.mark.filterwarnings("ignore::mercer.NumericalWarning")

N, COVERAGE = 14, 0.6
LABELS = np.arange(N) % 2
GROUPS = np.repeat(np.arange(7), 2)
RATIOS = np.linspace(0.5, 2.0, N)
SPELLED = [word.replace("a", "e") for word in WORDS]


def regions(model, new, **options):
    """Sets of objects, and for vectors intervals, boxes and ellipsoids, in a form that can be compared."""
    sets = model.predict_set(new, COVERAGE, **options)
    found = [sorted(map(repr, map(hash_key, one.objects))) for one in sets]
    ends = []
    if getattr(getattr(model, "_codec", None), "row_shape", None) is not None:
        for whole in (False, True):
            ends += [np.asarray(side) for side in model.predict_interval(new, COVERAGE, simultaneous=whole, **options)]
        if "method" not in options:
            ends.append(model.predict_ellipsoid(new, COVERAGE, **options).radii)
    return found, ends


def assert_same_regions(found, expected):
    assert found[0] == expected[0]
    for mine, theirs in zip(found[1], expected[1], strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9)


@cache
def calibrated(name, groups=False):
    """A model with the pairs held out at hand; they are training pairs, which does not matter here."""
    case = CASES[name]
    return case.fitted().calibrate(case.X, case.Y, GROUPS if groups else None)


@cache
def fitted(name, groups=False):
    case = CASES[name]
    return clone(case.model).fit(case.X, case.Y, **({"groups": GROUPS} if groups else {}))


EVERY = pytest.mark.parametrize("name", CASES)
SOURCES = pytest.mark.parametrize("model_of", [calibrated, fitted], ids=["held out", "left out"])


@EVERY
@SOURCES
def test_regions_for_a_label_are_those_of_its_pairs(name, model_of):
    """Mondrian: an input of label 0 is calibrated by the pairs of label 0, so weights of zero on the others say the same."""
    case, model = CASES[name], model_of(name)
    new = np.array([0, 1, 0, 1, 0])
    apart = regions(model, case.new, by=(LABELS, new))
    for label in (0, 1):
        alone = regions(model, case.new, weights=((label == LABELS).astype(float), np.ones(5)))
        rows = np.flatnonzero(new == label)
        assert_same_regions(
            ([apart[0][i] for i in rows], [part[rows] for part in apart[1]]),
            ([alone[0][i] for i in rows], [part[rows] for part in alone[1]]),
        )


@EVERY
@SOURCES
def test_a_factor_of_the_weights_does_not_matter_and_their_size_does(name, model_of):
    case, model = CASES[name], model_of(name)
    some = regions(model, case.new, weights=(RATIOS, np.ones(5)))
    assert_same_regions(regions(model, case.new, weights=(4 * RATIOS, np.full(5, 4.0))), some)
    assert_same_regions(regions(model, case.new, weights=(np.ones(N), np.ones(5))), regions(model, case.new))
    heavy = regions(model, case.new, weights=(np.ones(N), np.full(5, 1e6)))
    if heavy[1]:  # a new input unlike all others: nothing is known about its output
        assert np.isinf(heavy[1][0]).all()
    assert [len(one) for one in heavy[0]] >= [len(one) for one in regions(model, case.new)[0]]


@EVERY
@SOURCES
def test_each_group_counts_as_one(name, model_of):
    case, model = CASES[name], model_of(name, groups=True)
    pairs = model._known_pairs(held_out=True)
    np.testing.assert_allclose(pairs.mass(np.arange(N)), 0.5)
    halves = regions(model, case.new, weights=(np.ones(N), np.ones(5)))
    assert_same_regions(regions(model, case.new), halves)
    # of 7 groups, 8 with the new one, 7/8 is the most that can be had
    with pytest.warns(UserWarning, match="cannot be promised"):
        model.predict_set(case.new, 0.9)
    alone = [regions(model, case.new[i : i + 1])[0][0] for i in range(5)]
    assert alone == regions(model, case.new)[0]


@EVERY
def test_the_jackknife_or_why_not(name):
    case, model = CASES[name], fitted(name)
    try:
        plain = regions(model, case.new, method="jackknife+")
    except ValueError as error:
        assert "has no jackknife+ here; use method='auto' or calibrate(X, y)" in str(error)  # noqa: PT017
        return
    assert getattr(model.map_, "leaves_out_by_weights", False)
    ones = {"weights": (np.ones(N), np.ones(5))}
    assert_same_regions(regions(model, case.new, method="jackknife+", **ones), plain)
    assert_same_regions(regions(model, case.new, method="jackknife+", by=(np.zeros(N), np.zeros(5))), plain)
    own = regions(model, case.new, method="jackknife+", by=(LABELS, [0, 1, 0, 1, 0]))
    half = regions(model, case.new, method="jackknife+", weights=((LABELS == 0).astype(float), np.ones(5)))
    assert [own[0][i] for i in (0, 2, 4)] == [half[0][i] for i in (0, 2, 4)]
    grouped = fitted(name, groups=True)
    assert len(grouped.predict_set(case.new, COVERAGE, method="jackknife+")) == 5


@EVERY
def test_sets_with_constructed_objects(name):
    case, model = CASES[name], fitted(name)
    if model._codec.row_shape is not None:
        with pytest.raises(ValueError, match="outputs are vectors; use predict_interval"):
            model.predict_set(case.new, COVERAGE, candidates="constructed")
        return
    with pytest.raises(ValueError, match="candidates='all'; expected 'constructed'"):
        model.predict_set(case.new, COVERAGE, candidates="all")
    for one in (model, calibrated(name)):
        plain = one.predict_set(case.new, COVERAGE)
        sets = one.predict_set(case.new, COVERAGE, candidates="constructed")
        # what is made can only make right answers known, and the threshold lower
        assert one._constructed_calibration_.unlisted <= one._calibrated(one.decoder_).unlisted
        for found, other in zip(sets, plain, strict=True):
            assert len(set(map(hash_key, found.objects))) == len(found.objects)
            assert (np.diff(found.scores) <= 1e-9).all()
            assert len(other.objects) == len(other.scores)
        every = one.predict_set(case.new, 0.999, candidates="constructed")
        predicted = super(type(one), one).predict(case.new) if name.startswith("Auto") else one.predict(case.new)
        for found, made in zip(every, predicted, strict=True):
            assert hash_key(made) in set(map(hash_key, found.objects))


# -- estimators of words ----------------------------------------------------------------------------------------

WORD_MODELS = {"aligned": AlignedSequences(), "inflection": Inflection()}


@pytest.mark.parametrize("name", WORD_MODELS)
def test_estimators_of_words(name):
    model = clone(WORD_MODELS[name]).fit(WORDS, SPELLED)
    with pytest.raises(Exception, match="is not calibrated; call calibrate"):
        model.predict_set(NEW_WORDS)
    with pytest.raises(ValueError, match="cv=1; expected a number of folds from 2 to 14"):
        model.calibrate(WORDS, SPELLED, cv=1)
    with pytest.raises(ValueError, match="groups has 2 labels; expected one for each of the 14"):
        model.calibrate(WORDS, SPELLED, groups=[1, 2])
    for options in ({}, {"groups": GROUPS}, {"cv": 3}, {"cv": 3, "groups": GROUPS}):
        model.calibrate(WORDS, SPELLED, **options)
        sets = model.predict_set(NEW_WORDS, 0.7)
        for found, ranked in zip(sets, model.rank(NEW_WORDS, 10**6), strict=True):
            assert found.objects.tolist() == ranked.objects[: len(found.objects)].tolist()
        alone = [model.predict_set([word], 0.7)[0].objects.tolist() for word in NEW_WORDS]
        assert alone == [found.objects.tolist() for found in sets]
        unsure = model.abstention_score(NEW_WORDS)
        assert ((unsure >= 0) & (unsure <= 1)).all()
        apart = model.predict_set(NEW_WORDS, 0.6, by=lambda word: len(word) % 2)
        assert len(apart) == len(NEW_WORDS)
        half = model.predict_set(NEW_WORDS, 0.6, weights=(np.linspace(1, 2, 14), np.ones(5)))
        assert len(half) == len(NEW_WORDS)


def test_right_answers_that_are_not_found_are_counted():
    model = AlignedSequences().fit(WORDS, SPELLED).calibrate(WORDS, ["zz", *SPELLED[1:]])
    assert model.calibration_.unlisted == 1
    assert model.calibration_.reachable == pytest.approx(13 / 14)
    with pytest.warns(UserWarning, match=r"7.1% of 14 right answers were not among the outputs found"):
        model.predict_set(NEW_WORDS, 0.95)


@EVERY
@SOURCES
def test_doubts_of_one_input_are_those_in_a_batch(name, model_of):
    case, model = CASES[name], model_of(name)
    every = model.doubts(case.new)
    assert every.expected_loss.shape == every.doubt.shape == every.marked.shape == (5,)
    assert np.all(np.isnan(every.doubt) | (every.doubt == 1.0))  # 14 pairs are too few
    assert np.isfinite(every.expected_loss).all()
    alone = model.doubts(case.new[2:3])
    np.testing.assert_allclose(alone.expected_loss, every.expected_loss[2:3], rtol=1e-7, atol=1e-12)
    assert alone.marked.tolist() == every.marked[2:3].tolist()
