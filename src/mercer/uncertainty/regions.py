"""Regions of vectors (intervals, boxes, ellipsoids), and the weighted quantiles that make them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.special

from mercer.core.arrays import is_array, to_numpy

_ROUNDING = 1e-11  # share of the total weight that sums of weights may lose


@dataclass(frozen=True)
class Intervals:
    """An interval for each coordinate of each output; ``lower, upper = intervals`` unpacks them.

    Attributes
    ----------
    lower, upper : arrays
        The ends, in the shape of the outputs; infinite if there are too few pairs for the coverage.
    simultaneous : bool
        True if all coordinates of an output are inside together with the given probability: a box, or a band around a curve.
    slack : array or float
        Distance from an end, for each coordinate, that counts as inside: an input alone and in a batch has predictions that
        differ in the last bits, and an output that ties with an end is inside for both.

    Examples
    --------
    >>> box = Intervals(np.array([[0.0, 0.0]]), np.array([[1.0, 2.0]]), simultaneous=True)
    >>> box.contains([[0.5, 3.0]]), box.width
    (array([False]), array([[1., 2.]]))
    """

    lower: np.ndarray
    upper: np.ndarray
    simultaneous: bool = False
    slack: np.ndarray | float = 0.0

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter((self.lower, self.upper))

    @property
    def width(self) -> np.ndarray:
        """The length of each interval."""
        return self.upper - self.lower

    def contains(self, y: Any) -> np.ndarray:
        """Return True for each entry of `y` in its interval; for each whole output if the intervals are simultaneous."""
        values = _rows_like(y, self.lower)
        inside = (self.lower - self.slack <= values) & (values <= self.upper + self.slack)
        return np.all(inside.reshape(len(self.lower), -1), axis=1) if self.simultaneous else np.asarray(inside)


@dataclass(frozen=True)
class Ellipsoids:
    r"""An ellipsoid for each output, :math:`\{y : \|F^{-1}(y - c)\| \le r\}`.

    Attributes
    ----------
    centers : array
        c, the predictions, in the shape of the outputs.
    factor : array (p, p)
        F, lower triangular, with F Fᵀ the covariance of the errors.
    radii : array (q,)
        r.
    slack : float
        Length beyond r that counts as inside, for rounding.

    Examples
    --------
    >>> found = Ellipsoids(np.zeros((1, 2)), np.diag([1.0, 2.0]), np.ones(1))
    >>> found.contains([[0.0, 1.9]]), found.contains([[1.1, 0.0]])
    (array([ True]), array([False]))
    >>> bool(np.isclose(np.exp(found.log_volumes[0]), 2 * np.pi))
    True
    """

    centers: np.ndarray
    factor: np.ndarray
    radii: np.ndarray
    slack: float = 0.0

    def contains(self, y: Any) -> np.ndarray:
        """Return True for each output in its ellipsoid."""
        errors = (_rows_like(y, self.centers) - self.centers).reshape(len(self.centers), -1)
        return lengths(self.factor, errors) <= self.radii + self.slack

    @property
    def log_volumes(self) -> np.ndarray:
        """The logarithm of the volume of each ellipsoid."""
        p = len(self.factor)
        unit = 0.5 * p * np.log(np.pi) - float(scipy.special.gammaln(0.5 * p + 1))
        with np.errstate(divide="ignore"):
            return unit + p * np.log(self.radii) + float(np.log(np.diagonal(self.factor)).sum())


def lengths(factor: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """Return ‖F⁻¹e‖ of each row e, NaN if an entry is missing."""
    known = ~np.isnan(errors).any(axis=1)
    found = np.full(len(errors), np.nan)
    found[known] = np.linalg.norm(scipy.linalg.solve_triangular(factor, errors[known].T, lower=True), axis=0)
    return found


def quantiles(scores: np.ndarray, weights: np.ndarray, own: np.ndarray, coverage: float) -> np.ndarray:
    """Return the conformal quantile of each column of `scores` (m, p), for each of q new pairs; (q, p).

    It is the smallest score at which known weights reach a share `coverage` of all, a new pair of weight `own` counted as
    infinite: the ⌈(m + 1)c⌉-th smallest if all weights are one. Missing scores (NaN) do not count.

    Examples
    --------
    >>> quantiles(np.array([[3.0], [1.0], [2.0], [4.0]]), np.ones(4), np.array([1.0, 3.0]), 0.6)
    array([[ 3.],
           [inf]])
    """
    found = np.full((len(own), scores.shape[1]), np.inf)
    if len(weights) and np.all(weights == weights[0]) and not np.isnan(scores).any():
        # the same place in every column
        place, inside = _places(np.cumsum(weights), own, coverage)
        found[inside] = np.sort(scores, axis=0)[place[inside]]
        return found
    order = np.argsort(scores, axis=0, kind="stable")  # missing ones last
    for column, rows in enumerate(order.T):
        rows = rows[: np.count_nonzero(~np.isnan(scores[:, column]))]
        if len(rows) == 0:
            continue
        place, inside = _places(np.cumsum(weights[rows]), own, coverage)
        found[inside, column] = scores[rows[place[inside]], column]
    return found


def _places(reached: np.ndarray, own: np.ndarray, coverage: float) -> tuple[np.ndarray, np.ndarray]:
    """Where weights that add up to `reached` come to the share `coverage`, for each new pair, and whether they do."""
    whole = reached[-1] + own
    place = np.searchsorted(reached, coverage * whole - _ROUNDING * whole)
    return place, (place < len(reached)) & (whole > 0)


def _rows_like(y: Any, reference: np.ndarray) -> np.ndarray:
    values = np.asarray(to_numpy(y) if is_array(y) else y, dtype=float)
    if values.shape != reference.shape and values.size != reference.size:
        raise ValueError(f"y has shape {values.shape}; expected {reference.shape}, an output for each input")
    return values.reshape(reference.shape)
