"""Collections in row blocks: read block by block, as often as needed, and never held as a whole.

A solver works on such a collection in two ways: `each` gives one result for each block, in order, and `total` their sum. Where
the work is done is up to the collection: here, one block after the other, or as tasks on a cluster (`mercer.core.dask_blocks`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import copy
from typing import Any, Self, TypeGuard

import numpy as np

from mercer.core.arrays import Array, is_array, is_numpy_array, is_sparse, namespace
from mercer.core.collections import Collection, concatenate, count, is_blocks, take

_CHUNK = 2**16
"""Rows whose random priorities are drawn together; they do not depend on the blocks."""

_BLOCK = 2**16
"""Rows of a block of an array, unless work asks for fewer."""


class RowBlocks:
    """A collection that is read block by block.

    A new kind of source defines `read`, and `size` if the number of rows is known without reading.
    """

    in_blocks = True
    """Says that the rows are not in memory (see `mercer.core.collections.is_blocks`)."""
    name = "X"
    """The argument, for errors."""
    size: int | None = None
    """The number of rows; None until they have been read once."""
    transforms: tuple[Callable[[Any], Any], ...] = ()
    _sampled: tuple[tuple[int, int], tuple[np.ndarray, Any]] | None = None

    def read(self) -> Iterator[Any]:
        """Yield the blocks in order, each a collection; every call begins again."""
        raise TypeError(f"{type(self).__name__} must define read()")

    def mapped(self, function: Callable[[Any], Any], changes: bool = True) -> Self:
        """Return the collection of the same rows under a function of blocks, applied when they are read.

        A function that only checks them is said not to change them, and what was read before is kept.
        """
        other = copy(self)
        other.transforms, other._sampled = (*self.transforms, function), None if changes else self._sampled
        return other

    def transformed(self, block: Any) -> Any:
        """Return a block as it was read, under the functions it is mapped by."""
        for function in self.transforms:
            block = function(block)
        return block

    def blocks(self, most: int | None = None) -> Iterator[tuple[slice, Any]]:
        """Yield the place of each block among the rows, and the block; at most `most` rows at a time.

        Raise ValueError if another number of rows is read than before.
        """
        start = 0
        for block in self.read():
            rows = count(block)
            if self.size is not None and start + rows > self.size:
                self._differs(f"more than {self.size}")
            block = self.transformed(block) if rows else block
            step = rows if most is None else most
            for first in range(0, rows, max(1, step)):
                some = slice(first, min(first + step, rows))
                yield slice(start + some.start, start + some.stop), block if step >= rows else take(block, some)
            start += rows
        if self.size is not None and start != self.size:
            self._differs(f"{start}")
        self.size = start

    def _differs(self, found: str) -> None:
        raise ValueError(
            f"{self.name} gave {self.size} rows when it was first read, and {found} when it was read again; expected the same "
            "rows each time. A function that returns batches has to begin anew at each call"
        )

    def each(self, function: Callable[..., Any], *rows: Any, most: int | None = None) -> Iterator[Any]:
        """Yield the value of a function of each block and of the same rows of other arrays, in order."""
        for where, block in self.blocks(most):
            yield function(block, *(take(other, where) for other in rows))

    def total(self, function: Callable[..., tuple[Any, ...]], *rows: Any, most: int | None = None) -> tuple[Any, ...]:
        """Return the sum over the blocks of a function that returns a tuple of arrays and numbers."""
        found: tuple[Any, ...] | None = None
        for part in self.each(function, *rows, most=most):
            found = part if found is None else added(found, part)
        if found is None:
            raise ValueError(f"{self.name} has no rows; expected at least one")
        return found

    def tiles(self, function: Callable[..., tuple[Array, Array]], rows: Array, most: int | None = None) -> Array:
        """Return the product of a symmetric matrix, given by its tiles, with `rows`.

        ``function(own, other, rows of own, rows of other)`` returns what a tile adds to the rows of `own` and to those of
        `other`; on the diagonal, where `other` is None, to the former.
        """
        found: Any = namespace(rows).zeros_like(rows)
        for place, block in self.blocks(most):
            own = take(rows, place)
            for where, other in self.blocks(most):
                if where.start >= place.start:
                    break
                here, there = function(block, other, own, take(rows, where))
                found[place, :] += here
                found[where, :] += there
            found[place, :] += function(block, None, own, own)[0]
        return found

    def gather(self, positions: np.ndarray) -> Collection:
        """Return the rows at some positions, in increasing order, as a collection in memory."""
        found: Any = None
        for where, block in self.blocks():
            own = positions[(positions >= where.start) & (positions < where.stop)] - where.start
            if len(own):
                part = take(block, own)
                found = part if found is None else concatenate(found, part)
        return found

    def sample(self, most: int, random_state: int = 0) -> tuple[np.ndarray, Any]:
        """Return the positions and the rows of at most `most` rows, drawn at random without replacement, in order.

        The positions depend on the number of rows and the seed alone, not on the blocks. Rows whose number is not known yet
        are counted in the same pass.
        """
        asked = most, random_state
        if self._sampled is None or self._sampled[0] != asked:
            self._sampled = asked, self._drawn(most, random_state)
        return self._sampled[1]

    def _drawn(self, most: int, random_state: int) -> tuple[np.ndarray, Any]:
        if self.size is not None:
            positions = least_priorities(self.size, most, random_state)
            return positions, self.gather(positions)
        positions, keys, rows = np.empty(0, dtype=np.intp), np.empty(0), None
        for where, block in self.blocks(_CHUNK):
            own = priorities(where.start, where.stop, random_state)
            # what is above the largest of `most` that are kept is never among the least
            kept = np.flatnonzero(own <= keys.max()) if len(keys) == most else np.arange(len(own))
            if not len(kept):
                continue
            part = take(block, kept)
            rows = part if rows is None else concatenate(rows, part)
            positions, keys = np.append(positions, where.start + kept), np.append(keys, own[kept])
            if len(keys) > most:
                least = np.sort(np.argpartition(keys, most - 1)[:most])
                positions, keys, rows = positions[least], keys[least], take(rows, least)
        return positions, rows

    @property
    def shape(self) -> tuple[int]:
        """The number of rows."""
        return (len(self),)

    def __len__(self) -> int:
        if self.size is None:
            for _ in self.blocks():
                pass
        assert self.size is not None
        return self.size

    def __getitem__(self, index: Any) -> RowBlocks:
        index = index[0] if isinstance(index, tuple) else index  # (rows, ...)
        return SomeRows(self, np.arange(len(self))[index])

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_sampled": None}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({'' if self.size is None else f'{self.size} rows'})"


class ArrayBlocks(RowBlocks):
    """The rows of an array, in memory or mapped from a file.

    Examples
    --------
    >>> rows = ArrayBlocks(np.arange(6.0).reshape(3, 2))
    >>> rows.total(lambda block: (float(block.sum()),), most=2)
    (15.0,)
    """

    def __init__(self, array: Any, name: str = "X", step: int = _BLOCK) -> None:
        self.array, self.name, self.size, self.step = _plain(array), name, count(array), step

    def read(self) -> Iterator[Any]:
        """Yield slices of the array; those of a memory map are read when they are used."""
        for start in range(0, self.size or 0, self.step):
            yield _plain(take(self.array, slice(start, min(start + self.step, self.size or 0))))

    def blocks(self, most: int | None = None) -> Iterator[tuple[slice, Any]]:
        """Yield the place of each block and the block, of any size that is asked for."""
        if most is not None and most != self.step:
            yield from self._cut(most).blocks(most)
        else:
            yield from super().blocks(most)

    def _cut(self, step: int) -> ArrayBlocks:
        other = copy(self)
        other.step = step
        return other

    def gather(self, positions: np.ndarray) -> Collection:
        """Return the rows at some positions."""
        return self.transformed(_plain(take(self.array, positions)))


class Batches(RowBlocks):
    """Batches of rows that a function reads anew each time it is called.

    Parameters
    ----------
    factory : callable or sequence of collections
        A function without arguments that returns an iterable of batches, or a list of them. Batches are collections of any
        length: arrays with one row per object, lists of objects, frames.
    name : str
        The argument, for errors.

    Examples
    --------
    >>> def read():
    ...     for start in range(0, 6, 2):
    ...         yield np.arange(start, start + 2.0)[:, None]
    >>> len(Batches(read))
    6
    """

    def __init__(self, factory: Any, name: str = "X") -> None:
        if hasattr(factory, "__next__"):
            raise TypeError(
                f"{name} is {factory!r:.40}, an iterator, which can be read once, and the rows are read more than once; "
                "expected a function that returns a new iterator at each call, as in Batches(lambda: read(path))"
            )
        if not callable(factory) and not hasattr(factory, "__len__"):
            raise TypeError(
                f"{name} is {factory!r:.40}; expected a function that returns batches, or a list of batches"
            )
        self.factory, self.name = factory, name

    def read(self) -> Iterator[Any]:
        """Yield the batches of a new call."""
        found: Iterable[Any] = self.factory() if callable(self.factory) else self.factory
        for number, batch in enumerate(found):
            if not hasattr(batch, "__len__"):
                raise TypeError(
                    f"batch {number} of {self.name} is {batch!r:.40}, a {type(batch).__name__}; expected a collection of rows"
                )
            if count(batch):
                yield batch


class Unread(RowBlocks):
    """The place of rows that are not part of a saved model."""

    def __init__(self, size: int) -> None:
        self.size = size

    def read(self) -> Iterator[Any]:
        """Raise ValueError."""
        raise ValueError(
            "the training inputs were read in blocks and are not part of a model that was saved or copied; fit again to leave "
            "pairs out"
        )


class SomeRows(RowBlocks):
    """Some rows of a collection in blocks, at increasing positions."""

    def __init__(self, source: RowBlocks, positions: np.ndarray) -> None:
        if len(positions) > 1 and np.any(np.diff(positions) <= 0):
            raise ValueError("rows that are read in blocks can be taken in increasing order only")
        self.source, self.positions, self.size, self.name = source, positions, len(positions), source.name

    def read(self) -> Iterator[Any]:
        """Yield the rows that are in each block."""
        for where, block in self.source.blocks():
            first, last = np.searchsorted(self.positions, [where.start, where.stop])
            if last > first:
                yield take(block, self.positions[first:last] - where.start)

    def gather(self, positions: np.ndarray) -> Collection:
        """Return the rows at some positions among these."""
        return self.transformed(self.source.gather(self.positions[positions]))


def _plain(block: Any) -> Any:
    """A memory map, or a slice of one, as an array that is read when it is used."""
    return np.asarray(block) if is_numpy_array(block) else block


def added(first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the sums of two tuples of arrays and numbers, entry by entry."""
    return tuple(a + b for a, b in zip(first, second, strict=True))


