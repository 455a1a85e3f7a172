"""The candidate with the least expected loss."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from mercer.core import memory
from mercer.core.arrays import Array, to_numpy
from mercer.core.collections import Collection, count, distinct, take
from mercer.decoders.base import Decoder
from mercer.decoders.candidates import Candidates
from mercer.decoders.families import is_distance_of
from mercer.decoders.registry import register
from mercer.embeddings.base import Embedding
from mercer.embeddings.implicit import Implicit
from mercer.kernels.base import Kernel
from mercer.losses.base import Loss


@register(priority=10)
class ExpectedLoss(Candidates):
    r"""The candidate with the least expected loss, :math:`\arg\min_y \sum_j w_j \Delta(y_j, y)`.

    The weights of a point on the training outputs stand for the distribution of the answer, so the answer is matched to the
    loss it is scored on. Scores are minus the expected loss; candidates and ties are those of `Candidates`.

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

    @classmethod
    def suits(cls, kernel: Kernel, loss: Loss, outputs: Collection | None) -> tuple[Decoder, str] | None:
        """For every loss but the distance of the kernel."""
        if is_distance_of(loss, kernel):
            return None
        return cls(), f"{loss!r} is scored, which is not the distance of {kernel!r}"

    def preferred_embedding(self, kernel: Kernel, outputs: Collection) -> tuple[Embedding, str]:
        """`Implicit`, whose points are weights."""
        return Implicit(), "the expected loss is taken over the weights on the training outputs"

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
        """The sum of the weights of each point; without any weight every expected loss is zero."""
        return to_numpy(self._weights(H)).sum(axis=1)

    def _points(self, H: Array) -> Array:
        weights = to_numpy(self._weights(H))
        # equal outputs have the same loss: their weights add up
        members = (np.ones(len(self.group_)), (np.arange(len(self.group_)), self.group_))
        return weights @ csr_array(members, shape=(len(self.group_), count(self.distinct_)))

    def _features(self, objects: Collection) -> tuple[Array, Array]:
        purpose = "the losses of all outputs against each other"
        advice = "pass fewer outputs, or decode by the output kernel: decoder=Candidates(), or loss=None"
        memory.require(count(self.distinct_), count(objects), 2, purpose, advice)
        losses = to_numpy(self.loss_.matrix(self.distinct_, objects))
        return -losses.T, np.zeros(losses.shape[1])

    def _training_features(self, index: np.ndarray) -> tuple[Array, Array]:
        # the losses of the candidates, not their coordinates
        return self._features(take(self.embedding_.outputs_, index))
