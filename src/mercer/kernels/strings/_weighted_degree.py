"""Runs of agreement of two strings along the diagonals of shifts, on many pairs of strings at once."""

from __future__ import annotations

import numpy as np

from mercer.core.compiled import compiled
from mercer.core.threads import in_threads
from mercer.kernels.strings._lanes import LANES, Strings, on_lines, used

_EXACT = 2**24
"""Whole numbers up to here are exact in single precision, of which twice as many fit a register."""

_SMALL = 2e6
"""Comparisons, about a millisecond, for which a second thread is not worth starting."""


def shift_weights(shift: int) -> np.ndarray:
    """The weights of agreement of x at p with z at p ± s, for s from 0: 1, 1/4, 1/6, 1/8, ..."""
    weights = 0.5 / (1.0 + np.arange(shift + 1))
    weights[0] = 1.0  # both of its two terms are the same one
    return weights


def agreement_gram(X: Strings, Z: Strings | None, degree: int, shift: int) -> np.ndarray:
    """The weighted degree kernel of all strings of `X` with all of `Z`; without `Z`, of `X` with itself."""
    other = X if Z is None else Z
    rows, columns, number = X.packed, other.packed, _number(degree, X)
    weights = _weights(shift, X, other)
    gram = np.zeros((len(rows.order), len(columns.order)))

    def fill(places: np.ndarray) -> None:
        run, total = on_lines((LANES,), number), on_lines((LANES,), number)
        run[:] = total[:] = 0
        _fill(rows, columns, places, Z is None, number(degree), weights, (run, total), gram)

    work = (2.0 * len(weights) - 1.0) * X.total * len(columns.order) / (2 if Z is None else 1)
    in_threads(fill, len(gram), work > _SMALL)
    gram /= degree * (degree + 1.0)
    return gram


def agreement_diagonal(X: Strings, degree: int, shift: int) -> np.ndarray:
    """The weighted degree kernel of each string with itself."""
    left, right = X.packed.against_themselves()
    number, sums = _number(degree, X), np.zeros((len(left), LANES))
    run, total = np.zeros((2, LANES), dtype=number)
    _pair_up(left, right, number(degree), _weights(shift, X), (run, total), sums)
    return X.packed.in_order_given(sums) / (degree * (degree + 1.0))


def _weights(shift: int, *sides: Strings) -> np.ndarray:
    """The weights of shifts at which two symbols can meet."""
    return shift_weights(min(shift, max(max(side.longest for side in sides) - 1, 0)))


def _number(degree: int, X: Strings) -> type[np.floating]:
    """The number type in which the sums along a diagonal, all of them whole, are exact."""
    return np.float32 if float(X.longest) * degree * (degree + 1.0) < _EXACT else np.float64


@compiled
def _along(left, left_start, right, right_start, steps, degree, space):  # type: ignore[no-untyped-def]  # noqa: PLR0913
    """The sum of r (2 degree + 1 - r) over a diagonal, r being the number of symbols up to there that agree, at most `degree`.

    That is degree (degree + 1) times the weights of all stretches that end there: the first r of 2 (degree - d + 1).
    """
    run, total = space
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
def _score(left, left_length, right, right_length, degree, weights, space, sums):  # type: ignore[no-untyped-def]  # noqa: PLR0913
    """The sum over all shifts, for each lane."""
    for w in range(LANES):
        sums[w] = 0.0
    for offset in range(-len(weights) + 1, len(weights)):
        left_start, right_start = max(0, -offset), max(0, offset)
        steps = min(left_length - left_start, right_length - right_start)
        if steps <= 0:
            continue
        _along(left, left_start, right, right_start, steps, degree, space)
        for w in range(LANES):
            sums[w] += weights[abs(offset)] * space[1][w]


@compiled
def _fill(X, Z, places, symmetric, degree, weights, space, gram):  # type: ignore[no-untyped-def]  # noqa: PLR0913
    """The kernel of some rows, given by their places in the order of `X`, with all columns."""
    repeated, sums = np.empty((Z.blocks.shape[1] + len(weights), LANES), dtype=np.int32), np.empty(LANES)
    for place in places:
        row = X.order[place]
        size = min(X.starts[row + 1] - X.starts[row], len(repeated))
        for j in range(size):
            for w in range(LANES):
                repeated[j, w] = X.symbols[X.starts[row] + j]
        for b in range(Z.blocks.shape[0]):
            first = b * LANES
            if symmetric and place < first:  # entries above the diagonal are copied from below it
                break
            _score(repeated, size, Z.blocks[b], used(Z.blocks[b]), degree, weights, space, sums)
            for w in range(min(LANES, len(Z.order) - first)):
                if symmetric and place < first + w:
                    break
                column = Z.order[first + w]
                gram[row, column] = sums[w]
                if symmetric:
                    gram[column, row] = sums[w]


@compiled
def _pair_up(left, right, degree, weights, space, sums):  # type: ignore[no-untyped-def]  # noqa: PLR0913
    """The kernel of the w-th left string of each block with the w-th right one."""
    for b in range(left.shape[0]):
        size = used(left[b])
        _score(left[b], size, right[b], size, degree, weights, space, sums[b])