def priorities(start: int, stop: int, random_state: int) -> np.ndarray:
    """Return a random number for each row from `start` to `stop`, the same whatever rows are asked for with it."""
    parts = [
        np.random.default_rng([random_state, chunk]).random(_CHUNK)[
            max(start - chunk * _CHUNK, 0) : max(0, stop - chunk * _CHUNK)
        ]
        for chunk in range(start // _CHUNK, -(-stop // _CHUNK))
    ]
    return np.concatenate(parts) if parts else np.empty(0)


def least_priorities(size: int, most: int, random_state: int) -> np.ndarray:
    """Return the positions of the `most` rows of least priority, in order."""
    if size <= most:
        return np.arange(size)
    return np.sort(np.argpartition(priorities(0, size, random_state), most - 1)[:most])


def is_mapped(collection: Any) -> TypeGuard[np.memmap]:
    """Return True for a memory map of NumPy."""
    return isinstance(collection, np.memmap)


def as_blocks(collection: Any, name: str = "X") -> RowBlocks | None:
    """Return a collection that is not in memory as row blocks; None for one that is.

    Memory maps of NumPy and collections of Dask are not.
    """
    if is_blocks(collection):
        return collection
    if hasattr(collection, "__dask_graph__"):
        from mercer.core.dask_blocks import DaskBlocks

        return DaskBlocks.of(collection, name)
    if is_mapped(collection):
        return ArrayBlocks(collection, name)
    return None


def in_memory(blocks: RowBlocks) -> Any:
    """Return all rows as one collection in memory."""
    parts = [block for _, block in blocks.blocks()]
    if not parts:
        raise ValueError(f"{blocks.name} has no rows; expected at least one")
    if len(parts) == 1:
        return parts[0]
    if is_sparse(parts[0]):
        from scipy.sparse import vstack

        return vstack(parts, format="csr")
    if hasattr(parts[0], "columns"):
        import narwhals as nw

        return nw.concat([nw.from_native(part) for part in parts]).to_native()
    if all(is_array(part) for part in parts):
        return namespace(*parts).concat(parts) if parts[0].dtype != object else np.concatenate(parts)
    return [row for part in parts for row in part]
