"""Every solver under the public contract, and the contract under broken solvers."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import DependencyEstimator, NumericalWarning
from mercer.core import memory
from mercer.core.pivoted import pivoted_cholesky
from mercer.kernels import Gaussian, Linear, Precomputed, Subsequence
from mercer.operators import ConditionalCovariance, Covariance, Identity, Separable, Smoothing
from mercer.solvers import (
    Auto,
    Cholesky,
    Exact,
    ExplicitFeatures,
    Factorization,
    LowRank,
    RidgeProblem,
    Solver,
    Structured,
    Tridiagonal,
)
from mercer.testing import check_solver

X = np.random.default_rng(0).standard_normal((14, 3))
NEW = np.random.default_rng(1).standard_normal((4, 3))
WORDS = ["abab", "abba", "baab", "bbaa", "aabb", "baba", "abaa", "bbab"]


Y = np.random.default_rng(2).standard_normal((14, 3))
T = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.5], [0.0, 0.5, 1.0]])


@pytest.mark.parametrize(
    "solver", [Exact(), Cholesky(), LowRank(tol=0.0), LowRank(rank=14, tol=0.0), Auto(), Auto([Cholesky()])], ids=repr
)
@pytest.mark.parametrize(
    ("kernel", "inputs", "queries"),
    [
        (Gaussian(1.0), X, NEW),
        (Linear(), X, NEW),
        (Subsequence(2).normalized(), np.array(WORDS, dtype=object), np.array(["aabba", "b"], dtype=object)),
        (Precomputed(), Gaussian(1.0)(X), Gaussian(1.0)(NEW, X)),
    ],
    ids=["Gaussian", "Linear", "strings", "Precomputed"],
)
def test_contract(solver, kernel, inputs, queries):
    problem = RidgeProblem(kernel, inputs, Y[: len(inputs)], alpha=0.1)
    check_solver(solver.for_part(problem.size), problem, queries)


@pytest.mark.parametrize("solver", [Exact(), Tridiagonal(), LowRank(tol=0.0), Auto()], ids=repr)
@pytest.mark.parametrize(
    "operator",
    [
        Covariance(),
        ConditionalCovariance(0.1),
        Smoothing(1.0),
        Separable(Gaussian(1.0), T),
        Separable(Gaussian(1.0), [1.0, 2.0, 0.0]),
    ],
    ids=repr,
)
def test_contract_with_an_operator(solver, operator):
    check_solver(solver, RidgeProblem(Gaussian(1.0), X[:9], Y[:9], operator, alpha=0.1), NEW)


@pytest.mark.parametrize("operator", [Identity(), Covariance(), ConditionalCovariance(0.1)], ids=repr)
def test_few_features_in_place_of_a_gram_matrix(operator):
    check_solver(ExplicitFeatures(), RidgeProblem(Linear(), X[:9], Y[:9], operator, alpha=0.1), NEW)
    check_solver(Auto(), RidgeProblem(Linear(), X[:9], Y[:9], operator, alpha=0.1), NEW)
    assert "does not have fewer" in ExplicitFeatures().supports(RidgeProblem(Gaussian(1.0), X, Y))


class Dense(Solver):
    """A solver of a user: everything follows from one method."""

    def supports(self, problem):
        return None if problem.operator.separable else "it is for separable operators"

    def factorize(self, problem):
        return DenseFactorization(problem)


class DenseFactorization(Factorization):
    def solve(self, right, alpha):
        return np.linalg.solve(self.problem.gram() + alpha * np.eye(self.problem.size), right)


@pytest.mark.parametrize("operator", [Identity(), Covariance(), ConditionalCovariance(0.1)], ids=repr)
def test_a_solver_of_a_user(operator):
    check_solver(Dense(), RidgeProblem(Gaussian(1.0), X[:9], Y[:9], operator, alpha=0.1), NEW)
    for alpha in ("loo", "kfold", 0.1):
        own = DependencyEstimator(Gaussian(1.0), operator=operator, solver=Dense(), alpha=alpha).fit(X, Y)
        known = DependencyEstimator(Gaussian(1.0), operator=operator, solver=Exact(), alpha=alpha).fit(X, Y)
        np.testing.assert_allclose(own.predict(NEW), known.predict(NEW), atol=1e-8)


class Forgetful(Dense):
    """Leaves out the last pair without saying so."""

    def factorize(self, problem):
        found = super().factorize(problem)
        solve = found.solve
        found.solve = lambda right, alpha: solve(right * (np.arange(len(right)) < len(right) - 1)[:, None], alpha)
        return found


class Careless(Exact):
    """Has no intercept."""

    def factorize(self, problem):
        return super().factorize(replace(problem, fit_intercept=False))


class Alone(Exact):
    """Leaves pairs out one by one where groups are given."""

    def factorize(self, problem):
        return super().factorize(replace(problem, groups=None))


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (Forgetful(), "predictions differ from dense algebra"),
        (Careless(), r"\(intercept True.*predictions differ"),
        (Alone(), r"groups True\): left-out points differ"),
    ],
)
def test_the_contract_catches(broken, message):
    with pytest.raises(AssertionError, match=message):
        check_solver(broken, RidgeProblem(Gaussian(1.0), X, Y, alpha=0.1), NEW)


@pytest.mark.parametrize(
    ("solver", "problem", "why"),
    [
        (Cholesky(), RidgeProblem(Gaussian(1.0), X, Y), "alpha is to be chosen"),
        (Cholesky(), RidgeProblem(Gaussian(1.0), X, Y, Covariance(), 0.1), "identity operator"),
        (Tridiagonal(), RidgeProblem(Gaussian(1.0), X, Y, alpha=0.1), "an operator on the outputs"),
        (Exact("coefficients"), RidgeProblem(Gaussian(1.0), X, Y, Covariance()), "operator=Identity\\(\\) only"),
        (Structured(), RidgeProblem(Gaussian(1.0), X, Y), "operator-valued kernels"),
    ],
)
def test_solvers_say_what_they_do_not_support(solver, problem, why):
    assert re.search(why, solver.supports(problem))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 15), rank=st.integers(1, 20), most=st.integers(1, 20))
def test_pivoted_cholesky_is_exact_on_its_pivots(seed, n, rank, most):
    """G Gᵀ equals the Gram matrix in the rows of the pivots, and never overshoots it."""
    rows = np.random.default_rng(seed).standard_normal((n, rank))
    found = pivoted_cholesky(Linear(), rows, rank=most)
    gram, built = rows @ rows.T, found.factor @ found.factor.T
    assert len(found.pivots) <= min(n, rank, most)
    assert np.allclose(built[found.pivots], gram[found.pivots], atol=1e-8 * np.trace(gram))
    assert np.linalg.eigvalsh(gram - built).min() >= -1e-8 * np.trace(gram)
    assert found.residual == pytest.approx(max(np.trace(gram - built) / np.trace(gram), 0), abs=1e-8)
    assert np.allclose(found.extend(rows @ rows[found.pivots].T), found.factor, atol=1e-6)


def test_pivoted_cholesky_asks_for_few_columns():
    """The Gram matrix is never made: m columns for rank m, and the entries between those that are proposed."""
    columns, among = [], []

    class Counting(Gaussian):
        def _matrix(self, X, Z):
            (among if Z is None else columns).append(len(X))
            return super()._matrix(X, Z)

    pivoted_cholesky(Counting(2.0), np.random.default_rng(0).standard_normal((2000, 3)), rank=70, tol=1e-8)
    assert sum(columns) == 70
    assert len(columns) < 10
    assert max(among) < 300


def test_zero_kernels_are_named():
    with pytest.raises(ValueError, match="every object has norm zero"):
        pivoted_cholesky(Linear(), np.zeros((4, 2)))


@pytest.mark.parametrize("bad", [{"rank": 0}, {"rank": 1.5}, {"tol": -1.0}, {"tol": 1.0}])
def test_low_rank_parameters(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        LowRank(**bad).factorize(RidgeProblem(Linear(), X, Y))


def test_a_given_gram_matrix_is_not_overwritten():
    K = Gaussian(1.0)(X)
    before = K.copy()
    for solver in (Exact(), Cholesky(), Tridiagonal()):
        for fit_intercept in (True, False):
            solver.factorize(RidgeProblem(Precomputed(), K, Y, alpha=0.1, fit_intercept=fit_intercept))
    assert np.array_equal(K, before)


def test_indefinite_matrices_are_refused_or_mended_aloud():
    bad = np.diag([1.0, 1.0, -0.5])
    for solver in (Exact(), Tridiagonal(), Cholesky()):
        with pytest.raises(ValueError, match=r"smallest eigenvalue is -0\.5 \(the largest is 1\)"):
            solver.factorize(RidgeProblem(Precomputed(), bad, Y[:3], alpha=0.6, fit_intercept=False))
    with pytest.warns(NumericalWarning, match=r"smallest eigenvalue is -0\.5 .* 20\.000% of the spectrum"):
        kernel = Precomputed().clipped().resolve(bad)
    check_solver(Exact(), RidgeProblem(kernel, bad, Y[:3], alpha=0.1), bad[:2])
    large = np.diag(np.r_[np.ones(99), -0.5])
    with pytest.raises(ValueError, match=r"smallest eigenvalue is -0\.5"):
        Cholesky().factorize(RidgeProblem(Precomputed(), large, large, alpha=0.6, fit_intercept=False))


def test_memory_reads_something_sensible():
    assert 2**20 < memory.available_bytes() < 2**50
