"""Symbols as numbers, and sequences of symbols as the user writes them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np

from mercer.core.collections import as_objects
from mercer.structures.sequences import require_sequence

UNKNOWN = -1  # the number of every symbol that an alphabet does not hold
Symbols = Sequence[Hashable]
Chunk = tuple[Hashable, ...]  # the run of output symbols, empty or short, that one input symbol stands for


class Alphabet:
    """Distinct symbols in the order they were first seen, numbered from 0."""

    def __init__(self, symbols: Iterable[Hashable] = ()) -> None:
        self._numbers: dict[Hashable, int] = {symbol: i for i, symbol in enumerate(dict.fromkeys(symbols))}

    @property
    def symbols(self) -> list[Any]:
        """The symbols, by number."""
        return list(self._numbers)

    def codes(self, sequence: Iterable[Hashable]) -> np.ndarray:
        """Return the number of each symbol of `sequence`."""
        return np.asarray([self._numbers.get(symbol, UNKNOWN) for symbol in sequence], dtype=np.int64)

    def __len__(self) -> int:
        return len(self._numbers)

    def __getstate__(self) -> dict[str, Any]:
        # a saved model holds the symbols alone: the keys of a dictionary are not kept in a file unless they are strings
        return {"symbols": self.symbols}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["symbols"])  # type: ignore[misc]


@dataclass
class SequenceCodec:
    """Conversion between the user's sequences (strings, or lists or tuples like the first one) and tuples of symbols."""

    kind: str

    @classmethod
    def of(cls, sequences: Iterable[Any]) -> SequenceCodec:
        """Return the codec of a collection."""
        sequences = list(sequences)
        if all(isinstance(sequence, str) for sequence in sequences):
            return cls("str")
        return cls("list" if isinstance(sequences[0], list) else "tuple")

    @staticmethod
    def encode(sequences: Any, name: str) -> list[tuple[Hashable, ...]]:
        """Return each sequence as a tuple of symbols."""
        found = []
        for i, sequence in enumerate(as_objects(sequences, name)):
            require_sequence(sequence, f"{name}[{i}]", "a string, or a list of symbols")
            tokens = tuple(sequence.tolist() if hasattr(sequence, "tolist") else sequence)
            try:
                hash(tokens)
            except TypeError as error:
                wrong = f"{name}[{i}] is {sequence!r:.40}, with a symbol that has no hash"
                raise TypeError(f"{wrong}; expected strings or numbers") from error
            if any(isinstance(symbol, float) and isnan(symbol) for symbol in tokens):
                raise ValueError(f"{name}[{i}] holds nan, which no symbol is equal to; expected strings or numbers")
            found.append(tokens)
        return found

    def decode(self, sequences: Sequence[tuple[Hashable, ...]]) -> np.ndarray:
        """Return tuples of symbols as the user writes them."""
        if self.kind == "str":
            return as_objects(["".join(map(str, sequence)) for sequence in sequences])
        return as_objects([list(sequence) if self.kind == "list" else sequence for sequence in sequences])
