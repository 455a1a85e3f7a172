"""Mean shift on weighted sums of Gaussians, from many starts at once."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mercer.core.arrays import Array, exp, namespace, to_numpy
from mercer.core.collections import take
from mercer.decoders.closed_form import clipped

_LONGER, _SHORTER = 1.3, 0.5
"""Factors of the step length after a step that is taken and after one that is not."""

_TINY = 1e-300


@dataclass
class GaussianSum:
    r"""Sums :math:`f(y) = \sum_j w_j e^{-\|y - c_j\|^2 / 2\sigma^2}`, one for each row of weights, of any sign."""

    centres: Array
    scale: float
    weights: Array

    def __post_init__(self) -> None:
        self._half_squares = 0.5 * namespace(self.centres).sum(self.centres**2, axis=1)

    def only(self, rows: np.ndarray) -> GaussianSum:
        """The sums at some rows."""
        return replace(self, weights=take(self.weights, rows))

    def value_and_step(self, points: Array) -> tuple[Array, Array]:
        """The value of the i-th sum at the i-th point, and the mean-shift step from there."""
        xp = namespace(points)
        exponent = points @ self.centres.T
        exponent -= self._half_squares[None, :]
        exponent -= 0.5 * xp.sum(points**2, axis=1)[:, None]
        exponent /= self.scale**2
        terms = exp(exponent)
        terms *= self.weights
        value = xp.sum(terms, axis=1)
        # dividing by Σ|w|k instead of the usual Σwk makes it an ascent when weights are negative
        total = xp.clip(xp.sum(xp.abs(terms), axis=1), _TINY, None)
        return value, (terms @ self.centres - value[:, None] * points) / total[:, None]


@dataclass
class _Active:
    """Runs that have not converged; row i is run number `number[i]`."""

    number: np.ndarray
    sums: GaussianSum
    low: Array
    high: Array
    points: Array
    values: Array
    shifts: Array
    steps: Array

    def only(self, rows: np.ndarray) -> _Active:
        arrays = {name: take(part, rows) for name, part in vars(self).items() if name != "sums"}
        return _Active(sums=self.sums.only(rows), **arrays)

    def advance(self) -> Array:
        """Take one step, in place, where it gains; the length of each step."""
        xp = namespace(self.points)
        trial = clipped(self.points + self.steps[:, None] * self.shifts, self.low, self.high)
        values, shifts = self.sums.value_and_step(trial)
        higher = values >= self.values
        length = xp.sqrt(xp.sum((trial - self.points) ** 2, axis=1))
        self.points = xp.where(higher[:, None], trial, self.points)
        self.shifts = xp.where(higher[:, None], shifts, self.shifts)
        self.values = xp.where(higher, values, self.values)
        self.steps = xp.where(higher, _LONGER * self.steps, _SHORTER * self.steps)
        return length


def mean_shift(
    sums: GaussianSum, starts: Array, box: tuple[Array, Array], *, max_iter: int, tol: float
) -> tuple[Array, Array, int]:
    """Maximise each sum from its start, within its row of the box, until a step is shorter than ``tol·scale``.

    A step that would lower the value is not taken but halved, so that no run ends below its start (moved into the box).
    Returns points, values, and the number of steps of the longest run.
    """
    points = clipped(starts, *box)
    values, shifts = sums.value_and_step(points)
    xp = namespace(points)
    active = _Active(np.arange(points.shape[0]), sums, *box, points, values, shifts, xp.ones_like(values))
    converged: list[_Active] = []
    iteration = 0
    while iteration < max_iter and len(active.number):
        iteration += 1
        done = to_numpy(active.advance() <= tol * sums.scale)
        if done.any():
            converged.append(active.only(np.flatnonzero(done)))
            active = active.only(np.flatnonzero(~done))
    converged.append(active)
    order = np.argsort(np.concatenate([part.number for part in converged]))
    points = take(xp.concat([part.points for part in converged]), order)
    values = take(xp.concat([part.values for part in converged]), order)
    return points, values, iteration
