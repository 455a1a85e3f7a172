"""The n-grams of sequences: every stretch of n symbols in a row, as integers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from mercer.structures.sequences import Codes

_LARGEST = 2**62
"""Numbers of n-grams stay below this."""


class Occurrences(NamedTuple):
    """Every n-gram of some sequences, in the order of the sequences: whose it is, where it starts, its number."""

    row: np.ndarray
    position: np.ndarray
    gram: np.ndarray


def occurrences(codes: list[Codes], length: int) -> tuple[list[Occurrences], int]:
    """The n-grams of one length in several collections, equal numbers for equal ones, and how many numbers there are."""
    symbols, count = renumbered([part.symbols for part in codes])
    numbers, size = symbols, count
    if not any((part.lengths >= length).any() for part in codes):  # no need to build up to any length there is
        numbers, size, length = [part[:0] for part in symbols], 0, 1
    for j in range(1, length):
        if size >= _LARGEST // max(count, 1):
            numbers, size = renumbered(numbers)
        numbers = [
            head[:-1] * count + part[j:] if len(part) > j else head[:0]
            for head, part in zip(numbers, symbols, strict=True)
        ]
        size *= count
    found = []
    for part, each in zip(codes, numbers, strict=True):
        row = np.repeat(np.arange(len(part.lengths)), part.lengths)[: len(each)]
        position = np.arange(len(each)) - part.starts[row]
        inside = position + length <= part.lengths[row]
        found.append(Occurrences(row[inside], position[inside], each[inside]))
    grams, size = compact([part.gram for part in found], size)
    return [part._replace(gram=gram) for part, gram in zip(found, grams, strict=True)], size


def counted(
    row: np.ndarray, column: np.ndarray, shape: tuple[int, int], weights: np.ndarray | None = None
) -> sparse.csr_array:
    """How often each column occurs in each row, or the sum of the weights of those occurrences."""
    values = np.ones(len(row)) if weights is None else weights
    return sparse.coo_array((values, (row, column)), shape=shape).tocsr()


def compact(parts: list[np.ndarray], size: int) -> tuple[list[np.ndarray], int]:
    """Numbers below `size`, renumbered where they would leave most columns of a matrix empty, and how many there are now."""
    return renumbered(parts) if size > 2 * sum(map(len, parts)) + 1024 else (parts, size)


def renumbered(parts: list[np.ndarray]) -> tuple[list[np.ndarray], int]:
    """The numbers that occur, renumbered from zero in the same order."""
    everything = np.concatenate(parts).astype(np.int64)
    values = np.unique(everything)
    places = np.searchsorted(values, everything)
    return np.split(places, np.cumsum([len(part) for part in parts])[:-1]), len(values)
