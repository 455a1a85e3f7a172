"""Harmony: two classes of vowels that words do not mix, found by the vowels that come together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mercer.sequence_models.edits import Vowels

_FEWEST = 3  # words that must have a vowel, and that must not
_PART = 0.5  # least size of a vowel's coordinate, against that of all coordinates alike


class Harmony:
    """The two classes of vowels that avoid each other most.

    With C the correlations, over words, of having each vowel (zero on the diagonal), the classes are the signs of the eigenvector
    with the highest eigenvalue. Vowels with a small coordinate are neutral.

    Attributes
    ----------
    classes_ : dict
        The class, 1 or 2, of each vowel that is not neutral.

    Examples
    --------
    >>> words = ["talo", "katu", "kulo", "sauna", "mökki", "kylä", "hölmö", "yö", "tyyny", "pöytä", "mato", "koulu", "sopu"]
    >>> harmony = Harmony().fit(words, Vowels("aeiouyäö"))
    >>> harmony.of("katkarapu") == harmony.of("pohja") != harmony.of("pöly")
    True
    """

    def fit(self, words: Sequence[str], vowels: Vowels) -> Harmony:
        """Find the classes in words."""
        self.classes_: dict[str, int] = {}
        letters = sorted({letter for word in words for letter in word if letter in vowels})
        has = np.asarray([[letter in word for letter in letters] for word in words], dtype=float)
        counts = has.sum(axis=0)
        often = (counts >= _FEWEST) & (counts <= len(has) - _FEWEST)
        letters = [letter for letter, enough in zip(letters, often, strict=True) if enough]
        if len(letters) < 2:
            return self
        together = np.corrcoef(has[:, often].T)
        np.fill_diagonal(together, 0.0)
        coordinates = np.linalg.eigh(together)[1][:, -1]
        strong = np.abs(coordinates) > _PART / np.sqrt(len(letters))
        # signs of eigenvectors are arbitrary: the first letter's class is 1
        sides = np.sign(coordinates) * np.sign(coordinates[strong][0])
        self.classes_ = {x: 1 if side > 0 else 2 for x, side, s in zip(letters, sides, strong, strict=True) if s}
        return self

    def of(self, word: str) -> int:
        """Return the class of the last vowel that is not neutral; 0 if there is none."""
        return next((self.classes_[letter] for letter in reversed(word) if letter in self.classes_), 0)
