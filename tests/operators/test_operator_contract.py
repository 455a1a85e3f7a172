"""Every operator under the public contract, and the contract under broken operators."""

import numpy as np
import pytest

from mercer.kernels import Gaussian, Linear
from mercer.operators import ConditionalCovariance, Covariance, Identity, Outputs, SeparableOperator, Smoothing
from mercer.solvers import GramEigh
from mercer.testing import check_operator

OPERATORS = [
    Identity(),
    Covariance(),
    Covariance(centered=True),
    ConditionalCovariance(0.1),
    ConditionalCovariance(1e-6),
    ConditionalCovariance(0.1, centered=True),
    Smoothing(0.0),
    Smoothing(2.0),
    Smoothing(2.0, quadrature=True),
]


@pytest.mark.parametrize("operator", OPERATORS, ids=repr)
@pytest.mark.parametrize(("n", "r", "d"), [(8, 3, 2), (5, 7, 4), (9, 1, 1)])
def test_contract(operator, n, r, d):
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, d))
    for gram in (X @ X.T, Gaussian(1.0)(X)):
        check_operator(operator, rng.standard_normal((n, r)), gram)


class Skewed(SeparableOperator):
    def matrix(self, outputs):
        return np.triu(np.ones((outputs.coordinates.shape[1],) * 2))


class Negative(SeparableOperator):
    def matrix(self, outputs):
        return -np.eye(outputs.coordinates.shape[1])


class Inconsistent(Covariance):
    def spectrum(self, outputs):
        return Covariance(centered=True).spectrum(outputs)


class OrderBound(SeparableOperator):
    def matrix(self, outputs):
        first = outputs.coordinates[:1, :]
        return first.T @ first


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (Skewed(), "not symmetric"),
        (Negative(), "negative eigenvalue -1"),
        (Inconsistent(), "spectrum and matrix differ"),
        (OrderBound(), "depends on the order"),
    ],
)
def test_the_contract_catches(broken, message):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6, 2))
    with pytest.raises(AssertionError, match=message):
        check_operator(broken, rng.standard_normal((6, 3)) + 1.0, X @ X.T)


def test_conditional_covariance_is_the_papers_matrix():
    """V C Vᵀ-side: T = L − (k + nεI)⁻¹ k L acts on coefficients as C on coordinates, T V = V (nC)."""
    rng = np.random.default_rng(1)
    X, V = rng.standard_normal((7, 3)), rng.standard_normal((7, 2))
    k, L, eps = X @ X.T, V @ V.T, 0.05
    s, U = np.linalg.eigh(k)
    C = ConditionalCovariance(eps).matrix(Outputs(V, 7, False, GramEigh(U, np.maximum(s, 0), U)))
    T = L - np.linalg.solve(k + 7 * eps * np.eye(7), k @ L)
    assert np.allclose(V.T @ T, 7 * C @ V.T)


def test_conditional_covariance_vanishes_where_inputs_explain_everything():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((10, 4))
    k = Gaussian(0.5)(X)
    s, U = np.linalg.eigh(k)
    explained = ConditionalCovariance(1e-10).matrix(Outputs(X, 10, False, GramEigh(U, s, U)))
    assert np.abs(explained).max() < 1e-6
    unexplained = ConditionalCovariance(1e10).matrix(Outputs(X, 10, False, GramEigh(U, s, U)))
    assert np.allclose(unexplained, Covariance().matrix(Outputs(X, 10, False, GramEigh(U, s, U))))


def test_a_matrix_that_the_operator_keeps_is_not_overwritten():
    class Kept(SeparableOperator):
        def matrix(self, outputs):
            return kept

    rows = np.random.default_rng(0).standard_normal((1010, 3))
    kept = rows @ rows.T
    before = kept.copy()
    Kept().spectrum(None)
    assert np.array_equal(kept, before)


def test_blocks_are_kernel_values_times_the_matrix():
    rng = np.random.default_rng(3)
    V = rng.standard_normal((5, 2))
    outputs = Outputs(V, 5, False, GramEigh(np.eye(5), np.ones(5), np.eye(5)))
    kernel = Covariance()(Linear(), outputs)
    assert np.allclose(kernel.block([1.0, 2.0], [3.0, 1.0]), 5.0 * V.T @ V / 5)


@pytest.mark.parametrize("eps", [0.0, -1.0, np.nan, 1e308])
def test_eps_must_be_positive(eps):
    with pytest.raises(ValueError, match="eps=.*expected a positive number"):
        ConditionalCovariance(eps).matrix(Outputs(np.eye(2), 2, False, GramEigh(np.eye(2), np.ones(2), np.eye(2))))
