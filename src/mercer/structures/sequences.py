"""Sequences of symbols, and their symbols as integer codes for compiled loops."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from mercer.core.collections import hash_key


class Codes(NamedTuple):
    """Sequences end to end: the i-th is ``symbols[starts[i]:starts[i + 1]]``."""

    symbols: np.ndarray
    starts: np.ndarray

    @property
    def lengths(self) -> np.ndarray:
        """The length of each sequence."""
        return np.diff(self.starts)

    def padded(self, width: int) -> np.ndarray:
        """Return the codes as rows of a matrix, with -1 after the end of each sequence."""
        rows = np.full((len(self.lengths), width), -1, dtype=np.int64)
        rows[np.arange(width) < self.lengths[:, None]] = self.symbols
        return rows


def is_sequence(thing: Any) -> bool:
    """Whether `thing` is a string, a list, a tuple, another sequence, or a 1-D array."""
    return isinstance(thing, Sequence) or getattr(thing, "ndim", 0) == 1


def require_sequence(thing: Any, name: str, expected: str = "a sequence, such as a string") -> None:
    """Raise TypeError unless `thing` is a sequence."""
    if not is_sequence(thing):
        raise TypeError(f"{name} is {thing!r:.60}, a {type(thing).__name__}; expected {expected}")


def encode(*collections: Iterable[Iterable[Any]]) -> list[Codes]:
    """Encode the sequences of each collection as integers, equal for equal symbols across all collections."""
    numbers: dict[Any, int] = {}
    encoded = []
    for collection in collections:
        symbols: list[int] = []
        starts = [0]
        for sequence in collection:
            symbols.extend(numbers.setdefault(hash_key(part), len(numbers)) for part in sequence)
            starts.append(len(symbols))
        encoded.append(Codes(np.asarray(symbols, dtype=np.int64), np.asarray(starts)))
    return encoded
