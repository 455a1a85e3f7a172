"""Smoothing over a grid: an operator for outputs that are curves."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from mercer.core.arrays import Array, like
from mercer.core.validation import check_real, is_real, numbers
from mercer.operators.base import OperatorSpectrum, Outputs, SeparableOperator

_LENGTH = "a finite number, zero or more, in the units of the grid"


class Smoothing(SeparableOperator):
    r"""Neighbouring points of a curve learned together, :math:`K(x, z) = k(x, z)\,T`, :math:`T_{st} = e^{-|s - t| / h}`.

    Parameters
    ----------
    length : float
        h, in the units of the grid; with 0 the points are learned alone.
    grid : array (p,), optional
        Points at which the curves are observed, in ascending order; by default 0, 1, …, p − 1.
    period : float, optional
        The period of closed curves, such as 365 for days of the year.
    quadrature : bool, default=False
        Approximate integrals: T becomes :math:`W^{1/2} T W^{1/2}` with trapezoidal weights W, scaled to a mean eigenvalue of one.
        The coordinates of outputs then have to be multiplied by :math:`W^{1/2}`.

    Examples
    --------
    >>> from mercer import DependencyEstimator
    >>> from mercer.embeddings import Features
    >>> times, X = np.linspace(0, 1, 30), np.random.default_rng(0).standard_normal((20, 1))
    >>> curves = X * np.sin(6 * times) + 0.1 * np.random.default_rng(1).standard_normal((20, 30))
    >>> model = DependencyEstimator(operator=Smoothing(0.2, times), embedding=Features()).fit(X, curves)
    >>> model.predict(X[:2]).shape
    (2, 30)
    """

    def __init__(self, length: float, grid: Any = None, period: float | None = None, quadrature: bool = False) -> None:
        self.length = length
        self.grid = grid
        self.period = period
        self.quadrature = quadrature

    def matrix(self, outputs: Outputs) -> Array:
        """Return T on the grid of the outputs."""
        spectrum = self.spectrum(outputs)
        if spectrum.vectors is None:
            return like(np.diag(np.asarray(spectrum.values)), outputs.coordinates)
        return (spectrum.vectors * spectrum.values) @ spectrum.vectors.T

    def spectrum(self, outputs: Outputs) -> OperatorSpectrum:
        """Return the eigendecomposition of T, kept for the last few grids."""
        reference = outputs.coordinates
        p = reference.shape[1]
        points = check_grid(np.arange(float(p)) if self.grid is None else self.grid, self.period)
        if len(points) != p:
            raise ValueError(f"grid has {len(points)} points; expected {p}, one for each coordinate of the outputs")
        length = check_real(self.length, "length", 0, closed="left", expected=_LENGTH)
        values, vectors = _decomposed(tuple(points.tolist()), length, self.period, bool(self.quadrature))
        return OperatorSpectrum(like(values, reference), None if vectors is None else like(vectors, reference))


@lru_cache(maxsize=32)
def _decomposed(
    points: tuple[float, ...], length: float, period: float | None, quadrature: bool
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return eigenvalues and eigenvectors of T; None in place of the vectors if it is the identity."""
    if length == 0:
        return np.ones(len(points)), None
    matrix = smoothing_matrix(points, length, period)
    if quadrature:
        roots = np.sqrt(quadrature_weights(points, period))
        matrix = roots[:, None] * matrix * roots
    values, vectors = np.linalg.eigh(matrix)
    values = np.maximum(values, 0.0)
    return values / values.mean(), vectors


def smoothing_matrix(grid: Any, length: float, period: float | None = None) -> np.ndarray:
    r"""Return the matrix of `Smoothing`, :math:`T_{st} = e^{-|s - t| / h}`, for ``Separable(kernel, T)``.

    Parameters are those of `Smoothing`. Distances on closed curves are the shorter way round.

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
    if check_real(length, "length", 0, closed="left", expected=_LENGTH) == 0:
        return np.eye(len(points))
    lag = np.abs(points[:, None] - points)
    return np.exp(-(lag if period is None else np.minimum(lag, period - lag)) / float(length))


def quadrature_weights(grid: Any, period: float | None = None) -> np.ndarray:
    r"""Return the weights w of the trapezoidal rule, so that :math:`\langle f, g \rangle \approx \sum_t w_t f(t) g(t)`.

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
    """Return `grid` as ascending numbers that fit into one period."""
    points = numbers(grid)
    if points.ndim != 1 or len(points) == 0 or not np.all(np.isfinite(points)) or np.any(np.diff(points) <= 0):
        raise ValueError(f"grid={grid!r:.60}; expected finite numbers in ascending order, one for each point")
    if period is not None and not (is_real(period) and period > points[-1] - points[0]):
        raise ValueError(f"period={period!r}; expected more than {points[-1] - points[0]:g}, the width of the grid")
    return points
