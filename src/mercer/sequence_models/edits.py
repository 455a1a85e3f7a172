"""Edit scripts: the steps from a lemma to its inflected form, and the cheapest script of a pair."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

# stands in an ending for the last letter of the stem, repeated (hop, hopping); from the private use area of Unicode
DOUBLE = "\ue000"
# a word is inflected as a whole; its particle goes to the end (aufgeben, gibt auf); or stays in front (aufgegeben)
WHOLE, MOVED, KEPT = "whole", "moved", "kept"
_LONGEST_PREFIX, _LONGEST_CHANGE = 6, 2
_SHORTEST_REST = 3  # fewest letters of a word without its particle
# a letter cut or added at the end costs 1; a stem of fewer than two letters is hardly one
_PREFIX_COST, _CHANGE_COST, _CHANGED_LETTER_COST, _PARTICLE_COST, _LOST_STEM_COST = 2.0, 1.5, 0.25, 1.5, 4.0
_WORD_LETTER_COST = 0.5  # of a letter of a word put in front, its space included


@dataclass(frozen=True)
class Script:
    """The steps from a lemma to a form.

    The last `cut` letters are dropped; the last `old` in the rest, not counting its last letter, becomes `new`; `ending` is
    added and `prefix` put in front. If `particle` is not ``"whole"`` all this is done to the word without its particle.

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
        """Return the form, or None if a step cannot be done; `particle` is the one that `lemma` begins with."""
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
    """Replace the last `old` before the last letter of `stem` by `new`; None if there is no such `old`."""
    if not old:
        return stem
    start = stem.rfind(old, 0, len(stem) - 1)
    return None if start < 0 else stem[:start] + new + stem[start + len(old) :]


@dataclass(frozen=True)
class Vowels:
    """The vowels: letters that, without accent or capital, are one of `letters`."""

    letters: str = "aeiou"

    def __contains__(self, letter: str) -> bool:
        return bool(letter) and unicodedata.normalize("NFD", letter.lower())[0] in self.letters

    def kind(self, letter: str) -> str:
        """Return "vowel", "consonant", or "" for no letter."""
        return "" if not letter else "vowel" if letter in self else "consonant"

    def syllables(self, word: str) -> int:
        """Count the runs of vowels."""
        kinds = [letter in self for letter in word]
        return sum(vowel and not before for before, vowel in zip([False, *kinds], kinds, strict=False))

    def last_in(self, stem: str) -> tuple[str, str, str]:
        """Return the last vowels that consonants follow, with the letter before and those consonants: (before, vowels, after)."""
        ends, end = [], len(stem)
        for vowels in (True, False, True):
            while end > 0 and (stem[end - 1] in self) == vowels:
                end -= 1
            ends.append(end)
        last, after, start = ends
        return stem[max(start - 1, 0) : start], stem[start:after], stem[after:last]


def particles_moved(lemmas: Sequence[str], forms: Sequence[str]) -> list[str]:
    """Find the particles: beginnings of lemmas that are the last word of a form, as in *aufgeben*, *gibt auf*."""
    found = set()
    for lemma, form in zip(lemmas, forms, strict=True):
        last = form.rpartition(" ")[2]
        if " " in form and last and lemma.startswith(last) and len(lemma) >= len(last) + _SHORTEST_REST:
            split = _cost(lemma[len(last) :], form[: -len(last) - 1]) + _PARTICLE_COST
            if split < _cost(lemma, form):
                found.add(last)
    return sorted(found)


def particle_of(lemma: str, particles: Sequence[str]) -> str:
    """Return the longest particle that `lemma` begins with; empty if there is none."""
    fitting = (p for p in particles if lemma.startswith(p) and len(lemma) >= len(p) + _SHORTEST_REST)
    return max(fitting, key=len, default="")


