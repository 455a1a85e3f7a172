"""Recurrent networks that read whole words from both ends, and choose the chunks of their symbols from either."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from mercer.sequence_models.gated_units import Words
from mercer.sequence_models.network_loops import class_features, class_room, options_of
from mercer.sequence_models.recurrent_loops import BACK, Weights, learn_pass, states_of
from mercer.sequence_models.voting import VotingNetworks, passes

_MANY, _POWER = 6000, 0.8  # symbols from which on there are fewer passes, and how much fewer


@dataclass
class RecurrentNetworks(VotingNetworks[Weights]):
    r"""Networks of gated units that read a word from both ends; probabilities of chunks are the mean of theirs.

    .. math:: p(c \mid x, i, \text{history}) \propto
              \exp\big(\langle (\tfrac{1}{2} \delta_c, \psi_c), V h \rangle + a_c\big), \quad
              h = \tanh\big(b + W (\overrightarrow{s}_i, \overleftarrow{s}_i) + \sum_j U_j e_{c_j}\big)

    :math:`\overrightarrow{s}_i` and :math:`\overleftarrow{s}_i` are the states of gated recurrent units that have read the word
    up to symbol i from its start and from its end, so that what stands anywhere in the word can matter; e are vectors of chunks,
    and :math:`c_j` the last chunks that were chosen. Two layers h share all but W, U and b: one for chunks that are chosen from
    the start, one for chunks that are chosen from the end. ψ are given features of chunks, so that those that share some learn
    from each other. Learned by descent (Adam) from random starts, with random parts left out in each step.

    Parameters
    ----------
    members : int
        Number of networks.
    size, units, hidden : int
        Length of the vector of a symbol or chunk; gated units that read in each direction; units of a layer h.
    dropout : float
        Share left out.
    epochs, batch : int
        Passes through the words, fewer if they have more than 6000 symbols; words of a step.
    rate : float
        Length of the first steps; it falls to zero.
    seed : int
        Seed of the starts and of the order of words.
    """

    weights_type: ClassVar = Weights

    members: int = 3
    size: int = 24
    units: int = 64
    hidden: int = 80
    dropout: float = 0.3
    epochs: int = 80
    batch: int = 16
    rate: float = 8e-3
    seed: int = 0

    def fit(self, words: Words, allowed: np.ndarray, features: np.ndarray) -> Self:
        """Learn from words; symbol s can stand for the chunks ``allowed[s]``, and `features` holds ψ of each chunk."""
        for part in self.start(words, allowed, features):
            part()
        return self

    def start(self, words: Words, allowed: np.ndarray, features: np.ndarray) -> list[Callable[[], Any]]:
        """Return the parts of `fit`, one for each network, which can be done at the same time."""
        self.features_ = features.astype(np.float32)
        d, g, h, (chunks, f), symbols = self.size, self.units, self.hidden, features.shape, len(allowed)
        self.shapes_ = self._shapes(symbols, chunks, f)
        self.weights_ = np.zeros((self.members, sum(map(np.prod, self.shapes_))), dtype=np.float32)
        for member in range(self.members):
            weights, rng = self._parts(self.weights_[member]), np.random.default_rng((self.seed, member))
            weights.vectors[:-1] = rng.standard_normal((symbols, d))  # the last, of unknown symbols, stays zero
            weights.chunk_vectors[:] = rng.standard_normal((chunks + 1, d))
            gated = (weights.gates, weights.gate_offsets, weights.ahead, weights.behind, weights.held)
            others = ((weights.inward, 2 * g), (weights.histories, d), (weights.outward, h))
            for each, inputs in (*((part, g) for part in gated), *others):
                each[:] = rng.uniform(-1.0, 1.0, each.shape) / np.sqrt(inputs)
        if not np.any(allowed.sum(axis=1)[words.symbols] > 1):
            return []  # with nothing to choose between nothing is learned
        return [partial(self._descend, member, words, allowed) for member in range(self.members)]

    def passes(self, symbols: int) -> int:
        """Return the passes through words of so many symbols: `epochs`, fewer if they are many."""
        return passes(self.epochs, symbols, _MANY, _POWER)

    def before_hidden(self, symbols: np.ndarray, side: int) -> np.ndarray:
        """Return b + W s of each symbol of a word: (members, symbols, hidden); side 1 chooses chunks from the end.

        Unknown symbols have the number after the last, or less than zero.
        """
        known, mine = np.asarray(symbols, dtype=np.int64), slice(side * self.hidden, (side + 1) * self.hidden)
        found = []
        for member in range(self.members):
            weights = self._parts(self.weights_[member])
            states = states_of(weights, weights.vectors[known])  # numpy refuses numbers that are out of range
            found.append((states @ weights.inward + weights.offsets)[:, mine])
        return np.stack(found)

    def table(self, back: int, side: int) -> np.ndarray:
        """Return U e of every chunk, as the one `back` steps before; the last is that of no chunk: (members, chunks, hidden)."""
        weights, d = self._parts(self.weights_), self.size
        place = weights.histories[:, back * d : (back + 1) * d, side * self.hidden : (side + 1) * self.hidden]
        return weights.chunk_vectors @ place

    def _shapes(self, symbols: int, chunks: int, features: int) -> list[tuple[int, ...]]:
        d, g, h = self.size, self.units, self.hidden
        return [
            *((symbols + 1, d), (chunks + 1, d), (d, 6 * g), (1, 6 * g), (g, 3 * g), (g, 3 * g), (2, g)),
            *((2 * g, 2 * h), (1, 2 * h), (BACK * d, 2 * h), (chunks + features, h), (1, chunks)),
        ]

    def __setstate__(self, state: dict[str, Any]) -> None:
        # compiled loops trust these shapes, and a file may hold any
        self.__dict__.update(state)
        if "shapes_" in state:
            shapes, (chunks, features) = [tuple(shape) for shape in self.shapes_], self.features_.shape
            if shapes != self._shapes(shapes[0][0] - 1, chunks, features) or self.weights_.dtype != np.float32:
                raise ValueError("the weights of saved networks do not fit their parameters; save the model again")

    def _descend(self, member: int, words: Words, allowed: np.ndarray) -> np.ndarray:
        """Let one network go down the slope of the mean of −log p, and return the slope of the last step."""
        epochs = self.passes(len(words.symbols))
        flat, rng = self.weights_[member], np.random.default_rng((self.seed, member, epochs))
        mean, square, slope = (np.zeros_like(flat) for _ in range(3))
        options, features = options_of(allowed), class_features(self.features_)
        room, number = class_room(len(self.features_), self.hidden), len(words.starts) - 1
        state = rng.integers(1, 2**63, 1).astype(np.uint64)
        done, steps = 0, epochs * -(-number // self.batch)
        for _ in range(epochs):
            plan = (self.batch, self.dropout, self.rate, done, steps)
            given = (words, rng.permutation(number), options, features, room, plan, state)
            done = learn_pass(self._parts(flat), self._parts(slope), (flat, slope, mean, square), *given)
        return slope
