"""What a choice is judged by: the distance in feature space, or the loss of decoded objects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np

from mercer.core.arrays import Array, like, to_numpy
from mercer.core.collections import Collection, count, is_numeric
from mercer.decoders.base import Decoder
from mercer.embeddings.base import Embedding
from mercer.losses import Loss


class LeaveOneOutPath(Protocol):
    """A family of fits, one per value of a parameter, that knows its leave-one-out predictions."""

    def leave_one_out(self, value: Any) -> Array:
        """The point predicted for each training pair without it."""

    def leave_one_out_risks(self, values: Sequence[Any], gram: Array | None = None) -> Iterable[Array]:
        """The squared distances of those points to the outputs, for each value in turn."""


class Judge(Protocol):
    """Something that puts a figure on predictions, smaller is better."""

    def leave_one_out(self, path: LeaveOneOutPath, values: Sequence[Any]) -> np.ndarray:
        """For each value, the mean loss over the training pairs, each predicted without itself."""

    def losses(self, points: Array, outputs: Collection, embedding: Embedding, decoder: Decoder) -> np.ndarray:
        """The loss of each point against the output it should have been."""


class FeatureDistance:
    """‖h(x) − ψ(y)‖² before any decoding: cheap, smooth, and a bound on the kernel's loss.

    Parameters
    ----------
    gram : array, optional
        L, where points are weights and not coordinates.
    outside : float
        The mean squared length of what the training outputs have outside the coordinates points are in.
    """

    def __init__(self, gram: Array | None = None, outside: float = 0.0) -> None:
        self.gram, self.outside = gram, outside

    def leave_one_out(self, path: LeaveOneOutPath, values: Sequence[Any]) -> np.ndarray:
        """Mean squared distances, each pair left out in turn."""
        risks = path.leave_one_out_risks(values, self.gram)
        return np.asarray([np.mean(to_numpy(risk)) for risk in risks]) + self.outside

    def losses(self, points: Array, outputs: Collection, embedding: Embedding, decoder: Decoder) -> np.ndarray:
        """Squared distances."""
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
    """

    def __init__(self, loss: Loss, decoder: Decoder, outputs: Collection) -> None:
        self.loss, self.decoder, self.outputs = loss, decoder, outputs

    def leave_one_out(self, path: LeaveOneOutPath, values: Sequence[Any]) -> np.ndarray:
        """Mean losses, each pair left out in turn as an example and as a candidate."""
        return np.asarray([self._mean_loss(path.leave_one_out(value)) for value in values])

    def _mean_loss(self, points: Array) -> float:
        points = beside(points, self.outputs)
        decoded = self.decoder.decode(points, leave_out=np.arange(count(self.outputs)))
        return float(np.mean(to_numpy(self.loss.paired(self.outputs, decoded))))

    def losses(self, points: Array, outputs: Collection, embedding: Embedding, decoder: Decoder) -> np.ndarray:
        """Losses of the decoded points."""
        return to_numpy(self.loss.paired(outputs, decoder.decode(points)))


def beside(points: Array, outputs: Collection) -> Array:
    """`points` as an array of the library the outputs are in (NumPy for objects that are no arrays)."""
    return like(points, outputs) if is_numeric(outputs) else to_numpy(points)
