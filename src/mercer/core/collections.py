"""Collections of objects, as users pass them for inputs, outputs and candidates.

A collection is an array whose first axis counts the objects (vectors, images, rows of a Gram matrix), a sparse array of rows,
or a 1-D object array made from anything else that can be listed (strings, sets, trees, graphs, pandas columns).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
from scipy.sparse import csr_array, vstack
from scipy.sparse.csgraph import connected_components

from mercer.core.arrays import Array, Collection, float64, is_array, is_numpy_array, like, namespace, to_numpy
from mercer.core.sparse_rows import row_keys

if TYPE_CHECKING:
    from mercer.core.blocks import RowBlocks
from mercer.core.arrays import is_sparse

LEAST, MOST = 1e-100, 1e100
"""Sizes of numbers that are learned from: sums of their squares are neither infinite nor zero."""
_MISSING = ("NoneType", "NAType", "NaTType")
"""Names of types of missing values, besides NaN."""


def as_objects(collection: Any, name: str = "X") -> np.ndarray:
    """Return `collection` as a 1-D object array, one entry per object.

    Examples
    --------
    >>> as_objects(["ab", "c"])
    array(['ab', 'c'], dtype=object)
    """
    reject_non_collection(collection, name)
    if is_numpy_array(collection) and collection.dtype == object and collection.ndim == 1:
        items: Any = collection
    elif hasattr(collection, "columns") and collection.shape[1] > 1:
        raise TypeError(
            f"{name} is a table of {collection.shape[1]} columns; expected one object per row. Pass one column, such as "
            f"{name}[{collection.columns[0]!r}]"
        )
    elif hasattr(collection, "ndim") and collection.ndim == 2 and collection.shape[1] == 1:
        # a one-column frame or matrix: scikit-learn's column transformers hand these out
        items = (to_numpy(collection) if is_array(collection) else np.asarray(collection)).ravel().tolist()
    elif is_numeric(collection):
        # row by row: not every library lets its arrays be iterated
        items = members(collection) if collection.ndim > 1 else to_numpy(collection).tolist()
    else:
        items = list(collection.tolist() if is_array(collection) and collection.ndim == 1 else collection)
    if len(items) == 0:
        raise ValueError(f"{name} is empty; expected at least one object")
    objects = np.fromiter(items, dtype=object, count=len(items))
    kinds = set(map(type, items))
    doubtful = {kind for kind in kinds if kind.__name__ in _MISSING or issubclass(kind, float | np.floating)}
    for i, item in enumerate(objects if doubtful else ()):
        if type(item) in doubtful and is_missing(item):
            raise ValueError(f"{name}[{i}] is {item!r}; expected an object. Drop or fill missing entries first")
    return objects


def is_missing(item: Any) -> bool:
    """Return True for None, NaN, and the missing values of pandas."""
    return type(item).__name__ in _MISSING or (isinstance(item, float | np.floating) and item != item)


def as_vectors(collection: Any, name: str = "X") -> Any:
    """Return `collection` as a 2-D array of finite doubles, one row per object; rows of more axes are flattened.

    Examples
    --------
    >>> as_vectors([[1, 2], [3, 4]]).shape
    (2, 2)
    """
    reject_non_collection(collection, name)
    if hasattr(collection, "columns"):  # a frame, over which one iterates by the names of its columns
        collection = np.asarray(collection)
    array = collection if is_array(collection) else _stack(collection, name)
    xp = namespace(array)
    if array.dtype == object:
        array = _stack(array.tolist(), name)
    if not is_numeric(array):
        raise TypeError(
            f"{name} has dtype {array.dtype}; expected numbers, one row per object. For strings or other "
            "objects use a kernel made for them, such as mercer.kernels.Subsequence, and for tables with text or dates "
            "mercer.kernels.Columns()"
        )
    if array.ndim < 2:
        raise ValueError(
            f"{name} has shape {tuple(array.shape)}; expected a 2D array, one row per object. Reshape your data with "
            "array.reshape(-1, 1) if it has a single feature, or array.reshape(1, -1) if it is a single object"
        )
    if array.shape[0] == 0 or array.shape[1] == 0:
        raise ValueError(f"{name} has shape {tuple(array.shape)}; expected at least one object and one feature")
    array = float64(xp.reshape(array, (array.shape[0], -1)) if array.ndim > 2 else array)
    if not bool(xp.all(xp.isfinite(array))):
        row = int(xp.argmin(xp.astype(xp.all(xp.isfinite(array), axis=1), xp.int8)))
        raise ValueError(f"{name} contains NaN or infinity, first in row {row}; drop or impute such rows first")
    require_range(array, name)
    if type(array) is np.ndarray and not (array.flags.c_contiguous or array.flags.f_contiguous):
        return np.ascontiguousarray(array)  # as a saved model will hold it: BLAS rounds by the layout
    return array


def require_range(array: Any, name: str, least: float = 0.0) -> None:
    """Raise ValueError if the largest number is above 1e100, or below `least` and not zero: squares would overflow or vanish."""
    xp = namespace(array)
    largest = max(float(xp.max(array)), -float(xp.min(array)))
    if largest > MOST or 0.0 < largest < least:
        what = "so large that their squares overflow" if largest > 1 else "so small that their squares vanish"
        raise ValueError(f"{name} holds numbers of size {largest:.3g}, {what}; scale {name} first")


def reject_non_collection(collection: Any, name: str) -> None:
    """Raise an error for None, a string, a sparse matrix, a mapping, a set, a masked array or a scalar."""
    kind = type(collection).__name__
    if collection is None:
        raise ValueError(f"{name} is None; expected a collection of objects")
    if isinstance(collection, str | bytes):
        raise TypeError(
            f"{name} is a single {kind}, {collection!r:.40}; expected a collection of objects. Write [text] for a list of one"
        )
    if hasattr(collection, "toarray"):
        raise TypeError(
            f"{name} is a sparse {kind}, and dense data is required; expected an array of numbers. Use {name}.toarray() to "
            "convert it, or, for inputs, a kernel that takes sparse rows, such as Linear, Gaussian or Laplacian"
        )
    if isinstance(collection, dict | set | frozenset):
        raise TypeError(f"{name} is a {kind}, which has no order; expected a list or an array of objects")
    if isinstance(collection, np.ma.MaskedArray) and np.ma.is_masked(collection):
        raise ValueError(f"{name} is an array with masked entries; expected every entry. Fill or drop them first")
    if not isinstance(collection, Iterable) or getattr(collection, "ndim", 1) == 0:
        raise TypeError(f"{name} is {collection!r:.40}, a {kind}; expected a collection of objects")


def _stack(rows: Any, name: str) -> np.ndarray:
    """Return rows of numbers as one array; raise an error that names the first row of another kind."""
    with suppress(ValueError):
        array = np.asarray(rows)
        if array.dtype != object:
            return array
    entries: list[np.ndarray] = []
    for i, row in enumerate(rows):
        try:
            if np.asarray(row).dtype.kind in "USMm":
                raise TypeError("text, or a date")
            entries.append(np.asarray(row, dtype=float))
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"{name}[{i}] is {row!r:.40}, a {type(row).__name__}; expected a vector of numbers. argument must be "
                "a string or a number"
            ) from error
        first, last = entries[0], entries[-1]
        if first.shape != last.shape:
            wanted = "vectors of one length. Pad them, or use a kernel for sequences"
            if max(first.ndim, last.ndim) > 1:
                wanted = "images of one size. Crop, pad or rescale them"
            raise ValueError(
                f"{name} is ragged: {name}[0] has shape {first.shape} and {name}[{i}] has shape {last.shape}; expected {wanted}"
            )
    return np.asarray(entries)


def listed(collection: Any) -> Any:
    """Return an iterator as a list, a table or an array without masked entries as an array, and anything else as it is."""
    if isinstance(collection, np.ma.MaskedArray) and not np.ma.is_masked(collection):
        return np.ma.getdata(collection)
    if hasattr(collection, "grid_points") and hasattr(collection, "data_matrix"):  # curves of scikit-fda on one grid
        values = np.asarray(collection.data_matrix)
        return values[..., 0] if values.ndim > 2 and values.shape[-1] == 1 else values
    if hasattr(collection, "start_indices") and hasattr(collection, "points"):  # and on grids of their own
        starts = [*np.asarray(collection.start_indices).tolist(), len(collection.points)]
        columns = [np.asarray(part)[:, 0] for part in (collection.points, collection.values)]
        return [(columns[0][a:b], columns[1][a:b]) for a, b in pairwise(starts)]
    if hasattr(collection, "__array__") and not isinstance(collection, Iterable):
        return np.asarray(collection)
    return list(collection) if hasattr(collection, "__next__") else collection


def count(objects: Collection) -> int:
    """Return the number of objects (the array API and sparse arrays have no `len`)."""
    return objects.shape[0] if is_array(objects) or is_sparse(objects) else len(objects)


def is_blocks(collection: Any) -> TypeGuard[RowBlocks]:
    """Return True for a collection in row blocks (`mercer.core.blocks`)."""
    return getattr(type(collection), "in_blocks", False)


def is_in_memory(collection: Any) -> bool:
    """Return False for row blocks, memory maps of NumPy and collections of Dask, which may be larger than memory."""
    outside = isinstance(collection, np.memmap) or hasattr(collection, "__dask_graph__")
    return not (outside or is_blocks(collection))


def is_numeric(collection: Any) -> bool:
    """Return True for a dense array of numbers, and False for objects and sparse rows.

    Examples
    --------
    >>> is_numeric(np.ones(3)), is_numeric(np.array(["a"])), is_numeric([1.0])
    (True, False, False)
    """
    return is_array(collection) and getattr(collection.dtype, "kind", "f") in "biuf"  # NumPy alone has object arrays


def member(objects: Collection, i: int) -> Any:
    """Return the i-th object of a collection; a sparse row as a dense vector."""
    if is_sparse(objects):
        return objects[[i]].toarray()[0]
    return objects[i, ...] if is_numeric(objects) and objects.ndim > 1 else objects[i]


def members(objects: Collection) -> list[Any]:
    """Return the objects of a collection as a list."""
    return [member(objects, i) for i in range(count(objects))]


def to_backend_of(outputs: Collection, points: Array) -> Any:
    """Return `points` in the library of the outputs, or as a NumPy array for outputs that are not arrays."""
    return like(points, outputs) if is_numeric(outputs) else to_numpy(points)


def take(objects: Collection, index: Any) -> Any:
    """Return the objects at `index` (an integer or boolean array, or a slice) as a collection of the same kind."""
    if is_numpy_array(objects) or not is_array(objects):
        return objects[index]
    xp = namespace(objects)
    if isinstance(index, slice):
        return objects[index, ...]
    positions = np.asarray(index)
    if positions.dtype == bool:
        positions = np.flatnonzero(positions)
    flat = xp.asarray(positions.ravel(), device=getattr(objects, "device", None))
    taken = xp.take(objects, flat, axis=0)
    return xp.reshape(taken, positions.shape + tuple(objects.shape[1:]))


def concatenate(first: Any, second: Any) -> Any:
    """Return the objects of two collections as one."""
    if hasattr(first, "concatenate"):  # a table
        return first.concatenate(second)
    if is_sparse(first):
        return vstack([first, second], format="csr")
    xp = namespace(first, second)
    return xp.concat([first, second]) if is_array(first) and first.dtype != object else np.concatenate([first, second])


def distinct(objects: Any, key: Callable[[Any], Hashable] | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions of the first of equal objects, and the number of each object's group of equal objects.

    Objects are equal if `key`, by default `hash_key`, gives the same value.

    Examples
    --------
    >>> first, group = distinct(as_objects(["a", "b", "a"]))
    >>> first.tolist(), group.tolist()
    ([0, 1], [0, 1, 0])
    """
    known: dict[Hashable, int] = {}
    group = np.asarray([known.setdefault(each, len(known)) for each in keys(objects, key)], dtype=np.intp)
    return np.unique(group, return_index=True)[1], group


