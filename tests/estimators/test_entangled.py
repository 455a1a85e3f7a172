"""Entangled kernel learning: the objective, the ascent, and both predictions against their dense definitions."""

import numpy as np
import pytest
from expected_failures import expected_failures
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import EntangledRidge, NumericalWarning
from mercer.kernels import Gaussian, Linear, Subsequence
from mercer.operators import Nystroem, RandomFourier
from mercer.selection.entanglement import EntanglementObjective, ascend, learn_maps, maximize, span_of_outputs


def alignment(K, L):
    def centred(M):
        return M - M.mean(axis=0) - M.mean(axis=1)[:, None] + M.mean()

    K, L = centred(K), centred(L)
    return np.sum(K * L) / np.linalg.norm(K) / np.linalg.norm(L)


def dense(features, maps):
    """G, np×np, and its partial trace over outputs, as defined."""
    n, p = len(features), maps.shape[1]
    G = sum(np.outer(v, v) for v in ((features @ M.T).ravel() for M in maps))
    return G, np.einsum("ipjp->ij", G.reshape(n, p, n, p))


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(3, 7),
    p=st.integers(1, 5),
    m=st.integers(1, 4),
    r=st.integers(1, 5),
    gamma=st.sampled_from([0.0, 0.3, 1.0]),
)
def test_the_objective_is_its_definition_and_the_gradient_its_slope(seed, n, p, m, r, gamma):
    rng = np.random.default_rng(seed)
    features, Y, maps = rng.standard_normal((n, m)), rng.standard_normal((n, p)), rng.standard_normal((r, p, m))
    objective = EntanglementObjective(features, Y, gamma)
    value, gradient = objective(maps)
    G, trace = dense(features, maps)
    expected = (1 - gamma) * alignment(trace, Y @ Y.T) + gamma * alignment(G, np.outer(Y.ravel(), Y.ravel()))
    assert value == pytest.approx(expected, abs=1e-9)
    direction = rng.standard_normal(maps.shape)
    step = 1e-5
    slope = (objective(maps + step * direction)[0] - objective(maps - step * direction)[0]) / (2 * step)
    assert np.sum(gradient * direction) == pytest.approx(slope, abs=1e-6 * max(1.0, np.abs(gradient).max()))
    assert objective(3.7 * maps)[0] == pytest.approx(value)


def test_the_span_of_the_outputs_is_all_that_is_needed():
    rng = np.random.default_rng(0)
    features, Y = rng.standard_normal((5, 4)), rng.standard_normal((5, 12))
    basis = span_of_outputs(Y)
    assert basis.shape == (12, 6)
    small = rng.standard_normal((3, 6, 4))
    inside, full = EntanglementObjective(features, Y, 0.4, basis), EntanglementObjective(features, Y, 0.4)
    large = np.einsum("pq,sqm->spm", basis, small)
    assert inside(small)[0] == pytest.approx(full(large)[0])
    assert np.allclose(np.einsum("pq,sqm->spm", basis, inside(small)[1]), full(large)[1])


@pytest.mark.parametrize("gamma", [0.0, 0.5, 1.0])
def test_the_ascent_never_falls_and_is_seeded(gamma):
    rng = np.random.default_rng(1)
    objective = EntanglementObjective(rng.standard_normal((12, 4)), rng.standard_normal((12, 3)), gamma)
    found = learn_maps(objective, 4, starts=3, random_state=0)
    assert np.all(np.diff(found.path) >= -1e-12)
    assert found.alignment > found.path[0]
    assert np.linalg.norm(found.maps) == pytest.approx(1.0)
    again = learn_maps(objective, 4, starts=3, random_state=0)
    assert np.array_equal(found.maps, again.maps)
    assert found.alignment >= learn_maps(objective, 4, starts=1, random_state=0).alignment


