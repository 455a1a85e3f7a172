"""Every solver and operator against the literal n²×n² system of the papers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import DependencyEstimator
from mercer.core.arrays import to_numpy
from mercer.decoders import Candidates
from mercer.embeddings import Pivoted, Spectral
from mercer.kernels import Gaussian, Linear, Precomputed
from mercer.operators import ConditionalCovariance, Covariance, Identity, SumOfSeparable
from mercer.solvers import Cholesky, Exact, GramEigh, LowRank, RidgeProblem, Structured


def random_gram(rng, n, rank):
    rows = rng.standard_normal((n, rank))
    return rows @ rows.T


def proposition_1(k, L, k_x, alpha, eps=None):
    """Weights on the training outputs from (k ⊗ T + nλI) vec(X) = vec(I), w = T X k_x, solved as it stands."""
    n = len(k)
    T = L if eps is None else L - np.linalg.solve(k + n * eps * np.eye(n), k @ L)
    system = np.kron(k, T) + n * alpha * np.eye(n * n)
    X = np.linalg.solve(system, np.eye(n).ravel(order="F")).reshape(n, n, order="F")
    return T @ X @ k_x


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(3, 25),
    input_rank=st.integers(1, 30),
    output_rank=st.integers(1, 30),
    alpha=st.sampled_from([1e-3, 0.1, 3.0]),
    eps=st.sampled_from([None, 0.01, 1.0]),
)
def test_covariance_operators_equal_proposition_1(seed, n, input_rank, output_rank, alpha, eps):
    rng = np.random.default_rng(seed)
    k, L = random_gram(rng, n, input_rank), random_gram(rng, n, output_rank)
    k, L = k / np.trace(k) * n, L / np.trace(L) * n
    queries = rng.standard_normal((4, n)) @ k
    operator = Covariance() if eps is None else ConditionalCovariance(eps)
    model = DependencyEstimator(
        Precomputed(), Precomputed(L), operator, alpha=alpha, decoder=Candidates(), fit_intercept=False
    )
    model.fit(k, np.arange(n))
    expected = proposition_1(k, L, queries.T, alpha, eps)
    found = model.decision_weights(queries).T
    scale = np.abs(L @ expected).max()
    assert np.abs(L @ found - L @ expected).max() <= 1e-10 * max(scale, 1.0)
    if min(input_rank, output_rank) >= n + 3 and eps is None:
        assert np.allclose(found, expected, atol=1e-7 * np.abs(expected).max())


def test_proposition_1_at_forty_pairs():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((40, 3)), rng.standard_normal((40, 2))
    k, L = Gaussian(1.0)(X), Gaussian(1.0)(Y)
    for operator, eps in [(Covariance(), None), (ConditionalCovariance(0.1), 0.1)]:
        model = DependencyEstimator(
            Precomputed(), Precomputed(L), operator, alpha=0.01, decoder=Candidates(), fit_intercept=False
        )
        found = L @ model.fit(k, np.arange(40)).decision_weights(k).T
        expected = L @ proposition_1(k, L, k, 0.01, eps)
        assert np.abs(found - expected).max() <= 1e-10


@pytest.mark.parametrize("operator", [Identity(), Covariance(), Covariance(centered=True), ConditionalCovariance(0.1)])
@pytest.mark.parametrize("output_kernel", [Linear(), Gaussian(1.5)])
def test_points_solve_the_coordinate_equation(operator, output_kernel):
    """k Z C + αZ = V solved densely with the operator's own C."""
    from mercer.operators import Outputs

    rng = np.random.default_rng(1)
    X, Y = rng.standard_normal((12, 3)), rng.standard_normal((12, 2))
    k = Gaussian(1.0)(X)
    embedding = Spectral().fit(output_kernel, Y)
    V = embedding.coordinates_
    s, U = np.linalg.eigh(k)
    C = operator.matrix(Outputs(V, 12, True, GramEigh(U, s, U)))
    Z = np.linalg.solve(np.kron(C.T, k) + 0.2 * np.eye(C.shape[0] * 12), V.ravel(order="F"))
    expected = k @ Z.reshape(V.shape, order="F") @ C
    model = DependencyEstimator(
        Gaussian(1.0),
        output_kernel,
        operator,
        embedding=Spectral(),
        alpha=0.2,
        decoder=Candidates(),
        fit_intercept=False,
    ).fit(X, Y)
    assert np.allclose(model.map_.points(X), expected, atol=1e-10)


@pytest.mark.parametrize("solver", [Exact(), Cholesky(), LowRank(tol=0.0), Exact(device="cpu"), LowRank(30, tol=0.0)])
@pytest.mark.parametrize("output_kernel", [Linear(), Gaussian(1.0)])
def test_solvers_agree_with_dense_weights(solver, output_kernel):
    if getattr(solver, "device", None):
        pytest.importorskip("torch", reason="the device solver runs through PyTorch")
    rng = np.random.default_rng(2)
    X, Y = rng.standard_normal((30, 4)), rng.standard_normal((30, 2))
    k = Gaussian(2.0)(X)
    new = rng.standard_normal((7, 4))
    expected = np.linalg.solve(k + 0.05 * np.eye(30), Gaussian(2.0)(X, new)).T
    model = DependencyEstimator(Gaussian(2.0), output_kernel, alpha=0.05, solver=solver, fit_intercept=False).fit(X, Y)
    scores = to_numpy(model.map_.points(new)) @ model.embedding_.transform(Y).T
    assert np.allclose(scores, expected @ output_kernel(Y), atol=1e-8)
    weights = model.decision_weights(new)
    assert np.allclose(weights @ output_kernel(Y), scores, atol=1e-8)
    if not isinstance(model.embedding_, Pivoted):  # whose weights are on its pivots
        assert np.allclose(weights, expected, atol=1e-7)


