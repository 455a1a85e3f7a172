"""Weights of mixtures against brute force, and the rules that compete."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.selection import mixing
from mercer.selection.mixing import check_folds, mix_by_loss, mix_by_squares, supported_share

rng = np.random.default_rng(0)
FOLDS = np.arange(60) % 5


def simplex(members, steps=20):
    """All weights that are multiples of 1/steps."""
    found = [point for point in itertools.product(range(steps + 1), repeat=members) if sum(point) == steps]
    return np.array(found) / steps


def residuals(seed, members=3, n=60, r=2, scales=(1.0, 1.2, 3.0)):
    own = np.random.default_rng(seed)
    shared = 0.5 * own.standard_normal((1, n, r))
    return np.asarray(scales[:members])[:, None, None] * (own.standard_normal((members, n, r)) + shared)


@pytest.fixture
def _no_shrinkage(monkeypatch):
    monkeypatch.setattr(mixing, "_SHRUNK", 0.0)


@pytest.mark.usefixtures("_no_shrinkage")
@pytest.mark.parametrize("seed", range(5))
def test_weights_beat_every_point_of_a_grid(seed):
    errors = residuals(seed)
    gram = np.einsum("mnr,knr->mk", errors, errors)
    found = mixing._on_simplex(gram)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1.0)
    least = min(w @ gram @ w for w in simplex(3))
    assert found @ gram @ found <= least * (1 + 1e-5)


def test_shrinkage_draws_a_little_towards_equal_weights():
    gram = np.diag([1.0, 2.0, 50.0])
    found, free = mixing._on_simplex(gram), np.array([1.0, 0.5, 0.02]) / 1.52
    assert np.abs(found - free).max() < 0.15
    assert found[2] > 0


@pytest.mark.usefixtures("_no_shrinkage")
def test_each_coordinate_is_drawn_to_its_own_best():
    errors = residuals(0, r=3)
    errors[0, :, 0] *= 0.05
    errors[1, :, 1] *= 0.05
    found = mix_by_squares(errors, FOLDS)
    assert found.rule == "averaged"
    assert found.weights.shape == (3, 3)
    together = mix_by_squares(errors, FOLDS, shared=True).weights
    assert together.shape == (3,)
    for j in range(3):
        alone = mix_by_squares(errors[:, :, [j]], FOLDS).weights
        assert np.allclose(
            found.weights[:, j], 0.75 * together + 0.25 * alone, atol=0.02
        )  # but for members of little weight
    assert found.weights[0, 0] > together[0]
    assert found.weights[1, 1] > together[1]


def test_the_best_alone_where_a_mixture_does_not_help():
    errors = residuals(1)
    errors[1:] = 100.0 * errors[:1] + 10.0  # the others make the same mistakes, and larger ones
    assert mix_by_squares(errors, FOLDS).weights.tolist() == [[1.0] * 2, [0.0] * 2, [0.0] * 2]


def test_the_best_takes_the_place_of_an_average_that_is_worse_in_every_fold(monkeypatch):
    monkeypatch.setattr(mixing, "_averaged", lambda parts, shared: np.array([[0.0], [1.0]]))
    errors = residuals(1, members=2)
    errors[1] = 3.0 * errors[0]
    found = mix_by_squares(errors, FOLDS)
    assert (found.rule, found.weights.tolist()) == ("best", [1.0, 0.0])
    errors[1, FOLDS == 2] = 0.5 * errors[0, FOLDS == 2]
    assert mix_by_squares(errors, FOLDS).rule == "averaged"


def test_the_check_is_on_pairs_the_weights_were_not_found_on():
    errors = residuals(2, members=2, r=1)
    found = mix_by_squares(errors, FOLDS)
    lost = 0.0
    for fold in range(5):
        parts = [errors[:, own == FOLDS, 0] for own in range(5) if own != fold]
        grams = [a @ a.T + b @ b.T + c @ c.T for a, b, c in itertools.combinations(parts, 3)]
        weights = np.mean([mixing._on_simplex(gram) for gram in grams], axis=0)
        lost += ((weights @ errors[:, fold == FOLDS, 0]) ** 2).sum()
    assert found.checked["averaged"] == pytest.approx(lost / 60)


def test_members_of_little_weight_are_dropped():
    errors = residuals(0, members=3, r=1, scales=(1.0, 1.0, 40.0))
    found = mix_by_squares(errors, FOLDS).weights
    assert found[2] == 0.0
    assert found.sum() == pytest.approx(1.0)
    many = residuals(0, members=150, r=1, scales=np.ones(150))  # all have little
    assert mix_by_squares(many, FOLDS).weights.sum() == pytest.approx(1.0)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(1, 3))
def test_order_of_members_and_pairs_does_not_matter(seed, members, r):
    errors = residuals(seed, members, 40, r, scales=np.linspace(1, 3, members))
    folds, own = np.arange(40) % 5, np.random.default_rng(seed)
    found = mix_by_squares(errors, folds)
    pairs, order = own.permutation(40), own.permutation(members)
    assert np.allclose(mix_by_squares(errors[:, pairs], folds[pairs]).weights, found.weights, atol=1e-7)
    assert np.allclose(mix_by_squares(errors[order], folds).weights, found.weights[order], atol=1e-6)
    assert found.weights.min() >= 0
    assert np.allclose(found.weights.sum(axis=0), 1.0)


def test_a_weight_of_two_counts_as_two_pairs():
    errors, weight = residuals(3), np.where(np.arange(60) < 20, 2.0, 1.0)
    twice = np.concatenate([np.arange(60), np.arange(20)])
    found, expected = mix_by_squares(errors, FOLDS, weight), mix_by_squares(errors[:, twice], FOLDS[twice])
    assert np.allclose(found.weights, expected.weights, atol=1e-9)


@pytest.mark.parametrize("scale", [0.0, 1e-100, 1e100])
def test_errors_of_any_size(scale):
    errors = residuals(4)
    found = mix_by_squares(scale * errors, FOLDS)
    assert np.all(np.isfinite(found.weights))
    assert np.allclose(found.weights.sum(axis=0), 1.0)
    if scale:
        assert np.allclose(found.weights, mix_by_squares(errors, FOLDS).weights, atol=1e-6)


@pytest.mark.parametrize("seed", range(10))
def test_many_members_that_are_nearly_the_same(seed):
    own = np.random.default_rng(seed)
    shared = own.standard_normal((1, 80, 4))
    errors = shared + 10.0 ** own.uniform(-12, -1, (120, 1, 1)) * own.standard_normal((120, 80, 4))
    found = mix_by_squares(errors, np.arange(80) % 5)
    assert np.allclose(found.weights.sum(axis=0), 1.0)


def test_one_member():
    assert mix_by_squares(residuals(0, members=1), FOLDS).weights.tolist() == [1.0]
    points = [rng.standard_normal((60, 1))]
    assert mix_by_loss(lambda mixed, rows: mixed[:, 0] ** 2, points, FOLDS).weights.tolist() == [1.0]


# -- a loss of decoded points ---------------------------------------------------------------------------------


TRUTH = np.sign(rng.standard_normal(200))
SIGNS = np.arange(200) % 5


def wrong(points, rows):
    return (np.sign(points[:, 0]) != TRUTH[rows]).astype(float)


def noisy(seed, size):
    return (TRUTH + size * np.random.default_rng(10 + seed).standard_normal(200))[:, None]


def test_greedy_or_mean_beats_the_best_where_errors_are_independent():
    points = [noisy(seed, 1.5) for seed in range(4)]
    found = mix_by_loss(wrong, points, SIGNS)
    rows = np.arange(200)
    assert found.rule != "best"
    assert wrong(found.apply(points), rows).mean() < min(wrong(own, rows).mean() for own in points)
    assert found.weights.sum() == pytest.approx(1.0)


def test_the_best_where_others_are_noise():
    points = [TRUTH[:, None], *(1e-9 * noisy(seed, 30.0) for seed in range(3))]
    points[1:] = [1e3 * np.random.default_rng(seed).standard_normal((200, 1)) for seed in range(3)]
    found = mix_by_loss(wrong, points, SIGNS)
    assert found.weights.tolist() == [1.0, 0.0, 0.0, 0.0]


def test_permuted_members_and_pairs_of_a_loss():
    points, order, pairs = [noisy(seed, 1.0 + seed) for seed in range(4)], [2, 0, 3, 1], rng.permutation(200)

    def moved(mixed, rows):
        return (np.sign(mixed[:, 0]) != TRUTH[pairs][rows]).astype(float)

    found = mix_by_loss(wrong, points, SIGNS)
    assert np.allclose(mix_by_loss(wrong, [points[m] for m in order], SIGNS).weights, found.weights[order])
    assert np.allclose(mix_by_loss(moved, [own[pairs] for own in points], SIGNS[pairs]).weights, found.weights)


def test_weights_of_least_squares_compete():
    points = [TRUTH[:, None] + own for own in residuals(5, 3, 200, 1)]
    found = mix_by_loss(lambda mixed, rows: (mixed[:, 0] - TRUTH[rows]) ** 2, points, SIGNS, residuals(5, 3, 200, 1))
    assert set(found.checked) == {"best", "greedy", "five", "squares"}
    assert found.checked["squares"] < found.checked["best"]


def test_folds_of_the_check():
    assert np.bincount(check_folds(23)).tolist() == [5, 5, 5, 4, 4]
    assert sorted(check_folds(3).tolist()) == [0, 1, 2]
    assert sorted(check_folds(2).tolist()) == [0, 1]
    groups = np.repeat(np.arange(7), 3)
    folds = check_folds(21, groups)
    assert all(len(set(folds[groups == group])) == 1 for group in range(7))
    assert len(set(folds)) == 5


def test_checked_residuals_are_those_of_the_checked_loss():
    errors = residuals(3)
    found = mix_by_squares(errors, FOLDS)
    assert np.sum(found.residuals**2) / 60 == pytest.approx(found.checked[found.rule])


def test_checked_residuals_of_a_fold_have_the_weights_of_the_others():
    errors = residuals(3)
    changed = errors.copy()
    changed[:, FOLDS == 2] = errors[[2, 0, 1]][:, FOLDS == 2]
    first, second = mix_by_squares(errors, FOLDS), mix_by_squares(changed, FOLDS)
    assert first.rule == second.rule == "averaged"
    own = mixing._averaged(np.stack([_gram(errors, f) for f in (0, 1, 3, 4)]), False)
    for found, rows in ((first, errors), (second, changed)):
        expected = np.einsum("mr,mnr->nr", np.broadcast_to(own, (3, 2)), rows[:, FOLDS == 2])
        np.testing.assert_allclose(found.residuals[FOLDS == 2], expected)


def _gram(errors, fold):
    part = errors[:, fold == FOLDS]
    return np.einsum("mnr,knr->rmk", part, part)


def test_supported_share_of_a_gain_of_a_loss_and_of_noise():
    signal, noise = rng.standard_normal((400, 2)), rng.standard_normal((400, 2))
    truth = signal + 0.5 * noise
    assert supported_share(truth, truth - signal) > 0.9
    assert supported_share(truth, truth + signal) == 0.0
    far = supported_share(truth, truth - 4.0 * signal)
    assert 0.22 < far < 0.28  # a quarter of the way is right
    assert supported_share(truth, truth) == 1.0


def test_supported_share_is_less_for_few_pairs_and_for_copies():
    signal, noise = rng.standard_normal((200, 1)), rng.standard_normal((200, 1))
    plain, mixed = signal + noise, noise
    shares = [supported_share(plain[:n], mixed[:n]) for n in (10, 200)]
    assert shares[0] < shares[1]
    copied = np.repeat(plain[:10], 20, axis=0), np.repeat(mixed[:10], 20, axis=0)
    assert supported_share(*copied, groups=np.repeat(np.arange(10), 20)) == pytest.approx(shares[0])
    assert supported_share(*copied, sample_weight=np.full(200, 3.0)) > shares[0]


def test_rules_for_losses_tell_what_they_leave_of_pairs_their_weights_were_not_found_on():
    errors = residuals(3)
    targets = np.zeros(errors.shape[1:])

    def loss(mixed, rows):
        return np.sum((mixed - targets[rows]) ** 2, axis=1)

    found = mix_by_loss(loss, list(errors), FOLDS, errors)
    assert found.residuals.shape == errors.shape[1:]
    assert np.mean(loss(found.residuals, np.arange(60))) == pytest.approx(found.checked[found.rule])
    assert mix_by_loss(loss, list(errors), FOLDS).residuals is None
