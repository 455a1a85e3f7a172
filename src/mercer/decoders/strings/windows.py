"""Kernels that add up over stretches of consecutive symbols, such as common n-grams."""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy import sparse

from mercer.decoders.strings.automaton import Automaton
from mercer.decoders.strings.kernels import Term
from mercer.decoders.strings.prefixes import Bounder, Outlook, Prefixes, score
from mercer.decoders.strings.window_bounds import WindowBounds

_AHEAD = 2
"""Symbols looked ahead."""


class WindowModel:
    r"""The score of a kernel :math:`k(s, t) = \sum_{i,j} M(s_{i:i+n}, t_{j:j+n})`, or a sum of such, or its cosine.

    ⟨h, φ(y)⟩ adds up over the stretches of y. The state of an `Automaton` says what the next symbol brings; ‖φ(y)‖² is counted
    by comparing the new stretch with those before it.

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
        # one more symbol brings what the stretch is worth without what its beginning was worth already
        self.rise = sparse.csr_array(values - values[machine.head])
        self.limits_ = WindowBounds(machine, self.spans, self.tables[:, 0])

    def targets(self, points: np.ndarray) -> np.ndarray:
        """For each point and state, the rise of ⟨h, φ(y)⟩ on reaching that state."""
        return np.ascontiguousarray((self.rise @ points.T).T)

    def value(self, linear: np.ndarray, square: np.ndarray) -> np.ndarray:
        """The score."""
        return score(linear, square, self.norm)

    def empty(self, targets: np.ndarray, longest: int) -> Prefixes:
        """The empty beginning for each point."""
        return Prefixes.empty(len(targets), longest, (np.zeros(len(targets), dtype=np.int64),))

    def starts(self, targets: np.ndarray, width: int, longest: int) -> Prefixes:
        """The states of the shortest length that are worth most."""
        states = np.flatnonzero(self.machine.lengths == self.shortest)
        square = _squares(self.spans, self.tables, self.shortest)
        width = min(width, len(states))
        worth = self._worth(targets, states)
        every = width == len(states)
        chosen = np.argsort(-worth, axis=1) if every else np.argpartition(-worth, width, axis=1)[:, :width]
        owner = np.repeat(np.arange(len(targets)), width)
        state = states[chosen.ravel()]
        text = np.zeros((len(owner), longest), dtype=np.int64)
        text[:, : self.shortest] = np.asarray([self.machine.stretches[each] for each in state])
        return Prefixes(
            owner,
            text,
            np.full(len(owner), self.shortest),
            np.take_along_axis(worth, chosen, axis=1).ravel(),
            np.full(len(owner), square),
            (state.astype(np.int64),),
        )

    def outlook(self, targets: np.ndarray) -> Outlook:
        """For each point and state, the rise of the best next symbols and what they cost, as if none came back."""
        return _look_ahead(targets, self.machine.follow, float(self.tables[:, 0].sum()), _AHEAD)

    def ahead(
        self, prefixes: Prefixes, linear: np.ndarray, square: np.ndarray, outlook: Outlook
    ) -> tuple[np.ndarray, np.ndarray]:
        """With the rise and the cost of the best next symbols."""
        risen, paid = linear.copy(), square.copy()
        rise, cost = outlook
        _add_outlook(prefixes.owner, prefixes.state[0], self.machine.follow, rise, cost, risen, paid)
        return risen, paid

    def extended(self, prefixes: Prefixes, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Each beginning with each symbol added."""
        linear, square = np.empty((2, len(prefixes), self.symbols))
        _extend(
            prefixes.owner,
            prefixes.text,
            prefixes.size,
            prefixes.linear,
            prefixes.square,
            prefixes.state[0],
            targets,
            self.machine.follow,
            self.spans,
            self.tables,
            linear,
            square,
        )
        return linear, square

    def grown(
        self, prefixes: Prefixes, rows: np.ndarray, symbols: np.ndarray, linear: np.ndarray, square: np.ndarray
    ) -> Prefixes:
        """Some beginnings with one symbol more."""
        text = prefixes.text[rows]
        text[np.arange(len(rows)), prefixes.size[rows]] = symbols
        state = self.machine.follow[prefixes.state[0][rows], symbols].astype(np.int64)
        return Prefixes(prefixes.owner[rows], text, prefixes.size[rows] + 1, linear, square, (state,))

    def limit(self, target: np.ndarray, low: int, high: int) -> float:
        """No sequence of an allowed length scores higher: a bound that is cheap."""
        return self.limits_.root(target, low, high, self.norm)

    def bounder(self, target: np.ndarray, low: int, high: int) -> Bounder:
        """Bounds on the ends of beginnings grown for one point."""
        shares, paths = self.limits_.shares(target, high), self.limits_.paths(target, high)

        def bounds(prefixes: Prefixes) -> np.ndarray:
            return self.limits_.bounds(prefixes, target, shares, paths, low, high, self.norm)

        return bounds

    def _worth(self, targets: np.ndarray, states: np.ndarray) -> np.ndarray:
        """⟨h, φ(u)⟩ of the stretches of some states: the rises on the way to them, added up."""
        worth = np.zeros((len(targets), len(states)))
        while states.any():
            worth += targets[:, states]
            states = self.machine.head[states]
        return worth


def _squares(spans: np.ndarray, tables: np.ndarray, length: int) -> float:
    """‖φ(u)‖² of a stretch just long enough for the shortest terms."""
    return float(sum(table[0] for span, table in zip(spans, tables, strict=True) if span == length))


@njit(cache=True, nogil=True)
def _extend(
    owner: np.ndarray,
    text: np.ndarray,
    size: np.ndarray,
    linear: np.ndarray,
    square: np.ndarray,
    state: np.ndarray,
    rise: np.ndarray,
    follow: np.ndarray,
    spans: np.ndarray,
    tables: np.ndarray,
    next_linear: np.ndarray,
    next_square: np.ndarray,
) -> None:
    """What each symbol adds: the rise of its state, and its similarity with every stretch before it, twice."""
    symbols = follow.shape[1]
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
                # the stretch that ended there has one symbol more; it is the new one or it is not
                shared += 2.0 * tables[k, differ + 1]
                next_square[i, text[i, last]] += 2.0 * (tables[k, differ] - tables[k, differ + 1])
            for a in range(symbols):
                next_square[i, a] += shared


@njit(cache=True, nogil=True)
def _look_ahead(rise: np.ndarray, follow: np.ndarray, cost: float, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """The best 2·rise − cost over up to some steps from each state: its rise, and its cost."""
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


@njit(cache=True, nogil=True)
def _add_outlook(
    owner: np.ndarray,
    state: np.ndarray,
    follow: np.ndarray,
    rise: np.ndarray,
    cost: np.ndarray,
    linear: np.ndarray,
    square: np.ndarray,
) -> None:
    """Add what may come after each symbol."""
    for i in range(len(owner)):
        for a in range(follow.shape[1]):
            after = follow[state[i], a]
            linear[i, a] += rise[owner[i], after]
            square[i, a] += cost[owner[i], after]
