"""Alignment of words in one alphabet: letters kept, changed, dropped, and put in front, inside or at the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mercer.core.compiled import compiled

FRONT, MATCH, DROP, INSIDE, END = range(5)
_STATES = 5
# letters in front come before all others, and letters at the end after all others
_NEXT = np.asarray([[1, 1, 1, 0, 0], [0, 1, 1, 1, 1], [0, 1, 1, 1, 1], [0, 1, 1, 1, 0], [0, 0, 0, 0, 1]], dtype=float)
_FIRST = np.asarray([0.1, 0.88, 0.02, 0.0, 0.0])
_STEPS = np.asarray(
    [
        [0.8, 0.19, 0.01, 0, 0],
        [0, 0.9, 0.05, 0.01, 0.04],
        [0, 0.4, 0.4, 0.1, 0.1],
        [0, 0.8, 0.1, 0.1, 0],
        [0, 0, 0, 0, 1],
    ]
)
_CHANGED = 0.05  # share of matched letters that change, at the start
_PRIOR = 0.5  # count added to every step that is allowed


class Costs(NamedTuple):
    """Logarithms of the probabilities of a pair hidden Markov model over the five states."""

    first: np.ndarray
    steps: np.ndarray
    kept: float
    changed: np.ndarray  # (letters, letters)
    dropped: np.ndarray
    added: np.ndarray  # (states, letters)


class EditAligner:
    """Finds the likeliest edits from one word to another, with probabilities learned from pairs.

    The probabilities are those of a pair hidden Markov model with the states letters in `FRONT`, `MATCH` (kept or changed),
    `DROP`, letters put `INSIDE`, and letters at the `END`; they are counted on the best paths, a few rounds over.
    """

    def fit(self, X: Sequence[np.ndarray], Y: Sequence[np.ndarray], letters: int, rounds: int = 5) -> EditAligner:
        """Learn from pairs of words, given as the numbers of their letters, each below `letters`."""
        with np.errstate(divide="ignore"):  # the logarithm of zero is meant
            flat = -np.log(letters)
            changed = np.full((letters, letters), 2 * flat + np.log(_CHANGED))
            even, added = np.full(letters, flat), np.full((_STATES, letters), flat)
            self.costs_ = Costs(np.log(_FIRST), np.log(_STEPS), flat + np.log1p(-_CHANGED), changed, even, added)
            for _ in range(rounds):
                self.costs_ = self._counted(X, Y, letters)
        return self

    def align(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return the states of the likeliest path from `x` to `y`."""
        return best_path(x, y, *self.costs_)

    def _counted(self, X: Sequence[np.ndarray], Y: Sequence[np.ndarray], letters: int) -> Costs:
        first, steps, kept = _PRIOR * (_FIRST > 0), _PRIOR * _NEXT, np.zeros(1)
        changed = np.full((letters, letters), _PRIOR / letters)
        dropped, added = np.full(letters, 0.2), np.full((_STATES, letters), 0.2)
        for x, y in zip(X, Y, strict=True):
            _count(self.align(x, y), x, y, first, steps, kept, changed, dropped, added)
        matched = kept[0] + changed.sum()
        return Costs(
            np.log(first / first.sum()),
            np.log(steps / steps.sum(axis=1, keepdims=True)),
            float(np.log(max(kept[0], _PRIOR) / matched) - np.log(letters)),
            np.log(changed / matched),
            np.log(dropped / dropped.sum()),
            np.log(added / added.sum(axis=1, keepdims=True)),
        )


@compiled
def best_path(  # noqa: PLR0913
    x: np.ndarray,
    y: np.ndarray,
    first: np.ndarray,
    steps: np.ndarray,
    kept: float,
    changed: np.ndarray,
    dropped: np.ndarray,
    added: np.ndarray,
) -> np.ndarray:
    """Return the path with the largest sum of logarithms, by dynamic programming."""
    n, m = len(x), len(y)
    best = np.full((n + 1, m + 1, 5), -np.inf)
    before = np.full((n + 1, m + 1, 5), -1, dtype=np.int64)
    for i in range(n + 1):
        for j in range(m + 1):
            for state in range(5):
                up, back = i - int(state == 1 or state == 2), j - int(state != 2)
                if up < 0 or back < 0:
                    continue
                if state == 1:
                    emitted = kept if x[i - 1] == y[j - 1] else changed[x[i - 1], y[j - 1]]
                elif state == 2:
                    emitted = dropped[x[i - 1]]
                else:
                    emitted = added[state, y[j - 1]]
                if up == 0 and back == 0:
                    best[i, j, state] = first[state] + emitted
                for last in range(5):
                    value = best[up, back, last] + steps[last, state] + emitted
                    if value > best[i, j, state]:
                        best[i, j, state] = value
                        before[i, j, state] = last
    path = np.empty(n + m, dtype=np.int64)
    length, i, j = 0, n, m
    state = int(np.argmax(best[n, m]))
    while i > 0 or j > 0:
        path[length] = state
        length += 1
        last = before[i, j, state]
        i, j = i - int(state == 1 or state == 2), j - int(state != 2)
        state = last
    return path[:length][::-1].copy()


@compiled
def _count(  # noqa: PLR0913
    path: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    first: np.ndarray,
    steps: np.ndarray,
    kept: np.ndarray,
    changed: np.ndarray,
    dropped: np.ndarray,
    added: np.ndarray,
) -> None:
    i = j = 0
    for k in range(len(path)):
        state = path[k]
        if k == 0:
            first[state] += 1
        else:
            steps[path[k - 1], state] += 1
        if state == 1 and x[i] == y[j]:
            kept[0] += 1
        elif state == 1:
            changed[x[i], y[j]] += 1
        elif state == 2:
            dropped[x[i]] += 1
        else:
            added[state, y[j]] += 1
        i, j = i + int(state == 1 or state == 2), j + int(state != 2)
