"""What decoders that construct sequences have in common."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse

from mercer.core.arrays import Array, to_numpy
from mercer.core.collections import Collection, count
from mercer.decoders.base import Decoder, Ranked
from mercer.decoders.pool import Pool, top
from mercer.decoders.strings.alphabet import Alphabet
from mercer.decoders.strings.lengths import LengthRule, Lengths
from mercer.decoders.strings.report import Report
from mercer.embeddings.base import Embedding
from mercer.embeddings.directions import Directions
from mercer.embeddings.explicit import Features

_ENTRIES = 2**22
"""Most kernel values held dense at a time, 32 MiB of doubles."""

_SCORES = 2**22
"""Most scores of training outputs held at a time."""

_SAME = 1e-9
"""Difference of scores, relative to their size, at which a training output is preferred to one constructed."""


class Constructed(NamedTuple):
    """Sequences found for one point, as symbol numbers, and a score that none can exceed."""

    words: list[list[int]]
    limit: float = np.inf


class StringDecoder(Decoder):
    """Makes the sequence nearest to a point, symbol by symbol, instead of looking for it in a list.

    A subclass defines `_prepare`, which refuses kernels it cannot work with, and `_construct`. What it finds is scored once
    more by the kernel itself and compared with the training outputs of an allowed length, so that no answer is worse than the
    best of those. Only sequences the kernel sees are answers.

    Attributes
    ----------
    alphabet_ : list
        The symbols answers are made of.
    reports_ : list of Report
        Objective, bound and gap of each answer of the last `decode`.
    """

    constructs = True
    length: Any
    alphabet: Iterable[Hashable] | None
    pool_: Pool
    reports_: list[Report]

    def fit(self, embedding: Embedding, loss: Any = None) -> Self:
        """Collect the symbols, the training outputs and what is needed to grow sequences."""
        super().fit(embedding, loss)
        outputs = embedding.outputs_
        if not embedding.kernel_.sees(outputs).any():
            raise ValueError(
                f"{embedding.kernel_!r} sees none of the training outputs, the longest of which has "
                f"{max(map(len, outputs))} symbols; expected longer outputs, or a kernel of shorter parts"
            )
        self._alphabet = Alphabet.of(outputs, self.alphabet)
        self.alphabet_ = self._alphabet.symbols
        self._lengths = np.asarray([len(output) for output in outputs])
        self.pool_, self.hidden_ = super()._training_pool()
        self._pool_lengths = np.asarray([len(output) for output in self.pool_.objects])
        seen = np.asarray(embedding.kernel_.sees(outputs))
        shortest, longest = self._prepare()
        self._rule = LengthRule(self.length, self._lengths[seen], shortest, longest)
        return self

    # -- what a subclass defines --------------------------------------------------------------------

    def _prepare(self) -> tuple[int, int | None]:
        """Read the kernel; the shortest sequence it sees, and the longest it knows about if there is one."""
        raise TypeError(f"{type(self).__name__} must define _prepare()")

    def _construct(self, points: np.ndarray, lengths: Lengths, k: int) -> list[Constructed]:
        """Up to k good sequences for each point, in terms of `_readout`."""
        raise TypeError(f"{type(self).__name__} must define _construct(points, lengths, k)")

    # -- what a user calls --------------------------------------------------------------------------

    def decode(self, H: Array, leave_out: np.ndarray | None = None) -> Collection:
        """The sequence of each point. An output left out is not compared with, but may be constructed all the same."""
        self.reports_ = [reports[0] for reports in self.solve(H, 1, leave_out)]
        answers = np.empty(len(self.reports_), dtype=object)
        for i, report in enumerate(self.reports_):
            answers[i] = report.object
        return answers

    def rank(self, H: Array, k: int, leave_out: np.ndarray | None = None) -> list[Ranked]:
        """The k best sequences found for each point, constructed or training outputs, scored ``2⟨h, ψ(y)⟩ - l(y, y)``."""
        ranked = []
        for reports in self.solve(H, k, leave_out):
            objects = np.empty(len(reports), dtype=object)
            objects[:] = [report.object for report in reports]
            ranked.append(Ranked(objects, np.asarray([-report.objective for report in reports])))
        return ranked

    def solve(self, H: Array, k: int = 1, leave_out: np.ndarray | None = None) -> list[list[Report]]:
        """The k best sequences found for each point, best first, with what is proven about the first of them."""
        self._require_count(k)
        H = np.atleast_2d(to_numpy(self._points(H)))
        masked = self._masked(self.hidden_, leave_out, H)
        points = self._coordinates(H)
        explicit = self._rule.predicted and isinstance(self.embedding_, Features)
        weights = to_numpy(self._weights(H)) if explicit else points
        lengths = self._rule.of(len(H), weights, self._lengths)
        found = self._construct(points, lengths, k)
        training = self._training(H, lengths, k, masked)
        scored = self._scored(H, found)
        return [self._merged(own, best, each.limit, k) for own, best, each in zip(scored, training, found, strict=True)]

    # -- points, and sequences, as rows ---------------------------------------------------------------

    def _coordinates(self, points: np.ndarray) -> np.ndarray:
        """Points as they multiply the rows of `_readout`: features, or else weights on the fitted outputs."""
        whole = isinstance(self.embedding_, Features | Directions)
        return points if whole else to_numpy(self._weights(points))

    def _readout(self, words: np.ndarray) -> sparse.csr_array:
        """Rows whose product with a point, as `_coordinates` gives it, is ⟨h, ψ(y)⟩."""
        if isinstance(self.embedding_, Features):
            return self.embedding_.feature_map_.sparse_rows(words)
        outputs, kernel = self.embedding_.outputs_, self.embedding_.kernel_
        step = max(1, _ENTRIES // count(outputs))
        parts = [
            sparse.csr_array(to_numpy(kernel(words[start : start + step], outputs)))
            for start in range(0, len(words), step)
        ]
        return sparse.csr_array(sparse.vstack(parts, format="csr"))

    def _points(self, H: Array) -> Array:
        """Along learned directions alone nothing adds up over symbols: there a point is its weights, in the whole space."""
        return self._weights(H) if isinstance(self.embedding_, Directions) else super()._points(H)

    def _features(self, objects: Collection) -> tuple[Array, Array]:
        if not isinstance(self.embedding_, Directions):
            return super()._features(objects)
        kernel = self.embedding_.kernel_
        return 2.0 * kernel(objects, self.embedding_.outputs_), kernel.diag(objects)

    def _training_pool(self) -> tuple[Pool, np.ndarray]:
        return self.pool_, self.hidden_

    # -- comparing with the training outputs --------------------------------------------------------

    def _training(
        self, H: np.ndarray, lengths: Lengths, k: int, masked: np.ndarray | None
    ) -> list[list[tuple[float, Any]]]:
        """The k best training outputs of an allowed length for each point."""
        pool, best = self.pool_, []
        features, offsets = to_numpy(pool.features), to_numpy(pool.offsets)
        k, size = min(k, len(pool)), max(1, _SCORES // len(pool))
        for start in range(0, len(H), size):
            rows = slice(start, min(start + size, len(H)))
            scores = H[rows] @ features.T - offsets
            inside = (self._pool_lengths >= lengths.low[rows, None]) & (self._pool_lengths <= lengths.high[rows, None])
            if masked is not None:
                inside &= np.arange(len(pool)) != masked[rows, None]
            index, values = top(np.where(inside, scores, -np.inf), k)
            for own, score in zip(index, values, strict=True):
                best.append(
                    [(float(s), self.pool_.objects[j]) for j, s in zip(own, score, strict=True) if np.isfinite(s)]
                )
        return best

    def _scored(self, H: np.ndarray, found: list[Constructed]) -> list[list[tuple[float, Any]]]:
        """What was found for each point, scored by the kernel itself."""
        owner = np.repeat(np.arange(len(found)), [len(each.words) for each in found])
        words = self._alphabet.words([word for each in found for word in each.words])
        scores = np.empty(len(words))
        step = max(1, _ENTRIES // max(count(self.embedding_.outputs_), H.shape[1]))
        for start in range(0, len(words), step):
            part = slice(start, start + step)
            scores[part] = -self._objectives(H[owner[part]], words[part])
        scored: list[list[tuple[float, Any]]] = [[] for _ in found]
        for row, score, word in zip(owner, scores, words, strict=True):
            scored[row].append((float(score), word))
        return scored

    def _objectives(self, points: np.ndarray, words: np.ndarray) -> np.ndarray:
        """`objective`, for points as `_points` gives them."""
        features, offsets = self._features(self.embedding_.kernel_.check(words))
        return to_numpy(offsets) - np.sum(points * to_numpy(features), axis=1)

    def _merged(
        self, own: list[tuple[float, Any]], training: list[tuple[float, Any]], limit: float, k: int
    ) -> list[Report]:
        """The best of both, each once; where they tie, training outputs first."""
        key = self.embedding_.kernel_.key
        known = {key(word) for _, word in training}
        largest = max([1.0] + [abs(score) for score, _ in own])
        entries = [(score + _SAME * largest, score, word, False) for score, word in training]
        entries += [(score, score, word, True) for score, word in own if key(word) not in known]
        if not entries:
            raise ValueError(
                f"no sequence of an allowed length (length={self.length!r}) could be made of the {len(self._alphabet)} symbols "
                f"of the alphabet; allow other lengths"
            )
        entries.sort(key=lambda entry: -entry[0])
        bound = -max(limit, entries[0][1])
        scores = np.minimum.accumulate([entry[1] for entry in entries[:k]])
        return [
            Report(word, -float(score), bound if i == 0 else -np.inf, new)
            for i, (score, (_, _, word, new)) in enumerate(zip(scores, entries[:k], strict=True))
        ]


def refuse(decoder: Decoder, kernel: Any, wanted: str) -> TypeError:
    """The error of a decoder that came with a kernel it cannot work with."""
    return TypeError(
        f"{type(decoder).__name__} needs {wanted} as output kernel, and came with {kernel!r}; use decoder='auto', or "
        "Candidates() to choose among the training outputs"
    )
