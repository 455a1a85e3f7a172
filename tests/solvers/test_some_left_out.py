"""Left-out points of some pairs are those of all, at these pairs."""

import numpy as np
import pytest

from mercer.kernels import Gaussian, Linear, Precomputed
from mercer.operators import Covariance
from mercer.solvers import Auto, Exact, LowRank, RidgeProblem

rng = np.random.default_rng(0)
X = rng.standard_normal((30, 3))
Y = rng.standard_normal((30, 2)) + 5.0
WEIGHT = rng.uniform(0.5, 2.0, 30)
ROWS = np.array([0, 3, 4, 17, 29])


@pytest.mark.filterwarnings("ignore::mercer.NumericalWarning")
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["", "weighted"])
@pytest.mark.parametrize("groups", [None, np.arange(30) // 2], ids=["", "groups"])
@pytest.mark.parametrize(
    ("solver", "kernel", "inputs"),
    [
        (Exact(), Gaussian(1.0), X),
        (Exact(), Precomputed(), Gaussian(1.0)(X)),
        (Auto(), Linear(), X),
        (LowRank(rank=10), Gaussian(1.0), X),
        (LowRank(tol=0.0), Gaussian(1.0), X),
    ],
    ids=["exact", "precomputed", "features", "rank 10", "low rank"],
)
def test_some_are_as_all(solver, kernel, inputs, groups, weight, intercept):
    problem = RidgeProblem(kernel, inputs, Y, fit_intercept=intercept, sample_weight=weight, groups=groups)
    path = solver.factorize(problem)
    for alpha in (1e-3, 0.1, 10.0):
        everyone = path.left_out_points(alpha)
        assert np.allclose(path.some_left_out_points(alpha, ROWS), everyone[ROWS], atol=1e-9)
        assert np.allclose(path.some_left_out_points(alpha, np.arange(30)), everyone, atol=1e-9)


def test_operators_and_weights_on_outputs():
    for problem in (
        RidgeProblem(Gaussian(1.0), X, Y, Covariance()),
        RidgeProblem(Gaussian(1.0), X, None),
    ):
        path = Exact().factorize(problem)
        assert np.allclose(path.some_left_out_points(0.1, ROWS), path.left_out_points(0.1)[ROWS], atol=1e-9)
