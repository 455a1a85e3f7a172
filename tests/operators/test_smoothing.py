import numpy as np
import pytest
from expected_failures import expected_failures
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.estimators import CurveRidge, OperatorValuedRidge
from mercer.kernels import Gaussian, Linear
from mercer.operators import Separable, quadrature_weights, smoothing_matrix
from mercer.selection import LeaveOneOut


def uneven(seed, p):
    return np.sort(np.random.default_rng(seed).uniform(0, 5, p))


def problem(seed=0, n=7, p=6):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    return X, np.sin(X[:, :1] + uneven(seed, p)) + 0.3 * rng.standard_normal((n, p)), uneven(seed, p)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 100), p=st.integers(1, 8), length=st.floats(0.01, 50), closed=st.booleans())
def test_matrix_is_positive_and_falls_with_the_shorter_way(seed, p, length, closed):
    grid, period = uneven(seed, p), 5.5 if closed else None
    T = smoothing_matrix(grid, length, period)
    assert np.linalg.eigvalsh(T).min() > -1e-9
    for i in range(p):
        for j in range(p):
            lag = abs(grid[i] - grid[j])
            lag = min(lag, 5.5 - lag) if closed else lag
            assert T[i, j] == pytest.approx(np.exp(-lag / length))


@pytest.mark.parametrize("period", [None, 5.5])
def test_weights_sum_to_the_width_and_integrate_straight_lines(period):
    grid = uneven(1, 9)
    weights = quadrature_weights(grid, period)
    assert weights.sum() == pytest.approx(grid[-1] - grid[0] if period is None else period)
    if period is None:
        assert weights @ (2 * grid + 1) == pytest.approx(grid[-1] ** 2 + grid[-1] - grid[0] ** 2 - grid[0])


def dense(X, Y, grid, length, alpha, period=None):
    """Coefficients and intercept by one np×np system in weighted coordinates, and predictions for new inputs."""
    n, p = Y.shape
    roots = np.sqrt(quadrature_weights(grid, period))
    T = np.eye(p) if length == 0 else roots[:, None] * smoothing_matrix(grid, length, period) * roots
    T = T / np.mean(np.linalg.eigvalsh(T))
    kernel = Gaussian(1.3)
    ones = np.kron(np.ones((n, 1)), np.eye(p))
    system = np.block([[np.kron(kernel(X), T) + alpha * np.eye(n * p), ones], [ones.T, np.zeros((p, p))]])
    found = np.linalg.solve(system, np.concatenate([(Y * roots).ravel(), np.zeros(p)]))
    C, b = found[: n * p].reshape(n, p), found[n * p :]
    return lambda Z: (kernel(Z, X) @ C @ T + b) / roots


@pytest.mark.parametrize("length", [0.0, 0.7])
@pytest.mark.parametrize("period", [None, 6.0])
def test_fit_and_leave_one_out_equal_the_dense_definition(length, period):
    X, Y, grid = problem()
    model = CurveRidge(Gaussian(1.3), grid=grid, lengths=[length], period=period, alpha=LeaveOneOut([0.05])).fit(X, Y)
    new = np.random.default_rng(5).standard_normal((4, 2))
    np.testing.assert_allclose(model.predict(new), dense(X, Y, grid, length, 0.05, period)(new), atol=1e-9)
    weights, errors = quadrature_weights(grid, period), 0.0
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        wrong = dense(X[rest], Y[rest], grid, length, 0.05, period)(X[i : i + 1])[0] - Y[i]
        errors += weights @ wrong**2
    assert model.loo_path_[0, 0] == pytest.approx(errors / len(X), rel=1e-9)


def test_separable_ridge_takes_the_matrix():
    """On an even closed grid the weights are equal, and without a mean to learn both estimators solve the same system."""
    rng = np.random.default_rng(2)
    X, grid = rng.standard_normal((8, 2)), np.arange(5.0)
    Y = rng.standard_normal((8, 5))
    T = smoothing_matrix(grid, 2.0, period=5.0)
    kernel = Linear()
    X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)  # the intercept is then zero
    curves = CurveRidge(kernel, grid=grid, lengths=[2.0], period=5.0, alpha=0.5).fit(X, Y)
    ridge = OperatorValuedRidge(Separable(kernel, T), alpha=0.5, fit_intercept=False).fit(X, Y)
    np.testing.assert_allclose(curves.predict(X), ridge.predict(X), atol=1e-10)


def test_the_least_leave_one_out_error_is_chosen():
    X, Y, grid = problem(3, n=12, p=10)
    model = CurveRidge(grid=grid).fit(X, Y)
    i, j = np.unravel_index(np.argmin(model.loo_path_), model.loo_path_.shape)
    assert (model.length_, model.alpha_) == (model.lengths_[i], model.alphas_[j])
    assert model.loo_path_.shape == (7, 13)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"grid": [0.0, 1.0]}, "y has 3 columns and grid has 2 points"),
        ({"grid": [0.0, 2.0, 1.0]}, "grid=.*ascending order"),
        ({"period": 1.0}, "period=1.0; expected more than 2"),
        ({"lengths": [-1.0]}, "lengths=.*zero or more"),
        ({"alpha": LeaveOneOut([0.0])}, "alphas=.*positive finite numbers"),
        ({"alpha": LeaveOneOut([])}, "alphas=.*positive finite numbers"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        CurveRidge(**settings).fit(np.zeros((4, 1)) + np.arange(4)[:, None], np.ones((4, 3)))


def test_bad_length():
    with pytest.raises(ValueError, match="length=-1; expected a finite number, zero or more"):
        smoothing_matrix([0, 1], -1)


@parametrize_with_checks([CurveRidge(alpha=LeaveOneOut([0.1, 1.0]))], expected_failed_checks=expected_failures)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
