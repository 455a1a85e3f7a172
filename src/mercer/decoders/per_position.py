"""Sequences as one-hot blocks: the best symbol at each position."""

from __future__ import annotations

import numbers
from typing import Any, Self

import numpy as np

from mercer.arrays import Array, to_numpy
from mercer.decoders.base import Decoder
from mercer.decoders.families import unscaled
from mercer.embeddings.base import Embedding
from mercer.kernels import Positions
from mercer.objects import Objects, as_vectors


class PerPosition(Decoder):
    r"""The nearest of all sequences under a `Positions` kernel, found position by position.

    With :math:`h_p[a]` the weight of symbol a at position p, the distance of a sequence is
    :math:`\sum_p (1 - 2 h_p[y_p])` up to a constant: the best symbol is taken at each position, and
    the length is the one whose positions add up to the least. That is exact over all sequences of
    the symbols seen in training. Of symbols with equal weight the one seen first wins, of lengths
    the shortest.

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

    def decode(self, H: Array, leave_out: np.ndarray | None = None) -> Objects:
        """The sequence of each point; any sequence will do, so leaving one out changes nothing."""
        shape = (-1, self.indicators_.positions, len(self.indicators_.symbols))
        mass = self._mass(H).reshape(shape)
        symbol = mass.argmax(axis=2)
        if self.length is None:
            gain = np.cumsum(2.0 * mass.max(axis=2) - 1.0, axis=1)
            lengths = np.argmax(np.insert(gain, 0, 0.0, axis=1), axis=1)
        else:
            lengths = np.full(len(mass), self.length)
        decoded = np.empty(len(mass), dtype=object)
        for i, (row, length) in enumerate(zip(symbol, lengths, strict=True)):
            decoded[i] = self._sequence([self.indicators_.symbols[a] for a in row[:length]])
        return decoded

    def _mass(self, H: Array) -> np.ndarray:
        """The weight of each symbol at each position."""
        embedding = self.embedding_
        if embedding.kernel_ == Positions() and hasattr(embedding, "feature_map_"):
            return to_numpy(as_vectors(H, "H"))  # the coordinates are these very indicators
        return to_numpy(self._weights(H)) @ to_numpy(self.indicators_(embedding.outputs_))

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
