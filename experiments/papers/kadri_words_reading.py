"""Decoding of points to words: letter by letter, or as a word of the training fold; and the share of correct letters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from operator import eq

import numpy as np
from scipy.ndimage import gaussian_filter

from mercer.core.collections import as_objects
from mercer.datasets.images import HandwrittenWords, load_ocr_words
from mercer.kernels.strings.sequences import PositionIndicators

UNREAD = "?"
"""Letter for positions that no training word has."""


@cache
def all_words() -> HandwrittenWords:
    """Load the data once."""
    return load_ocr_words()


@dataclass(frozen=True)
class Reader:
    """Decoder of points of the one-hot space, 26 values for each position; the number of letters of a word is known."""

    indicators: PositionIndicators
    vocabulary: list[str]
    counts: Counter[str]

    @classmethod
    def of(cls, strings: Sequence[str]) -> Reader:
        """Learn the positions, letters and words of the training fold."""
        counts = Counter(strings)
        letters = sorted(set("".join(counts)))
        return cls(PositionIndicators(list(letters), max(map(len, counts))), sorted(counts), counts)

    @property
    def letters(self) -> np.ndarray:
        """Letters in the order of the columns of each block."""
        return np.asarray([*self.indicators.symbols])

    def by_letter(self, points: np.ndarray, lengths: Iterable[int]) -> list[str]:
        """Return the best letter at each position."""
        best = points.reshape(len(points), self.indicators.positions, -1).argmax(axis=2)
        return [
            "".join(row[:length]).ljust(length, UNREAD) for row, length in zip(self.letters[best], lengths, strict=True)
        ]

    def by_word(
        self, points: np.ndarray, lengths: Sequence[int] | np.ndarray, own: Sequence[str] | None = None
    ) -> list[str]:
        """Return the nearest training word with as many letters; read letter by letter if there is none.

        With `own`, the points are of training words predicted without themselves: a word that occurs once is then not a
        candidate for its own point.
        """
        closeness = points @ self.indicators(as_objects(self.vocabulary)).T
        sizes = np.asarray([len(word) for word in self.vocabulary])
        closeness[sizes[None, :] != np.asarray(lengths)[:, None]] = -np.inf
        for i, word in enumerate(own if own is not None else ()):
            if self.counts[word] == 1:
                closeness[i, self.vocabulary.index(word)] = -np.inf
        best = closeness.argmax(axis=1)
        known = np.isfinite(closeness.max(axis=1))
        spelled = self.by_letter(points, lengths)
        return [self.vocabulary[j] if ok else word for j, ok, word in zip(best, known, spelled, strict=True)]


def characters_right(read: Iterable[str], truth: Iterable[str]) -> float:
    """Compute the percentage of correct characters, position by position.

    Examples
    --------
    >>> characters_right(["cat", "do"], ["cut", "do"])
    80.0
    """
    words, expected = list(read), list(truth)
    if [len(word) for word in words] != [len(word) for word in expected]:
        raise ValueError("read has words of other lengths than truth; expected a character for every character")
    right = sum(map(eq, "".join(words), "".join(expected)))
    return 100.0 * right / sum(map(len, expected))


def lengths_of(words: HandwrittenWords) -> np.ndarray:
    """Return the number of letters of each word."""
    return np.asarray([len(word) for word in words.strings])


def letter_rows(words: HandwrittenWords, blur: float = 0.0) -> np.ndarray:
    """Return each word as an array (letters × 128), every letter image blurred by a Gaussian of `blur` pixels."""
    letters = np.concatenate(list(words.images)).astype(float)
    if blur:
        letters = gaussian_filter(letters, (0.0, blur, blur), mode="constant")
    rows = np.empty(len(words), dtype=object)
    for i, part in enumerate(np.split(letters.reshape(len(letters), -1), np.cumsum(lengths_of(words))[:-1])):
        rows[i] = part
    return rows
