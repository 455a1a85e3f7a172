"""Alignment of Gram matrices, and a scale chosen by it."""

import array_api_strict
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.core.arrays import is_numpy_array, to_numpy
from mercer.kernels import Gaussian, GaussianOf, Linear, Subsequence
from mercer.selection.alignment import alignment, choose_scale, cluster_target


def random_gram(seed, n=6, rank=3):
    factor = np.random.default_rng(seed).standard_normal((n, rank))
    return factor @ factor.T


@given(st.integers(0, 100), st.floats(1e-150, 1e100))
@settings(max_examples=25, deadline=None)
def test_alignment_is_the_cosine_of_the_entries(seed, factor):
    K1, K2 = random_gram(seed), random_gram(seed + 1)
    plain = (K1 * K2).sum() / np.linalg.norm(K1) / np.linalg.norm(K2)
    assert alignment(K1, K2) == pytest.approx(plain, rel=1e-12)
    assert alignment(factor * K1, K2) == pytest.approx(plain, rel=1e-9)
    assert alignment(K1, factor * K1) == pytest.approx(1.0, rel=1e-12)
    centre = np.eye(6) - 1 / 6
    C1, C2 = centre @ K1 @ centre, centre @ K2 @ centre
    centred = (C1 * C2).sum() / np.linalg.norm(C1) / np.linalg.norm(C2)
    assert alignment(K1, K2, centered=True) == pytest.approx(centred, rel=1e-9)
    # a constant added to a kernel is no likeness
    assert alignment(K1 + 10.0, K2, centered=True) == pytest.approx(centred, rel=1e-6)


@pytest.mark.parametrize("library", [np, torch, array_api_strict], ids=lambda xp: xp.__name__)
def test_alignment_of_any_library(library):
    K1, K2 = random_gram(0), random_gram(1)
    for centered in (False, True):
        mixed = alignment(library.asarray(K1), K2, centered)
        assert mixed == pytest.approx(alignment(K1, K2, centered), rel=1e-12)


@pytest.mark.parametrize(
    ("K1", "K2", "centered", "message"),
    [
        (np.zeros((2, 2)), np.eye(2), False, "K1 is zero; expected"),
        (np.eye(2), np.ones((2, 2)), True, "K2 is zero once centred"),
        (np.eye(2), np.eye(3), False, r"K1 has shape \(2, 2\) and K2 has shape \(3, 3\)"),
        (np.ones((2, 3)), np.eye(2), False, r"K1 has shape \(2, 3\); expected a square"),
        (np.eye(2), np.full((2, 2), np.nan), False, "K2 contains NaN"),
    ],
)
def test_what_cannot_be_aligned(K1, K2, centered, message):
    with pytest.raises(ValueError, match=message):
        alignment(K1, K2, centered)


def clusters(spread, apart=20.0):
    rng = np.random.default_rng(0)
    return np.concatenate([centre * apart + spread * rng.standard_normal((15, 2)) for centre in range(4)])


def test_the_target_is_one_within_clusters():
    X = clusters(0.5)
    target = cluster_target(X, n_clusters=4, random_state=0)
    np.testing.assert_array_equal(target, np.kron(np.eye(4), np.ones((15, 15))))
    assert isinstance(cluster_target(torch.asarray(X), 4, 0), torch.Tensor)
    with pytest.raises(ValueError, match="n_clusters=61 for 60 objects"):
        cluster_target(X, n_clusters=61)


@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("library", [np, torch], ids=lambda xp: xp.__name__)
def test_the_chosen_scale_is_the_best_aligned(library, centered):
    X = library.asarray(clusters(1.0))
    scales = np.logspace(-2, 4, 13)
    kernel = 2.0 * Gaussian(scale="median")
    found = choose_scale(kernel, X, scales, n_clusters=4, centered=centered, random_state=0, parameter="kernel__scale")
    target = cluster_target(X, 4, 0)
    by_hand = [alignment(Gaussian(float(s))(X), target, centered) for s in scales]
    np.testing.assert_allclose(found.alignments, by_hand, rtol=1e-12)
    assert found.scale == scales[np.argmax(by_hand)]
    assert found.kernel == 2.0 * Gaussian(found.scale)
    assert kernel == 2.0 * Gaussian(scale="median")
    # neither the identity nor all ones: between the spread of a cluster and the way to the next
    assert 1.0 <= found.scale <= 20.0


def test_a_target_of_ones_own_for_objects_that_are_no_vectors():
    strings = ["aab", "aabb", "ccd", "ccdd"]
    target = np.kron(np.eye(2), np.ones((2, 2)))
    kernel = GaussianOf(Subsequence(2).normalized())
    found = choose_scale(kernel, strings, [0.01, 0.5, 100.0], target=target)
    assert found.kernel == GaussianOf(Subsequence(2).normalized(), scale=0.5)
    assert is_numpy_array(to_numpy(target))
    with pytest.raises(TypeError, match="target is None.*k-means.*need vectors.*Pass target="):
        choose_scale(kernel, strings, [1.0])


def test_what_cannot_be_chosen():
    with pytest.raises(ValueError, match="scales is empty"):
        choose_scale(Gaussian(), clusters(1.0), [])
    with pytest.raises(ValueError, match="parameter='scale' is not a parameter of Linear"):
        choose_scale(Linear(), clusters(1.0), [1.0])
    with pytest.raises(ValueError, match="scale=-1.0 in Gaussian"):
        choose_scale(Gaussian(), clusters(1.0), [-1.0], n_clusters=4)
