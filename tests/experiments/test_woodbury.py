"""The solver of the paper's equation 15: the contract of solvers, and the literal equation."""

import numpy as np
import pytest

from experiments.baselines.woodbury import Woodbury
from mercer.kernels import Gaussian
from mercer.operators import ConditionalCovariance, Covariance, Identity
from mercer.solvers import LowRank, RidgeProblem
from mercer.testing import check_solver

rng = np.random.default_rng(0)
X, V = rng.standard_normal((9, 2)), rng.standard_normal((9, 3))
QUERIES = rng.standard_normal((4, 2))


@pytest.mark.parametrize("operator", [Identity(), Covariance(), ConditionalCovariance(0.1)], ids=repr)
def test_contract_of_solvers(operator):
    problem = RidgeProblem(Gaussian(1.0), X, V, operator, alpha=0.2)
    check_solver(Woodbury(tol=0.0), problem, QUERIES, atol=1e-6)


@pytest.mark.parametrize("operator", [Identity(), Covariance(), ConditionalCovariance(0.1)], ids=repr)
@pytest.mark.parametrize("intercept", [False, True])
def test_the_same_model_as_two_eigendecompositions(operator, intercept):
    problem = RidgeProblem(Gaussian(1.5), X, V, operator, alpha=0.05, fit_intercept=intercept)
    one, other = (kind(4, tol=0.0, pivots="greedy").factorize(problem) for kind in (Woodbury, LowRank))
    assert one.rank == other.rank == 4
    assert one.residual == pytest.approx(other.residual)
    np.testing.assert_allclose(one.map(0.05).points(QUERIES), other.map(0.05).points(QUERIES), atol=1e-8)
    np.testing.assert_allclose(one.left_out_points(0.05), other.left_out_points(0.05), atol=1e-8)


def test_proposition_1_written_out():
    """L_yᵀ (k_xᵀ ⊗ L)(k ⊗ L + nλI)⁻¹ vec(I), with the covariance of implicit outputs: predictions as products with outputs."""
    k, L = Gaussian(1.0)(X), V @ V.T
    n, lam = len(X), 0.03
    vec = np.linalg.solve(np.kron(k, L) + n * lam * np.eye(n * n), np.eye(n).ravel(order="F"))
    cross = Gaussian(1.0)(QUERIES, X)
    literal = np.array([L @ (np.kron(row[None], L) @ vec) for row in cross])  # ⟨h(x), ψ(y_j)⟩
    problem = RidgeProblem(Gaussian(1.0), X, V, Covariance(), alpha=lam, fit_intercept=False)
    points = Woodbury(tol=0.0).factorize(problem).map(lam).points(QUERIES)
    np.testing.assert_allclose(points @ V.T, literal, atol=1e-7)
