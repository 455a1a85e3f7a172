"""Few columns of a Gram matrix: every choice of them, beside dense algebra."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mercer import DependencyEstimator
from mercer.core.columns import PIVOTS, ColumnChoice
from mercer.core.leverage import leverage_scores
from mercer.core.pivoted import pivoted_cholesky
from mercer.core.pivots import PivotsInOrder, RandomPivots
from mercer.kernels import Gaussian, Linear, Precomputed, Spectrum
from mercer.operators import Covariance, Separable
from mercer.solvers import LowRank, RidgeProblem, SparseSketch

CHOICES = [*PIVOTS, SparseSketch(), SparseSketch("gaussian", 0.3)]


def rows(n, d=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


@pytest.mark.parametrize("pivots", CHOICES, ids=str)
def test_every_choice_is_a_projection_of_the_gram_matrix(pivots):
    """K − G Gᵀ is positive, its trace is the residual, and new objects have the features of old ones."""
    X, kernel = rows(120), Gaussian(1.5)
    found = ColumnChoice(25, 0.0, pivots, 3).factor(kernel, X)
    K, G = kernel(X), found.factor
    assert G.shape == (120, 25)
    assert np.linalg.eigvalsh(K - G @ G.T).min() > -1e-10
    assert found.residual == pytest.approx(np.trace(K - G @ G.T) / 120, abs=1e-12)
    np.testing.assert_allclose(found.extend(K[:, found.pivots]), G, atol=1e-8)
    mean, coefficients = G.mean(axis=0), rows(25, 2)
    np.testing.assert_allclose(K[:, found.pivots] @ found.on_pivots(coefficients), G @ coefficients, atol=1e-7)
    np.testing.assert_allclose(found.extend(found.values_of(mean)[None, :])[0], mean, atol=1e-8)


@pytest.mark.parametrize("pivots", CHOICES, ids=str)
@pytest.mark.filterwarnings("ignore:the low-rank factor")
@pytest.mark.parametrize("operator", [None, Covariance()], ids=["identity", "covariance"])
def test_the_model_is_exact_for_its_factor(pivots, operator):
    """For one alpha and along a path: ridge regression on the features, with an intercept and weights."""
    X, Y, new, weight = rows(60), rows(60, 2, 1), rows(5, 3, 2), np.linspace(0.5, 2.0, 60)
    found = ColumnChoice(12, 0.0, pivots, 4).factor(Gaussian(1.5), X)
    features = found.extend(Gaussian(1.5)(new, X[found.pivots]))
    parts = {} if operator is None else {"operator": operator}
    low = LowRank(12, 0.0, pivots=pivots, random_state=4)
    for alpha in (0.1, "loo"):
        dense = DependencyEstimator(Linear(), Linear(), alpha=alpha, **parts).fit(found.factor, Y, sample_weight=weight)
        model = DependencyEstimator(Gaussian(1.5), Linear(), solver=low, alpha=alpha, **parts)
        model.fit(X, Y, sample_weight=weight)
        np.testing.assert_allclose(model.predict(new), dense.predict(features), atol=1e-8)
        assert model.solver_.rank_ == 12


def test_random_pivots_are_those_of_one_by_one_draws():
    """The first pivot follows the diagonal, and the second what the first leaves of it."""
    X = np.array([[3.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    K, counts = X @ X.T, np.zeros((4, 4))
    for seed in range(4000):
        counts[tuple(pivoted_cholesky(Linear(), X, rank=2, pivots=RandomPivots(seed)).pivots)] += 1
    expected = np.zeros((4, 4))
    for i in range(4):
        left = K.diagonal() - K[:, i] ** 2 / K[i, i]
        expected[i] = K[i, i] / np.trace(K) * left / left.sum()
    np.testing.assert_allclose(counts / 4000, expected, atol=0.03)


def test_one_seed_gives_one_model_and_another_a_different_one():
    X = rows(300)
    same = [pivoted_cholesky(Gaussian(1.0), X, rank=40, pivots=RandomPivots(seed)).pivots for seed in (1, 1, 2)]
    assert np.array_equal(same[0], same[1])
    assert not np.array_equal(same[0], same[2])


@pytest.mark.parametrize("pivots", ["random", "greedy", "uniform"])
def test_a_residual_target_is_met_with_no_column_to_spare(pivots):
    found = ColumnChoice(None, 1e-3, pivots).factor(Gaussian(2.0), rows(400))
    without_last = found.factor[:, :-1]
    assert found.residual <= 1e-3 < 1 - np.sum(without_last**2) / 400


@pytest.mark.parametrize("pivots", [*PIVOTS, SparseSketch()], ids=str)
def test_copies_and_zeros_are_not_taken_twice(pivots):
    X = np.repeat(np.vstack([rows(6, 4), np.zeros((2, 4))]), 30, axis=0)
    found = ColumnChoice(50, 0.0, pivots).factor(Linear(), X)
    assert found.factor.shape == (240, 4)
    assert found.residual < 1e-12
    np.testing.assert_allclose(found.factor @ found.factor.T, X @ X.T, atol=1e-10)
    with pytest.raises(ValueError, match="norm zero"):
        ColumnChoice(3, 0.0, pivots).factor(Linear(), np.zeros((5, 2)))


@pytest.mark.parametrize("pivots", ["random", "greedy", "uniform"])
def test_indefinite_kernels_are_refused(pivots):
    vectors = np.linalg.qr(rows(30, 30))[0]
    bad = (vectors * np.r_[np.ones(29), -0.9]) @ vectors.T
    with pytest.raises(ValueError, match="not positive semi-definite"):
        ColumnChoice(30, 0.0, pivots).factor(Precomputed(), (bad + bad.T) / 2)


def test_objects_and_gram_matrices_have_the_same_factor():
    words = ["".join(np.random.default_rng(i).choice(list("abcd"), 9)) for i in range(60)]
    kernel = Spectrum(length=2)
    for pivots in ("random", SparseSketch()):
        found = [
            ColumnChoice(10, 0.0, pivots).factor(k, X) for k, X in ((kernel, words), (Precomputed(), kernel(words)))
        ]
        np.testing.assert_allclose(found[0].factor, found[1].factor, atol=1e-8)


def test_leverage_scores_are_those_of_dense_algebra():
    """With a first factor that is whole they are exact; else what it leaves out counts in full."""
    X, order = rows(40, 2), PivotsInOrder(np.arange(40))
    K = Gaussian(0.3)(X)
    G = pivoted_cholesky(Gaussian(0.3), X, rank=20, pivots=PivotsInOrder(np.arange(40))).factor
    left = K.diagonal() - np.sum(G**2, axis=1)
    ridge = left.sum() / 20
    dense = np.diag(np.linalg.solve(G @ G.T + ridge * np.eye(40), G @ G.T)) + left / ridge
    np.testing.assert_allclose(leverage_scores(Gaussian(0.3), X, 20, order), dense, atol=1e-10)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"pivots": "best"}, r"pivots='best'; expected 'random', 'greedy', 'uniform' or 'leverage'"),
        ({"random_state": None}, r"random_state=None; expected a whole number"),
        ({"rank": None, "pivots": "leverage"}, r"rank=None; expected a positive whole number with pivots='leverage'"),
        ({"rank": None, "pivots": SparseSketch()}, r"rank=None; expected .* the rows of the sketch"),
        ({"pivots": SparseSketch("ones")}, r"entries='ones'; expected 'rademacher' or 'gaussian'"),
        ({"pivots": SparseSketch(density=0.0)}, r"density=0\.0; expected a share of the objects"),
    ],
)
def test_bad_choices_are_named(bad, message):
    solver = LowRank(**{"rank": 3, **bad})
    with pytest.raises(ValueError, match=message):
        solver.factorize(RidgeProblem(Linear(), rows(9), rows(9)))


def test_an_alpha_lost_in_rounding_falls_back_to_the_eigenvectors():
    X = np.repeat(rows(5), 4, axis=0)
    found = LowRank(10, 0.0).factorize(RidgeProblem(Linear(), 1e8 * X, X, alpha=1e-300))
    np.testing.assert_allclose(found.map(1e-300).points(1e8 * X), X, atol=1e-6)


def test_one_alpha_agrees_with_the_path_when_more_is_asked_for():
    problem = RidgeProblem(Gaussian(1.0), rows(50), rows(50, 2, 1), alpha=0.2)
    one, path = (LowRank(20, 0.0).factorize(each) for each in (problem, replace(problem, alpha=None)))
    for name in ("left_out_points", "dual", "generalized_risk"):
        np.testing.assert_allclose(getattr(one, name)(0.2), getattr(path, name)(0.2), atol=1e-10)
    assert one.scale == path.scale


def test_many_pairs_with_few_features_take_no_square_matrix(monkeypatch):
    """Leave-one-out for 60,000 pairs: n×n would be 27 GiB."""
    from mercer import OperatorValuedRidge
    from mercer.core import memory

    monkeypatch.setattr(memory, "available_bytes", lambda *_: 2**30)
    X = rows(60_000)
    model = OperatorValuedRidge(Separable(Linear()), alpha="loo").fit(X, X @ rows(3, 2, 1))
    assert model.loo_path_.min() < 1e-10
