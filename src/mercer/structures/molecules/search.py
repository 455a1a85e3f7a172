"""The most similar of very many molecules, read block by block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numba
import numpy as np

from mercer.structures.molecules.bits import bit_counts, in_threads, shared_bits, words
from mercer.structures.molecules.fingerprints import as_packed

_BLOCK = 2**16
"""Candidates looked at together: 16 MiB of fingerprints of 2048 bits."""

_GROUP = 2**12
"""Candidates that stay in a core's cache while all queries pass by."""


class Neighbors(NamedTuple):
    """Positions of the nearest candidates of each query, best first, and their similarities.

    Where there are fewer candidates than asked for, both have as many columns as there are.
    """

    indices: np.ndarray
    similarities: np.ndarray


def top_k_tanimoto(
    queries: Any, candidates: Any, k: int = 20, *, radius: int = 2, bits: int = 2048, block_size: int = _BLOCK
) -> Neighbors:
    """The k candidates with the largest Tanimoto similarity to each query, exactly.

    One block of candidates is held at a time. In a block, candidates are taken in the order of how many bits they have:
    of sets of a and b bits the similarity is at most min(a, b) / max(a, b), so most are never compared.

    Parameters
    ----------
    queries : array (q, bytes) of uint8, or SMILES
        Packed fingerprints, or text they are made from (needs rdkit).
    candidates : array (n, bytes) of uint8, SMILES, or an iterator of such blocks
        A memory-mapped array or a generator keeps the whole from ever being in memory.
    k : int
        How many to find. Equal similarities go to the candidate that comes first.
    radius, bits : int
        Of the Morgan fingerprints made from SMILES.
    block_size : int
        How many candidates are taken at a time.

    Examples
    --------
    >>> codes = np.packbits([[1, 1, 0, 0], [1, 1, 1, 1], [0, 0, 1, 1]], axis=1)
    >>> found = top_k_tanimoto(codes[:1], codes, k=2)
    >>> found.indices.tolist(), found.similarities.tolist()
    ([[0, 1]], [[1.0, 0.5]])
    """
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise ValueError(f"k={k!r}; expected how many candidates to find, a whole number from 1")
    if isinstance(block_size, bool) or not isinstance(block_size, int | np.integer) or block_size < 1:
        raise ValueError(f"block_size={block_size!r}; expected how many candidates to hold, a whole number from 1")
    left = words(as_packed(queries, "queries", "morgan", radius, bits))
    counts = bit_counts(left)
    indices = np.full((len(left), k), -1, dtype=np.int64)
    similarities = np.full((len(left), k), -1.0)
    done = 0
    for block in _blocks(candidates, block_size):
        right = words(as_packed(block, "candidates", "morgan", radius, bits))
        if right.shape[1] != left.shape[1]:
            raise ValueError(
                f"candidates have {8 * right.shape[1]} bytes each and queries {8 * left.shape[1]}; expected fingerprints of "
                "one length"
            )
        _merge(left, counts, right, done, indices, similarities)
        done += len(right)
    if done == 0:
        raise ValueError("candidates is empty; expected at least one fingerprint")
    return Neighbors(indices[:, :done], similarities[:, :done])


def _blocks(candidates: Any, size: int) -> Iterator[Any]:
    """The candidates in parts of at most `size`; an iterator brings its own, which are cut further."""
    whole: Iterable[Any] = candidates if isinstance(candidates, Iterator) else [candidates]
    for part in whole:
        for start in range(0, len(part), size):
            yield part[start : start + size]


def _merge(
    left: np.ndarray, counts: np.ndarray, right: np.ndarray, offset: int, indices: np.ndarray, best: np.ndarray
) -> None:
    """Put what a block has to offer into the k best so far."""
    order = np.argsort(bit_counts(right), kind="stable")
    right = right[order]
    numbers = order.astype(np.int64) + offset
    sizes = bit_counts(right)

    def fill(rows: np.ndarray) -> None:
        for start in range(0, len(right), _GROUP):
            group = slice(start, start + _GROUP)
            _search(left, counts, right[group], sizes[group], numbers[group], rows[0], rows[-1] + 1, indices, best)

    in_threads(fill, len(left), left.shape[0] * right.size)


@numba.njit(cache=True, nogil=True)
def _search(left, counts, right, sizes, numbers, first, last, indices, best):  # type: ignore[no-untyped-def]
    """Candidates sorted by size; from the size of the query outwards, until none can be among the best."""
    k = best.shape[1]
    for i in range(first, last):
        middle = np.searchsorted(sizes, counts[i])
        for up in (True, False):
            j = middle if up else middle - 1
            while 0 <= j < len(right):
                # divided as a similarity is, so that a bound that is reached is not below it
                smaller, larger = min(counts[i], sizes[j]), max(counts[i], sizes[j])
                bound = smaller / larger if larger > 0 else 1.0
                if bound < best[i, k - 1]:
                    break
                common = shared_bits(left[i], right[j])
                union = counts[i] + sizes[j] - common
                value = common / union if union > 0 else 1.0
                if value > best[i, k - 1] or (value == best[i, k - 1] and numbers[j] < indices[i, k - 1]):
                    place = k - 1
                    while place > 0 and (
                        value > best[i, place - 1]
                        or (value == best[i, place - 1] and numbers[j] < indices[i, place - 1])
                    ):
                        best[i, place], indices[i, place] = best[i, place - 1], indices[i, place - 1]
                        place -= 1
                    best[i, place], indices[i, place] = value, numbers[j]
                j = j + 1 if up else j - 1
