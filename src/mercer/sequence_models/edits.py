"""Edit scripts: what is done to a word to inflect it."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

DOUBLE = "\ue000"
"""Stands in an ending for the last letter of the stem, said again (*hop*, *hopping*); from the private use area of Unicode."""

WHOLE, MOVED, KEPT = "whole", "moved", "kept"
"""A word is inflected as a whole; or its particle goes to the end (*aufgeben*, *gibt auf*); or stays in front (*aufgegeben*)."""


@dataclass(frozen=True)
class Script:
    """The steps from a lemma to a form.

    The last `cut` letters go; the last `old` in what is left, not counting its last letter, becomes `new`; `ending` is added and
    `prefix` put in front. Where `particle` is not ``"whole"`` all this is done to the word without its particle.

    Examples
    --------
    >>> Script(ending=DOUBLE + "ing").apply("hop"), Script(old="o", new="ue", cut=2, ending="as").apply("contar")
    ('hopping', 'cuentas')
    >>> Script(MOVED, cut=2, ending="t").apply("aufbauen", "auf"), Script(KEPT, "ge", cut=2, ending="t").apply("aufbauen", "auf")
    ('baut auf', 'aufgebaut')
    """

    particle: str = WHOLE
    prefix: str = ""
    old: str = ""
    new: str = ""
    cut: int = 0
    ending: str = ""

    def apply(self, lemma: str, particle: str = "") -> str | None:
        """The form, or None where a step cannot be done; `particle` is the one that `lemma` begins with."""
        if self.particle != WHOLE and not particle:
            return None
        word = lemma if self.particle == WHOLE else lemma[len(particle) :]
        if self.cut > len(word):
            return None
        stem = changed(word[: len(word) - self.cut], self.old, self.new)
        if stem is None or (self.ending.startswith(DOUBLE) and not stem):
            return None
        form = self.prefix + stem + self.ending.replace(DOUBLE, stem[-1:])
        if self.particle == MOVED:
            return f"{form} {particle}"
        return particle + form if self.particle == KEPT else form


def changed(stem: str, old: str, new: str) -> str | None:
    """`stem` with the last `old` before its last letter made `new`; None where there is none."""
    if not old:
        return stem
    start = stem.rfind(old, 0, len(stem) - 1)
    return None if start < 0 else stem[:start] + new + stem[start + len(old) :]


@dataclass(frozen=True)
class Vowels:
    """Which letters are vowels: those that, without accent or capital, are one of `letters`.

    Examples
    --------
    >>> vowels = Vowels("aeiou")
    >>> "Ä" in vowels, "ñ" in vowels, vowels.syllables("Haustür"), vowels.last_in("schlafsaal")
    (True, False, 2, ('s', 'aa', 'l'))
    """

    letters: str = "aeiou"

    def __contains__(self, letter: str) -> bool:
        return bool(letter) and unicodedata.normalize("NFD", letter.lower())[0] in self.letters

    def kind(self, letter: str) -> str:
        """Vowel, consonant, or nothing."""
        return "" if not letter else "vowel" if letter in self else "consonant"

    def syllables(self, word: str) -> int:
        """How many runs of vowels there are."""
        kinds = [letter in self for letter in word]
        return sum(vowel and not before for before, vowel in zip([False, *kinds], kinds, strict=False))

    def last_in(self, stem: str) -> tuple[str, str, str]:
        """The last vowels that consonants follow, the letter before them, and those consonants: (before, vowels, after)."""
        end = len(stem)
        while end > 0 and stem[end - 1] in self:
            end -= 1
        after = end
        while after > 0 and stem[after - 1] not in self:
            after -= 1
        start = after
        while start > 0 and stem[start - 1] in self:
            start -= 1
        return stem[max(start - 1, 0) : start], stem[start:after], stem[after:end]
