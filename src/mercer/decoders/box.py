"""The box an answer has to lie in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from mercer.core.arrays import Array, like, namespace, to_numpy
from mercer.core.collections import take


@dataclass
class Box:
    """Limits of each coordinate: the outermost value, then the one that holds when it is left out.

    Attributes
    ----------
    low, high : array (2, d)
        The two lowest and the two highest values; twice the same for limits that were given.
    """

    low: Array
    high: Array

    @classmethod
    def of(cls, bounds: Any, vectors: Array) -> Self:
        """The box of ``bounds="data"`` (the range of the vectors), None (no limits) or a pair."""
        if isinstance(bounds, str) and bounds == "data":
            ordered = namespace(vectors).sort(vectors, axis=0)
            last = vectors.shape[0] - 1
            return cls(
                take(ordered, np.asarray([0, min(1, last)])),
                take(ordered, np.asarray([last, max(last - 1, 0)])),
            )
        limits = (-np.inf, np.inf) if bounds is None else bounds
        message = (
            f"bounds={bounds!r}; expected 'data', None, or a pair (low, high) with low ≤ high, "
            f"each a number or one number for each of the {vectors.shape[1]} coordinates"
        )
        try:
            low, high = (np.asarray(to_numpy(side), dtype=float).ravel() for side in limits)
            low, high = np.broadcast_arrays(low, high, np.empty(vectors.shape[1]))[:2]
        except (TypeError, ValueError) as error:
            raise ValueError(message) from error
        if not (low <= high).all():
            raise ValueError(message)
        return cls(*(like(np.stack([side, side]), vectors) for side in (low, high)))

    def holds(self, vectors: Array) -> np.ndarray:
        """For each vector, whether it lies in the box of all."""
        xp = namespace(vectors)
        return to_numpy(xp.all((self.low[:1, :] <= vectors) & (vectors <= self.high[:1, :]), axis=1))

    def sides(self, queries: int, left_out: Array | None = None) -> tuple[Array, Array]:
        """Lower and upper limits, a row for each query, without the vector it leaves out."""
        xp = namespace(self.low)
        if left_out is None:
            shape = (queries, self.low.shape[1])
            return xp.broadcast_to(self.low[:1, :], shape), xp.broadcast_to(self.high[:1, :], shape)
        low, high = (xp.where(left_out == side[:1, :], side[1:, :], side[:1, :]) for side in (self.low, self.high))
        return low, high
