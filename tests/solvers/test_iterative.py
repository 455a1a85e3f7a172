"""Conjugate gradients without a Gram matrix, against dense algebra, and the ladder of `Auto`."""

import numpy as np
import pytest

from mercer import DependencyEstimator, NumericalWarning
from mercer.core import memory
from mercer.core.arrays import cholesky, to_numpy
from mercer.kernels import Gaussian, Linear, Precomputed, Subsequence
from mercer.operators import ConditionalCovariance, Covariance, Separable, Smoothing
from mercer.solvers import Auto, Cholesky, ConjugateGradient, Exact, LowRank, RidgeProblem
from mercer.solvers.conjugate_gradient import iterate
from mercer.solvers.kernel_products import KernelProducts
from mercer.testing import check_solver

rng = np.random.default_rng(0)
X, Y, NEW = rng.standard_normal((14, 3)), rng.standard_normal((14, 3)), rng.standard_normal((4, 3))
T = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.5], [0.0, 0.5, 1.0]])
WORDS = np.array(["abab", "abba", "baab", "bbaa", "aabb", "baba", "abaa", "bbab"], dtype=object)
MANY = rng.standard_normal((900, 4))
TARGETS = np.tanh(MANY @ rng.standard_normal((4, 3))) + 100.0
TIGHT = ConjugateGradient(tol=1e-12)


@pytest.mark.parametrize(
    ("kernel", "inputs", "queries"),
    [
        (Gaussian(1.0), X, NEW),
        (Linear(), X, NEW),
        (Subsequence(2).normalized(), WORDS, np.array(["aabba", "b"], dtype=object)),
        (Precomputed(), Gaussian(1.0)(X), Gaussian(1.0)(NEW, X)),
    ],
    ids=["Gaussian", "Linear", "strings", "Precomputed"],
)
def test_contract(kernel, inputs, queries):
    check_solver(TIGHT, RidgeProblem(kernel, inputs, Y[: len(inputs)], alpha=0.1), queries)


@pytest.mark.parametrize(
    "operator",
    [
        Covariance(),
        ConditionalCovariance(0.1),
        Smoothing(1.0),
        Separable(Gaussian(1.0), T),
        Separable(Gaussian(1.0), [1, 2, 0]),
    ],
    ids=repr,
)
def test_contract_with_an_operator(operator):
    check_solver(TIGHT, RidgeProblem(Gaussian(1.0), X[:9], Y[:9], operator, alpha=0.1), NEW)


def test_contract_with_tensors():
    torch = pytest.importorskip("torch")
    tensors = [torch.asarray(array) for array in (X, Y, NEW)]
    check_solver(TIGHT, RidgeProblem(Gaussian(1.0), *tensors[:2], alpha=0.1), tensors[2])


