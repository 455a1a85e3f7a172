"""Collections of Dask as row blocks: the work on each partition is a task, on the active cluster or on threads.

Tasks hold everything they need, so that a task of a worker that was lost runs again on another one.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from mercer.core.arrays import Array, namespace
from mercer.core.blocks import RowBlocks, added
from mercer.core.collections import Collection, concatenate, count, take

_AHEAD = 8
"""Partitions that are computed at a time where they are read here."""


class DaskBlocks(RowBlocks):
    """The partitions of a dask array, bag or dataframe, along their first axis.

    Tasks run on the client that is active (``dask.distributed.Client``), or else on threads of this process.

    Examples
    --------
    >>> import dask.array
    >>> rows = DaskBlocks.of(dask.array.ones((6, 2), chunks=(2, 1)))
    >>> rows.total(lambda block: (float(block.sum()), 1))
    (12.0, 3)
    """

    def __init__(self, parts: Sequence[Any], lengths: Sequence[int], name: str = "X") -> None:
        kept = [i for i, length in enumerate(lengths) if length]
        self.parts, self.lengths, self.name = [parts[i] for i in kept], [int(lengths[i]) for i in kept], name
        self.size = sum(self.lengths)

    @classmethod
    def of(cls, collection: Any, name: str = "X") -> DaskBlocks:
        """Return the rows of a collection of Dask; lengths of partitions that are not known are computed."""
        has = partial(hasattr, type(collection))  # a delayed object has every attribute
        if has("chunks"):
            return cls._of_array(collection, name)
        if not has("to_delayed"):
            raise TypeError(
                f"{name} is {collection!r:.60}, of Dask; expected an array, a bag or a dataframe. Compute other collections first"
            )
        if not has("columns") and not has("dtype"):
            collection = collection.map_partitions(list)  # a bag: a partition that is an iterator can be read once
        parts = collection.to_delayed()
        return cls(parts, _lengths(parts), name)

    @classmethod
    def _of_array(cls, array: Any, name: str) -> DaskBlocks:
        if array.ndim == 0:
            raise ValueError(f"{name} is a dask array without axes; expected one row per object")
        if np.isnan(sum(sum(each) for each in array.chunks[1:])):
            raise ValueError(
                f"{name} is a dask array whose chunks {array.chunks} are not known along the second axis; call "
                f"{name}.compute_chunk_sizes() first"
            )
        if array.ndim > 1:
            array = array.rechunk(dict.fromkeys(range(1, array.ndim), -1))
        parts = array.to_delayed().ravel().tolist()
        known = not np.isnan(sum(array.chunks[0]))
        return cls(parts, array.chunks[0] if known else _lengths(parts), name)

    @property
    def _places(self) -> list[slice]:
        ends = np.cumsum([0, *self.lengths]).tolist()
        return [slice(a, b) for a, b in pairwise(ends)]

    def read(self) -> Iterator[Any]:
        """Yield the partitions, computed a few at a time."""
        for start in range(0, len(self.parts), _AHEAD):
            yield from _computed(self.parts[start : start + _AHEAD])

    def each(self, function: Callable[..., Any], *rows: Any, most: int | None = None) -> Iterator[Any]:
        """Yield the value of a function of each block, computed by a task for each partition."""
        for found in _computed(self._tasks(Work(self.transforms, function, most), rows)):
            yield from found

    def total(self, function: Callable[..., tuple[Any, ...]], *rows: Any, most: int | None = None) -> tuple[Any, ...]:
        """Return the sum over the blocks, added up where the partitions are."""
        import dask

        if not self.parts:
            raise ValueError(f"{self.name} has no rows; expected at least one")
        tasks, add = self._tasks(Summed(self.transforms, function, most), rows), dask.delayed(added)
        while len(tasks) > 1:
            tasks = [add(*pair) if len(pair) == 2 else pair[0] for pair in _paired(tasks)]
        return _computed(tasks)[0]

    def tiles(self, function: Callable[..., tuple[Array, Array]], rows: Array, most: int | None = None) -> Array:
        """Return the product of a symmetric matrix with `rows`, a task for each tile of two partitions."""
        import dask

        tile = dask.delayed(OfTile(self.transforms, function), pure=False)
        own = [dask.delayed(take(rows, where)) for where in self._places]
        shares: list[list[Any]] = [[] for _ in self.parts]
        for i, part in enumerate(self.parts):
            for j, other in enumerate(self.parts[:i]):
                both = tile(part, other, own[i], own[j])
                shares[i].append(both[0])
                shares[j].append(both[1])
            shares[i].append(tile(part, None, own[i], own[i])[0])
        add = dask.delayed(_sum)
        return namespace(rows).concat(_computed([add(each) for each in shares]))

    def gather(self, positions: np.ndarray) -> Collection:
        """Return the rows at some positions, taken where the partitions are."""
        found: Any = None
        for part in _computed(self._some(positions)[0]):
            found = part if found is None else concatenate(found, part)
        return found

    def __getitem__(self, index: Any) -> RowBlocks:
        index = index[0] if isinstance(index, tuple) else index
        positions = np.arange(len(self))[index]
        if len(positions) > 1 and np.any(np.diff(positions) <= 0):
            raise ValueError("rows that are read in blocks can be taken in increasing order only")
        other = copy(self)
        other.__init__(*self._some(positions), self.name)  # type: ignore[misc]
        other.transforms, other._sampled = (), None
        return other

    def _some(self, positions: np.ndarray) -> tuple[list[Any], list[int]]:
        """Tasks that take the rows at some positions from each partition that has any, and their numbers."""
        import dask

        chosen = dask.delayed(Chosen(self.transforms), pure=False)
        tasks, lengths = [], []
        for where, part in zip(self._places, self.parts, strict=True):
            own = positions[(positions >= where.start) & (positions < where.stop)] - where.start
            if len(own):
                tasks.append(chosen(part, own))
                lengths.append(len(own))
        return tasks, lengths

    def _tasks(self, function: Callable[..., Any], rows: Sequence[Any]) -> list[Any]:
        import dask

        shared = dask.delayed(function, pure=False)  # sent to a worker once
        return [
            shared(part, *(take(other, where) for other in rows))
            for where, part in zip(self._places, self.parts, strict=True)
        ]


class OnBlock:
    """A function of a partition, whose blocks are first put under others."""

    def __init__(self, transforms: tuple[Callable[[Any], Any], ...]) -> None:
        self.transforms = transforms

    def transformed(self, block: Any) -> Any:
        """Return the block under the functions it is mapped by."""
        for function in self.transforms:
            block = function(block)
        return block


class Work(OnBlock):
    """The values of a function of parts of a partition."""

    def __init__(self, transforms: tuple[Callable[[Any], Any], ...], function: Any, most: int | None) -> None:
        super().__init__(transforms)
        self.function, self.most = function, most

    def __call__(self, block: Any, *rows: Any) -> list[Any]:
        """Return one value for each part of at most `most` rows."""
        return list(self.values(block, *rows))

    def values(self, block: Any, *rows: Any) -> Iterator[Any]:
        """Yield the values."""
        block = self.transformed(block)
        number = count(block)
        step = number if self.most is None else self.most
        for start in range(0, number, step):
            some = slice(start, min(start + step, number))
            part = block if step >= number else take(block, some)
            yield self.function(part, *(take(other, some) for other in rows))


class Summed(Work):
    """The sum of the values of a function of parts of a partition."""

    def __call__(self, block: Any, *rows: Any) -> Any:
        """Return the sum."""
        found: Any = None
        for value in self.values(block, *rows):
            found = value if found is None else added(found, value)
        return found


class OfTile(OnBlock):
    """The share of a tile of two partitions in a product."""

    def __init__(self, transforms: tuple[Callable[[Any], Any], ...], function: Any) -> None:
        super().__init__(transforms)
        self.function = function

    def __call__(self, own: Any, other: Any, rows: Array, others: Array) -> tuple[Array, Array]:
        """Return what the tile adds to the rows of its own partition and to those of the other."""
        right = None if other is None else self.transformed(other)
        return self.function(self.transformed(own), right, rows, others)


class Chosen(OnBlock):
    """Some rows of a partition."""

    def __call__(self, block: Any, positions: np.ndarray) -> Any:
        """Return the rows at these positions."""
        return take(_indexable(self.transformed(block)), positions)


def _indexable(block: Any) -> Any:
    """Lists as arrays of objects, and frames as arrays."""
    if isinstance(block, list):
        return np.fromiter(block, dtype=object, count=len(block))
    return block.iloc if hasattr(block, "iloc") else block


def _sum(parts: Iterable[Any]) -> Any:
    found: Any = None
    for part in parts:
        found = part if found is None else found + part
    return found


def _paired(tasks: list[Any]) -> Iterator[list[Any]]:
    for start in range(0, len(tasks), 2):
        yield tasks[start : start + 2]


def _lengths(parts: Sequence[Any]) -> list[int]:
    import dask

    length = dask.delayed(len)
    return _computed([length(part) for part in parts])


def _computed(tasks: Sequence[Any]) -> list[Any]:
    """Compute tasks; name the cause if a worker dies each time it tries one of them."""
    import dask

    with warnings.catch_warnings():
        # targets travel with the tasks, so that they are not lost with a worker
        warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
        try:
            return list(dask.compute(*tasks))
        except Exception as error:
            if type(error).__name__ != "KilledWorker":
                raise
            raise RuntimeError(
                f"workers of the cluster died again and again at the same task ({error!s:.200}); nothing was learned. Often "
                "they have too little memory: use smaller partitions, or workers with more memory, and look at their logs"
            ) from error
