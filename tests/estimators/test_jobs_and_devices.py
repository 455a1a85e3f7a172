"""n_jobs and device change where and how work is done, and no answer."""

import joblib
import numpy as np
import pytest
from sklearn.svm import SVR

from mercer import DependencyEstimator
from mercer.core.threads import at_most, side_by_side
from mercer.kernels import Gaussian, Precomputed, Spectrum, Subsequence
from mercer.operators import Covariance
from mercer.selection import KFold
from mercer.solvers import Auto, Cholesky, ConjugateGradient, Exact, LowRank, RidgeProblem, Tridiagonal
from mercer.solvers.kernel_products import gram_on

RNG = np.random.default_rng(0)
WORDS = ["".join(RNG.choice(list("abcd"), RNG.integers(3, 8))) for _ in range(60)]
X = RNG.standard_normal((60, 3))


@pytest.mark.parametrize("jobs", [1, 2, -1])
@pytest.mark.parametrize(
    ("model", "inputs"),
    [
        (DependencyEstimator(Subsequence(2), Spectrum(2)), WORDS),
        (DependencyEstimator(Subsequence(2), Spectrum(2), alpha=KFold(3), loss="kernel"), WORDS),
        (DependencyEstimator(regressor=SVR()), X),
    ],
    ids=["leave-one-out", "folds", "regressor"],
)
def test_the_number_of_jobs_does_not_change_predictions(model, inputs, jobs):
    expected = model.set_params(n_jobs=None).fit(inputs, inputs)
    points = expected.map_.left_out_points()
    found = DependencyEstimator(**model.get_params(deep=False) | {"n_jobs": jobs}).fit(inputs, inputs)
    np.testing.assert_array_equal(found.predict(inputs), expected.predict(inputs))
    np.testing.assert_allclose(found.map_.left_out_points(), points, atol=1e-12)


def test_folds_run_side_by_side_where_a_user_asks_for_it():
    from threading import Barrier, get_ident

    threads = set()
    with at_most(2):
        assert joblib.effective_n_jobs(None) == 2
        barrier = Barrier(2, timeout=60)  # passed only if two run at the same time

        def work(item):
            threads.add(get_ident())
            barrier.wait()
            return -item

        assert side_by_side(work, [1, 2]) == [-1, -2]
    assert len(threads) == 2
    assert joblib.effective_n_jobs(None) == 1


def test_limits_end_with_the_block():
    from numba import get_num_threads

    before = get_num_threads()
    with at_most(1):
        assert get_num_threads() == 1
    assert get_num_threads() == before


@pytest.mark.parametrize("jobs", [0, 1.5, "two"])
def test_bad_jobs(jobs):
    with pytest.raises(ValueError, match=r"n_jobs=.*; expected a number of jobs"):
        DependencyEstimator(n_jobs=jobs).fit(X, X)


# -- devices ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [Subsequence(2), Spectrum(2).normalized()])
def test_a_gram_matrix_on_a_device_is_that_of_the_host(kernel, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr("mercer.solvers.kernel_products._EDGE", 17)
    np.testing.assert_allclose(gram_on("cpu", kernel, WORDS).numpy(), kernel(WORDS), atol=1e-14)


@pytest.mark.parametrize("alpha", [0.1, "loo"])
@pytest.mark.parametrize("operator", [None, Covariance()])
def test_objects_are_learned_on_a_device(alpha, operator):
    torch = pytest.importorskip("torch")
    parts = {} if operator is None else {"operator": operator}
    expected = DependencyEstimator(Subsequence(2), Spectrum(2), alpha=alpha, **parts).fit(WORDS, WORDS)
    found = DependencyEstimator(Subsequence(2), Spectrum(2), alpha=alpha, device="cpu", **parts).fit(WORDS, WORDS)
    assert found.solver_.device == "cpu"
    assert isinstance(found.map_.points(WORDS), torch.Tensor)
    np.testing.assert_allclose(found.map_.points(WORDS), expected.map_.points(WORDS), atol=1e-8)
    np.testing.assert_array_equal(found.predict(WORDS), expected.predict(WORDS))


@pytest.mark.parametrize("solver", [Exact(), Cholesky(), LowRank(20), ConjugateGradient(20)])
def test_a_solver_that_is_given_runs_on_the_device(solver):
    pytest.importorskip("torch")
    model = DependencyEstimator(Subsequence(2), Spectrum(2), alpha=0.1, solver=solver, device="cpu").fit(WORDS, WORDS)
    assert model.solver_.device == "cpu"


def test_solvers_without_a_device_are_asked_last():
    problem = RidgeProblem(Gaussian(1.0), X, X, Covariance(), alpha=1.0)
    assert isinstance(Auto().choose(problem).part, Tridiagonal)
    assert isinstance(Auto(device="cpu").choose(problem).part, Exact)


def test_bad_devices():
    pytest.importorskip("torch")
    with pytest.raises(
        ValueError, match=r"device='cpu', and solver=Tridiagonal\(\) runs on the host; use solver='auto'"
    ):
        DependencyEstimator(operator=Covariance(), alpha=1.0, solver=Tridiagonal(), device="cpu").fit(X, X)
    with pytest.raises(ValueError, match=r"device='nowhere' is not there"):
        DependencyEstimator(Subsequence(2), Spectrum(2), device="nowhere").fit(WORDS, WORDS)
    with pytest.raises(ValueError, match=r"device='cpu' has no effect with regressor"):
        DependencyEstimator(regressor=SVR(), device="cpu").fit(X, X)
    with pytest.raises(ValueError, match=r"device='nowhere' is not there"):
        DependencyEstimator(Precomputed(), device="nowhere").fit(np.eye(3), np.eye(3))
