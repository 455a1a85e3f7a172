"""Exact search for the most similar of very many molecules, read block by block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from mercer.core.blocks import as_blocks
from mercer.core.compiled import compiled
from mercer.core.threads import in_threads
from mercer.core.validation import check_whole
from mercer.structures.molecules.bits import WORTH_THREADS, bit_counts, shared_bits, words
from mercer.structures.molecules.device_search import DeviceBest, packed_rows
from mercer.structures.molecules.fingerprints import as_packed

_BLOCK = 2**16  # candidates compared together: 16 MiB of fingerprints of 2048 bits
_GROUP = 2**12  # candidates that stay in a core's cache while all queries are compared with them


class Neighbors(NamedTuple):
    """Positions of the nearest candidates of each query, best first, and their similarities: k columns, or fewer."""

    indices: np.ndarray
    similarities: np.ndarray


def top_k_tanimoto(
    queries: Any,
    candidates: Any,
    k: int = 20,
    *,
    block_size: int = _BLOCK,
    device: str | None = None,
    **fingerprint: Any,
) -> Neighbors:
    """Find the k candidates with the largest Tanimoto similarity to each query, exactly.

    One block of candidates is held at a time. The similarity of sets of a and b bits is at most min(a, b) / max(a, b), so
    candidates are sorted by their number of bits and most are never compared.

    Parameters
    ----------
    queries : array (q, bytes) of uint8, or SMILES
        Packed fingerprints, or text they are made from (needs rdkit).
    candidates : array (n, bytes) of uint8, SMILES, rows in blocks (`mercer.io`), or an iterator of such blocks
        A memory-mapped array, a file or a generator need not fit in memory. A tensor of PyTorch may live on the device.
    k : int
        Number of candidates to find. Of equal similarities the candidate that comes first is preferred.
    block_size : int
        Number of candidates held at a time.
    device : str, optional
        A device of PyTorch, such as "cuda", where all candidates are compared by matrix products, in single precision; by
        default the processor, which compares few of them.
    **fingerprint
        `kind`, `radius` and `bits` of the fingerprints made from SMILES, as for `fingerprints`.

    Examples
    --------
    >>> codes = np.packbits([[1, 1, 0, 0], [1, 1, 1, 1], [0, 0, 1, 1]], axis=1)
    >>> found = top_k_tanimoto(codes[:1], codes, k=2)
    >>> found.indices.tolist(), found.similarities.tolist()
    ([[0, 1]], [[1.0, 0.5]])
    """
    check_whole(k, "k", expected="the number of candidates to find, a whole number from 1")
    check_whole(block_size, "block_size", expected="the number of candidates to hold, a whole number from 1")
    own = as_packed(queries, "queries", **fingerprint)
    best = _Best(words(own), k) if device is None else DeviceBest(own, k, device)
    for block in _blocks(candidates, block_size):
        tensor = None if device is None else packed_rows(block)
        packed = as_packed(block, "candidates", **fingerprint) if tensor is None else tensor
        best.merge(words(packed) if device is None else packed)
    if best.seen == 0:
        raise ValueError("candidates is empty; expected at least one fingerprint")
    return Neighbors(*best.found())


def _blocks(candidates: Any, size: int) -> Iterator[Any]:
    """Cut the candidates, or each block of an iterator, into parts of at most `size`."""
    rows = as_blocks(candidates, "candidates")
    if rows is not None:
        yield from (block for _, block in rows.blocks(size))
        return
    whole: Iterable[Any] = candidates if hasattr(candidates, "__next__") else [candidates]
    for part in whole:
        for start in range(0, len(part), size):
            yield part[start : start + size]


class _Best:
    """The k best candidates of each query so far."""

    def __init__(self, queries: np.ndarray, k: int) -> None:
        self.queries, self.counts = queries, bit_counts(queries)
        self.indices = np.full((len(queries), k), -1, dtype=np.int64)
        self.similarities = np.full((len(queries), k), -1.0)
        self.seen = 0

    def found(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the positions of the best candidates, and their similarities."""
        return self.indices[:, : self.seen], self.similarities[:, : self.seen]

    def merge(self, block: np.ndarray) -> None:
        """Compare the queries with a block of candidates."""
        if block.shape[1] != self.queries.shape[1]:
            lengths = f"candidates have {8 * block.shape[1]} bytes each and queries {8 * self.queries.shape[1]}"
            raise ValueError(f"{lengths}; expected fingerprints of one length")
        order = np.argsort(bit_counts(block), kind="stable")
        block = block[order]
        numbers, sizes = order.astype(np.int64) + self.seen, bit_counts(block)

        def fill(rows: np.ndarray) -> None:
            for start in range(0, len(block), _GROUP):
                group = slice(start, start + _GROUP)
                _search(
                    self.queries, self.counts, block[group], sizes[group], numbers[group], rows[0], rows[-1] + 1,
                    self.indices, self.similarities,
                )  # fmt: skip

        in_threads(fill, len(self.queries), len(self.queries) * block.size >= WORTH_THREADS)
        self.seen += len(block)


@compiled
def _search(left, counts, right, sizes, numbers, first, last, indices, best):  # type: ignore[no-untyped-def]  # noqa: PLR0913
    """Compare candidates sorted by size, from the size of the query outwards, until none can be among the best."""
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
