"""Embeddings: the inner products, norms, distances and weights they promise."""

import numpy as np
import pytest

from mercer.embeddings import Features, Implicit, Pivoted, PrincipalComponents, Spectral
from mercer.kernels import (
    Classes,
    Gaussian,
    LabelSets,
    Linear,
    Mismatch,
    Positions,
    Spectrum,
    Subsequence,
    SubsetTree,
    Subtree,
    WeightedDegree,
)

rng = np.random.default_rng(0)
VECTORS = rng.standard_normal((9, 3))
WORDS = np.array(["abab", "abba", "baab", "bbaa", "abab", "a", "", "bbab", "aab"], dtype=object)
TREES = np.array([f"(S (A {w[:1] or 'x'}) (B {w[1:] or 'y'}))" for w in WORDS], dtype=object)
SETS = np.array([frozenset(w) for w in WORDS], dtype=object)

CASES = [
    (Implicit(), Gaussian(1.0), VECTORS),
    (Implicit(), Subsequence(2), WORDS),
    (Features(), Linear(), VECTORS),
    (Features(), Classes(), WORDS),
    (Features(), LabelSets(), SETS),
    (Features(), Positions(), WORDS),
    (Features(), 0.5 * Classes() + Positions(), WORDS),
    (Features(), Spectrum(2), WORDS),
    (Features(), 0.5 * Spectrum((1, 3)).normalized() + WeightedDegree(2, 1), WORDS),
    (Features(), Mismatch(2, 1, "ab"), WORDS),
    (Features(), Subtree(), TREES),
    (Implicit(), SubsetTree().normalized(), TREES),
    (Spectral(), Gaussian(1.0), VECTORS),
    (Spectral(), Linear(), VECTORS),
    (Spectral(), Subsequence(2), WORDS),
    (Pivoted(tol=0.0), Gaussian(1.0), VECTORS),
    (Pivoted(tol=0.0), Subsequence(2), WORDS),
]


@pytest.mark.parametrize(("embedding", "kernel", "outputs"), CASES)
def test_points_have_the_inner_products_of_the_kernel(embedding, kernel, outputs):
    """A combination of outputs, written in coordinates, has the kernel's inner products with every output."""
    fitted = embedding.fit(kernel, outputs)
    L = kernel(outputs)
    weights = rng.standard_normal((4, 9))
    V = fitted.coordinates_
    points = weights if V is None else weights @ V
    assert np.allclose(points @ fitted.transform(outputs).T, weights @ L, atol=1e-8)
    assert np.allclose(fitted.norms(outputs), np.diag(L))
    again = fitted.weights(points)
    assert np.allclose(again @ L, weights @ L, atol=1e-8)
    distances = fitted.squared_distances(points, outputs[:4])
    gap = weights - np.eye(9)[:4]
    assert np.allclose(distances, np.einsum("ij,jk,ik->i", gap, L, gap), atol=1e-8)


@pytest.mark.parametrize("origin", ["mean", "zero"])
def test_the_whole_distance_has_a_part_outside_the_kept_directions(origin):
    """Against weights and the Gram matrix: for outputs of the fit, and for one that is new."""
    kernel, new = Gaussian(1.0), np.vstack([VECTORS[:3], rng.standard_normal((1, VECTORS.shape[1]))])
    fitted = PrincipalComponents(0.0, n_components=2, origin=origin).fit(kernel, VECTORS)
    points = rng.standard_normal((4, 2))
    weights = np.hstack([fitted.weights(points), -np.eye(4)])
    L = kernel(np.vstack([VECTORS, new]))
    found = fitted.squared_distances(points, new) + fitted.outside(new)
    assert np.allclose(found, np.einsum("ij,jk,ik->i", weights, L, weights))
    assert np.allclose(Spectral().fit(kernel, VECTORS).outside(new), 0.0)


@pytest.mark.parametrize("origin", ["mean", "zero"])
def test_principal_components_keep_the_leading_directions(origin):
    kernel = Gaussian(1.0)
    full = PrincipalComponents(0.0, origin=origin).fit(kernel, VECTORS)
    L = kernel(VECTORS)
    H = np.eye(9) - 1 / 9
    if origin == "mean":
        assert np.allclose(full.coordinates_ @ full.coordinates_.T, H @ L @ H)
    assert np.allclose(full.transform(VECTORS), full.coordinates_)
    assert np.allclose(full.norms(VECTORS), (full.coordinates_**2).sum(axis=1))
    some = PrincipalComponents(0.0, n_components=2, origin=origin).fit(kernel, VECTORS)
    assert np.allclose(some.coordinates_, full.coordinates_[:, :2])
    cut = PrincipalComponents(cutoff=0.3).fit(kernel, VECTORS)
    assert cut.coordinates_.shape[1] == np.sum(full.values_ > 0.3 * full.values_[0])


def test_principal_component_weights_give_the_point_back():
    fitted = PrincipalComponents(n_components=2).fit(Linear(), VECTORS)
    points = fitted.coordinates_
    centred = VECTORS - VECTORS.mean(axis=0)
    _, _, axes = np.linalg.svd(centred)
    projected = VECTORS.mean(axis=0) + centred @ axes[:2].T @ axes[:2]
    assert np.allclose(fitted.weights(points) @ VECTORS, projected)


def test_extra_outputs_have_no_weight_in_an_implicit_embedding():
    fitted = Implicit().fit(Linear(), VECTORS, paired=5)
    assert fitted.transform(VECTORS).shape == (9, 5)
    assert fitted.weights(np.ones((2, 5))).tolist() == [[1.0] * 5 + [0.0] * 4] * 2


def test_an_embedding_without_spread_is_refused():
    with pytest.raises(ValueError, match="all outputs are the same point"):
        PrincipalComponents().fit(Linear(), np.ones((4, 2)))
    with pytest.raises(ValueError, match="all outputs are the same point"):
        Spectral().fit(Linear(), np.zeros((4, 2)))
    with pytest.raises(
        ValueError, match=r"needs an output kernel with a finite feature map, and Gaussian\(scale=1.0\)"
    ):
        Features().fit(Gaussian(1.0), VECTORS)
    with pytest.raises(ValueError, match="origin='centre'"):
        PrincipalComponents(origin="centre").fit(Linear(), VECTORS)


@pytest.mark.parametrize("embedding", [Spectral(), PrincipalComponents()])
def test_too_many_outputs_are_told_a_way_that_works(embedding):
    with pytest.raises(MemoryError, match=r"1000000 × 1000000.*embedding='auto' with solver=LowRank\(rank=\.\.\.\)"):
        embedding.fit(Gaussian(1.0), np.zeros((10**6, 1)))
