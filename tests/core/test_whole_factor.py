"""The whole Cholesky factor: exact, honest about matrices that have none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import DependencyEstimator
from mercer.core.arrays import NumericalWarning
from mercer.core.pivoted import factor_whole, pivoted_cholesky
from mercer.core.pivots import GreedyPivots
from mercer.embeddings import Pivoted, Spectral
from mercer.kernels import Gaussian, Precomputed
from mercer.operators import ConditionalCovariance


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_the_factor_gives_the_matrix_back_at_its_rank(size, rank, seed):
    half = np.random.default_rng(seed).standard_normal((size, min(rank, size)))
    gram = half @ half.T
    found = factor_whole(gram, "it")
    assert found.factor.shape == (size, np.linalg.matrix_rank(gram, hermitian=True))
    np.testing.assert_allclose(found.factor @ found.factor.T, gram, atol=1e-12 * gram.max())
    np.testing.assert_allclose(found.extend(gram[:, found.pivots]), found.factor, atol=1e-6)


def test_it_is_what_the_column_by_column_factor_gives():
    Y = np.random.default_rng(0).standard_normal((40, 2))
    whole = pivoted_cholesky(Gaussian(1.0), Y)
    columns = pivoted_cholesky(Gaussian(1.0), Y, rank=len(whole.pivots), pivots=GreedyPivots())
    assert whole.pivots.tolist()[:10] == columns.pivots.tolist()[:10]
    np.testing.assert_allclose(whole.factor @ whole.factor.T, columns.factor @ columns.factor.T, atol=1e-12)


def test_a_matrix_whose_diagonal_hides_the_negative_eigenvalue_is_refused():
    gram = np.eye(4)
    gram[2, 2] = gram[3, 3] = 0.0
    gram[2, 3] = gram[3, 2] = 0.5
    with pytest.raises(ValueError, match="smallest eigenvalue is -0.5"):
        factor_whole(gram, "it")


def test_a_slightly_negative_eigenvalue_is_said():
    vectors = np.linalg.qr(np.random.default_rng(1).standard_normal((6, 6)))[0]
    gram = (vectors * [1.0, 0.8, 0.5, 0.2, 0.1, -1e-8]) @ vectors.T
    with pytest.warns(NumericalWarning, match="slightly negative"):
        factor_whole((gram + gram.T) / 2, "it")


def test_the_conditional_operator_predicts_the_same_on_either_coordinates():
    rng = np.random.default_rng(2)
    X, Y = rng.standard_normal((30, 2)), rng.standard_normal((30, 3))
    new = rng.standard_normal((5, 2))

    def weights(embedding):
        model = DependencyEstimator(Gaussian(1.0), Gaussian(2.0), ConditionalCovariance(0.1), embedding, alpha=0.05)
        return model.fit(X, Y).decision_weights(new) @ Gaussian(2.0)(Y)

    np.testing.assert_allclose(weights("auto"), weights(Spectral()), atol=1e-10)


def test_auto_takes_the_whole_factor_and_says_so():
    rng = np.random.default_rng(3)
    X, Y = rng.standard_normal((12, 2)), rng.standard_normal((12, 3))
    model = DependencyEstimator(Gaussian(1.0), Gaussian(2.0), ConditionalCovariance(0.1), alpha=0.1).fit(X, Y)
    assert isinstance(model.embedding_, Pivoted)
    assert "Cholesky" in model.reasons_["embedding"]
    bad = 2 * np.ones((12, 12)) - np.eye(12)
    with pytest.raises(ValueError, match="not positive semi-definite"):
        DependencyEstimator(Gaussian(1.0), Precomputed(bad), ConditionalCovariance(0.1), alpha=0.1).fit(
            X, np.arange(12)
        )
