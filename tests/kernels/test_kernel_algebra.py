"""Sums, products, multiples, cosines and centred kernels."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import mercer.kernels
from mercer.core.arrays import NumericalWarning
from mercer.kernels import (
    Centered,
    FromFunction,
    Gaussian,
    GaussianOf,
    LabelSets,
    Laplacian,
    Linear,
    Normalized,
    Polynomial,
    Precomputed,
    Product,
    Scaled,
    Subsequence,
    Sum,
)

X = np.random.default_rng(0).standard_normal((6, 3))
Z = np.random.default_rng(1).standard_normal((4, 3))

leaves = st.sampled_from([Linear(), Gaussian(scale=2), Laplacian(), Polynomial(degree=2, coef0=0.0)])
kernels = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(Sum, inner, inner),
        st.builds(Product, inner, inner),
        st.builds(Scaled, st.sampled_from([2, 0.5, np.float64(0.1)]), inner),
        st.builds(Normalized, inner),
        st.builds(Centered, inner),
        st.builds(GaussianOf, inner),
    ),
    max_leaves=6,
)


@given(kernels)
@settings(max_examples=100, deadline=None)
def test_reprs_read_back_as_the_same_kernel(kernel):
    assert eval(repr(kernel), vars(mercer.kernels).copy()) == kernel
    assert clone(kernel) == kernel


@pytest.mark.parametrize(
    "text",
    [
        "0.5 * Gaussian(scale=2) + Linear()",
        "(Linear() + Gaussian(scale=1.0)) * Linear()",
        "Linear() + Linear() + Linear()",
        "Linear() + (Linear() + Linear())",
        "Linear() * (Linear() * Linear())",
        "Linear() * (0.5 * Linear())",
        "0.5 * Linear() * Linear()",
        "0.5 * (Linear() * Linear())",
        "2 * (3 * Linear())",
        "Linear().normalized()",
        "(2 * Linear()).normalized().centered()",
        "(Linear() + Linear()).centered() * Linear()",
        "Polynomial(degree=3, coef0=1.0, gamma=1.0)",
        "GaussianOf(kernel=Subsequence(length=3, decay=0.5) + Positions(), scale='median')",
        "Precomputed(gram=None)",
    ],
)
def test_reprs_read_as_maths(text):
    assert repr(eval(text, vars(mercer.kernels).copy())) == text


def naive(kernel, X, Z, train):
    """The kernel from its parts by dense formulas, with no shortcut shared with the library."""
    if isinstance(kernel, Sum):
        return naive(kernel.left, X, Z, train) + naive(kernel.right, X, Z, train)
    if isinstance(kernel, Product):
        return naive(kernel.left, X, Z, train) * naive(kernel.right, X, Z, train)
    if isinstance(kernel, Scaled):
        return float(kernel.factor) * naive(kernel.kernel, X, Z, train)
    if isinstance(kernel, Centered):

        def inner(A, B):
            return naive(kernel.kernel, A, B, train)

        row = inner(X, train).mean(axis=1)[:, None]
        column = inner(Z, train).mean(axis=1)[None, :]
        return inner(X, Z) - row - column + inner(train, train).mean()
    if isinstance(kernel, Normalized | GaussianOf):
        both = np.vstack([X, Z])
        whole = naive(kernel.kernel, both, both, train)
        norms, k = np.clip(np.diag(whole), 0, None), whole[: len(X), len(X) :]
        if isinstance(kernel, Normalized):
            return k / np.sqrt(np.outer(norms[: len(X)], norms[len(X) :]))
        squared = norms[: len(X), None] + norms[None, len(X) :] - 2 * k
        return np.exp(-squared / (2 * kernel.scale**2))
    return np.array([[kernel.pointwise(x, z) for z in Z] for x in X])


@given(kernels)
@settings(max_examples=60, deadline=None)
def test_nested_kernels_against_dense_formulas(kernel):
    resolved = kernel.resolve(X)
    # cancellation in a normalized centred kernel loses some digits in either form
    scale = np.abs(naive(kernel, X, X, X)).max()
    np.testing.assert_allclose(resolved(X), naive(kernel, X, X, X), atol=1e-8 * scale)
    np.testing.assert_allclose(resolved(Z, X), naive(kernel, Z, X, X), atol=1e-8 * scale)
    np.testing.assert_allclose(resolved(X, Z), naive(kernel, X, Z, X), atol=1e-8 * scale)
    np.testing.assert_allclose(resolved(Z), naive(kernel, Z, Z, X), atol=1e-8 * scale)
    np.testing.assert_allclose(resolved.diag(Z), np.diag(naive(kernel, Z, Z, X)), atol=1e-8 * scale)


def test_operators_build_the_obvious_kernels():
    assert Linear() + Gaussian() == Sum(Linear(), Gaussian())
    assert Linear() * Gaussian() == Product(Linear(), Gaussian())
    assert 2 * Linear() == Linear() * 2 == Scaled(2, Linear())
    assert np.float64(2.0) * Linear() == Scaled(2.0, Linear())
    assert np.int64(2) * Linear() == Scaled(2, Linear())
    assert sum([Linear(), Gaussian()]) == Sum(Linear(), Gaussian())
    assert Linear().normalized() == Normalized(Linear())
    assert Linear().centered() == Centered(Linear())


@pytest.mark.parametrize("other", [1, 0.5, "Linear", None, [Linear()]])
def test_only_kernels_are_added(other):
    with pytest.raises(TypeError):
        Linear() + other
    with pytest.raises(TypeError):
        other + Linear()


@pytest.mark.parametrize("other", ["2", None, [2], np.ones(2)])
def test_only_kernels_and_numbers_are_multiplied(other):
    with pytest.raises(TypeError):
        Linear() * other
    with pytest.raises(TypeError):
        other * Linear()


def test_equality_looks_into_the_parts():
    assert 2 * Gaussian(1.0) != 2 * Gaussian(2.0)
    assert Linear() + Gaussian() != Gaussian() + Linear()
    assert Precomputed(np.eye(2)) == Precomputed(np.eye(2))
    assert Precomputed(np.eye(2)) != Precomputed(2 * np.eye(2))
    assert Precomputed(np.eye(2)) != Precomputed()
    assert Precomputed(torch.eye(2)) == Precomputed(torch.eye(2))
    strings = ["ab", "ba"]
    assert Subsequence(2).centered().resolve(strings) == Subsequence(2).centered().resolve(strings)
    assert Subsequence(2).centered().resolve(strings) != Subsequence(2).centered().resolve(["ab", "bb"])


def test_nested_parameters_are_set_by_name():
    kernel = 0.5 * Gaussian(1.0) + GaussianOf(Subsequence())
    kernel.set_params(left__kernel__scale=3.0, left__factor=2.0, right__kernel__length=5)
    assert kernel == 2.0 * Gaussian(3.0) + GaussianOf(Subsequence(length=5))


def test_both_sides_check_the_objects():
    for kernel in (Linear() + Subsequence(), Subsequence() + Linear(), Subsequence() * Linear()):
        with pytest.raises(TypeError, match="Y"):
            kernel.check(["abc", "cab"], "Y")
    mixed = Gaussian() + FromFunction(lambda x, z: float(np.dot(x, z)))
    np.testing.assert_allclose(mixed(X, Z), Gaussian()(X, Z) + X @ Z.T)
    np.testing.assert_allclose((FromFunction(lambda x, z: float(np.dot(x, z))) + Gaussian())(X), mixed(X))


def test_properties_follow_the_parts():
    unknown = FromFunction(min)
    assert not (Linear() + unknown).is_psd
    assert not GaussianOf(2 * unknown).is_psd
    assert (Linear() * Gaussian()).is_psd
    assert (Precomputed() + 2 * Precomputed()).pairwise
    assert not Precomputed(np.eye(2)).pairwise
    assert (Linear() + Gaussian()).normalized().takes_vectors
    assert not Subsequence().takes_vectors


def test_what_is_seen():
    strings = ["abc", "ab", ""]
    two, three = Subsequence(2), Subsequence(3)
    assert (two + three).sees(strings).tolist() == [True, True, False]
    assert (two * three).sees(strings).tolist() == [True, False, False]
    assert (2 * three).sees(strings).tolist() == [True, False, False]
    assert GaussianOf(three).sees(strings).tolist() == [True, False, False]
    assert three.centered().resolve(strings).sees(strings).tolist() == [True, False, False]
    assert Linear().normalized().sees(np.array([[0.0], [1.0]])).tolist() == [False, True]


# -- normalized ---------------------------------------------------------------------------------------


def test_a_negative_norm_cannot_be_normalized():
    negative = FromFunction(lambda x, z: -1.0 * x * z)
    with pytest.raises(ValueError, match=r"k\(x, x\) = -4 for some object"):
        negative.normalized()([1.0, 2.0])
    nearly = FromFunction(lambda x, z: -1e-17 if x == z == 0 else float(x * z))
    with pytest.warns(NumericalWarning, match="below zero by rounding"):
        gram = nearly.normalized()([0.0, 2.0])
    np.testing.assert_array_equal(gram, [[0, 0], [0, 1]])


# -- feature maps -------------------------------------------------------------------------------------


def test_feature_maps_of_compositions():
    sets = [{"a", "b"}, {"b"}, set()]
    kernel = 2 * LabelSets() + LabelSets().normalized()
    features = kernel.feature_map(sets)
    assert features.dimension == 4
    np.testing.assert_allclose(features(sets) @ features(sets).T, kernel(sets))
    assert (Linear() + Gaussian()).feature_map(X) is None
    assert (Linear() * Linear()).feature_map(X) is None
    assert (2 * Gaussian()).feature_map(X) is None
    assert Gaussian().normalized().feature_map(X) is None


# -- centred ------------------------------------------------------------------------------------------


def test_a_centred_kernel_is_resolved_before_use():
    with pytest.raises(ValueError, match="learned from data"):
        Linear().centered()(X)
    centred = Linear().centered().resolve(X)
    mean = X.mean(axis=0)
    np.testing.assert_allclose(centred(Z, X), (Z - mean) @ (X - mean).T, atol=1e-12)
    np.testing.assert_allclose(centred(Z), (Z - mean) @ (Z - mean).T, atol=1e-12)
    np.testing.assert_allclose(centred.diag(Z), ((Z - mean) ** 2).sum(axis=1), atol=1e-12)
    assert repr(centred) == "CenteredAt(Linear(), <6 objects>)"


def test_a_centred_kernel_evaluates_the_kernel_inside_once():
    calls = []

    def counted(x, z):
        calls.append(1)
        return float(x @ z)

    kernel = FromFunction(counted).centered().resolve(X)
    calls.clear()
    kernel(Z, X)
    assert len(calls) == len(Z) * len(X)
    calls.clear()
    kernel(X)
    assert len(calls) <= len(X) * (len(X) + 1) // 2 + len(X)


def test_a_centred_precomputed_kernel():
    both = np.vstack([X, Z])
    gram = X @ X.T
    kernel = Precomputed().centered().resolve(gram)
    wanted = Linear().centered().resolve(X)
    np.testing.assert_allclose(kernel(gram), wanted(X), atol=1e-12)
    np.testing.assert_allclose(kernel(Z @ X.T, gram), wanted(Z, X), atol=1e-12)
    np.testing.assert_allclose(kernel.diag(gram), wanted.diag(X), atol=1e-12)
    with pytest.raises(ValueError, match="not known: X has shape \\(4, 6\\)"):
        kernel.diag(Z @ X.T)
    with pytest.raises(ValueError, match="not the training Gram matrix"):
        kernel(gram[::-1, ::-1])
    by_position = Precomputed(both @ both.T).centered().resolve(np.arange(6))
    np.testing.assert_allclose(by_position(np.arange(6, 10)), wanted(Z), atol=1e-12)


def test_composing_does_not_write_into_a_users_gram_matrix():
    gram = X @ X.T
    before = gram.copy()
    for kernel in (
        2 * Precomputed(),
        Precomputed() + Precomputed(),
        Precomputed() * Precomputed(),
        Precomputed().normalized(),
        Precomputed().centered(),
        GaussianOf(Precomputed(), scale="median"),
    ):
        kernel.resolve(gram)(gram)
        np.testing.assert_array_equal(gram, before)


# -- Gaussian of a kernel -----------------------------------------------------------------------------


def test_a_gaussian_of_the_linear_kernel_is_the_gaussian():
    for scale in (0.5, "median"):
        on_top = GaussianOf(Linear(), scale).resolve(X)
        plain = Gaussian(scale).resolve(X)
        np.testing.assert_allclose(on_top(X), plain(X), rtol=1e-12)
        np.testing.assert_allclose(on_top(X, Z), plain(X, Z), rtol=1e-12)
    np.testing.assert_array_equal(np.diag(on_top(X)), 1.0)


def test_a_gaussian_of_something_that_is_no_kernel():
    with pytest.raises(ValueError, match="squared distance .* of -2; expected none below zero"):
        GaussianOf(FromFunction(lambda x, z: float(abs(x - z))))([0.0, 1.0])
