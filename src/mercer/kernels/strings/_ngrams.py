"""The n-grams of sequences, every run of n symbols, as integers."""

from __future__ import annotations

import numpy as np

from mercer.kernels._sparse import located
from mercer.structures.sequences import Codes

_LARGEST = 2**62
"""Upper bound of the numbers of n-grams."""


class Numbering:
    """Numbers for the n-grams of one length in a collection, and in others where they are the same n-grams.

    An n-gram is a number whose digits are its symbols. Numbers that get too large on the way, or would leave most columns of a
    matrix empty at the end, are replaced by their positions among those that occur.
    """

    def __init__(self, codes: Codes, length: int) -> None:
        self.length = length
        self.row, self.begin = places(codes, length)
        self.alphabet, index = positions(codes.symbols)
        self._renumbered: list[np.ndarray | None] = []
        base = len(self.alphabet)
        numbers, size = index[self.begin], base
        for j in range(1, length if len(self.begin) else 1):
            numbers, size = self._renumber(numbers, size, size >= _LARGEST // base)
            numbers, size = numbers * base + index[self.begin + j], size * base
        self.numbers, self.width = self._renumber(numbers, size, size > 2 * len(numbers) + 1024)

    def of(self, codes: Codes) -> tuple[np.ndarray, np.ndarray]:
        """The row and the number of each n-gram of another collection that occurs in this one."""
        row, begin = places(codes, self.length)
        index, known_symbols = located(codes.symbols, self.alphabet)
        numbers, known = index[begin], known_symbols[begin] & (len(self.begin) > 0)
        for j, values in enumerate(self._renumbered, start=1):
            if values is not None:
                numbers, found = located(numbers, values)
                known &= found
            if j < len(self._renumbered):
                numbers = numbers * len(self.alphabet) + index[begin + j]
                known &= known_symbols[begin + j]
        return row[known], numbers[known]

    def _renumber(self, numbers: np.ndarray, size: int, needed: bool) -> tuple[np.ndarray, int]:
        self._renumbered.append(None)
        if not needed:
            return numbers, size
        self._renumbered[-1], numbers = positions(numbers)
        return numbers, len(self._renumbered[-1])


def places(codes: Codes, length: int) -> tuple[np.ndarray, np.ndarray]:
    """The sequence and the first symbol of each n-gram."""
    row = np.repeat(np.arange(len(codes.lengths)), codes.lengths)
    begin = np.flatnonzero(np.arange(length, length + len(row)) <= codes.starts[row + 1])
    return row[begin], begin


def positions(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct numbers, ascending, and the position of each number among them."""
    distinct = np.unique(numbers)
    return distinct, np.searchsorted(distinct, numbers)
