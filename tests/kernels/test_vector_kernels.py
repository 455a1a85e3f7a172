"""Vector kernels against their formulas, at their edges, and within their memory."""

import tracemalloc

import array_api_strict
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays as random_arrays

from mercer.core.arrays import NumericalWarning, to_numpy
from mercer.kernels import Gaussian, GaussianOf, Laplacian, Linear, Polynomial

FORMULAS = [
    (Linear(), lambda x, z: x @ z),
    (Polynomial(degree=4, coef0=0.5, gamma=0.3), lambda x, z: (0.3 * (x @ z) + 0.5) ** 4),
    (Gaussian(scale=1.7), lambda x, z: np.exp(-((x - z) @ (x - z)) / (2 * 1.7**2))),
    (Laplacian(scale=1.7), lambda x, z: np.exp(-np.abs(x - z).sum() / 1.7)),
]
BELLS = [Gaussian(scale=0.7), Laplacian(scale=0.7)]
LIBRARIES = pytest.mark.parametrize("library", [np, torch, array_api_strict], ids=lambda xp: xp.__name__)


@pytest.mark.parametrize(
    ("kernel", "formula"), FORMULAS, ids=lambda value: getattr(value, "__name__", repr(value)[:20])
)
def test_formula(kernel, formula):
    rng = np.random.default_rng(0)
    X, Z = rng.standard_normal((6, 4)), rng.standard_normal((5, 4))
    np.testing.assert_allclose(kernel(X, Z), [[formula(x, z) for z in Z] for x in X], rtol=1e-12)
    np.testing.assert_allclose(kernel(X), [[formula(x, z) for z in X] for x in X], rtol=1e-12)
    np.testing.assert_allclose(kernel.diag(X), [formula(x, x) for x in X], rtol=1e-12)


@LIBRARIES
@pytest.mark.parametrize("kernel", BELLS, ids=repr)
def test_the_diagonal_is_exactly_one_and_the_matrix_exactly_symmetric(kernel, library):
    # rows of very different size, where n_i + n_j - 2 g would not come out even by itself
    X = np.random.default_rng(1).standard_normal((300, 11)) * np.logspace(-6, 6, 300)[:, None]
    gram = to_numpy(kernel(library.asarray(X)))
    np.testing.assert_array_equal(np.diag(gram), 1.0)
    np.testing.assert_array_equal(gram, gram.T)


@given(random_arrays(float, (5, 3), elements=st.floats(-1e3, 1e3)))
@settings(max_examples=25, deadline=None)
def test_bells_stay_between_zero_and_one(X):
    for kernel in BELLS:
        gram = kernel(X)
        assert gram.min() >= 0.0
        assert gram.max() <= 1.0


@given(st.floats(-1e7, 1e7), st.integers(0, 100))
@settings(max_examples=25, deadline=None)
def test_distances_do_not_drown_in_a_common_offset(offset, seed):
    X = np.random.default_rng(seed).standard_normal((8, 3))
    # what is left is the rounding of X + offset itself
    for one, other in (
        (Gaussian()(X + offset), Gaussian()(X)),
        (Gaussian()(X + offset, X[:3] + offset), Gaussian()(X, X[:3])),
    ):
        np.testing.assert_allclose(one, other, atol=1e-7)


def test_a_gaussian_gram_takes_little_more_than_itself():
    X = np.random.default_rng(0).standard_normal((1200, 8))
    matrix = X.shape[0] ** 2 * 8
    for kernel in (Gaussian(), Polynomial(), GaussianOf(Linear()), Gaussian().normalized(), 2 * Gaussian()):
        tracemalloc.start()
        kernel(X)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 1.5 * matrix, f"{kernel!r} took {peak / matrix:.2f} matrices"


def test_a_result_does_not_share_memory_with_the_vectors():
    X = np.eye(3)
    for kernel in (Linear(), Gaussian(), Linear() + Linear()):
        kernel(X)[:] = 7.0
        kernel(X, X)[:] = 7.0
        kernel.diag(X)[:] = 7.0
    np.testing.assert_array_equal(X, np.eye(3))


@LIBRARIES
@pytest.mark.parametrize("kernel", [Linear(), Gaussian(), Laplacian(), Polynomial()], ids=repr)
def test_vectors_of_different_length(kernel, library):
    with pytest.raises(ValueError, match="X has 3 features and Z has 2"):
        kernel(library.ones((4, 3)), library.ones((4, 2)))


