"""The cheapest script between a lemma and a form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from mercer.sequence_models.edits import DOUBLE, KEPT, MOVED, WHOLE, Script, Vowels, changed

_LONGEST_PREFIX = 6
_LONGEST_CHANGE = 2
_SHORTEST_REST = 3
"""Letters of a word beside its particle."""
_PREFIX_COST, _CHANGE_COST, _CHANGED_LETTER_COST, _PARTICLE_COST, _LOST_STEM_COST = 2.0, 1.5, 0.25, 1.5, 4.0
"""A letter cut or added at the end costs 1; a stem of fewer than two letters is hardly one."""


def particles_moved(lemmas: Sequence[str], forms: Sequence[str]) -> list[str]:
    """The beginnings of lemmas that some form has as its last word.

    Examples
    --------
    >>> particles_moved(["aufgeben", "geben", "festhalten"], ["gibt auf", "gibt", "hält fest"])
    ['auf', 'fest']
    """
    found = set()
    for lemma, form in zip(lemmas, forms, strict=True):
        last = form.rpartition(" ")[2]
        if " " in form and last and lemma.startswith(last) and len(lemma) >= len(last) + _SHORTEST_REST:
            split = _cost(lemma[len(last) :], form[: -len(last) - 1]) + _PARTICLE_COST
            if split < _cost(lemma, form):
                found.add(last)
    return sorted(found)


def particle_of(lemma: str, particles: Sequence[str]) -> str:
    """The longest particle that `lemma` begins with; empty where there is none."""
    fitting = (p for p in particles if lemma.startswith(p) and len(lemma) >= len(p) + _SHORTEST_REST)
    return max(fitting, key=len, default="")


def script_of(lemma: str, form: str, vowels: Vowels, particle: str = "") -> Script:
    """The script that makes `form` of `lemma` at least cost.

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
        if form.endswith(f" {particle}"):
            within = _scripts(rest, form[: -len(particle) - 1], vowels)
            options += [(cost + _PARTICLE_COST, replace(script, particle=MOVED)) for cost, script in within]
        if form.startswith(particle):
            within = _scripts(rest, form[len(particle) :], vowels)
            options += [(cost + _PARTICLE_COST, replace(s, particle=KEPT)) for cost, s in within if s.prefix]
    script = min(options, key=lambda option: option[0])[1]
    return _with_double(script, lemma if script.particle == WHOLE else lemma[len(particle) :], vowels)


def _cost(lemma: str, form: str) -> float:
    return min(cost for cost, _ in _scripts(lemma, form, Vowels("")))


def _scripts(word: str, form: str, vowels: Vowels) -> Iterator[tuple[float, Script]]:
    """Scripts and what they cost; of two that cost the same the first is meant."""
    for length in range(min(_LONGEST_PREFIX, len(form)) + 1):
        prefix, body = form[:length], form[length:]
        common = _common(word, body)
        cut, ending = len(word) - common, body[common:]
        cost = _PREFIX_COST * length + cut + len(ending) + _LOST_STEM_COST * (common < 2)
        yield cost, Script(prefix=prefix, cut=cut, ending=ending)
        for start in (common, common - 1):
            if start >= 0:
                for cost, script in _changes(word, body, start, vowels):
                    yield cost + _PREFIX_COST * length, replace(script, prefix=prefix)


def _changes(word: str, body: str, start: int, vowels: Vowels) -> Iterator[tuple[float, Script]]:
    """Scripts that change vowels at `start`, where `word` and `body` agree up to there, and keep a consonant after."""
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
    """A consonant added once more after the whole word, written so."""
    ending = script.ending
    if script.cut == 0 and ending and word.endswith(ending[0]) and ending[0] not in vowels:
        return replace(script, ending=DOUBLE + ending[1:])
    return script


def _common(a: str, b: str) -> int:
    length = 0
    while length < min(len(a), len(b)) and a[length] == b[length]:
        length += 1
    return length
