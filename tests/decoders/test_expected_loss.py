"""Expected loss: the weighted mean of the user's own loss, minimised over candidates."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.core import memory
from mercer.core.arrays import to_numpy
from mercer.core.collections import as_objects, count
from mercer.decoders import Candidates, ExpectedLoss, best
from mercer.embeddings import Distinct, Implicit
from mercer.kernels import Gaussian, LabelSets, Linear, Subsequence
from mercer.losses import CallableLoss, EditDistance, ZeroOne
from mercer.testing import check_decoder


def lopsided(y, z):
    """Not symmetric: naming too many labels costs more than naming too few."""
    return len(set(y) - set(z)) + 3.0 * len(set(z) - set(y))


SETS = as_objects([{1}, {1, 2}, {2}, {1}, {2, 3}, frozenset({1})])


def naive(weights, outputs, candidates, loss):
    return np.array(
        [[sum(w * loss(y, z) for w, y in zip(row, outputs, strict=True)) for z in candidates] for row in weights]
    )


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_decodes_to_the_naive_least_expected_loss(seed):
    W = np.random.default_rng(seed).normal(size=(4, len(SETS)))
    decoder = ExpectedLoss().fit(Implicit().fit(LabelSets(), SETS), lopsided)
    candidates = [{1}, {1, 2}, {2}, {2, 3}]
    expected = naive(W, SETS, candidates, lopsided)
    chosen = [candidates.index(set(y)) for y in decoder.decode(W)]
    np.testing.assert_allclose(expected[np.arange(4), chosen], expected.min(axis=1), atol=1e-12)
    for ranked, row in zip(decoder.rank(W, 4), expected, strict=True):
        np.testing.assert_allclose(ranked.scores, np.sort(-row)[::-1], atol=1e-12)


def test_true_output_is_the_first_argument():
    # of {1} and {1, 2} equally likely, the cheaper mistake is to name too few
    embedding = Implicit().fit(LabelSets(), as_objects([{1, 2}, {1}]))
    half = np.array([[0.5, 0.5]])
    assert ExpectedLoss().fit(embedding, lopsided).decode(half)[0] == {1}
    other_way = ExpectedLoss().fit(embedding, lambda y, z: lopsided(z, y))
    assert other_way.decode(half)[0] == {1, 2}


def test_the_loss_is_called_once_for_each_distinct_pair():
    calls = []
    embedding = Implicit().fit(LabelSets(), SETS)
    decoder = ExpectedLoss().fit(embedding, lambda y, z: calls.append((y, z)) or lopsided(y, z))
    assert len(calls) == 16  # four distinct sets
    decoder.decode(np.ones((5, 6)))
    decoder.rank(np.ones((5, 6)), 2)
    assert len(calls) == 16


def test_candidates_given_are_scored_against_the_training_outputs():
    W = np.random.default_rng(0).normal(size=(5, len(SETS)))
    decoder = ExpectedLoss().fit(Implicit().fit(LabelSets(), SETS), lopsided)
    own = [{5}, {1, 2, 3}, set()]
    expected = naive(W, SETS, own, lopsided)
    found = best(decoder.choose(W, own))
    assert [own.index(y) for y in found] == expected.argmin(axis=1).tolist()
    np.testing.assert_allclose(decoder.objective(W, found), expected.min(axis=1))


def test_leaving_out_and_ties():
    strings = as_objects(["ab", "ba", "ab", "bb"])
    decoder = ExpectedLoss().fit(Implicit().fit(Subsequence(1, 0.5), strings), ZeroOne())
    assert decoder.decode(np.zeros((1, 4))).tolist() == ["ab"]  # all tie
    left = decoder.decode(np.eye(4), leave_out=np.arange(4))
    assert left.tolist() == ["ab", "ab", "ab", "ab"]
    assert decoder.decode(np.eye(4)).tolist() == strings.tolist()


def test_with_the_squared_distance_it_agrees_with_candidates_when_weights_sum_to_one():
    rng = np.random.default_rng(1)
    Y, W = rng.normal(size=(6, 2)), rng.normal(size=(9, 6))
    W /= W.sum(axis=1, keepdims=True)
    embedding = Implicit().fit(Linear(), Y)
    np.testing.assert_array_equal(
        ExpectedLoss().fit(embedding, "kernel").decode(W), Candidates().fit(embedding).decode(W)
    )


def test_a_loss_is_required_and_has_to_be_finite():
    embedding = Implicit().fit(Gaussian(1.0), np.eye(2))
    with pytest.raises(ValueError, match="ExpectedLoss needs a loss and got None"):
        ExpectedLoss().fit(embedding)
    with pytest.raises(ValueError, match=r"returned nan for y_true\[0\]"):
        ExpectedLoss().fit(embedding, lambda y, z: float("nan"))


@pytest.mark.parametrize("loss", [EditDistance(), CallableLoss(lambda y, z: abs(len(y) - len(z)))])
def test_contract(loss):
    strings = as_objects(["abc", "ab", "bca", "abcd", "ab"])
    embedding = Implicit().fit(Subsequence(1, 0.5), strings)
    H = np.random.default_rng(2).normal(size=(5, 5))
    check_decoder(ExpectedLoss(), embedding, H, loss=loss)
    check_decoder(ExpectedLoss(batch_size=2), embedding, H, loss=loss)


def test_memory_is_checked_before_the_losses(monkeypatch):
    embedding = Implicit().fit(Linear(), np.arange(50.0)[:, None])
    monkeypatch.setattr(memory, "SMALL", 0)
    monkeypatch.setattr(memory, "available_bytes", lambda *_: 20_000)

    def never(y, z):
        raise AssertionError("the loss was called")

    with pytest.raises(MemoryError, match=r"50 × 50 doubles.*fewer outputs.*decoder=Candidates\(\), or loss=None"):
        ExpectedLoss().fit(embedding, never)


@pytest.mark.parametrize("embedding", [Implicit(), Distinct()])
def test_outputs_without_inputs_are_candidates_and_have_no_weight(embedding):
    calls, paired = [], 4  # three distinct sets with an input, four in all
    embedding.fit(LabelSets(), SETS, paired)
    decoder = ExpectedLoss().fit(embedding, lambda y, z: calls.append((y, z)) or lopsided(y, z))
    assert len(calls) == 3 * 4
    W = np.random.default_rng(0).normal(size=(5, count(embedding.weighted_outputs)))
    expected = naive(W, embedding.weighted_outputs, [{1}, {1, 2}, {2}, {2, 3}], lopsided)
    np.testing.assert_allclose(to_numpy(decoder.scores(W)), -expected, atol=1e-12)
    np.testing.assert_allclose(decoder.support(W), W.sum(axis=1), atol=1e-12)
