"""Solvers on inputs in blocks give what they give on inputs in memory, and what dense algebra gives."""

from dataclasses import replace

import numpy as np
import pytest

from mercer.core import memory
from mercer.core.arrays import gram_of, solve_triangular, to_numpy
from mercer.core.blocks import ArrayBlocks, Batches
from mercer.core.pivoted import pivoted_cholesky
from mercer.kernels import Gaussian, Linear, Precomputed, Subsequence
from mercer.operators import ConditionalCovariance, Covariance, Identity
from mercer.solvers import Auto, ConjugateGradient, Exact, LowRank, RidgeProblem, SparseSketch, block_tasks, streamed

RANDOM = np.random.default_rng(0)
X, NEW = RANDOM.standard_normal((90, 3)), RANDOM.standard_normal((7, 3))
Y = np.sin(X @ RANDOM.standard_normal((3, 2))) + 0.1 * RANDOM.standard_normal((90, 2)) + 5.0
WEIGHTS = RANDOM.uniform(0.5, 2.0, 90)
WORDS = np.array(["".join(RANDOM.choice(list("abc"), RANDOM.integers(2, 7))) for _ in range(90)], dtype=object)
ALPHAS = [0.01, 0.3, 2.0]


def in_blocks(problem, size=17):
    inputs = problem.inputs
    return replace(problem, inputs=Batches(lambda: (inputs[i : i + size] for i in range(0, len(inputs), size))))


def same(one, two, queries, atol=1e-8):
    np.testing.assert_allclose(one.map(0.3).points(queries), two.map(0.3).points(queries), atol=atol)
    np.testing.assert_allclose(one.left_out_points(0.3), two.left_out_points(0.3), atol=atol)
    for risk, other in zip(one.risks(ALPHAS), two.risks(ALPHAS), strict=True):
        np.testing.assert_allclose(risk, other, atol=atol)
    assert one.scale == pytest.approx(two.scale)
    assert one.residual == pytest.approx(two.residual, abs=1e-10)


@pytest.mark.parametrize("operator", [Identity(), Covariance(), ConditionalCovariance(0.1)], ids=repr)
@pytest.mark.parametrize("alpha", [None, 0.3])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weights"])
@pytest.mark.parametrize("intercept", [True, False])
def test_low_rank_in_blocks_is_low_rank_in_memory(operator, alpha, weights, intercept):
    problem = RidgeProblem(Gaussian(2.0), X, Y, operator, alpha, intercept, weights)
    for pivots in ("random", "greedy", SparseSketch()):
        solver = LowRank(25, 0.0, pivots=pivots)
        one, two = solver.factorize(problem), solver.factorize(in_blocks(problem))
        same(one, two, NEW)
        if operator.is_identity:
            assert one.generalized_risk(0.3) == pytest.approx(two.generalized_risk(0.3))


@pytest.mark.parametrize("operator", [Identity(), Covariance()], ids=repr)
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weights"])
def test_groups_are_left_out_of_blocks(operator, weights):
    problem = RidgeProblem(Gaussian(2.0), X, Y, operator, None, True, weights, np.arange(90) % 4)
    solver = LowRank(25, 0.0)
    same(solver.factorize(problem), solver.factorize(in_blocks(problem)), NEW)


@pytest.mark.parametrize(
    ("kernel", "inputs", "queries"),
    [(Gaussian(2.0), X, NEW), (Linear(), X, NEW), (Subsequence(2).normalized(), WORDS, WORDS[:5])],
    ids=["Gaussian", "Linear", "strings"],
)
def test_a_complete_factor_in_blocks_is_exact(kernel, inputs, queries):
    """All pivots: the exact solution, its whole path and leave-one-out."""
    problem = RidgeProblem(kernel, inputs, Y)
    found = LowRank(tol=0.0).factorize(in_blocks(problem))
    same(Exact().factorize(problem), found, queries, atol=1e-6)


