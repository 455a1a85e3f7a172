"""The form of outputs, from that of the user to collections and back."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from math import prod
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse

from mercer.core import memory
from mercer.core.arrays import is_array, namespace
from mercer.core.collections import (
    Collection,
    count,
    is_numeric,
    listed,
    reject_non_collection,
)
from mercer.estimators.inputs import reject_empty
from mercer.kernels.base import Kernel
from mercer.structures.curves import is_curves, on_grid


@dataclass
class TargetCodec:
    """Converts outputs of the user (a column, rows, a sparse matrix, objects) into collections and back."""

    row_shape: tuple[int, ...] | None
    """Shape of one vector output as the user passed it; None for other objects."""
    sparse: str | None = None
    """The kind of sparse matrix, such as "csr_array"; None for anything dense."""
    labels: str | None = None
    """The type of label sets that are not passed as sets, "list" or "tuple"."""
    columns: list[Any] | None = None
    """The names of the columns of a frame of numbers."""
    library: str | None = None
    """The library of that frame, "pandas" or "polars"."""
    grid: np.ndarray | None = None
    """The common positions of curves that were passed with positions of their own."""

    @classmethod
    def of(cls, Y: Any, kernel: Kernel) -> TargetCodec:
        """Return the codec for outputs of the form of `Y`."""
        if sparse.issparse(Y):
            return cls(tuple(Y.shape[1:]) if kernel.takes_vectors else None, type(Y).__name__)
        if not kernel.takes_vectors:
            return cls(None, labels=_written_labels(Y, kernel))
        if is_curves(Y):
            grid = on_grid(Y)[0]
            return cls((len(grid),), grid=grid)
        if is_array(Y) and Y.dtype != object:
            return cls(tuple(Y.shape[1:]))
        if hasattr(Y, "columns"):  # a frame: its rows are the outputs
            return cls.of_frame(Y)
        if getattr(Y, "ndim", 1) > 1:
            return cls(tuple(np.shape(Y)[1:]))
        first: Any = next(iter(Y), 0.0)
        return cls(tuple(first.shape) if is_array(first) else np.shape(first))

    @classmethod
    def of_frame(cls, Y: Any) -> TargetCodec:
        """Return the codec for vector outputs that are the rows of a frame."""
        library = type(Y).__module__.split(".")[0]
        known = library in ("pandas", "polars")
        return cls(tuple(Y.shape[1:]), None, None, list(Y.columns) if known else None, library if known else None)

    def encode(self, Y: Any, kernel: Kernel, name: str) -> Collection:
        """Return `Y` as the collection the output kernel takes."""
        Y = self.dense(Y, name)
        if self.grid is not None and is_curves(Y):
            Y = on_grid(Y, self.grid)[1]
        if hasattr(Y, "columns") and not hasattr(Y, "ndim"):  # a frame of polars, which is iterated by columns
            Y = Y.to_numpy()
        reject_non_collection(Y, name)
        reject_empty(Y, name)
        if self.row_shape == ():
            column = Y if is_array(Y) and Y.dtype != object else _column(Y, name)
            if column.ndim == 1:
                Y = namespace(column).reshape(column, (-1, 1))
        checked = kernel.check(Y, name)
        if self.row_shape is not None and is_numeric(checked):
            size, expected = prod(checked.shape[1:]), prod(self.row_shape)
            if size != expected:
                raise ValueError(f"{name} has {size} features; expected {expected}, as the outputs passed to fit have")
        if self.labels is None or is_numeric(checked):
            return checked
        return np.fromiter(map(frozenset, checked), dtype=object, count=len(checked))

    def dense(self, Y: Any, name: str) -> Any:
        """Return a sparse matrix as a dense array, if outputs are rows of one, and anything else as it is."""
        if self.sparse is None or not sparse.issparse(Y):
            return Y
        memory.require(Y.shape[0], Y.shape[1], 1, f"{name} as a dense array", "write outputs as sets of labels")
        return Y.toarray()

    def decode(self, outputs: Collection) -> Collection:
        """Return decoded outputs in the form of the user."""
        if self.sparse is not None:
            return _SPARSE[self.sparse](outputs)
        if self.labels is not None and not is_numeric(outputs):
            written = map(_LABELS[self.labels], map(_in_order, outputs))
            return np.fromiter(written, dtype=object, count=len(outputs))
        if self.row_shape is None or len(self.row_shape) == 1:
            return outputs
        return namespace(outputs).reshape(outputs, (outputs.shape[0], *self.row_shape))

    def framed(self, outputs: Collection) -> Any:
        """Return predictions as a frame with the columns of training, if outputs are the rows of one."""
        if self.library is None:
            return outputs
        names = {"columns" if self.library == "pandas" else "schema": self.columns}
        return import_module(self.library).DataFrame(outputs, **names)

    def sets_of_each(self, candidates: Any, outputs: Collection, queries: int) -> Any:
        """Return one collection of candidates per query, or None if `candidates` is one collection for all.

        `EachOf` says that they are; otherwise they are if their entries hold objects of the form of the outputs.
        """
        explicit = hasattr(candidates, "sets")
        if not explicit:
            reject_non_collection(candidates, "candidates")
        entries: Any = listed(candidates.sets) if explicit else candidates
        entries = entries if is_array(entries) else list(entries)
        size = count(entries)
        if size == 0:
            raise ValueError("candidates is empty; expected at least one output to choose from")
        if not explicit and not self._are_sets(entries, outputs):
            return None
        if size != queries:
            raise ValueError(
                f"candidates holds {size} sets and X has {queries} objects; expected one candidate set for each object, or one "
                "flat collection for all. Write mercer.decoders.EachOf([...]) for one set each"
            )
        for i in range(size):
            if count(entries[i]) == 0:
                raise ValueError(f"candidates[{i}] is empty; expected at least one output to choose from for X[{i}]")
        return entries

    def _are_sets(self, entries: Any, outputs: Collection) -> bool:
        depth = None if self.row_shape is None else len(self.row_shape)
        if depth is None and is_numeric(outputs):
            depth = outputs.ndim - 1
        if is_array(entries) and entries.dtype != object:
            column = self.row_shape is not None and entries.shape[1:] == (1,)
            return not column and entries.ndim > 1 + (depth or 0)
        types = {type(output) for output in outputs}
        entries = [np.asarray(entry) if _is_table(entry) and type(entry) not in types else entry for entry in entries]
        if depth is not None:
            return max(map(_depth, entries)) > depth
        families = {_family(output) for output in outputs}

        def holds_outputs(entry: Any) -> bool:
            # label sets and trees may be written as lists too
            return _is_listed(entry) and all(_family(item) in {*families, "listed"} for item in entry)

        if not all(map(holds_outputs, entries)):
            return False
        if not any(len(entry) for entry in entries):
            return "listed" not in families and self.labels is None
        if any(len(output) and holds_outputs(output) for output in outputs if _is_listed(output)):
            # outputs are made of their like, such as lists of lists: only more nesting than any of them has tells
            return min(map(_depth, entries)) > max(map(_depth, outputs))
        return True


_SPARSE = {
    f"{kind}_{form}": getattr(sparse, f"{kind}_{form}")
    for kind in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
    for form in ("array", "matrix")
}
_LABELS: dict[str, type] = {"list": list, "tuple": tuple}


def _written_labels(Y: Any, kernel: Kernel) -> str | None:
    """The type, "list" or "tuple", of outputs that the kernel takes for sets, as losses then have to."""
    first = next(iter(Y), None) if hasattr(Y, "__iter__") else None
    if type(first) not in _LABELS.values():
        return None
    try:
        return type(first).__name__ if _of_sets(kernel.key(first)) else None
    except TypeError:  # labels that have no hash; the kernel's check names them
        return None


def _of_sets(key: Any) -> bool:
    return type(key) is frozenset or (type(key) is tuple and len(key) > 0 and all(map(_of_sets, key)))


def _in_order(labels: Any) -> list[Any]:
    """The labels in an order that does not change from run to run."""
    try:
        return sorted(labels)
    except TypeError:
        return sorted(labels, key=lambda label: (type(label).__name__, repr(label)))


def _column(Y: Any, name: str) -> np.ndarray:
    """A list of numbers as an array; raise TypeError for anything else in it."""
    for i, item in enumerate(Y):
        if not isinstance(item, Real | np.number | np.bool_):
            others = "such as Classes(), Subsequence(2).normalized() or LabelSets()"
            why = f"since the output kernel takes vectors; for other objects pass output_kernel=..., {others}"
            why = "as the others are" if i else why
            raise TypeError(f"{name}[{i}] is {item!r:.40}, a {type(item).__name__}; expected a number, {why}")
    return np.asarray(list(Y), dtype=float)


def _is_listed(entry: Any) -> bool:
    return isinstance(entry, list | tuple) or is_array(entry)


def _family(item: Any) -> str:
    return "listed" if _is_listed(item) else "set" if isinstance(item, set | frozenset) else "item"


def _is_table(entry: Any) -> bool:
    """True for a column or a table, which has axes but is not an array."""
    return hasattr(entry, "__array__") and getattr(entry, "ndim", 0) > 0 and not is_array(entry)


def _depth(item: Any) -> int:
    """The depth of nested collections: 0 for a number or a text, 1 for a set of labels."""
    if is_array(item) and item.dtype != object:
        return item.ndim
    if _is_listed(item) or isinstance(item, set | frozenset):
        return 1 + max(map(_depth, item), default=0)
    return 0
