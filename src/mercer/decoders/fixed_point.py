"""Vectors under a Gaussian kernel: climb to the nearest point of the output space."""

from __future__ import annotations

import numbers
from typing import Any, Self

import numpy as np

from mercer.core.arrays import Array, namespace, to_numpy
from mercer.core.collections import Collection, as_vectors, take
from mercer.decoders.box import Box
from mercer.decoders.families import as_gaussian
from mercer.decoders.mean_shift import Hills, climb, within
from mercer.decoders.pool import Pool, top, training_candidates
from mercer.decoders.vectors import VectorDecoder
from mercer.embeddings.base import Embedding

_PULLS = 2**22
"""Most Gaussians evaluated at a time, 32 MiB of doubles."""


_SUMMIT = 1e-9
"""Difference of two heights, relative to the sum of the weights, that is left by climbing."""


class FixedPoint(VectorDecoder):
    r"""The vector nearest to a point of a Gaussian kernel, by a guarded mean-shift iteration.

    Maximises :math:`f(y) = \sum_j w_j \exp(-\|y - y_j\|^2 / 2\sigma^2)` within a box, from the best
    training outputs and from their weighted mean. Steps that would lose height are shortened, so
    the answer is never worse than the best training output within the box. `rank` has it first, then
    the training outputs in the box.

    Parameters
    ----------
    n_starts : int, default=5
        How many of the best training outputs to start from.
    max_iter : int, default=100
        Most steps of each climb.
    tol : float, default=1e-6
        A climb ends at a step shorter than this share of σ.
    bounds : "data", None or (low, high), default="data"
        The box: the range of each coordinate in the training outputs, no box, or given limits
        (numbers, or one for each coordinate).

    Attributes
    ----------
    n_iter_ : int
        Steps of the longest climb in the last `decode`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.embeddings import Implicit
    >>> from mercer.kernels import Gaussian
    >>> embedding = Implicit().fit(Gaussian(2.0), np.array([[0.0], [1.0]]))
    >>> FixedPoint().fit(embedding).decode(np.array([[0.5, 0.5]])).round(3).tolist()
    [[0.5]]
    """

    n_iter_: int

    def __init__(
        self,
        n_starts: int = 5,
        max_iter: int = 100,
        tol: float = 1e-6,
        bounds: Any = "data",
    ) -> None:
        self.n_starts = n_starts
        self.max_iter = max_iter
        self.tol = tol
        self.bounds = bounds

    def fit(self, embedding: Embedding, loss: Any = None) -> Self:
        """Check that the output kernel is Gaussian on vectors, and lay out the box."""
        gaussian = as_gaussian(embedding.kernel_)
        if gaussian is None:
            raise TypeError(
                "FixedPoint needs a Gaussian output kernel on vectors, and came with "
                f"{embedding.kernel_!r}; use output_kernel=Gaussian(), or decoder='auto'"
            )
        self._check_parameters()
        super().fit(embedding, loss)
        self.scale_ = float(gaussian.scale)
        self.vectors_ = as_vectors(embedding.outputs_, "outputs")
        self.index_, self.hidden_ = training_candidates(embedding)
        self.box_ = Box.of(self.bounds, self.vectors_)
        return self

    def decode(self, H: Array, leave_out: np.ndarray | None = None) -> Array:
        """The vector of each point; an output left out is no start and does not stretch the box."""
        weights = self._weights(H)
        masked = self._masked(self.hidden_, leave_out, weights)
        # points of a low-rank embedding weigh few outputs; the others need not be evaluated
        xp = namespace(weights)
        used = np.flatnonzero(to_numpy(xp.any(weights != 0, axis=0)))
        used = used if used.size else np.zeros(1, dtype=np.intp)
        weights, centres = take(weights.T, used).T, take(self.vectors_, used)
        first = self._best_outputs(weights, used, masked)
        left = None if leave_out is None else take(self.vectors_, np.asarray(leave_out))
        low, high = self.box_.sides(weights.shape[0], left)

        origin = xp.mean(self.vectors_, axis=0)  # close to it, less is lost to cancellation
        hills = Hills(centres - origin, self.scale_)
        each = first.shape[1] + 1
        size = max(1, _PULLS // (each * len(used)))
        answers, self.n_iter_ = [], 0
        for begin in range(0, weights.shape[0], size):
            rows = np.arange(begin, min(begin + size, weights.shape[0]))
            owner = np.repeat(rows, each)
            points, heights, steps = climb(
                hills,
                self._starts(take(weights, rows), centres, first[rows]) - origin,
                take(weights, owner),
                take(low, owner) - origin,
                take(high, owner) - origin,
                max_iter=self.max_iter,
                tol=self.tol,
            )
            # equally high summits, as far as the climbs went: the one from the better start
            slack = _SUMMIT * xp.sum(xp.abs(take(weights, rows)), axis=1)
            highest, _ = top(xp.reshape(heights, (len(rows), each)), 1, slack)
            answers.append(take(points, np.arange(len(rows)) * each + highest[:, 0]) + origin)
            self.n_iter_ = max(self.n_iter_, steps)
        # adding the origin back may leave the box by rounding
        return within(xp.concat(answers), low, high)

    # -- scores: the distance in the whole feature space, which is what is climbed --------------

    def _points(self, H: Array) -> Array:
        return self._weights(H)

    def _features(self, objects: Collection) -> tuple[Array, Array]:
        kernel = self.embedding_.kernel_
        return 2.0 * kernel(objects, self.embedding_.outputs_), kernel.diag(objects)

    # -- where to start ----------------------------------------------------------------------------

    def _best_outputs(self, weights: Array, used: np.ndarray, masked: np.ndarray | None) -> np.ndarray:
        """Indices of the best outputs for each query, best first."""
        outputs = self.embedding_.outputs_
        gram = self.embedding_.kernel_(take(outputs, self.index_), take(outputs, used))
        pool = Pool(None, gram, 0.0 * gram[:, 0])
        columns, scores = pool.best(weights, int(self.n_starts), masked)
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

    def _check_parameters(self) -> None:
        for name in ("n_starts", "max_iter"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
                raise ValueError(f"{name}={value!r} in FixedPoint; expected a whole number from 1")
        if not isinstance(self.tol, numbers.Real) or not 0 <= self.tol < np.inf:
            raise ValueError(f"tol={self.tol!r} in FixedPoint; expected a number, zero or more")
