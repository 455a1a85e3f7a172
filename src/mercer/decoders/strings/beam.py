"""Sequences grown symbol by symbol, the best few kept at every length."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from numbers import Integral
from typing import Any

import numpy as np

from mercer.decoders.strings.base import Constructed, StringDecoder, refuse
from mercer.decoders.strings.lengths import Lengths
from mercer.decoders.strings.models import model_of
from mercer.decoders.strings.prefixes import Model, Outlook, Prefixes

_ITEMS = 2**20
"""Most extensions scored at a time."""


class BeamSearch(StringDecoder):
    r"""A sequence near a point, :math:`\arg\max_y 2\langle h, \psi(y)\rangle - l(y,y)`, grown symbol by symbol.

    At every length the `width` best beginnings are kept, and the best of all lengths is the answer: usually the best there is,
    in time linear in the number of points. The answer is never worse than the best training output. For kernels of common
    n-grams (`Spectrum`, `Mismatch`, their sums and multiples) and `Subsequence`, plain or normalised.

    Parameters
    ----------
    width : int, default=64
        Beginnings kept at every length.
    length : int, (int, int), "predicted" or None
        The length of every answer; the shortest and the longest; the mean length of the training outputs under the weights of
        the point, rounded; or None, for any length up to that of the longest training output.
    alphabet : collection of symbols, optional
        What answers are made of; by default the symbols of the training outputs.

    Attributes
    ----------
    reports_ : list of Report
        Objective, proven bound and gap of each answer of the last `decode`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.embeddings import Implicit
    >>> from mercer.kernels import Spectrum
    >>> embedding = Implicit().fit(Spectrum(2), np.array(["abc", "cde", "bcd"], dtype=object))
    >>> decoder = BeamSearch(length=(2, 5)).fit(embedding)
    >>> decoder.decode(np.array([[0.9, 0.9, 0.2]]))
    array(['abcde'], dtype=object)
    >>> decoder.reports_[0].optimal
    True
    """

    model_: Model

    def __init__(self, width: int = 64, length: Any = None, alphabet: Iterable[Hashable] | None = None) -> None:
        self.width = width
        self.length = length
        self.alphabet = alphabet

    def _prepare(self) -> tuple[int, int | None]:
        if isinstance(self.width, bool) or not isinstance(self.width, Integral) or self.width < 1:
            raise ValueError(f"width={self.width!r}; expected how many beginnings to keep, a whole number from 1")
        model = model_of(self)
        if model is None:
            raise refuse(self, self.embedding_.kernel_, "Spectrum, Mismatch or Subsequence, plain or normalised,")
        self.model_ = model
        return model.shortest, None

    def _construct(self, points: np.ndarray, lengths: Lengths, k: int) -> list[Constructed]:
        width = int(self.width)
        size = max(1, _ITEMS // (width * self.model_.symbols))
        found: list[Constructed] = []
        for start in range(0, len(points), size):
            rows = slice(start, start + size)
            part = Lengths(lengths.low[rows], lengths.high[rows])
            targets = self.model_.targets(points[rows])
            words = grow(self.model_, targets, part, width, k)
            for target, own, low, high in zip(targets, words, *part, strict=True):
                found.append(Constructed(own, self.model_.limit(target, int(low), int(high))))
        return found


def grow(model: Model, targets: np.ndarray, lengths: Lengths, width: int, k: int) -> list[list[list[int]]]:
    """The k best sequences a beam of some width meets, for each row of `targets`; k does not change where it goes."""
    n = len(targets)
    outlook = model.outlook(targets)
    beam = model.starts(targets, width, lengths.longest)
    kept: list[tuple[np.ndarray, Prefixes]] = []
    for size in range(model.shortest, lengths.longest + 1):
        scores = model.value(beam.linear, beam.square)
        inside = (lengths.low[beam.owner] <= size) & (size <= lengths.high[beam.owner])
        rows = _best(np.where(inside, scores, -np.inf), n, k)
        kept.append((scores[rows], beam.take(rows)))
        if size < lengths.longest:
            beam = _next(model, beam, targets, outlook, width)
    found: list[list[tuple[float, list[int]]]] = [[] for _ in range(n)]
    for scores, some in kept:
        for score, owner, text, size in zip(scores, some.owner, some.text, some.size, strict=True):
            found[owner].append((float(score), text[:size].tolist()))
    return [[word for _, word in sorted(own, key=lambda entry: -entry[0])[:k]] for own in found]


def _next(model: Model, beam: Prefixes, targets: np.ndarray, outlook: Outlook, width: int) -> Prefixes:
    """The best beginnings with one symbol more, judged by what they are and where they lead."""
    linear, square = model.extended(beam, targets)
    scores = model.value(*model.ahead(beam, linear, square, outlook))
    best = _best(scores.ravel(), len(targets), width)
    rows, symbols = np.divmod(best, model.symbols)
    return model.grown(beam, rows, symbols, linear[rows, symbols], square[rows, symbols])


def _best(scores: np.ndarray, n: int, k: int) -> np.ndarray:
    """Positions of the k best scores of each of n points, as many in a row each, without those that are minus infinity."""
    each = len(scores) // n
    table = scores.reshape(n, each)
    k = min(k, each)
    order = np.argpartition(-table, k - 1, axis=1)[:, :k] if k < each else np.tile(np.arange(each), (n, 1))
    positions = order + each * np.arange(n)[:, None]
    positions = positions.ravel()
    return positions[np.isfinite(scores[positions])]
