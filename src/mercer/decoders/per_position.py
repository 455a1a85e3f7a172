"""Sequences as one-hot blocks: the best symbol at each position."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from mercer.core.arrays import Array, to_numpy
from mercer.core.collections import Collection
from mercer.core.validation import check_whole
from mercer.decoders.base import Decoder, Ranked, check_count, factor, register, unscaled
from mercer.decoders.pool import LeftOut, snapped
from mercer.decoders.strings.base import Alphabet
from mercer.embeddings.base import Embedding
from mercer.kernels import Positions
from mercer.kernels.base import Kernel


@register(priority=40)
class PerPosition(Decoder):
    r"""The nearest of all sequences under a `Positions` kernel, found position by position.

    With :math:`h_p[a]` the weight of symbol a at position p, the distance of a sequence is :math:`\sum_p (1 - 2 h_p[y_p])` up to
    a constant: the best symbol is taken at each position, and the length is the one whose positions add up to the least. This
    is exact over all sequences of the symbols seen in training. Of symbols with equal weight the one seen first wins, of
    lengths the shortest. `rank` gives the k nearest of all these sequences: of each length, they begin with one of the k
    nearest that are a symbol shorter.

    Parameters
    ----------
    length : int, optional
        The length of every answer, at most that of the longest training output; by default free.

    Examples
    --------
    >>> from mercer.embeddings import Implicit
    >>> from mercer.kernels import Positions
    >>> embedding = Implicit().fit(Positions(), np.array(["cat", "cut", "bat"], dtype=object))
    >>> PerPosition().fit(embedding).decode(np.array([[0.1, 0.6, 0.4]]))
    array(['cut'], dtype=object)
    """

    constructs = True
    kernels = (Positions,)
    needs = "Positions()"
    reason = "under {kernel} each position can be decided alone"

    def __init__(self, length: int | None = None) -> None:
        self.length = length

    @classmethod
    def decodes(cls, kernel: Kernel) -> bool:
        """For `Positions`."""
        return unscaled(kernel) == Positions()

    def fit(self, embedding: Embedding, loss: Any = None) -> Self:
        """Collect the symbols."""
        super().fit(embedding, loss)
        self.indicators_ = Positions().feature_map(embedding.outputs_)
        self._alphabet = Alphabet(list(self.indicators_.symbols), type(embedding.outputs_[0]))
        if self.length is not None:
            longest = self.indicators_.positions
            expected = (
                f"a whole number up to {longest}, the length of the longest training output, or None for any length"
            )
            check_whole(self.length, "length", 0, longest, expected=expected)
        return self

    def decode(self, H: Array, leave_out: np.ndarray | LeftOut | None = None) -> Collection:
        """The sequence of each point; any sequence is possible, so leaving one out changes nothing."""
        mass = self._blocks(H)
        symbol = mass.argmax(axis=2)
        if self.length is None:
            gain = np.cumsum(2.0 * mass.max(axis=2) - 1.0, axis=1)
            lengths = np.argmax(np.insert(gain, 0, 0.0, axis=1), axis=1)
        else:
            lengths = np.full(len(mass), self.length)
        return self._alphabet.words([row[:length] for row, length in zip(symbol, lengths, strict=True)])

    def rank(self, H: Array, k: int, leave_out: np.ndarray | LeftOut | None = None) -> list[Ranked]:
        """The k best of all sequences for each point, scored ``2⟨h, ψ(y)⟩ - l(y, y)``; leaving one out changes nothing."""
        k, scale = check_count(k), factor(self.embedding_.kernel_)
        found = (self._best(gains, k) for gains in 2.0 * self._blocks(H) - 1.0)
        return [Ranked(self._alphabet.words(words), scale * scores) for words, scores in found]

    def _best(self, gains: np.ndarray, k: int) -> tuple[list[np.ndarray], np.ndarray]:
        """The k best sequences of symbol numbers, and their sums in a table of positions by symbols."""
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

    def _blocks(self, H: Array) -> np.ndarray:
        """The weight of each symbol at each position, for each point."""
        points = snapped(self._points(H))
        return points.reshape(len(points), self.indicators_.positions, len(self.indicators_.symbols))

    def _points(self, H: Array) -> np.ndarray:
        return self._expectations(H, Positions, self.indicators_)

    def _features(self, objects: Collection) -> tuple[np.ndarray, np.ndarray]:
        features = 2.0 * factor(self.embedding_.kernel_) * to_numpy(self.indicators_(objects))
        return features, to_numpy(self.embedding_.kernel_.diag(objects))
