"""Mismatches and places: kernels of n-grams that agree nearly, against their definitions, and at their edges."""

from itertools import product

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.kernels import Mismatch, Positions, Spectrum, WeightedDegree
from mercer.kernels.strings._lanes import LANES

words = st.lists(st.text("abc", max_size=6), min_size=1, max_size=4)


# -- mismatches ---------------------------------------------------------------------------------------


def near_counts(s, length, mismatches, alphabet):
    """φ(s) as it is written: for every word over the alphabet, the n-grams that differ in few places."""
    grams = [s[i : i + length] for i in range(len(s) - length + 1)]
    return [
        sum(sum(a != b for a, b in zip(gram, word, strict=True)) <= mismatches for gram in grams)
        for word in product(alphabet, repeat=length)
    ]


@given(words, words, st.sampled_from([(1, 0), (2, 1), (3, 0), (3, 1), (3, 2)]), st.sampled_from(["abc", "ab", "abcd"]))
@settings(max_examples=40, deadline=None)
def test_mismatches_against_all_words(X, Z, sizes, alphabet):
    left, right = (np.array([near_counts(s, *sizes, alphabet) for s in side], dtype=float) for side in (X, Z))
    kernel = Mismatch(*sizes, alphabet)
    np.testing.assert_array_equal(kernel(X, Z), left @ right.T)
    np.testing.assert_array_equal(kernel(X), left @ left.T)
    np.testing.assert_array_equal(kernel.diag(Z), np.sum(right**2, axis=1))
    np.testing.assert_array_equal(kernel.sees(Z), right.any(axis=1))
    assert kernel.pointwise(X[0], Z[0]) == left[0] @ right[0]
    features = kernel.feature_map(X)
    np.testing.assert_array_equal(features(Z) @ features(X).T, right @ left.T)
    assert features.dimension == np.count_nonzero(left.any(axis=0))


def test_no_mismatch_is_the_spectrum():
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("abcd"), rng.integers(0, 20))) for _ in range(30)]
    np.testing.assert_array_equal(Mismatch(3, 0).resolve(X)(X), Spectrum(3)(X))


def test_the_alphabet_is_that_of_the_training_objects():
    assert Mismatch(2, 1).resolve(["ba", "cab", ""]) == Mismatch(2, 1, "abc")
    assert Mismatch(2, 1).resolve([["to", "be"], ["or"]]) == Mismatch(2, 1, ("to", "be", "or"))
    with pytest.raises(ValueError, match="learned from data; call kernel.resolve"):
        Mismatch(2, 1)(["ab"])
    with pytest.raises(ValueError, match=r"the 2 training objects of Mismatch.* have no symbols, and so no alphabet"):
        Mismatch(2, 1).resolve(["", ""])


def test_symbols_outside_the_alphabet_spend_mismatches():
    kernel = Mismatch(3, 1, "ab")
    assert kernel.sees(["abx", "xxa", "ab", ""]).tolist() == [True, False, False, False]
    # abx is near aba and abb; aba is near itself, bba, aaa, abb
    assert kernel(["abx"], ["aba"])[0, 0] == 2.0
    np.testing.assert_allclose(kernel.normalized()(["xxa", "abx"]), [[0, 0], [0, 1]])
    assert Mismatch(2, 1, "c").resolve(["", ""])(["", "ab"]).tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Mismatch(0, 0, "ab"), "length=0 in Mismatch"),
        (Mismatch((1, 2), 0, "ab"), r"length=\(1, 2\) in Mismatch"),
        (Mismatch(2, 2, "ab"), "mismatches=2 in Mismatch; expected a whole number from 0, below length=2"),
        (Mismatch(2, 1, "aab"), "alphabet='aab' in Mismatch; .* none of them twice"),
        (Mismatch(2, 1, 4), "alphabet=4 in Mismatch"),
        (Mismatch(2, 1, ""), "alphabet='' in Mismatch is empty, so that no n-gram matches; expected a symbol at least"),
        (Mismatch(2, 1, ()), r"alphabet=\(\) in Mismatch is empty"),
        (Mismatch(40, 1, "abc"), "length=40 over an alphabet of 3 symbols"),
    ],
    ids=repr,
)
def test_mismatch_parameters_out_of_range(kernel, message):
    with pytest.raises(ValueError, match=message):
        kernel(["abc"])


def test_too_many_words_are_told_before_they_are_made():
    letters = [chr(0x4E00 + i) for i in range(500)]
    with pytest.raises(MemoryError, match="words near the n-grams of 1 sequences.*allow fewer mismatches"):
        Mismatch(6, 5, "".join(letters))(["".join(letters)])


