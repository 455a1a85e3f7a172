"""Sequences that are still growing, and what a model of a kernel has to say about them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np


@dataclass
class Prefixes:
    """Many beginnings of sequences, one per row.

    With φ the features inside any normalisation and h the point of its owner, `linear` is ⟨h, φ(y)⟩ and `square` is ‖φ(y)‖²:
    both grow symbol by symbol, whatever the kernel.
    """

    owner: np.ndarray
    """Which point each is grown for."""
    text: np.ndarray
    """Symbol numbers, as many columns as the longest may have."""
    size: np.ndarray
    """How many of them are there yet."""
    linear: np.ndarray
    square: np.ndarray
    state: tuple[np.ndarray, ...]
    """What else the model has to remember."""

    @classmethod
    def empty(cls, points: int, longest: int, state: tuple[np.ndarray, ...]) -> Self:
        """The empty beginning for each of some points, with room for `longest` symbols."""
        sizes, text = np.zeros(points, dtype=np.int64), np.zeros((points, longest), dtype=np.int64)
        return cls(np.arange(points), text, sizes, np.zeros(points), np.zeros(points), state)

    def __len__(self) -> int:
        return len(self.owner)

    def take(self, rows: np.ndarray) -> Self:
        """Some of them, copied."""
        return type(self)(
            self.owner[rows],
            self.text[rows],
            self.size[rows],
            self.linear[rows],
            self.square[rows],
            tuple(part[rows] for part in self.state),
        )

    @classmethod
    def joined(cls, parts: list[Prefixes]) -> Prefixes:
        """The rows of all parts, one after the other."""
        owner, text, size, linear, square = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("owner", "text", "size", "linear", "square")
        )
        state = tuple(map(np.concatenate, zip(*(part.state for part in parts), strict=True)))
        return cls(owner, text, size, linear, square, state)


def score(linear: np.ndarray, square: np.ndarray, norm: float | None) -> np.ndarray:
    """2⟨h, ψ(y)⟩ − l(y, y), with l(y, y) = `norm` under a normalised kernel; minus infinity where ‖φ(y)‖² is zero."""
    seen = square > 0
    if norm is None:
        return np.where(seen, 2.0 * linear - square, -np.inf)
    return np.where(seen, 2.0 * linear / np.sqrt(np.where(seen, square, 1.0)) - norm, -np.inf)


Outlook = tuple[np.ndarray, ...]
"""What a model expects of the next symbols."""

Bounder = Callable[[Prefixes], np.ndarray]
"""For each beginning, a score that no sequence beginning so exceeds."""


class Model(Protocol):
    """A kernel as beam search and branch and bound see it."""

    symbols: int
    """How many symbols there are."""
    shortest: int
    """The shortest sequence the kernel sees."""

    def targets(self, points: np.ndarray) -> np.ndarray:
        """What each point wants, one row each, in the model's own terms."""

    def value(self, linear: np.ndarray, square: np.ndarray) -> np.ndarray:
        """The score 2⟨h, ψ(y)⟩ − l(y, y); minus infinity for a sequence the kernel does not see."""

    def starts(self, targets: np.ndarray, width: int, longest: int) -> Prefixes:
        """The best beginnings of the shortest length, at most `width` for each point."""

    def empty(self, targets: np.ndarray, longest: int) -> Prefixes:
        """The empty beginning for each point."""

    def outlook(self, targets: np.ndarray) -> Outlook:
        """What to expect of the next symbols, for each point."""

    def ahead(
        self, prefixes: Prefixes, linear: np.ndarray, square: np.ndarray, outlook: Outlook
    ) -> tuple[np.ndarray, np.ndarray]:
        """`linear` and `square` as `extended` gave them, as they may be a few symbols later."""

    def extended(self, prefixes: Prefixes, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """`linear` and `square` of each beginning with each symbol added, two arrays (beginnings, symbols)."""

    def grown(
        self, prefixes: Prefixes, rows: np.ndarray, symbols: np.ndarray, linear: np.ndarray, square: np.ndarray
    ) -> Prefixes:
        """The beginnings at `rows` with a symbol each added, `linear` and `square` as `extended` gave them."""

    def limit(self, target: np.ndarray, low: int, high: int) -> float:
        """No sequence of an allowed length scores higher: a bound that is cheap."""

    def bounder(self, target: np.ndarray, low: int, high: int) -> Bounder:
        """For beginnings of one point: no sequence of an allowed length that begins so scores higher."""
