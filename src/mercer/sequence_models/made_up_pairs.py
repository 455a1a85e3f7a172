"""Made-up training pairs: the part of a stem that a form keeps is swapped for random letters of the same shape."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from difflib import SequenceMatcher

import numpy as np

from mercer.sequence_models.edits import Vowels
from mercer.sequence_models.harmony import Harmony
from mercer.sequence_models.tag_views import Tags

_KEPT = 2  # last letters of the common part that stay: what follows depends on them


class MadeUpPairs:
    """Makes pairs up from training pairs, so that a model does not take the letters of stems for the reason of an ending.

    In the longest part that lemma and form have in common, each letter but the last two becomes a random one of its class: vowel
    or consonant, harmony, upper or lower case. Letters are drawn as often as they come in lemmas; other symbols stay.
    """

    def __init__(self, lemmas: Sequence[str], vowels: Vowels, harmony: Harmony) -> None:
        self._vowels, self._harmony = vowels, harmony
        self._letters: dict[Hashable, list[str]] = {}
        for lemma in lemmas:
            for letter in lemma:
                self._letters.setdefault(self._class(letter), []).append(letter)

    def of(self, lemma: str, form: str, rng: np.random.Generator) -> tuple[str, str] | None:
        """Return a lemma and its form, made up from a pair; None if they have too little in common."""
        start, begin, size = SequenceMatcher(None, lemma, form, autojunk=False).find_longest_match()
        if size < 2 * _KEPT:
            return None
        stem = "".join(self._other(letter, rng) for letter in lemma[start : start + size - _KEPT])
        return _swapped(lemma, start, stem), _swapped(form, begin, stem)

    def _other(self, letter: str, rng: np.random.Generator) -> str:
        if not letter.isalpha():
            return letter
        like = self._letters[self._class(letter)]
        return like[rng.integers(len(like))]

    def _class(self, letter: str) -> Hashable:
        return letter in self._vowels, self._harmony.classes_.get(letter, 0), letter.isupper()


def _swapped(word: str, start: int, stem: str) -> str:
    return word[:start] + stem + word[start + len(stem) :]


def with_made_up_pairs(
    known: tuple[list[str], list[Tags], list[str]], maker: MadeUpPairs, copies: int, rng: np.random.Generator
) -> tuple[list[str], list[Tags], list[str]]:
    """Return lemmas, tags and forms, and after them `copies` pairs made up from each, with its tags."""
    lemmas, tags, forms = list(known[0]), list(known[1]), list(known[2])
    for _ in range(copies):
        for lemma, own, form in zip(*known, strict=True):
            pair = maker.of(lemma, form, rng)
            if pair is not None:
                lemmas.append(pair[0])
                tags.append(own)
                forms.append(pair[1])
    return lemmas, tags, forms