def keys(objects: Any, key: Callable[[Any], Hashable] | None = None) -> Iterable[Hashable]:
    """Return the key of each object, by default its `hash_key`."""
    if is_sparse(objects):
        return row_keys(objects)  # kernels on sparse rows distinguish all of them
    return map(key or hash_key, to_numpy(objects) if is_array(objects) and objects.dtype != object else objects)


def united(first: np.ndarray, second: np.ndarray | None) -> np.ndarray:
    """Return numbers 0, 1, … of the finest groups that hold whole groups of both kinds.

    Examples
    --------
    >>> united(np.array([0, 0, 1, 2]), np.array([7, 8, 8, 9])).tolist()
    [0, 0, 0, 1]
    """
    groups = np.unique(first, return_inverse=True)[1]
    if second is None:
        return groups
    others = np.unique(second, return_inverse=True)[1] + int(groups.max()) + 1
    links = csr_array((np.ones(len(groups)), (groups, others)), shape=(int(others.max()) + 1,) * 2)
    return connected_components(links, directed=False)[1][groups].astype(np.intp)


def hash_key(item: Any) -> Hashable:
    """Return a hashable value that is equal for equal objects; their identity for objects without a hash."""
    if isinstance(item, np.ndarray):
        # + 0.0 makes -0.0 and 0.0 the same bytes
        return ("array", item.shape, (item + 0.0 if item.dtype.kind == "f" else item).tobytes())
    if isinstance(item, set | frozenset):
        return ("set", frozenset(item))
    if isinstance(item, list | tuple):
        return (type(item).__name__, tuple(hash_key(part) for part in item))
    try:
        hash(item)
    except TypeError:
        return ("id", id(item))
    return item
