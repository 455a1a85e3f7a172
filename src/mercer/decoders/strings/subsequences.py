"""The score under the kernel of subsequences with gaps, symbol by symbol."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from mercer.decoders.pool import snapped
from mercer.decoders.strings.prefixes import Bounder, Model, Prefixes

_STEPS = 40  # halvings in the search for the multiplier of a bound; any gives a bound, the right one the least


class SubsequenceModel(Model):
    r"""The score of a kernel that counts subsequences u of r symbols, :math:`\phi_u(y) = c \sum_{i:\,u=y[i]} \lambda^{l(i)}`.

    The last symbol of a new subsequence is the new symbol, the others are a shorter subsequence of the prefix. So the weights of
    all subsequences of 1, …, r − 1 symbols are kept, and multiplied by λ with every symbol that follows. `shape` is the size of
    the alphabet and r, `decay` is λ, `scale` is c, and a row of `values` times a point is ⟨h, φ(u)⟩ of a word u of r symbols.
    """

    def __init__(
        self, shape: tuple[int, int], decay: float, scale: float, values: sparse.csr_array, norm: float | None
    ) -> None:
        self.symbols, self.shortest = shape
        self.decay, self.scale, self.norm = decay, scale, norm
        # a word of r symbols has one subsequence, of weight c λ^r; divided by it, the value is the point's coordinate
        self.values = sparse.csr_array(values / (scale * decay**self.shortest))

    def targets(self, points: np.ndarray) -> np.ndarray:
        """The coordinate of each point along each subsequence."""
        return np.ascontiguousarray(snapped((self.values @ points.T).T))

    def empty(self, targets: np.ndarray, longest: int) -> Prefixes:
        """The empty prefix for each point."""
        counts = tuple(np.zeros((len(targets), self.symbols**size)) for size in range(1, self.shortest + 1))
        return Prefixes.empty(len(targets), longest, counts)

    def starts(self, targets: np.ndarray, width: int, longest: int) -> Prefixes:
        """The words of r symbols with the largest coordinates."""
        width = min(width, targets.shape[1])
        chosen = np.argsort(-targets, axis=1, kind="stable")[:, :width]
        grown = self.empty(targets, longest).take(np.repeat(np.arange(len(targets)), width))
        rows = np.arange(len(grown))
        letters = np.stack(np.unravel_index(chosen.ravel(), (self.symbols,) * self.shortest))
        for symbol in letters:
            linear, square = self.extended(grown, targets)
            grown = self.grown(grown, rows, symbol, linear[rows, symbol], square[rows, symbol])
        return grown

    def extended(self, prefixes: Prefixes, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Each prefix with each symbol added."""
        n, a = len(prefixes), self.symbols
        # weights of the subsequences one symbol shorter than those that count
        before = prefixes.state[-2] if self.shortest > 1 else np.ones((n, 1))
        shorter = self.scale * self.decay * before
        counts = prefixes.state[-1].reshape(n, -1, a)
        wanted = targets[prefixes.owner].reshape(n, -1, a)
        # a product for each prefix: rounding does not depend on the number of prefixes
        linear = prefixes.linear[:, None] + (shorter[:, None, :] @ wanted)[:, 0]
        crossed = 2.0 * (shorter[:, None, :] @ counts)[:, 0]
        return linear, prefixes.square[:, None] + crossed + np.sum(shorter**2, axis=1)[:, None]

    def grown(
        self, prefixes: Prefixes, rows: np.ndarray, symbols: np.ndarray, linear: np.ndarray, square: np.ndarray
    ) -> Prefixes:
        """Some prefixes with one symbol more."""
        m, a = len(rows), self.symbols
        text = prefixes.text[rows]
        each = np.arange(m)
        text[each, prefixes.size[rows]] = symbols
        old = tuple(part[rows] for part in prefixes.state)
        state = []
        for size, part in enumerate(old, start=1):
            last = size == self.shortest
            longer = (part if last else self.decay * part).reshape(m, -1, a)
            before = old[size - 2] if size > 1 else np.ones((m, 1))
            longer[each, :, symbols] += (self.scale if last else 1.0) * self.decay * before
            state.append(longer.reshape(m, -1))
        return Prefixes(prefixes.owner[rows], text, prefixes.size[rows] + 1, linear, square, tuple(state))

    def limit(self, target: np.ndarray, low: int, high: int) -> float:
        """A score that no sequence of an allowed length exceeds."""
        return float(self._bounds(self.empty(target[None, :], high), target, low, high)[0])

    def bounder(self, target: np.ndarray, low: int, high: int) -> Bounder:
        """Bounds for prefixes of one point."""
        return lambda prefixes: self._bounds(prefixes, target, low, high)

    def _bounds(self, prefixes: Prefixes, target: np.ndarray, low: int, high: int) -> np.ndarray:
        r"""A score that no sequence with each prefix exceeds: counts only grow, and their sum depends on the length alone.

        The best counts under these two conditions are :math:`\max(\phi_u, m_u - \theta)`, with θ such that they have the right
        sum; the Lagrangian at any θ is a bound. Normalised, the norm of the positive part of the point gives a bound.
        """
        if self.norm is not None:
            return np.full(len(prefixes), 2.0 * np.sqrt(np.sum(np.maximum(target, 0.0) ** 2)) - self.norm)
        counts = prefixes.state[-1]
        totals = self._totals(high)
        now = totals[prefixes.size]
        least, most = totals[np.maximum(prefixes.size, low)] - now, totals[high] - now
        have = counts.sum(axis=1)
        wish = np.maximum(target - counts, 0.0).sum(axis=1)
        goal = have + np.clip(wish, least, most)
        # at these two values of θ the sum is too large and too small
        bottom = np.full(len(prefixes), target.min() - goal.max() - 1.0)
        ceiling = np.full(len(prefixes), target.max() + 1.0)
        for _ in range(_STEPS):
            middle = 0.5 * (bottom + ceiling)
            much = np.maximum(counts, target - middle[:, None]).sum(axis=1) > goal
            bottom, ceiling = np.where(much, middle, bottom), np.where(much, ceiling, middle)
        level = np.where((wish >= least) & (wish <= most), 0.0, 0.5 * (bottom + ceiling))
        best = np.maximum(counts, target - level[:, None])
        return np.sum(best * (2.0 * (target - level[:, None]) - best), axis=1) + 2.0 * level * goal

    def _totals(self, longest: int) -> np.ndarray:
        """The sum of all counts of a sequence of 0, 1, …, `longest` symbols, the same for every sequence."""
        weights = np.zeros(self.shortest)  # of subsequences of 0, …, r − 1 symbols
        weights[0] = 1.0
        totals = [0.0]
        for _ in range(longest):
            totals.append(totals[-1] + self.scale * self.decay * weights[-1])
            weights[1:] = self.decay * (weights[1:] + weights[:-1])
        return np.asarray(totals)