@pytest.mark.parametrize("operator", [None, Covariance(), ConditionalCovariance(0.1)], ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_low_rank_preconditioner_reaches_the_residual(operator, weighted):
    weight = np.linspace(0.5, 2.0, len(MANY)) if weighted else None
    given = {} if operator is None else {"operator": operator}
    problem = RidgeProblem(Gaussian(2.0), MANY, TARGETS, alpha=0.01, sample_weight=weight, **given)
    found = ConjugateGradient(rank=100, tol=1e-10).factorize(problem)
    points = found.map(0.01).points(MANY[:20] + 0.1)
    assert found.rank == 100
    assert 3 < found.iterations < 100
    assert found.reached <= 1e-10
    np.testing.assert_allclose(points, Exact().factorize(problem).map(0.01).points(MANY[:20] + 0.1), atol=1e-6)


@pytest.mark.parametrize("n", [1, 1023, 1024, 2500])
def test_products_are_those_of_the_whole_matrix(n):
    inputs, rows = rng.standard_normal((n, 3)), rng.standard_normal((n, 2))
    kernel = Gaussian(1.0) + 0.5 * Linear()
    np.testing.assert_allclose(KernelProducts(kernel, inputs)(rows), kernel(inputs) @ rows, atol=1e-10)
    words = rng.choice(WORDS, n)
    own = Subsequence(2)
    np.testing.assert_allclose(KernelProducts(own, words)(rows), own(words) @ rows, rtol=1e-9, atol=1e-9)


def test_products_on_tensors_in_several_tiles(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr("mercer.solvers.kernel_products._LAUNCHED_EDGE", 7)
    inputs, rows = torch.asarray(MANY[:60]), torch.asarray(TARGETS[:60])
    expected = Gaussian(1.0)(MANY[:60]) @ TARGETS[:60]
    np.testing.assert_allclose(to_numpy(KernelProducts(Gaussian(1.0), inputs)(rows)), expected, atol=1e-10)


def test_columns_are_systems_of_their_own():
    root = rng.standard_normal((6, 6))
    A, b, alphas = root @ root.T, rng.standard_normal((6, 3)), np.array([0.1, 1.0, 10.0])
    b[:, 1] = 0.0
    x, taken = iterate(lambda v: A @ v + alphas * v, b, lambda r: r, 1e-12 * np.linalg.norm(b, axis=0), 100)
    expected = [np.linalg.solve(A + alpha * np.eye(6), b[:, i]) for i, alpha in enumerate(alphas)]
    np.testing.assert_allclose(x, np.stack(expected, axis=1), atol=1e-9)
    assert taken < 20


def test_a_solution_is_the_start_of_the_next():
    problem = RidgeProblem(Gaussian(2.0), MANY, TARGETS)
    solver = ConjugateGradient(rank=60, tol=1e-8)
    path, single = solver.factorize(problem), solver.factorize(problem)
    path.coefficients(0.011)
    warm, cold = path.coefficients(0.01)[0], single.coefficients(0.01)[0]
    assert path.iterations < single.iterations
    np.testing.assert_allclose(warm, cold, atol=1e-4 * np.abs(cold).max())
    again = path.coefficients(0.01)[0]
    assert path.iterations == 1
    assert np.array_equal(again, warm)


@pytest.mark.parametrize("alpha", ["loo", "kfold", "gcv"])
def test_alpha_is_chosen_on_the_low_rank_model(alpha):
    found = DependencyEstimator(Gaussian(2.0), alpha=alpha, solver=ConjugateGradient(100)).fit(MANY, TARGETS)
    low = DependencyEstimator(Gaussian(2.0), alpha=alpha, solver=LowRank(100, tol=1e-12)).fit(MANY, TARGETS)
    assert found.alpha_ == pytest.approx(low.alpha_)
    exact = DependencyEstimator(Gaussian(2.0), alpha=found.alpha_, solver=Exact()).fit(MANY, TARGETS)
    np.testing.assert_allclose(found.predict(MANY[:5] + 0.1), exact.predict(MANY[:5] + 0.1), atol=1e-5)
    assert found.solver_.residual_ <= 1e-8
    assert found.solver_.n_iter_ > 1


def test_objects_without_coordinates_get_them():
    model = DependencyEstimator(Subsequence(2).normalized(), Subsequence(2).normalized(), alpha=0.1)
    exact = model.fit(WORDS, WORDS).predict(["aaba", "bbb"])
    model.set_params(solver=ConjugateGradient(tol=1e-10)).fit(WORDS, WORDS)
    assert "no n×n matrix" in model.reasons_["embedding"]
    assert model.predict(["aaba", "bbb"]).tolist() == exact.tolist()


def test_a_tolerance_that_cannot_be_met_is_said():
    problem = RidgeProblem(Gaussian(50.0), MANY, TARGETS, alpha=1e-8)
    with pytest.warns(NumericalWarning, match=r"relative residual of \d.*tol=1e-14 was asked for; raise rank"):
        ConjugateGradient(50, tol=1e-14).factorize(problem).coefficients(1e-8)
    with pytest.warns(NumericalWarning, match="after 3 products"):
        ConjugateGradient(5, max_iter=2).factorize(problem).coefficients(1e-8)
    with pytest.raises(ValueError, match="tol=1e-17; expected a relative residual from 1e-14"):
        ConjugateGradient(tol=1e-17).factorize(problem)
    with pytest.raises(ValueError, match="rank=0; expected a positive whole number"):
        ConjugateGradient(rank=0).factorize(problem)
    broken = ConjugateGradient(rank=5).factorize(problem)
    broken.products = lambda rows: np.nan * rows
    with pytest.raises(ValueError, match="gives NaN or infinity"):
        broken.coefficients(0.1)


def test_auto_walks_the_ladder(monkeypatch):
    problem = RidgeProblem(Gaussian(2.0), MANY, TARGETS)
    one = RidgeProblem(Gaussian(2.0), MANY, TARGETS, alpha=0.1)
    assert isinstance(Auto().choose(problem).part, Exact)
    matrix = 8 * len(MANY) ** 2
    monkeypatch.setattr(memory, "available_bytes", lambda *_: 2 * matrix)
    assert isinstance(Auto().choose(one).part, Cholesky)
    solver, reason = Auto().choose(problem)
    assert isinstance(solver, ConjugateGradient)
    assert "conjugate gradients" in reason
    assert r"Exact() needs 0.0194 GiB and 0.0121 GiB are free" in reason
    monkeypatch.setattr("mercer.solvers.iterative._MOST_PAIRS", 500)
    solver, reason = Auto().choose(problem)
    assert isinstance(solver, LowRank)
    assert "900 inputs with each other again and again, and 500 is the most" in reason


def test_auto_refuses_nothing_that_a_solver_can_do(monkeypatch):
    exact = DependencyEstimator(Gaussian(2.0), Gaussian(5.0), alpha=0.1).fit(MANY, TARGETS)
    monkeypatch.setattr(memory, "available_bytes", lambda *_: 7 * 10**6)
    for alpha in ("loo", 0.1):
        for output in (Linear(), Gaussian(5.0)):
            model = DependencyEstimator(Gaussian(2.0), output, alpha=alpha).fit(MANY, TARGETS)
            assert isinstance(model.solver_, ConjugateGradient)
            assert "GiB are free" in model.reasons_["solver"]
    assert "900×900 matrices do not fit" in model.reasons_["embedding"]
    np.testing.assert_allclose(model.predict(MANY[:20]), exact.predict(MANY[:20]), atol=0.05)
    covariance = DependencyEstimator(Gaussian(2.0), operator=Covariance()).fit(MANY, TARGETS)
    assert isinstance(covariance.solver_, ConjugateGradient)


def test_memory_has_the_limits_of_the_process(monkeypatch):
    resource = pytest.importorskip("resource")
    held = 2**60
    monkeypatch.setattr(resource, "getrlimit", lambda _: (held, held))
    whole = memory.available_bytes()
    held = 2**33
    assert memory.available_bytes() <= min(whole, 2**33)


def test_a_device_is_asked_for_its_own_memory(monkeypatch):
    torch = pytest.importorskip("torch")

    class OnDevice:
        device = torch.device("cuda")

    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _: (10**12, 2 * 10**12))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda _: 7)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda _: 3)
    assert memory.available_bytes(OnDevice()) == 10**12 + 4


