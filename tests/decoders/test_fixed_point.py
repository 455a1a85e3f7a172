"""Fixed point: monotone, within its box, never worse than a training output, and a real maximum."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from mercer.decoders import Candidates, FixedPoint
from mercer.decoders.fixed_point import GaussianSum, mean_shift
from mercer.embeddings import Implicit, Pivoted, PrincipalComponents, Spectral
from mercer.kernels import Gaussian, GaussianOf, Laplacian, Linear
from mercer.testing import check_decoder


def surface(y, weights, centres, scale):
    return float(np.sum(weights * np.exp(-((centres - y) ** 2).sum(axis=1) / (2 * scale**2))))


def problem(seed, queries=4, n=8, d=2):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=(queries, n))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.3, 1.0, 4.0]))
def test_never_worse_than_any_training_output_and_inside_the_box(seed, scale):
    Y, W = problem(seed)
    decoder = FixedPoint().fit(Implicit().fit(Gaussian(scale), Y))
    for y, w in zip(decoder.decode(W), W, strict=True):
        assert surface(y, w, Y, scale) >= max(surface(c, w, Y, scale) for c in Y) - 1e-12
        assert (y >= Y.min(axis=0)).all()
        assert (y <= Y.max(axis=0)).all()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_every_run_is_monotone(seed):
    Y, W = problem(seed, queries=5)
    sums, far = GaussianSum(Y, 0.7, W), np.full((5, 2), 1e9)
    starts = np.random.default_rng(seed + 1).normal(size=(5, 2)) * 2
    heights = [surface(s, w, Y, 0.7) for s, w in zip(starts, W, strict=True)]
    for steps in (1, 2, 3, 5, 8, 13):
        points, reached, _ = mean_shift(sums, starts, (-far, far), max_iter=steps, tol=0.0)
        again = [surface(p, w, Y, 0.7) for p, w in zip(points, W, strict=True)]
        np.testing.assert_allclose(reached, again, atol=1e-12)
        assert (reached >= np.array(heights) - 1e-12).all()
        heights = reached


def test_finds_the_maximum_a_general_optimiser_finds():
    Y, W = problem(3, queries=6)
    decoder = FixedPoint(n_starts=8, max_iter=2000, tol=1e-10)
    decoder.fit(Implicit().fit(Gaussian(0.8), Y))
    box = list(zip(Y.min(axis=0), Y.max(axis=0), strict=True))
    for y, w in zip(decoder.decode(W), W, strict=True):
        runs = [minimize(lambda v, w=w: -surface(v, w, Y, 0.8), c, bounds=box, tol=1e-12) for c in Y]
        best = max(-run.fun for run in runs)
        np.testing.assert_allclose(surface(y, w, Y, 0.8), best, rtol=1e-6)


def test_beats_the_candidates_where_the_answer_is_between_them():
    Y = np.array([[-1.0], [1.0]])
    embedding = Implicit().fit(Gaussian(2.0), Y)
    W = np.array([[0.5, 0.5]])
    decoder = FixedPoint().fit(embedding)
    np.testing.assert_allclose(decoder.decode(W), [[0.0]], atol=1e-5)
    assert decoder.objective(W, decoder.decode(W)) < decoder.objective(W, Candidates().fit(embedding).decode(W))
    assert 1 <= decoder.iterations(W) <= 100


def test_negative_weights_push_away_but_not_out_of_the_box():
    Y = np.array([[0.0], [1.0], [2.0]])
    embedding = Implicit().fit(Gaussian(1.0), Y)
    W = np.array([[-1.0, 0.0, 0.0]])  # the further from 0 the better
    assert FixedPoint().fit(embedding).decode(W).tolist() == [[2.0]]
    assert FixedPoint(bounds=(0.0, 5.0)).fit(embedding).decode(W)[0, 0] > 2.5
    assert FixedPoint(bounds=None).fit(embedding).decode(W)[0, 0] > 2.5
    narrow = FixedPoint(bounds=([0.5], [1.5])).fit(embedding).decode(W)
    assert narrow.tolist() == [[1.5]]


def test_no_weight_at_all_gives_the_first_output():
    Y, _ = problem(0)
    decoder = FixedPoint().fit(Implicit().fit(Gaussian(1.0), Y))
    np.testing.assert_allclose(decoder.decode(np.zeros((1, 8))), Y[:1])


def test_leaving_out_equals_fitting_without_it():
    Y, _ = problem(5)
    W = np.random.default_rng(6).normal(size=(8, 8))
    np.fill_diagonal(W, 0.0)
    decoder = FixedPoint().fit(Implicit().fit(Gaussian(0.9), Y))
    found = decoder.decode(W, leave_out=np.arange(8))
    for i in range(8):
        rest = np.delete(Y, i, axis=0)
        fitted = FixedPoint().fit(Implicit().fit(Gaussian(0.9), rest))
        alone = fitted.decode(np.delete(W[i : i + 1], i, axis=1))
        np.testing.assert_allclose(found[i], alone[0], atol=1e-5)
        assert (found[i] >= rest.min(axis=0) - 1e-12).all()
        assert (found[i] <= rest.max(axis=0) + 1e-12).all()


def test_an_output_left_out_is_no_start():
    decoder = FixedPoint().fit(Implicit().fit(Gaussian(1.0), np.array([[1.0], [0.0], [2.0]])))
    nowhere = np.zeros((2, 3))  # no weight at all: the first start is the answer
    assert decoder.decode(nowhere, leave_out=np.array([0, 1])).tolist() == [[0.0], [1.0]]


def test_the_box_keeps_what_an_equal_output_still_holds():
    Y = np.array([[0.0], [3.0], [3.0], [1.0]])
    decoder = FixedPoint().fit(Implicit().fit(Gaussian(1.0), Y))
    W = np.array([[-5.0, 0.0, 0.0, 0.0]])  # pushes to the upper end
    assert decoder.decode(W, leave_out=np.array([1])).tolist() == [[3.0]]
    single = FixedPoint().fit(Implicit().fit(Gaussian(1.0), Y[[0, 1, 3]]))
    assert single.decode(W[:, :3], leave_out=np.array([1])).tolist() == [[1.0]]


def test_batches_change_nothing(monkeypatch):
    Y, W = problem(7, queries=9)
    decoder = FixedPoint().fit(Implicit().fit(Gaussian(1.0), Y))
    whole = decoder.decode(W)
    monkeypatch.setattr("mercer.decoders.fixed_point._TERMS", 8 * 6 * 2)
    np.testing.assert_allclose(decoder.decode(W), whole, atol=1e-7)


@pytest.mark.parametrize("kernel", [Gaussian(1.2), 0.3 * Gaussian(1.2), GaussianOf(Linear(), 1.2)])
def test_a_factor_and_another_spelling_change_nothing(kernel):
    Y, W = problem(8)
    found = FixedPoint().fit(Implicit().fit(kernel, Y)).decode(W)
    expected = FixedPoint().fit(Implicit().fit(Gaussian(1.2), Y)).decode(W)
    np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize(
    "embedding",
    [Implicit(), Spectral(), Pivoted(rank=4), PrincipalComponents(n_components=3)],
)
def test_contract_in_every_embedding(embedding):
    Y, _ = problem(9)
    fitted = embedding.fit(0.5 * Gaussian(0.8), Y)
    width = fitted.transform(Y).shape[1]
    check_decoder(FixedPoint(), fitted, np.random.default_rng(1).normal(size=(5, width)))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_starts": 0}, "n_starts=0"),
        ({"max_iter": 1.5}, "max_iter=1.5"),
        ({"tol": -1.0}, "tol=-1.0"),
        ({"bounds": "box"}, "bounds='box'; expected 'data'"),
        ({"bounds": (1.0, 0.0)}, "low ≤ high"),
        ({"bounds": (0.0, 1.0, 2.0)}, "a pair"),
        ({"bounds": ([0.0] * 3, [1.0] * 3)}, "2 coordinates"),
        ({"bounds": (float("nan"), 1.0)}, "low ≤ high"),
        ({"bounds": 3.0}, "a pair"),
    ],
)
def test_wrong_parameters_are_refused(parameters, message):
    Y, _ = problem(0)
    with pytest.raises(ValueError, match=message):
        FixedPoint(**parameters).fit(Implicit().fit(Gaussian(1.0), Y))


def test_other_kernels_are_refused():
    with pytest.raises(TypeError, match=r"Gaussian\(\) on vectors as output kernel, and came with Lap"):
        FixedPoint().fit(Implicit().fit(Laplacian(1.0), np.eye(2)))


def test_fast_enough_for_half_digits():
    rng = np.random.default_rng(0)
    Y = rng.uniform(-1, 1, size=(200, 128))
    W = rng.dirichlet(np.ones(200) * 0.1, size=800) + rng.normal(scale=1e-3, size=(800, 200))
    decoder = FixedPoint().fit(Implicit().fit(Gaussian(7.0), Y))
    started = time.process_time()
    decoder.decode(W)
    # about 0.5 s of one core; the limit leaves room for slower machines
    assert time.process_time() - started < 8.0


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.05, 0.3, 1.0, 4.0]), st.sampled_from(["data", None, (-1.5, 1.0)]))
def test_rank_has_the_decoded_vector_first_and_then_what_lies_in_the_box(seed, scale, bounds):
    Y, W = problem(seed)
    decoder = FixedPoint(bounds=bounds).fit(Implicit().fit(Gaussian(scale), Y))
    inside = [tuple(y) for y in Y if bounds != (-1.5, 1.0) or (y.min() >= -1.5 and y.max() <= 1.0)]
    for made, w, found in zip(decoder.decode(W), W, decoder.rank(W, 20), strict=True):
        assert found.objects[0].tolist() == made.tolist()
        assert (np.diff(found.scores) <= 0).all()
        np.testing.assert_allclose(found.scores, [2 * surface(y, w, Y, scale) - 1 for y in found.objects], atol=1e-8)
        others = {tuple(y) for y in found.objects[1:]}
        assert len(others) == len(found.objects) - 1
        assert others <= set(inside)
        # at most the one that was decoded is missing
        assert all(np.allclose(y, made) for y in set(inside) - others)


def test_a_box_without_training_outputs_has_one_answer():
    Y, W = problem(1)
    decoder = FixedPoint(bounds=(-0.01, 0.01)).fit(Implicit().fit(Gaussian(1.0), Y))
    for made, found in zip(decoder.decode(W), decoder.rank(W, 5), strict=True):
        assert found.objects.tolist() == [made.tolist()]


def test_what_is_left_out_is_not_ranked():
    Y, W = problem(2, queries=8)
    decoder = FixedPoint(bounds=(-0.7, 0.7)).fit(Implicit().fit(Gaussian(1.0), Y))
    inside = [tuple(y) for y in Y if np.abs(y).max() <= 0.7]
    assert 1 < len(inside) < len(Y)
    for i, found in enumerate(decoder.rank(W, 20, leave_out=np.arange(8))):
        assert {tuple(y) for y in found.objects[1:]} == set(inside) - {tuple(Y[i])}
