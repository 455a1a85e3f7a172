"""The candidate with the least expected loss."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from mercer.core import memory
from mercer.core.arrays import Array, to_numpy
from mercer.core.collections import Collection, count, distinct, take
from mercer.decoders.candidates import Candidates
from mercer.embeddings.base import Embedding
from mercer.losses.base import Loss


class ExpectedLoss(Candidates):
    r"""The candidate with the least expected loss, :math:`\arg\min_y \sum_j w_j \Delta(y_j, y)`.

    The weights of a point on the training outputs stand for the distribution of the answer, so the
    answer is matched to the loss it is scored on. Scores are minus the expected loss; candidates
    and ties are those of `Candidates`.

    Parameters
    ----------
    batch_size : int, optional
        Points scored in one matrix product; by default as many as keep the scores under 128 MiB.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.embeddings import Implicit
    >>> from mercer.kernels import Gaussian
    >>> embedding = Implicit().fit(Gaussian(1.0), np.array([[0.0], [1.0], [9.0]]))
    >>> decoder = ExpectedLoss().fit(embedding, loss=lambda y, z: abs(y[0] - z[0]))
    >>> decoder.decode(np.array([[0.3, 0.3, 0.4]])).tolist()  # the weighted median
    [[1.0]]
    """

    loss_: Loss

    def fit(self, embedding: Embedding, loss: Any = None) -> Self:
        """Collect the candidates, and the loss of each against every distinct output."""
        if loss is None:
            raise ValueError(
                "ExpectedLoss needs a loss and got None; pass loss=..., a callable "
                "loss(y_true, y_pred) such as mercer.losses.ZeroOne(), or decode with Candidates()"
            )
        first, group = distinct(embedding.outputs_)
        self.distinct_, self.group_ = take(embedding.outputs_, first), group
        return super().fit(embedding, loss)

    def support(self, H: Array) -> np.ndarray:
        """The sum of the weights of each point: where there are none, every loss is expected to be zero."""
        return to_numpy(self._weights(H)).sum(axis=1)

    def _points(self, H: Array) -> Array:
        weights = to_numpy(self._weights(H))
        # equal outputs have the same loss: their weights add up
        members = (np.ones(len(self.group_)), (np.arange(len(self.group_)), self.group_))
        return weights @ csr_array(members, shape=(len(self.group_), count(self.distinct_)))

    def _features(self, objects: Collection) -> tuple[Array, Array]:
        self._require_room(objects)
        losses = to_numpy(self.loss_.matrix(self.distinct_, objects))
        return -losses.T, np.zeros(losses.shape[1])

    def _require_room(self, objects: Collection) -> None:
        way_out = "pass fewer outputs, or decode by the output kernel: decoder=Candidates(), or loss=None"
        purpose = "the losses of all outputs against each other"
        memory.require(count(self.distinct_), count(objects), 2, purpose, way_out)

    def _training_features(self, index: np.ndarray) -> tuple[Array, Array]:
        # the losses of the candidates, not their coordinates
        return self._features(take(self.embedding_.outputs_, index))
