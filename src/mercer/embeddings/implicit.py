"""Points as weights on outputs that are known through their kernel alone."""

from __future__ import annotations

from mercer.core.arrays import Array, namespace, zeros
from mercer.core.collections import Collection, count, take
from mercer.embeddings.base import Embedding


class Implicit(Embedding):
    r"""No coordinates: a point is its weights on the training outputs, :math:`h = \sum_j w_j \psi(y_j)`.

    The cheapest embedding for the identity operator, whose weights :math:`(k + \alpha I)^{-1} k_x` need no output kernel
    before decoding.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Linear
    >>> found = Implicit().fit(Linear(), np.eye(3))
    >>> found.transform(np.array([[0.0, 2.0, 0.0]])).tolist()
    [[0.0, 2.0, 0.0]]
    """

    def transform(self, outputs: Collection) -> Array:
        """Return l(y, y_j) for each output and each of the n paired outputs."""
        return self.kernel_(outputs, self._paired())

    def _paired(self) -> Collection:
        return take(self.outputs_, slice(0, self.paired_))

    def _point_norms(self, points: Array) -> Array:
        return namespace(points).sum((points @ self.kernel_(self._paired())) * points, axis=1)

    def weights(self, points: Array) -> Array:
        """Return the points themselves, with zero weight on outputs without inputs."""
        spare = count(self.outputs_) - self.paired_
        padding = zeros((points.shape[0], spare), points)
        return namespace(points).concat([points, padding], axis=1) if spare else points

    @property
    def weighted_outputs(self) -> Collection:
        """The n paired outputs."""
        return self._paired()

    def own_weights(self, points: Array) -> Array:
        """Return the points themselves."""
        return points