@pytest.mark.parametrize("operator", [Identity(), Covariance()], ids=repr)
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weights"])
def test_conjugate_gradients_in_blocks_are_exact(operator, weights):
    problem = RidgeProblem(Gaussian(2.0), X, Y, operator, 0.3, True, weights)
    dense = Exact().factorize(problem).map(0.3).points(NEW)
    found = ConjugateGradient(rank=10, tol=1e-10).factorize(in_blocks(problem))
    np.testing.assert_allclose(found.map(0.3).points(NEW), dense, atol=1e-7)
    assert found.reached <= 1e-10
    points = found.map(0.3).points(Batches(lambda: [NEW[:3], NEW[3:]]))
    np.testing.assert_allclose(points, dense, atol=1e-7)


def test_features_that_do_not_fit_in_memory_are_not_stored(monkeypatch):
    problem = RidgeProblem(Gaussian(2.0), np.repeat(X, 100, axis=0), np.repeat(Y, 100, axis=0), alpha=0.3)
    stored = LowRank(60, 0.0).factorize(problem)
    monkeypatch.setattr(memory, "available_bytes", lambda near=None: 12 * 2**20)
    found = LowRank(60, 0.0).factorize(problem)
    assert isinstance(found, streamed.StreamedRidge)
    np.testing.assert_allclose(found.map(0.3).points(NEW), stored.map(0.3).points(NEW), atol=1e-8)


def test_pivots_are_chosen_among_a_sample(monkeypatch):
    monkeypatch.setattr(block_tasks, "SAMPLE", 40)
    problem = in_blocks(RidgeProblem(Gaussian(2.0), X, Y, alpha=0.3))
    found = LowRank(8, 0.0).factorize(problem)
    drawn = problem.inputs.sample(40)[1]
    assert {tuple(x) for x in found.features.pivots.objects} <= {tuple(x) for x in drawn}
    # the share of the trace that is left out is that of all inputs
    features = found.features(X)[0]
    assert found.residual == pytest.approx(1.0 - np.sum(features**2) / 90)


@pytest.mark.parametrize("device", [None, "cpu"])
@pytest.mark.parametrize("alpha", [None, 0.3])
def test_tensors(device, alpha):
    """Blocks of tensors, and blocks of NumPy arrays whose algebra runs on a device."""
    torch = pytest.importorskip("torch")
    problem = RidgeProblem(Gaussian(2.0), X, Y, alpha=alpha)
    expected = LowRank(25, 0.0).factorize(problem)
    other = replace(problem, inputs=ArrayBlocks(torch.from_numpy(X) if device is None else X, step=20))
    found = LowRank(25, 0.0, device=device).factorize(other)
    assert isinstance(found.gram, torch.Tensor)
    queries = torch.from_numpy(NEW) if device is None else NEW
    np.testing.assert_allclose(to_numpy(found.map(0.3).points(queries)), expected.map(0.3).points(NEW), atol=1e-8)
    np.testing.assert_allclose(to_numpy(found.left_out_points(0.3)), expected.left_out_points(0.3), atol=1e-8)
    exact = ConjugateGradient(rank=10, tol=1e-10, device=device).factorize(replace(other, alpha=0.3))
    dense = Exact().factorize(problem).map(0.3).points(NEW)
    np.testing.assert_allclose(to_numpy(exact.map(0.3).points(queries)), dense, atol=1e-7)


@pytest.mark.parametrize("pivots", ["random", SparseSketch()], ids=repr)
def test_objects_in_blocks_are_solved_on_a_device(pivots):
    pytest.importorskip("torch")
    problem = in_blocks(RidgeProblem(Subsequence(2).normalized(), WORDS, Y))
    solver = LowRank(20, 0.0, pivots=pivots)
    one, two = solver.factorize(problem), solver.set_params(device="cpu").factorize(problem)
    np.testing.assert_allclose(to_numpy(two.map(0.3).points(WORDS)), one.map(0.3).points(WORDS), atol=1e-8)
    np.testing.assert_allclose(to_numpy(two.left_out_points(0.3)), one.left_out_points(0.3), atol=1e-8)


