"""Rankings of items as rows of ranks: checks, signs of pairs, positions.

``y[i]`` is the rank of item i, the smallest rank is best. A full ranking has the ranks 0 to K−1, or 1 to K. A partial
ranking may give several items the same rank (a tie), and leave items out (NaN). Only the order of the ranks of a partial
ranking counts, so 0, 0, 1 and 1, 1, 3 are the same.
"""

from __future__ import annotations

from bisect import bisect_left
from math import isnan
from typing import Any

import numpy as np

from mercer.core.arrays import Array, is_array, to_numpy
from mercer.core.collections import reject_non_collection


def as_rankings(collection: Any, name: str = "y", *, partial: bool = False) -> Array:
    """Convert an array, a frame or a list of rows to a 2-D array of ranks; an error names the first invalid row.

    An array keeps its library and dtype. `partial` allows ties and items that are not ranked.

    Examples
    --------
    >>> as_rankings([[0, 2, 1], [1, 0, 2]]).shape
    (2, 3)
    >>> as_rankings([[0, 2, 2]])
    Traceback (most recent call last):
    ...
    ValueError: y[0] gives rank 2 to items 1 and 2; expected each rank once. Where ties are meant, pass partial=True
    """
    reject_non_collection(collection, name)
    ranks = collection if is_array(collection) and collection.dtype != object else stacked(collection, name)
    values = to_numpy(ranks)
    if values.dtype.kind not in "biuf":
        raise TypeError(f"{name} has dtype {values.dtype}; expected ranks, whole numbers")
    if values.ndim != 2 or values.shape[0] == 0 or values.shape[1] < 2:
        raise ValueError(f"{name} has shape {values.shape}; expected rankings as rows, at least one row and two items")
    (_require_bucket_orders if partial else _require_permutations)(values, name)
    return ranks


def ranked(ranks: np.ndarray) -> np.ndarray:
    """Mask of the ranked items, those whose rank is not NaN."""
    return ~np.isnan(ranks)


def positions(ranks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and last position, from 0, of each item's tie; both NaN for items that are not ranked."""
    from scipy.stats import rankdata

    known = ranked(ranks)
    placed = np.where(known, ranks, np.inf)  # items that are not ranked come last and leave the others' positions alone
    first, last = (rankdata(placed, method=method, axis=1) - 1.0 for method in ("min", "max"))
    return np.where(known, first, np.nan), np.where(known, last, np.nan)


def pair_signs(ranks: np.ndarray) -> np.ndarray:
    """Return the sign of each pair of items i < j: 1 if i is ahead of j, −1 if it is behind, 0 if tied or not ranked."""
    left, right = np.triu_indices(ranks.shape[1], 1)
    known = ranked(ranks)
    placed = np.where(known, ranks, 0.0)
    both = known[:, left] & known[:, right]
    return np.where(both, np.sign(placed[:, right] - placed[:, left]), 0.0)


def order_key(ranks: Any) -> tuple[int, ...]:
    """Return the order of a row of ranks, the same whatever numbers it is written with; −1 for items not ranked.

    Examples
    --------
    >>> order_key([5, 1, 1, np.nan])
    (2, 0, 0, -1)
    """
    row = np.asarray(to_numpy(ranks), dtype=float).tolist()
    known = sorted(rank for rank in row if not isnan(rank))
    return tuple(-1 if isnan(rank) else bisect_left(known, rank) for rank in row)


def stacked(collection: Any, name: str) -> np.ndarray:
    """Return a frame or a list of rows as one array; an error names the first row that is not one of numbers, or ragged."""
    if hasattr(collection, "columns"):
        return np.asarray(collection)
    rows = list(collection)
    if not rows:
        raise ValueError(f"{name} is empty; expected at least one ranking")
    for i, row in enumerate(rows):
        if isinstance(row, str) or not hasattr(row, "__len__"):
            raise TypeError(f"{name}[{i}] is {row!r:.40}, a {type(row).__name__}; expected a row of ranks")
        if len(row) != len(rows[0]):
            sizes = f"{name}[0] ranks {len(rows[0])} items and {name}[{i}] ranks {len(row)}"
            raise ValueError(f"{name} is ragged: {sizes}; expected as many in all. Write NaN for items not ranked")
    try:
        return np.asarray([to_numpy(row) if is_array(row) else row for row in rows])
    except ValueError as error:
        raise ValueError(f"{name} holds rows that cannot be read as ranks; expected a number for every item") from error


def _require_permutations(values: np.ndarray, name: str) -> None:
    items = values.shape[1]
    finite = np.isfinite(values)
    start = 1 if finite.any() and values[finite].min() >= 1 else 0
    inside = finite & (np.floor(np.where(finite, values, 0.5)) == values)
    inside &= (np.where(finite, values, -1) >= start) & (np.where(finite, values, -1) < start + items)
    if not inside.all():
        row, item = np.argwhere(~inside)[0]
        value = values[row, item]
        hint = ". NaN for items that are not ranked needs partial=True" if np.isnan(value) or value < 0 else ""
        span = f"from 1 to {items}" if start else f"from 0 to {items - 1} (or 1 to {items} throughout)"
        raise ValueError(f"{name}[{row}] gives item {item} the rank {value}; expected whole numbers {span}{hint}")
    ordered = np.sort(values, axis=1)
    repeated = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    if repeated.any():
        row = int(np.argmax(repeated))
        twice = next(rank for rank in values[row] if np.sum(values[row] == rank) > 1)
        first, second = np.flatnonzero(values[row] == twice)[:2]
        given = f"{name}[{row}] gives rank {twice:g} to items {first} and {second}"
        raise ValueError(f"{given}; expected each rank once. Where ties are meant, pass partial=True")


def _require_bucket_orders(values: np.ndarray, name: str) -> None:
    items = values.shape[1]
    wrong = ~(np.isnan(values) | ((values >= 0) & (values <= items)))
    if wrong.any():
        row, item = np.argwhere(wrong)[0]
        given = f"{name}[{row}] gives item {item} the rank {values[row, item]}"
        raise ValueError(f"{given}; expected ranks between 0 and {items}, equal for ties, NaN for those not ranked")
