"""Forms by beam search: the front of the word, the ending from right to left, the letters that go, the vowels that change."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from mercer.sequence_models.edits import DOUBLE, WHOLE, Script
from mercer.sequence_models.edits_search import particle_of, script_of
from mercer.sequence_models.inflection_columns import START, Columns, Front
from mercer.sequence_models.inflection_decision import Decision, Row
from mercer.sequence_models.inflection_words import Request

_UNLIKELY = -8.0
"""A class with a lower log-probability is not followed."""
_BEHIND = 6.0
"""Nor is a beginning that is so much less likely than the best ending that is done."""
_LONGEST_ENDING = 14


Step = tuple[int, Row, Hashable]
"""Whose step it is, what it looks at, and what was decided."""


class Partial(NamedTuple):
    """A script as far as it is decided, for the request number `owner`."""

    owner: int
    score: float
    front: Front
    word: str
    """The lemma, or what is left of it without its particle."""
    ending: str = ""
    cut: int = 0


class Search:
    """The four decisions in the order they are made; `fit` learns them from scripts, `forms` makes words by them.

    Parameters
    ----------
    columns : Columns
        What the decisions look at.
    particles : sequence of str
        Beginnings of words that can go elsewhere.
    width : int
        Beginnings that are kept at each step.
    """

    def __init__(self, columns: Columns, particles: Sequence[str], width: int) -> None:
        self.columns = columns
        self.particles = list(particles)
        self.width = width

    def fit(self, requests: Sequence[Request], scripts: Sequence[Script], decision: dict[str, int]) -> Search:
        """Learn from requests and the scripts that make their forms; `decision` holds the parameters of each `Decision`."""
        words = [self._word(lemma, script) for (lemma, _), script in zip(requests, scripts, strict=True)]
        self.cuts_ = sorted({word[len(word) - script.cut :] for word, script in zip(words, scripts, strict=True)})
        self.front_, self.ending_, self.cut_, self.change_ = (
            Decision(**decision).fit([row for _, row, _ in steps], [label for _, _, label in steps])
            for steps in self._steps(requests, scripts)
        )
        return self

    def particle(self, lemma: str) -> str:
        """The particle `lemma` begins with, if any."""
        return particle_of(lemma, self.particles)

    def forms(self, requests: Sequence[Request]) -> list[dict[str, float]]:
        """The forms found for each request and the log-probability of the likeliest script of each; else the lemma."""
        partials = self._fronts(requests)
        partials = self._endings(requests, partials)
        partials = self._cuts(requests, partials)
        found: list[dict[str, float]] = [{} for _ in requests]
        for partial, change, score in self._changes(requests, partials):
            lemma = requests[partial.owner].lemma
            form = _script(partial, change).apply(lemma, self.particle(lemma))
            if form is not None:
                found[partial.owner][form] = max(score, found[partial.owner].get(form, -np.inf))
        return [forms or {request.lemma: -np.inf} for forms, request in zip(found, requests, strict=True)]

    def scores(self, request: Request, forms: Sequence[str]) -> np.ndarray:
        """The log-probability of the script of each given form; −∞ where it has a step never seen in training."""
        particle = self.particle(request.lemma)
        scripts = [script_of(request.lemma, form, self.columns.vowels, particle) for form in forms]
        total = np.zeros(len(forms))
        decisions = (self.front_, self.ending_, self.cut_, self.change_)
        for decision, steps in zip(decisions, self._steps([request] * len(forms), scripts), strict=True):
            logs = decision.log_probabilities([row for _, row, _ in steps])
            number = {label: i for i, label in enumerate(decision.classes_)}
            for (owner, _, label), row in zip(steps, logs, strict=True):
                total[owner] += row[number[label]] if label in number else -np.inf
        return total

    # -- what a script decides ----------------------------------------------------------------------

    def _steps(self, requests: Sequence[Request], scripts: Sequence[Script]) -> tuple[list[Step], ...]:
        """The steps of each script, by decision: front, ending, cut, change."""
        columns = self.columns
        fronts: list[Step] = []
        endings: list[Step] = []
        cuts: list[Step] = []
        changes: list[Step] = []
        for i, ((lemma, tags), script) in enumerate(zip(requests, scripts, strict=True)):
            word, front, ending = self._word(lemma, script), (script.particle, script.prefix), script.ending
            fronts.append((i, columns.front(lemma, tags, self.particle(lemma)), front))
            for j in range(len(ending), -1, -1):
                endings.append((i, columns.ending(word, tags, front, ending[j:]), ending[j - 1] if j else START))
            cuts.append((i, columns.cut(word, tags, front, ending), script.cut))
            changes.append((i, columns.change(word, tags, front, ending, script.cut), (script.old, script.new)))
        return fronts, endings, cuts, changes

    # -- one decision after the other ---------------------------------------------------------------

    def _fronts(self, requests: Sequence[Request]) -> list[Partial]:
        particles = [self.particle(lemma) for lemma, _ in requests]
        rows = [self.columns.front(lemma, tags, p) for (lemma, tags), p in zip(requests, particles, strict=True)]
        found = []
        for owner, logs in enumerate(self.front_.log_probabilities(rows)):
            lemma, particle = requests[owner].lemma, particles[owner]
            for front, score in zip(self.front_.classes_, logs, strict=True):
                if front[0] == WHOLE or particle:
                    word = lemma if front[0] == WHOLE else lemma[len(particle) :]
                    found.append(Partial(owner, float(score), front, word))
        return self._kept(found)

    def _endings(self, requests: Sequence[Request], live: list[Partial]) -> list[Partial]:
        done: list[Partial] = []
        for _ in range(_LONGEST_ENDING + 1):
            if not live:
                break
            rows = [self.columns.ending(p.word, requests[p.owner].tags, p.front, p.ending) for p in live]
            longer = []
            for partial, letter, score in _classes(self.ending_, live, rows):
                if letter == START:
                    done.append(partial._replace(score=score))
                elif not partial.ending.startswith(DOUBLE):
                    longer.append(partial._replace(score=score, ending=letter + partial.ending))
            done = self._kept(done)
            live = self._promising(longer, done)
        return done

    def _cuts(self, requests: Sequence[Request], partials: list[Partial]) -> list[Partial]:
        """Letters go only if a word lost just these letters in training, unless nothing else is possible."""
        rows = [self.columns.cut(p.word, requests[p.owner].tags, p.front, p.ending) for p in partials]
        known: list[Partial] = []
        other: list[Partial] = []
        seen = set(self.cuts_)
        for partial, cut, score in _classes(self.cut_, partials, rows):
            word, longer = partial.word, partial._replace(score=score, cut=cut)
            if cut <= len(word) and not (cut and partial.ending.startswith(DOUBLE)):
                (known if word[len(word) - cut :] in seen else other).append(longer)
        served = {partial.owner for partial in known}
        return self._kept(known + [partial for partial in other if partial.owner not in served])

    def _changes(
        self, requests: Sequence[Request], partials: list[Partial]
    ) -> Iterator[tuple[Partial, tuple[str, str], float]]:
        rows = [self.columns.change(p.word, requests[p.owner].tags, p.front, p.ending, p.cut) for p in partials]
        yield from _classes(self.change_, partials, rows)

    def _kept(self, partials: Iterable[Partial]) -> list[Partial]:
        """The best of each owner."""
        groups: dict[int, list[Partial]] = {}
        for partial in partials:
            groups.setdefault(partial.owner, []).append(partial)
        return [p for group in groups.values() for p in sorted(group, key=lambda p: -p.score)[: self.width]]

    def _promising(self, partials: list[Partial], done: list[Partial]) -> list[Partial]:
        """Those that can still be among the best."""
        complete: dict[int, list[float]] = {}
        for partial in done:
            complete.setdefault(partial.owner, []).append(partial.score)
        floor = {
            owner: max(scores[0] - _BEHIND, scores[-1] if len(scores) == self.width else -np.inf)
            for owner, scores in complete.items()
        }
        return [p for p in self._kept(partials) if p.score > floor.get(p.owner, -np.inf)]

    def _word(self, lemma: str, script: Script) -> str:
        return lemma if script.particle == WHOLE else lemma[len(self.particle(lemma)) :]


def _classes(decision: Decision, partials: list[Partial], rows: list[Row]) -> Iterator[tuple[Partial, Any, float]]:
    """Each partial with each class that is likely enough, and the score of both together."""
    if partials:
        for partial, logs in zip(partials, decision.log_probabilities(rows), strict=True):
            for label, score in zip(decision.classes_, logs.tolist(), strict=True):
                if score > _UNLIKELY:
                    yield partial, label, partial.score + score


def _script(partial: Partial, change: tuple[str, str]) -> Script:
    particle, prefix = partial.front
    old, new = change
    return Script(particle, prefix, old, new, partial.cut, partial.ending)
