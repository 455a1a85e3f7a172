"""Output kernel learning: each step against its dense definition, and the optimum against everything around it."""

import numpy as np
import pytest
from expected_failures import expected_failures
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import OutputKernelLearning
from mercer.kernels import Gaussian, Precomputed, Subsequence
from mercer.selection import LeaveOneOut


def objective(K, Y, C, L, alpha):
    """As printed."""
    return np.sum((Y - K @ C @ L) ** 2) / (2 * alpha) + 0.5 * np.sum((C.T @ K @ C) * L) + 0.5 * np.sum(L**2)


def problem(seed, n=12, p=3, rank=None):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    Y = rng.standard_normal((n, p if rank is None else rank))
    return X, Y if rank is None else Y @ rng.standard_normal((rank, p))


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(3, 9),
    p=st.integers(1, 12),
    alpha=st.sampled_from([1e-3, 0.1, 1.0, 30.0]),
)
def test_the_solution_solves_the_dense_system_and_the_objective_never_rises(seed, n, p, alpha):
    X, Y = problem(seed, n, p)
    model = OutputKernelLearning(Gaussian(1.0), alpha=alpha, tol=1e-7, fit_intercept=False).fit(X, Y)
    K, L, C = Gaussian(1.0)(X), model.output_matrix_, model.dual_coef_
    dense = np.linalg.solve(np.kron(K, L) + alpha * np.eye(n * p), Y.ravel()).reshape(n, p)
    assert np.allclose(C, dense, atol=1e-8 * np.abs(dense).max())
    assert np.allclose(model.predict(X), K @ C @ L)
    path = model.objective_path_
    assert np.all(np.diff(path) <= 1e-12 * path[0])
    assert path[-1] == pytest.approx(objective(K, Y, C, L, alpha), rel=1e-9)
    assert np.linalg.eigvalsh(L)[0] >= -1e-12 * np.linalg.norm(L)


@pytest.mark.parametrize("alpha", [0.05, 1.0])
def test_the_solution_is_stationary_in_both_blocks(alpha):
    X, Y = problem(0)
    model = OutputKernelLearning(Gaussian(1.0), alpha=alpha, tol=1e-15, max_iter=5000, fit_intercept=False).fit(X, Y)
    K, L, C = Gaussian(1.0)(X), model.output_matrix_, model.dual_coef_
    rng, step = np.random.default_rng(1), 1e-5
    for _ in range(5):
        D, E = rng.standard_normal(C.shape), rng.standard_normal(L.shape)
        E = E + E.T
        in_C = objective(K, Y, C + step * D, L, alpha) - objective(K, Y, C - step * D, L, alpha)
        in_L = objective(K, Y, C, L + step * E, alpha) - objective(K, Y, C, L - step * E, alpha)
        assert abs(in_C) / (2 * step) < 1e-5
        assert abs(in_L) / (2 * step) < 1e-5


def by_the_paper(K, Y, alpha, steps):
    """Dinuzzo's own alternation on C and L, the L-step over symmetric matrices by its Lyapunov equation."""
    n, p = Y.shape
    L = np.eye(p)
    for _ in range(steps):
        C = np.linalg.solve(np.kron(K, L) + alpha * np.eye(n * p), Y.ravel()).reshape(n, p)
        E = K @ C
        values, vectors = np.linalg.eigh(E.T @ E)
        right = vectors.T @ ((E.T @ Y + Y.T @ E) / (2 * alpha) - 0.5 * C.T @ E) @ vectors
        L = vectors @ (right / (1 + (values[:, None] + values) / (2 * alpha))) @ vectors.T
    return L


def test_the_optimum_is_that_of_the_papers_alternation():
    X, Y = problem(3, n=8, p=3)
    K = Gaussian(1.0)(X)
    expected = by_the_paper(K, Y, 1.0, 3000)
    model = OutputKernelLearning(Gaussian(1.0), alpha=1.0, tol=1e-14, max_iter=5000, fit_intercept=False).fit(X, Y)
    assert np.linalg.eigvalsh(expected)[0] > 0
    assert np.allclose(model.output_matrix_, expected, atol=1e-6)


def test_the_gap_bounds_what_is_left():
    X, Y = problem(4, n=15, p=4)
    best = OutputKernelLearning(Gaussian(1.0), alpha=0.5, tol=1e-15, max_iter=5000).fit(X, Y).objective_path_[-1]
    with pytest.warns(ConvergenceWarning, match="stopped after 3 steps"):
        early = OutputKernelLearning(Gaussian(1.0), alpha=0.5, max_iter=3).fit(X, Y)
    left = early.objective_path_[-1] - best
    assert 0 < left <= early.gap_
    assert early.n_iter_ == 3


def test_outputs_in_another_order_or_turned_give_the_same_turned():
    X, Y = problem(5, n=10, p=4)
    rng = np.random.default_rng(0)
    turned, _ = np.linalg.qr(rng.standard_normal((4, 4)))
    for change in (np.eye(4)[:, [2, 0, 3, 1]], turned):
        one = OutputKernelLearning(alpha=0.3, tol=1e-14, max_iter=5000).fit(X, Y)
        other = OutputKernelLearning(alpha=0.3, tol=1e-14, max_iter=5000).fit(X, Y @ change)
        assert np.allclose(other.output_matrix_, change.T @ one.output_matrix_ @ change, atol=1e-6)
        assert np.allclose(other.predict(X), one.predict(X) @ change, atol=1e-6)