def test_images_are_flattened_and_lists_accepted():
    images = np.random.default_rng(0).standard_normal((4, 2, 3))
    np.testing.assert_array_equal(Gaussian()(images), Gaussian()(images.reshape(4, 6)))
    np.testing.assert_array_equal(Linear()([[1, 2], [3, 4]]), [[5.0, 11.0], [11.0, 25.0]])


# -- the median ---------------------------------------------------------------------------------------


@LIBRARIES
def test_the_median_is_over_pairs_of_different_objects(library):
    X = library.asarray([[0.0], [1.0], [3.0]])
    assert Gaussian("median").resolve(X).scale == pytest.approx(2.0, rel=1e-12)  # of 1, 3 and 2
    Y = library.asarray([[0.0, 0.0], [1.0, 1.0], [3.0, 3.0]])
    assert Laplacian("median").resolve(Y).scale == pytest.approx(4.0, rel=1e-12)
    assert GaussianOf(Linear(), "median").resolve(Y).scale == pytest.approx(2 * np.sqrt(2), rel=1e-12)


def test_the_median_of_many_is_that_of_a_fixed_thousand():
    X = np.random.default_rng(0).standard_normal((3000, 2))
    first = Gaussian("median").resolve(X)
    assert first == Gaussian("median").resolve(X)
    i, j = np.random.default_rng(1).integers(0, 3000, (2, 40000))
    assert first.scale == pytest.approx(np.median(np.linalg.norm(X[i] - X[j], axis=1)), rel=0.03)


def test_the_median_when_objects_are_equal():
    for X in (np.ones((4, 2)), np.ones((1, 2))):
        with pytest.warns(NumericalWarning, match=r"is zero, 1.0 is used"):
            assert Gaussian("median").resolve(X).scale == 1.0
    mostly_equal = np.array([[0.0], [0.0], [0.0], [0.0], [5.0]])
    with pytest.warns(NumericalWarning, match="median of the 4 pairs that differ, 5"):
        assert Laplacian("median").resolve(mostly_equal).scale == 5.0


def test_an_unresolved_kernel_says_so_and_stays_as_it_was():
    kernel = Gaussian("median")
    with pytest.raises(ValueError, match="learned from data; call kernel.resolve"):
        kernel(np.ones((3, 2)))
    nested = Linear() + 2 * kernel
    resolved = nested.resolve(np.array([[0.0], [3.0]]))
    assert nested == Linear() + 2 * Gaussian("median")
    assert resolved == Linear() + 2 * Gaussian(3.0)


# -- parameters out of range --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Gaussian(scale=0), "scale=0 in Gaussian; expected a finite number above zero"),
        (Gaussian(scale=-1.0), "scale=-1.0"),
        (Gaussian(scale=np.inf), "scale=inf"),
        (Gaussian(scale=np.nan), "scale=nan"),
        (Gaussian(scale="mean"), "scale='mean' in Gaussian; expected a finite number above zero, or 'median'"),
        (Laplacian(scale=None), "scale=None in Laplacian"),
        (GaussianOf(Linear(), scale=-2), "scale=-2 in GaussianOf"),
        (Polynomial(degree=0), "degree=0 in Polynomial; expected a whole number"),
        (Polynomial(degree=2.5), "degree=2.5"),
        (Polynomial(coef0=-1), "coef0=-1 in Polynomial"),
        (Polynomial(gamma=0), "gamma=0 in Polynomial"),
        (-1 * Linear(), "factor=-1 in Scaled; expected a finite number above zero"),
        (0.0 * Linear(), "factor=0.0 in Scaled"),
    ],
    ids=lambda value: getattr(value, "__name__", repr(value)[:40]),
)
def test_parameters_out_of_range(kernel, message):
    X = np.ones((3, 2))
    for call in (kernel, kernel.diag, kernel.resolve):
        with pytest.raises(ValueError, match=message):
            call(X)
        with pytest.raises(ValueError, match=message):
            (kernel + Linear()).resolve(X)(X)


def test_the_features_of_a_linear_kernel_are_the_vectors():
    X = np.random.default_rng(0).standard_normal((4, 3))
    features = Linear().feature_map(X)
    assert features(X) is X
    with pytest.raises(ValueError, match="X has 2 features; expected 3"):
        features(np.ones((4, 2)))
