"""The symbols of answers, and answers in the type of the training outputs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.core.collections import Collection
from mercer.core.validation import is_real


@dataclass(frozen=True)
class Alphabet:
    """Symbols by number, in the order in which they first occur.

    Examples
    --------
    >>> alphabet = Alphabet.of(np.array(["ba", "abc"], dtype=object))
    >>> alphabet.symbols, alphabet.word([0, 2])
    (['b', 'a', 'c'], 'bc')
    """

    symbols: list[Hashable]
    kind: type[Any]
    """The type of the training outputs."""

    @classmethod
    def of(cls, outputs: Collection, given: Iterable[Hashable] | None = None) -> Alphabet:
        """The given symbols, or by default those of the outputs."""
        kind = type(outputs[0])
        if given is None:
            symbols = list(dict.fromkeys(_plain(symbol) for output in outputs for symbol in output))
            if not symbols:
                raise ValueError("every training output is empty; expected outputs with symbols to make answers of")
            return cls(symbols, kind)
        symbols = list(given) if hasattr(given, "__iter__") else []
        if not symbols or len(set(symbols)) < len(symbols):
            raise ValueError(f"alphabet={given!r:.60}; expected at least one symbol, and each of them once")
        if issubclass(kind, str):
            for symbol in symbols:
                if not isinstance(symbol, str) or len(symbol) != 1:
                    raise ValueError(
                        f"alphabet holds {symbol!r}; expected single characters, as the outputs are strings"
                    )
        return cls(symbols, kind)

    def __len__(self) -> int:
        return len(self.symbols)

    def word(self, numbers: Iterable[int]) -> Any:
        """The sequence of the symbols with these numbers."""
        symbols = [self.symbols[int(number)] for number in numbers]
        if issubclass(self.kind, str):
            return "".join(symbols)  # type: ignore[arg-type]
        return np.asarray(symbols) if issubclass(self.kind, np.ndarray) else self.kind(symbols)

    def words(self, rows: Sequence[Iterable[int]]) -> np.ndarray:
        """Sequences as a collection."""
        collection = np.empty(len(rows), dtype=object)
        for i, row in enumerate(rows):
            collection[i] = self.word(row)
        return collection

    def numbers(self, sequence: Iterable[Any]) -> list[int]:
        """The number of each symbol; -1 for one that is not in the alphabet."""
        index = {symbol: number for number, symbol in enumerate(self.symbols)}
        return [index.get(_plain(symbol), -1) for symbol in sequence]

    def with_unseen(self) -> Alphabet:
        """The alphabet with one symbol more, its last, that no training output has."""
        other: Hashable = ("no such symbol",)
        if issubclass(self.kind, str):
            code = 1
            while chr(code) in self.symbols:
                code += 1
            other = chr(code)
        elif issubclass(self.kind, np.ndarray):
            numbers: list[Any] = [symbol for symbol in self.symbols if is_real(symbol)]
            other = (max(numbers) + 1) if numbers else "\x01"
        return Alphabet([*self.symbols, other], self.kind)


def _plain(symbol: Any) -> Hashable:
    """The symbol as a Python value, where it is a NumPy one."""
    return symbol.item() if hasattr(symbol, "item") else symbol
