"""Allowed lengths of answers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mercer.core.validation import is_whole
from mercer.decoders.pool import snapped


class Lengths(NamedTuple):
    """The shortest and the longest allowed length of the answer, for each point."""

    low: np.ndarray
    high: np.ndarray

    @property
    def longest(self) -> int:
        """The longest of all."""
        return int(self.high.max())

    def only(self, rows: Any) -> Lengths:
        """Those of some points."""
        return Lengths(self.low[rows], self.high[rows])

    def allow(self, row: int, length: int) -> bool:
        """Whether the answer of a point may have that length."""
        return bool(self.low[row] <= length <= self.high[row])


class LengthRule:
    """The parameter ``length`` of a decoder, checked: a number, a range, "predicted" or None.

    Parameters
    ----------
    length : int, (int, int), "predicted" or None
    seen : int array
        The lengths of the training outputs the kernel sees.
    shortest : int
        The length of the shortest sequence the kernel sees.
    longest : int, optional
        The length of the longest sequence the kernel knows about; by default there is no limit.
    """

    def __init__(self, length: Any, seen: np.ndarray, shortest: int, longest: int | None = None) -> None:
        self.predicted = str(length) == "predicted"
        low, high = (int(seen.min()), int(seen.max())) if self.predicted else (shortest, int(seen.max()))
        if length is not None and not self.predicted:
            low, high = _given(length)
            if high < shortest:
                raise ValueError(
                    f"length={length!r}, and the output kernel sees nothing in a sequence of fewer than {shortest} symbols; "
                    f"expected {shortest} or more"
                )
            if longest is not None and low > longest:
                raise ValueError(
                    f"length={length!r}, and the longest training output has {longest} symbols; expected at most that, "
                    "since nothing is known of later positions"
                )
        self.low = max(low, shortest)
        self.high = high if longest is None else min(high, longest)

    def of(self, points: int, weights: np.ndarray, lengths: np.ndarray) -> Lengths:
        """The limits for each of some points; predicted ones from their weights on outputs of these lengths."""
        if not self.predicted:
            return Lengths(np.full(points, self.low), np.full(points, self.high))
        total = weights.sum(axis=1)
        usable = total > 1e-3
        mean = np.where(usable, weights @ lengths / np.where(usable, total, 1.0), np.median(lengths))
        chosen = np.clip(np.rint(snapped(mean)), self.low, self.high).astype(np.int64)
        return Lengths(chosen, chosen)


def _given(length: Any) -> tuple[int, int]:
    pair = tuple(length) if type(length) in (tuple, list) else (length, length)
    if len(pair) != 2 or not all(is_whole(n) and n >= 0 for n in pair) or pair[0] > pair[1]:
        raise ValueError(
            f"length={length!r}; expected a whole number, (shortest, longest), 'predicted', or None for any length up to "
            "that of the longest training output"
        )
    return int(pair[0]), int(pair[1])
