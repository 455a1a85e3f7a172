"""Runs of agreement of two strings along the diagonals of shifts, on many pairs of strings at once."""

from __future__ import annotations

import numpy as np

from mercer.core.compiled import compiled
from mercer.core.threads import in_threads
from mercer.kernels.strings._lanes import END_LEFT, END_RIGHT, LANES, longest_first, on_lines, packed, used
from mercer.structures.sequences import Codes

_EXACT = 2**24
"""Whole numbers up to here are exact in single precision, of which twice as many fit a register."""

_SMALL = 2e6
"""Comparisons, about a millisecond, for which a second thread is not worth starting."""


def shift_weights(shift: int) -> np.ndarray:
    """What agreement of x at p with z at p ± s counts, for s from 0: 1, 1/4, 1/6, 1/8, ..."""
    weights = 0.5 / (1.0 + np.arange(shift + 1))
    weights[0] = 1.0  # both of its two terms are the same one
    return weights


def _reached(shift: int, *sides: Codes) -> int:
    """The largest shift at which two symbols can meet; a weight for any beyond is never read."""
    return min(shift, max(max(int(side.lengths.max()) for side in sides) - 1, 0))


def agreement_gram(X: Codes, Z: Codes | None, degree: int, shift: int) -> np.ndarray:
    """The weighted degree kernel of all strings of `X` with all of `Z`; without `Z`, of `X` with itself."""
    columns = X if Z is None else Z
    row_order, column_order = longest_first(X), longest_first(columns)
    blocks, symbols = packed(columns, column_order, END_RIGHT), X.symbols.astype(np.int32)
    number = _number(degree, X)
    shift = _reached(shift, X, columns)
    gram = np.zeros((len(row_order), len(column_order)))

    def fill(rows: np.ndarray) -> None:
        run, total = on_lines((LANES,), number), on_lines((LANES,), number)
        run[:] = total[:] = 0
        weights = shift_weights(shift)
        _fill(
            symbols,
            X.starts,
            row_order,
            rows,
            blocks,
            column_order,
            Z is None,
            number(degree),
            weights,
            run,
            total,
            gram,
        )

    work = (2.0 * shift + 1.0) * X.lengths.sum() * len(column_order) / (2 if Z is None else 1)
    in_threads(fill, len(row_order), work > _SMALL)
    gram /= degree * (degree + 1.0)
    return gram


def agreement_diagonal(X: Codes, degree: int, shift: int) -> np.ndarray:
    """The weighted degree kernel of each string with itself."""
    order = longest_first(X)
    left, right = packed(X, order, END_LEFT), packed(X, order, END_RIGHT)
    number, sums = _number(degree, X), np.zeros((len(left), LANES))
    run, total = np.zeros((2, LANES), dtype=number)
    _pair_up(left, right, number(degree), shift_weights(_reached(shift, X)), run, total, sums)
    diagonal = np.empty(len(order))
    diagonal[order] = sums.ravel()[: len(order)]
    diagonal /= degree * (degree + 1.0)
    return diagonal


def _number(degree: int, X: Codes) -> type[np.floating]:
    """The number type in which the sums along a diagonal, all of them whole, are exact."""
    return np.float32 if float(X.lengths.max()) * degree * (degree + 1.0) < _EXACT else np.float64


@compiled
def _along(
    left: np.ndarray,
    left_start: int,
    right: np.ndarray,
    right_start: int,
    steps: int,
    degree: np.floating,
    run: np.ndarray,
    total: np.ndarray,
) -> None:
    """The sum of r (2 degree + 1 - r) over a diagonal, r being how many symbols up to there agree, at most `degree`.

    That is degree (degree + 1) times the weights of all stretches that end there: the first r of 2 (degree - d + 1).
    """
    zero, one = degree - degree, degree / degree
    twice = degree + degree + one
    for w in range(LANES):
        run[w] = zero
        total[w] = zero
    for p in range(steps):
        for w in range(LANES):
            same = left[left_start + p, w] == right[right_start + p, w]
            longer = min(run[w] + one, degree) if same else zero
            run[w] = longer
            total[w] += longer * (twice - longer)


@compiled
def _score(
    left: np.ndarray,
    left_length: int,
    right: np.ndarray,
    right_length: int,
    degree: np.floating,
    weights: np.ndarray,
    run: np.ndarray,
    total: np.ndarray,
    sums: np.ndarray,
) -> None:
    """The sum over all shifts, for each lane."""
    for w in range(LANES):
        sums[w] = 0.0
    for offset in range(-len(weights) + 1, len(weights)):
        left_start, right_start = max(0, -offset), max(0, offset)
        steps = min(left_length - left_start, right_length - right_start)
        if steps <= 0:
            continue
        _along(left, left_start, right, right_start, steps, degree, run, total)
        for w in range(LANES):
            sums[w] += weights[abs(offset)] * total[w]


@compiled
def _fill(
    symbols: np.ndarray,
    starts: np.ndarray,
    row_order: np.ndarray,
    rows: np.ndarray,
    blocks: np.ndarray,
    column_order: np.ndarray,
    symmetric: bool,
    degree: np.floating,
    weights: np.ndarray,
    run: np.ndarray,
    total: np.ndarray,
    gram: np.ndarray,
) -> None:
    """The kernel of some rows, given by their places in `row_order`, with all columns."""
    repeated, sums = np.empty((blocks.shape[1] + len(weights), LANES), dtype=np.int32), np.empty(LANES)
    for place in rows:
        row = row_order[place]
        size = min(starts[row + 1] - starts[row], len(repeated))
        for j in range(size):
            for w in range(LANES):
                repeated[j, w] = symbols[starts[row] + j]
        for b in range(blocks.shape[0]):
            first = b * LANES
            if symmetric and place < first:  # what is above the diagonal is copied from below it
                break
            _score(repeated, size, blocks[b], used(blocks[b]), degree, weights, run, total, sums)
            for w in range(min(LANES, len(column_order) - first)):
                if symmetric and place < first + w:
                    break
                column = column_order[first + w]
                gram[row, column] = sums[w]
                if symmetric:
                    gram[column, row] = sums[w]


@compiled
def _pair_up(
    left: np.ndarray,
    right: np.ndarray,
    degree: np.floating,
    weights: np.ndarray,
    run: np.ndarray,
    total: np.ndarray,
    sums: np.ndarray,
) -> None:
    """The kernel of the w-th left string of each block with the w-th right one."""
    for b in range(left.shape[0]):
        size = used(left[b])
        _score(left[b], size, right[b], size, degree, weights, run, total, sums[b])