@pytest.mark.parametrize("operator", [Identity(), Covariance(), ConditionalCovariance(0.05)])
def test_low_rank_is_exact_for_its_own_factors(operator):
    """LowRank(m) equals the exact solver on the kernels G Gᵀ and V Vᵀ, not a mixture with the full ones."""
    from mercer.core.pivoted import pivoted_cholesky

    rng = np.random.default_rng(3)
    X, Y, new = (rng.standard_normal((n, 3)) for n in (40, 40, 5))
    G = pivoted_cholesky(Gaussian(1.5), X, rank=8)
    V = pivoted_cholesky(Gaussian(1.5), Y, rank=6)
    solver, embedding = LowRank(rank=8, tol=0.0), Pivoted(6, 0.0)
    model = DependencyEstimator(
        Gaussian(1.5), Gaussian(1.5), operator, embedding, solver=solver, alpha=0.1, fit_intercept=False
    )
    with pytest.warns(UserWarning, match="low-rank factor"):
        model.fit(X, Y)
    g_new = G.extend(Gaussian(1.5)(new, X[G.pivots]))
    exact = DependencyEstimator(Linear(), Linear(), operator, alpha=0.1, embedding=Spectral(), fit_intercept=False).fit(
        G.factor, V.factor
    )
    expected = exact.predict(g_new) @ V.factor.T
    assert np.allclose(model.map_.points(new) @ model.embedding_.coordinates_.T, expected, atol=1e-9)
    assert model.solver_.residual_ == pytest.approx(G.residual)


def test_low_rank_says_what_it_leaves_out():
    rng = np.random.default_rng(4)
    X, Y = rng.standard_normal((60, 5)), rng.standard_normal((60, 2))
    with pytest.warns(UserWarning, match=r"\(3 columns\) leaves out .*% of its trace"):
        DependencyEstimator(Gaussian(1.0), Linear(), solver=LowRank(rank=3), alpha=0.1).fit(X, Y)
    model = DependencyEstimator(Gaussian(3.0), Linear(), solver=LowRank(tol=1e-3), alpha=0.1).fit(X, Y)
    assert 0 < model.solver_.residual_ <= 1e-3


def test_coefficient_penalty_is_the_report_edition_of_weston():
    rng = np.random.default_rng(5)
    X, Y = rng.standard_normal((15, 3)), rng.standard_normal((15, 2))
    k = Gaussian(1.0)(X)
    expected = k @ np.linalg.solve(k.T @ k + 0.3 * np.eye(15), k.T @ Y)
    model = DependencyEstimator(
        Gaussian(1.0), Linear(), alpha=0.3, solver=Exact(penalty="coefficients"), fit_intercept=False
    )
    assert np.allclose(model.fit(X, Y).predict(X), expected, atol=1e-10)


@pytest.mark.parametrize("weight", [None, np.linspace(0.5, 2.0, 12)], ids=["plain", "weighted"])
@pytest.mark.parametrize("alpha", [1e-8, 1e-3])
def test_block_systems_leave_out_accurately_at_small_alpha(alpha, weight):
    """Each pair left out of terms with commuting T, and with commuting Gram matrices, against a bordered dense system."""
    rng = np.random.default_rng(6)
    X, Y, T = rng.standard_normal((12, 2)), rng.standard_normal((12, 2)), np.array([[2.0, 1.0], [1.0, 2.0]])
    share = np.ones(12) if weight is None else weight
    two_terms = [(Gaussian(1.0), T), (Linear(), np.eye(2) - 0.1 * T)]
    for terms in (two_terms, [(Gaussian(1.0), T), (2.0 * Gaussian(1.0), np.diag([1.0, 2.0]))]):
        kernel = SumOfSeparable(terms).resolve(X, 2)
        blocks = kernel.gram(X).dense()
        found = Structured(method="exact").factorize(RidgeProblem(Linear(), X, Y, kernel, sample_weight=weight))
        for own, left_out in enumerate(to_numpy(found.left_out_points(alpha))):
            rest = np.delete(np.arange(12), own)
            at, here = (2 * rest[:, None] + np.arange(2)).ravel(), 2 * own + np.arange(2)
            constants = np.tile(np.eye(2), (11, 1))
            system = blocks[np.ix_(at, at)] + np.diag(np.repeat(alpha / share[rest], 2))
            system = np.block([[system, constants], [constants.T, np.zeros((2, 2))]])
            solved = np.linalg.solve(system, np.append(Y[rest].ravel(), np.zeros(2)))
            expected = blocks[np.ix_(here, at)] @ solved[:-2] + solved[-2:]
            np.testing.assert_allclose(left_out, expected, atol=1e-6 * np.abs(expected).max())
