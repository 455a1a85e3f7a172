"""Prefixes of sequences, and the base class of models that extend and bound them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from mercer.decoders.pool import snapped

Sums = tuple[np.ndarray, np.ndarray]  # ⟨h, φ(y)⟩ and ‖φ(y)‖² of some sequences


@dataclass
class Prefixes:
    """Prefixes of sequences, one per row.

    With φ the features inside any cosine and h the point of its owner, `linear` is ⟨h, φ(y)⟩ and `square` is ‖φ(y)‖²: both grow
    symbol by symbol, whatever the kernel.
    """

    owner: np.ndarray  # the point each is grown for
    text: np.ndarray  # symbol numbers, as many columns as the longest may have
    size: np.ndarray  # number of symbols so far
    linear: np.ndarray
    square: np.ndarray
    state: np.ndarray  # the state of the model after each

    def __len__(self) -> int:
        return len(self.owner)

    def take(self, rows: Any) -> Prefixes:
        """Some of them, copied."""
        return Prefixes(*(part[rows] for part in vars(self).values()))

    @classmethod
    def joined(cls, parts: list[Prefixes]) -> Prefixes:
        """The rows of all parts, one after the other."""
        return cls(*map(np.concatenate, zip(*(vars(part).values() for part in parts), strict=True)))


Bounder = Callable[[Prefixes], np.ndarray]  # for each prefix, a score that no sequence with this prefix exceeds


class Model(Protocol):
    """A kernel as beam search and branch and bound see it; a subclass sets the attributes."""

    symbols: int  # number of symbols
    shortest: int  # length of the shortest sequence the kernel sees
    norm: float | None  # l(y, y) of a normalised kernel; None where the kernel is not normalised
    readout: sparse.csr_array  # rows whose products with a point are its target
    start: np.ndarray  # the state of the empty sequence

    def starts(self, targets: np.ndarray, width: int, longest: int) -> Prefixes:
        """The best prefixes of the shortest length, at most `width` for each point."""

    def extended(self, prefixes: Prefixes, targets: np.ndarray) -> Sums:
        """The sums of each prefix with each symbol added, two arrays (prefixes, symbols)."""

    def after(self, state: np.ndarray, symbols: np.ndarray) -> np.ndarray:
        """The state after each state and symbol; it may overwrite `state`."""

    def bounder(self, target: np.ndarray, low: int, high: int) -> Bounder:
        """Bounds for prefixes of one point, over all sequences of an allowed length."""

    def limit(self, target: np.ndarray, low: int, high: int) -> float:
        """A score that no sequence of an allowed length exceeds, quickly computed."""
        return float(self.bounder(target, low, high)(self.empty(target[None, :], high))[0])

    def targets(self, points: np.ndarray) -> np.ndarray:
        """The points in the model's own terms, one row each, rounded so that ties do not depend on the batch."""
        return np.ascontiguousarray(snapped((self.readout @ points.T).T))

    def empty(self, targets: np.ndarray, longest: int) -> Prefixes:
        """The empty prefix for each point, with room for `longest` symbols."""
        n = len(targets)
        text, size = np.zeros((n, longest), dtype=np.int64), np.zeros(n, dtype=np.int64)
        return Prefixes(np.arange(n), text, size, np.zeros(n), np.zeros(n), np.repeat(self.start[None], n, axis=0))

    def grown(self, prefixes: Prefixes, rows: np.ndarray, symbols: np.ndarray, sums: Sums) -> Prefixes:
        """The prefixes at `rows` with a symbol added to each; `sums` are those of `extended`."""
        text, size = prefixes.text[rows], prefixes.size[rows]
        text[np.arange(len(rows)), size] = symbols
        linear, square = (part[rows, symbols] for part in sums)
        state = self.after(prefixes.state[rows], symbols)
        return Prefixes(prefixes.owner[rows], text, size + 1, linear, square, state)

    def value(self, linear: np.ndarray, square: np.ndarray) -> np.ndarray:
        """The score 2⟨h, ψ(y)⟩ − l(y, y); minus infinity where ‖φ(y)‖² is zero."""
        seen = square > 0
        if self.norm is None:
            return np.where(seen, 2.0 * linear - square, -np.inf)
        return np.where(seen, 2.0 * linear / np.sqrt(np.where(seen, square, 1.0)) - self.norm, -np.inf)

    def outlook(self, targets: np.ndarray) -> Callable[[Prefixes, Sums], Sums]:
        """A function that adds the expected gains of the next symbols to the sums of `extended`; by default none."""
        return lambda prefixes, sums: sums
