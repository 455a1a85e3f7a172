"""The score under kernels that add up over stretches of consecutive symbols, such as common n-grams."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from mercer.core.compiled import compiled
from mercer.decoders.pool import snapped
from mercer.decoders.strings.automaton import Automaton
from mercer.decoders.strings.kernels import Term
from mercer.decoders.strings.prefixes import Bounder, Outlook, Prefixes, score
from mercer.decoders.strings.window_bounds import WindowBounds

_AHEAD = 2
"""Symbols looked ahead."""


class WindowModel:
    r"""The score of a kernel :math:`k(s, t) = \sum_{i,j} M(s_{i:i+n}, t_{j:j+n})`, or a sum of such, or its cosine.

    ⟨h, φ(y)⟩ adds up over the stretches of y: the state of an `Automaton` gives the gain of the next symbol. ‖φ(y)‖² is
    computed by comparing the new stretch with those before it.

    Parameters
    ----------
    terms : list of Term
    machine : Automaton
        Of all stretches whose product with a point may differ from zero.
    values : sparse array (states, coordinates)
        ⟨h, φ(u)⟩ of the stretch of each state, u taken as a whole sequence, is its product with the point.
    norm : float, optional
        l(y, y) of the normalised kernel; None where the kernel is not normalised.
    """

    def __init__(self, terms: list[Term], machine: Automaton, values: sparse.csr_array, norm: float | None) -> None:
        self.machine, self.norm = machine, norm
        self.symbols = machine.follow.shape[1]
        self.shortest = min(term.length for term in terms)
        self.spans = np.asarray([term.length for term in terms])
        self.tables = np.zeros((len(terms), int(self.spans.max()) + 2))
        for row, term in zip(self.tables, terms, strict=True):
            row[: len(term.similarity)] = term.similarity
        # one more symbol gains the value of the stretch less that of the stretch without it
        self.rise = sparse.csr_array(values - values[machine.head])
        self.limits_ = WindowBounds(machine, self.spans, self.tables[:, 0])

    def targets(self, points: np.ndarray) -> np.ndarray:
        """For each point and state, the rise of ⟨h, φ(y)⟩ on reaching that state."""
        return np.ascontiguousarray(snapped((self.rise @ points.T).T))

    def value(self, linear: np.ndarray, square: np.ndarray) -> np.ndarray:
        """The score."""
        return score(linear, square, self.norm)

    def empty(self, targets: np.ndarray, longest: int) -> Prefixes:
        """The empty prefix for each point."""
        return Prefixes.empty(len(targets), longest, (np.zeros(len(targets), dtype=np.int64),))

    def starts(self, targets: np.ndarray, width: int, longest: int) -> Prefixes:
        """The states of the shortest length with the largest values."""
        states = np.flatnonzero(self.machine.lengths == self.shortest)
        # ‖φ(u)‖² of a stretch just long enough for the shortest terms
        square = float(self.tables[self.spans == self.shortest, 0].sum())
        width = min(width, len(states))
        values = self._values(targets, states)
        every = width == len(states)
        chosen = np.argsort(-values, axis=1) if every else np.argpartition(-values, width, axis=1)[:, :width]
        owner = np.repeat(np.arange(len(targets)), width)
        state = states[chosen.ravel()]
        text = np.zeros((len(owner), longest), dtype=np.int64)
        text[:, : self.shortest] = np.asarray([self.machine.stretches[each] for each in state])
        size, squares = np.full(len(owner), self.shortest), np.full(len(owner), square)
        linear = np.take_along_axis(values, chosen, axis=1).ravel()
        return Prefixes(owner, text, size, linear, squares, (state.astype(np.int64),))

    def outlook(self, targets: np.ndarray) -> Outlook:
        """For each point and state, the rise of the best next symbols, and their cost if no stretch is repeated."""
        return _look_ahead(targets, self.machine.follow, float(self.tables[:, 0].sum()), _AHEAD)

    def ahead(
        self, prefixes: Prefixes, linear: np.ndarray, square: np.ndarray, outlook: Outlook
    ) -> tuple[np.ndarray, np.ndarray]:
        """With the rise and the cost of the best next symbols."""
        return _add_outlook((prefixes.owner, prefixes.state[0]), self.machine.follow, outlook, (linear, square))

    def extended(self, prefixes: Prefixes, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Each prefix with each symbol added."""
        rows = (prefixes.owner, prefixes.text, prefixes.size, prefixes.linear, prefixes.square, prefixes.state[0])
        return _extend(rows, targets, self.machine.follow, self.spans, self.tables)

    def grown(
        self, prefixes: Prefixes, rows: np.ndarray, symbols: np.ndarray, linear: np.ndarray, square: np.ndarray
    ) -> Prefixes:
        """Some prefixes with one symbol more."""
        text = prefixes.text[rows]
        text[np.arange(len(rows)), prefixes.size[rows]] = symbols
        state = self.machine.follow[prefixes.state[0][rows], symbols].astype(np.int64)
        return Prefixes(prefixes.owner[rows], text, prefixes.size[rows] + 1, linear, square, (state,))

    def limit(self, target: np.ndarray, low: int, high: int) -> float:
        """A score that no sequence of an allowed length exceeds, quickly computed."""
        return self.limits_.root(target, low, high, self.norm)

    def bounder(self, target: np.ndarray, low: int, high: int) -> Bounder:
        """Bounds for prefixes of one point."""
        return self.limits_.bounder(target, low, high, self.norm)

    def _values(self, targets: np.ndarray, states: np.ndarray) -> np.ndarray:
        """⟨h, φ(u)⟩ of the stretches of some states: the sum of the rises on the way to them."""
        values = np.zeros((len(targets), len(states)))
        while states.any():
            values += targets[:, states]
            states = self.machine.head[states]
        return values


@compiled
def _extend(
    rows: tuple[np.ndarray, ...], rise: np.ndarray, follow: np.ndarray, spans: np.ndarray, tables: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Add to ⟨h, φ(y)⟩ the rise of each next state, and to ‖φ(y)‖² the similarity with every stretch before it, twice."""
    owner, text, size, linear, square, state = rows
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
def _look_ahead(rise: np.ndarray, follow: np.ndarray, cost: float, steps: int) -> tuple[np.ndarray, np.ndarray]:
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
def _add_outlook(
    rows: tuple[np.ndarray, np.ndarray], follow: np.ndarray, outlook: Outlook, sums: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Add the expected gains after each symbol."""
    (owner, state), (rise, cost), (linear, square) = rows, outlook, sums
    risen, paid = linear.copy(), square.copy()
    for i in range(len(owner)):
        for a in range(follow.shape[1]):
            after = follow[state[i], a]
            risen[i, a] += rise[owner[i], after]
            paid[i, a] += cost[owner[i], after]
    return risen, paid
