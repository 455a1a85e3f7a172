"""Per position: exact against the enumeration of all short strings."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.core.collections import as_objects
from mercer.decoders import PerPosition
from mercer.embeddings import Features, Implicit, Spectral
from mercer.kernels import Positions, Subsequence
from mercer.testing import check_decoder

OUTPUTS = as_objects(["abca", "cab", "b", "acc", "abca", ""])
ALL = ["".join(s) for n in range(5) for s in product("abc", repeat=n)]


def distance(weights, y):
    """‖Σ w_j ψ(y_j) − ψ(y)‖² up to a constant, from the kernel's definition."""
    kernel = Positions().pointwise
    pairs = zip(weights, OUTPUTS, strict=True)
    return kernel(y, y) - 2 * sum(w * kernel(o, y) for w, o in pairs)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([None, 0, 2, 4]))
def test_no_string_is_nearer(seed, length):
    W = np.random.default_rng(seed).normal(size=(3, 6))
    decoder = PerPosition(length).fit(Implicit().fit(Positions(), OUTPUTS))
    allowed = [s for s in ALL if length is None or len(s) == length]
    for y, w in zip(decoder.decode(W), W, strict=True):
        assert y in allowed
        np.testing.assert_allclose(distance(w, y), min(distance(w, s) for s in allowed))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([None, 0, 2, 4]), st.sampled_from([1, 3, 40, 200]))
def test_the_best_of_all_strings_are_ranked(seed, length, k):
    W = np.random.default_rng(seed).normal(size=(3, 6))
    decoder = PerPosition(length).fit(Implicit().fit(Positions(), OUTPUTS))
    allowed = [s for s in ALL if length is None or len(s) == length]
    for first, found, w in zip(decoder.decode(W), decoder.rank(W, k), W, strict=True):
        assert found.objects[0] == first
        assert len(set(found.objects)) == len(found.objects) == min(k, len(allowed))
        assert set(found.objects) <= set(allowed)
        expected = sorted(-distance(w, s) for s in allowed)[::-1][:k]
        np.testing.assert_allclose(found.scores, expected, atol=1e-12)
        np.testing.assert_allclose(found.scores, [-distance(w, s) for s in found.objects], atol=1e-12)


def test_ties_and_rounding_do_not_part_rank_and_decode():
    rng = np.random.default_rng(0)
    decoder = PerPosition().fit(Implicit().fit(Positions(), OUTPUTS))
    few = rng.integers(-2, 3, (300, 6)) / 4  # sums of few values tie, and large ones swallow small differences
    W = np.vstack([few, few + 1e-17 * rng.normal(size=few.shape), 1e9 * few + 1e-7 * rng.integers(0, 2, few.shape)])
    firsts = [found.objects[0] for found in decoder.rank(W, 5)]
    assert firsts == decoder.decode(W).tolist()


def test_a_long_sequence_of_many_symbols_is_ranked_at_once():
    rng = np.random.default_rng(1)
    outputs = as_objects([tuple(rng.integers(0, 30, 25).tolist()) for _ in range(20)])
    decoder = PerPosition().fit(Implicit().fit(Positions(), outputs))
    W = 3.0 * rng.random((4, 20))
    for found, first in zip(decoder.rank(W, 50), decoder.decode(W), strict=True):
        assert len(set(found.objects)) == 50
        assert found.objects[0] == first
    few = decoder.choose(W, outputs[:3], k=5)  # candidates given are all there is
    assert all(sorted(found.objects.tolist()) == sorted(outputs[:3].tolist()) for found in few)
    assert all(len(found.objects) == 20 for found in decoder.rank_training(W, 100))


@pytest.mark.parametrize("k", [0, -1, 1.5, True])
def test_how_many_to_rank_is_a_whole_number(k):
    decoder = PerPosition().fit(Implicit().fit(Positions(), OUTPUTS))
    with pytest.raises(ValueError, match=rf"k={k!r}; expected how many objects to return"):
        decoder.rank(np.ones((1, 6)), k)


@pytest.mark.parametrize("kernel", [Positions(), 4.0 * Positions()])
@pytest.mark.parametrize("embedding", [Implicit(), Features(), Spectral()])
def test_every_embedding_and_factor_gives_the_same(kernel, embedding):
    W = np.random.default_rng(0).normal(size=(20, 6))
    fitted = embedding.fit(kernel, OUTPUTS)
    H = W if fitted.coordinates_ is None else W @ fitted.coordinates_
    plain = PerPosition().fit(Implicit().fit(Positions(), OUTPUTS)).decode(W)
    assert PerPosition().fit(fitted).decode(H).tolist() == plain.tolist()
    ranked = PerPosition().fit(fitted).rank(H, 30)
    for found, weights in zip(ranked, W, strict=True):
        expected = [-kernel.pointwise("a", "a") * distance(weights, y) for y in found.objects]
        np.testing.assert_allclose(found.scores, expected, atol=1e-9)
    check_decoder(PerPosition(), fitted, H)


def test_ties_go_to_the_symbol_seen_first_and_the_shorter_string():
    decoder = PerPosition().fit(Implicit().fit(Positions(), as_objects(["ba", "ab"])))
    assert decoder.decode(np.array([[1.0, 1.0]])).tolist() == ["bb"]
    assert decoder.decode(np.array([[0.5, 0.0]])).tolist() == [""]


@pytest.mark.parametrize("outputs", [[("x", 1), ("x", 2)], [["x", 1], ["x", 2]]], ids=["tuples", "lists"])
def test_sequences_keep_their_kind(outputs):
    decoder = PerPosition().fit(Implicit().fit(Positions(), as_objects(outputs)))
    assert decoder.decode(np.array([[0.2, 0.7]])).tolist() == [outputs[1]]


def test_leaving_out_changes_nothing():
    W = np.random.default_rng(1).normal(size=(6, 6))
    decoder = PerPosition().fit(Implicit().fit(Positions(), OUTPUTS))
    assert decoder.decode(W, leave_out=np.arange(6)).tolist() == decoder.decode(W).tolist()


def test_wrong_lengths_and_kernels_are_refused():
    embedding = Implicit().fit(Positions(), OUTPUTS)
    with pytest.raises(ValueError, match="length=5; expected a whole number up to 4, the length of the longest"):
        PerPosition(5).fit(embedding)
    for length in (-1, 2.5, True):
        with pytest.raises(ValueError, match="expected a whole number"):
            PerPosition(length).fit(embedding)
    with pytest.raises(TypeError, match=r"Positions\(\) as output kernel, and came with Subsequence"):
        PerPosition().fit(Implicit().fit(Subsequence(2, 0.5), OUTPUTS))