def test_tensors_are_factored_in_their_own_memory(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr("mercer.core.arrays._PANEL", 5)
    monkeypatch.setattr("mercer.kernels.vectors._STEP", 5)
    inputs = torch.asarray(X)
    gram = Gaussian(1.0)(inputs)
    assert torch.equal(gram, gram.T)
    np.testing.assert_allclose(to_numpy(gram), Gaussian(1.0)(X), atol=1e-12)
    np.testing.assert_allclose(to_numpy(Gaussian(1.0)(inputs, inputs[:3, :])), Gaussian(1.0)(X, X[:3]), atol=1e-12)
    matrix = gram + torch.eye(14, dtype=torch.float64)
    factor = cholesky(matrix)
    assert factor.data_ptr() == matrix.data_ptr()
    np.testing.assert_allclose(to_numpy(factor), np.linalg.cholesky(Gaussian(1.0)(X) + np.eye(14)), atol=1e-12)
    with pytest.raises(np.linalg.LinAlgError):
        cholesky(-gram)


class Counted(Gaussian):
    """A Gaussian that counts the tiles it computes in single precision."""

    single = 0

    def _matrix(self, X, Z):
        Counted.single += X.vectors.dtype == np.float32
        return super()._matrix(X, Z)


@pytest.mark.parametrize("operator", [None, Covariance()], ids=repr)
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_single_precision_is_refined_to_the_residual_asked_for(operator, library):
    given = {} if operator is None else {"operator": operator}
    inputs, targets = MANY, TARGETS
    if library == "torch":
        torch = pytest.importorskip("torch")
        inputs, targets = torch.asarray(MANY), torch.asarray(TARGETS)
    problem = RidgeProblem(Gaussian(2.0), inputs, targets, alpha=0.01, **given)
    found = ConjugateGradient(rank=100, tol=1e-11, precision="single").factorize(problem)
    assert found.single is not None
    points = found.map(0.01).points(inputs[:20])
    assert found.reached <= 1e-11
    exact = Exact().factorize(RidgeProblem(Gaussian(2.0), MANY, TARGETS, alpha=0.01, **given)).map(0.01)
    np.testing.assert_allclose(to_numpy(points), exact.points(MANY[:20]), atol=1e-7)


def test_most_products_are_in_single_precision():
    Counted.single = 0
    ConjugateGradient(rank=100, tol=1e-10, precision="double").factorize(
        RidgeProblem(Counted(2.0), MANY, TARGETS, alpha=0.01)
    ).coefficients(0.01)
    assert Counted.single == 0
    found = ConjugateGradient(rank=100, tol=1e-10, precision="single").factorize(
        RidgeProblem(Counted(2.0), MANY, TARGETS, alpha=0.01)
    )
    found.coefficients(0.01)
    assert Counted.single > 0.5 * found.iterations


@pytest.mark.parametrize(
    ("kernel", "inputs"),
    [
        (Gaussian(2.0), MANY + 1e7),  # neighbours are one number in single precision
        (Linear(), 1e25 * MANY),  # inner products overflow
    ],
    ids=["shifted", "huge"],
)
def test_where_single_precision_does_not_hold_the_solution_is_that_of_double_precision(kernel, inputs):
    alpha = 0.01 * float(np.mean(kernel.diag(inputs)))
    problem = RidgeProblem(kernel, inputs, TARGETS, alpha=alpha)
    found = ConjugateGradient(rank=3, tol=1e-9, precision="single").factorize(problem)
    with np.errstate(over="ignore", invalid="ignore"):
        points = found.map(alpha).points(inputs[:20])
    assert found.reached <= 1e-9
    np.testing.assert_allclose(points, Exact().factorize(problem).map(alpha).points(inputs[:20]), atol=1e-6)


def test_single_precision_is_for_vectors_and_for_many_of_them():
    with pytest.raises(ValueError, match="precision='single' is for vectors in memory"):
        ConjugateGradient(precision="single").factorize(RidgeProblem(Subsequence(2), WORDS, Y[:8], alpha=0.1))
    with pytest.raises(ValueError, match="precision"):
        ConjugateGradient(precision="half").factorize(RidgeProblem(Gaussian(1.0), X, Y, alpha=0.1))
    assert ConjugateGradient().factorize(RidgeProblem(Gaussian(1.0), X, Y, alpha=0.1)).single is None
