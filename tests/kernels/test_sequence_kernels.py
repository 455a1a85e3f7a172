"""Sequence kernels against enumeration, against another implementation, and at their edges."""

import itertools
import multiprocessing
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.kernels import Positions, Subsequence
from mercer.kernels.strings._lanes import LANES

words = st.lists(st.text("ab🙂", max_size=6), min_size=1, max_size=5)


def enumerated(s, length, decay):
    """φ(s): for every subsequence of such a length, the sum of decay^span over its occurrences."""
    features = Counter()
    shortest, longest = length if isinstance(length, tuple) else (length, length)
    for size in range(shortest, longest + 1):
        for positions in itertools.combinations(range(len(s)), size):
            features[tuple(s[i] for i in positions)] += decay ** (positions[-1] - positions[0] + 1)
    return features


def by_enumeration(X, Z, length, decay):
    left, right = ([enumerated(s, length, decay) for s in side] for side in (X, Z))
    return np.array([[sum(a[u] * b[u] for u in a) for b in right] for a in left])


@given(words, words, st.sampled_from([1, 2, 3, 4, (1, 2), (2, 4), (3, 3)]), st.sampled_from([0.01, 0.5, 1.0]))
@settings(max_examples=40, deadline=None)
def test_subsequences_against_enumeration(X, Z, length, decay):
    kernel = Subsequence(length, decay)
    np.testing.assert_allclose(kernel(X, Z), by_enumeration(X, Z, length, decay), rtol=1e-12)
    np.testing.assert_allclose(kernel(X), by_enumeration(X, X, length, decay), rtol=1e-12)
    np.testing.assert_allclose(kernel.diag(X), np.diag(by_enumeration(X, X, length, decay)), rtol=1e-12)
    np.testing.assert_allclose(kernel.pointwise(X[0], Z[0]), kernel(X, Z)[0, 0], rtol=1e-12)


@pytest.mark.parametrize("size", [1, LANES - 1, LANES, LANES + 1, 3 * LANES + 5])
def test_any_number_of_strings_fits_the_lanes(size):
    rng = np.random.default_rng(size)
    X = ["".join(rng.choice(list("abc"), rng.integers(0, 9))) for _ in range(size)]
    kernel = Subsequence(2, 0.7)
    gram = kernel(X)
    np.testing.assert_allclose(gram, by_enumeration(X, X, 2, 0.7), rtol=1e-12)
    np.testing.assert_allclose(kernel(X, X[:3]), gram[:, :3], rtol=1e-12)
    np.testing.assert_allclose(kernel(X[:3], X), gram[:3], rtol=1e-12)
    np.testing.assert_array_equal(kernel.diag(X), np.diag(gram))


def test_the_example_of_lodhi():
    # k(cat, car) = λ⁴, k(cat, cat) = 2λ⁴ + λ⁶
    gram = Subsequence(2, 0.5)(["cat", "car"])
    np.testing.assert_allclose(gram, [[2 / 16 + 1 / 64, 1 / 16], [1 / 16, 2 / 16 + 1 / 64]])


@pytest.mark.parametrize("decay", [0.01, 0.5, 1.0])
def test_against_strkernels(decay):
    strkernels = pytest.importorskip("strkernels", reason="it has no wheel for this system")
    # it sums the lengths 1..r, and is asked not to normalise
    rng = np.random.default_rng(0)
    X = np.array(["".join(rng.choice(list("abcd"), rng.integers(4, 30))) for _ in range(40)])
    theirs = strkernels.SubsequenceStringKernel(normalizer=None, maxlen=4, ssk_lambda=decay)(X, X)
    ours = sum(Subsequence(length, decay) for length in (1, 2, 3, 4))
    np.testing.assert_allclose(ours(X), theirs, rtol=1e-10)
    np.testing.assert_allclose(Subsequence((1, 4), decay)(X), theirs, rtol=1e-10)


def test_symbols_of_any_kind():
    text = ["the cat", "cat the", "🙂🙃the", "e\udc80he"]
    as_text = Subsequence(2)(text)
    for turn in (
        list,
        tuple,
        lambda s: [ord(c) for c in s],
        lambda s: [(c, 1) for c in s],
        lambda s: np.array(list(s)),
    ):
        np.testing.assert_array_equal(Subsequence(2)([turn(s) for s in text]), as_text)
        np.testing.assert_array_equal(Subsequence(2)([turn(s) for s in text], [turn(text[0])]), as_text[:, :1])


def test_threads_change_nothing():
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("abcd"), rng.integers(0, 60))) for _ in range(150)]
    kernel, before = Subsequence(3, 0.5), numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        alone = kernel(X), kernel(X[:90], X)
        numba.set_num_threads(min(2, numba.config.NUMBA_NUM_THREADS))
        together = kernel(X), kernel(X[:90], X)
    finally:
        numba.set_num_threads(before)
    np.testing.assert_array_equal(alone[0], together[0])
    np.testing.assert_array_equal(alone[1], together[1])


