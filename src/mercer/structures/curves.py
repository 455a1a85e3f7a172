"""Curves that were measured at positions of their own, on a common grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

MOST_POSITIONS = 200
"""Most positions of a common grid; more are thinned out evenly."""


def is_curves(collection: Any) -> bool:
    """Return True for a list of curves, each a tuple of two arrays: positions that increase, and values.

    Examples
    --------
    >>> is_curves([(np.array([0.0, 1.0]), np.array([3.0, 4.0]))]), is_curves([[0.0, 1.0]])
    (True, False)
    """
    return isinstance(collection, list) and bool(collection) and all(map(_is_curve, collection))


def _is_curve(item: Any) -> bool:
    if not (isinstance(item, tuple) and len(item) == 2 and all(isinstance(part, np.ndarray) for part in item)):
        return False
    positions, values = item
    numbers = positions.dtype.kind in "iuf" and values.dtype.kind in "iuf"
    alike = positions.ndim == 1 and positions.shape == values.shape and len(positions) > 1
    return numbers and alike and bool(np.all(np.diff(positions) > 0))


def on_grid(curves: Sequence[tuple[Any, Any]], grid: Any = None) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return a grid, the values of all curves on it, one row each, and True if all were measured there.

    Parameters
    ----------
    curves : sequence of pairs (positions, values)
        Each curve with its own positions, in any order, at least two.
    grid : array, optional
        The positions wanted. By default the union of all positions that lie inside every curve; if they are more than 200, as
        many evenly spaced ones.

    Notes
    -----
    Values between positions are interpolated linearly, and held constant beyond the ends of a curve for a given `grid`.

    Examples
    --------
    >>> grid, rows, regular = on_grid([([0, 1, 2], [0, 1, 4]), ([2, 0, 0.5], [4, 0, 1])])
    >>> grid.tolist(), rows.tolist(), regular
    ([0.0, 0.5, 1.0, 2.0], [[0.0, 0.5, 1.0, 4.0], [0.0, 1.0, 2.0, 4.0]], False)
    """
    if not len(curves):
        raise ValueError("there are no curves; expected at least one")
    checked = [_checked(t, v, i) for i, (t, v) in enumerate(curves)]
    first = checked[0][0]
    if grid is None:
        regular = all(np.array_equal(t, first) for t, _ in checked)
        grid = first if regular else _common([t for t, _ in checked])
    else:
        grid = np.asarray(grid, dtype=float)
        regular = all(np.array_equal(t, grid) for t, _ in checked)
    return grid, np.stack([np.interp(grid, t, v) for t, v in checked]), regular


def _common(positions: list[np.ndarray]) -> np.ndarray:
    start, end = max(t[0] for t in positions), min(t[-1] for t in positions)
    inside = np.unique(np.concatenate(positions))
    inside = inside[(inside >= start) & (inside <= end)]
    if len(inside) < 2:
        raise ValueError(
            f"the curves have no positions in common: the latest begins at {start:g}, the first ends at {end:g}"
        )
    return inside if len(inside) <= MOST_POSITIONS else np.linspace(start, end, MOST_POSITIONS)


def _checked(positions: Any, values: Any, i: int) -> tuple[np.ndarray, np.ndarray]:
    t, v = np.asarray(positions, dtype=float), np.asarray(values, dtype=float)
    if t.ndim != 1 or t.shape != v.shape or len(t) < 2:
        raise ValueError(
            f"curve {i} has {t.shape} positions and {v.shape} values; expected as many of each, at least two"
        )
    if not (np.isfinite(t).all() and np.isfinite(v).all()):
        raise ValueError(f"curve {i} has a position or a value that is not finite; drop such points")
    order = np.argsort(t, kind="stable")
    t, v = t[order], v[order]
    if np.any(np.diff(t) == 0):
        raise ValueError(
            f"curve {i} has the position {t[np.flatnonzero(np.diff(t) == 0)[0]]:g} twice; expected it once"
        )
    return t, v
