"""The symbols of answers, their type and their allowed lengths."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from mercer.core.collections import Collection
from mercer.core.validation import is_real, is_whole
from mercer.decoders.pool import snapped


@dataclass(frozen=True)
class Alphabet:
    """Symbols by number, in the order in which they first occur."""

    symbols: list[Hashable]
    kind: type[Any]  # the type of the training outputs

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
        odd = [symbol for symbol in symbols if issubclass(kind, str) and symbol not in list(str(symbol))]
        if odd:
            raise ValueError(f"alphabet holds {odd[0]!r}; expected single characters, as the outputs are strings")
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
        return np.fromiter(map(self.word, rows), dtype=object, count=len(rows))

    def numbers(self, sequence: Iterable[Any]) -> list[int]:
        """The number of each symbol; -1 for one that is not in the alphabet."""
        index = {symbol: number for number, symbol in enumerate(self.symbols)}
        return [index.get(_plain(symbol), -1) for symbol in sequence]

    def with_unseen(self) -> Alphabet:
        """The alphabet with one symbol more, its last, that no training output has."""
        other: Hashable = ("no such symbol",)
        if issubclass(self.kind, str):
            other = next(character for character in map(chr, count(1)) if character not in self.symbols)
        elif issubclass(self.kind, np.ndarray):
            numbers: list[Any] = [symbol for symbol in self.symbols if is_real(symbol)]
            other = (max(numbers) + 1) if numbers else "\x01"
        return Alphabet([*self.symbols, other], self.kind)


def _plain(symbol: Any) -> Hashable:
    """The symbol as a Python value, where it is a NumPy one."""
    return symbol.item() if hasattr(symbol, "item") else symbol


class Lengths(NamedTuple):
    """The shortest and the longest allowed length of the answer, for each point."""

    low: np.ndarray
    high: np.ndarray

    def only(self, rows: Any) -> Lengths:
        """Those of some points."""
        return Lengths(self.low[rows], self.high[rows])


class LengthRule:
    """The parameter ``length`` of a decoder, checked: a number, a range, "predicted" or None.

    `seen` are the lengths of the training outputs the kernel sees, `shortest` is the length of the shortest sequence it sees,
    and `longest` that of the longest it knows about, if there is a limit.
    """

    def __init__(self, length: Any, seen: np.ndarray, shortest: int, longest: int | None = None) -> None:
        self.predicted = str(length) == "predicted"
        low, high = (int(seen.min()), int(seen.max())) if self.predicted else (shortest, int(seen.max()))
        if length is not None and not self.predicted:
            pair = tuple(length) if type(length) in (tuple, list) else (length, length)
            if len(pair) != 2 or not all(is_whole(n) and n >= 0 for n in pair) or pair[0] > pair[1]:
                raise ValueError(
                    f"length={length!r}; expected a whole number, (shortest, longest), 'predicted', or None for any length up "
                    "to that of the longest training output"
                )
            low, high = map(int, pair)
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