def script_of(lemma: str, form: str, vowels: Vowels, particle: str = "") -> Script:
    """Find the script that makes `form` of `lemma` at least cost.

    Examples
    --------
    >>> script_of("contar", "cuentas", Vowels())
    Script(particle='whole', prefix='', old='o', new='ue', cut=1, ending='s')
    >>> script_of("umbauen", "umgebaut", Vowels(), particle="um")
    Script(particle='kept', prefix='ge', old='', new='', cut=2, ending='t')
    """
    options = list(_scripts(lemma, form, vowels))
    if particle:
        rest = lemma[len(particle) :]
        if form.endswith(f" {particle}"):  # words in front are cheap, but that is not what moves a particle
            within = _scripts(rest, form[: -len(particle) - 1], vowels)
            options = [(cost + _PARTICLE_COST, replace(script, particle=MOVED)) for cost, script in within]
        if form.startswith(particle):
            within = _scripts(rest, form[len(particle) :], vowels)
            options += [(cost + _PARTICLE_COST, replace(s, particle=KEPT)) for cost, s in within if s.prefix]
    script = min(options, key=lambda option: option[0])[1]
    return _with_double(script, lemma if script.particle == WHOLE else lemma[len(particle) :], vowels)


def _cost(lemma: str, form: str) -> float:
    return min(cost for cost, _ in _scripts(lemma, form, Vowels(""), _PREFIX_COST))


def _scripts(
    word: str, form: str, vowels: Vowels, word_letter: float = _WORD_LETTER_COST
) -> Iterator[tuple[float, Script]]:
    """Yield scripts and their costs; of two with the same cost the first is preferred."""
    for prefix in _prefixes(form):
        body = form[len(prefix) :]
        common = _common(word, body)
        cut, ending = len(word) - common, body[common:]
        before = prefix_cost(prefix, word_letter)
        cost = before + cut + len(ending) + _LOST_STEM_COST * (common < 2)
        yield cost, Script(prefix=prefix, cut=cut, ending=ending)
        for start in (common, common - 1):
            if start >= 0:
                for cost, script in _changes(word, body, start, vowels):
                    yield cost + before, replace(script, prefix=prefix)


def _prefixes(form: str) -> Iterator[str]:
    """Yield the beginnings of a form that are words, with their spaces, and at most a few letters more."""
    words = [0, *(i + 1 for i, letter in enumerate(form) if letter == " ")]
    for start, end in zip(words, [*words[1:], len(form) + 1], strict=True):
        for length in range(start, min(start + _LONGEST_PREFIX + 1, end)):
            yield form[:length]


def prefix_pieces(prefix: str) -> list[str]:
    """Cut a prefix into words, each with the space after it, and the letters left.

    Examples
    --------
    >>> prefix_pieces("will be un")
    ['will ', 'be ', 'un']
    """
    return [piece for piece in re.split("(?<= )", prefix) if piece]


def prefix_cost(prefix: str, word_letter: float) -> float:
    """Return the cost of a prefix: `word_letter` for each letter of its words, more for the letters after them."""
    words = prefix.rfind(" ") + 1
    return word_letter * words + _PREFIX_COST * (len(prefix) - words)


def _changes(word: str, body: str, start: int, vowels: Vowels) -> Iterator[tuple[float, Script]]:
    """Yield scripts that change vowels at `start`, up to which `word` and `body` agree, and keep a consonant after."""
    for size in range(1, _LONGEST_CHANGE + 1):
        old, rest = word[start : start + size], word[start + size :]
        if len(old) < size or not rest or rest[0] in vowels or not all(letter in vowels for letter in old):
            continue
        for new_size in range(_LONGEST_CHANGE + 1):
            new, tail = body[start : start + new_size], body[start + new_size :]
            kept = _common(rest, tail)
            if len(new) < new_size or new == old or not kept or not all(letter in vowels for letter in new):
                continue
            stem = word[: start + size + kept]
            if changed(stem, old, new) != body[: start + new_size + kept]:
                continue
            cut, ending = len(rest) - kept, tail[kept:]
            cost = _CHANGE_COST + _CHANGED_LETTER_COST * (size + new_size) + cut + len(ending)
            yield cost + _LOST_STEM_COST * (start + kept < 2), Script(old=old, new=new, cut=cut, ending=ending)


def _with_double(script: Script, word: str, vowels: Vowels) -> Script:
    """Write a repeated last consonant of the whole word as `DOUBLE`."""
    ending = script.ending
    if script.cut == 0 and ending and word.endswith(ending[0]) and ending[0] not in vowels:
        return replace(script, ending=DOUBLE + ending[1:])
    return script


def _common(a: str, b: str) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
