"""Candidates of a user: one collection for all inputs, or one for each."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.core.arrays import is_array
from mercer.core.collections import Collection, count, is_numeric, listed, reject_non_collection
from mercer.estimators.data import TargetCodec


def sets_of_each(codec: TargetCodec, candidates: Any, outputs: Collection, queries: int) -> Any:
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
    if not explicit and not are_sets(codec, entries, outputs):
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


def are_sets(codec: TargetCodec, entries: Any, outputs: Collection) -> bool:
    """Return True if the entries are collections of objects of the form of the outputs, one for each input."""
    depth = None if codec.row_shape is None else len(codec.row_shape)
    if depth is None and is_numeric(outputs):
        depth = outputs.ndim - 1
    if is_array(entries) and entries.dtype != object:
        column = codec.row_shape is not None and entries.shape[1:] == (1,)
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
        return "listed" not in families and codec.labels is None
    if any(len(output) and holds_outputs(output) for output in outputs if _is_listed(output)):
        # outputs are made of their like, such as lists of lists: only more nesting than any of them has tells
        return min(map(_depth, entries)) > max(map(_depth, outputs))
    return True


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
