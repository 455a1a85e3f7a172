"""The spectrum kernel and its features against counting, and at their edges."""

from collections import Counter

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer

import mercer
from mercer.decoders import Candidates
from mercer.kernels import Gaussian, Mismatch, Spectrum, Subsequence, SubsetTree, Subtree, WeightedDegree
from mercer.kernels._sparse import SparseRows, products
from mercer.kernels.strings.ngrams import ngrams

words = st.lists(st.text("ab🙂", max_size=6), min_size=1, max_size=5)
lengths = st.sampled_from([1, 2, 3, (1, 3), (2, 2)])


def counted(X, Z, length):
    low, high = length if isinstance(length, tuple) else (length, length)
    left, right = (
        [Counter(tuple(s[i : i + n]) for n in range(low, high + 1) for i in range(len(s) - n + 1)) for s in side]
        for side in (X, Z)
    )
    return np.array([[sum(a[u] * b[u] for u in a) for b in right] for a in left], dtype=float)


@given(words, words, lengths)
@settings(max_examples=40, deadline=None)
def test_against_counting(X, Z, length):
    kernel = Spectrum(length)
    np.testing.assert_array_equal(kernel(X, Z), counted(X, Z, length))
    np.testing.assert_array_equal(kernel(X), counted(X, X, length))
    np.testing.assert_array_equal(kernel.diag(Z), np.diag(counted(Z, Z, length)))
    features = kernel.feature_map(X)
    np.testing.assert_array_equal(features(Z) @ features(X).T, counted(Z, X, length))
    tokens = [list(x) for x in X], [tuple(z) for z in Z]
    np.testing.assert_array_equal(kernel(*tokens), counted(X, Z, length))
    features = kernel.feature_map(tokens[0])
    np.testing.assert_array_equal(features(tokens[1]) @ features(tokens[0]).T, counted(Z, X, length))


def test_long_ngrams_do_not_run_out_of_integers():
    rng = np.random.default_rng(0)
    letters = [chr(0x4E00 + i) for i in range(300)]
    X = ["".join(rng.choice(letters, 40)) for _ in range(4)]
    X += [X[0][3:30] + X[1][5:38]]
    for length in (8, 12, (7, 9), 39, 41):
        np.testing.assert_array_equal(Spectrum(length)(X), counted(X, X, length))


def test_against_scikit_learn():
    rng = np.random.default_rng(1)
    X = ["".join(rng.choice(list("abcde"), rng.integers(0, 30))) for _ in range(60)]
    rows = CountVectorizer(analyzer="char", ngram_range=(2, 4), lowercase=False).fit_transform(X)
    np.testing.assert_array_equal(Spectrum((2, 4))(X), (rows @ rows.T).toarray())


@pytest.mark.parametrize("density", [0.002, 0.5])
def test_products_of_sparse_rows(density):
    rng = np.random.default_rng(2)
    left, right = (
        sparse.random_array((n, 4000), density=density, rng=rng, format="csr", dtype=float) for n in (170, 90)
    )
    found = products(SparseRows(left), SparseRows(right))
    np.testing.assert_allclose(found, (left @ right.T).toarray(), rtol=1e-12)
    gram = products(SparseRows(left))
    np.testing.assert_allclose(gram, (left @ left.T).toarray(), rtol=1e-12)
    np.testing.assert_array_equal(gram, gram.T)


def test_threads_change_nothing():
    rng = np.random.default_rng(3)
    rows = sparse.random_array((400, 3000), density=0.03, rng=rng, format="csr")
    left, right = SparseRows(rows), SparseRows(rows[:50])
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        alone = products(left), products(left, right)
        numba.set_num_threads(min(2, numba.config.NUMBA_NUM_THREADS))
        together = products(left), products(left, right)
    finally:
        numba.set_num_threads(before)
    np.testing.assert_array_equal(alone[0], together[0])
    np.testing.assert_array_equal(alone[1], together[1])


def test_the_columns_are_ngrams_in_order_of_appearance():
    features = Spectrum(2).feature_map(["cab", "abc"])
    assert features.grams == ["ca", "ab", "bc"]
    assert isinstance(features.sparse_rows(["abab"]), sparse.csr_array)
    np.testing.assert_array_equal(features(["abab", "xyz", ""]), [[0, 2, 0], [0, 0, 0], [0, 0, 0]])
    assert Spectrum(2).feature_map([["to", "be"]]).grams == [("to", "be")]
    assert Spectrum(9).feature_map(["short"])(["short"]).shape == (1, 0)


