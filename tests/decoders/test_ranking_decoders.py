"""Ranking decoders: exact against all permutations, with an honest gap where they give up."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import DependencyEstimator
from mercer.core.arrays import NumericalWarning
from mercer.decoders import Assignment, Candidates, ExpectedLoss, KemenyOrder, Sorting, auto_decoder
from mercer.decoders.linear_ordering import best_order, components
from mercer.embeddings import Features, Implicit, Spectral
from mercer.kernels import Borda, Kemeny, Lehmer, RankHamming
from mercer.losses import Hamming, Kendall, KernelLoss, SquaredError, ZeroOne
from mercer.testing import check_decoder, check_object_estimator

DECODERS = [(Kemeny, KemenyOrder), (RankHamming, Assignment), (Borda, Sorting), (Lehmer, Sorting)]


def everything(items):
    return np.array(list(permutations(range(items))))


def distances(kernel, weights, outputs, candidates):
    """‖Σ w_j ψ(y_j) − ψ(y)‖² for each candidate, up to a constant, from the kernel alone."""
    return kernel.diag(candidates)[None, :] - 2 * weights @ kernel(outputs, candidates)


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 6), st.integers(0, 10_000), st.sampled_from([0, 1]), st.booleans())
@pytest.mark.parametrize(("family", "decoder"), DECODERS)
def test_no_ranking_is_nearer(family, decoder, items, seed, start, coarse):
    rng = np.random.default_rng(seed)
    outputs = np.argsort(rng.random((7, items)), axis=1) + start
    weights = rng.integers(-3, 4, size=(5, 7)).astype(float) if coarse else rng.normal(size=(5, 7))
    kernel = family()
    found = decoder().fit(Implicit().fit(kernel, outputs)).decode(weights)
    kernel.check(found)
    assert found.min() == start
    every = everything(items) + start
    own = np.diag(distances(kernel, weights, outputs, found))
    np.testing.assert_allclose(own, distances(kernel, weights, outputs, every).min(axis=1), atol=1e-9)


@pytest.mark.parametrize(("family", "decoder"), DECODERS)
@pytest.mark.parametrize("wrap", [lambda k: k, lambda k: 3.0 * k, lambda k: k.centered(), lambda k: k.normalized()])
def test_every_embedding_factor_mean_and_cosine(family, decoder, wrap):
    rng = np.random.default_rng(1)
    outputs = np.argsort(rng.random((8, 4)), axis=1)
    W = rng.normal(size=(12, 8))
    kernel = wrap(family()).resolve(outputs)
    if family is Lehmer and ".normalized()" in repr(kernel):
        with pytest.raises(TypeError, match="without a cosine"):
            decoder().fit(Implicit().fit(kernel, outputs))
        assert type(auto_decoder(kernel)[0]) is Candidates
        return
    nearest = distances(kernel, W, outputs, everything(4)).min(axis=1)
    assert type(auto_decoder(kernel)[0]) is decoder
    embeddings = [Implicit(), Spectral()] + ([Features()] if kernel.feature_map(outputs) is not None else [])
    for embedding in embeddings:
        fitted = embedding.fit(kernel, outputs)
        H = W if fitted.coordinates_ is None else W @ fitted.coordinates_
        found = decoder().fit(fitted).decode(H)
        np.testing.assert_allclose(np.diag(distances(kernel, W, outputs, found)), nearest, atol=1e-9)
    check_decoder(decoder(), fitted, H[:3])


def enumerated(gains):
    orders = everything(len(gains))
    return max(np.triu(gains[np.ix_(order, order)], 1).sum() for order in orders)


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 7), st.integers(0, 10_000), st.booleans())
def test_the_best_order_is_found_and_proved(items, seed, coarse):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.integers(-2, 3, (items, items)) if coarse else rng.normal(size=(items, items)), 1)
    gains = (upper - upper.T).astype(float)
    found = best_order(gains, width=10_000, time_limit=60.0)
    assert sorted(found.order.tolist()) == list(range(items))
    np.testing.assert_allclose(found.value, np.triu(gains[np.ix_(found.order, found.order)], 1).sum())
    np.testing.assert_allclose(found.value, enumerated(gains), atol=1e-9)
    assert found.gap <= 1e-9


@settings(max_examples=25, deadline=None)
@given(st.integers(4, 7), st.integers(0, 10_000), st.sampled_from([1, 2, 5]), st.sampled_from([0.0, 60.0]))
def test_a_search_cut_short_says_how_far_off_it_may_be(items, seed, width, seconds):
    upper = np.triu(np.random.default_rng(seed).normal(size=(items, items)), 1)
    gains = upper - upper.T
    found = best_order(gains, width, seconds)
    assert found.value <= enumerated(gains) + 1e-9 <= found.value + found.gap + 2e-9


def test_many_items_are_taken_apart_into_components():
    rng = np.random.default_rng(0)
    order = rng.permutation(40)
    place = np.argsort(order)
    gains = np.sign(place[None, :] - place[:, None]) * rng.uniform(1, 2, (40, 40))
    gains = np.triu(gains, 1) - np.triu(gains, 1).T
    a, _, c = order[10:13]
    gains[a, c], gains[c, a] = -0.5, 0.5  # one circle of three
    assert sorted(len(group) for group in components(gains)) == [1] * 37 + [3]
    found = best_order(gains, 10, 60.0)
    assert found.order.tolist() == order.tolist()
    assert found.gap == 0


def test_fourteen_tangled_items_are_solved_exactly_against_plain_dynamic_programming():
    rng = np.random.default_rng(3)
    upper = np.triu(rng.normal(size=(14, 14)), 1)
    gains = upper - upper.T
    best = np.full(1 << 14, -np.inf)
    best[0] = 0.0
    bits = ((np.arange(1 << 14)[:, None] >> np.arange(14)) & 1).astype(bool)
    over = ~bits @ gains.T
    for mask in range(1 << 14):
        for item in np.flatnonzero(~bits[mask]):
            wider = mask | 1 << int(item)
            best[wider] = max(best[wider], best[mask] + over[mask, item])
    found = best_order(gains, 20_000, 60.0)
    assert found.gap == 0
    np.testing.assert_allclose(found.value, best[-1])


@pytest.mark.parametrize("items", [7, 8])
def test_beyond_six_items_the_search_takes_over(items):
    rng = np.random.default_rng(items)
    outputs = np.argsort(rng.random((9, items)), axis=1)
    W = rng.normal(size=(3, 9))
    decoder = KemenyOrder().fit(Implicit().fit(Kemeny(), outputs))
    found = decoder.decode(W)
    assert (decoder.gaps(W) == 0).all()
    signs = Kemeny().feature_map(outputs)
    best = (W @ signs(outputs) @ signs(everything(items)).T).max(axis=1)
    np.testing.assert_allclose(np.sum(W @ signs(outputs) * signs(found), axis=1), best)


def test_more_items_than_bits_still_come_with_a_bound():
    upper = np.triu(np.random.default_rng(0).normal(size=(70, 70)), 1)
    found = best_order(upper - upper.T, 10, 1.0)
    assert sorted(found.order.tolist()) == list(range(70))
    assert 0 < found.gap < np.abs(upper).sum()


def test_the_decoder_warns_with_the_gap():
    items = 20
    rng = np.random.default_rng(0)
    outputs = np.argsort(rng.random((60, items)), axis=1)
    decoder = KemenyOrder(width=3).fit(Implicit().fit(Kemeny(), outputs))
    points = np.vstack([rng.normal(size=60), np.eye(60)[0]])
    with pytest.warns(NumericalWarning, match=r"1 of 2 rankings were not proved .*gaps\(H\)"):
        decoder.decode(points)
    gaps = decoder.gaps(points)
    assert gaps[0] > 0
    assert gaps[1] == 0


@pytest.mark.parametrize(
    ("kernel", "loss", "expected"),
    [
        (Kemeny(), None, KemenyOrder),
        (Kemeny(), Kendall(), KemenyOrder),
        (Kemeny(partial=True).normalized(), Kendall("b"), KemenyOrder),
        (0.5 * Kemeny(), "rkhs", KemenyOrder),
        (Kemeny(), ZeroOne(), ExpectedLoss),
        (RankHamming(), Hamming(), Assignment),
        (RankHamming(), Kendall(), ExpectedLoss),
        (Borda(), SquaredError(), Sorting),
        (Lehmer(), KernelLoss(Lehmer()), Sorting),
    ],
)
def test_the_decoder_is_picked_with_a_reason(kernel, loss, expected):
    decoder, reason = auto_decoder(kernel, loss)
    assert type(decoder) is expected
    assert repr(kernel).removeprefix("0.5 * ") in reason


@pytest.mark.parametrize(("family", "decoder"), DECODERS)
def test_the_wrong_kernel_is_named(family, decoder):
    other = RankHamming() if family is not RankHamming else Kemeny()
    with pytest.raises(TypeError, match=rf"{decoder.__name__} needs .*{family.__name__}\(\).*{type(other).__name__}"):
        decoder().fit(Implicit().fit(other, np.array([[0, 1], [1, 0]])))


@pytest.mark.parametrize(("parameters", "match"), [({"width": 0}, "width=0"), ({"time_limit": -1}, "time_limit=-1")])
def test_bad_parameters(parameters, match):
    with pytest.raises(ValueError, match=match):
        KemenyOrder(**parameters).fit(Implicit().fit(Kemeny(), np.array([[0, 1], [1, 0]])))


# -- learning ---------------------------------------------------------------------------------------


def noisy_rankings(n, items, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    scores = X @ np.random.default_rng(99).normal(size=(3, items)) + 0.3 * rng.normal(size=(n, items))
    return X, np.argsort(np.argsort(-scores, axis=1), axis=1)


@pytest.mark.parametrize("kernel", [Kemeny(), RankHamming(), Borda(), Lehmer(), Kemeny().centered()], ids=repr)
@pytest.mark.parametrize("start", [0, 1])
def test_rankings_are_learned_and_written_as_they_came(kernel, start):
    X, y = noisy_rankings(120, 5, 0)
    model = DependencyEstimator(output_kernel=kernel).fit(X[:80], y[:80] + start)
    found = model.predict(X[80:])
    assert found.min() == start
    assert found.max() == 4 + start
    constant = np.tile(np.argsort(np.argsort(y[:80].mean(axis=0))), (40, 1))
    tau = 1 - 2 * Kendall().paired(y[80:], found).mean()
    assert tau > 0.5 > 1 - 2 * Kendall().paired(y[80:], constant).mean()
    assert "nearest of all rankings" in model.reasons_["decoder"]


def test_kendall_chooses_the_ridge_and_scores():
    X, y = noisy_rankings(60, 4, 1)
    model = DependencyEstimator(output_kernel=Kemeny(), loss=Kendall()).fit(X, y)
    assert isinstance(model.decoder_, KemenyOrder)
    np.testing.assert_allclose(model.score(X, y), -Kendall().paired(y, model.predict(X)).mean())
    assert 0 <= model.loo_path_.min() < 0.3


def test_partial_rankings_teach_too():
    X, y = noisy_rankings(200, 5, 2)
    rng = np.random.default_rng(0)
    partial = y.astype(float)
    partial[rng.random(y.shape) < 0.3] = np.nan
    partial[:40] = np.minimum(y[:40], 2)  # the two best, and the rest tied behind them
    kernel = Kemeny(partial=True).normalized()
    model = DependencyEstimator(output_kernel=kernel, loss=Kendall("b")).fit(X[:150], partial[:150])
    found = model.predict(X[150:])
    Kemeny().check(found)
    tau = 1 - 2 * Kendall().paired(y[150:], found).mean()
    assert tau > 0.5
    assert np.isfinite(model.score(X[150:], partial[150:]))


@pytest.mark.parametrize("kernel", [Kemeny(), RankHamming(), Lehmer()], ids=repr)
def test_the_contract_of_estimators_holds_for_rankings(kernel):
    X, y = noisy_rankings(24, 4, 4)
    check_object_estimator(DependencyEstimator(output_kernel=kernel, alpha=0.1), X, y)


def test_frames_of_ranks_and_candidates_for_each_input():
    X, y = noisy_rankings(30, 4, 5)
    model = DependencyEstimator(output_kernel=Kemeny(), alpha=0.1).fit(X, pd.DataFrame(y, columns=list("abcd")))
    found, plain = model.predict(X), DependencyEstimator(output_kernel=Kemeny(), alpha=0.1).fit(X, y)
    assert list(found.columns) == list("abcd")
    assert found.to_numpy().tolist() == plain.predict(X).tolist()
    own = [[[0, 1, 2, 3], [3, 2, 1, 0]], [[1, 0, 2, 3]]]
    assert plain.predict(X[:2], candidates=own)[1].tolist() == [1, 0, 2, 3]
    assert model.predict(X[:2], candidates=own).iloc[1].tolist() == [1, 0, 2, 3]
    with pytest.raises(ValueError, match=r"candidates\[1\] gives rank 1 to items 0 and 1"):
        model.predict(X[:1], candidates=[[0, 1, 2, 3], [1, 1, 2, 3]])


def test_torch_rankings_give_torch_back():
    import torch

    X, y = noisy_rankings(30, 4, 3)
    model = DependencyEstimator(output_kernel=Kemeny(), alpha=0.1).fit(torch.asarray(X), torch.asarray(y))
    plain = DependencyEstimator(output_kernel=Kemeny(), alpha=0.1).fit(X, y)
    found = model.predict(torch.asarray(X))
    assert isinstance(found, torch.Tensor)
    assert found.numpy().tolist() == plain.predict(X).tolist()
