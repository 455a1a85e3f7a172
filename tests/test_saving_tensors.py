"""Models fitted on tensors are saved as arrays, and loaded without the library they were fitted with."""

import numpy as np
import pytest

import mercer
from mercer import DependencyEstimator, NeighborsEstimator, OperatorValuedRidge
from mercer.core.portable import portable
from mercer.kernels import Gaussian, Subsequence
from mercer.operators import Covariance, Separable
from mercer.solvers import Cholesky, ConjugateGradient, Exact, LowRank

torch = pytest.importorskip("torch")

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 3))
WORDS = ["".join(RNG.choice(list("abc"), 5)) for _ in range(30)]
VECTORS = [
    DependencyEstimator(),
    DependencyEstimator(operator=Covariance()),
    DependencyEstimator(solver=LowRank(30)),
    DependencyEstimator(solver=ConjugateGradient(10), alpha=0.1),
    DependencyEstimator(Gaussian("median"), Gaussian("median")),
    NeighborsEstimator(k=2),
    OperatorValuedRidge(Separable(Gaussian(1.0), np.eye(3))),
]


def saved(model, folder):
    return mercer.load(mercer.save(model, folder / "model"))


@pytest.mark.filterwarnings("ignore::mercer.NumericalWarning")
@pytest.mark.parametrize("model", VECTORS, ids=range(len(VECTORS)))
def test_a_model_of_tensors_predicts_from_arrays_once_loaded(model, tmp_path):
    tensors = torch.from_numpy(X)
    expected = model.fit(tensors, torch.tanh(tensors)).predict(tensors)
    found = saved(model, tmp_path).predict(X)
    assert isinstance(found, np.ndarray)
    np.testing.assert_allclose(found, expected.numpy(), rtol=1e-9, atol=1e-9)
    assert isinstance(model.predict(tensors), torch.Tensor)  # the model itself keeps its tensors


@pytest.mark.parametrize("solver", [Exact(device="cpu"), Cholesky(device="cpu"), LowRank(20, device="cpu")])
def test_a_model_of_words_that_was_fitted_through_tensors(solver, tmp_path):
    model = DependencyEstimator(Subsequence(2), Subsequence(2), alpha=0.1, solver=solver).fit(WORDS, WORDS)
    np.testing.assert_array_equal(saved(model, tmp_path).predict(WORDS), model.predict(WORDS))


def test_a_model_without_tensors_is_left_as_it_is():
    model = DependencyEstimator().fit(X, X)
    assert portable(model) is model


def test_what_occurs_twice_occurs_twice():
    shared = torch.ones(3)
    found = portable({"a": shared, "b": [shared]})
    assert found["a"] is found["b"][0]
    assert isinstance(found["a"], np.ndarray)
