"""Candidates as a user may write them: one collection for all inputs, or one for each."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.core.arrays import is_array
from mercer.core.collections import Collection, count, is_numeric, reject_non_collection
from mercer.estimators.data import TargetCodec


def one_set_each(candidates: Any, outputs: Collection, form: TargetCodec, queries: int) -> bool:
    """Whether `candidates` holds one collection per query, and not one for all.

    It does when its entries are collections of things like the training outputs: by their types where those tell them
    apart (lists of strings, lists of tuples), else because they are nested one level deeper.
    """
    reject_non_collection(candidates, "candidates")
    entries: Any = candidates if is_array(candidates) else list(candidates)
    size = count(entries)
    if size == 0:
        raise ValueError("candidates is empty; expected at least one output to choose from")
    if not _each(entries, outputs, form):
        return False
    if size != queries:
        raise ValueError(
            f"candidates holds {size} sets and X has {queries} objects; expected one candidate set for each object, or one "
            "flat collection for all"
        )
    for i in range(size):
        if count(entries[i]) == 0:
            raise ValueError(f"candidates[{i}] is empty; expected at least one output to choose from for X[{i}]")
    return True


def _each(entries: Any, outputs: Collection, form: TargetCodec) -> bool:
    if is_array(entries) and entries.dtype != object:
        if form.row_shape is not None and entries.shape[1:] == (1,):
            return False  # a column of numbers
        own = len(form.row_shape) if form.row_shape is not None else outputs.ndim - 1 if is_numeric(outputs) else 0
        return entries.ndim > 1 + own
    types = {type(output) for output in outputs}
    entries = [np.asarray(entry) if _of_pandas(entry) and type(entry) not in types else entry for entry in entries]
    groups = [entry for entry in entries if isinstance(entry, list | tuple) or is_array(entry)]
    if form.row_shape is None and not is_numeric(outputs) and not any(type(entry) in types for entry in entries):
        inside = [type(item) in types for entry in groups for item in entry]
        if len(groups) == len(entries) and inside and all(inside):
            return True
    if form.row_shape is not None:
        deepest = len(form.row_shape)
    else:
        deepest = outputs.ndim - 1 if is_numeric(outputs) else max(_depth(output) for output in outputs)
    return max(_depth(entry) for entry in entries) > deepest


def _of_pandas(entry: Any) -> bool:
    """Whether `entry` is a column or a table: something with axes that is not itself an array."""
    return hasattr(entry, "__array__") and getattr(entry, "ndim", 0) > 0 and not is_array(entry)


def _depth(item: Any) -> int:
    """The depth of nested collections in `item`: 0 for a number or a text, 1 for a set of labels."""
    if is_array(item) and item.dtype != object:
        return item.ndim
    if isinstance(item, list | tuple | set | frozenset | np.ndarray):
        return 1 + max((_depth(part) for part in item), default=0)
    return 0
