"""Gated units, compiled: words laid out step by step, states from one end to the other, and slopes back.

The words of a batch are sorted by length, longest first, and lie step by step: row ``starts[t] + k`` is the t-th symbol of word
k, and there are as many rows of step t as words that are so long. Read from the end, the same rows are those of the t-th last
symbols.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mercer.core.compiled import compiled
from mercer.sequence_models.network_loops import tangent


class Words(NamedTuple):
    """Symbols and chunks of words one after the other; word i is at ``starts[i]`` to ``starts[i + 1]``."""

    symbols: np.ndarray
    chunks: np.ndarray
    starts: np.ndarray


class Layout(NamedTuple):
    """The rows of a batch: where each step starts; the row of the same symbol from the other end; symbols and chunks."""

    starts: np.ndarray
    other: np.ndarray
    symbols: np.ndarray
    chunks: np.ndarray


@compiled
def laid_out(words: Words, chosen: np.ndarray) -> Layout:
    """Lay the chosen words out step by step, the longest first."""
    sizes = words.starts[chosen + 1] - words.starts[chosen]
    order = np.argsort(-sizes, kind="mergesort")
    chosen, sizes = chosen[order], sizes[order]
    starts = np.zeros(sizes[0] + 1, dtype=np.int64)
    for t in range(sizes[0]):
        starts[t + 1] = starts[t] + np.sum(sizes > t)
    rows = starts[-1]
    other, symbols, chunks = np.empty(rows, np.int64), np.empty(rows, np.int64), np.empty(rows, np.int64)
    for k in range(len(chosen)):
        for t in range(sizes[k]):
            row = starts[t] + k
            other[row] = starts[sizes[k] - 1 - t] + k
            symbols[row] = words.symbols[words.starts[chosen[k]] + t]
            chunks[row] = words.chunks[words.starts[chosen[k]] + t]
    return Layout(starts, other, symbols, chunks)


@compiled(error_model="numpy")
def _gate(  # noqa: PLR0913
    from_input: np.ndarray, row: int, place: int, again: np.ndarray, held: np.ndarray, before: np.ndarray
) -> None:
    """Turn `again`, what is added from the state before, and the input into the gates of one word, and the state into the next.

    `again` then holds the reset and update gates and the proposal, `before` the state; the rest is needed for slopes.
    """
    units, half, one = len(before), np.float32(0.5), np.float32(1.0)
    for k in range(units):
        reset = half + half * tangent(half * (from_input[row, place + k] + again[k]))
        update = half + half * tangent(half * (from_input[row, place + units + k] + again[units + k]))
        kept = again[2 * units + k] + held[k]
        proposal = tangent(from_input[row, place + 2 * units + k] + reset * kept)
        again[k], again[units + k], again[2 * units + k] = reset, update, proposal
        again[3 * units + k] = kept
        before[k] = (one - update) * proposal + update * before[k]


@compiled
def run(  # noqa: PLR0913
    from_input: np.ndarray,
    place: int,
    rows: np.ndarray,
    starts: np.ndarray,
    again: np.ndarray,
    held: np.ndarray,
    gates: np.ndarray,
    states: np.ndarray,
) -> None:
    r"""Run the gated units of one direction over the rows of a batch.

    .. math:: h_t = (1 - u_t) n_t + u_t h_{t-1}, \quad n_t = \tanh(W x_t + r_t (U h_{t-1} + b))

    `gates` gets r, u, n and U h + b of each row, `states` the state h.
    """
    units = states.shape[1]
    added = np.zeros((starts[1], 3 * units), np.float32)
    for t in range(len(starts) - 1):
        first, number = starts[t], starts[t + 1] - starts[t]
        if t:
            last = starts[t - 1]
            np.dot(states[last : last + number], again, added[:number])
        for k in range(number):
            row = first + k
            for j in range(3 * units):
                gates[row, j] = added[k, j] if t else np.float32(0.0)
            for j in range(units):
                states[row, j] = states[starts[t - 1] + k, j] if t else np.float32(0.0)
            _gate(from_input, rows[row], place, gates[row], held, states[row])


@compiled(error_model="numpy")
def run_back(  # noqa: PLR0913
    by_states: np.ndarray,
    by_input: np.ndarray,
    place: int,
    rows: np.ndarray,
    starts: np.ndarray,
    again: np.ndarray,
    gates: np.ndarray,
    states: np.ndarray,
    by_again: np.ndarray,
    by_held: np.ndarray,
) -> None:
    """Turn slopes in the states into those in the input, in the weights from state to state, and in the offset."""
    units, one = states.shape[1], np.float32(1.0)
    before = np.zeros_like(states)
    added = np.empty((len(states), 3 * units), np.float32)
    back = np.empty((starts[1], units), np.float32)
    for t in range(len(starts) - 2, -1, -1):
        first, number = starts[t], starts[t + 1] - starts[t]
        for k in range(number):
            row = first + k
            for j in range(units):
                reset, update = gates[row, j], gates[row, units + j]
                proposal, kept = gates[row, 2 * units + j], gates[row, 3 * units + j]
                earlier = states[starts[t - 1] + k, j] if t else np.float32(0.0)
                slope = by_states[row, j]
                by_proposal = slope * (one - update) * (one - proposal * proposal)
                by_update = slope * (earlier - proposal) * update * (one - update)
                by_reset = by_proposal * kept * reset * (one - reset)
                before[row, j] = earlier
                added[row, j], added[row, units + j] = by_reset, by_update
                added[row, 2 * units + j] = by_proposal * reset
                by_input[rows[row], place + j] = by_reset
                by_input[rows[row], place + units + j] = by_update
                by_input[rows[row], place + 2 * units + j] = by_proposal
                by_held[j] += by_proposal * reset
        if t:
            last = starts[t - 1]
            np.dot(added[first : first + number], again.T, back[:number])
            for k in range(number):
                for j in range(units):
                    by_states[last + k, j] += back[k, j] + by_states[first + k, j] * gates[first + k, units + j]
    np.dot(before.T, added, by_again)
