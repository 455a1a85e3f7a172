"""Sets of bits packed eight to a byte, and their Tanimoto similarities by counting bits a word at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.core.compiled import compiled, deferred
from mercer.core.threads import in_threads

WORTH_THREADS = 2**22  # words compared, a few milliseconds of work, from which a second thread is worth starting
_TILE = 256  # rows on the right that stay in a core's cache while many rows on the left are compared with them


def words(packed: np.ndarray) -> np.ndarray:
    """Convert rows of bytes to rows of 64-bit words, padded with zeros."""
    padded = np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8)))
    return np.ascontiguousarray(padded).view(np.uint64)


def bit_counts(packed_words: np.ndarray) -> np.ndarray:
    """Count the bits set in each row."""
    if hasattr(np, "bitwise_count"):  # NumPy 2
        return np.bitwise_count(packed_words).sum(axis=1, dtype=np.int32)
    return np.unpackbits(packed_words.view(np.uint8), axis=1).sum(axis=1, dtype=np.int32)


def tanimoto(left: np.ndarray, right: np.ndarray | None) -> np.ndarray:
    """Return |a ∩ b| / |a ∪ b| for all pairs of rows of words; 1 for two empty sets."""
    others = left if right is None else right
    counts, other_counts = bit_counts(left), bit_counts(others)
    values = np.empty((len(left), len(others)))

    def fill(rows: np.ndarray) -> None:
        _fill(left, counts, others, other_counts, rows[0], rows[-1] + 1, right is None, values)

    in_threads(fill, len(left), values.size * left.shape[1] >= WORTH_THREADS)
    return _mirrored(values) if right is None else values


def _mirrored(values: np.ndarray) -> np.ndarray:
    """Copy the lower triangle to the upper one."""
    for start in range(0, len(values), _TILE):
        rows = slice(start, start + _TILE)
        block = values[rows, rows]
        block[np.triu_indices(len(block), 1)] = block.T[np.triu_indices(len(block), 1)]
        values[rows, start + _TILE :] = values[start + _TILE :, rows].T
    return values


@deferred
def popcount() -> Any:
    """Count the bits of a 64-bit word by the instruction of the processor."""
    from llvmlite import ir
    from numba.core import types
    from numba.extending import intrinsic

    def count(typing_context: Any, word: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.call(builder.module.declare_intrinsic("llvm.ctpop", [ir.IntType(64)]), arguments)

        return types.uint64(types.uint64), generate

    return intrinsic(count)


@compiled(inline="always")
def shared_bits(a: np.ndarray, b: np.ndarray) -> Any:
    """Count the bits that two rows of words have in common."""
    total = np.uint64(0)
    for j in range(len(a)):
        total += popcount(a[j] & b[j])
    return np.int64(total)


@compiled
def _fill(left, counts, right, other_counts, first, last, symmetric, values):  # type: ignore[no-untyped-def]  # noqa: PLR0913
    for begin in range(0, last if symmetric else len(right), _TILE):
        end = min(begin + _TILE, len(right))
        for i in range(max(first, begin) if symmetric else first, last):
            for j in range(begin, min(end, i + 1) if symmetric else end):
                common = shared_bits(left[i], right[j])
                union = counts[i] + other_counts[j] - common
                values[i, j] = common / union if union > 0 else 1.0
