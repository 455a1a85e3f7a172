"""What each decision of an inflection looks at, as rows of columns."""

from __future__ import annotations

from collections.abc import Iterable

from mercer.sequence_models.edits import Vowels
from mercer.sequence_models.inflection_decision import Row

Front = tuple[str, str]
"""What becomes of the particle, and the prefix."""

START, STOP = "^", "$"
_FAR = 3
"""Syllables are told apart up to here."""


class Columns:
    """The rows of the four decisions; `tags` are those a form can have, each a column of its own.

    Letters are counted from the end of the word, where inflection happens, and the ending is written from its last letter to
    its first: what the tags say comes last, and what the stem demands (a dropped *e*, a doubled consonant) is decided when the
    ending is known.
    """

    def __init__(self, tags: Iterable[str], vowels: Vowels) -> None:
        self.tags = sorted(set(tags))
        self.vowels = vowels

    def front(self, lemma: str, tags: tuple[str, ...], particle: str) -> Row:
        """For what happens before the word: particle and prefix."""
        first = (lemma[i : i + 1] for i in range(3))
        return (*self._tags(tags), particle, *first, *_last(lemma, 3))

    def ending(self, word: str, tags: tuple[str, ...], front: Front, written: str) -> Row:
        """For the next letter of the ending, to the left of what is `written`."""
        right = written + STOP
        seen = (right[:1], right[:2], right[1:2], right[2:3], min(len(written), 4))
        return (
            *self._tags(tags),
            front,
            *_last(word, 3),
            *self._kinds(word, 2),
            self._syllables(word),
            word[-2:],
            *seen,
        )

    def cut(self, word: str, tags: tuple[str, ...], front: Front, ending: str) -> Row:
        """For how many letters go."""
        seen = (ending[:1], ending[:2], ending, self.vowels.kind(ending[:1]))
        return (*self._tags(tags), front, *seen, *_last(word, 5), *self._kinds(word, 3), self._syllables(word))

    def change(self, word: str, tags: tuple[str, ...], front: Front, ending: str, cut: int) -> Row:
        """For what happens to the last vowels of the stem."""
        before, vowels, after = self.vowels.last_in(word[: len(word) - cut])
        near = (before, vowels, after, after[:1])
        short = min(self._syllables(word), 2)
        return (*self._tags(tags), front, cut, *near, ending, ending[:1], *_last(word, 3), short)

    def _tags(self, tags: tuple[str, ...]) -> Row:
        """One column for each tag, and one for all of them."""
        return (*(tag in tags for tag in self.tags), tags)

    def _kinds(self, word: str, n: int) -> Row:
        return tuple(self.vowels.kind(letter) for letter in _last(word, n))

    def _syllables(self, word: str) -> int:
        return min(self.vowels.syllables(word), _FAR)


def _last(word: str, n: int) -> tuple[str, ...]:
    """The last n letters, the very last first; empty where the word is shorter."""
    return tuple(word[len(word) - i : len(word) - i + 1] if i <= len(word) else "" for i in range(1, n + 1))