@pytest.mark.parametrize("steps", [[3, 8, 2000], [8, 3, 0]])
def test_one_ascent_gives_what_ascents_of_each_number_of_steps_give(steps):
    rng = np.random.default_rng(3)
    objective = EntanglementObjective(rng.standard_normal((12, 4)), rng.standard_normal((12, 3)), 0.3)
    start = rng.standard_normal((4, 3, 4))
    for asked, found in zip(steps, ascend(objective, start, steps), strict=True):
        alone = maximize(objective, start, max_iter=asked)
        assert np.array_equal(found.maps, alone.maps)
        assert np.array_equal(found.path, alone.path)
        assert (found.alignment, found.evaluations) == (alone.alignment, alone.evaluations)
        assert len(found.path) <= asked + 1


def test_the_optimum_is_as_good_as_on_the_sphere_manifold_with_fewer_products():
    pymanopt = pytest.importorskip("pymanopt", reason="pymanopt is not installed")
    rng = np.random.default_rng(2)
    objective = EntanglementObjective(rng.standard_normal((15, 4)), rng.standard_normal((15, 3)), 0.5)
    start = rng.standard_normal((5, 3, 4))
    ours = maximize(objective, start, max_iter=500)
    products = 0
    sphere = pymanopt.manifolds.Sphere(*start.shape)

    @pymanopt.function.numpy(sphere)
    def cost(maps):
        nonlocal products
        products += 1
        return -objective(maps)[0]

    @pymanopt.function.numpy(sphere)
    def euclidean_gradient(maps):
        nonlocal products
        products += 1
        return -objective(maps)[1]

    problem = pymanopt.Problem(sphere, cost, euclidean_gradient=euclidean_gradient)
    optimizer = pymanopt.optimizers.ConjugateGradient(verbosity=0, max_iterations=500, min_gradient_norm=1e-7)
    theirs = optimizer.run(problem, initial_point=start / np.linalg.norm(start))
    assert ours.alignment >= -theirs.cost - 1e-6
    assert ours.evaluations < products


@pytest.mark.parametrize("mode", ["entangled", "partial-trace"])
@pytest.mark.parametrize("p", [1, 3, 9])
def test_predictions_are_the_dense_definition(mode, p):
    rng = np.random.default_rng(3)
    X, new = rng.standard_normal((7, 2)), rng.standard_normal((4, 2))
    Y = rng.standard_normal((7, p))
    rank = 3 if p > 1 else 2
    model = EntangledRidge(Gaussian(1.0), kraus_rank=rank, mode=mode, alpha=0.2, tol=0.0, max_iter=15, random_state=0)
    model.fit(X, Y)
    both = model.kernel_(np.concatenate([X, new]))  # blocks (11, 11, p, p)
    if mode == "entangled":
        G = both[:7, :7].transpose(0, 2, 1, 3).reshape(7 * p, 7 * p)
        cross = both[7:, :7].transpose(0, 2, 1, 3).reshape(4 * p, 7 * p)
    else:
        trace = np.einsum("ijpp->ij", both) / p
        G, cross = np.kron(trace[:7, :7], np.eye(p)), np.kron(trace[7:, :7], np.eye(p))
    ones = np.kron(np.ones((7, 1)), np.eye(p))  # a mean for each output that is not penalised
    system = np.block([[G + 0.2 * np.eye(7 * p), ones], [ones.T, np.zeros((p, p))]])
    found = np.linalg.solve(system, np.append(Y.ravel(), np.zeros(p)))
    expected = (cross @ found[: 7 * p]).reshape(4, p) + found[7 * p :]
    assert np.allclose(model.predict(new), expected, atol=1e-9)
    assert np.einsum("iipp->", both[:7, :7]) / (7 * p) == pytest.approx(1.0)


