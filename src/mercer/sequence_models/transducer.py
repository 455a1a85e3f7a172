"""Forms letter by letter: copy, drop or write, by a log-linear model of the lemma, the tags and what is written."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mercer.sequence_models.edit_alignment import DROP as DROPPED
from mercer.sequence_models.edit_alignment import MATCH, EditAligner
from mercer.sequence_models.edits import Vowels
from mercer.sequence_models.harmony import Harmony
from mercer.sequence_models.symbols import UNKNOWN, Alphabet
from mercer.sequence_models.tag_views import Tags, TagViews
from mercer.sequence_models.transducer_beam import beam, forced
from mercer.sequence_models.transducer_features import COPY, DROP, TEMPLATES, WRITE, collect, slot_of
from mercer.sequence_models.transducer_learning import descend, label_lists

_FEWEST = 2  # steps that a feature is seen in to have weights
_SLOWING = 0.9  # share of its speed that the descent loses on the way
_ROOM = 40  # most letters that a form has more than its lemma, unless training forms have more
_MOST_SYLLABLES = 4


@dataclass
class Transducer:
    r"""Reads a lemma from left to right and copies a letter, drops it, or writes another one.

    .. math:: p(a \mid \text{state}) \propto \exp \Big( \sum_{f \in F(\text{state})} \; \sum_{l \in \text{labels}(a)} w_{fl} \Big)

    The features F are contexts (letters read, to be read and written, what was done since the last copy, vowel harmony) each with
    every view of the tags (`TagViews`), so that new combinations of tags are put together from parts of them. Labels of a written
    letter are the letter, the letter without accents, and the repetition of a letter nearby. Weights are learned from the actions
    that an `EditAligner` finds, by stochastic descent.

    Parameters
    ----------
    epochs : int
        Passes through the training words.
    rate : float
        Length of the first steps, of the sum of weights.
    seed : int
        Seed of the order of the steps.
    """

    epochs: int = 8
    rate: float = 4.0
    seed: int = 0

    def fit(self, lemmas: Sequence[str], tags: Sequence[Tags], forms: Sequence[str], vowels: Vowels) -> Transducer:
        """Learn from lemmas with tags, and their forms."""
        self.vowels, self.harmony_ = vowels, Harmony().fit([*lemmas, *forms], vowels)
        self._number_letters([*lemmas, *forms])
        X, Y = [self.codes(lemma) for lemma in lemmas], [self.codes(form) for form in forms]
        self.aligner_ = EditAligner().fit(X, Y, len(self.groups_))
        self.views_ = TagViews().fit(tags)
        self.room_ = max([_ROOM, *(len(form) - len(lemma) for lemma, form in zip(lemmas, forms, strict=True))])
        actions = [self.actions(lemma, form) for lemma, form in zip(lemmas, forms, strict=True)]
        views = [self.views_.codes(each) for each in tags]
        self._learn(X, actions, views, np.asarray([self.info(lemma) for lemma in lemmas]))
        return self

    def forms(self, lemma: str, tags: Tags, width: int) -> dict[str, float]:
        """Return the forms that a beam search finds, with their log-probabilities."""
        x, model = self.codes(lemma), self._model()
        limit = len(x) + self.room_
        written, lengths, scores = beam(x, self.views_.codes(tags), self.info(lemma), *model, width, limit)
        unknown = [letter for letter, code in zip(lemma, x, strict=True) if code == self._unknown]
        found: dict[str, float] = {}
        for row, length, score in zip(written, lengths, scores, strict=True):
            rest = iter(unknown)
            form = "".join(next(rest, "") if c == self._unknown else self._symbols[c - 1] for c in row[:length])
            found[form] = float(np.logaddexp(found.get(form, -np.inf), score))
        return found

    def scores(self, lemma: str, tags: Tags, forms: Sequence[str]) -> np.ndarray:
        """Return the log-probability of the likeliest edits from the lemma to each of some forms."""
        x, model = self.codes(lemma), self._model()
        actions = [self.actions(lemma, form) for form in forms]
        order = sorted(range(len(forms)), key=lambda i: actions[i].tolist())
        found = np.empty(len(forms))
        if forms:
            rows, ends = _joined([actions[i] for i in order])
            found[order] = forced(x, self.views_.codes(tags), self.info(lemma), *model, rows, ends[1:])
        return found

    def actions(self, lemma: str, form: str) -> np.ndarray:
        """Return the likeliest actions from a lemma to a form."""
        x, y = self.codes(lemma), self.codes(form)
        return actions_of(x, y, self.aligner_.align(x, y))

    def _number_letters(self, words: Sequence[str]) -> None:
        """Number letters from 1; 0 is the end of a word, and the last number stands for unknown letters."""
        self.letters_ = Alphabet(sorted({letter for word in words for letter in word}))
        self._remember()
        bases = Alphabet(["", *(_base(letter) for letter in self._symbols)])
        self.groups_ = np.asarray([0, *bases.codes(map(_base, self._symbols)), 0])
        self.kinds_ = np.asarray([0, *(int(letter in self.vowels) for letter in self._symbols), 0])

    def _remember(self) -> None:
        self._symbols = self.letters_.symbols
        self._unknown = len(self._symbols) + 1

    def codes(self, word: str) -> np.ndarray:
        """Return the numbers of letters: from 1, the last for those that are unknown."""
        codes = self.letters_.codes(word)
        return np.where(codes == UNKNOWN, self._unknown, codes + 1)

    def info(self, lemma: str) -> np.ndarray:
        """Return the columns of a lemma: harmony, the last two vowels, syllables, the last three letters."""
        vowels = [letter for letter in lemma if letter in self.vowels][:-3:-1]
        last = self.codes("".join([*vowels, *lemma[:-4:-1]]))
        found = np.zeros(7, dtype=np.int64)
        found[0], found[3] = self.harmony_.of(lemma), min(self.vowels.syllables(lemma), _MOST_SYLLABLES)
        found[1 : 1 + len(vowels)] = last[: len(vowels)]
        found[4 : 4 + min(len(lemma), 3)] = last[len(vowels) :]
        return found

    def _model(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        return self.kinds_, self.groups_, self.keys_, self.rows_, self.starts_, self.labels_, self.weights_

    def _learn(self, X: list[np.ndarray], actions: list[np.ndarray], views: list[np.ndarray], info: np.ndarray) -> None:
        sizes, width = np.asarray([len(each) for each in actions]), np.asarray([len(each) for each in views])
        taken, entries = np.concatenate(actions), TEMPLATES * int(sizes @ width)
        table = 1 << int(np.ceil(np.log2(1.5 * entries + 16)))
        keys, row_of = np.zeros(table, dtype=np.uint64), np.zeros(table, dtype=np.int32)
        rows, row_starts = np.zeros(entries, dtype=np.int32), np.zeros(len(taken) + 1, dtype=np.int64)
        counts, near = np.zeros(entries, dtype=np.int32), np.zeros((len(taken), 4), dtype=np.int64)
        words = (*_joined(X), *_joined(actions), *_joined(views))
        known = collect(*words, self.kinds_, info, keys, row_of, rows, row_starts, counts, near)
        number, counts = WRITE + len(self.groups_), counts[:known]
        per_template = np.repeat(width, sizes)
        lists = label_lists(rows, row_starts, per_template, counts, taken, near, number, self.groups_, _FEWEST)
        starts, labels = lists
        weights = np.zeros(len(labels), dtype=np.float32)
        rng = np.random.default_rng(self.seed)
        for epoch in range(self.epochs):
            rate = self.rate * (1.0 - _SLOWING * epoch / self.epochs)
            order = rng.permutation(len(taken))
            descend(order, rows, row_starts, taken, near, starts, labels, weights, number, self.groups_, rate)
        self.starts_, self.labels_, self.weights_ = starts, labels, weights
        self._keep(keys, row_of)

    def _keep(self, keys: np.ndarray, row_of: np.ndarray) -> None:
        """Keep the features that have weights."""
        used = np.flatnonzero(keys)
        used = used[np.diff(self.starts_)[row_of[used]] > 0]
        table = 1 << int(np.ceil(np.log2(2 * len(used) + 16)))
        self.keys_, self.rows_ = np.zeros(table, dtype=np.uint64), np.zeros(table, dtype=np.int32)
        for key, row in zip(keys[used], row_of[used], strict=True):
            place = slot_of(self.keys_, key)
            self.keys_[place], self.rows_[place] = key, row


def actions_of(x: np.ndarray, y: np.ndarray, path: np.ndarray) -> np.ndarray:
    """Return the actions of a path: between two copies, letters are dropped before others are written."""
    found: list[int] = []
    written: list[int] = []
    i = j = 0
    for state in path:
        kept = state == MATCH and x[i] == y[j]
        if kept:
            found += [*written, COPY]
            written = []
        elif state in (MATCH, DROPPED):
            found.append(DROP)
        if state != DROPPED and not kept:
            written.append(WRITE + int(y[j]))
        i, j = i + int(state in (MATCH, DROPPED)), j + int(state != DROPPED)
    return np.asarray([*found, *written, COPY], dtype=np.int64)


def _base(letter: str) -> str:
    return unicodedata.normalize("NFD", letter.lower())[0]


def _joined(arrays: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    return np.concatenate(arrays), np.cumsum([0, *map(len, arrays)])
