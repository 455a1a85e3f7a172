"""Rules that propose the pivots of a Cholesky factor, block by block."""

from __future__ import annotations

from typing import Protocol

import numpy as np

_LEAST, _FIRST, _MOST = 16, 64, 256
"""The fewest proposals of a block of random pivots, the most of the first block, and of any."""


class PivotRule(Protocol):
    """A rule that proposes pivots; each factorization has a rule of its own."""

    def propose(self, left: np.ndarray, most: int) -> np.ndarray:
        """Return the positions to try next, given the diagonal that is left and the number of pivots still wanted."""

    def accepts(self, before: float, after: float) -> bool:
        """Return True for a pivot whose diagonal entry the pivots taken since it was proposed lower to `after`."""


class RandomPivots:
    """Pivots with probability proportional to the diagonal that is left (Chen, Epperly, Tropp and Webber 2023).

    Blocks are proposed from the diagonal at their start; a proposal is then accepted with the share of its entry that the
    accepted ones before it leave (Epperly, Tropp and Webber 2024). The pivots are distributed as if drawn one by one.
    """

    def __init__(self, random_state: int = 0) -> None:
        self.random = np.random.default_rng(random_state)
        self.proposed, self.accepted = 0, 0

    def propose(self, left: np.ndarray, most: int) -> np.ndarray:
        """Return a block that gives `most` pivots if it is accepted as the last one was, within limits."""
        size = min(most, _FIRST)
        if self.proposed:
            size = min(most * self.proposed // max(self.accepted, 1), 2 * self.proposed)
        # the entries between all objects of a block are computed: few of the Gram matrix
        self.proposed, self.accepted = max(min(size, _MOST, len(left) // 4), _LEAST), 0
        ends = np.cumsum(left)
        drawn = np.searchsorted(ends, self.random.random(self.proposed) * ends[-1], side="right")
        return np.minimum(drawn, len(left) - 1)

    def accepts(self, before: float, after: float) -> bool:
        """Return True with probability after / before."""
        accepted = self.random.random() * before < after
        self.accepted += accepted
        return accepted


class GreedyPivots:
    """The largest diagonal entry that is left, one at a time."""

    def propose(self, left: np.ndarray, most: int) -> np.ndarray:
        """Return the position of the largest entry."""
        return np.asarray([left.argmax()])

    def accepts(self, before: float, after: float) -> bool:
        """Return True."""
        return True


class PivotsInOrder:
    """Pivots in a given order, without those that the ones before them span."""

    def __init__(self, order: np.ndarray) -> None:
        self.order = order

    def propose(self, left: np.ndarray, most: int) -> np.ndarray:
        """Return the next positions at which something is left."""
        order = self.order[left[self.order] > 0.0]
        size = min(most, _MOST)
        self.order = order[size:]
        return order[:size]

    def accepts(self, before: float, after: float) -> bool:
        """Return True."""
        return True
