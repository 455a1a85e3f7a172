"""Small networks from rows of symbols to classes, in which every symbol is a vector that is learned; several vote."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from joblib import Parallel, delayed

from mercer.core.compiled import compiled
from mercer.sequence_models.hamming_ridge import log_softmax

_FIRST, _SECOND = 0.9, 0.999  # memory of the mean slope, and of its square
_IMPOSSIBLE = -1e4
_MANY = 6000  # rows from which on there are fewer passes
_AGAIN, _SLOWER = 4, 3  # divisors of the passes and of the rate when networks go on with more rows
_OWN = 0.5  # weight of a class of its own, next to its features


class Task(NamedTuple):
    """Rows of numbers of symbols, the class of each, and its kind; row i can have the classes ``allowed[kinds[i]]``."""

    rows: np.ndarray
    classes: np.ndarray
    kinds: np.ndarray
    allowed: np.ndarray


class Weights(NamedTuple):
    """The vectors of symbols, the weights into the hidden layer and its offset, those out of it, and the bias of classes."""

    vectors: np.ndarray
    inward: np.ndarray
    offset: np.ndarray
    outward: np.ndarray  # (hidden, classes + features)
    bias: np.ndarray


@dataclass
class Networks:
    r"""Networks with one hidden layer, from rows of symbols to classes; the probability is the mean of theirs.

    .. math:: p(c \mid x) \propto \exp\big(\langle (\tfrac{1}{2} \delta_c, \psi_c), V h(x) \rangle + a_c\big), \quad
              h(x) = \tanh\big(b + \sum_j W_j e_{x_j}\big)

    e are vectors of the symbols, learned with V and W, so that symbols with like effects become alike; :math:`\psi_c` are given
    features of the classes, so that classes that share some learn from each other. Learned by descent (Adam) from random starts,
    with random parts of the vectors and of the hidden layer left out in each step.

    Parameters
    ----------
    members : int
        Number of networks.
    size, hidden : int
        Length of the vector of a symbol; units of the hidden layer.
    dropout : float
        Share left out.
    epochs, batch : int
        Passes through the rows, fewer if there are more than 6000; rows of a step.
    rate : float
        Length of the first steps; it falls to zero.
    seed : int
        Seed of the starts and of the order of rows.
    n_jobs : int, optional
        Networks that learn at a time, in threads.
    """

    members: int = 6
    size: int = 24
    hidden: int = 128
    dropout: float = 0.3
    epochs: int = 60
    batch: int = 64
    rate: float = 3e-3
    seed: int = 0
    n_jobs: int | None = None

    def fit(self, task: Task, symbols: int, features: np.ndarray) -> Self:
        """Learn from rows of numbers below `symbols`; `features` holds ψ of each class."""
        self.features_ = features.astype(np.float32)
        d, h, (classes, f) = self.size, self.hidden, features.shape
        self.shapes_ = [(symbols, d), (task.rows.shape[1] * d, h), (1, h), (h, classes + f), (1, classes)]
        self.weights_ = np.zeros((self.members, sum(map(np.prod, self.shapes_))), dtype=np.float32)
        for member in range(self.members):
            weights, rng = self._parts(self.weights_[member]), np.random.default_rng((self.seed, member))
            weights.vectors[:] = rng.standard_normal(weights.vectors.shape)
            for each in (weights.inward, weights.outward):
                each[:] = rng.uniform(-1.0, 1.0, each.shape) / np.sqrt(len(each))
        return self._learn(task, self.passes(len(task.rows)), self.rate)

    def go_on(self, task: Task) -> Self:
        """Learn from more rows, beginning with the weights that were learned before; this is quicker than from the start."""
        return self._learn(task, -(-self.passes(len(task.rows)) // _AGAIN), self.rate / _SLOWER)

    def passes(self, rows: int) -> int:
        """Return the passes through so many rows: `epochs`, fewer if they are many."""
        return max(1, round(self.epochs * min(1.0, (_MANY / rows) ** 0.5)))

    def before_hidden(self, rows: np.ndarray) -> np.ndarray:
        """Return b + Σ W e over the first columns, as many as `rows` has: (members, rows, hidden)."""
        weights = self._parts(self.weights_)
        joined = weights.vectors[:, rows].reshape(self.members, len(rows), -1)
        return joined @ weights.inward[:, : joined.shape[2]] + weights.offset

    def table(self, column: int) -> np.ndarray:
        """Return W e of every symbol in one column: (members, symbols, hidden)."""
        weights = self._parts(self.weights_)
        return weights.vectors @ weights.inward[:, column * self.size : (column + 1) * self.size]

    def out_of_hidden(self) -> np.ndarray:
        """Return the weights from the hidden layer to each class: (members, hidden, classes)."""
        return self._outward(self._parts(self.weights_).outward)

    def log_probabilities(self, before: np.ndarray, outward: np.ndarray, classes: np.ndarray) -> np.ndarray:
        """Return log p of some classes, one of which it must be, from b + Σ W e and `out_of_hidden`."""
        scores = np.tanh(before) @ outward[:, :, classes] + self._parts(self.weights_).bias[:, :, classes]
        logs = log_softmax(scores.reshape(-1, len(classes)).astype(float)).reshape(scores.shape)
        return np.logaddexp.reduce(logs, axis=0) - np.log(self.members)

    def _parts(self, flat: np.ndarray) -> Weights:
        """Return the parts of a vector of weights, or of several."""
        ends = np.cumsum([int(np.prod(shape)) for shape in self.shapes_])
        parts = np.split(flat, ends[:-1], axis=-1)
        return Weights(
            *(part.reshape(*flat.shape[:-1], *shape) for part, shape in zip(parts, self.shapes_, strict=True))
        )

    def _outward(self, outward: np.ndarray) -> np.ndarray:
        classes = len(self.features_)
        return _OWN * outward[..., :classes] + outward[..., classes:] @ self.features_.T

    def _learn(self, task: Task, epochs: int, rate: float) -> Self:
        # a row with one class alone is certain, and has no slope
        teaching = np.flatnonzero(task.allowed.sum(axis=1)[task.kinds] > 1)
        if len(teaching):
            task = Task(task.rows[teaching], task.classes[teaching], task.kinds[teaching], task.allowed)
            learned = (delayed(self._descend)(member, task, epochs, rate) for member in range(self.members))
            Parallel(n_jobs=self.n_jobs, prefer="threads")(learned)
        return self

    def _descend(self, member: int, task: Task, epochs: int, rate: float) -> None:
        """Let one network go down the slope of the mean of −log p."""
        flat, rng = self.weights_[member], np.random.default_rng((self.seed, member, epochs))
        mask = np.where(task.allowed, 0.0, _IMPOSSIBLE).astype(np.float32)
        batch = min(self.batch, len(task.rows))
        starts = range(0, len(task.rows) - batch + 1, batch)
        mean, square, slope = (np.zeros_like(flat) for _ in range(3))
        weights, slopes = self._parts(flat), self._parts(slope)
        step, steps = 0, epochs * len(starts)
        for _ in range(epochs):
            order = rng.permutation(len(task.rows))
            for start in starts:
                chosen = order[start : start + batch]
                self._slope(weights, task.rows[chosen], task.classes[chosen], mask[task.kinds[chosen]], slopes, rng)
                length = rate * (1.0 - step / steps)
                step += 1
                _step_down(flat, slope, mean, square, length / (1.0 - _FIRST**step), 1.0 - _SECOND**step)

    def _slope(  # noqa: PLR0913
        self,
        weights: Weights,
        rows: np.ndarray,
        classes: np.ndarray,
        mask: np.ndarray,
        slopes: Weights,
        rng: np.random.Generator,
    ) -> None:
        """Put the slope of the mean of −log p over some rows into `slopes`."""
        joined = weights.vectors[rows].reshape(len(rows), -1)
        kept_in = self._kept(joined.shape, rng)
        joined *= kept_in
        hidden = np.tanh(joined @ weights.inward + weights.offset)
        kept = self._kept(hidden.shape, rng)
        seen = hidden * kept
        outward = self._outward(weights.outward)
        excess = seen @ outward + weights.bias + mask
        excess -= excess.max(axis=1, keepdims=True)
        np.exp(excess, out=excess)
        excess /= excess.sum(axis=1, keepdims=True)
        excess[np.arange(len(rows)), classes] -= 1.0
        excess /= len(rows)
        by_class, number = seen.T @ excess, len(self.features_)
        np.multiply(by_class, _OWN, out=slopes.outward[:, :number])
        slopes.outward[:, number:] = by_class @ self.features_
        slopes.bias[:] = excess.sum(axis=0)
        by_hidden = (excess @ outward.T) * kept * (1.0 - hidden * hidden)
        np.matmul(joined.T, by_hidden, out=slopes.inward)
        slopes.offset[:] = by_hidden.sum(axis=0)
        by_vector = (by_hidden @ weights.inward.T) * kept_in
        _scatter(slopes.vectors, rows, by_vector.reshape(*rows.shape, -1))

    def _kept(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        """Return 0 for the share that is left out, and for the rest a factor that makes up for it."""
        share = np.float32(1.0 - self.dropout)
        return (rng.random(shape, dtype=np.float32) < share) / share


@compiled
def _scatter(slopes: np.ndarray, rows: np.ndarray, changes: np.ndarray) -> None:
    """Sum the slopes of the vectors of each symbol."""
    slopes[:] = 0.0
    for b in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            for k in range(changes.shape[2]):
                slopes[rows[b, j], k] += changes[b, j, k]


@compiled
def _step_down(  # noqa: PLR0913
    weights: np.ndarray, slope: np.ndarray, mean: np.ndarray, square: np.ndarray, length: float, correction: float
) -> None:
    """Go one step down (Adam)."""
    first, second = np.float32(_FIRST), np.float32(_SECOND)
    one, pace, factor = np.float32(1.0), np.float32(length), np.float32(1.0 / correction)
    for i in range(len(weights)):
        mean[i] = first * mean[i] + (one - first) * slope[i]
        square[i] = second * square[i] + (one - second) * slope[i] * slope[i]
        weights[i] -= pace * mean[i] / (np.sqrt(square[i] * factor) + np.float32(1e-8))
