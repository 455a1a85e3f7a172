"""Arrays of other libraries in, the same out; and the same numbers."""

import numpy as np
import pytest

from mercer import DependencyEstimator
from mercer.core.arrays import to_numpy
from mercer.decoders import Candidates, ClosedForm, FixedPoint
from mercer.embeddings import PrincipalComponents, Spectral
from mercer.kernels import Gaussian, Laplacian, Linear, Polynomial, Subsequence
from mercer.operators import ConditionalCovariance, Covariance, Identity
from mercer.solvers import Cholesky, Exact, LowRank

rng = np.random.default_rng(0)
X, NEW = rng.standard_normal((20, 3)), rng.standard_normal((5, 3))
Y = np.tanh(X @ rng.standard_normal((3, 2)))


class OnDevice:
    """A library whose arrays are made on one device."""

    def __init__(self, library, device):
        self.library, self.device = library, device

    def asarray(self, values):
        return self.library.asarray(values, device=self.device)


@pytest.fixture(params=["torch", "torch on a GPU", "array_api_strict"])
def xp(request):
    name, _, gpu = request.param.partition(" on a ")
    library = pytest.importorskip(name, reason=f"{name} is not installed")
    if gpu and not library.cuda.is_available():
        pytest.skip("there is no GPU on this machine")
    return OnDevice(library, "cuda" if gpu else None)


@pytest.mark.parametrize(
    "model",
    [
        DependencyEstimator(Gaussian(1.5), Linear()),
        DependencyEstimator(Gaussian("median"), Linear(), alpha=0.1, solver=Cholesky()),
        DependencyEstimator(Gaussian(1.5), Gaussian(1.0), decoder=Candidates()),
        DependencyEstimator(Gaussian(1.5), Gaussian("median"), decoder=FixedPoint(n_starts=2)),
        DependencyEstimator(Laplacian(2.0) + Linear(), Gaussian(1.0), Covariance(), decoder=Candidates()),
        DependencyEstimator(Polynomial(2), Linear(), ConditionalCovariance(0.1), decoder=ClosedForm()),
        DependencyEstimator(Gaussian(1.5), Gaussian(1.0), embedding=PrincipalComponents(), decoder=Candidates()),
        DependencyEstimator(Gaussian(1.5), Gaussian(1.0), Covariance(), solver=LowRank(rank=12, tol=0.0)),
        DependencyEstimator(Gaussian(1.5), Linear(), Identity(), embedding=Spectral(), solver=Exact()),
        DependencyEstimator(Gaussian(1.5), Gaussian(1.0), alpha="kfold", loss="kernel", decoder=Candidates()),
        DependencyEstimator(Gaussian(1.5), Gaussian(1.0), alpha="gcv", decoder=Candidates()),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore:the low-rank factor")
def test_other_libraries_give_the_same_and_their_own_arrays(xp, model):
    expected = model.fit(X, Y).predict(NEW)
    weights, alpha = model.decision_weights(NEW), model.alpha_
    model.fit(xp.asarray(X), xp.asarray(Y))
    found = model.predict(xp.asarray(NEW))
    assert type(found) is type(xp.asarray(NEW))
    assert model.alpha_ == pytest.approx(alpha)
    assert np.allclose(to_numpy(found), expected, atol=1e-5)
    assert np.allclose(to_numpy(model.decision_weights(xp.asarray(NEW))), weights, atol=1e-6)
    assert model.score(xp.asarray(X), xp.asarray(Y)) == pytest.approx(model.fit(X, Y).score(X, Y), abs=1e-6)


def test_strings_in_and_tensors_out():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    words = ["ab" * (i % 3 + 1) + "c" * (i // 3) for i in range(9)]
    targets = torch.asarray(rng.standard_normal((9, 2)))
    model = DependencyEstimator(Subsequence(2).normalized(), Linear(), alpha=0.1).fit(words, targets)
    assert isinstance(model.predict(words), torch.Tensor)
    expected = DependencyEstimator(Subsequence(2).normalized(), Linear(), alpha=0.1).fit(words, targets.numpy())
    assert np.allclose(model.predict(words).numpy(), expected.predict(words))


def test_algebra_of_object_kernels_can_run_through_torch():
    pytest.importorskip("torch", reason="PyTorch is not installed")
    words = ["ab" * (i % 3 + 1) + "c" * (i // 3) for i in range(9)]
    kernel = Subsequence(2).normalized()
    for solver in (Exact(device="cpu"), LowRank(tol=0.0, device="cpu"), Cholesky(device="cpu")):
        alpha = 0.1 if isinstance(solver, Cholesky) else "loo"
        model = DependencyEstimator(kernel, kernel, solver=solver, alpha=alpha).fit(words, words)
        plain = DependencyEstimator(kernel, kernel, alpha=alpha).fit(words, words)
        assert list(model.predict(words)) == list(plain.predict(words))
        assert isinstance(model.predict(words), np.ndarray)


def test_single_precision_goes_in():
    expected = DependencyEstimator(alpha=0.1).fit(X.astype(np.float32).astype(float), Y).predict(NEW)
    assert np.allclose(DependencyEstimator(alpha=0.1).fit(X.astype(np.float32), Y).predict(NEW), expected)
