"""Many pairs of strings side by side.

Pairs are laid out in lanes: entry w of every array belongs to the w-th of `LANES` pairs, and the innermost loop runs over the
lanes. Within one pair each step waits for the one before; the lanes do not wait for each other, so the compiler turns that
loop into vector instructions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mercer.core.arrays import cached_property
from mercer.core.compiled import compiled
from mercer.kernels.strings.base import Coded, require_one_kind
from mercer.structures.sequences import Codes

LANES = 32
"""Pairs computed together: a few vector registers' worth, so that their waits overlap."""

_LINE = 64
"""Bytes of a cache line."""

END_LEFT, END_RIGHT = -1, -2
"""Fill a lane after the end of its string; unequal, so that ends never match."""


class Packed(NamedTuple):
    """Strings for the compiled loops, which take the rows of a Gram matrix one by one and its columns in blocks."""

    symbols: np.ndarray
    starts: np.ndarray
    order: np.ndarray
    """The strings from the longest to the shortest, so that few lanes are padding."""
    blocks: np.ndarray
    """Entry [b, k, w] is symbol k of the w-th string of block b, in that order."""

    @classmethod
    def of(cls, codes: Codes) -> Packed:
        """Lay out strings in lanes."""
        lengths = codes.lengths
        order = np.argsort(-lengths, kind="stable")
        width, count = int(lengths.max()), -(-len(order) // LANES)
        padded = np.full((count * LANES, width), END_RIGHT, dtype=np.int32)
        strings = [codes.symbols[codes.starts[i] : codes.starts[i + 1]] for i in order]
        padded[: len(order)][np.arange(width) < lengths[order, None]] = np.concatenate(strings)
        blocks = np.ascontiguousarray(padded.reshape(count, LANES, width).transpose(0, 2, 1))
        # one type for all, so that the loops are compiled once
        return cls(codes.symbols.astype(np.int32), codes.starts, order, blocks)

    def against_themselves(self) -> tuple[np.ndarray, np.ndarray]:
        """Blocks of left and right strings, whose ends never match."""
        return np.where(self.blocks == END_RIGHT, np.int32(END_LEFT), self.blocks), self.blocks

    def in_order_given(self, values: np.ndarray) -> np.ndarray:
        """Values of the lanes in the order of the strings."""
        given = np.empty(len(self.order))
        given[self.order] = values.ravel()[: len(self.order)]
        return given


class Strings(Coded):
    """Sequences as integers, laid out in lanes once."""

    @cached_property
    def packed(self) -> Packed:
        """The strings for the compiled loops."""
        return Packed.of(self.codes)

    @property
    def longest(self) -> int:
        """The length of the longest string."""
        return int(self.codes.lengths.max())

    @property
    def total(self) -> int:
        """The number of symbols in all strings."""
        return len(self.codes.symbols)


def aligned(X: Strings, Z: Strings | None) -> tuple[Strings, Strings | None]:
    """Both collections with the same numbers for the same symbols: those of the one with more symbols."""
    require_one_kind(X, Z)
    if Z is None:
        return X, None
    if len(X.numbers or ()) <= len(Z.numbers or ()):
        return X.numbered_as(Z), Z
    return X, Z.numbered_as(X)


def on_lines(shape: tuple[int, ...], dtype: type = np.float64) -> np.ndarray:
    """An array, not filled, on cache lines of its own: vectors are read whole, and no thread waits for what another writes."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = np.empty(size + 2 * _LINE, dtype=np.uint8)
    start = -memory.ctypes.data % _LINE
    return memory[start : start + size].view(dtype).reshape(shape)


@compiled
def used(block: np.ndarray) -> int:
    """The length of the longest string of a block, which is its first."""
    length = block.shape[0]
    while length > 0 and block[length - 1, 0] < 0:
        length -= 1
    return length
