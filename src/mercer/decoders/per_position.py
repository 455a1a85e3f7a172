"""Sequences as one-hot blocks: the best symbol at each position."""

from __future__ import annotations

import numbers
from typing import Any, Self

import numpy as np

from mercer.core.arrays import Array, to_numpy
from mercer.core.collections import Collection, as_vectors
from mercer.decoders.base import Decoder, Ranked
from mercer.decoders.families import factor, unscaled
from mercer.embeddings.base import Embedding
from mercer.kernels import Positions


class PerPosition(Decoder):
    r"""The nearest of all sequences under a `Positions` kernel, found position by position.

    With :math:`h_p[a]` the weight of symbol a at position p, the distance of a sequence is
    :math:`\sum_p (1 - 2 h_p[y_p])` up to a constant: the best symbol is taken at each position, and
    the length is the one whose positions add up to the least. That is exact over all sequences of
    the symbols seen in training. Of symbols with equal weight the one seen first wins, of lengths
    the shortest. `rank` gives the k nearest of all these sequences: of each length, they begin with one of the k nearest that
    are a symbol shorter.

    Parameters
    ----------
    length : int, optional
        The length of every answer, at most that of the longest training output; by default free.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.embeddings import Implicit
    >>> from mercer.kernels import Positions
    >>> embedding = Implicit().fit(Positions(), np.array(["cat", "cut", "bat"], dtype=object))
    >>> PerPosition().fit(embedding).decode(np.array([[0.1, 0.6, 0.4]]))
    array(['cut'], dtype=object)
    """

    constructs = True

    def __init__(self, length: int | None = None) -> None:
        self.length = length

    def fit(self, embedding: Embedding, loss: Any = None) -> Self:
        """Check that the output kernel compares positions, and read off the symbols."""
        kernel = unscaled(embedding.kernel_)
        if not isinstance(kernel, Positions):
            raise TypeError(
                "PerPosition needs a Positions output kernel, and came with "
                f"{embedding.kernel_!r}; use output_kernel=Positions(), or decoder='auto'"
            )
        super().fit(embedding, loss)
        self.indicators_ = kernel.feature_map(embedding.outputs_)
        self._check_length()
        return self

    def decode(self, H: Array, leave_out: np.ndarray | None = None) -> Collection:
        """The sequence of each point; any sequence will do, so leaving one out changes nothing."""
        mass = self._blocks(H)
        symbol = mass.argmax(axis=2)
        if self.length is None:
            gain = np.cumsum(2.0 * mass.max(axis=2) - 1.0, axis=1)
            lengths = np.argmax(np.insert(gain, 0, 0.0, axis=1), axis=1)
        else:
            lengths = np.full(len(mass), self.length)
        return self._sequences([row[:length] for row, length in zip(symbol, lengths, strict=True)])

    def rank(self, H: Array, k: int, leave_out: np.ndarray | None = None) -> list[Ranked]:
        """The k best of all sequences for each point, scored ``2⟨h, ψ(y)⟩ - l(y, y)``; leaving one out changes nothing."""
        self._require_count(k)
        found = []
        for gains in 2.0 * self._blocks(H) - 1.0:
            words, scores = self._best(gains, int(k))
            found.append(Ranked(self._sequences(words), self._factor() * scores))
        return found

    def _best(self, gains: np.ndarray, k: int) -> tuple[list[np.ndarray], np.ndarray]:
        """The k best sequences of symbol numbers, and what they add up to in a table of positions by symbols."""
        beginnings, scores = np.zeros((1, 0), dtype=np.intp), np.zeros(1)
        best = [(beginnings, scores)]
        gains = gains[: self.length]
        # the best symbol first, so that rounding in sums cannot put another before it
        for order, gain in zip(np.argsort(-gains, axis=1, kind="stable"), gains, strict=True):
            longer = (scores[:, None] + gain[order]).ravel()
            kept = np.argsort(-longer, kind="stable")[:k]
            before, symbol = np.divmod(kept, len(order))
            beginnings, scores = np.column_stack([beginnings[before], order[symbol]]), longer[kept]
            best.append((beginnings, scores))
        best = best if self.length is None else best[-1:]
        words = [word for own, _ in best for word in own]
        totals = np.concatenate([own for _, own in best])
        first = np.argsort(-totals, kind="stable")[:k]
        return [words[i] for i in first], totals[first]

    # -- points and sequences in one-hot blocks, where they are decided ---------------------------------

    def _blocks(self, H: Array) -> np.ndarray:
        """The weight of each symbol at each position, for each point."""
        points = self._points(H)
        return points.reshape(len(points), self.indicators_.positions, len(self.indicators_.symbols))

    def _points(self, H: Array) -> np.ndarray:
        embedding = self.embedding_
        if embedding.kernel_ == Positions() and hasattr(embedding, "feature_map_"):
            return to_numpy(as_vectors(H, "H"))  # the coordinates are these very indicators
        return to_numpy(self._weights(H)) @ to_numpy(self.indicators_(embedding.outputs_))

    def _features(self, objects: Collection) -> tuple[np.ndarray, np.ndarray]:
        features = 2.0 * self._factor() * to_numpy(self.indicators_(objects))
        return features, to_numpy(self.embedding_.kernel_.diag(objects))

    def _factor(self) -> float:
        """What the kernel of positions is multiplied by."""
        return factor(self.embedding_.kernel_)

    def _sequences(self, words: list[np.ndarray]) -> np.ndarray:
        sequences = np.empty(len(words), dtype=object)
        for i, word in enumerate(words):
            sequences[i] = self._sequence([self.indicators_.symbols[a] for a in word])
        return sequences

    def _sequence(self, symbols: list[Any]) -> Any:
        """Symbols as the kind of sequence the training outputs are."""
        kind = type(self.embedding_.outputs_[0])
        if issubclass(kind, str):
            return "".join(symbols)
        return np.asarray(symbols) if issubclass(kind, np.ndarray) else kind(symbols)

    def _check_length(self) -> None:
        length, longest = self.length, self.indicators_.positions
        if length is None:
            return
        if isinstance(length, bool) or not isinstance(length, numbers.Integral) or length < 0:
            raise ValueError(f"length={length!r}; expected a whole number, or None for any length")
        if length > longest:
            raise ValueError(
                f"length={length}, and the longest training output has {longest} symbols; expected "
                "at most that, since nothing is known of later positions"
            )
