"""Compiled loops of recurrent networks that read words from both ends, and the slopes of all weights."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mercer.core.compiled import compiled
from mercer.sequence_models.gated_units import Layout, Words, laid_out, run, run_back
from mercer.sequence_models.network_loops import (
    ClassFeatures,
    ClassRoom,
    Options,
    Outward,
    add_slopes_of_classes,
    add_to_vectors,
    bend,
    join_vectors,
    keep,
    step_down,
    unbend,
)

BACK = 2  # chunks chosen before, in the order of reading
_STEEPEST = 1.0  # longest slope of a step; a longer one is shortened


class Weights(NamedTuple):
    """The weights of a recurrent network; the two directions, and the two orders of choosing, one after the other.

    d is the length of a vector, g the gated units of each direction, h the hidden units of each order.
    """

    vectors: np.ndarray  # (symbols, d)
    chunk_vectors: np.ndarray  # (chunks, d)
    gates: np.ndarray  # (d, 6 g): reset, update and proposal, from the start, then from the end
    gate_offsets: np.ndarray  # (1, 6 g)
    ahead: np.ndarray  # (g, 3 g)
    behind: np.ndarray  # (g, 3 g)
    held: np.ndarray  # (2, g)
    inward: np.ndarray  # (2 g, 2 h)
    offsets: np.ndarray  # (1, 2 h)
    histories: np.ndarray  # (BACK d, 2 h)
    outward: np.ndarray  # (classes + features, h)
    bias: np.ndarray  # (1, classes)


class Read(NamedTuple):
    """A batch as gated units read it: vectors that they see, gates and states from the start, and from the end."""

    kept: np.ndarray
    seen: np.ndarray
    gates_ahead: np.ndarray
    ahead: np.ndarray
    gates_behind: np.ndarray
    behind: np.ndarray


@compiled
def learn_pass(  # noqa: PLR0913
    weights: Weights,
    slopes: Weights,
    moments: tuple[np.ndarray, ...],
    words: Words,
    order: np.ndarray,
    options: Options,
    features: ClassFeatures,
    room: ClassRoom,
    plan: tuple[int, float, float, int, int],
    state: np.ndarray,
) -> int:
    """Go once through the words in an order, a step down for each batch, and return the number of steps done so far."""
    batch, dropout, rate, done, steps = plan
    flat, slope, mean, square = moments
    units, hidden = weights.ahead.shape[0], weights.outward.shape[1]
    for begin in range(0, len(order), batch):
        layout = laid_out(words, order[begin : begin + batch])
        rows = len(layout.symbols)
        slope[:] = 0.0
        read = _read(weights, layout, dropout, state)
        kept = _kept(rows, 2 * units, dropout, state)
        seen = np.empty_like(kept)
        for b in range(rows):
            for k in range(units):
                seen[b, k] = read.ahead[b, k] * kept[b, k]
                seen[b, units + k] = read.behind[layout.other[b], k] * kept[b, units + k]
        from_states = np.dot(seen, weights.inward)
        for side in range(2):
            mine, number = slice(side * hidden, (side + 1) * hidden), 2 * done + side
            layer = np.ascontiguousarray(from_states[:, mine])
            given = (layout, side, options, features, room, number, dropout, state)
            from_states[:, mine] = _choose(weights, slopes, layer, *given)
        np.dot(seen.T, from_states, slopes.inward)
        by_states = np.dot(from_states, weights.inward.T)
        by_ahead, by_behind = np.empty((rows, units), np.float32), np.empty((rows, units), np.float32)
        for b in range(rows):
            for k in range(units):
                by_ahead[b, k] = by_states[b, k] * kept[b, k]
                by_behind[layout.other[b], k] = by_states[b, units + k] * kept[b, units + k]
        _read_back(weights, slopes, layout, read, by_ahead, by_behind)
        done += 1
        _shorten(slope)
        step_down(flat, slope, mean, square, rate * (1.0 - (done - 1) / steps), done)
    return done


@compiled
def _read(weights: Weights, layout: Layout, dropout: float, state: np.ndarray) -> Read:
    """Read the words of a batch from both ends."""
    rows, units, size = len(layout.symbols), weights.ahead.shape[0], weights.vectors.shape[1]
    kept = _kept(rows, size, dropout, state)
    seen = np.empty_like(kept)
    join_vectors(weights.vectors, layout.symbols.reshape(-1, 1), kept, seen)
    from_input = np.dot(seen, weights.gates)
    _add_to_rows(from_input, weights.gate_offsets[0])
    gates_ahead, gates_behind = np.empty((rows, 4 * units), np.float32), np.empty((rows, 4 * units), np.float32)
    ahead, behind = np.empty((rows, units), np.float32), np.empty((rows, units), np.float32)
    run(from_input, 0, np.arange(rows), layout.starts, weights.ahead, weights.held[0], gates_ahead, ahead)
    run(from_input, 3 * units, layout.other, layout.starts, weights.behind, weights.held[1], gates_behind, behind)
    return Read(kept, seen, gates_ahead, ahead, gates_behind, behind)


@compiled
def _read_back(  # noqa: PLR0913
    weights: Weights, slopes: Weights, layout: Layout, read: Read, by_ahead: np.ndarray, by_behind: np.ndarray
) -> None:
    """Turn slopes in the states of both directions into those of the weights that lead to them."""
    rows, units = len(layout.symbols), weights.ahead.shape[0]
    by_input = np.empty((rows, 6 * units), np.float32)
    ahead = (layout.starts, weights.ahead, read.gates_ahead, read.ahead, slopes.ahead, slopes.held[0])
    run_back(by_ahead, by_input, 0, np.arange(rows), *ahead)
    behind = (layout.starts, weights.behind, read.gates_behind, read.behind, slopes.behind, slopes.held[1])
    run_back(by_behind, by_input, 3 * units, layout.other, *behind)
    np.dot(read.seen.T, by_input, slopes.gates)
    _add_rows(slopes.gate_offsets[0], by_input)
    by_seen = np.dot(by_input, weights.gates.T)
    add_to_vectors(slopes.vectors, layout.symbols.reshape(-1, 1), read.kept, by_seen)


@compiled
def _choose(  # noqa: PLR0913
    weights: Weights,
    slopes: Weights,
    layer: np.ndarray,
    layout: Layout,
    side: int,
    options: Options,
    features: ClassFeatures,
    room: ClassRoom,
    number: int,
    dropout: float,
    state: np.ndarray,
) -> np.ndarray:
    """Choose chunks in one order, from what states add to the hidden layer; return the slope in it, and add those of weights."""
    rows, hidden, size = len(layer), weights.outward.shape[1], weights.vectors.shape[1]
    mine = slice(side * hidden, (side + 1) * hidden)
    chunks = _chunks_before(layout, side, len(weights.chunk_vectors) - 1)
    kept_in, kept = _kept(rows, BACK * size, dropout, state), _kept(rows, hidden, dropout, state)
    seen_in, seen, by_layer = np.empty_like(kept_in), np.empty_like(layer), np.empty_like(layer)
    join_vectors(weights.chunk_vectors, chunks, kept_in, seen_in)
    history = np.ascontiguousarray(weights.histories[:, mine])
    layer += np.dot(seen_in, history)
    bend(layer, weights.offsets[:, mine], kept, seen)
    into, by_into = Outward(weights.outward, weights.bias), Outward(slopes.outward, slopes.bias)
    known = (layout.chunks, layout.symbols, options, features, into, by_into, room, number, np.float32(1.0 / rows))
    add_slopes_of_classes(seen, by_layer, *known)
    unbend(by_layer, layer, kept, slopes.offsets[:, mine])
    slopes.histories[:, mine] += np.dot(seen_in.T, by_layer)
    add_to_vectors(slopes.chunk_vectors, chunks, kept_in, np.dot(by_layer, history.T))
    return by_layer


@compiled
def states_of(weights: Weights, vectors: np.ndarray) -> np.ndarray:
    """Return what the gated units make of the vectors of a word, from its start and from its end: (symbols, 2 g)."""
    rows, units = len(vectors), weights.ahead.shape[0]
    from_input = np.dot(vectors, weights.gates)
    _add_to_rows(from_input, weights.gate_offsets[0])
    found, starts = np.empty((rows, 2 * units), np.float32), np.arange(rows + 1)
    gates, states = np.empty((rows, 4 * units), np.float32), np.empty((rows, units), np.float32)
    plain = np.arange(rows)
    run(from_input, 0, plain, starts, weights.ahead, weights.held[0], gates, states)
    found[:, :units] = states
    run(from_input, 3 * units, plain[::-1].copy(), starts, weights.behind, weights.held[1], gates, states)
    found[:, units:] = states[::-1]
    return found


@compiled
def _kept(rows: int, columns: int, dropout: float, state: np.ndarray) -> np.ndarray:
    kept = np.empty((rows, columns), np.float32)
    keep(kept, dropout, state)
    return kept


@compiled
def _chunks_before(layout: Layout, side: int, none: int) -> np.ndarray:
    """Return the chunks chosen before that of each row, the last first; on side 1 they are chosen from the end."""
    chunks = np.empty((len(layout.symbols), BACK), np.int64)
    for t in range(len(layout.starts) - 1):
        for row in range(layout.starts[t], layout.starts[t + 1]):
            k = row - layout.starts[t]
            for j in range(BACK):
                step = t - 1 - j if side == 0 else t + 1 + j
                inside = 0 <= step < len(layout.starts) - 1 and layout.starts[step] + k < layout.starts[step + 1]
                chunks[row, j] = layout.chunks[layout.starts[step] + k] if inside else none
    return chunks


@compiled
def _add_to_rows(rows: np.ndarray, what: np.ndarray) -> None:
    for b in range(len(rows)):
        for k in range(len(what)):
            rows[b, k] += what[k]


@compiled
def _add_rows(total: np.ndarray, rows: np.ndarray) -> None:
    for b in range(len(rows)):
        for k in range(len(total)):
            total[k] += rows[b, k]


@compiled(fastmath=True)
def _shorten(slope: np.ndarray) -> None:
    """Shorten a slope that is longer than allowed."""
    total = np.float32(0.0)
    for k in range(len(slope)):
        total += slope[k] * slope[k]
    length = np.sqrt(total)
    if length > _STEEPEST:
        factor = np.float32(_STEEPEST) / length
        for k in range(len(slope)):
            slope[k] *= factor