def _trace(X):
    return float(np.trace(Subsequence(3, 0.5)(X)))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
def test_it_works_in_threads_and_after_a_fork():
    X = ["abcd" * 20, "bcda" * 20, "dcab" * 15] * 20
    expected = _trace(X)
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(_trace, [X] * 6)) == [expected] * 6
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply_async(_trace, (X,)).get(timeout=60) == expected


def test_strings_too_short_have_no_norm_and_are_not_seen():
    X = ["abc", "ab", ""]
    kernel = Subsequence(3)
    assert kernel.sees(X).tolist() == [True, False, False]
    np.testing.assert_array_equal(kernel(X)[1:], 0.0)
    cosine = kernel.normalized()
    assert cosine.sees(X).tolist() == [True, False, False]
    assert Subsequence((2, 3)).sees(X).tolist() == [True, True, False]
    np.testing.assert_array_equal(cosine(X), [[1, 0, 0], [0, 0, 0], [0, 0, 0]])
    np.testing.assert_array_equal(cosine.diag(X), [1, 0, 0])


def test_values_too_small_to_square_are_normalized_all_the_same():
    X = ["ab" * 50, "abb" * 40]
    kernel = Subsequence(42, 0.01)
    assert 0 < kernel.diag(X)[0] < 1e-162
    np.testing.assert_allclose(np.diag(kernel.normalized()(X)), 1.0)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Subsequence(length=0), "length=0 in Subsequence; expected a whole number"),
        (Subsequence(length=2.0), "length=2.0"),
        (Subsequence(length=(3, 2)), r"length=\(3, 2\).*shortest, longest"),
        (Subsequence(decay=0), "decay=0 in Subsequence; expected a number above 0, at most 1"),
        (Subsequence(decay=1.5), "decay=1.5"),
        (Subsequence(decay=np.nan), "decay=nan"),
    ],
    ids=repr,
)
def test_parameters_out_of_range(kernel, message):
    with pytest.raises(ValueError, match=message):
        kernel(["abc"])


@pytest.mark.parametrize("kernel", [Subsequence(), Positions()], ids=repr)
@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ("abc", TypeError, "X is a single str, 'abc'; expected a collection"),
        (["abc", 3], TypeError, r"X\[1\] is 3, a int; expected a sequence"),
        (["abc", {"a"}], TypeError, r"X\[1\] is {'a'}, a set"),
        (["abc", ("a", "b")], TypeError, r"mixes strings and other sequences: X\[0\] is 'abc' and X\[1\]"),
        ([("a", ["b"])], TypeError, r"X\[0\].*no hash"),
        (["abc", None], ValueError, r"X\[1\] is None"),
        ([], ValueError, "empty"),
        (np.ones(3), TypeError, r"X\[0\] is 1.0, a float"),
    ],
    ids=repr,
)
def test_what_is_no_sequence(kernel, X, error, message):
    with pytest.raises(error, match=message):
        kernel(X)


@pytest.mark.parametrize("kernel", [Subsequence(), Positions()], ids=repr)
def test_strings_and_token_lists_do_not_mix(kernel):
    with pytest.raises(TypeError, match=r"X\[0\] is 'abc' and Z\[0\] is \['a', 'b'\]"):
        kernel(["abc"], [["a", "b"]])


# -- positions ----------------------------------------------------------------------------------------


@given(words, words)
@settings(max_examples=25, deadline=None)
def test_positions_that_agree(X, Z):
    wanted = [[sum(a == b for a, b in zip(x, z, strict=False)) for z in Z] for x in X]
    np.testing.assert_array_equal(Positions()(X, Z), wanted)
    features = Positions().feature_map(X)
    np.testing.assert_array_equal(features(Z) @ features(X).T, Positions()(Z, X))


def test_the_layout_of_the_one_hot_blocks():
    features = Positions().feature_map(["ba", "c"])
    assert (features.symbols, features.positions, features.dimension) == (["b", "a", "c"], 2, 6)
    np.testing.assert_array_equal(
        features(["ab", "xb", "cab"]), [[0, 1, 0, 1, 0, 0], [0, 0, 0, 1, 0, 0], [0, 0, 1, 0, 1, 0]]
    )


def test_empty_sequences_are_seen_under_positions():
    assert Positions().sees(["", "a"]).tolist() == [True, True]
    np.testing.assert_array_equal(Positions()(["", ""]), np.zeros((2, 2)))
    assert Positions().feature_map(["", ""])(["a"]).shape == (1, 0)
