"""Selection criteria: the distance in feature space, or the loss of decoded objects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from mercer.core.arrays import Array, like, to_numpy
from mercer.core.collections import Collection, count, is_numeric
from mercer.decoders.base import Decoder
from mercer.embeddings.base import Embedding
from mercer.losses import Loss
from mercer.solvers.gram import gram_matrix


class LeaveOneOutPath(Protocol):
    """A family of fits, one for each value of a parameter, with its leave-one-out predictions."""

    def left_out_points(self, value: Any) -> Array:
        """Return the point predicted for each training pair without it."""

    def risks(self, values: Sequence[Any], gram: Array | None = None) -> Iterable[Array]:
        """Yield the squared distances of those points to the outputs, for each value."""


class Criterion(Protocol):
    """A score of predictions, smaller is better."""

    decodes: bool
    """Whether predictions are decoded first."""

    @property
    def gram(self) -> Array | None:
        """L, where distances are measured between weights on the training outputs."""

    def left_out(self, path: LeaveOneOutPath, values: Sequence[Any]) -> np.ndarray:
        """Return for each value the mean loss over the training pairs, each predicted without itself."""

    def losses(self, points: Array, outputs: Collection, embedding: Embedding, decoder: Decoder) -> np.ndarray:
        """Return the loss of each point against its true output."""


class FeatureDistance:
    """‖h(x) − ψ(y)‖² before decoding: cheap, smooth, and a bound on the kernel's loss.

    Parameters
    ----------
    embedding : Embedding
        Fitted on the training outputs.
    outputs : collection
        The n paired training outputs.
    sample_weight : array (n,), optional
        Weights of the training pairs in means.
    """

    decodes = False

    def __init__(self, embedding: Embedding, outputs: Collection, sample_weight: np.ndarray | None = None) -> None:
        self.embedding, self.outputs, self.sample_weight = embedding, outputs, sample_weight

    @cached_property
    def gram(self) -> Array | None:
        """L, where points are weights and not coordinates."""
        if self.embedding.coordinates_ is not None:
            return None
        return gram_matrix(self.embedding.kernel_, self.outputs, "output", 8)

    def left_out(self, path: LeaveOneOutPath, values: Sequence[Any]) -> np.ndarray:
        """Return mean squared distances, each pair left out in turn."""
        risks = path.risks(values, self.gram)
        means = np.asarray([np.average(to_numpy(risk), weights=self.sample_weight) for risk in risks])
        if self.embedding.fixed:
            return means
        return means + np.average(to_numpy(self.embedding.outside(self.outputs)), weights=self.sample_weight)

    def losses(self, points: Array, outputs: Collection, embedding: Embedding, decoder: Decoder) -> np.ndarray:
        """Return squared distances."""
        return to_numpy(embedding.squared_distances(points, outputs) + embedding.outside(outputs))


class DecodedLoss:
    """The user's loss between the true and the decoded object.

    Parameters
    ----------
    loss : Loss
        Δ(y, ŷ).
    decoder : Decoder
        Fitted on all training outputs.
    outputs : collection
        The n paired training outputs.
    sample_weight : array (n,), optional
        Weights of the training pairs in means.
    """

    decodes = True
    gram = None

    def __init__(
        self, loss: Loss, decoder: Decoder, outputs: Collection, sample_weight: np.ndarray | None = None
    ) -> None:
        self.loss, self.decoder, self.outputs, self.sample_weight = loss, decoder, outputs, sample_weight

    def left_out(self, path: LeaveOneOutPath, values: Sequence[Any]) -> np.ndarray:
        """Return mean losses, each pair left out in turn as an example and as a candidate."""
        return np.asarray([self._mean_loss(path.left_out_points(value)) for value in values])

    def _mean_loss(self, points: Array) -> float:
        points = to_backend_of(self.outputs, points)
        decoded = self.decoder.decode(points, leave_out=np.arange(count(self.outputs)))
        return float(np.average(to_numpy(self.loss.paired(self.outputs, decoded)), weights=self.sample_weight))

    def losses(self, points: Array, outputs: Collection, embedding: Embedding, decoder: Decoder) -> np.ndarray:
        """Return losses of the decoded points."""
        return to_numpy(self.loss.paired(outputs, decoder.decode(points)))


def to_backend_of(outputs: Collection, points: Array) -> Array:
    """Return `points` as an array of the library of the outputs; of NumPy for objects other than arrays."""
    return like(points, outputs) if is_numeric(outputs) else to_numpy(points)