def test_short_strings_have_no_norm_and_are_not_seen():
    X = ["abc", "ab", "a", ""]
    assert Spectrum(2).sees(X).tolist() == [True, True, False, False]
    assert Spectrum((2, 3)).sees(X).tolist() == [True, True, False, False]
    np.testing.assert_array_equal(Spectrum(3)(X)[1:], 0.0)
    np.testing.assert_array_equal(Spectrum(3).normalized()(["a", ""]), np.zeros((2, 2)))
    np.testing.assert_array_equal(Spectrum(3).normalized().feature_map(X)(X), [[1.0], [0.0], [0.0], [0.0]])


def test_outputs_collapse_to_coordinates():
    X = np.arange(12.0)[:, None]
    Y = ["aab", "aba", "bbb", "abb"] * 3
    model = mercer.DependencyEstimator(output_kernel=Spectrum(2).normalized(), alpha=0.1).fit(X, Y)
    assert type(model.embedding_).__name__ == "Features"
    assert model.embedding_.coordinates_.shape == (12, 4)
    implicit = mercer.DependencyEstimator(
        output_kernel=Spectrum(2).normalized(), alpha=0.1, embedding=mercer.embeddings.Implicit()
    ).fit(X, Y)
    assert model.predict(X).tolist() == implicit.predict(X).tolist()


@pytest.mark.parametrize("length", [0, 2.0, True, (2, 1), (1, 2, 3), (0, 2), "3", None])
def test_lengths_that_make_no_sense(length):
    with pytest.raises(ValueError, match=r"length=.* in Spectrum; expected a whole number, 1 or more, or \(shortest"):
        Spectrum(length)(["abc"])


@pytest.mark.parametrize(
    ("huge", "same"),
    [
        (Spectrum(10**12), Spectrum(50)),
        (Spectrum((1, 10**12)), Spectrum((1, 6))),
        (Subsequence(10**12, 1.0), Subsequence(50, 1.0)),
        (Subsequence((1, 10**12), 1.0), Subsequence((1, 6), 1.0)),
        (WeightedDegree(3, shift=10**12), WeightedDegree(3, shift=6)),
    ],
    ids=repr,
)
def test_sizes_beyond_every_sequence_cost_nothing(huge, same):
    X, Z = ["abcab", "", "ba"], ["cabcab", "b", "abc"]
    for left, right in ((X, Z), (Z, X)):
        np.testing.assert_allclose(huge(left, right), same(left, right))
        np.testing.assert_allclose(huge(left), same(left))
        np.testing.assert_allclose(huge.diag(left), same.diag(left))
        if not isinstance(huge, Subsequence):
            rows = huge.feature_map(left).sparse_rows(left).toarray()
            np.testing.assert_allclose(rows @ rows.T, huge(left), atol=1e-12)


def test_strings_and_token_lists_do_not_mix():
    with pytest.raises(TypeError, match=r"X\[0\] is 'abc' and Z\[0\] is \['a', 'b'\]"):
        Spectrum()(["abc"], [["a", "b"]])
    with pytest.raises(TypeError, match=r"X\[0\] is \['a'\]; expected strings, as in training"):
        Spectrum().feature_map(["abc"])([["a"]])


def test_ngrams_of_arrays_are_tuples():
    assert list(ngrams(np.array(["x", "y"]), 2)) == [("x", "y")]


@pytest.mark.parametrize(
    ("kernel", "Y"),
    [
        (Spectrum((1, 2)), ["ab", "ba", "abba", "b"]),
        (Spectrum(2).normalized(), [("to", "be"), ("be", "to"), ("to", "be", "to"), ("or", "to", "be")]),
        (Mismatch(2, 1), ["ab", "ba", "abba", "bb"]),
        (WeightedDegree(2, 1), ["ab", "ba", "abba", "b"]),
        (Subtree(), ["(S (X a) (X b))", "(S (X a))", "(X b)", "(X a)"]),
        (SubsetTree().normalized(), [("S", ("X", "a")), ("S", ("X", "b")), ("X", "a"), ("X", "b")]),
    ],
    ids=repr,
)
def test_models_with_such_outputs_are_saved_and_cloned(kernel, Y, tmp_path):
    X = np.arange(4.0)[:, None]
    candidates = [Y[:3], Y[1:], Y, Y[::-1]]
    model = clone(mercer.DependencyEstimator(Gaussian(1.0), kernel, alpha=0.1, decoder=Candidates())).fit(X, Y)
    loaded = mercer.load(mercer.save(model, tmp_path / "model.skops"))
    assert loaded.predict(X).tolist() == model.predict(X).tolist()
    assert loaded.predict(X, candidates=candidates).tolist() == model.predict(X, candidates=candidates).tolist()
