"""How good the end of a sequence can be at best, for kernels that add up over stretches of symbols."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from mercer.decoders.strings.automaton import Automaton
from mercer.decoders.strings.prefixes import Prefixes


@dataclass
class Shares:
    """What every stretch that occurs may bring, alone: gains of its first, second, … copy, best first, for each span."""

    gain: np.ndarray
    state: np.ndarray
    copy: np.ndarray
    starts: np.ndarray
    """Where the list of each span begins, and where the last one ends."""


class WindowBounds:
    """Bounds on ``2⟨h, φ(y)⟩ − ‖φ(y)‖²`` and on its normalised form.

    Two of them hold, and the lesser is taken. Stretches may be put together only if they overlap, but may repeat for nothing:
    the longest path in the automaton. Or they need not overlap, but each copy of a stretch costs more than the one before:
    the best of all copies that are left.
    """

    def __init__(self, machine: Automaton, spans: np.ndarray, costs: np.ndarray) -> None:
        self.machine = machine
        self.spans, place = np.unique(spans, return_inverse=True)
        self.costs = np.bincount(place, weights=costs)
        lengths = machine.lengths
        # the ending of each state that is as long as a span, where the state is long enough
        self.endings = np.full((len(self.spans), len(lengths)), -1)
        for row, span in zip(self.endings, self.spans, strict=True):
            for state in range(len(lengths)):
                row[state] = (
                    state if lengths[state] == span else row[machine.tail[state]] if lengths[state] > span else -1
                )

    def shares(self, rise: np.ndarray, longest: int) -> Shares:
        """The gains of all copies that are worth more than a stretch that never occurs."""
        gains, states, copies, starts = [], [], [], [0]
        own = rise - rise[self.machine.tail]
        for span, cost in zip(self.spans, self.costs, strict=True):
            state = self._best_of(own, int(span), longest)
            found: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
            for copy in range(longest + 1):
                gain = 2.0 * own[state] - cost * (1.0 + 2.0 * copy)
                state, gain = state[gain > -cost], gain[gain > -cost]
                if not len(state):
                    break
                found.append((gain, state, np.full(len(state), copy)))
            gain, which, number = (
                np.concatenate([part[j] for part in found]) if found else np.zeros(0) for j in range(3)
            )
            order = np.argsort(-gain, kind="stable")
            gains.append(gain[order])
            states.append(which[order].astype(np.int64))
            copies.append(number[order].astype(np.int64))
            starts.append(starts[-1] + len(order))
        return Shares(np.concatenate(gains), np.concatenate(states), np.concatenate(copies), np.asarray(starts))

    def _best_of(self, own: np.ndarray, span: int, most: int) -> np.ndarray:
        """The states of one span that bring most: of the others not even the first copy is among the best `most`."""
        state = np.flatnonzero(self.machine.lengths == span)
        return state if len(state) <= most else state[np.argpartition(-own[state], most)[:most]]

    def root(self, rise: np.ndarray, low: int, high: int, norm: float | None) -> float:
        """The bound on every sequence, from the copies alone."""
        if norm is not None:
            return 2.0 * np.sqrt(self._reach(rise, high)) - norm
        shares = self.shares(rise, high)
        best = np.zeros(high + 1)
        for k, (span, cost) in enumerate(zip(self.spans, self.costs, strict=True)):
            gains = shares.gain[shares.starts[k] : shares.starts[k + 1]][:high]
            sums = np.concatenate([[0.0], np.cumsum(np.concatenate([gains, np.full(high - len(gains), -cost)]))])
            best += sums[np.maximum(np.arange(high + 1) - span + 1, 0)]
        return float(best[max(low, int(self.spans[0])) :].max())

    def paths(self, rise: np.ndarray, longest: int) -> np.ndarray:
        """The most ⟨h, φ(y)⟩ can rise from each state in 0, 1, …, `longest` steps."""
        return _paths(rise, self.machine.follow, longest)

    def bounds(
        self,
        prefixes: Prefixes,
        rise: np.ndarray,
        shares: Shares,
        paths: np.ndarray,
        low: int,
        high: int,
        norm: float | None,
    ) -> np.ndarray:
        """The bound of each beginning, of one point."""
        found = np.empty(len(prefixes))
        _bound(
            prefixes.text,
            prefixes.size,
            prefixes.linear,
            prefixes.square,
            prefixes.state[0],
            self.machine.follow,
            self.endings,
            self.spans,
            self.costs,
            shares.gain,
            shares.state,
            shares.copy,
            shares.starts,
            paths,
            low,
            high,
            -1.0 if norm is None else norm,
            self._reach(rise, high),
            found,
        )
        return found

    def _reach(self, rise: np.ndarray, high: int) -> float:
        """The square of the most ⟨h, φ(y)⟩ / ‖φ(y)‖ can be, by Cauchy and Schwarz over the stretches there is room for."""
        own, lengths = np.maximum(rise - rise[self.machine.tail], 0.0), self.machine.lengths
        total = 0.0
        for span, cost in zip(self.spans, self.costs, strict=True):
            squares = np.sort(own[lengths == span] ** 2)[::-1]
            total += float(squares[: max(high - int(span) + 1, 0)].sum()) / cost
        return total


@njit(cache=True, nogil=True)
def _paths(rise: np.ndarray, follow: np.ndarray, longest: int) -> np.ndarray:
    states, symbols = follow.shape
    best = np.zeros((longest + 1, states))
    for step in range(1, longest + 1):
        for state in range(states):
            most = -np.inf
            for a in range(symbols):
                after = follow[state, a]
                most = max(most, rise[after] + best[step - 1, after])
            best[step, state] = most
    return best


@njit(cache=True, nogil=True)
def _bound(
    text: np.ndarray,
    size: np.ndarray,
    linear: np.ndarray,
    square: np.ndarray,
    state: np.ndarray,
    follow: np.ndarray,
    endings: np.ndarray,
    spans: np.ndarray,
    costs: np.ndarray,
    gain: np.ndarray,
    gain_state: np.ndarray,
    gain_copy: np.ndarray,
    starts: np.ndarray,
    paths: np.ndarray,
    low: int,
    high: int,
    norm: float,
    reach: float,
    found: np.ndarray,
) -> None:
    counts = np.zeros(follow.shape[0], dtype=np.int64)
    best = np.empty(high + 1)
    for i in range(len(size)):
        end = size[i]
        if norm < 0:
            _count(text[i, :end], follow, endings, counts, 1)
            best[:] = 0.0
            for k in range(len(spans)):
                _add_copies(best, k, end, high, spans, costs, gain, gain_state, gain_copy, starts, counts)
            _count(text[i, :end], follow, endings, counts, -1)
        most = -np.inf
        for last in range(max(low, end), high + 1):
            cost = 0.0
            for k in range(len(spans)):
                cost += costs[k] * (max(0, last - spans[k] + 1) - max(0, end - spans[k] + 1))
            rise = paths[last - end, state[i]]
            if norm < 0:
                most = max(most, 2.0 * linear[i] - square[i] + min(2.0 * rise - cost, best[last]))
            elif square[i] + cost > 0:
                top = max(linear[i] + rise, 0.0) / np.sqrt(square[i] + cost)
                own = max(linear[i], 0.0) ** 2 / square[i] if square[i] > 0 else 0.0
                most = max(most, 2.0 * min(top, np.sqrt(own + reach)) - norm)
        found[i] = most


@njit(cache=True, nogil=True)
def _count(text: np.ndarray, follow: np.ndarray, endings: np.ndarray, counts: np.ndarray, by: int) -> None:
    """Add `by` to the count of every stretch in a text."""
    state = 0
    for symbol in text:
        state = follow[state, symbol]
        for k in range(endings.shape[0]):
            if endings[k, state] >= 0:
                counts[endings[k, state]] += by


@njit(cache=True, nogil=True)
def _add_copies(
    best: np.ndarray,
    k: int,
    end: int,
    high: int,
    spans: np.ndarray,
    costs: np.ndarray,
    gain: np.ndarray,
    gain_state: np.ndarray,
    gain_copy: np.ndarray,
    starts: np.ndarray,
    counts: np.ndarray,
) -> None:
    """To the best of every final length, the best copies of one span that are left; then stretches that never occur."""
    position, total = starts[k], 0.0
    for last in range(end + 1, high + 1):
        if last >= spans[k]:
            while position < starts[k + 1] and gain_copy[position] < counts[gain_state[position]]:
                position += 1
            if position < starts[k + 1]:
                total += gain[position]
                position += 1
            else:
                total -= costs[k]
        best[last] += total