@pytest.mark.parametrize("mode", ["entangled", "partial-trace"])
def test_leave_one_out_is_exact_with_the_kernel_held(mode):
    rng = np.random.default_rng(4)
    X, Y = rng.standard_normal((8, 2)), rng.standard_normal((8, 3))
    model = EntangledRidge(
        Gaussian(1.0), kraus_rank=4, mode=mode, tol=0.0, max_iter=5, fit_intercept=False, random_state=0
    ).fit(X, Y)
    blocks = model.kernel_(X)
    if mode == "partial-trace":
        blocks = np.einsum("ijpp->ij", blocks)[:, :, None, None] / 3 * np.eye(3)
    alpha, figure = model.alphas_[10], model.loo_path_[10]
    losses = []
    for j in range(8):
        rest = np.delete(np.arange(8), j)
        G = blocks[np.ix_(rest, rest)].transpose(0, 2, 1, 3).reshape(21, 21)
        cross = blocks[j][rest].transpose(1, 0, 2).reshape(3, 21)
        predicted = cross @ np.linalg.solve(G + alpha * np.eye(21), Y[rest].ravel())
        losses.append(np.sum((predicted - Y[j]) ** 2))
    assert figure in (pytest.approx(np.mean(losses), rel=1e-6), pytest.approx(np.mean(losses) / 3, rel=1e-6))


@parametrize_with_checks(
    [
        EntangledRidge(kraus_rank=2, max_iter=5, random_state=0),
        EntangledRidge(kraus_rank=2, mode="entangled", max_iter=5, random_state=0),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_features_of_every_kind():
    rng = np.random.default_rng(5)
    X, Y = rng.standard_normal((20, 2)), rng.standard_normal((20, 2))
    for features in (
        Nystroem(Gaussian(1.0), rank=6),
        RandomFourier(Gaussian(1.0), 40, random_state=0),
        Linear(),
        lambda rows: np.column_stack([rows, rows**2]),
    ):
        model = EntangledRidge(features=features, kraus_rank=2, max_iter=5, random_state=0)
        assert model.fit(X, Y).predict(X).shape == (20, 2)
    assert EntangledRidge(features=Nystroem(Gaussian(1.0), rank=6), kraus_rank=2).fit(X, Y).feature_residual_ > 0
    words = ["ab" * (i % 3 + 1) + "c" * (i // 3) for i in range(9)]
    strings = EntangledRidge(Subsequence(2).normalized(), kraus_rank=2, max_iter=5, random_state=0)
    strings.fit(words, rng.standard_normal((9, 2)))
    assert strings.predict(words).shape == (9, 2)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"gamma": -0.1}, "gamma=-0.1; expected a number between 0 and 1"),
        ({"gamma": 1.5}, "gamma=1.5"),
        ({"kraus_rank": 0}, "kraus_rank=0"),
        ({"kraus_rank": 10**6}, "kraus_rank=1000000; expected at most"),
        ({"mode": "both"}, "mode='both'; expected 'entangled' or 'partial-trace'"),
        ({"max_iter": -1}, "max_iter=-1"),
        ({"n_starts": 0}, "n_starts=0"),
    ],
)
def test_bad_parameters(parameters, message):
    rng = np.random.default_rng(6)
    with pytest.raises(ValueError, match=message):
        EntangledRidge(**parameters).fit(rng.standard_normal((6, 2)), rng.standard_normal((6, 2)))


def test_constant_outputs_cannot_be_aligned_with():
    with pytest.raises(ValueError, match="y is constant"):
        EntangledRidge(kraus_rank=2).fit(np.arange(12.0).reshape(6, 2), np.ones((6, 2)))


@pytest.mark.parametrize("mode", ["partial-trace", "entangled"])
@pytest.mark.parametrize("ties", [False, True])
def test_neither_the_order_of_rows_nor_few_of_them_break_the_default(mode, ties):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 3))
    Y = np.sign(X[:, :2]) if ties else np.column_stack([np.sin(X[:, 0]), X[:, 1] * X[:, 2]])
    order = rng.permutation(12)
    model = EntangledRidge(mode=mode, random_state=0)
    with pytest.warns(NumericalWarning, match="alignment of .* Lower max_iter, or learn from more pairs"):
        expected = model.fit(X, Y).predict(X)
    np.testing.assert_allclose(model.fit(X[order], Y[order]).predict(X), expected, atol=1e-8)
