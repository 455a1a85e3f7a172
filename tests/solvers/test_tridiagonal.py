"""The tridiagonal solver: one ridge with covariance operators, against eigenvectors and dense systems."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import DependencyEstimator, NumericalWarning, load, save
from mercer.core.arrays import to_numpy
from mercer.decoders import Candidates, Standardized
from mercer.kernels import Classes, Gaussian, Linear, Polynomial, Precomputed, Subsequence
from mercer.operators import ConditionalCovariance, Covariance
from mercer.solvers import Exact, Tridiagonal
from mercer.solvers.tridiagonal import TridiagonalForm

OPERATORS = [
    Covariance(),
    Covariance(centered=True),
    ConditionalCovariance(0.1),
    ConditionalCovariance(0.1, centered=True),
]
rng = np.random.default_rng(0)
X, Y, NEW = rng.standard_normal((25, 3)), rng.standard_normal((25, 2)), rng.standard_normal((6, 3))


@settings(max_examples=40, deadline=None)
@given(n=st.integers(1, 20), rank=st.integers(1, 25), columns=st.integers(1, 9), seed=st.integers(0, 999))
def test_the_form_is_the_matrix_and_solves_its_systems(n, rank, columns, seed):
    random = np.random.default_rng(seed)
    rows = random.standard_normal((n, rank))
    gram, V, gains = rows @ rows.T, random.standard_normal((n, columns)), 10 ** random.uniform(-3, 1, columns)
    form = TridiagonalForm(gram.copy(), "k")
    P = form.outside(np.eye(n))
    T = np.diag(form.diagonal) + np.diag(form.off_diagonal, 1) + np.diag(form.off_diagonal, -1)
    assert np.allclose(P.T @ P, np.eye(n), atol=1e-12)
    assert np.allclose(P @ T @ P.T, gram, atol=1e-11 * np.trace(gram))
    assert np.allclose(form.inside(V), P.T @ V)
    solved = form.solve(V.copy(), gains, 0.3)
    assert np.allclose(T @ solved * gains + 0.3 * solved, V, atol=1e-9)
    whitened = form.whitened(form.inside(V), 0.3)
    assert np.allclose(whitened.T @ whitened, V.T @ np.linalg.solve(gram + 0.3 * np.eye(n), V))


@pytest.mark.parametrize("operator", OPERATORS, ids=repr)
@pytest.mark.parametrize("kernels", [(Gaussian(1.0), Gaussian(1.5)), (Linear(), Linear()), (Gaussian(1.0), Linear())])
@pytest.mark.parametrize("alpha", [1e-3, 1.0])
def test_it_agrees_with_eigenvectors(operator, kernels, alpha):
    fast = DependencyEstimator(*kernels, operator, alpha=alpha, decoder=Candidates(), solver=Tridiagonal()).fit(X, Y)
    slow = DependencyEstimator(*kernels, operator, alpha=alpha, decoder=Candidates(), solver=Exact()).fit(X, Y)
    assert np.allclose(fast.map_.points(NEW), slow.map_.points(NEW), atol=1e-10)
    assert np.allclose(fast.map_.left_out_points(), slow.map_.left_out_points(), atol=1e-10)


@pytest.mark.parametrize("operator", OPERATORS[::2], ids=repr)
def test_outputs_without_inputs_and_standardized_decoding(operator):
    more = rng.standard_normal((5, 2))
    parts = {"alpha": 0.1, "decoder": Standardized()}
    slow = DependencyEstimator(Gaussian(1.0), Gaussian(1.5), operator, **parts).fit(X, Y, extra_outputs=more)
    assert isinstance(slow.solver_, Exact)  # left-out points are wanted, and eigenvectors give them
    parts["decoder"] = Candidates()
    fast = DependencyEstimator(Gaussian(1.0), Gaussian(1.5), operator, **parts).fit(X, Y, extra_outputs=more)
    assert isinstance(fast.solver_, Tridiagonal)
    assert np.allclose(fast.map_.points(NEW), slow.map_.points(NEW), atol=1e-10)
    with pytest.raises(ValueError, match="left-out points are wanted"):
        slow.set_params(solver=Tridiagonal()).fit(X, Y)


@pytest.mark.parametrize("share", [1e-17, 1e-19, 1e-25])
def test_a_ridge_below_rounding_is_raised_aloud(share):
    """Repeated inputs: k has eigenvalues at rounding, and pivots must not pass through zero."""
    for seed in range(10):
        random = np.random.default_rng(seed)
        rows = random.standard_normal((40, 4))[random.integers(0, 40, 40)]
        gram = (rows @ rows.T + 1.0) ** 3
        form = TridiagonalForm(gram.copy(), "k")
        V = gram @ random.standard_normal((40, 3))  # in the range of k, so that the answer does not depend on the ridge
        with pytest.warns(NumericalWarning, match=r"is lost in the rounding of the input Gram matrix.*was used"):
            solved = form.outside(form.solve(form.inside(V), np.ones(3), share * np.linalg.eigvalsh(gram)[-1]))
        np.testing.assert_allclose(gram @ solved, V, rtol=0.0, atol=1e-8 * np.abs(V).max())


def test_repeated_digits_under_a_polynomial():
    from sklearn.datasets import load_digits

    images, digits = load_digits(return_X_y=True)
    chosen = np.random.default_rng(0).integers(0, 200, 200)
    parts = (Polynomial(3), Classes(), Covariance())
    plain = {"alpha": 1e-7, "fit_intercept": False}
    with pytest.warns(NumericalWarning, match="is lost in the rounding"):
        fast = DependencyEstimator(*parts, **plain, solver=Tridiagonal()).fit(images[chosen], digits[chosen])
    slow = DependencyEstimator(*parts, **plain, solver=Exact()).fit(images[chosen], digits[chosen])
    assert np.array_equal(fast.predict(images[200:260]), slow.predict(images[200:260]))


def test_rows_that_are_not_doubles_are_reflected_too():
    form = TridiagonalForm(Gaussian(1.0)(X), "k")
    rows = rng.integers(0, 3, (25, 4))
    for kind in (np.float32, np.int64, bool):
        assert np.allclose(form.inside(rows.astype(kind)), form.inside(rows.astype(kind).astype(float)))


def test_an_operator_without_a_spectrum_is_the_identity():
    class Plain(Covariance):
        def matrix(self, outputs):
            return np.eye(outputs.coordinates.shape[1])

        def spectrum(self, outputs):
            return None

    found = DependencyEstimator(Gaussian(1.0), Linear(), Plain(), alpha=0.1, solver=Tridiagonal()).fit(X, Y)
    assert np.allclose(
        found.predict(NEW), DependencyEstimator(Gaussian(1.0), Linear(), alpha=0.1).fit(X, Y).predict(NEW)
    )


def test_what_is_below_zero_is_said_and_clipped():
    values = np.r_[np.linspace(0.1, 1.0, 11), -1e-9]
    turn = scipy.linalg.qr(rng.standard_normal((12, 12)))[0]
    gram = (turn * values) @ turn.T
    gram = (gram + gram.T) / 2
    assert not TridiagonalForm(gram.copy(), "k").definite
    parts = {"alpha": 1e-6, "decoder": Candidates(), "fit_intercept": False}
    with pytest.warns(NumericalWarning, match=r"slightly negative eigenvalue, -1e-09 .* were set to zero"):
        fast = DependencyEstimator(Precomputed(), Linear(), Covariance(), **parts).fit(gram, Y[:12])
    with pytest.warns(NumericalWarning, match="slightly negative"):
        slow = DependencyEstimator(Precomputed(), Linear(), Covariance(), solver=Exact(), **parts).fit(gram, Y[:12])
    assert np.array_equal(fast.map_.points(gram), slow.map_.points(gram))
    with pytest.raises(ValueError, match=r"smallest eigenvalue is -0\.5 \(the largest is 1\)"):
        DependencyEstimator(Precomputed(), Linear(), Covariance(), alpha=0.1).fit(np.diag([1.0, 1.0, -0.5]), Y[:3])


def test_objects_and_tensors():
    words = ["abab", "abba", "baab", "bbaa", "aabb", "baba"]
    kernel = Subsequence(2).normalized()
    model = DependencyEstimator(kernel, kernel, Covariance(), alpha=0.01).fit(words, words)
    assert isinstance(model.solver_, Tridiagonal)
    assert list(model.predict(words)) == words
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    tensors = DependencyEstimator(Gaussian(1.0), Gaussian(1.0), Covariance(), alpha=0.1)
    assert isinstance(tensors.fit(torch.asarray(X), torch.asarray(Y)).solver_, Exact)
    found = to_numpy(tensors.predict(torch.asarray(NEW)))
    assert np.allclose(found, tensors.fit(X, Y).predict(NEW))
    with pytest.raises(ValueError, match="works with NumPy arrays"):
        tensors.set_params(solver=Tridiagonal()).fit(torch.asarray(X), torch.asarray(Y))
    mixed = DependencyEstimator(kernel, Linear(), Covariance(), alpha=0.1).fit(words, torch.asarray(Y[:6]))
    assert isinstance(mixed.predict(words), torch.Tensor)


def test_it_survives_saving(tmp_path):
    model = DependencyEstimator(Gaussian(1.0), Gaussian(1.0), ConditionalCovariance(0.1), alpha=0.1).fit(X, Y)
    save(model, tmp_path / "model.skops")
    assert np.array_equal(load(tmp_path / "model.skops").predict(NEW), model.predict(NEW))
