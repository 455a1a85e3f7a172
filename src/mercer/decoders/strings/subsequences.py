"""The score under the kernel of subsequences with gaps, symbol by symbol."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from mercer.decoders.strings.prefixes import Bounder, Model, Prefixes, Sums

_STEPS = 40  # halvings in the search for the multiplier of a bound; any gives a bound, the right one the least


class SubsequenceModel(Model):
    r"""The score of a kernel that counts subsequences u of r symbols, :math:`\phi_u(y) = c \sum_{i:\,u=y[i]} \lambda^{l(i)}`.

    The last symbol of a new subsequence is the new symbol, the others are a shorter subsequence of the prefix. So the state has
    the weights of all subsequences of 1, …, r symbols, multiplied by λ with every symbol that follows, except those of r.
    `shape` is the size of the alphabet and r, `decay` is λ, `scale` is c, and a row of `values` times a point is ⟨h, φ(u)⟩ of a
    word u of r symbols.
    """

    def __init__(
        self, shape: tuple[int, int], decay: float, scale: float, values: sparse.csr_array, norm: float | None
    ) -> None:
        self.symbols, self.shortest = shape
        self.decay, self.scale, self.norm = decay, scale, norm
        # a word of r symbols has one subsequence, of weight c λ^r; divided by it, the value is the point's coordinate
        self.readout = sparse.csr_array(values / (scale * decay**self.shortest))
        self.start = np.zeros(sum(self.symbols**size for size in range(1, self.shortest + 1)))

    def _counts(self, state: np.ndarray) -> list[np.ndarray]:
        """The weights of the subsequences of 0, 1, …, r symbols."""
        ends = np.cumsum([self.symbols**size for size in range(1, self.shortest)], dtype=int)
        return [np.ones((len(state), 1)), *np.split(state, ends, axis=1)]

    def starts(self, targets: np.ndarray, width: int, longest: int) -> Prefixes:
        """The words of r symbols with the largest coordinates."""
        width = min(width, targets.shape[1])
        chosen = np.argsort(-targets, axis=1, kind="stable")[:, :width]
        grown = self.empty(targets, longest).take(np.repeat(np.arange(len(targets)), width))
        for symbols in np.stack(np.unravel_index(chosen.ravel(), (self.symbols,) * self.shortest)):
            grown = self.grown(grown, np.arange(len(grown)), symbols, self.extended(grown, targets))
        return grown

    def extended(self, prefixes: Prefixes, targets: np.ndarray) -> Sums:
        """Each prefix with each symbol added."""
        n, a = len(prefixes), self.symbols
        *_, before, counts = self._counts(prefixes.state)
        shorter = self.scale * self.decay * before
        wanted = targets[prefixes.owner].reshape(n, -1, a)
        # a product for each prefix: rounding does not depend on the number of prefixes
        linear = prefixes.linear[:, None] + (shorter[:, None, :] @ wanted)[:, 0]
        crossed = 2.0 * (shorter[:, None, :] @ counts.reshape(n, -1, a))[:, 0]
        return linear, prefixes.square[:, None] + crossed + np.sum(shorter**2, axis=1)[:, None]

    def after(self, state: np.ndarray, symbols: np.ndarray) -> np.ndarray:
        """The weights after one symbol more."""
        counts, grown = self._counts(state), []
        for size in range(1, self.shortest + 1):
            fade, scale = (1.0, self.scale) if size == self.shortest else (self.decay, 1.0)
            longer = (fade * counts[size]).reshape(len(state), -1, self.symbols)
            longer[np.arange(len(state)), :, symbols] += scale * self.decay * counts[size - 1]
            grown.append(longer.reshape(len(state), -1))
        return np.hstack(grown)

    def bounder(self, target: np.ndarray, low: int, high: int) -> Bounder:
        r"""Bounds by the counts of subsequences, which only grow, and whose sum depends on the length alone.

        The best counts under these two conditions are :math:`\max(\phi_u, m_u - \theta)`, with θ such that they have the right
        sum; the Lagrangian at any θ is a bound. Normalised, the norm of the positive part of the point gives a bound.
        """
        if self.norm is not None:
            reach = 2.0 * np.sqrt(np.sum(np.maximum(target, 0.0) ** 2)) - self.norm
            return lambda prefixes: np.full(len(prefixes), reach)
        totals = self._totals(high)

        def bounds(prefixes: Prefixes) -> np.ndarray:
            counts, now = self._counts(prefixes.state)[-1], totals[prefixes.size]
            least, most = totals[np.maximum(prefixes.size, low)] - now, totals[high] - now
            wish = np.maximum(target - counts, 0.0).sum(axis=1)
            goal = counts.sum(axis=1) + np.clip(wish, least, most)
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

        return bounds

    def _totals(self, longest: int) -> np.ndarray:
        """The sum of all counts of a sequence of 0, 1, …, `longest` symbols, the same for every sequence."""
        weights = np.zeros(self.shortest)  # of subsequences of 0, …, r − 1 symbols
        weights[0] = 1.0
        totals = [0.0]
        for _ in range(longest):
            totals.append(totals[-1] + self.scale * self.decay * weights[-1])
            weights[1:] = self.decay * (weights[1:] + weights[:-1])
        return np.asarray(totals)
