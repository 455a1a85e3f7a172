"""Many pairs of strings side by side.

Pairs are laid out in lanes: entry w of every array belongs to the w-th of `LANES` pairs, and the
innermost loop runs over the lanes. Within one pair each step waits for the one before; the lanes do
not wait for each other, so the compiler turns that loop into vector instructions.
"""

from __future__ import annotations

import numpy as np

from mercer.core.compiled import compiled
from mercer.structures.sequences import Codes

LANES = 32
"""Pairs computed together: a few vector registers' worth, so that their waits overlap."""

_LINE = 64
"""Bytes of a cache line."""

END_LEFT, END_RIGHT = -1, -2
"""What fills a lane after the end of its string; unequal, so that ends never match."""


def longest_first(codes: Codes) -> np.ndarray:
    """An order that puts strings of one length side by side, so that few lanes are padding."""
    return np.argsort(-codes.lengths, kind="stable")


def packed(codes: Codes, order: np.ndarray, end: int) -> np.ndarray:
    """The strings in blocks of `LANES`: entry [b, k, w] is symbol k of the w-th string of block b."""
    width, count = int(codes.lengths.max()), -(-len(order) // LANES)
    padded = np.full((count * LANES, width), end, dtype=np.int32)
    strings = [codes.symbols[codes.starts[i] : codes.starts[i + 1]] for i in order]
    padded[: len(order)][np.arange(width) < codes.lengths[order, None]] = np.concatenate(strings)
    return np.ascontiguousarray(padded.reshape(count, LANES, width).transpose(0, 2, 1))


def on_lines(shape: tuple[int, ...], dtype: type = np.float64) -> np.ndarray:
    """An array, not filled, on cache lines of its own: vectors are read whole, and no thread waits for what another writes.

    Examples
    --------
    >>> on_lines((3, 2)).shape, on_lines((5,)).ctypes.data % 64
    ((3, 2), 0)
    """
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
