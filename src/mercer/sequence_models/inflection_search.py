"""Forms by beam search over the steps of a script, and the row of symbols that each step looks at.

The steps: the front of the word, the ending from right to left, the letters dropped, the vowels changed.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from mercer.sequence_models.edits import (
    DOUBLE,
    KEPT,
    MOVED,
    WHOLE,
    Script,
    Vowels,
    particle_of,
    prefix_pieces,
    script_of,
)
from mercer.sequence_models.harmony import Harmony
from mercer.sequence_models.inflection_decision import Decision, Row

START, STOP, END = "^", "$", ""
_FAR = 3  # numbers of syllables are distinguished up to this one
_UNLIKELY = -6.0  # a class with a lower log-probability is not followed
_BEHIND = 6.0  # a partial script that is so much less likely than the best complete ending is dropped
_LONGEST_ENDING = 14

_MOST_PIECES = 8  # of a prefix
_TREATMENTS = (WHOLE, MOVED, KEPT)

Front = tuple[str, ...]  # the treatment of the particle, and the prefix; in pieces while they are put together
Step = tuple[int, Row, Hashable]  # the request of a step, the row it looks at, and its class


class Request(NamedTuple):
    """A lemma, and the tags of the form asked for."""

    lemma: str
    tags: tuple[str, ...]


class Partial(NamedTuple):
    """A partial script for the request number `owner`."""

    owner: int
    score: float
    front: Front
    word: str  # the lemma, or the lemma without its particle
    ending: str = ""
    cut: int = 0


class Columns:
    """The rows of the four decisions, of which the tags are the first symbol.

    Letters are counted from the end of the word, and the ending is written from its last letter to its first: tags mark the end
    of a form, and changes of the stem (a dropped *e*, a doubled consonant) are decided when the ending is known.
    """

    def __init__(self, tags: Sequence[tuple[str, ...]], vowels: Vowels, harmony: Harmony) -> None:
        self.tags = distinct_tags(tags)
        self.vowels, self.harmony = vowels, harmony

    def front(self, lemma: str, tags: tuple[str, ...], particle: str, before: Row) -> Row:
        """Return the row for the treatment of the particle, if nothing is `before`, or for the next piece of the prefix."""
        seen = (before, before[-1:], len(before))
        return (tags, particle, *(lemma[i : i + 1] for i in range(3)), *_last(lemma, 3), *seen)

    def ending(self, word: str, tags: tuple[str, ...], front: Front, written: str) -> Row:
        """Return the row for the next letter of the ending, to the left of what is `written`."""
        right = written + STOP
        seen = (right[:1], right[:2], right[1:2], right[2:3], min(len(written), 4))
        near = (*_last(word, 3), *self._kinds(word, 2), self._syllables(word), word[-2:], self.harmony.of(word))
        return (tags, front, *near, *seen)

    def cut(self, word: str, tags: tuple[str, ...], front: Front, ending: str) -> Row:
        """Return the row for the number of letters dropped."""
        seen = (ending[:1], ending[:2], ending, self.vowels.kind(ending[:1]))
        return (tags, front, *seen, *_last(word, 5), *self._kinds(word, 3), self._syllables(word))

    def change(self, word: str, tags: tuple[str, ...], front: Front, ending: str, cut: int) -> Row:
        """Return the row for the change of the last vowels of the stem."""
        near = self.vowels.last_in(word[: len(word) - cut])
        short = min(self._syllables(word), 2)
        return (tags, front, cut, *near, near[2][:1], ending, ending[:1], *_last(word, 3), short)

    def _kinds(self, word: str, n: int) -> Row:
        return tuple(self.vowels.kind(letter) for letter in _last(word, n))

    def _syllables(self, word: str) -> int:
        return min(self.vowels.syllables(word), _FAR)


def distinct_tags(tags: Sequence[tuple[str, ...]]) -> list[str]:
    """Return the tags that tell requests apart: of tags that always come together the first, and none that always comes."""
    of_whom: dict[tuple[int, ...], str] = {}
    for tag in sorted({tag for each in tags for tag in each}):
        of_whom.setdefault(tuple(i for i, each in enumerate(tags) if tag in each), tag)
    return [tag for owners, tag in of_whom.items() if len(owners) < len(tags)]


def _last(word: str, n: int) -> tuple[str, ...]:
    """Return the last n letters, the very last first; empty if the word is shorter."""
    return tuple(word[len(word) - i : len(word) - i + 1] if i <= len(word) else "" for i in range(1, n + 1))


@dataclass
class Search:
    """The four decisions in the order they are made; `fit` learns them from scripts, `forms` makes words."""

    columns: Columns  # the rows the decisions look at
    particles: list[str]  # beginnings of words that can move
    width: int  # partial scripts kept at each step

    def fit(self, requests: Sequence[Request], scripts: Sequence[Script], decision: Decision) -> Search:
        """Learn from requests and the scripts that make their forms; `decision` has the parameters of all decisions."""
        words = [self._word(lemma, script) for (lemma, _), script in zip(requests, scripts, strict=True)]
        self.cuts_ = sorted({word[len(word) - script.cut :] for word, script in zip(words, scripts, strict=True)})
        decision = replace(decision, tags=self.columns.tags)
        self.front_, self.ending_, self.cut_, self.change_ = (
            copy(decision).fit([row for _, row, _ in steps], [label for _, _, label in steps])
            for steps in self._steps(requests, scripts)
        )
        return self

    def particle(self, lemma: str) -> str:
        """Return the particle that `lemma` begins with, or an empty string."""
        return particle_of(lemma, self.particles)

    def forms(self, requests: Sequence[Request]) -> list[dict[str, float]]:
        """Return the forms found for each request, with the log-probability of the likeliest script of each; else the lemma."""
        partials = self._cuts(requests, self._endings(requests, self._fronts(requests)))
        found: list[dict[str, float]] = [{} for _ in requests]
        rows = [self.columns.change(p.word, requests[p.owner].tags, p.front, p.ending, p.cut) for p in partials]
        for partial, change, score in _classes(self.change_, partials, rows):
            lemma = requests[partial.owner].lemma
            (particle, prefix), (old, new) = partial.front, change
            script = Script(particle, prefix, old, new, partial.cut, partial.ending)
            form = script.apply(lemma, self.particle(lemma))
            if form is not None:
                found[partial.owner][form] = max(score, found[partial.owner].get(form, -np.inf))
        return [forms or {request.lemma: -np.inf} for forms, request in zip(found, requests, strict=True)]

    def scores(self, requests: Sequence[Request], forms: Sequence[str]) -> np.ndarray:
        """Return the log-probability of the script from each request to its form; −∞ if it has a step never seen in training."""
        scripts = [
            script_of(lemma, form, self.columns.vowels, self.particle(lemma))
            for (lemma, _), form in zip(requests, forms, strict=True)
        ]
        total = np.zeros(len(forms))
        decisions = (self.front_, self.ending_, self.cut_, self.change_)
        for decision, steps in zip(decisions, self._steps(requests, scripts), strict=True):
            logs = decision.log_probabilities([row for _, row, _ in steps])
            number = {label: i for i, label in enumerate(decision.classes_)}
            for (owner, _, label), row in zip(steps, logs, strict=True):
                total[owner] += row[number[label]] if label in number else -np.inf
        return total

    def _steps(self, requests: Sequence[Request], scripts: Sequence[Script]) -> tuple[list[Step], ...]:
        """Return the steps of each script, by decision: front, ending, cut, change."""
        columns = self.columns
        steps: tuple[list[Step], ...] = ([], [], [], [])
        fronts, endings, cuts, changes = steps
        for i, ((lemma, tags), script) in enumerate(zip(requests, scripts, strict=True)):
            word, front, ending = self._word(lemma, script), (script.particle, script.prefix), script.ending
            pieces = (script.particle, *prefix_pieces(script.prefix), END)
            for j, piece in enumerate(pieces):
                fronts.append((i, columns.front(lemma, tags, self.particle(lemma), pieces[:j]), piece))
            for j in range(len(ending), -1, -1):
                endings.append((i, columns.ending(word, tags, front, ending[j:]), ending[j - 1] if j else START))
            cuts.append((i, columns.cut(word, tags, front, ending), script.cut))
            changes.append((i, columns.change(word, tags, front, ending, script.cut), (script.old, script.new)))
        return steps

    def _fronts(self, requests: Sequence[Request]) -> list[Partial]:
        live = [Partial(owner, 0.0, (), lemma) for owner, (lemma, _) in enumerate(requests)]
        done: list[Partial] = []
        for _ in range(_MOST_PIECES):
            if not live:
                break
            rows = [
                self.columns.front(lemma, tags, self.particle(lemma), partial.front)
                for partial in live
                for lemma, tags in [requests[partial.owner]]
            ]
            longer = []
            for partial, piece, score in _classes(self.front_, live, rows):
                lemma = requests[partial.owner].lemma
                if piece == END:
                    treatment, *pieces = partial.front or (WHOLE,)
                    word = lemma if treatment == WHOLE else lemma[len(self.particle(lemma)) :]
                    done.append(Partial(partial.owner, score, (treatment, "".join(pieces)), word))
                elif partial.front or piece == WHOLE or (piece in _TREATMENTS and self.particle(lemma)):
                    longer.append(partial._replace(score=score, front=(*partial.front, piece)))
            done = self._kept(done)
            live = self._promising(longer, done)
        return done

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
        """Drop letters only if a training lemma lost the same letters, unless nothing else is possible."""
        rows = [self.columns.cut(p.word, requests[p.owner].tags, p.front, p.ending) for p in partials]
        possible = [
            partial._replace(score=score, cut=cut)
            for partial, cut, score in _classes(self.cut_, partials, rows)
            if cut <= len(partial.word) and not (cut and partial.ending.startswith(DOUBLE))
        ]
        seen = set(self.cuts_)
        known = [p for p in possible if p.word[len(p.word) - p.cut :] in seen]
        served = {partial.owner for partial in known}
        return self._kept(known + [partial for partial in possible if partial.owner not in served])

    def _kept(self, partials: Iterable[Partial]) -> list[Partial]:
        """Keep the best partial scripts of each request."""
        groups: dict[int, list[Partial]] = {}
        for partial in partials:
            groups.setdefault(partial.owner, []).append(partial)
        return [p for group in groups.values() for p in sorted(group, key=lambda p: -p.score)[: self.width]]

    def _promising(self, partials: list[Partial], done: list[Partial]) -> list[Partial]:
        """Keep the partial scripts that can still be among the best."""
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
    """Yield each partial script with each class that is likely enough, and the score of both together."""
    if partials:
        logs = decision.log_probabilities(rows)
        places, labels = np.nonzero(logs > _UNLIKELY)
        for place, label, score in zip(places.tolist(), labels.tolist(), logs[places, labels].tolist(), strict=True):
            partial = partials[place]
            yield partial, decision.classes_[label], partial.score + score