# -- places -------------------------------------------------------------------------------------------


def defined(x, z, degree, shift):
    """Rätsch et al. as printed: two terms for each shift, the one of shift 0 counted twice with a half."""
    total = 0.0
    for d in range(1, degree + 1):
        beta = 2 * (degree - d + 1) / (degree * (degree + 1))
        for s in range(shift + 1):
            for place in range(max(len(x), len(z))):
                for a, b in ((x, z), (z, x)):
                    ahead, behind = a[place + s : place + s + d], b[place : place + d]
                    total += beta / (2 * (s + 1)) * (len(ahead) == d and ahead == behind)
    return total


@given(words, words, st.integers(1, 4), st.integers(0, 7))
@settings(max_examples=40, deadline=None)
def test_places_against_the_definition(X, Z, degree, shift):
    kernel = WeightedDegree(degree, shift)
    wanted = np.array([[defined(x, z, degree, shift) for z in Z] for x in X])
    np.testing.assert_allclose(kernel(X, Z), wanted, atol=1e-12)
    np.testing.assert_allclose(kernel.diag(X), [defined(x, x, degree, shift) for x in X], atol=1e-12)
    np.testing.assert_allclose(kernel.pointwise(X[0], Z[0]), wanted[0, 0], atol=1e-12)
    features = kernel.feature_map(X)
    np.testing.assert_allclose(features(X) @ features(Z).T, wanted, atol=1e-12)
    assert np.linalg.eigvalsh(kernel(X + Z))[0] > -1e-10


@pytest.mark.parametrize("size", [1, LANES, LANES + 1, 3 * LANES + 5])
def test_any_number_of_strings(size):
    rng = np.random.default_rng(size)
    X = ["".join(rng.choice(list("ab"), rng.integers(0, 9))) for _ in range(size)]
    kernel = WeightedDegree(3, 1)
    gram = kernel(X)
    np.testing.assert_allclose(gram[:, :2], [[defined(x, z, 3, 1) for z in X[:2]] for x in X], atol=1e-12)
    np.testing.assert_array_equal(gram, gram.T)
    np.testing.assert_allclose(kernel.diag(X), np.diag(gram), rtol=1e-12)


def test_a_degree_beyond_single_precision():
    X = ["ab" * 20, "ab" * 15 + "b"]
    np.testing.assert_allclose(WeightedDegree(3000, 1)(X)[0, 1], WeightedDegree(3000, 1).pointwise(*X), rtol=1e-12)


def test_degree_one_counts_positions():
    X = ["cat", "cut", "at", ""]
    np.testing.assert_array_equal(WeightedDegree(1)(X), Positions()(X))
    assert WeightedDegree(1).sees(X).all()


@pytest.mark.parametrize("degree", [1, 4])
def test_against_strkernels(degree):
    strkernels = pytest.importorskip("strkernels", reason="it has no wheel for this system")
    rng = np.random.default_rng(1)
    X = np.array(["".join(rng.choice(list("abc"), rng.integers(1, 30))) for _ in range(40)])
    theirs = strkernels.WeightedDegreeStringKernel(normalizer=None, degree=degree)(X, X)
    np.testing.assert_allclose(WeightedDegree(degree)(X) * degree * (degree + 1) / 2, theirs, rtol=1e-12)


def test_threads_change_nothing():
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("abcd"), rng.integers(0, 60))) for _ in range(300)]
    kernel, before = WeightedDegree(4, 2), numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        alone = kernel(X)
        numba.set_num_threads(min(2, numba.config.NUMBA_NUM_THREADS))
        np.testing.assert_array_equal(alone, kernel(X))
    finally:
        numba.set_num_threads(before)


def test_columns_are_places_and_ngrams():
    features = WeightedDegree(2).feature_map(["ab"])
    assert features.columns == [(0, "a"), (1, "b"), (0, "ab")]
    np.testing.assert_allclose(features(["ab", "b"]) ** 2, [[2 / 3, 2 / 3, 1 / 3], [0, 0, 0]])
    with pytest.raises(TypeError, match=r"X\[0\] is \('a', 'b'\); expected strings, as in training"):
        features([("a", "b")])


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (WeightedDegree(0), "degree=0 in WeightedDegree; expected a whole number, 1 or more"),
        (WeightedDegree(1.5), "degree=1.5"),
        (WeightedDegree(2, -1), "shift=-1 in WeightedDegree; expected a whole number, 0 or more"),
        (WeightedDegree(2, True), "shift=True"),
    ],
    ids=repr,
)
def test_degree_parameters_out_of_range(kernel, message):
    with pytest.raises(ValueError, match=message):
        kernel(["abc"])
