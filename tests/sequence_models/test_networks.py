"""Networks: the slope against finite differences, rules learned, and probabilities."""

import numpy as np
import pytest

from mercer.sequence_models.network_loops import bend
from mercer.sequence_models.networks import Networks, Task

rng = np.random.default_rng(0)
ROWS = rng.integers(0, 6, (240, 3))
CLASSES = (ROWS[:, 0] // 2 + (ROWS[:, 2] == 5)) % 4
FEATURES = rng.integers(0, 2, (4, 2)).astype(float)
ALLOWED, KINDS = np.ones((1, 4), dtype=bool), np.zeros(240, dtype=np.int64)
TASK = Task(ROWS, CLASSES, KINDS, ALLOWED)


def probabilities(networks, rows, classes=(0, 1, 2, 3)):
    before = networks.before_hidden(rows)
    return networks.readout().log_probabilities(before, np.asarray(classes))


def test_the_slope_is_that_of_the_loss():
    networks = Networks(members=1, size=3, hidden=5, dropout=0.0, epochs=1, batch=len(ROWS), rate=0.0)
    task = Task(ROWS, CLASSES, np.arange(240) % 2, np.asarray([[True] * 4, [True] * 4]))
    networks.fit(task, 6, FEATURES)
    slope = networks._descend(0, task)  # a step of length zero
    networks.weights_, networks.features_ = networks.weights_.astype(float), networks.features_.astype(float)

    def loss():
        return -np.mean(probabilities(networks, ROWS)[np.arange(len(ROWS)), CLASSES])

    for place in rng.choice(len(slope), 25, replace=False):
        sides = []
        for change in (1e-5, -2e-5):
            networks.weights_[0, place] += change
            sides.append(loss())
        networks.weights_[0, place] += 1e-5
        assert (sides[0] - sides[1]) / 2e-5 == pytest.approx(slope[place], abs=1e-6)


def test_the_tangent_in_polynomials():
    layer = np.linspace(-12.0, 12.0, 999, dtype=np.float32)[:, None]
    offset, kept, seen = np.float32([[0.5]]), np.full_like(layer, 2.0), np.empty_like(layer)
    right = np.tanh(layer + 0.5)
    bend(layer, offset, kept, seen)
    assert np.allclose(layer, right, atol=5e-7)
    assert np.array_equal(seen, 2.0 * layer)


def test_classes_a_kind_cannot_have_get_no_slope():
    allowed = np.asarray([[True, True, False, True], [True, True, False, False]])
    classes = np.where(np.arange(240) % 2, CLASSES % 2, np.where(CLASSES == 2, 3, CLASSES))
    task = Task(ROWS, classes, np.arange(240) % 2, allowed)
    networks = Networks(members=1, epochs=3).fit(task, 6, np.zeros((4, 1)))
    start = Networks(members=1, epochs=3, rate=0.0).fit(task, 6, np.zeros((4, 1)))
    changed = np.abs(networks._parts(networks.weights_[0]).outward - start._parts(start.weights_[0]).outward).sum(
        axis=1
    )
    assert changed[2] == 0.0
    assert (changed[[0, 1, 3]] > 0.0).all()


def test_a_rule_is_learned():
    networks = Networks(members=2, epochs=100).fit(TASK, 6, FEATURES)
    new = np.random.default_rng(1).integers(0, 6, (60, 3))
    right = (new[:, 0] // 2 + (new[:, 2] == 5)) % 4
    before = probabilities(networks, new)
    assert np.allclose(np.exp(before).sum(axis=1), 1.0)
    assert np.mean(before.argmax(axis=1) == right) > 0.9


def test_seeds_decide_and_threads_do_not():
    one, other, third = (
        Networks(2, epochs=2, seed=seed, n_jobs=jobs).fit(TASK, 6, FEATURES) for seed, jobs in ((0, 1), (0, 2), (1, 1))
    )
    assert np.array_equal(one.weights_, other.weights_)
    assert not np.array_equal(one.weights_, third.weights_)
    assert not np.array_equal(one.weights_[0], one.weights_[1])


def test_symbols_of_one_effect_get_vectors_that_are_alike():
    networks = Networks(members=1, epochs=60).fit(TASK, 6, FEATURES)
    effects = networks.before_hidden(np.arange(6)[:, None])[
        0
    ]  # symbols 0 and 1 have one effect in the first column, 2 another
    assert np.linalg.norm(effects[0] - effects[1]) < np.linalg.norm(effects[0] - effects[2])


def test_many_rows_have_fewer_passes():
    assert [Networks(epochs=60).passes(n) for n in (10, 6000, 24000)] == [60, 60, 30]


def test_with_nothing_to_choose_nothing_is_learned():
    only = Task(ROWS, np.zeros(240, dtype=np.int64), KINDS, np.asarray([[True, False, False, False]]))
    networks = Networks(members=1, epochs=3).fit(only, 6, FEATURES)
    assert np.array_equal(probabilities(networks, ROWS[:2], [0]), np.zeros((2, 1)))
