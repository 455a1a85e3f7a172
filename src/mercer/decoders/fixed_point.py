"""Vectors under a Gaussian kernel: mean shift to the nearest one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from mercer.core.arrays import Array, exp, namespace, to_numpy
from mercer.core.collections import take
from mercer.core.validation import check_real, check_whole
from mercer.decoders.base import register, unscaled
from mercer.decoders.closed_form import VectorDecoder, clipped
from mercer.decoders.pool import Allowed, LeftOut, Pool, top, training_candidates
from mercer.embeddings.base import Embedding
from mercer.kernels.base import Kernel
from mercer.kernels.composition import GaussianOf
from mercer.kernels.vectors import Gaussian, Linear

_TERMS = 2**22  # most Gaussians evaluated at a time, 32 MiB of doubles
_MAXIMUM = 1e-9  # difference of two maxima, relative to the sum of the weights, that the iteration may leave
_LONGER, _SHORTER = 1.3, 0.5  # factors of the step length after a step that is taken and after one that is not


@register(priority=40)
class FixedPoint(VectorDecoder):
    r"""The vector nearest to a point of a Gaussian kernel, by a guarded mean-shift iteration.

    Maximises :math:`f(y) = \sum_j w_j \exp(-\|y - y_j\|^2 / 2\sigma^2)` within a box, from the best training outputs and from
    their weighted mean. Steps that would lower f are shortened, so the answer is never worse than the best training output
    within the box. `rank` gives it first, then the training outputs in the box.

    Parameters
    ----------
    n_starts : int, default=5
        Number of best training outputs to start from.
    max_iter : int, default=100
        Most steps of each run.
    tol : float, default=1e-6
        A run ends at a step shorter than this share of σ.
    bounds : "data", None or (low, high), default="data"
        The box: the range of each coordinate in the training outputs, no box, or given limits
        (numbers, or one for each coordinate).

    Examples
    --------
    >>> from mercer.embeddings import Implicit
    >>> from mercer.kernels import Gaussian
    >>> embedding = Implicit().fit(Gaussian(2.0), np.array([[0.0], [1.0]]))
    >>> FixedPoint().fit(embedding).decode(np.array([[0.5, 0.5]])).round(3).tolist()
    [[0.5]]
    """

    kernels = (Gaussian, GaussianOf)
    needs = "Gaussian() on vectors"
    reason = "{kernel} is smooth on vectors, so the nearest one is found by mean shift"
    by_weights = True  # the distance in the whole feature space, which mean shift minimises

    def __init__(self, n_starts: int = 5, max_iter: int = 100, tol: float = 1e-6, bounds: Any = "data") -> None:
        self.n_starts = n_starts
        self.max_iter = max_iter
        self.tol = tol
        self.bounds = bounds

    @classmethod
    def decodes(cls, kernel: Kernel) -> bool:
        """For Gaussians on vectors."""
        inner = unscaled(kernel)
        scale = getattr(inner, "scale", None)
        return inner in (Gaussian(scale), GaussianOf(Linear(), scale))

    def fit(self, embedding: Embedding, loss: Any = None) -> Self:
        """Check the parameters, and work out the box."""
        for name in ("n_starts", "max_iter"):
            check_whole(getattr(self, name), name, expected="a whole number from 1 in FixedPoint")
        check_real(self.tol, "tol", closed="left", expected="a number, zero or more, in FixedPoint")
        super().fit(embedding, loss)
        gaussian: Any = unscaled(embedding.kernel_)
        self.scale_ = float(gaussian.scale)
        self.index_, self._candidate_of = training_candidates(embedding)
        return self

    def decode(self, H: Array, leave_out: np.ndarray | LeftOut | None = None) -> Array:
        """The vector of each point. An output left out is not a start and does not stretch the box."""
        return self._search(H, leave_out)[0]

    def iterations(self, H: Array) -> int:
        """Number of steps of the longest run for these points; `max_iter` where a run did not converge."""
        return self._search(H, None)[1]

    def _search(self, H: Array, leave_out: np.ndarray | LeftOut | None) -> tuple[Array, int]:
        weights = self._weights(H)
        allowed = self._allowed(len(self.index_), self._candidate_of, leave_out, weights)
        # points of a low-rank embedding have weights on few outputs; the others need not be evaluated
        xp = namespace(weights)
        used = np.flatnonzero(to_numpy(xp.any(weights != 0, axis=0)))
        used = used if used.size else np.zeros(1, dtype=np.intp)
        weights, centres = take(weights.T, used).T, take(self.vectors_, used)
        first = self._best_outputs(weights, used, allowed)
        low, high = self.box_.sides(weights.shape[0], self.vectors_, leave_out)

        origin = xp.mean(self.vectors_, axis=0)  # close to it, less is lost to cancellation
        sums = GaussianSum(centres - origin, self.scale_, weights)
        each = first.shape[1] + 1
        size = max(1, _TERMS // (each * len(used)))
        answers, longest = [], 0
        for begin in range(0, weights.shape[0], size):
            rows = np.arange(begin, min(begin + size, weights.shape[0]))
            owner = np.repeat(rows, each)
            starts = self._starts(take(weights, rows), centres, first[rows]) - origin
            box = (take(low, owner) - origin, take(high, owner) - origin)
            points, values, steps = mean_shift(sums.only(owner), starts, box, max_iter=self.max_iter, tol=self.tol)
            # of maxima equal up to the tolerance, the one from the better start
            slack = _MAXIMUM * xp.sum(xp.abs(take(weights, rows)), axis=1)
            highest, _ = top(xp.reshape(values, (len(rows), each)), 1, slack)
            answers.append(take(points, np.arange(len(rows)) * each + highest[:, 0]) + origin)
            longest = max(longest, steps)
        # adding the origin back may leave the box by rounding
        return clipped(xp.concat(answers), low, high), longest

    def _best_outputs(self, weights: Array, used: np.ndarray, allowed: Allowed | None) -> np.ndarray:
        """Indices of the best outputs for each query, best first."""
        outputs = self.embedding_.outputs_
        gram = self.embedding_.kernel_(take(outputs, self.index_), take(outputs, used))
        pool = Pool(self.index_, gram, 0.0 * gram[:, 0])
        columns, scores = pool.best(weights, int(self.n_starts), allowed)
        # where fewer are left than asked for, the best one again
        return self.index_[np.where(np.isfinite(scores), columns, columns[:, :1])]

    def _starts(self, weights: Array, centres: Array, first: np.ndarray) -> Array:
        """The best outputs of each query, then the mean of the outputs by positive weight."""
        xp = namespace(weights)
        best = take(self.vectors_, first)
        positive = xp.clip(weights, 0.0, None)
        total = xp.sum(positive, axis=1)[:, None]
        mean = positive @ centres / xp.where(total > 0, total, xp.ones_like(total))
        mean = xp.where(total > 0, mean, best[:, 0, :])
        starts = xp.concat([best, mean[:, None, :]], axis=1)
        return xp.reshape(starts, (-1, starts.shape[2]))


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
        total = xp.clip(xp.sum(xp.abs(terms), axis=1), 1e-300, None)
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

    Returns points, values, and the number of steps of the longest run. No run ends below its start (moved into the box).
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
    parts = [*converged, active]
    order = np.argsort(np.concatenate([part.number for part in parts]))
    points, values = (xp.concat(each) for each in zip(*((part.points, part.values) for part in parts), strict=True))
    return take(points, order), take(values, order), iteration
