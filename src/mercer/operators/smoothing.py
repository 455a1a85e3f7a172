"""Smoothing over a grid: the matrix of an operator for outputs that are curves."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np


def smoothing_matrix(grid: Any, length: float, period: float | None = None) -> np.ndarray:
    r"""How points of a curve belong together, :math:`T_{st} = e^{-|s - t| / h}`, for ``Separable(kernel, T)``.

    Parameters
    ----------
    grid : array (p,)
        Where the curves are observed, in ascending order.
    length : float
        h, in the units of the grid; 0 is the identity matrix, which learns the points one by one.
    period : float, optional
        Where the curves close: |s − t| is then the shorter way round.

    Examples
    --------
    >>> smoothing_matrix([0.0, 1.0, 3.0], length=1.0).round(2)
    array([[1.  , 0.37, 0.05],
           [0.37, 1.  , 0.14],
           [0.05, 0.14, 1.  ]])
    >>> smoothing_matrix([0.0, 1.0, 3.0], length=1.0, period=4.0).round(2)[0]
    array([1.  , 0.37, 0.37])
    """
    points = check_grid(grid, period)
    if isinstance(length, bool) or not isinstance(length, Real) or not 0 <= float(length) < np.inf:
        raise ValueError(f"length={length!r}; expected a finite number, zero or more, in the units of the grid")
    if length == 0:
        return np.eye(len(points))
    lag = np.abs(points[:, None] - points)
    return np.exp(-(lag if period is None else np.minimum(lag, period - lag)) / float(length))


def quadrature_weights(grid: Any, period: float | None = None) -> np.ndarray:
    r"""Weights w of the trapezoidal rule, so that :math:`\langle f, g \rangle \approx \sum_t w_t f(t) g(t)`.

    Examples
    --------
    >>> quadrature_weights([0.0, 1.0, 3.0])
    array([0.5, 1.5, 1. ])
    >>> quadrature_weights([0.0, 1.0, 3.0], period=4.0)
    array([1. , 1.5, 1.5])
    """
    points = check_grid(grid, period)
    if len(points) == 1:
        return np.ones(1)
    gaps = np.diff(points)
    around = 0.0 if period is None else period - (points[-1] - points[0])
    return 0.5 * (np.append(gaps, around) + np.insert(gaps, 0, around))


def check_grid(grid: Any, period: float | None = None) -> np.ndarray:
    """`grid` as ascending numbers that fit into one period."""
    points = np.asarray(grid, dtype=float)
    if points.ndim != 1 or len(points) == 0 or not np.all(np.isfinite(points)) or np.any(np.diff(points) <= 0):
        raise ValueError(
            f"grid={grid!r:.60}; expected finite numbers in ascending order, one for each point of a curve"
        )
    if period is not None and not period > points[-1] - points[0]:
        raise ValueError(f"period={period!r}; expected more than {points[-1] - points[0]:g}, the width of the grid")
    return points
