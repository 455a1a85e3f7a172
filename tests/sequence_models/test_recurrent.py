"""Recurrent networks: a naive twin, the slope against finite differences, rules learned that lie far away, threads and seeds."""

from itertools import pairwise

import numpy as np
import pytest

from mercer.sequence_models.gated_units import Words, laid_out
from mercer.sequence_models.network_loops import OWN
from mercer.sequence_models.recurrent import RecurrentNetworks
from mercer.sequence_models.recurrent_loops import BACK

rng = np.random.default_rng(0)
SYMBOLS, CHUNKS = 5, 6
FEATURES = rng.integers(0, 2, (CHUNKS, 2)).astype(float)


def words_of(codes, chunks):
    starts = np.concatenate([[0], np.cumsum([len(word) for word in codes])])
    return Words(np.concatenate(codes), np.concatenate(chunks), starts)


def drawn(number, rule):
    codes = [rng.integers(0, SYMBOLS, size) for size in rng.integers(1, 7, number)]
    return codes, [rule(word) for word in codes]


def allowed_in(words):
    allowed = np.zeros((SYMBOLS, CHUNKS), dtype=bool)
    allowed[words.symbols, words.chunks] = True
    return allowed


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def naive_run(inputs, again, held):
    """Run gated units over the rows of one word, one symbol at a time."""
    g, state, found = len(held), np.zeros(len(held)), []
    for x in inputs:
        from_state = state @ again
        reset, update = sigmoid(x[:g] + from_state[:g]), sigmoid(x[g : 2 * g] + from_state[g : 2 * g])
        proposal = np.tanh(x[2 * g :] + reset * (from_state[2 * g :] + held))
        state = (1 - update) * proposal + update * state
        found.append(state)
    return np.stack(found)


def naive_loss(networks, flat, words, allowed):
    """Return the mean over symbols of −log p(chunk), summed over both sides, by one network."""
    weights = networks._parts(flat)
    g, h, d = networks.units, networks.hidden, networks.size
    into = OWN * weights.outward[:CHUNKS] + networks.features_.astype(float) @ weights.outward[CHUNKS:]
    total = 0.0
    for first, last in zip(words.starts[:-1], words.starts[1:], strict=True):
        symbols, chunks = words.symbols[first:last], words.chunks[first:last].tolist()
        inputs = weights.vectors[symbols] @ weights.gates + weights.gate_offsets
        ahead = naive_run(inputs[:, : 3 * g], weights.ahead, weights.held[0])
        behind = naive_run(inputs[::-1, 3 * g :], weights.behind, weights.held[1])[::-1]
        before = np.hstack([ahead, behind]) @ weights.inward + weights.offsets
        for i, symbol in enumerate(symbols):
            for side, step in ((0, -1), (1, 1)):
                layer = before[i, side * h : (side + 1) * h].copy()
                for back in range(BACK):
                    j = i + step * (back + 1)
                    chunk = chunks[j] if 0 <= j < len(chunks) else CHUNKS
                    place = weights.histories[back * d : (back + 1) * d, side * h : (side + 1) * h]
                    layer += weights.chunk_vectors[chunk] @ place
                scores = np.tanh(layer) @ into.T + weights.bias[0]
                own = scores[allowed[symbol]]
                total += np.log(np.exp(own - own.max()).sum()) + own.max() - scores[chunks[i]]
    return total / len(words.symbols)


def copied(word):
    return (word + np.roll(word, 1)) % CHUNKS


def test_the_slope_is_that_of_a_naive_twin():
    words = words_of(*drawn(30, copied))
    allowed = allowed_in(words)
    networks = RecurrentNetworks(members=1, size=3, units=4, hidden=5, dropout=0.0, epochs=1, batch=30, rate=0.0)
    networks.fit(words, allowed, FEATURES)
    networks.weights_ *= 0.5  # a slope that is not shortened
    slope, flat = networks._descend(0, words, allowed), networks.weights_[0].astype(float)
    assert np.linalg.norm(slope) < 1.0
    for name, part in zip(networks._parts(slope)._fields, networks._parts(slope), strict=True):
        assert np.any(part), name
    ends = np.cumsum([0, *(int(np.prod(shape)) for shape in networks.shapes_)])
    for first, last in pairwise(ends):  # some weights of each part
        for place in rng.choice(np.arange(first, last), min(8, last - first), replace=False):
            sides = []
            for change in (1e-5, -1e-5):
                moved = flat.copy()
                moved[place] += change
                sides.append(naive_loss(networks, moved, words, allowed))
            assert (sides[0] - sides[1]) / 2e-5 == pytest.approx(slope[place], abs=2e-6)


def test_steep_slopes_are_shortened():
    words = words_of(*drawn(30, copied))
    networks = RecurrentNetworks(members=1, size=3, units=4, hidden=5, dropout=0.0, epochs=1, batch=30, rate=0.0)
    networks.fit(words, allowed_in(words), FEATURES)
    networks.weights_ *= 6.0
    slope = networks._descend(0, words, allowed_in(words))
    assert np.linalg.norm(slope) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("side", [0, 1])
