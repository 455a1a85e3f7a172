"""Points as weights on the distinct outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

import numpy as np
from scipy.sparse import csr_array

from mercer.core import memory
from mercer.core.arrays import Array, like, namespace, to_numpy
from mercer.core.collections import Collection, count, distinct, take
from mercer.embeddings.base import Embedding
from mercer.kernels.base import Kernel

_THIN = 0.05  # share of features other than zero below which a sparse product is the faster one


class Distinct(Embedding):
    r"""A coordinate for each distinct training output: a point is its weights on them, :math:`h = \sum_d w_d \psi(y_d)`.

    As `Implicit`, without a coordinate for each copy of an output. The weights do not depend on the output kernel, so one map
    can be decoded under several.

    Examples
    --------
    >>> from mercer.kernels import Classes
    >>> Distinct().fit(Classes(), np.array(["a", "b", "a"], dtype=object)).coordinates_.tolist()
    [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    """

    euclidean = False

    def fit(self, kernel: Kernel, outputs: Collection, paired: int | None = None) -> Self:
        """Find the outputs that are equal."""
        super().fit(kernel, outputs, paired)
        first, group = distinct(take(self.outputs_, slice(0, self.paired_)))
        way_out = "learn from fewer pairs, or from outputs that are rows of numbers"
        memory.require(count(self.outputs_), len(first), 4, f"weights on {len(first)} distinct outputs", way_out)
        self.distinct_, self.group_ = take(self.outputs_, first), group
        self._rows = np.zeros((count(self.outputs_), len(first)))
        self._rows[np.arange(self.paired_), group] = 1.0
        return self

    @property
    def coordinates_(self) -> Array:
        """A one for each output at its place among the distinct ones; zeros for outputs without inputs."""
        return self._rows

    def transform(self, outputs: Collection) -> Array:
        """Return l(y, y_d) for each output and each distinct one."""
        return self.kernel_(outputs, self.distinct_)

    def rows(self, index: np.ndarray) -> Array:
        """Return `transform` of some of the fitted outputs."""
        return self.transform(take(self.outputs_, index))

    def _point_norms(self, points: Array) -> Array:
        return namespace(points).sum((points @ like(self.kernel_(self.distinct_), points)) * points, axis=1)

    def weights(self, points: Array) -> Array:
        """Return the weights of the distinct outputs, shared by their copies."""
        share = self._rows / np.maximum(self._rows.sum(axis=0), 1.0)
        return points @ like(share.T, points)

    @property
    def weighted_outputs(self) -> Collection:
        """The distinct outputs."""
        return self.distinct_

    def own_weights(self, points: Array) -> Array:
        """Return the points themselves."""
        return points

    def expectations(self, points: Array, features: Callable[[Collection], Array]) -> np.ndarray:
        """Return the features of the distinct outputs, summed with the weights of each point."""
        rows = to_numpy(features(self.distinct_))
        few = np.count_nonzero(rows) < _THIN * rows.size
        return to_numpy(points) @ (csr_array(rows) if few else rows)
