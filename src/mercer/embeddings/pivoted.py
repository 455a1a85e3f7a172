"""Coordinates from a pivoted incomplete Cholesky factor of the output Gram matrix."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from mercer.core.arrays import Array, namespace, zeros
from mercer.core.collections import Collection, count, take
from mercer.core.columns import ColumnChoice
from mercer.embeddings.base import Embedding
from mercer.kernels.base import Kernel


class Pivoted(Embedding):
    r"""Coordinates on a few pivot outputs, :math:`L \approx V V^\top`, in O(n·rank²) without forming L.

    Parameters
    ----------
    rank : int, optional
        The largest number of columns.
    tol : float, default=1e-6
        Stop when this share of the trace of L is left. Zero without a rank keeps all but rounding, by LAPACK.
    pivots : {"random", "greedy", "uniform", "leverage"} or SparseSketch, default="random"
        The choice of columns, as in `mercer.solvers.LowRank`.
    random_state : int, default=0
        Seed of the choice.

    Attributes
    ----------
    residual_ : float
        Share of the trace of L outside the factor.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> Y = np.linspace(0, 1, 50)[:, None]
    >>> found = Pivoted(tol=1e-6).fit(Gaussian(1.0), Y)
    >>> found.coordinates_.shape[1] < 10, found.residual_ < 1e-6
    (True, True)
    """

    fixed = False

    def __init__(
        self, rank: int | None = None, tol: float = 1e-6, pivots: Any = "random", random_state: int = 0
    ) -> None:
        self.rank = rank
        self.tol = tol
        self.pivots = pivots
        self.random_state = random_state

    def fit(self, kernel: Kernel, outputs: Collection, paired: int | None = None) -> Self:
        """Choose the pivots and factor."""
        super().fit(kernel, outputs, paired)
        choice = ColumnChoice(self.rank, self.tol, self.pivots, self.random_state)
        self.factor_ = choice.factor(kernel, self.outputs_)
        self.residual_ = self.factor_.residual
        return self

    @property
    def decomposes(self) -> bool:  # type: ignore[override]
        """True if the whole of L is factored."""
        return self.rank is None and self.tol == 0.0 and isinstance(self.pivots, str)

    @property
    def coordinates_(self) -> Array:
        """V, one row per fitted output."""
        return self.factor_.factor

    def transform(self, outputs: Collection) -> Array:
        """Return coordinates on the pivots, exact against any point in their span."""
        return self.factor_.extend(self.kernel_(outputs, take(self.outputs_, self.factor_.pivots)))

    def weights(self, points: Array) -> Array:
        """Return weights on the pivots, and zero on every other output."""
        pivots = self.factor_.pivots
        on_pivots = self.factor_.on_pivots(points.T).T
        # one column of zeros serves every output that is not a pivot
        padded = namespace(points).concat([on_pivots, zeros((points.shape[0], 1), points)], axis=1)
        column = np.full(count(self.outputs_), len(pivots))
        column[pivots] = np.arange(len(pivots))
        return take(padded.T, column).T
