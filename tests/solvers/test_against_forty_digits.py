"""Ridge regression against mpmath at 40 digits: tiny, huge, duplicated, rank-deficient and ill-conditioned Gram matrices."""

import mpmath
import numpy as np
import pytest

from mercer import DependencyEstimator
from mercer.kernels import Gaussian, Linear, Precomputed
from mercer.operators import Covariance
from mercer.solvers import Cholesky, ConjugateGradient, Exact, Tridiagonal

pytestmark = pytest.mark.filterwarnings("ignore::mercer.NumericalWarning")

rng = np.random.default_rng(0)
X = rng.standard_normal((7, 3))
Y = np.column_stack([np.sin(X[:, 0]), X[:, 1] * X[:, 2]])
EVERY = np.arange(len(X))
GRAMS = {
    "plain": Gaussian(1.5)(X),
    "duplicated": Gaussian(1.5)(np.concatenate([X[:4], X[:3]])),
    "rank-deficient": Linear()(X[:, :2]),
    "ill-conditioned": Gaussian(30.0)(X),
    # its numbers are exact too: the reference starts from the same ones
    "single precision": Gaussian(1.5)(X).astype(np.float32),
}
SOLVERS = {"one alpha": Cholesky(), "path": Exact(), "iterated": ConjugateGradient(tol=1e-13)}
SCALES = pytest.mark.parametrize("scale", [1.0, 1e150, 1e-150])
KINDS = pytest.mark.parametrize("name", GRAMS)


def ridge(gram, share, targets, out=(), intercept=True):
    """Predictions for the inputs in `out`, or for all, by the fit without them, with 40 digits.

    Alpha is `share` times the mean of the diagonal. The scale of the Gram matrix cancels: (k/alpha + I) c = y predicts the same.
    """
    with mpmath.workdps(40):
        numbers = mpmath.matrix(gram.astype(float).tolist())
        alpha = mpmath.mpf(share) * mpmath.fsum(numbers[i, i] for i in range(len(gram))) / len(gram)
        numbers /= alpha
        train = [i for i in range(len(gram)) if i not in out]
        n = len(train)
        system = mpmath.ones(n + intercept)
        for a, i in enumerate(train):
            for b, j in enumerate(train):
                system[a, b] = numbers[i, j] + (1 if a == b else 0)
        if intercept:
            system[n, n] = 0
        found = np.empty((len(out) or len(gram), targets.shape[1]))
        for column in range(targets.shape[1]):
            right = mpmath.matrix([float(targets[i, column]) for i in train] + [0] * intercept)
            solution = mpmath.lu_solve(system, right)
            for row, i in enumerate(out or range(len(gram))):
                value = mpmath.fsum(numbers[i, j] * solution[b] for b, j in enumerate(train))
                found[row, column] = value + (solution[n] if intercept else 0)
        return found


def kernel_and_alpha(name, scale, share):
    gram = GRAMS[name]
    exact = scale * float(np.mean(np.diag(gram).astype(float)))
    return scale * Precomputed(gram.astype(float)), share * exact


@pytest.mark.parametrize("intercept", [True, False])
@SCALES
@pytest.mark.parametrize("share", [1e-5, 0.1])
@KINDS
@pytest.mark.parametrize("solver", SOLVERS)
def test_predictions_and_those_left_out(solver, name, share, scale, intercept):
    kernel, alpha = kernel_and_alpha(name, scale, share)
    model = DependencyEstimator(kernel, alpha=alpha, solver=SOLVERS[solver], fit_intercept=intercept).fit(EVERY, Y)
    precision = 1e-10 if share > 1e-3 else 1e-7  # the condition number of the system is about n / share
    expected = ridge(GRAMS[name], share, Y, intercept=intercept)
    np.testing.assert_allclose(model.predict(EVERY), expected, atol=precision)
    if solver != "iterated":  # which leaves pairs out of its preconditioner
        left_out = np.concatenate([ridge(GRAMS[name], share, Y, [i], intercept) for i in EVERY])
        # alpha is that of all pairs, and the reference takes its share of them too
        np.testing.assert_allclose(model.map_.left_out_points(), left_out, atol=10 * precision)


@pytest.mark.parametrize("solver", ["auto", Tridiagonal()], ids=repr)
@SCALES
@KINDS
def test_a_covariance_operator(name, scale, solver):
    """Each eigenvector of the operator C is a ridge of its own, with alpha over its eigenvalue."""
    kernel, alpha = kernel_and_alpha(name, scale, 0.05)
    model = DependencyEstimator(kernel, operator=Covariance(), alpha=alpha, solver=solver).fit(EVERY, Y)
    moments = (Y - Y.mean(axis=0)).T @ (Y - Y.mean(axis=0)) / len(Y)
    values, vectors = np.linalg.eigh(moments)
    columns = [
        ridge(GRAMS[name], 0.05 / value, (Y @ vectors)[:, [column]])[:, 0] for column, value in enumerate(values)
    ]
    np.testing.assert_allclose(model.predict(EVERY), np.column_stack(columns) @ vectors.T, atol=1e-9)


@SCALES
def test_the_choice_of_alpha_follows_the_scale(scale):
    plain = DependencyEstimator(Precomputed(GRAMS["plain"])).fit(EVERY, Y)
    moved = DependencyEstimator(scale * Precomputed(GRAMS["plain"])).fit(EVERY, Y)
    assert moved.alpha_ == pytest.approx(scale * plain.alpha_, rel=1e-9)
    np.testing.assert_allclose(moved.predict(EVERY), plain.predict(EVERY), atol=1e-9)


def test_single_precision_inputs_are_computed_in_double():
    single = X.astype(np.float32)
    found = DependencyEstimator(Gaussian(1.5), alpha=0.1).fit(single, Y).predict(single)
    gram = Gaussian(1.5)(single.astype(float))
    np.testing.assert_allclose(found, ridge(gram, 0.1, Y), atol=1e-12)
