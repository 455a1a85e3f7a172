"""Conformal calibration: how unusual a score is among the scores of right answers that were not trained on.

The score of an answer says how unfit it is (smaller is better). If a new pair is exchangeable with the m calibration pairs,
the score of its right answer is at most the ⌈(m + 1)c⌉-th smallest of theirs with probability c or more (split conformal
prediction), whatever the model.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

HELD_OUT, LEFT_OUT = "held out", "left out in turn"

_UNUSUAL = 0.05
"""The share of calibration inputs that are not taken as a measure of how much weight an input has."""


@dataclass
class Calibration:
    """Scores of right answers.

    Parameters
    ----------
    scores : array (m,)
        How unfit the right answer of each calibration pair is.
    listed : array (m,) of bool
        Whether the right answer was among the default candidates at all.
    source : str
        Where the pairs come from: held out, or left out in turn.
    support : array (m,), optional
        How much weight on training outputs each calibration input has, where scores do not show it.

    Examples
    --------
    >>> calibration = Calibration(np.array([0.3, 0.1, 0.2, 0.4]), np.ones(4, dtype=bool), HELD_OUT)
    >>> calibration.threshold(0.6)
    0.3
    >>> calibration.p_values(np.array([0.05, 0.25, 9.0])).tolist()
    [1.0, 0.6, 0.2]
    >>> Calibration(np.ones(3), np.ones(3, dtype=bool), HELD_OUT, np.full(3, 0.8)).backed(np.array([0.9, 0.4, 0.0])).tolist()
    [1.0, 0.5, 0.0]
    """

    scores: np.ndarray
    listed: np.ndarray
    source: str
    support: np.ndarray | None = None

    def threshold(self, coverage: float, default_candidates: bool = False) -> float:
        """The score up to which answers are kept; infinite where there are too few pairs, or too few right answers listed."""
        scores = np.sort(self.effective(default_candidates))
        # rounded, so that 0.9 · 10 is the 9th and not the 10th
        place = math.ceil(round((len(scores) + 1) * coverage, 9))
        return float(scores[place - 1]) if place <= len(scores) else math.inf

    def p_values(self, scores: np.ndarray, default_candidates: bool = False) -> np.ndarray:
        """The share of calibration scores, a new one counted in, that are as large as each score."""
        known = np.sort(self.effective(default_candidates))
        at_least = len(known) - np.searchsorted(known, scores, side="left")
        return (1.0 + at_least) / (len(known) + 1.0)

    def backed(self, support: np.ndarray) -> np.ndarray:
        """The weight of each new input as a share of what all but a twentieth of calibration inputs have, at most 1."""
        usual = 1.0 if self.support is None else float(np.quantile(self.support, _UNUSUAL))
        return np.clip(support / usual, 0.0, 1.0) if usual > 0 else (support > 0).astype(float)

    def effective(self, default_candidates: bool) -> np.ndarray:
        """The scores, infinite for answers that could not be given."""
        return np.where(self.listed, self.scores, np.inf) if default_candidates else self.scores


def check_coverage(coverage: Any) -> float:
    """`coverage` as a number strictly between 0 and 1."""
    if isinstance(coverage, bool) or not isinstance(coverage, Real) or not 0 < float(coverage) < 1:
        raise ValueError(
            f"coverage={coverage!r}; expected how often the set should hold the right answer, between 0 and 1"
        )
    return float(coverage)
