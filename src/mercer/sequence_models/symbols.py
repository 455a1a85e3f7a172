"""Symbols as numbers."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

UNKNOWN = -1
"""The number of every symbol an alphabet does not hold."""


class Alphabet:
    """Distinct symbols in the order they were first seen, numbered from 0.

    Examples
    --------
    >>> alphabet = Alphabet("abca")
    >>> alphabet.symbols, alphabet.codes("cat").tolist(), "t" in alphabet
    (['a', 'b', 'c'], [2, 0, -1], False)
    """

    def __init__(self, symbols: Iterable[Hashable] = ()) -> None:
        self._numbers: dict[Hashable, int] = {symbol: i for i, symbol in enumerate(dict.fromkeys(symbols))}

    @property
    def symbols(self) -> list[Hashable]:
        """The symbols, by number."""
        return list(self._numbers)

    def codes(self, sequence: Iterable[Hashable]) -> np.ndarray:
        """The number of each symbol of `sequence`."""
        return np.asarray([self._numbers.get(symbol, UNKNOWN) for symbol in sequence], dtype=np.int64)

    def __contains__(self, symbol: Hashable) -> bool:
        return symbol in self._numbers

    def __len__(self) -> int:
        return len(self._numbers)

    # a saved model holds the symbols alone: keys of a dictionary do not survive in a file unless they are strings

    def __getstate__(self) -> dict[str, Any]:
        return {"symbols": self.symbols}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["symbols"])  # type: ignore[misc]
