"""The dynamic programme of the subsequence kernel, on many pairs of strings at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mercer.core.compiled import compiled
from mercer.core.threads import in_threads
from mercer.kernels.strings._lanes import END_LEFT, END_RIGHT, LANES, longest_first, on_lines, packed, used
from mercer.kernels.strings._lengths import occurring
from mercer.structures.sequences import Codes

_SMALL = 2e6
"""Cells of the programme, about a millisecond, for which a second thread is not worth starting."""


class Workspace(NamedTuple):
    """What one thread writes to, allocated before its loop."""

    repeated: np.ndarray
    """A string, the same in all lanes."""
    prefix: np.ndarray
    """K′ of Lodhi et al.: entry [i, k] for subsequences of length i and k symbols of the right."""
    running: np.ndarray
    """K″ of Lodhi et al. for the current symbols."""
    total: np.ndarray
    """The kernel values."""

    @classmethod
    def sized(cls, length: int, left: int, right: int) -> Workspace:
        """Room for subsequences of `length` in strings of up to `left` and `right` symbols."""
        repeated, prefix = on_lines((left, LANES), np.int32), on_lines((length, right + 1, LANES))
        return cls(repeated, prefix, on_lines((LANES,)), on_lines((LANES,)))


def subsequence_gram(X: Codes, Z: Codes | None, lengths: range, decay: float) -> np.ndarray:
    """The kernel of all strings of `X` with all of `Z`; without `Z`, of `X` with itself."""
    columns = X if Z is None else Z
    row_order, column_order = longest_first(X), longest_first(columns)
    blocks = packed(columns, column_order, END_RIGHT)
    symbols = X.symbols.astype(np.int32)  # one type for all, so that the loop is compiled once
    gram = np.zeros((len(row_order), len(column_order)))
    longest = int(X.lengths.max())
    lengths = occurring(lengths, min(longest, int(columns.lengths.max())))
    if lengths[0] > longest:
        return gram
    shares = _shares(lengths, decay)

    def fill(rows: np.ndarray) -> None:
        space = Workspace.sized(lengths[-1], longest, blocks.shape[1])
        _fill(symbols, X.starts, row_order, rows, blocks, column_order, Z is None, decay, shares, space, gram)

    cells = float(lengths[-1]) * X.lengths.sum() * columns.lengths.sum() / (2 if Z is None else 1)
    in_threads(fill, len(row_order), cells > _SMALL)
    gram *= decay ** (2 * lengths[-1])
    return gram


def subsequence_diagonal(X: Codes, lengths: range, decay: float) -> np.ndarray:
    """The kernel of each string with itself."""
    order = longest_first(X)
    left, right = packed(X, order, END_LEFT), packed(X, order, END_RIGHT)
    lengths = occurring(lengths, int(X.lengths.max()))
    if lengths[0] > X.lengths.max():
        return np.zeros(len(order))
    totals = np.empty((len(left), LANES))
    space = Workspace.sized(lengths[-1], 0, right.shape[1])
    _pair_up(left, right, decay, _shares(lengths, decay), space, totals)
    diagonal = np.empty(len(order))
    diagonal[order] = totals.ravel()[: len(order)]
    diagonal *= decay ** (2 * lengths[-1])
    return diagonal


def _shares(lengths: range, decay: float) -> np.ndarray:
    """What a common subsequence of each length adds, from length 1 to the longest, where one of the longest adds 1."""
    shares = np.zeros(lengths[-1])
    for length in lengths:
        shares[length - 1] = decay ** (-2 * (lengths[-1] - length))
    return shares


@compiled(fastmath={"contract"})
def _score(
    left: np.ndarray,
    left_length: int,
    right: np.ndarray,
    right_length: int,
    decay: float,
    shares: np.ndarray,
    prefix: np.ndarray,
    running: np.ndarray,
    total: np.ndarray,
) -> None:
    """Sum over common subsequences, short of the factor decay^(2 length) of the longest, for each lane.

    Levels are updated from the highest down, so that each sees the one below as it was before the
    current symbol of the left string, and one copy of each is enough.
    """
    length = prefix.shape[0]
    for w in range(LANES):
        total[w] = 0.0
    for level in range(length):
        for k in range(right_length + 1):
            for w in range(LANES):
                prefix[level, k, w] = 1.0 if level == 0 else 0.0
    for j in range(left_length):
        for level in range(length):
            if shares[level] == 0.0:
                continue
            for w in range(LANES):
                running[w] = 0.0
            for k in range(right_length):
                for w in range(LANES):
                    running[w] += prefix[level, k, w] if left[j, w] == right[k, w] else 0.0
            for w in range(LANES):
                total[w] += shares[level] * running[w]
        for level in range(length - 1, 0, -1):
            for w in range(LANES):
                running[w] = 0.0
            for k in range(right_length - 1):
                for w in range(LANES):
                    below = prefix[level - 1, k, w] if left[j, w] == right[k, w] else 0.0
                    running[w] = decay * running[w] + below
                    prefix[level, k + 1, w] = decay * prefix[level, k + 1, w] + running[w]


@compiled
def _fill(
    symbols: np.ndarray,
    starts: np.ndarray,
    row_order: np.ndarray,
    rows: np.ndarray,
    blocks: np.ndarray,
    column_order: np.ndarray,
    symmetric: bool,
    decay: float,
    shares: np.ndarray,
    space: Workspace,
    gram: np.ndarray,
) -> None:
    """The kernel of some rows, given by their places in `row_order`, with all columns."""
    shortest = np.flatnonzero(shares)[0] + 1
    for b in range(blocks.shape[0]):
        first, longest = b * LANES, used(blocks[b])
        for place in rows:
            row = row_order[place]
            size = starts[row + 1] - starts[row]
            # what is above the diagonal is copied from below it
            if size < shortest or longest < shortest or (symmetric and place < first):
                continue
            for j in range(size):
                for w in range(LANES):
                    space.repeated[j, w] = symbols[starts[row] + j]
            _score(
                space.repeated,
                size,
                blocks[b],
                longest,
                decay,
                shares,
                space.prefix,
                space.running,
                space.total,
            )
            for w in range(min(LANES, len(column_order) - first)):
                if symmetric and place < first + w:
                    break
                column = column_order[first + w]
                gram[row, column] = space.total[w]
                if symmetric:
                    gram[column, row] = space.total[w]


@compiled
def _pair_up(
    left: np.ndarray, right: np.ndarray, decay: float, shares: np.ndarray, space: Workspace, totals: np.ndarray
) -> None:
    """The kernel of the w-th left string of each block with the w-th right one."""
    for b in range(left.shape[0]):
        size = used(left[b])
        _score(left[b], size, right[b], size, decay, shares, space.prefix, space.running, space.total)
        for w in range(LANES):
            totals[b, w] = space.total[w]
