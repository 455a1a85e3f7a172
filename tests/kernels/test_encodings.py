"""Encodings of vectors, kernels of encoded vectors, the Matérn kernel, and Gram matrices that share distances."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.stats import norm, rankdata
from sklearn.gaussian_process.kernels import Matern as ScikitMatern

from mercer.core.arrays import to_numpy
from mercer.kernels import (
    Classes,
    Columns,
    Encoded,
    Gaussian,
    GaussianOf,
    LabelSets,
    Laplacian,
    Linear,
    Matern,
    NormalScores,
    Overlap,
    Polynomial,
    Scaled,
    Spectrum,
    Subsequence,
    WordRows,
    ZScores,
)
from mercer.kernels.encodings import standardized_linear
from mercer.testing import check_kernel

rng = np.random.default_rng(0)
X = rng.standard_normal((20, 4))
NEW = rng.standard_normal((5, 4))
WORDS = (rng.random((20, 12)) < 0.3) * rng.integers(1, 4, (20, 12)).astype(float)
WORDS[3] = 0.0
tables = arrays(float, (7, 3), elements=st.integers(-50, 50).map(float))


# -- z-scores ---------------------------------------------------------------------------------------------------


@settings(max_examples=50, deadline=None)
@given(tables, st.floats(0.01, 100.0), st.floats(-1e3, 1e3))
def test_z_scores_do_not_change_under_affine_maps(rows, factor, shift):
    found = ZScores().resolve(factor * rows + shift)(factor * rows + shift)
    assert np.allclose(found, ZScores().resolve(rows)(rows), atol=1e-8)


@settings(max_examples=50, deadline=None)
@given(tables)
def test_z_scores_have_mean_0_and_variance_1_or_are_0(rows):
    encoding = ZScores().resolve(rows)
    found, varied = encoding(rows), np.ptp(rows, axis=0) > 0
    assert np.allclose(found.mean(axis=0), 0.0, atol=1e-9)
    assert np.allclose(found.std(axis=0), varied)
    assert np.allclose(encoding.inverse(found), rows)


@pytest.mark.parametrize("level", [0.1, 1e9, 1e-300])
def test_a_constant_column_is_0_for_new_values_too(level):
    rows = np.column_stack([np.full(30, level), np.arange(30.0)])
    encoding = ZScores().resolve(rows)
    assert not encoding(rows)[:, 0].any()
    assert not encoding(rows + 5.0)[:, 0].any()
    assert np.allclose(encoding.inverse(np.ones((1, 2)))[0, 0], level)


# -- normal scores ----------------------------------------------------------------------------------------------


@settings(max_examples=50, deadline=None)
@given(tables)
def test_normal_scores_do_not_change_under_increasing_maps(rows):
    found = NormalScores().resolve(rows)(rows)
    for increasing in (np.arctan, lambda x: x**3, lambda x: np.exp(x / 10)):
        moved = increasing(rows)
        assert np.allclose(NormalScores().resolve(moved)(moved), found)
    assert np.allclose(NormalScores().resolve(-rows)(-rows), -found, atol=1e-12)


def test_normal_scores_are_quantiles_of_mean_ranks():
    rows = rng.integers(0, 6, (30, 2)).astype(float)
    naive = norm.ppf(np.column_stack([rankdata(column) for column in rows.T]) / 31)
    assert np.allclose(NormalScores().resolve(rows)(rows), naive / naive.std(axis=0))


def test_values_beyond_the_training_ones_are_the_outermost():
    encoding = NormalScores().resolve(X)
    top, bottom = encoding(X.max(axis=0)[None] + 1.0), encoding(X.min(axis=0)[None] - 1.0)
    assert np.all(top >= encoding(X).max(axis=0))
    assert np.all(bottom <= encoding(X).min(axis=0))
    assert np.array_equal(top, encoding(X.max(axis=0)[None] + 1e12))
    assert np.all(np.abs(encoding(np.array([[1e300] * 4]))) < 10)


def test_scores_of_new_values_are_in_order():
    encoding = NormalScores().resolve(X)
    grid = np.linspace(-4, 4, 500)[:, None] * np.ones(4)
    assert np.all(np.diff(encoding(grid), axis=0) >= 0)


def test_normal_scores_of_a_constant_column_are_0():
    rows = np.column_stack([np.full(9, 3.0), np.arange(9.0)])
    encoding = NormalScores().resolve(rows)
    assert not encoding(rows)[:, 0].any()
    assert not encoding(rows + 1.0)[:, 0].any()


# -- words ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_sparse_words_are_as_dense_ones(form):
    dense, thin = WordRows().resolve(WORDS), WordRows().resolve(sparse.csr_array(form(WORDS)))
    assert np.allclose(dense.factors, thin.factors, atol=1e-12)
    found = thin(sparse.csr_array(form(WORDS)))
    assert sparse.issparse(found)
    assert np.allclose(found.toarray(), dense(WORDS), rtol=0, atol=1e-12)
    for inner in (Linear(), Gaussian(0.7), Laplacian(2.0), Gaussian("median")):
        kernel = Encoded(WordRows(), inner)
        a, b = kernel.resolve(WORDS), kernel.resolve(form(WORDS))
        assert np.allclose(a(WORDS), b(form(WORDS)), rtol=0, atol=1e-10)
        assert np.allclose(a(WORDS, WORDS[:4]), b(form(WORDS), form(WORDS[:4])), rtol=0, atol=1e-10)


def test_words_have_length_1_and_do_not_depend_on_the_length_of_rows():
    encoding = WordRows().resolve(WORDS)
    lengths = np.linalg.norm(encoding(WORDS), axis=1)
    assert np.allclose(np.delete(lengths, 3), 1.0)
    assert lengths[3] == 0
    assert np.allclose(encoding(7.0 * WORDS), encoding(WORDS))


# -- kernels of encoded vectors -----------------------------------------------------------------------------------

KERNELS = [
    Encoded(ZScores(), Gaussian("median")),
    Encoded(ZScores(), Linear()),
    Encoded(NormalScores(), Laplacian("median") + Scaled(0.25, Linear())),
    Encoded(NormalScores(), Matern("median", 2.5)),
    Encoded(WordRows(), Gaussian("median")),
    Encoded(ZScores(), Gaussian(1.0)) * Encoded(NormalScores(), Gaussian(2.0)),
    Matern("median"),
    Matern(0.8, nu=2.5),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_the_contract_of_kernels(kernel):
    check_kernel(kernel, X)


def test_an_encoded_kernel_is_the_kernel_of_encoded_vectors():
    for encoding in (ZScores(), NormalScores()):
        known = encoding.resolve(X)
        kernel = Encoded(encoding, Gaussian(1.3)).resolve(X)
        assert kernel.encoding == known
        assert np.allclose(kernel(NEW, X), Gaussian(1.3)(known(NEW), known(X)))
        assert np.allclose(kernel.diag(NEW), 1.0)
    assert Encoded(ZScores(), Gaussian("median")).resolve(X).resolve(NEW) == Encoded(
        ZScores(), Gaussian("median")
    ).resolve(X)
    assert Encoded(ZScores(), Linear()).resolve(X) != Encoded(ZScores(), Linear()).resolve(NEW)
    features = standardized_linear(X).feature_map(X)(NEW)
    assert np.allclose(features @ features.T, standardized_linear(X)(NEW))


def backends():
    found = [pytest.importorskip("array_api_strict")]
    try:
        import torch
    except ImportError:
        return found
    return [*found, torch]


@pytest.mark.parametrize("kernel", KERNELS[:4], ids=repr)
def test_arrays_of_other_libraries(kernel):
    for xp in backends():
        theirs, own = kernel.resolve(xp.asarray(X)), kernel.resolve(X)
        found = theirs(xp.asarray(NEW), xp.asarray(X))
        assert type(found) is type(xp.asarray(X))
        assert np.allclose(to_numpy(found), own(NEW, X), atol=1e-12)
        shared = theirs.shared_gram(xp.asarray(X), {})
        assert np.allclose(to_numpy(shared), own(X), atol=1e-10)


def test_an_encoding_without_its_two_methods_is_named():
    class Half(ZScores.__mro__[1]):
        pass

    with pytest.raises(TypeError, match=r"must define resolve"):
        Half().resolve(X)
    with pytest.raises(TypeError, match=r"must define __call__"):
        Half()(X)


# -- Matérn -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("nu", [1.5, 2.5])
@pytest.mark.parametrize("scale", [0.3, 1.0, 5.0])
def test_matern_is_that_of_scikit_learn(nu, scale):
    assert np.allclose(Matern(scale, nu)(NEW, X), ScikitMatern(scale, nu=nu)(NEW, X), atol=1e-12)
    assert Matern(scale, nu).pointwise(X[0], X[1]) == pytest.approx(Matern(scale, nu)(X)[0, 1])
    rows = sparse.csr_array(X)
    assert np.allclose(Matern(scale, nu)(rows), Matern(scale, nu)(X), atol=1e-7)


def test_matern_takes_two_smoothnesses():
    with pytest.raises(ValueError, match=r"nu=0\.5.*1\.5 or 2\.5"):
        Matern(1.0, nu=0.5)(X)


# -- shared Gram matrices -------------------------------------------------------------------------------------------

FAR = X.copy()
FAR[0] *= 1e8
FAR[1] += 1e6


@pytest.mark.parametrize("rows", [X, FAR], ids=["near", "far"])
def test_shared_distances_give_the_same_gram_matrices(rows):
    z, ranks = ZScores().resolve(rows), NormalScores().resolve(rows)
    kernels = [Gaussian(s) for s in (0.01, 0.5, 2.0, 1e3)] + [Matern(s) for s in (0.5, 2.0)] + [Matern(1.0, 2.5)]
    kernels += [Laplacian(s) for s in (0.1, 1.0, 10.0)] + [
        Linear(),
        Polynomial(2),
        Gaussian(1.0) + Scaled(0.2, Linear()),
    ]
    kernels += [Laplacian(1.0) * Gaussian(2.0), Scaled(3.0, Gaussian(2.0)), GaussianOf(Linear(), 2.0)]
    kernels += [
        Encoded(e, k) for e in (z, ranks) for k in (Gaussian(0.5), Gaussian(4.0), Matern(1.0), Laplacian(2.0), Linear())
    ]
    kernels += [
        Encoded(z, Laplacian(1.0) + Scaled(0.25, Linear())),
        Encoded(ZScores().resolve(rows[:9]), Gaussian(1.0)),
    ]
    known: dict = {}
    for kernel in [*kernels, *kernels[::-1]]:
        found = kernel.shared_gram(rows, known)
        expected = kernel(rows)
        assert np.allclose(found, expected, rtol=1e-7, atol=1e-7), kernel
        assert np.array_equal(kernel.shared_gram(rows), expected)
        found[:] = np.nan  # it may be overwritten


def test_shared_gram_matrices_of_objects():
    strings = np.array(["abab", "abba", "b", "baab"], dtype=object)
    known: dict = {}
    for kernel in (
        Spectrum(2),
        Subsequence(2).normalized(),
        Spectrum(1) + Subsequence(2),
        GaussianOf(Spectrum(1), 1.0),
    ):
        for _ in range(2):
            found = kernel.shared_gram(strings, known)
            assert np.allclose(found, kernel(strings))
            found[:] = np.nan
    sets = [{"a"}, {"a", "b"}, {"c"}]
    for kernel in (Overlap(1.0), LabelSets(), Overlap(0.5) * Overlap(0.5)):
        checked = kernel.check(sets)
        assert np.allclose(kernel.shared_gram(checked, {}), kernel(sets))
    words = sparse.csr_array((WORDS > 0).astype(float))
    kernel = Overlap(1.0) + Encoded(WordRows().resolve(words), Gaussian(1.0))
    assert np.allclose(kernel.shared_gram(words, {}), kernel(words))
    labels = np.array(["a", "b", "a"], dtype=object)
    assert np.array_equal(Classes().shared_gram(labels), Classes()(labels))


# -- keys of rows of tables -----------------------------------------------------------------------------------------


def test_equal_rows_of_tables_have_equal_keys():
    table = {"size": [1.0, None, 1.0, None, 2.0], "city": ["Oslo", None, "Oslo", None, "Oslo"], "none": [None] * 5}
    with pytest.warns(UserWarning, match="no value"):
        kernel = Columns(kinds={"city": "category"}).resolve(table)
    keys = [kernel.key(row) for row in kernel.check(table)]
    assert keys[0] == keys[2] != keys[4]
    assert keys[1] == keys[3]
    assert len(set(keys)) == 3
