"""The solver contract and whole estimators on a CUDA device, against NumPy."""

import numpy as np
import pytest

from mercer import CurveRidge, DependencyEstimator, OperatorValuedRidge
from mercer.core.arrays import to_numpy
from mercer.decoders import Candidates
from mercer.estimators import JointKernelMap
from mercer.kernels import Gaussian, Linear, Subsequence
from mercer.operators import ConditionalCovariance, Covariance, Entangled, Identity, Separable, SumOfSeparable
from mercer.solvers import Cholesky, Exact, LowRank, RidgeProblem
from mercer.testing import check_solver

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")

rng = np.random.default_rng(0)
X, Y, NEW = rng.standard_normal((14, 3)), rng.standard_normal((14, 3)), rng.standard_normal((4, 3))
WORDS = ["abab", "abba", "baab", "bbaa", "aabb", "baba", "abaa", "bbab"]


def cuda(array):
    return torch.asarray(array, device="cuda")


@pytest.mark.parametrize("solver", [Exact(device="cuda"), LowRank(tol=0.0, device="cuda")], ids=repr)
@pytest.mark.parametrize("operator", [Identity(), Covariance(), ConditionalCovariance(0.1)], ids=repr)
def test_solvers_on_a_device_keep_the_contract(solver, operator):
    check_solver(solver, RidgeProblem(Gaussian(1.0), X, Y, operator, alpha=0.1), NEW, atol=1e-6)
    if operator.is_identity:
        check_solver(Cholesky(device="cuda"), RidgeProblem(Gaussian(1.0), X, Y, alpha=0.1), NEW, atol=1e-6)


@pytest.mark.parametrize(
    "model",
    [
        DependencyEstimator(),
        DependencyEstimator(alpha=0.1),
        DependencyEstimator(Linear()),
        DependencyEstimator(Gaussian(1.0), Gaussian(1.0), decoder=Candidates()),
        DependencyEstimator(Gaussian(1.0), Gaussian(1.0), Covariance(), decoder=Candidates()),
        DependencyEstimator(operator=ConditionalCovariance(0.1)),
        OperatorValuedRidge(Separable(Gaussian(1.0), np.diag([1.0, 2.0, 3.0]) + 0.5)),
        OperatorValuedRidge(SumOfSeparable([(Gaussian(1.0), np.ones((3, 3))), (Linear(), None)])),
        OperatorValuedRidge(Entangled(Linear(), rng.standard_normal((9, 4)))),
        JointKernelMap(),
    ],
    ids=lambda model: repr(model)[:60],
)
def test_tensors_on_a_device_give_the_answers_of_arrays(model):
    expected = model.fit(X, Y).predict(NEW)
    found = model.fit(cuda(X), cuda(Y)).predict(cuda(NEW))
    assert found.device.type == "cuda"
    np.testing.assert_allclose(to_numpy(found), expected, atol=1e-6)
    weighted = model.fit(cuda(X), cuda(Y), sample_weight=np.linspace(0.5, 2.0, 14), groups=np.arange(14) % 4)
    np.testing.assert_allclose(
        to_numpy(weighted.predict(cuda(NEW))),
        model.fit(X, Y, sample_weight=np.linspace(0.5, 2.0, 14), groups=np.arange(14) % 4).predict(NEW),
        atol=1e-6,
    )


def test_objects_are_compared_on_the_host_and_solved_on_the_device():
    letters = Subsequence(2).normalized()
    for solver in (Exact(device="cuda"), LowRank(tol=0.0, device="cuda")):
        model = DependencyEstimator(letters, letters, solver=solver).fit(WORDS, WORDS[::-1])
        plain = DependencyEstimator(letters, letters).fit(WORDS, WORDS[::-1])
        assert model.predict(WORDS).tolist() == plain.predict(WORDS).tolist()
    assert CurveRidge().fit(X, Y).predict(NEW).shape == (4, 3)
