"""Small networks from rows of symbols to classes, in which every symbol is a vector that is learned; several vote."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

import numpy as np
from joblib import Parallel, delayed

from mercer.core.compiled import compiled
from mercer.sequence_models.network_loops import (
    ClassFeatures,
    ClassRoom,
    Options,
    Outward,
    add_slopes_of_classes,
    add_to_vectors,
    bend,
    class_features,
    class_room,
    join_vectors,
    keep,
    options_of,
    step_down,
    unbend,
)
from mercer.sequence_models.voting import VotingNetworks, passes

_MANY, _POWER = 6000, 0.5  # rows from which on there are fewer passes, and how much fewer


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
    outward: np.ndarray  # (classes + features, hidden)
    bias: np.ndarray


class Examples(NamedTuple):
    """Rows in the order they are learned from, their classes and kinds."""

    rows: np.ndarray
    classes: np.ndarray
    kinds: np.ndarray


@dataclass
class Networks(VotingNetworks[Weights]):
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

    weights_type: ClassVar = Weights

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
        self.shapes_ = [(symbols, d), (task.rows.shape[1] * d, h), (1, h), (classes + f, h), (1, classes)]
        self.weights_ = np.zeros((self.members, sum(map(np.prod, self.shapes_))), dtype=np.float32)
        for member in range(self.members):
            weights, rng = self._parts(self.weights_[member]), np.random.default_rng((self.seed, member))
            weights.vectors[:] = rng.standard_normal(weights.vectors.shape)
            for each, inputs in ((weights.inward, len(weights.inward)), (weights.outward, h)):
                each[:] = rng.uniform(-1.0, 1.0, each.shape) / np.sqrt(inputs)
        # a row with one class alone is certain, and has no slope
        teaching = np.flatnonzero(task.allowed.sum(axis=1)[task.kinds] > 1)
        if len(teaching):
            task = Task(task.rows[teaching], task.classes[teaching], task.kinds[teaching], task.allowed)
            run = Parallel(n_jobs=self.n_jobs, prefer="threads")
            run(delayed(self._descend)(member, task) for member in range(self.members))
        return self

    def passes(self, rows: int) -> int:
        """Return the passes through so many rows: `epochs`, fewer if they are many."""
        return passes(self.epochs, rows, _MANY, _POWER)

    def before_hidden(self, rows: np.ndarray) -> np.ndarray:
        """Return b + Σ W e over the first columns, as many as `rows` has: (members, rows, hidden)."""
        weights = self._parts(self.weights_)
        joined = weights.vectors[:, rows].reshape(self.members, len(rows), -1)
        return joined @ weights.inward[:, : joined.shape[2]] + weights.offset

    def _descend(self, member: int, task: Task) -> np.ndarray:
        """Let one network go down the slope of the mean of −log p, and return the slope of the last step."""
        epochs = self.passes(len(task.rows))
        flat, rng = self.weights_[member], np.random.default_rng((self.seed, member, epochs))
        mean, square, slope = (np.zeros_like(flat) for _ in range(3))
        options, features = options_of(task.allowed), class_features(self.features_)
        batch = min(self.batch, len(task.rows))
        state = rng.integers(1, 2**63, 1).astype(np.uint64)
        done, steps = 0, epochs * (len(task.rows) // batch)
        room = class_room(len(self.features_), self.hidden)
        for _ in range(epochs):
            order = rng.permutation(len(task.rows))
            examples = Examples(task.rows[order], task.classes[order], task.kinds[order])
            plan = (batch, self.dropout, self.rate, done, steps)
            moments = (flat, slope, mean, square)
            done = _pass(self._parts(flat), self._parts(slope), moments, examples, options, features, room, plan, state)
        return slope


@compiled
def _pass(  # noqa: PLR0913
    weights: Weights,
    slopes: Weights,
    moments: tuple[np.ndarray, ...],
    examples: Examples,
    options: Options,
    features: ClassFeatures,
    room: ClassRoom,
    plan: tuple[int, float, float, int, int],
    state: np.ndarray,
) -> int:
    """Go once through the examples, a step down for each batch, and return the number of steps done so far."""
    vectors, inward, offset, outward, bias = weights
    batch, dropout, rate, done, steps = plan
    flat, slope, mean, square = moments
    joined, layer = np.empty((batch, len(inward)), np.float32), np.empty((batch, inward.shape[1]), np.float32)
    kept_in, kept = np.empty_like(joined), np.empty_like(layer)
    by_joined, by_layer, seen = np.empty_like(joined), np.empty_like(layer), np.empty_like(layer)
    into, by_into = Outward(outward, bias), Outward(slopes.outward, slopes.bias)
    for start in range(0, len(examples.rows) - batch + 1, batch):
        keep(kept_in, dropout, state)
        keep(kept, dropout, state)
        mine = slice(start, start + batch)
        join_vectors(vectors, examples.rows[mine], kept_in, joined)
        np.dot(joined, inward, layer)
        bend(layer, offset, kept, seen)
        slope[:] = 0.0
        known = (examples.classes[mine], examples.kinds[mine])
        share = np.float32(1.0 / batch)
        add_slopes_of_classes(seen, by_layer, *known, options, features, into, by_into, room, done, share)
        unbend(by_layer, layer, kept, slopes.offset)
        np.dot(joined.T, by_layer, slopes.inward)
        np.dot(by_layer, inward.T, by_joined)
        add_to_vectors(slopes.vectors, examples.rows[mine], kept_in, by_joined)
        done += 1
        step_down(flat, slope, mean, square, rate * (1.0 - (done - 1) / steps), done)
    return done
