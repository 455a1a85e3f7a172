"""Kinds of inputs and outputs, found by looking at them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from mercer.core.arrays import is_array, to_numpy
from mercer.core.collections import is_missing, is_numeric, listed, reject_non_collection
from mercer.losses import F1, EditDistance, Hamming, IoU, Jaccard, Kendall, SquaredError, ZeroOne
from mercer.structures.curves import is_curves
from mercer.structures.graphs import is_graph
from mercer.structures.molecules.fingerprints import is_molecule
from mercer.structures.molecules.spectra import is_spectrum
from mercer.structures.trees import is_node

INPUTS = (
    "vectors", "binary rows", "table", "images", "strings", "sequences", "sets", "trees", "graphs", "molecules", "spectra",
    "lemmas with tags",
)  # fmt: skip
OUTPUTS = (
    "numbers", "vectors", "curves", "images", "classes", "label sets", "rankings", "strings", "sequences", "trees", "graphs",
    "molecules",
)  # fmt: skip

_FEW = 20  # most values of whole numbers that are taken for classes
_LOOKED_AT = 200  # objects that are looked at
_WORDS = 50  # columns of zeros and ones from which they are words rather than a few flags
_GRID = 15  # columns from which rows may be curves
_SMOOTH = 0.25  # mean squared step to the next column, relative to that to any column, below which rows are curves

_OF_LOSS: dict[type, str] = {
    F1: "label sets", Jaccard: "label sets", IoU: "images", Kendall: "rankings", EditDistance: "strings",
}  # fmt: skip


class Kind(NamedTuple):
    """A kind of object, and the reason it was taken for that."""

    name: str
    reason: str


def kind_of_inputs(X: Any, asked: str = "auto") -> Kind:
    """Return the kind of inputs, from INPUTS.

    Examples
    --------
    >>> kind_of_inputs(["banana", "ananas"]).name, kind_of_inputs([[0.5, 2.0], [1.5, 3.0]]).name
    ('strings', 'vectors')
    """
    if asked != "auto":
        if asked in ("vectors", "images") and (sparse.issparse(X) or _is_sparse_frame(X)):
            raise TypeError(f"X is sparse, and inputs={asked!r} takes dense data; leave inputs='auto', or make X dense")
        return _named(asked, "inputs", INPUTS)
    reject_text(X, "X")
    if sparse.issparse(X):
        return Kind("binary rows", "X is a sparse matrix")
    if _is_sparse_frame(X):
        return Kind("binary rows", "X is a frame of sparse columns")
    if is_curves(X):
        return Kind("vectors", "X holds curves at positions of their own, interpolated on a common grid")
    if _is_frame(X) and not _is_numbers(X):
        return Kind("table", f"X is a frame of {X.shape[1]} columns")
    rows = _as_rows(X)
    if rows is None and getattr(X, "ndim", 1) == 2:
        return Kind("table", "X has columns that are not of numbers")
    if rows is None:
        return _of_objects(X, "X")
    if rows.ndim > 2:
        return Kind("images", f"X has shape {rows.shape}: one array for each object")
    if np.isnan(rows).any():
        return Kind("table", "X has gaps (NaN)")
    if rows.ndim == 2 and rows.shape[1] >= _WORDS and _is_binary(rows):
        return Kind("binary rows", f"X has {rows.shape[1]} columns of 0 and 1")
    return Kind("vectors", "X holds rows of numbers")


def kind_of_outputs(y: Any, asked: str = "auto", loss: Any = None) -> Kind:
    """Return the kind of outputs, from OUTPUTS; the loss decides where the outputs leave it open.

    Examples
    --------
    >>> kind_of_outputs([{"sea", "sun"}, {"sun"}]).name, kind_of_outputs([2.5, 1.0]).name, kind_of_outputs([1, 0, 1]).name
    ('label sets', 'numbers', 'classes')
    """
    if asked != "auto":
        return _named(asked, "outputs", OUTPUTS)
    reject_text(y, "y")
    if sparse.issparse(y):
        return Kind("label sets", "y is a sparse matrix of labels")
    if is_curves(y):
        return Kind("curves", "y holds curves at positions of their own, interpolated on a common grid")
    by_loss = _OF_LOSS.get(type(loss))
    rows = _as_rows(y)
    if rows is None and _is_frame(y):
        y = _only_column(y)
    if rows is None:
        found = _of_strings(y, loss) if _all(y, str) else _of_objects(y, "y")
        return Kind("label sets", found.reason) if found.name == "sets" else found
    if by_loss is not None and not (by_loss == "images" and rows.ndim == 2):
        return Kind(by_loss, f"the loss is {loss!r}")
    if rows.ndim == 1 or rows.shape[1:] == (1,):
        return _of_numbers(rows.reshape(-1), loss)
    if rows.ndim > 2:
        return Kind("images", f"y has shape {rows.shape}: one array for each object")
    return _of_rows(rows, loss)


def reject_text(collection: Any, name: str) -> None:
    """Raise an error for None, a single string and anything else that is not a collection."""
    if not sparse.issparse(collection):
        reject_non_collection(collection, name)


def _only_column(y: Any) -> Any:
    """The objects of a frame of one column."""
    if y.shape[1] != 1:
        names = list(getattr(y, "column_names", y.columns))
        raise TypeError(
            f"y is a frame with the columns {names}, which are not all of numbers; expected numbers, or one column of objects, "
            f"such as y[{names[0]!r}]"
        )
    return np.asarray(y)[:, 0]


def _of_numbers(values: np.ndarray, loss: Any) -> Kind:
    if isinstance(loss, SquaredError):
        return Kind("numbers", f"the loss is {loss!r}")
    if isinstance(loss, ZeroOne):
        return Kind("classes", f"the loss is {loss!r}")
    distinct = len(np.unique(values))
    if values.dtype.kind == "b" or (values.dtype.kind in "iu" and distinct <= min(_FEW, max(2, len(values) // 3))):
        return Kind("classes", f"y holds {distinct} different whole numbers; outputs='numbers' if they are quantities")
    return Kind("numbers", "y holds numbers")


def _of_rows(rows: np.ndarray, loss: Any) -> Kind:
    whole = rows.dtype.kind in "iub"
    if isinstance(loss, SquaredError):
        return Kind("vectors", f"the loss is {loss!r}")
    if (whole or isinstance(loss, Hamming)) and _is_binary(rows):
        return Kind("label sets", "y holds rows of 0 and 1; outputs='vectors' if they are numbers")
    ordered = np.sort(rows, axis=1)
    ranks = np.arange(rows.shape[1])
    if whole and (np.all(ordered == ranks) or np.all(ordered == ranks + 1)):
        return Kind("rankings", "every row of y is an order of its columns")
    if rows.shape[1] >= _GRID and _is_smooth(rows):
        return Kind(
            "curves", "neighbouring columns of y are alike; outputs='vectors' if they are not points of a curve"
        )
    return Kind("vectors", "y holds rows of numbers")


def _of_strings(y: Any, loss: Any) -> Kind:
    if isinstance(loss, EditDistance | Hamming):
        return Kind("strings", f"the loss is {loss!r}")
    items = list(y)
    distinct = len(set(items))
    if distinct <= max(2, len(items) // 4):
        return Kind(
            "classes", f"y holds {distinct} different strings, often repeated; outputs='strings' if letters matter"
        )
    return Kind("strings", "y holds strings; outputs='classes' or 'molecules' if that is meant")


def _of_objects(collection: Any, name: str) -> Kind:
    """The kind of objects that are not numbers, by the first of them; all have to be of it."""
    items = list(islice(iter(collection), _LOOKED_AT))
    if not items:
        raise ValueError(f"{name} is empty; expected at least one object")
    missing = next((i for i, item in enumerate(items) if is_missing(item)), None)
    if missing is not None:
        raise ValueError(
            f"{name}[{missing}] is {items[missing]!r}; expected an object. Drop or fill missing entries first"
        )
    found = [_kind(item) or f"a {type(item).__name__}" for item in items]
    first, known = found[0], OUTPUTS if name == "y" else INPUTS
    odd = next((i for i, other in enumerate(found) if other != first), 0)
    if odd or first.startswith("a "):
        beside = f", and {name}[0] is {items[0]!r:.40}" if odd else ""
        raise TypeError(
            f"{name}[{odd}] is {items[odd]!r:.40}, a {type(items[odd]).__name__}{beside}; expected objects of one kind: "
            f"{', '.join(known)}. Name it with {'outputs' if name == 'y' else 'inputs'}=..."
        )
    if first == "sequences" and all(type(item) is list and len(set(item)) == len(item) for item in items):
        advice = f"{'outputs' if name == 'y' else 'inputs'}='sequences' if their order matters"
        return Kind("sets", f"{name} holds lists without repetition; {advice}")
    return Kind(first, f"{name} holds {first}")


def _kind(item: Any) -> str | None:
    if isinstance(item, str):
        return "strings"
    if isinstance(item, set | frozenset):
        return "sets"
    if is_graph(item):
        return "graphs"
    if is_molecule(item):
        return "molecules"
    if is_spectrum(item):
        return "spectra"
    if is_node(item) and any(map(is_node, item[1:])):
        return "trees"
    if isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str) and ";" in str(item[1]):
        return "lemmas with tags"
    return "sequences" if isinstance(item, list | tuple) else None


def _as_rows(collection: Any) -> np.ndarray | None:
    """The collection as an array of numbers; None for anything else."""
    collection = np.asarray(collection) if _is_frame(collection) else listed(collection)
    if is_array(collection) and is_numeric(collection):
        return to_numpy(collection)
    if not _is_frame(collection) and is_graph(next(iter(collection), None)):
        return None  # NumPy would list the nodes
    try:
        array = np.asarray(collection)
        if array.dtype == object and array.ndim > 1:
            array = array.astype(float)
        elif array.dtype == object and all(isinstance(item, Real) for item in array):
            array = np.asarray(array.tolist())
    except (TypeError, ValueError):  # ragged, or not all numbers
        return None
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported; expected real numbers. Pass real and imaginary parts as columns")
    return array if array.dtype.kind in "biuf" and array.ndim > 0 else None


def _all(collection: Any, kind: type) -> bool:
    return all(isinstance(item, kind) for item in collection)


def _is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and hasattr(X, "shape")


def _is_sparse_frame(X: Any) -> bool:
    """True for a frame of pandas whose columns are all sparse, without gaps."""
    return _is_frame(X) and hasattr(X, "sparse") and not X.isna().any(axis=None)


def _is_numbers(frame: Any) -> bool:
    """True for a frame of numbers without gaps, whose rows are vectors.

    Column by column, since a whole frame of polars turns dates into numbers, or fails where types have none in common.
    """
    columns = (np.asarray(frame[name]) for name in frame.columns)
    return all(column.dtype.kind in "iuf" and not np.isnan(column).any() for column in columns)


def _is_binary(rows: np.ndarray) -> bool:
    return bool(np.all((rows == 0) | (rows == 1)))


def _is_smooth(rows: np.ndarray) -> bool:
    columns = rows[:_LOOKED_AT].astype(float)
    columns = columns - columns.mean(axis=0)
    step = np.mean((columns[:, 1:] - columns[:, :-1]) ** 2)
    apart = np.mean((columns[:, columns.shape[1] // 2 :] - columns[:, : -(columns.shape[1] // 2)]) ** 2)
    return bool(step < _SMOOTH * apart)


def _named(asked: Any, name: str, known: Sequence[str]) -> Kind:
    if asked not in known:
        raise ValueError(f"{name}={asked!r}; expected 'auto' or one of {', '.join(map(repr, known))}")
    return Kind(asked, f"{name}={asked!r} was given")
