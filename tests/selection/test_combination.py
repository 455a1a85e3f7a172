"""Kernels combined by alignment: the weights against brute force, and the kernel that made the target found again."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import DependencyEstimator
from mercer.kernels import Gaussian, Linear, Precomputed, Subsequence
from mercer.selection import align_weights, alignment, combine


def random_gram(rng, n, rank=3):
    factor = rng.standard_normal((n, rank))
    return factor @ factor.T


def total(grams, weights):
    return sum(w * gram for w, gram in zip(weights, grams, strict=True))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), scale=st.sampled_from([1e-8, 1.0, 1e6]))
def test_no_angle_between_two_kernels_is_better(seed, scale):
    rng = np.random.default_rng(seed)
    grams = [random_gram(rng, 6), scale * random_gram(rng, 6)]
    target = random_gram(rng, 6)
    found = combine([Precomputed(gram) for gram in grams], np.arange(6), target)
    angles = np.linspace(0, np.pi / 2, 400)
    tried = [alignment(np.cos(a) * grams[0] + np.sin(a) * grams[1] / scale, target, centered=True) for a in angles]
    assert np.all(found.weights >= 0)
    assert found.alignment >= max(tried) - 1e-12
    assert found.alignment <= max(tried) + 1e-3
    assert found.alignment == pytest.approx(alignment(total(grams, found.weights), target, centered=True))
    assert np.mean(np.diag(total(grams, found.weights))) == pytest.approx(1.0)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), m=st.integers(1, 6))
def test_alignf_meets_its_optimality_conditions_and_beats_align(seed, m):
    rng = np.random.default_rng(seed)
    grams, target = [random_gram(rng, 7) for _ in range(m)], random_gram(rng, 7)
    kernels = [Precomputed(gram) for gram in grams]
    both, alone = (combine(kernels, np.arange(7), target, method) for method in ("alignf", "align"))
    assert both.alignment >= alone.alignment - 1e-12
    assert both.alignment >= both.alignments.max() - 1e-12
    # no kernel left out, and none put in, would raise the alignment if it got a little more
    norms = [np.linalg.norm(gram - gram.mean(0) - gram.mean(1)[:, None] + gram.mean()) for gram in grams]
    for i in range(m):
        more = total(grams, both.weights) + 1e-4 * grams[i] / norms[i]
        assert alignment(more, target, centered=True) <= both.alignment + 1e-9
    expected = np.maximum([alignment(gram, target, centered=True) for gram in grams], 0) / norms
    assert np.allclose(alone.weights / alone.weights.sum(), expected / expected.sum())


def test_the_kernels_that_made_the_target_are_found_again():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 3))
    kernels = [Gaussian(0.2), Gaussian(1.0), Linear(), Gaussian(5.0)]
    made = 2.0 * Gaussian(1.0)(X) + 0.5 * Linear()(X) + 7.0
    found = combine(kernels, X, made)
    assert found.alignment == pytest.approx(1.0)
    assert found.weights[1] / found.weights[2] == pytest.approx(4.0, rel=1e-5)
    assert found.weights[[0, 3]] == pytest.approx(0.0, abs=1e-5)
    assert np.array_equal(align_weights(kernels, X, made), found.weights)


def test_the_sum_leaves_out_what_has_no_weight_and_keeps_what_is_learned_from_data():
    X = np.array([[-1.0], [1.0], [-3.0], [3.0]])
    found = combine([Gaussian("median"), Linear()], X, X @ X.T)
    assert found.weights[0] == 0.0
    assert found.kernel == found.weights[1] * Linear()
    kept = combine([Gaussian("median")], np.linspace(0, 1, 5)[:, None], np.eye(5))
    assert kept.kernel == 1.0 * Gaussian("median")


def test_equal_kernels_share():
    rng = np.random.default_rng(1)
    gram, target = random_gram(rng, 6), random_gram(rng, 6)
    one = combine([Precomputed(gram)], np.arange(6), target)
    three = combine([Precomputed(gram)] * 3, np.arange(6), target)
    assert three.alignment == pytest.approx(one.alignment)
    assert three.weights.sum() == pytest.approx(one.weights.sum())


def test_both_sides_of_an_estimator():
    words = ["aab", "abb", "bba", "bbb", "aaa", "bab"]
    short, long = Subsequence(length=1).normalized(), Subsequence(length=2).normalized()
    outputs = np.array([2.0, 1.0, 1.0, 0.0, 3.0, 1.0])[:, None]  # how many a
    inputs = combine([short, long], words, Linear()(outputs))
    assert inputs.weights[0] > inputs.weights[1]
    model = DependencyEstimator(inputs.kernel, alpha=0.01).fit(words, outputs)
    assert model.predict(["abab"]).shape == (1, 1)
    answers = combine([Gaussian(0.1), Linear()], outputs, inputs.kernel(words))
    assert answers.weights[1] > 0
    assert DependencyEstimator(inputs.kernel, answers.kernel).fit(words, outputs).predict(words).shape == (6, 1)


@pytest.mark.parametrize(
    ("kernels", "target", "error", "message"),
    [
        ([], np.eye(4), ValueError, "kernels=\\[\\]; expected a list with at least one kernel"),
        (Linear(), np.eye(4), ValueError, "expected a list with at least one kernel"),
        ([Linear(), "rbf"], np.eye(4), TypeError, "kernels\\[1\\]='rbf'; expected a kernel"),
        ([Linear()], np.eye(3), ValueError, "target has shape \\(3, 3\\); expected a Gram matrix of the 4 objects"),
        ([Linear()], np.zeros(4), ValueError, "target has shape \\(4,\\); expected a square"),
        ([Linear()], np.full((4, 4), np.nan), ValueError, "target contains NaN"),
        ([Linear()], np.ones((4, 4)), ValueError, "target is zero once centred"),
        ([Linear(), Precomputed(np.ones((4, 4)))], np.eye(4), TypeError, "expected integers"),
        ([Linear()], -np.eye(4), ValueError, "no kernel is aligned with the target, the best by -"),
    ],
)
def test_bad_arguments(kernels, target, error, message):
    with pytest.raises(error, match=message):
        combine(kernels, np.arange(4.0)[:, None], target)


def test_a_kernel_that_tells_nothing_and_an_unknown_method():
    with pytest.raises(ValueError, match="kernels\\[1\\], .* is zero once centred"):
        combine([Precomputed(np.eye(3)), Precomputed(np.ones((3, 3)))], np.arange(3), np.eye(3))
    with pytest.raises(ValueError, match="method='best'; expected 'alignf' or 'align'"):
        combine([Linear()], np.eye(3), np.eye(3), method="best")
