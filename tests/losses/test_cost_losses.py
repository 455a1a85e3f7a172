"""Costs set by the user: tables of classes and prices of edits, and that decoding for them pays."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import mercer
from mercer import DependencyEstimator
from mercer.core.collections import as_objects
from mercer.decoders import Candidates, ExpectedLoss
from mercer.kernels import Classes, Gaussian, Spectrum, Subsequence
from mercer.losses import CostMatrix, EditDistance, WeightedEditDistance

COSTS = np.array([[0.0, 1.0, 4.0], [20.0, 0.5, 2.0], [3.0, 3.0, 0.0]])


@pytest.mark.parametrize("classes", [["a", "b", "c"], [0, 1, 2], [(0, 1), "x", 3.5]], ids=repr)
def test_the_table_is_looked_up(classes):
    loss = CostMatrix(classes, COSTS)
    objects = as_objects(classes)
    np.testing.assert_array_equal(loss.matrix(objects, objects), COSTS)
    np.testing.assert_array_equal(loss.paired(objects, objects[[1, 2, 0]]), COSTS[[0, 1, 2], [1, 2, 0]])
    assert loss(classes[1], classes[0]) == 20.0
    assert clone(loss) == loss
    assert repr(CostMatrix(["a"], [[0.0]])) == "CostMatrix(classes=['a'], costs=[[0.0]])"


def test_numbers_are_classes_whatever_their_precision():
    loss = CostMatrix([0, 1, 2], COSTS.tolist())
    np.testing.assert_array_equal(
        loss.matrix(np.array([0.0, 1.0]), np.array([2, 0], dtype=np.int8)), COSTS[:2][:, [2, 0]]
    )


@pytest.mark.parametrize(
    ("classes", "costs", "message"),
    [
        (["a", "b"], [[0.0, 1.0]], r"costs has shape \(1, 2\) in CostMatrix; expected \(2, 2\)"),
        (["a", "b"], [[0.0, np.nan], [1.0, 0.0]], r"costs\[0, 1\] is nan in CostMatrix; expected a finite number"),
        (
            ["a", "b"],
            [[0.0, 1.0], [1.0]],
            r"costs=\[\[0.0, 1.0\], \[1.0\]\] in CostMatrix; expected 2 rows of 2 numbers",
        ),
        (["a", "b"], [["x", "y"], ["z", "w"]], "expected 2 rows of 2 numbers"),
        (None, [[0.0]], "classes=None in CostMatrix; expected the classes in a list"),
        (["a", "a"], [[0.0, 1.0], [1.0, 0.0]], "each class once"),
        (["a", "c"], [[0.0, 1.0], [1.0, 0.0]], r"y_pred\[0\] is 'b'; expected one of the classes \['a', 'c'\]"),
    ],
)
def test_bad_tables_are_named(classes, costs, message):
    with pytest.raises(ValueError, match=message):
        CostMatrix(classes, costs)("a", "b")


def cost_sensitive(seed, n):
    """Two classes that overlap: the rare one is dear to miss."""
    rng = np.random.default_rng(seed)
    labels = (rng.uniform(size=n) < 0.25).astype(int)
    return rng.normal(labels * 1.5, 1.0)[:, None], np.array(["healthy", "ill"], dtype=object)[labels]


def test_decoding_for_the_cost_beats_plain_decoding():
    loss = CostMatrix(["healthy", "ill"], [[0.0, 1.0], [10.0, 0.0]])
    X, y = cost_sensitive(0, 200)
    test, truth = cost_sensitive(1, 1000)
    plain = DependencyEstimator(Gaussian(1.0), Classes()).fit(X, y)
    matched = DependencyEstimator(Gaussian(1.0), Classes(), loss=loss).fit(X, y)
    assert isinstance(plain.decoder_, Candidates)
    assert isinstance(matched.decoder_, ExpectedLoss)
    before, after = (np.mean(loss.paired(truth, model.predict(test))) for model in (plain, matched))
    assert after < 0.6 * before
    assert matched.score(test, truth) == pytest.approx(-after)
    # with equal costs nothing is bought
    even = DependencyEstimator(Gaussian(1.0), Classes(), loss=CostMatrix(["healthy", "ill"], [[0, 1], [1, 0]])).fit(
        X, y
    )
    assert np.mean(even.predict(test) != truth) == pytest.approx(np.mean(plain.predict(test) != truth), abs=0.02)


def test_a_cost_of_any_objects_is_what_is_minimised():
    """Saying too long a string is dear: answers get shorter than under plain decoding."""
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("ab"), size=6)) for _ in range(60)]
    y = [x[: rng.integers(2, 6)] for x in X]
    dear = WeightedEditDistance(insertion=10.0)
    plain = DependencyEstimator(Subsequence(2), Spectrum((1, 2)), loss=EditDistance(), alpha=0.1).fit(X, y)
    short = DependencyEstimator(Subsequence(2), Spectrum((1, 2)), loss=dear, alpha=0.1).fit(X, y)
    before, after = plain.predict(X), short.predict(X)
    assert np.mean([len(a) for a in after]) < np.mean([len(b) for b in before])
    assert np.mean(dear.paired(y, after)) < np.mean(dear.paired(y, before))


def reference(loss, a, b):
    prices = {(x, z): price for x, z, price in loss.pairs}

    @cache
    def price(i, j):
        found = []
        if i == j == 0:
            return 0.0
        if i and j:
            same = a[i - 1] == b[j - 1]
            found.append(price(i - 1, j - 1) + (0.0 if same else prices.get((a[i - 1], b[j - 1]), loss.replacement)))
        if i:
            found.append(price(i - 1, j) + loss.deletion)
        if j:
            found.append(price(i, j - 1) + loss.insertion)
        return min(found)

    return price(len(a), len(b))


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.text("abé", max_size=5), min_size=1, max_size=4),
    st.lists(st.text("abc", max_size=5), min_size=1, max_size=4),
)
def test_prices_of_edits_are_those_of_the_definition(left, right):
    loss = WeightedEditDistance(0.7, 1.5, 1.1, [("a", "b", 0.2), ("é", "c", 3.0), ("z", "a", 0.0)])
    expected = [[reference(loss, a, b) for b in right] for a in left]
    np.testing.assert_allclose(loss.matrix(left, right), expected)
    np.testing.assert_allclose(
        loss.paired(left, (right * 4)[: len(left)]),
        [reference(loss, a, b) for a, b in zip(left, right * 4, strict=False)],
    )
    np.testing.assert_allclose(WeightedEditDistance().matrix(left, right), EditDistance().matrix(left, right))


def test_prices_for_tokens_and_bad_prices():
    loss = WeightedEditDistance(pairs=[("colour", "color", 0.0)])
    assert loss(["a", "colour"], ["a", "color"]) == 0.0
    with pytest.raises(
        ValueError, match="insertion=-1; expected a finite number, zero or more, in WeightedEditDistance"
    ):
        WeightedEditDistance(insertion=-1)("a", "b")
    with pytest.raises(ValueError, match="price of 'a' → 'b'=nan; expected a finite number"):
        WeightedEditDistance(pairs=[("a", "b", float("nan"))])("a", "b")
    with pytest.raises(
        ValueError,
        match=r"pairs=\[\('a', 'b'\)\] in WeightedEditDistance; expected a list of \(true, predicted, price\)",
    ):
        WeightedEditDistance(pairs=[("a", "b")])("a", "b")
    with pytest.raises(ValueError, match="pairs=3 in WeightedEditDistance; expected a list"):
        WeightedEditDistance(pairs=3)("a", "b")
    with pytest.raises(TypeError, match="expected a sequence"):
        loss(3, 4)


def test_models_with_costs_are_saved_whole(tmp_path):
    pytest.importorskip("skops", reason="skops is not installed")
    X, y = cost_sensitive(0, 60)
    loss = CostMatrix(["healthy", "ill"], [[0.0, 1.0], [10.0, 0.0]])
    model = DependencyEstimator(Gaussian(1.0), Classes(), loss=loss, alpha=0.1).fit(X, y)
    loaded = mercer.load(mercer.save(model, tmp_path / "model"))
    assert loaded.predict(X).tolist() == model.predict(X).tolist()
    assert repr(loaded) == repr(model)
    words = ["abab", "abba", "baab", "bbaa"]
    priced = DependencyEstimator(
        Subsequence(2), Subsequence(2), loss=WeightedEditDistance(pairs=[("a", "b", 0.1)]), alpha=0.1
    )
    priced.fit(words, words)
    assert (
        mercer.load(mercer.save(priced, tmp_path / "other")).predict(words).tolist() == priced.predict(words).tolist()
    )