def test_grams_of_columns_and_triangles_in_either_order(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr("mercer.core.arrays._PANEL", 2)
    rows = RANDOM.standard_normal((6, 5))
    np.testing.assert_allclose(to_numpy(gram_of(torch.from_numpy(rows))), rows.T @ rows)
    lower = np.tril(RANDOM.standard_normal((5, 5))) + 3.0 * np.eye(5)
    for b in (rows.T, np.ascontiguousarray(rows.T), rows.T[:, ::2]):
        np.testing.assert_allclose(lower @ solve_triangular(lower, b), b)
        np.testing.assert_allclose(lower.T @ solve_triangular(lower, b, transpose=True), b)


def test_solvers_on_inputs_in_memory_say_so():
    problem = in_blocks(RidgeProblem(Gaussian(2.0), X, Y, alpha=0.3))
    with pytest.raises(ValueError, match=r"Exact\(\) does not solve this problem: it works on inputs in memory"):
        Exact().choose(problem)
    assert isinstance(Auto().choose(problem).part, ConjugateGradient)
    grouped = replace(problem, groups=np.arange(90) % 45, alpha=None)
    with pytest.raises(ValueError, match="up to 20 groups, and of these there are 45; pass alpha=number"):
        LowRank(5).choose(grouped)
    with pytest.raises(ValueError, match="outputs need coordinates; pass embedding=Pivoted"):
        LowRank(5).choose(replace(problem, targets=None))
    with pytest.raises(ValueError, match="a Gram matrix is not"):
        LowRank(5).choose(replace(problem, kernel=Precomputed()))
    found = LowRank(5).factorize(problem)
    for call in (found.on_weights, lambda: found.dual(0.3)):
        with pytest.raises(ValueError, match="no weights on all training outputs"):
            call()


def test_a_rank_above_the_number_of_pairs_is_refused():
    for problem in (RidgeProblem(Gaussian(2.0), X, Y), in_blocks(RidgeProblem(Gaussian(2.0), X, Y))):
        with pytest.raises(ValueError, match="rank=91, and there are 90 training pairs; expected at most as many"):
            LowRank(91).factorize(problem)
    for bad in ({"rank": 0}, {"rank": "5"}, {"rank": 2.5}, {"rank": 5, "random_state": -1}, {"rank": 5, "tol": 2.0}):
        with pytest.raises(ValueError, match=f"{list(bad)[-1]}=.*; expected"):
            LowRank(**bad).factorize(in_blocks(RidgeProblem(Gaussian(2.0), X, Y)))
    assert LowRank(80).for_part(50).rank == 50
    assert LowRank().for_part(50).rank is None


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_normal_equations_of_kernel_values_are_those_of_features(monkeypatch, fit_intercept):
    inputs = np.random.default_rng(3).standard_normal((300, 3))
    problem = RidgeProblem(Gaussian(1.0), ArrayBlocks(inputs), np.tanh(inputs) + 5.0, fit_intercept=fit_intercept)
    found = []
    for steady in (True, False):
        monkeypatch.setattr("mercer.core.pivoted.PivotedFactor.steady", steady)
        found.append(LowRank(40, tol=0.0).factorize(problem))
    for name in ("gram", "right", "centre", "squares", "residual"):
        np.testing.assert_allclose(getattr(found[0], name), getattr(found[1], name), atol=1e-9)
    np.testing.assert_allclose(found[0].map(0.1).points(inputs), found[1].map(0.1).points(inputs), atol=1e-9)


def test_columns_that_are_nearly_alike_are_not_steady():
    inputs = np.linspace(0.0, 1.0, 60)[:, None]
    assert pivoted_cholesky(Gaussian(0.01), inputs, rank=10).steady
    assert not pivoted_cholesky(Gaussian(1.0), inputs, rank=8).steady
