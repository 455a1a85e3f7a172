"""Embeddings: outputs as points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator

from mercer.core.arrays import Array, namespace, to_numpy
from mercer.core.collections import Collection, count, take
from mercer.kernels.base import Kernel


class Embedding(BaseEstimator):
    r"""Coordinates for outputs, :math:`L = V V^\top`, so that learning is regression onto the rows of V.

    A fitted embedding maps any output to a row (`transform`) whose product with a point is their inner product in feature
    space, gives its squared norm (`norms`), and writes a point as weights on the fitted outputs (`weights`).

    Attributes
    ----------
    kernel_ : Kernel
        The resolved output kernel.
    outputs_ : collection
        The N fitted outputs.
    paired_ : int
        n, the number of outputs with an input; they come first.
    orthogonal_ : bool
        True if the columns of V are orthogonal, which makes the covariance operator diagonal.
    centred_ : bool
        True if the columns of V sum to zero.
    """

    orthogonal_: bool = False
    centred_: bool = False
    coordinates_are_outputs: bool = False
    decomposes: bool = False
    """True if fitting decomposes the whole of L, and so finds out if L is not positive semi-definite."""
    fixed: bool = True
    """True if the coordinates of an output do not depend on other outputs, so that leaving a pair out does not change them."""
    euclidean: bool = True
    """True if the distances of points are those of their coordinates."""
    looks_at_inputs: bool = False
    """True if `fit` takes the Gram matrix of the inputs."""
    kernel_: Kernel
    outputs_: Collection
    paired_: int

    def fit(self, kernel: Kernel, outputs: Collection, paired: int | None = None) -> Self:
        """Learn coordinates for `outputs` under a resolved kernel; the first `paired` of them have an input."""
        self.kernel_, self.outputs_ = kernel, kernel.check(outputs, "outputs")
        self.paired_ = count(self.outputs_) if paired is None else paired
        return self

    @property
    def coordinates_(self) -> Array | None:
        """V, one row for each output; None if outputs are known through the kernel alone."""
        return None

    def transform(self, outputs: Collection) -> Array:
        """Return rows r(y) with ⟨h, ψ(y)⟩ = h · r(y) for a point h in these coordinates."""
        raise TypeError(f"{type(self).__name__} must define transform(outputs)")

    def rows(self, index: np.ndarray) -> Array:
        """Return `transform` of some of the fitted outputs, from their coordinates if they are known."""
        coordinates = self.coordinates_
        return self.transform(take(self.outputs_, index)) if coordinates is None else take(coordinates, index)

    def norms(self, outputs: Collection) -> Array:
        """Return ‖ψ(y)‖² for each output."""
        return self.kernel_.diag(outputs)

    def squared_distances(self, points: Array, outputs: Collection) -> Array:
        """Return ‖h − ψ(y)‖² for each point and its output."""
        xp = namespace(points)
        cross = xp.sum(points * self.transform(outputs), axis=1)
        return self.norms(outputs) - 2.0 * cross + self._point_norms(points)

    def outside(self, outputs: Collection) -> Array:
        """Return the squared length of each output outside these coordinates, which `squared_distances` leaves out."""
        norms = self.norms(outputs)
        return namespace(norms).zeros_like(norms)

    def _point_norms(self, points: Array) -> Array:
        return namespace(points).sum(points * points, axis=1)

    def weights(self, points: Array) -> Array:
        """Return the weights of each point on the N outputs."""
        raise TypeError(f"{type(self).__name__} must define weights(points)")

    @property
    def weighted_outputs(self) -> Collection:
        """The outputs that may have weight: all of the N, or those with an input, or the distinct ones of these."""
        return self.outputs_

    def own_weights(self, points: Array) -> Array:
        """Return the weights of each point on `weighted_outputs`."""
        return self.weights(points)

    def expectations(self, points: Array, features: Callable[[Collection], Array]) -> np.ndarray:
        """Return the features of the weighted outputs, summed with the weights of each point."""
        return to_numpy(self.own_weights(points)) @ to_numpy(features(self.weighted_outputs))
