"""Vectors under a linear kernel: the point is the answer."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from mercer.arrays import Array, like, namespace
from mercer.decoders.base import Decoder
from mercer.decoders.families import is_linear, unscaled
from mercer.embeddings.base import Embedding
from mercer.kernels.centering import CenteredAt
from mercer.objects import as_vectors


class ClosedForm(Decoder):
    r"""The vector a point of a linear kernel is, :math:`\hat y = \mu + \sum_j w_j (y_j - \mu)`.

    The origin μ is 0 for `Linear`, and the mean for ``Linear().centered()``. Every vector is a
    possible answer, so nothing is searched; `rank` and `choose` still compare candidates.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.embeddings import Implicit
    >>> from mercer.kernels import Linear
    >>> embedding = Implicit().fit(Linear(), np.array([[0.0, 1.0], [2.0, 1.0]]))
    >>> ClosedForm().fit(embedding).decode(np.array([[0.5, 0.5]])).tolist()
    [[1.0, 1.0]]
    """

    def fit(self, embedding: Embedding, loss: Any = None) -> Self:
        """Check that the output kernel is linear."""
        if not is_linear(embedding.kernel_):
            raise TypeError(
                f"ClosedForm needs a linear output kernel, and came with {embedding.kernel_!r}; "
                "use output_kernel=Linear(), or decoder='auto'"
            )
        return super().fit(embedding, loss)

    def decode(self, H: Array, leave_out: np.ndarray | None = None) -> Array:
        """The vector of each point; leaving an output out changes nothing, as none is a start."""
        outputs = as_vectors(self.embedding_.outputs_, "outputs")
        if getattr(self.embedding_, "coordinates_are_outputs", False):
            return like(as_vectors(H, "H"), outputs)
        weights = self._weights(H)
        vectors, kernel = weights @ outputs, unscaled(self.embedding_.kernel_)
        if not isinstance(kernel, CenteredAt):
            return vectors
        mean = like(kernel.weights, outputs) @ like(as_vectors(kernel.reference), outputs)
        return vectors + (1.0 - namespace(weights).sum(weights, axis=1))[:, None] * mean
