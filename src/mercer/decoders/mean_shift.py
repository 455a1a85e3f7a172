"""Climbing a weighted sum of Gaussians, many starts at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.core.arrays import Array, exp, namespace, to_numpy
from mercer.core.collections import take

_LONGER, _SHORTER = 1.3, 0.5
"""What a step is multiplied by after success and after failure."""

_TINY = 1e-300


@dataclass
class Hills:
    r"""The surface :math:`f(y) = \sum_j w_j e^{-\|y - c_j\|^2 / 2\sigma^2}`, w_j of any sign."""

    centres: Array
    scale: float

    def __post_init__(self) -> None:
        self._half_squares = 0.5 * namespace(self.centres).sum(self.centres**2, axis=1)

    def survey(self, points: Array, weights: Array) -> tuple[Array, Array]:
        """Height of the surface at each point, and the mean-shift step uphill from it."""
        xp = namespace(points)
        exponent = points @ self.centres.T
        exponent -= self._half_squares[None, :]
        exponent -= 0.5 * xp.sum(points**2, axis=1)[:, None]
        exponent /= self.scale**2
        pull = exp(exponent)
        pull *= weights
        height = xp.sum(pull, axis=1)
        # dividing by Σ|w|k instead of the usual Σwk keeps it uphill when weights are negative
        strength = xp.clip(xp.sum(xp.abs(pull), axis=1), _TINY, None)
        return height, (pull @ self.centres - height[:, None] * points) / strength[:, None]


@dataclass
class _Climbers:
    """Those still on their way; row i is climber number `number[i]`."""

    number: np.ndarray
    points: Array
    heights: Array
    shifts: Array
    steps: Array
    weights: Array
    low: Array
    high: Array

    def only(self, rows: np.ndarray) -> _Climbers:
        return _Climbers(*(take(part, rows) for part in vars(self).values()))


def climb(
    hills: Hills,
    starts: Array,
    weights: Array,
    low: Array,
    high: Array,
    *,
    max_iter: int,
    tol: float,
) -> tuple[Array, Array, int]:
    """From each start, uphill within the box until a step is shorter than ``tol·scale``.

    Each row has its own weights and box. A step that would lose height is not taken but halved, so
    no point ends below its start (as the box sees it). Returns points, heights, and how many steps
    the longest climb took.
    """
    xp = namespace(starts)
    points = within(starts, low, high)
    heights, shifts = hills.survey(points, weights)
    steps = xp.ones_like(heights)
    number = np.arange(points.shape[0])
    active = _Climbers(number, points, heights, shifts, steps, weights, low, high)
    arrived: list[_Climbers] = []
    iteration = 0
    while iteration < max_iter and len(active.number):
        iteration += 1
        moved = _advance(hills, active)
        done = to_numpy(moved <= tol * hills.scale)
        if done.any():
            arrived.append(active.only(np.flatnonzero(done)))
            active = active.only(np.flatnonzero(~done))
    arrived.append(active)
    order = np.argsort(np.concatenate([part.number for part in arrived]))
    points = take(xp.concat([part.points for part in arrived]), order)
    heights = take(xp.concat([part.heights for part in arrived]), order)
    return points, heights, iteration


def _advance(hills: Hills, active: _Climbers) -> Array:
    """One step, in place, for those who gain by it; how long the step was (or would have been)."""
    xp = namespace(active.points)
    trial = active.points + active.steps[:, None] * active.shifts
    trial = within(trial, active.low, active.high)
    heights, shifts = hills.survey(trial, active.weights)
    higher = heights >= active.heights
    length = xp.sqrt(xp.sum((trial - active.points) ** 2, axis=1))
    active.points = xp.where(higher[:, None], trial, active.points)
    active.shifts = xp.where(higher[:, None], shifts, active.shifts)
    active.heights = xp.where(higher, heights, active.heights)
    active.steps = xp.where(higher, _LONGER * active.steps, _SHORTER * active.steps)
    return length


def within(points: Array, low: Array, high: Array) -> Array:
    """Each point, or the nearest to it in its box."""
    xp = namespace(points)
    return xp.minimum(xp.maximum(points, low), high)
