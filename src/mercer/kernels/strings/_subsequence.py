"""The dynamic programme of the subsequence kernel on many pairs of strings at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mercer.core.compiled import compiled
from mercer.core.threads import in_threads
from mercer.kernels.strings._lanes import LANES, Strings, on_lines, used
from mercer.kernels.strings.base import occurring

_SMALL = 2e6
"""Cells of the programme, about a millisecond, for which a second thread is not worth starting."""


class Workspace(NamedTuple):
    """The arrays that one thread writes to, allocated before its loop."""

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


def subsequence_gram(X: Strings, Z: Strings | None, lengths: range, decay: float) -> np.ndarray:
    """The kernel of all strings of `X` with all of `Z`; without `Z`, of `X` with itself."""
    other = X if Z is None else Z
    rows, columns = X.packed, other.packed
    gram = np.zeros((len(rows.order), len(columns.order)))
    lengths = occurring(lengths, min(X.longest, other.longest))
    if lengths[0] > X.longest:
        return gram
    shares = _shares(lengths, decay)

    def fill(places: np.ndarray) -> None:
        space = Workspace.sized(lengths[-1], X.longest, columns.blocks.shape[1])
        _fill(rows, columns, places, Z is None, decay, shares, space, gram)

    cells = float(lengths[-1]) * X.total * other.total / (2 if Z is None else 1)
    in_threads(fill, len(gram), cells > _SMALL)
    gram *= decay ** (2 * lengths[-1])
    return gram


def subsequence_diagonal(X: Strings, lengths: range, decay: float) -> np.ndarray:
    """The kernel of each string with itself."""
    left, right = X.packed.against_themselves()
    lengths = occurring(lengths, X.longest)
    if lengths[0] > X.longest:
        return np.zeros(len(X.packed.order))
    totals = np.empty((len(left), LANES))
    _pair_up(left, right, decay, _shares(lengths, decay), Workspace.sized(lengths[-1], 0, right.shape[1]), totals)
    return X.packed.in_order_given(totals) * decay ** (2 * lengths[-1])


def _shares(lengths: range, decay: float) -> np.ndarray:
    """The weight of a common subsequence of each length from 1, relative to that of the longest length."""
    shares = np.zeros(lengths[-1])
    for length in lengths:
        shares[length - 1] = decay ** (-2 * (lengths[-1] - length))
    return shares


@compiled(fastmath={"contract"})
def _score(left, left_length, right, right_length, decay, shares, space):  # type: ignore[no-untyped-def]  # noqa: C901, PLR0913
    """Sum over common subsequences, short of the factor decay^(2 length) of the longest, for each lane.

    Levels are updated from the highest down, so that each sees the one below as it was before the current symbol of the left
    string, and one copy of each is enough.
    """
    prefix, running, total = space.prefix, space.running, space.total
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
def _fill(X, Z, places, symmetric, decay, shares, space, gram):  # type: ignore[no-untyped-def]  # noqa: PLR0913
    """The kernel of some rows, given by their places in the order of `X`, with all columns."""
    shortest = np.flatnonzero(shares)[0] + 1
    for b in range(Z.blocks.shape[0]):
        first, longest = b * LANES, used(Z.blocks[b])
        for place in places:
            row = X.order[place]
            start, size = X.starts[row], X.starts[row + 1] - X.starts[row]
            # entries above the diagonal are copied from below it
            if size < shortest or longest < shortest or (symmetric and place < first):
                continue
            for j in range(size):
                for w in range(LANES):
                    space.repeated[j, w] = X.symbols[start + j]
            _score(space.repeated, size, Z.blocks[b], longest, decay, shares, space)
            for w in range(min(LANES, len(Z.order) - first)):
                if symmetric and place < first + w:
                    break
                column = Z.order[first + w]
                gram[row, column] = space.total[w]
                if symmetric:
                    gram[column, row] = space.total[w]


@compiled
def _pair_up(left, right, decay, shares, space, totals):  # type: ignore[no-untyped-def]  # noqa: PLR0913
    """The kernel of the w-th left string of each block with the w-th right one."""
    for b in range(left.shape[0]):
        size = used(left[b])
        _score(left[b], size, right[b], size, decay, shares, space)
        for w in range(LANES):
            totals[b, w] = space.total[w]
