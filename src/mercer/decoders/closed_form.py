"""Vectors under a linear kernel: the point is the answer."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from mercer.core.arrays import Array, like, namespace
from mercer.core.collections import as_vectors, take
from mercer.decoders.box import Box
from mercer.decoders.families import is_linear, unscaled
from mercer.decoders.mean_shift import within
from mercer.decoders.vectors import VectorDecoder
from mercer.embeddings.base import Embedding
from mercer.kernels.centering import CenteredAt


class ClosedForm(VectorDecoder):
    r"""The vector a point of a linear kernel is, :math:`\hat y = \mu + \sum_j w_j (y_j - \mu)`.

    The origin μ is 0 for `Linear`, and the mean for ``Linear().centered()``. Every vector is a
    possible answer, so nothing is searched; `rank` has the answer first, then the training outputs in
    the box, and `choose` compares candidates. Within a box the nearest vector has each coordinate moved
    to its nearest limit.

    Parameters
    ----------
    bounds : None, "data" or (low, high), default=None
        No box, the range of each coordinate in the training outputs, or given limits (numbers, or one
        for each coordinate), such as (0, 1) for the pixels of an image.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.embeddings import Implicit
    >>> from mercer.kernels import Linear
    >>> embedding = Implicit().fit(Linear(), np.array([[0.0, 1.0], [2.0, 1.0]]))
    >>> ClosedForm().fit(embedding).decode(np.array([[0.5, 0.5]])).tolist()
    [[1.0, 1.0]]
    >>> ClosedForm(bounds=(0.0, 0.5)).fit(embedding).decode(np.array([[0.5, 0.5]])).tolist()
    [[0.5, 0.5]]
    """

    def __init__(self, bounds: Any = None) -> None:
        self.bounds = bounds

    def fit(self, embedding: Embedding, loss: Any = None) -> Self:
        """Check that the output kernel is linear, and lay out the box."""
        if not is_linear(embedding.kernel_):
            raise TypeError(
                f"ClosedForm needs a linear output kernel, and came with {embedding.kernel_!r}; "
                "use output_kernel=Linear(), or decoder='auto'"
            )
        super().fit(embedding, loss)
        self.box_ = Box.of(self.bounds, as_vectors(embedding.outputs_, "outputs"))
        return self

    def decode(self, H: Array, leave_out: np.ndarray | None = None) -> Array:
        """The vector of each point; an output left out does not stretch the box of the data."""
        vectors = self._vectors(H)
        outputs = as_vectors(self.embedding_.outputs_, "outputs")
        left = None if leave_out is None else take(outputs, np.asarray(leave_out))
        return within(vectors, *self.box_.sides(vectors.shape[0], left))

    def _vectors(self, H: Array) -> Array:
        outputs = as_vectors(self.embedding_.outputs_, "outputs")
        if getattr(self.embedding_, "coordinates_are_outputs", False):
            return like(as_vectors(H, "H"), outputs)
        weights = self._weights(H)
        vectors, kernel = weights @ outputs, unscaled(self.embedding_.kernel_)
        if not isinstance(kernel, CenteredAt):
            return vectors
        mean = like(kernel.weights, outputs) @ like(as_vectors(kernel.reference), outputs)
        return vectors + (1.0 - namespace(weights).sum(weights, axis=1))[:, None] * mean
