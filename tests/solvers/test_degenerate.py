"""Inputs that are all alike, alpha below rounding, large means: answers stay those of exact arithmetic."""

import numpy as np
import pytest

from mercer import DependencyEstimator, OperatorValuedRidge, OutputKernelLearning
from mercer.embeddings import PrincipalComponents
from mercer.kernels import Gaussian, Linear
from mercer.operators import Covariance, Separable
from mercer.solvers import Exact


@pytest.mark.parametrize("part", [{"operator": Covariance()}, {"embedding": PrincipalComponents()}], ids=repr)
@pytest.mark.parametrize("constant", [1e3, 1e6])
def test_a_large_mean_of_outputs_known_through_their_gram_matrix(part, constant):
    rng = np.random.default_rng(3)
    X, Y = rng.standard_normal((12, 2)), rng.standard_normal((12, 14))
    plain = DependencyEstimator(Gaussian(1.0), alpha=0.05, **part).fit(X, Y).predict(X)
    moved = DependencyEstimator(Gaussian(1.0), alpha=0.05, **part).fit(X, Y + constant).predict(X)
    np.testing.assert_allclose(moved - constant, plain, atol=1e-15 * constant**2)


@pytest.mark.parametrize("alpha", [1e-13, 1e-17, 1e-20])
def test_alpha_below_the_rounding_of_repeated_inputs(alpha):
    rng = np.random.default_rng(0)
    X, Y = np.repeat(rng.standard_normal((20, 2)), 2, axis=0), rng.standard_normal((40, 1))
    found = DependencyEstimator(Gaussian(0.3), alpha=alpha, solver=Exact()).fit(X, Y).predict(X[::2])
    np.testing.assert_allclose(found.ravel(), Y.reshape(20, 2).mean(axis=1), atol=1e-10)


def test_columns_that_are_nearly_the_same_leave_pairs_out_right():
    X = np.array([[1.0, 1.0], [2.0, 2.0], [4.0, 4.0]])
    X[:, 1] += 1e-7 * np.array([1.0, -2.0, 0.5])
    found = DependencyEstimator(Linear(), alpha=1.0).fit(X, [0.0, 1.0, 5.0]).map_.left_out_points()
    np.testing.assert_allclose(found.ravel(), [-0.2, 1.75, 1.75], atol=1e-6)


def test_inputs_that_are_all_alike_give_the_mean():
    Y, weight = np.arange(18.0).reshape(9, 2), np.arange(1.0, 10.0)
    operator = Separable(Gaussian(1.0), [[1.0, 0.5], [0.5, 1.0]])
    model = OperatorValuedRidge(operator, alpha=0.1).fit(np.ones((9, 1)), Y, sample_weight=weight)
    np.testing.assert_allclose(model.predict(np.ones((1, 1)))[0], np.average(Y, axis=0, weights=weight))
    two = DependencyEstimator(Linear()).fit(np.ones((2, 1)), [[0.0], [1.0]])
    np.testing.assert_allclose(two.map_.left_out_points().ravel(), [1.0, 0.0])
    for n in (4, 5):
        Y = np.arange(2.0 * n).reshape(n, 2)
        learned = OutputKernelLearning(Gaussian(1.0)).fit(np.ones((n, 2)), Y)
        np.testing.assert_allclose(learned.predict(np.ones((1, 2)))[0], Y.mean(axis=0))
