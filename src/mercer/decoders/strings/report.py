"""What a decoder that constructs sequences says about an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_ROUNDING = 1e-9
"""Difference of an objective and its bound, relative to their size, that is taken as rounding."""


@dataclass(frozen=True)
class Report:
    """One answer, what it scores, and how much better another one could be.

    Examples
    --------
    >>> Report("abc", objective=-2.0, bound=-2.5, constructed=True).gap
    0.5
    """

    object: Any
    """The sequence."""
    objective: float
    """What is made small: l(y, y) − 2⟨h, ψ(y)⟩."""
    bound: float
    """No sequence the decoder may return is below this; minus infinity where nothing is proven."""
    constructed: bool
    """False where the answer is a training output that nothing constructed was better than."""

    @property
    def gap(self) -> float:
        """How far the objective is from what is proven to be out of reach."""
        return max(self.objective - self.bound, 0.0)

    @property
    def optimal(self) -> bool:
        """Whether the answer is proven to be the best there is."""
        return self.gap <= _ROUNDING * max(1.0, abs(self.objective))
