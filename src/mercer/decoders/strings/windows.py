"""The score under kernels that add up over stretches of consecutive symbols, such as common n-grams."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from mercer.core.compiled import compiled
from mercer.decoders.strings.kernels import Term, require_room
from mercer.decoders.strings.prefixes import Bounder, Model, Prefixes, Sums

_AHEAD = 2  # symbols looked ahead
# gains of the first, second, … copy of every stretch, best first, for each span; the state and the number of each copy; and
# where the list of each span begins, and the last one ends
Shares = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
Limits = tuple[int, int, float, float]  # shortest and longest length, l(y, y), and a bound on (⟨h, φ(y)⟩ / ‖φ(y)‖)²


@dataclass
class Automaton:
    """Every stretch of up to n symbols that occurs somewhere, as a state; state 0 is the empty one.

    A sequence is in the state of its longest ending that occurs; a score of stretches of n symbols depends on nothing else.
    """

    stretches: list[tuple[int, ...]]
    follow: np.ndarray  # the state after each state and symbol
    head: np.ndarray  # the state without its last symbol
    tail: np.ndarray  # the state without its first symbol
    lengths: np.ndarray  # number of symbols of each state

    @classmethod
    def of(cls, sequences: Iterable[Sequence[int]], longest: int, symbols: int) -> Automaton:
        """The automaton of some sequences of symbol numbers; negative numbers are in no stretch."""
        found: set[tuple[int, ...]] = {()}
        for sequence in sequences:
            text = tuple(sequence)
            for start in range(len(text)):
                for end in range(start + 1, min(start + longest, len(text)) + 1):
                    if text[end - 1] < 0:
                        break
                    found.add(text[start:end])
        stretches = sorted(found, key=lambda stretch: (len(stretch), stretch))
        require_room(len(stretches), symbols)
        number = {stretch: state for state, stretch in enumerate(stretches)}
        head = np.asarray([number[stretch[:-1]] for stretch in stretches])
        tail = np.asarray([number[stretch[1:]] for stretch in stretches])
        follow = np.zeros((len(stretches), symbols), dtype=np.int32)
        for state in range(1, len(stretches)):  # shorter ones come first
            follow[head[state], stretches[state][-1]] = state
        for state, stretch in enumerate(stretches):
            if stretch:
                missing = follow[state] == 0
                follow[state, missing] = follow[tail[state], missing]
        return cls(stretches, follow, head, tail, np.asarray([len(stretch) for stretch in stretches]))


class WindowModel(Model):
    r"""The score of a kernel :math:`k(s, t) = \sum_{i,j} M(s_{i:i+n}, t_{j:j+n})`, or a sum of such, or its cosine.

    ⟨h, φ(y)⟩ adds up over the stretches of y: the state of an `Automaton` gives the gain of the next symbol. ‖φ(y)‖² is
    computed by comparing the new stretch with those before it. The automaton has all stretches u whose product with a point may
    differ from zero; a row of `values` times a point is ⟨h, φ(u)⟩, u taken as a whole sequence.

    The smaller of two bounds is taken. In the first, stretches have to overlap, but copies cost nothing extra: the longest path
    in the automaton. In the second, stretches need not overlap, but each copy of a stretch costs more than the one before: the
    best of all copies that are left.
    """

    start = np.zeros((), dtype=np.int64)

    def __init__(self, terms: list[Term], machine: Automaton, values: sparse.csr_array, norm: float | None) -> None:
        self.machine, self.norm = machine, norm
        self.symbols = machine.follow.shape[1]
        self.spans = np.asarray([term.length for term in terms])
        self.shortest = int(self.spans.min())
        self.tables = np.zeros((len(terms), int(self.spans.max()) + 2))
        for row, term in zip(self.tables, terms, strict=True):
            row[: len(term.similarity)] = term.similarity
        # one more symbol gains the value of the stretch less that of the stretch without it
        self.readout = sparse.csr_array(values - values[machine.head])
        # the bounds add up the terms of each span
        self.distinct_spans, place = np.unique(self.spans, return_inverse=True)
        self.costs = np.bincount(place, weights=self.tables[:, 0])
        # for each span and state, the ending of the state that has this span; -1 where the state is shorter
        self.endings = np.full((len(self.distinct_spans), len(machine.lengths)), -1)
        for row, span in zip(self.endings, self.distinct_spans, strict=True):
            for state in np.flatnonzero(machine.lengths >= span):
                row[state] = state if machine.lengths[state] == span else row[machine.tail[state]]

    def starts(self, targets: np.ndarray, width: int, longest: int) -> Prefixes:
        """The states of the shortest length with the largest values, the sums of the rises on the way to them."""
        states = above = np.flatnonzero(self.machine.lengths == self.shortest)
        values = np.zeros((len(targets), len(states)))
        while above.any():
            values += targets[:, above]
            above = self.machine.head[above]
        width = min(width, len(states))
        every = width == len(states)
        chosen = np.argsort(-values, axis=1) if every else np.argpartition(-values, width, axis=1)[:, :width]
        state = states[chosen.ravel()].astype(np.int64)
        begun = self.empty(targets, longest).take(np.repeat(np.arange(len(targets)), width))
        begun.text[:, : self.shortest] = np.asarray([self.machine.stretches[each] for each in state])
        linear = np.take_along_axis(values, chosen, axis=1).ravel()
        # ‖φ(u)‖² of a stretch just long enough for the shortest terms
        square = np.full(len(state), self.tables[self.spans == self.shortest, 0].sum())
        return replace(begun, size=begun.size + self.shortest, linear=linear, square=square, state=state)

    def outlook(self, targets: np.ndarray) -> Callable[[Prefixes, Sums], Sums]:
        """The rise of the best next symbols, and their cost if no stretch is repeated."""
        gains = _look_ahead(targets, self.machine.follow, float(self.tables[:, 0].sum()), _AHEAD)
        return lambda prefixes, sums: _add_gains(_arrays(prefixes), self.machine.follow, gains, sums)

    def extended(self, prefixes: Prefixes, targets: np.ndarray) -> Sums:
        """Each prefix with each symbol added."""
        return _extend(_arrays(prefixes), targets, self.machine.follow, self.spans, self.tables)

    def after(self, state: np.ndarray, symbols: np.ndarray) -> np.ndarray:
        """The states of the automaton one symbol on."""
        return self.machine.follow[state, symbols].astype(np.int64)

    def limit(self, target: np.ndarray, low: int, high: int) -> float:
        """The bound on every sequence, from the copies alone."""
        if self.norm is not None:
            return 2.0 * np.sqrt(self._reach(target, high)) - self.norm
        gain, _, _, starts = self._shares(target, high)
        best = np.zeros(high + 1)
        for k, (span, cost) in enumerate(zip(self.distinct_spans, self.costs, strict=True)):
            gains = gain[starts[k] : starts[k + 1]][:high]
            sums = np.concatenate([[0.0], np.cumsum(np.concatenate([gains, np.full(high - len(gains), -cost)]))])
            best += sums[np.maximum(np.arange(high + 1) - span + 1, 0)]
        return float(best[max(low, self.shortest) :].max())

    def bounder(self, target: np.ndarray, low: int, high: int) -> Bounder:
        """The bounds of prefixes of one point."""
        machine = (self.machine.follow, self.endings, self.distinct_spans, self.costs)
        shares, paths = self._shares(target, high), _paths(target, self.machine.follow, high)
        limits = (low, high, -1.0 if self.norm is None else self.norm, self._reach(target, high))
        return lambda prefixes: _bounds(_arrays(prefixes), machine, shares, paths, limits)

    def _shares(self, rise: np.ndarray, longest: int) -> Shares:
        """All copies that gain more than a stretch that never occurs."""
        own, parts = rise - rise[self.machine.tail], []
        for span, cost in zip(self.distinct_spans, self.costs, strict=True):
            state = np.flatnonzero(self.machine.lengths == span)
            if len(state) > longest:  # no more copies fit, and each is of one of the best stretches
                state = state[np.argpartition(-own[state], longest)[:longest]]
            gains = 2.0 * own[state] - cost * (1.0 + 2.0 * np.arange(longest + 1)[:, None])
            copy, column = np.nonzero(gains > -cost)
            order = np.argsort(-gains[copy, column], kind="stable")
            copy, column = copy[order], column[order]
            parts.append((gains[copy, column], state[column], copy))
        gain, states, copies = map(np.concatenate, zip(*parts, strict=True))
        return gain, states, copies, np.cumsum([0] + [len(part[0]) for part in parts])

    def _reach(self, rise: np.ndarray, high: int) -> float:
        """A bound on (⟨h, φ(y)⟩ / ‖φ(y)‖)², by Cauchy and Schwarz over the stretches that fit."""
        own, total = np.maximum(rise - rise[self.machine.tail], 0.0), 0.0
        for span, cost in zip(self.distinct_spans, self.costs, strict=True):
            squares = np.sort(own[self.machine.lengths == span] ** 2)[::-1]
            total += float(squares[: max(high - int(span) + 1, 0)].sum()) / cost
        return total


def _arrays(prefixes: Prefixes) -> tuple[np.ndarray, ...]:
    """The columns of prefixes, for compiled loops."""
    return tuple(vars(prefixes).values())


@compiled
def _extend(
    prefixes: tuple[np.ndarray, ...], rise: np.ndarray, follow: np.ndarray, spans: np.ndarray, tables: np.ndarray
) -> Sums:
    """Add to ⟨h, φ(y)⟩ the rise of each next state, and to ‖φ(y)‖² the similarity with every stretch before it, twice."""
    owner, text, size, linear, square, state = prefixes
    symbols = follow.shape[1]
    next_linear, next_square = np.empty((len(owner), symbols)), np.empty((len(owner), symbols))
    for i in range(len(owner)):
        end = size[i]
        for a in range(symbols):
            next_linear[i, a] = linear[i] + rise[owner[i], follow[state[i], a]]
            next_square[i, a] = square[i]
        for k in range(len(spans)):
            span = spans[k]
            if end + 1 < span:
                continue
            shared = tables[k, 0]
            for last in range(span - 1, end):
                differ = 0
                for j in range(1, span):
                    differ += text[i, last - j] != text[i, end - j]
                # the last symbol of that stretch is the new symbol or it is not
                shared += 2.0 * tables[k, differ + 1]
                next_square[i, text[i, last]] += 2.0 * (tables[k, differ] - tables[k, differ + 1])
            for a in range(symbols):
                next_square[i, a] += shared
    return next_linear, next_square


@compiled
def _look_ahead(rise: np.ndarray, follow: np.ndarray, cost: float, steps: int) -> Sums:
    """The rise and the cost of the best 2·rise − cost in at most `steps` steps from each state."""
    points, states = rise.shape
    risen, paid = np.zeros((points, states)), np.zeros((points, states))
    before_risen, before_paid = np.zeros(states), np.zeros(states)
    for i in range(points):
        for _ in range(steps):
            before_risen[:] = risen[i]
            before_paid[:] = paid[i]
            for state in range(states):
                best = 0.0
                for a in range(follow.shape[1]):
                    after = follow[state, a]
                    up, down = rise[i, after] + before_risen[after], cost + before_paid[after]
                    if 2.0 * up - down > best:
                        best = 2.0 * up - down
                        risen[i, state] = up
                        paid[i, state] = down
    return risen, paid


@compiled
def _add_gains(prefixes: tuple[np.ndarray, ...], follow: np.ndarray, gains: Sums, sums: Sums) -> Sums:
    """Add the expected gains after each symbol."""
    (owner, _, _, _, _, state), (rise, cost), (linear, square) = prefixes, gains, sums
    risen, paid = linear.copy(), square.copy()
    for i in range(len(owner)):
        for a in range(follow.shape[1]):
            after = follow[state[i], a]
            risen[i, a] += rise[owner[i], after]
            paid[i, a] += cost[owner[i], after]
    return risen, paid


@compiled
def _paths(rise: np.ndarray, follow: np.ndarray, longest: int) -> np.ndarray:
    """The most ⟨h, φ(y)⟩ can rise from each state in 0, 1, …, `longest` steps."""
    best = np.full((longest + 1, len(follow)), -np.inf)
    best[0] = 0.0
    for step in range(longest):
        gain = rise + best[step]
        for state in range(len(follow)):
            for after in follow[state]:
                best[step + 1, state] = max(best[step + 1, state], gain[after])
    return best


@compiled
def _bounds(
    prefixes: tuple[np.ndarray, ...], machine: tuple[np.ndarray, ...], shares: Shares, paths: np.ndarray, limits: Limits
) -> np.ndarray:
    """The bound of each prefix; a negative `norm` stands for a kernel that is not normalised."""
    _, text, size, linear, square, state = prefixes
    follow, endings, spans, costs = machine
    low, high, norm, reach = limits
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
