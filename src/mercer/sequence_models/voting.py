"""Networks that vote: the probability of a class is the mean of theirs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np

from mercer.sequence_models.hamming_ridge import log_softmax
from mercer.sequence_models.network_loops import OWN

W = TypeVar("W")


class Readout(NamedTuple):
    """Weights from the hidden layers of networks to classes (members, hidden, classes), and biases (members, 1, classes)."""

    outward: np.ndarray
    bias: np.ndarray

    def log_probabilities(self, before: np.ndarray, classes: np.ndarray) -> np.ndarray:
        """Return log p of some classes, one of which it must be, from the hidden layers before they are bent."""
        scores = np.tanh(before) @ self.outward[:, :, classes] + self.bias[:, :, classes]
        logs = log_softmax(scores.reshape(-1, len(classes)).astype(float)).reshape(scores.shape)
        return np.logaddexp.reduce(logs, axis=0) - np.log(len(scores))


class VotingNetworks(Generic[W]):
    """Weights of several networks, a row for each, whose parts are a `weights_type`, with `outward` and `bias` among them."""

    weights_type: ClassVar[Any]

    members: int
    shapes_: Sequence[tuple[int, ...]]
    weights_: np.ndarray
    features_: np.ndarray

    def readout(self) -> Readout:
        """Return the weights from the hidden layer to each class, and the bias of classes."""
        weights: Any = self._parts(self.weights_)
        own, shared = np.split(weights.outward, [len(self.features_)], axis=1)
        return Readout(np.ascontiguousarray(np.swapaxes(OWN * own + self.features_ @ shared, 1, 2)), weights.bias)

    def _parts(self, flat: np.ndarray) -> W:
        """Return the parts of a vector of weights, or of several."""
        ends = np.cumsum([int(np.prod(shape)) for shape in self.shapes_])
        parts = zip(np.split(flat, ends[:-1], axis=-1), self.shapes_, strict=True)
        found: W = self.weights_type(*(part.reshape(*flat.shape[:-1], *shape) for part, shape in parts))
        return found


def passes(epochs: int, examples: int, many: int, power: float) -> int:
    """Return the passes through so many examples: `epochs`, from `many` examples on fewer.

    Examples
    --------
    >>> [passes(60, n, 6000, 0.5) for n in (10, 6000, 24000)]
    [60, 60, 30]
    """
    return max(1, round(epochs * min(1.0, (many / examples) ** power)))