def test_probabilities_are_those_of_a_naive_twin(side):
    words = words_of(*drawn(20, copied))
    allowed = np.ones((SYMBOLS, CHUNKS), dtype=bool)
    networks = RecurrentNetworks(members=2, size=3, units=4, hidden=5, epochs=3).fit(words, allowed, FEATURES)
    word, chunks = np.asarray([1, 3, 0, 4]), [2, 5, 0, 1]
    before = networks.before_hidden(word, side)
    step = 1 if side else -1
    logs = []
    for i in range(4):
        layer = before[:, i : i + 1].copy()
        for back in range(BACK):
            j = i + step * (back + 1)
            layer += networks.table(back, side)[:, [chunks[j] if 0 <= j < 4 else CHUNKS]]
        logs.append(networks.readout().log_probabilities(layer, np.arange(CHUNKS))[0])
    assert np.allclose(np.exp(logs).sum(axis=1), 1.0)
    both = []
    for member in range(2):
        one = [words_of([word], [np.asarray(chunks)])]
        both.append(naive_loss(networks, networks.weights_[member].astype(float), *one, allowed))
    alone = RecurrentNetworks(members=1, size=3, units=4, hidden=5)
    for member, right in enumerate(both):  # −log p over both sides
        alone.__dict__ |= networks.__dict__ | {"members": 1, "weights_": networks.weights_[[member]]}
        total = 0.0
        for other in (0, 1):
            for i in range(4):
                layer = alone.before_hidden(word, other)[:, i : i + 1].copy()
                for back in range(BACK):
                    j = i + (1 if other else -1) * (back + 1)
                    layer += alone.table(back, other)[:, [chunks[j] if 0 <= j < 4 else CHUNKS]]
                total -= alone.readout().log_probabilities(layer, np.arange(CHUNKS))[0, chunks[i]]
        assert total / 4 == pytest.approx(right, abs=1e-5)


def test_rows_of_a_batch():
    codes = [np.asarray([1, 2]), np.asarray([3]), np.asarray([4, 0, 2])]
    layout = laid_out(words_of(codes, codes), np.asarray([0, 1, 2]))
    assert layout.starts.tolist() == [0, 3, 5, 6]
    assert layout.symbols.tolist() == [4, 1, 3, 0, 2, 2]  # the longest word first, step by step
    assert layout.symbols[layout.other].tolist() == [2, 2, 3, 0, 1, 4]  # from the end


def test_what_stands_far_away_is_learned():
    def rule(word):  # the first symbol decides the last chunk, the last symbol the first
        chunks = np.zeros_like(word)
        chunks[-1], chunks[0] = word[0] % 2, 2 + word[-1] % 2
        return chunks

    def long(number):
        codes = [rng.integers(0, SYMBOLS, size) for size in rng.integers(8, 12, number)]
        return codes, [rule(word) for word in codes]

    words = words_of(*long(300))
    allowed = np.ones((SYMBOLS, CHUNKS), dtype=bool)
    networks = RecurrentNetworks(members=1, epochs=60, dropout=0.1).fit(words, allowed, np.zeros((CHUNKS, 1)))
    right = 0
    for word, chunks in zip(*long(50), strict=True):
        scores = []
        for place, back in ((-1, chunks[-2::-1]), (0, [])):
            layer = networks.before_hidden(word, 0)[:, [place]].copy()
            for j in range(BACK):
                layer += networks.table(j, 0)[:, [back[j] if j < len(back) else CHUNKS]]
            scores.append(networks.readout().log_probabilities(layer, np.arange(CHUNKS))[0].argmax())
        right += scores == [chunks[-1], chunks[0]]
    assert right >= 45


def test_seeds_decide_and_the_order_of_parts_does_not():
    words = words_of(*drawn(30, copied))
    given = (words, allowed_in(words), FEATURES)
    one = RecurrentNetworks(2, epochs=2).fit(*given)
    other, third = RecurrentNetworks(2, epochs=2), RecurrentNetworks(2, epochs=2, seed=1).fit(*given)
    for part in other.start(*given)[::-1]:
        part()
    assert np.array_equal(one.weights_, other.weights_)
    assert not np.array_equal(one.weights_, third.weights_)
    assert not np.array_equal(one.weights_[0], one.weights_[1])


def test_unknown_symbols_have_the_vector_zero():
    words = words_of(*drawn(30, copied))
    networks = RecurrentNetworks(1, epochs=2).fit(words, allowed_in(words), FEATURES)
    assert not networks._parts(networks.weights_[0]).vectors[-1].any()
    assert np.array_equal(networks.before_hidden([0, -1], 0), networks.before_hidden([0, SYMBOLS], 0))


def test_with_nothing_to_choose_nothing_is_learned():
    codes = [np.asarray([0, 1]), np.asarray([1])]
    words = words_of(codes, codes)
    assert RecurrentNetworks(2).start(words, allowed_in(words), FEATURES) == []


def test_learning_lowers_the_loss():
    words = words_of(*drawn(60, copied))
    losses = []
    for epochs in (1, 30):
        networks = RecurrentNetworks(1, epochs=epochs).fit(words, allowed_in(words), FEATURES)
        losses.append(naive_loss(networks, networks.weights_[0].astype(float), words, allowed_in(words)))
    assert losses[1] < 0.5 * losses[0]


def test_many_symbols_have_fewer_passes():
    assert [RecurrentNetworks(epochs=80).passes(n) for n in (10, 6000, 12000, 60000)] == [80, 80, 46, 13]


@pytest.mark.parametrize("wrong", [{"units": 5}, {"size": 2}, {"shapes_": [(2, 3)] * 12}])
def test_saved_weights_must_fit(wrong):
    words = words_of(*drawn(10, copied))
    networks = RecurrentNetworks(1, size=3, units=4, hidden=5, epochs=1).fit(words, allowed_in(words), FEATURES)
    again = RecurrentNetworks.__new__(RecurrentNetworks)
    again.__setstate__(vars(networks))
    assert np.array_equal(again.before_hidden([1, 2], 0), networks.before_hidden([1, 2], 0))
    with pytest.raises(ValueError, match="weights of saved networks do not fit their parameters"):
        again.__setstate__(vars(networks) | wrong)
