"""Every solver under the public contract, and the contract under broken solvers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import NumericalWarning
from mercer.core import memory
from mercer.core.pivoted import pivoted_cholesky
from mercer.kernels import Gaussian, Linear, Precomputed, Subsequence
from mercer.solvers import Cholesky, Exact, GramEigh, LowRank, SpectralSolver, Tridiagonal
from mercer.testing import check_solver

X = np.random.default_rng(0).standard_normal((14, 3))
NEW = np.random.default_rng(1).standard_normal((4, 3))
WORDS = ["abab", "abba", "baab", "bbaa", "aabb", "baba", "abaa", "bbab"]


@pytest.mark.parametrize(
    "solver", [Exact(), Cholesky(), Tridiagonal(), LowRank(tol=0.0), LowRank(rank=14, tol=0.0)], ids=repr
)
def test_contract(solver):
    check_solver(solver, Gaussian(1.0), X, NEW)
    check_solver(solver, Linear(), X, NEW)
    check_solver(solver, Gaussian("median"), X, NEW)
    check_solver(solver, Subsequence(2).normalized(), WORDS, ["aabba", "b"])
    K = Gaussian(1.0)(X)
    check_solver(solver, Precomputed(), K, Gaussian(1.0)(NEW, X))


class Forgetful(Exact):
    """Drops the smallest eigenvalue without saying so."""

    def factorize(self, kernel, inputs):
        full = super().factorize(kernel, inputs)
        return GramEigh(full.vectors[:, 1:], full.values[1:], full.basis[:, 1:], residual=full.residual)


class Scaled(SpectralSolver):
    def factorize(self, kernel, inputs):
        values, vectors = np.linalg.eigh(kernel(inputs))
        return GramEigh(2 * vectors, values, vectors)


class Shifted(Exact):
    def factorize(self, kernel, inputs):
        full = super().factorize(kernel, inputs)
        return GramEigh(full.vectors, full.values, full.basis * 1.01)


@pytest.mark.parametrize(
    ("broken", "message"),
    [(Forgetful(), "residual says 0.0"), (Scaled(), "not orthonormal"), (Shifted(), "weights differ")],
)
def test_the_contract_catches(broken, message):
    with pytest.raises(AssertionError, match=message):
        check_solver(broken, Gaussian(1.0), X, NEW)


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
    """The Gram matrix is never made: m columns for rank m."""
    asked = []

    class Counting(Gaussian):
        def _matrix(self, X, Z):
            asked.append(None if Z is None else len(Z))
            return super()._matrix(X, Z)

    pivoted_cholesky(Counting(2.0), np.random.default_rng(0).standard_normal((200, 3)), rank=7)
    assert asked == [1] * 7


def test_zero_kernels_are_named():
    with pytest.raises(ValueError, match="every object has norm zero"):
        pivoted_cholesky(Linear(), np.zeros((4, 2)))


@pytest.mark.parametrize("bad", [{"rank": 0}, {"rank": 1.5}, {"tol": -1.0}, {"tol": 1.0}])
def test_low_rank_parameters(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        LowRank(**bad).factorize(Linear(), X)


def test_a_given_gram_matrix_is_not_overwritten():
    K = Gaussian(1.0)(X)
    before = K.copy()
    Exact().factorize(Precomputed(), K)
    Cholesky().factorize(Precomputed(), K, 0.1)
    Tridiagonal().factorize(Precomputed(), K)
    assert np.array_equal(K, before)


def test_indefinite_matrices_are_refused_or_mended_aloud():
    bad = np.diag([1.0, 1.0, -0.5])
    for factorize in (Exact().factorize, Tridiagonal().factorize, lambda k, m: Cholesky().factorize(k, m, 0.6)):
        with pytest.raises(ValueError, match=r"smallest eigenvalue is -0\.5 \(the largest is 1\)"):
            factorize(Precomputed(), bad)
    with pytest.warns(NumericalWarning, match=r"smallest eigenvalue is -0\.5 .* 20\.000% of the spectrum"):
        kernel = Precomputed().clipped().resolve(bad)
    check_solver(Exact(), kernel, bad, bad[:2])
    large = np.diag(np.r_[np.ones(99), -0.5])
    with pytest.raises(ValueError, match=r"smallest eigenvalue is -0\.5"):
        Cholesky().factorize(Precomputed(), large, 0.6)


def test_memory_reads_something_sensible():
    assert 2**20 < memory.available_bytes() < 2**50
