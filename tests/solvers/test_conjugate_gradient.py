"""Conjugate gradients, its preconditioners, and when Kronecker sums come apart."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.core.arrays import to_numpy
from mercer.kernels import Gaussian
from mercer.solvers.block_systems import common_basis, pencil
from mercer.solvers.conjugate_gradient import (
    KroneckerPreconditioner,
    SketchedPreconditioner,
    conjugate_gradient,
    nearest_weights,
)


def psd(rng, n, rank=None):
    root = rng.standard_normal((n, rank or n))
    return root @ root.T


@given(seed=st.integers(0, 10**6), n=st.integers(1, 12), p=st.integers(1, 3))
@settings(max_examples=25, deadline=None)
def test_it_solves(seed, n, p):
    rng = np.random.default_rng(seed)
    A = psd(rng, n * p) + 0.5 * np.eye(n * p)
    b = rng.standard_normal((n, p))
    found = conjugate_gradient(lambda x: (A @ x.ravel()).reshape(n, p), b, tol=1e-12)
    assert found.converged
    np.testing.assert_allclose(found.values.ravel(), np.linalg.solve(A, b.ravel()), atol=1e-8)


def test_exact_preconditioner_needs_one_step():
    rng = np.random.default_rng(0)
    A, b = psd(rng, 8) + np.eye(8), rng.standard_normal(8)
    found = conjugate_gradient(lambda x: A @ x, b, lambda r: np.linalg.solve(A, r))
    assert found.iterations == 1


def test_it_reports_when_it_does_not_arrive():
    rng = np.random.default_rng(0)
    A, b = np.diag(np.logspace(-6, 6, 40)), rng.standard_normal(40)
    found = conjugate_gradient(lambda x: A @ x, b, max_iter=5)
    assert found.iterations == 5
    assert not found.converged
    assert found.residual == pytest.approx(np.linalg.norm(b - A @ found.values) / np.linalg.norm(b))


def test_nothing_to_solve():
    found = conjugate_gradient(lambda x: x, np.zeros(3))
    assert (found.iterations, found.converged, found.residual) == (0, True, 0.0)
    assert not found.values.any()


@pytest.mark.parametrize("library", ["torch", "array_api_strict"])
def test_arrays_of_other_libraries(library):
    xp = pytest.importorskip(library)
    rng = np.random.default_rng(0)
    A, b = psd(rng, 6), rng.standard_normal((6, 1))
    there = xp.asarray(A)
    sketch = SketchedPreconditioner(lambda x: there @ x, xp.asarray(b), 3)
    found = conjugate_gradient(lambda x: there @ x + x, xp.asarray(b), lambda r: sketch(r, 1.0))
    np.testing.assert_allclose(to_numpy(found.values), np.linalg.solve(A + np.eye(6), b), atol=1e-9)


def test_a_sketch_of_a_smooth_kernel_saves_most_iterations():
    X = np.random.default_rng(0).uniform(size=(150, 1))
    K, b, alpha = Gaussian(0.5)(X), np.random.default_rng(1).standard_normal(150), 1e-4
    sketch = SketchedPreconditioner(lambda x: K @ x, b, 20)
    system = lambda x: K @ x + alpha * x  # noqa: E731
    plain = conjugate_gradient(system, b, tol=1e-8)
    quick = conjugate_gradient(system, b, lambda r: sketch(r, alpha), tol=1e-8)
    assert quick.iterations <= 5 < plain.iterations


def test_a_full_sketch_is_the_inverse_up_to_scale():
    rng = np.random.default_rng(0)
    A, r, alpha = psd(rng, 6), rng.standard_normal(6), 0.3
    sketch = SketchedPreconditioner(lambda x: A @ x, r, 6)
    scale = np.linalg.eigvalsh(A)[0] + alpha
    np.testing.assert_allclose(sketch(r, alpha), scale * np.linalg.solve(A + alpha * np.eye(6), r), atol=1e-7)


def test_a_sketch_of_nothing_changes_nothing():
    r = np.ones(5)
    np.testing.assert_allclose(SketchedPreconditioner(lambda x: 0.0 * x, r, 2)(r, 0.5), r)


@pytest.mark.parametrize("terms", [1, 2, 3])
def test_nearest_kronecker_product_is_the_leading_singular_pair(terms):
    rng = np.random.default_rng(terms)
    grams, matrices = [psd(rng, 4) for _ in range(terms)], [psd(rng, 3, 1) for _ in range(terms)]
    a, b = nearest_weights(grams, matrices)
    assert (a >= 0).all()
    assert (b >= 0).all()
    k, T = sum(w * g for w, g in zip(a, grams, strict=True)), sum(w * m for w, m in zip(b, matrices, strict=True))
    rearranged = sum(np.outer(g.ravel(), m.ravel()) for g, m in zip(grams, matrices, strict=True))
    U, s, Vt = np.linalg.svd(rearranged)
    np.testing.assert_allclose(np.outer(k.ravel(), T.ravel()), s[0] * np.outer(U[:, 0], Vt[0]), atol=1e-8)


def test_preconditioner_is_the_inverse_for_one_term():
    rng = np.random.default_rng(0)
    k, T, R = psd(rng, 5), psd(rng, 3), rng.standard_normal((5, 3))
    found = KroneckerPreconditioner([k], [T])(R, 0.2)
    dense = np.linalg.solve(np.kron(k, T) + 0.2 * np.eye(15), R.ravel())
    np.testing.assert_allclose(found.ravel(), dense, atol=1e-8)


# -- when terms come apart ----------------------------------------------------------------------------


def test_common_basis_of_commuting_matrices():
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    # eigenvalues shared by one matrix and told apart by another
    diagonals = [np.array([1.0, 1, 1, 2, 2]), np.array([0.0, 3, 3, 3, 5]), np.array([1.0, 2, 7, 2, 2])]
    matrices = [(Q * d) @ Q.T for d in diagonals]
    basis = common_basis(matrices)
    for matrix, values in zip(matrices, basis.values, strict=True):
        np.testing.assert_allclose((basis.vectors * values) @ basis.vectors.T, matrix, atol=1e-12)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_no_common_basis_where_matrices_do_not_commute(seed):
    rng = np.random.default_rng(seed)
    assert common_basis([psd(rng, 4), psd(rng, 4)]) is None
    # commuting but for a little is not commuting
    A = psd(rng, 4)
    E = 1e-6 * psd(rng, 4)
    assert common_basis([A, A @ A + E]) is None


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        ([1.0, 2.0, 3.0], [1.0, 1.0, 1.0], True),  # T₂ = I
        ([4.0, 4.0, 4.0], [1.0, 2.0, 0.0], True),  # T₁ ∝ I
        ([1.0, 2.0, 3.0], [2.0, 4.0, 6.0], True),  # T₂ ∝ T₁
        ([1.0, 0.0, 0.2], [0.0, 1.0, 0.8], True),  # T₂ = I − T₁
        ([1.0, 2.0, 3.0], [1.0, 3.0, 5.0], True),  # T₂ = 2T₁ − I, so T₁ = (T₂ + I)/2
        ([0.0, 0.0, 0.0], [0.0, 0.0, 0.0], True),
        ([1.0, 2.0, 3.0], [1.0, 4.0, 9.0], False),  # T₂ = T₁² commutes, and makes no pencil
    ],
)
def test_pencils(first, second, found):
    rng = np.random.default_rng(0)
    k1, k2, values = psd(rng, 4), psd(rng, 4), np.array([first, second])
    pair = pencil(values, [k1, k2])
    assert (pair is not None) == found
    if pair is None:
        return
    for a in range(3):
        whole = pair.gains[a] * pair.matrix + (0.0 if pair.shift is None else pair.shift)
        np.testing.assert_allclose(whole, first[a] * k1 + second[a] * k2, atol=1e-10)
    if pair.shift is not None:
        assert np.linalg.eigvalsh(pair.shift)[0] > -1e-10
