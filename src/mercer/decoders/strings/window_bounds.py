"""Bounds on the score of sequences with a given prefix, for kernels that add up over stretches of symbols."""

from __future__ import annotations

import numpy as np

from mercer.core.compiled import compiled
from mercer.decoders.strings.automaton import Automaton
from mercer.decoders.strings.prefixes import Bounder, Prefixes

Shares = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Gains of the first, second, … copy of every stretch, best first, for each span; the state and the number of each copy; and
where the list of each span begins, and the last one ends."""


class WindowBounds:
    """Bounds on ``2⟨h, φ(y)⟩ − ‖φ(y)‖²`` and on its normalised form.

    The smaller of two bounds is taken. In the first, stretches have to overlap, but copies cost nothing extra: the longest path
    in the automaton. In the second, stretches need not overlap, but each copy of a stretch costs more than the one before: the
    best of all copies that are left.
    """

    def __init__(self, machine: Automaton, spans: np.ndarray, costs: np.ndarray) -> None:
        self.machine = machine
        self.spans, place = np.unique(spans, return_inverse=True)
        self.costs = np.bincount(place, weights=costs)
        lengths = machine.lengths
        # for each span and state, the ending of the state that has this span; -1 where the state is shorter
        self.endings = np.full((len(self.spans), len(lengths)), -1)
        for row, span in zip(self.endings, self.spans, strict=True):
            for state in np.flatnonzero(lengths >= span):
                row[state] = state if lengths[state] == span else row[machine.tail[state]]

    def shares(self, rise: np.ndarray, longest: int) -> Shares:
        """All copies that gain more than a stretch that never occurs."""
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
        return np.concatenate(gains), np.concatenate(states), np.concatenate(copies), np.asarray(starts)

    def _best_of(self, own: np.ndarray, span: int, most: int) -> np.ndarray:
        """The states of one span with the largest gains, which contain the best `most` copies."""
        state = np.flatnonzero(self.machine.lengths == span)
        return state if len(state) <= most else state[np.argpartition(-own[state], most)[:most]]

    def root(self, rise: np.ndarray, low: int, high: int, norm: float | None) -> float:
        """The bound on every sequence, from the copies alone."""
        if norm is not None:
            return 2.0 * np.sqrt(self._reach(rise, high)) - norm
        gain, _, _, starts = self.shares(rise, high)
        best = np.zeros(high + 1)
        for k, (span, cost) in enumerate(zip(self.spans, self.costs, strict=True)):
            gains = gain[starts[k] : starts[k + 1]][:high]
            sums = np.concatenate([[0.0], np.cumsum(np.concatenate([gains, np.full(high - len(gains), -cost)]))])
            best += sums[np.maximum(np.arange(high + 1) - span + 1, 0)]
        return float(best[max(low, int(self.spans[0])) :].max())

    def bounder(self, rise: np.ndarray, low: int, high: int, norm: float | None) -> Bounder:
        """Bounds for prefixes of one point."""
        machine, terms = (self.machine.follow, self.endings), (self.spans, self.costs)
        shares, paths = self.shares(rise, high), _paths(rise, self.machine.follow, high)
        reach = self._reach(rise, high)

        def bounds(prefixes: Prefixes) -> np.ndarray:
            rows = (prefixes.text, prefixes.size, prefixes.linear, prefixes.square, prefixes.state[0])
            return _bounds(rows, machine, terms, shares, paths, (low, high), -1.0 if norm is None else norm, reach)

        return bounds

    def _reach(self, rise: np.ndarray, high: int) -> float:
        """A bound on (⟨h, φ(y)⟩ / ‖φ(y)‖)², by Cauchy and Schwarz over the stretches that fit."""
        own, lengths = np.maximum(rise - rise[self.machine.tail], 0.0), self.machine.lengths
        total = 0.0
        for span, cost in zip(self.spans, self.costs, strict=True):
            squares = np.sort(own[lengths == span] ** 2)[::-1]
            total += float(squares[: max(high - int(span) + 1, 0)].sum()) / cost
        return total


@compiled
def _paths(rise: np.ndarray, follow: np.ndarray, longest: int) -> np.ndarray:
    """The most ⟨h, φ(y)⟩ can rise from each state in 0, 1, …, `longest` steps."""
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


@compiled
def _bounds(  # noqa: PLR0913
    rows: tuple[np.ndarray, ...],
    machine: tuple[np.ndarray, np.ndarray],
    terms: tuple[np.ndarray, np.ndarray],
    shares: Shares,
    paths: np.ndarray,
    lengths: tuple[int, int],
    norm: float,
    reach: float,
) -> np.ndarray:
    """The bound of each prefix; a negative `norm` stands for a kernel that is not normalised."""
    text, size, linear, square, state = rows
    follow, endings = machine
    spans, costs = terms
    low, high = lengths
    found = np.empty(len(size))
    counts = np.zeros(follow.shape[0], dtype=np.int64)
    best = np.empty(high + 1)
    for i in range(len(size)):
        end = size[i]
        if norm < 0:
            _count(text[i, :end], follow, endings, counts, 1)
            best[:] = 0.0
            for k in range(len(spans)):
                _add_copies(best, end, k, spans[k], costs[k], shares, counts)
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
    return found


@compiled
def _count(text: np.ndarray, follow: np.ndarray, endings: np.ndarray, counts: np.ndarray, by: int) -> None:
    """Add `by` to the count of every stretch in a text."""
    state = 0
    for symbol in text:
        state = follow[state, symbol]
        for k in range(endings.shape[0]):
            if endings[k, state] >= 0:
                counts[endings[k, state]] += by


@compiled
def _add_copies(  # noqa: PLR0913
    best: np.ndarray, end: int, k: int, span: int, cost: float, shares: Shares, counts: np.ndarray
) -> None:
    """Add to each final length the best copies of one span that are left, then stretches that never occur."""
    gain, state, copy, starts = shares
    position, total = starts[k], 0.0
    for last in range(end + 1, len(best)):
        if last >= span:
            while position < starts[k + 1] and copy[position] < counts[state[position]]:
                position += 1
            if position < starts[k + 1]:
                total += gain[position]
                position += 1
            else:
                total -= cost
        best[last] += total
