"""Prefixes of sequences, and the base class of models that extend and bound them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np


@dataclass
class Prefixes:
    """Prefixes of sequences, one per row.

    With φ the features inside any cosine and h the point of its owner, `linear` is ⟨h, φ(y)⟩ and `square` is ‖φ(y)‖²: both grow
    symbol by symbol, whatever the kernel.
    """

    owner: np.ndarray
    """The point each is grown for."""
    text: np.ndarray
    """Symbol numbers, as many columns as the longest may have."""
    size: np.ndarray
    """Number of symbols so far."""
    linear: np.ndarray
    square: np.ndarray
    state: tuple[np.ndarray, ...]
    """Further arrays the model keeps."""

    @classmethod
    def empty(cls, points: int, longest: int, state: tuple[np.ndarray, ...]) -> Self:
        """The empty prefix for each of some points, with room for `longest` symbols."""
        sizes, text = np.zeros(points, dtype=np.int64), np.zeros((points, longest), dtype=np.int64)
        return cls(np.arange(points), text, sizes, np.zeros(points), np.zeros(points), state)

    def __len__(self) -> int:
        return len(self.owner)

    def take(self, rows: Any) -> Self:
        """Some of them, copied."""
        owner, text, size, linear, square = (part[rows] for part in self._arrays())
        return type(self)(owner, text, size, linear, square, tuple(part[rows] for part in self.state))

    @classmethod
    def joined(cls, parts: list[Self]) -> Self:
        """The rows of all parts, one after the other."""
        owner, text, size, linear, square = map(np.concatenate, zip(*(part._arrays() for part in parts), strict=True))
        state = tuple(map(np.concatenate, zip(*(part.state for part in parts), strict=True)))
        return cls(owner, text, size, linear, square, state)

    def _arrays(self) -> tuple[np.ndarray, ...]:
        return self.owner, self.text, self.size, self.linear, self.square


Outlook = tuple[np.ndarray, ...]  # expected gains of the next symbols
Bounder = Callable[[Prefixes], np.ndarray]  # for each prefix, a score that no sequence with this prefix exceeds


class Model(Protocol):
    """A kernel as beam search and branch and bound see it."""

    symbols: int
    """Number of symbols."""
    shortest: int
    """Length of the shortest sequence the kernel sees."""
    norm: float | None
    """l(y, y) of a normalised kernel; None where the kernel is not normalised."""

    def targets(self, points: np.ndarray) -> np.ndarray:
        """The points in the model's own terms, one row each, rounded so that ties do not depend on the batch."""

    def starts(self, targets: np.ndarray, width: int, longest: int) -> Prefixes:
        """The best prefixes of the shortest length, at most `width` for each point."""

    def empty(self, targets: np.ndarray, longest: int) -> Prefixes:
        """The empty prefix for each point."""

    def extended(self, prefixes: Prefixes, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """`linear` and `square` of each prefix with each symbol added, two arrays (prefixes, symbols)."""

    def grown(
        self, prefixes: Prefixes, rows: np.ndarray, symbols: np.ndarray, linear: np.ndarray, square: np.ndarray
    ) -> Prefixes:
        """The prefixes at `rows` with a symbol added to each, `linear` and `square` as `extended` gave them."""

    def limit(self, target: np.ndarray, low: int, high: int) -> float:
        """A score that no sequence of an allowed length exceeds, quickly computed."""

    def bounder(self, target: np.ndarray, low: int, high: int) -> Bounder:
        """Bounds for prefixes of one point, over all sequences of an allowed length."""

    def value(self, linear: np.ndarray, square: np.ndarray) -> np.ndarray:
        """The score 2⟨h, ψ(y)⟩ − l(y, y); minus infinity where ‖φ(y)‖² is zero."""
        seen = square > 0
        if self.norm is None:
            return np.where(seen, 2.0 * linear - square, -np.inf)
        return np.where(seen, 2.0 * linear / np.sqrt(np.where(seen, square, 1.0)) - self.norm, -np.inf)

    def outlook(self, targets: np.ndarray) -> Outlook:
        """Expected gains of the next symbols, for each point; by default none."""
        return ()

    def ahead(
        self, prefixes: Prefixes, linear: np.ndarray, square: np.ndarray, outlook: Outlook
    ) -> tuple[np.ndarray, np.ndarray]:
        """`linear` and `square`, as `extended` gave them, with the expected gains of the next symbols."""
        return linear, square
