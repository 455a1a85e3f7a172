"""Sets of objects that hold the right output with a given probability."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from mercer.core.collections import Collection, hash_key, keys
from mercer.decoders import Ranked


class PredictionSet(Ranked):
    """A set of objects, best first, with scores; ``objects, scores = found`` unpacks it.

    Parameters
    ----------
    objects : collection
        The candidates in the set.
    scores : array
        Their scores; a higher score is better.
    any_object : bool, default=False
        True if the candidates cannot reach the coverage asked for, because right answers are not among them too often, or
        because there are too few calibration pairs. The set then stands for every object, candidate or not, which holds the right
        answer for certain; `objects` are the candidates.

    Examples
    --------
    >>> found = PredictionSet(np.array(["ab", "b"], dtype=object), np.array([0.6, 0.2]))
    >>> found.contains("b"), found.contains("c")
    (True, False)
    >>> PredictionSet(found.objects, found.scores, any_object=True).contains("c")
    True
    """

    any_object: bool = False

    def __new__(cls, objects: Collection, scores: np.ndarray, any_object: bool = False) -> Self:
        """Make a set."""
        found = super().__new__(cls, objects, scores)
        found.any_object = bool(any_object)
        return found

    def contains(self, y: Any) -> bool:
        """Return True if the set holds `y`, or stands for every object."""
        return self.any_object or hash_key(y) in set(keys(self.objects))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.objects!r}, {self.scores!r}, any_object={self.any_object})"