def test_more_outputs_than_samples_stay_in_their_span():
    X, Y = problem(6, n=6, p=20, rank=2)
    model = OutputKernelLearning(alpha=0.1, fit_intercept=False).fit(X, Y)
    basis = np.linalg.svd(Y, full_matrices=False)[2][:2]
    inside = basis.T @ basis
    assert np.allclose(inside @ model.output_matrix_ @ inside, model.output_matrix_)
    assert np.linalg.matrix_rank(model.output_matrix_, tol=1e-8) == 2


def test_no_steps_is_ridge_output_by_output():
    X, Y = problem(7)
    model = OutputKernelLearning(Gaussian(1.0), alpha=0.2, max_iter=0, fit_intercept=False).fit(X, Y)
    level = model.output_matrix_[0, 0]
    K = Gaussian(1.0)(X)
    assert np.allclose(model.output_matrix_, level * np.eye(3))
    assert np.allclose(model.predict(X), K @ np.linalg.solve(K + 0.2 / level * np.eye(len(K)), Y))


def test_leave_one_out_is_refitting_with_the_matrix_held():
    X, Y = problem(8, n=9)
    model = OutputKernelLearning(Gaussian(1.0), alpha=LeaveOneOut([0.1, 1.0]), fit_intercept=False).fit(X, Y)
    for alpha, figure in zip(model.alphas_, model.loo_path_, strict=True):
        L = OutputKernelLearning(Gaussian(1.0), alpha=alpha, fit_intercept=False).fit(X, Y).output_matrix_
        total = 0.0
        for j in range(9):
            rest = np.delete(np.arange(9), j)
            K = Gaussian(1.0)(X[rest])
            c = np.linalg.solve(np.kron(K, L) + alpha * np.eye(24), Y[rest].ravel()).reshape(8, 3)
            total += np.sum((Y[j] - (Gaussian(1.0)(X[[j]], X[rest]) @ c @ L)[0]) ** 2)
        assert figure == pytest.approx(total / 9)
    assert model.alpha_ == model.alphas_[np.argmin(model.loo_path_)]


def test_related_outputs_are_found():
    rng = np.random.default_rng(9)
    X = rng.uniform(-2, 2, (40, 1))
    Y = np.hstack([np.sin(2 * X), np.sin(2 * X), np.cos(3 * X)]) + 0.1 * rng.standard_normal((40, 3))
    L = OutputKernelLearning(alpha=0.1).fit(X, Y).output_matrix_
    scale = np.sqrt(np.diag(L))
    likeness = L / np.outer(scale, scale)
    assert likeness[0, 1] > 0.9
    assert abs(likeness[0, 2]) < 0.3


def test_objects_gram_matrices_and_saving(tmp_path):
    words, Y = ["aab", "abb", "bba", "bbb", "aaa"], np.arange(10.0).reshape(5, 2) ** 0.5
    kernel = Subsequence(length=2).normalized()
    model = OutputKernelLearning(kernel, alpha=0.1).fit(words, Y)
    loaded = mercer.load(mercer.save(model, tmp_path / "model.skops"))
    assert np.array_equal(loaded.predict(["aabb"]), model.predict(["aabb"]))
    gram = kernel(words)
    kept = gram.copy()
    given = OutputKernelLearning(Precomputed(), alpha=0.1).fit(gram, Y)
    assert np.array_equal(gram, kept)
    assert np.allclose(given.predict(kernel(["aabb"], words)), model.predict(["aabb"]))


def test_constant_outputs_are_learned_as_they_are():
    model = OutputKernelLearning().fit(np.arange(4.0)[:, None], np.full((4, 2), 3.0))
    assert np.allclose(model.predict([[7.0]]), 3.0)
    assert np.allclose(model.output_matrix_, 0.0)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"kernel": "rbf"}, TypeError, "kernel is 'rbf'.*expected a kernel"),
        ({"alpha": -1.0}, ValueError, "alpha=-1.0; expected a positive"),
        ({"alpha": "gcv"}, ValueError, "alpha='gcv'; expected a positive number, 'loo'"),
        ({"max_iter": -1}, ValueError, "max_iter=-1; expected a whole number"),
        ({"tol": 0.0}, ValueError, "tol=0.0; expected a number between 0 and 1"),
        ({"kernel": Precomputed()}, ValueError, "expected a square Gram matrix"),
    ],
)
def test_bad_parameters(parameters, error, message):
    model = OutputKernelLearning(**parameters)
    with pytest.raises(error, match=message):
        model.fit(np.zeros((4, 2)), np.zeros((4, 2)))
    assert not hasattr(model, "kernel_")


@parametrize_with_checks(
    [OutputKernelLearning(), OutputKernelLearning(alpha=1.0)], expected_failed_checks=expected_failures
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
