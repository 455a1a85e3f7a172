"""Parts of the models of words: the errors on training words left out, with every score, and without each of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from experiments.beyond.g2p import LOW
from experiments.beyond.joint_runs import JointRuns
from experiments.experiment import Experiment, Outcome, Piece
from mercer.datasets import load_pronunciations
from mercer.datasets.words import LANGUAGES, load_inflection
from mercer.sequence_models.aligned import PULL, AlignedSequences, trust_in_scores
from mercer.sequence_models.inflection import as_requests, vowels_in
from mercer.sequence_models.inflection_decision import Decision
from mercer.sequence_models.inflection_models import PRIOR, SCORES, FormModels
from mercer.sequence_models.symbols import Chunk
from mercer.sequence_models.word_models import WORD_SCORES

FOLDS = {"g2p": 5, "inflection": 4}
GROUPS = {
    "g2p": ("network backwards", "network forwards", "ridge", *WORD_SCORES),
    "inflection": SCORES,
}
"""Scores that are left out, one at a time."""
WHOLE, FIRST, ORACLE = "all scores", "weights before learning", "best of the candidates"
FREER, JOINT = "a penalty of 30 on the weights", "with joint n-grams"
WRONG, DIFFERENCE = "wrong, %", "difference to all scores, points"
SEED = 1

Lists = list[tuple[np.ndarray, np.ndarray]]  # for each word, the scores of candidates and whether each is right


class WordParts(Experiment):
    """Errors on training words left out, by the scores that rank the candidates."""

    name = "word-parts"
    title = "Parts of the models of words"
    source = "Not from the papers: by these rows it was settled which scores rank the answers of models of words."
    protocol = (
        "Training words alone. Pronunciation (g2p): six languages with 800 words, five folds. Inflection: four languages with "
        "1000 words (medium), four folds, lemmas of a fold left out together. A model is fitted to the other folds, and lists "
        "candidates with all scores for the words of its fold. In the rows 'without', the same candidates are ranked without "
        "a score, with weights that are learned again from the words that the model itself held out. Joint n-grams (JointRuns: "
        "runs of up to six units of one to three letters with their phones, summed over all cuts) were judged by these rows and "
        "left out of the model. Values are means over languages; the standard errors of differences are those of paired words."
    )
    digits = 2

    def pieces(self, small: bool) -> list[Piece]:
        """Return a piece for each language and fold; the small version has one, of a few words."""
        if small:
            return [Piece("g2p-rum-0", {"task": "g2p", "language": "rum", "fold": 0, "size": 60})]
        languages = {"g2p": LOW, "inflection": LANGUAGES}
        return [
            Piece(f"{task}-{language}-{fold}", {"task": task, "language": language, "fold": fold})
            for task, folds in FOLDS.items()
            for fold in range(folds)
            for language in languages[task]
        ]

    def seeds(self, small: bool) -> list[int]:
        """Return the seed of the folds."""
        return [SEED]

    def run(self, piece: Piece) -> Outcome:
        """Fit to the other folds, and rank the candidates of one fold by each set of scores."""
        task, language, fold = (piece.settings[name] for name in ("task", "language", "fold"))
        lists_of = pronounced if task == "g2p" else inflected
        with threadpool_limits(1):
            names, first, strength, held_out, new = lists_of(language, fold, piece.settings.get("size"))
        model = [name for name in names if name != JOINT]
        wrong = {FIRST: _wrong(first, new), ORACLE: [int(not right.any()) for _, right in new]}
        ranked = {WHOLE: (model, strength), FREER: (model, 30.0)}
        ranked |= {f"without {out}": ([name for name in model if name != out], strength) for out in GROUPS[task]}
        if JOINT in names:
            ranked[JOINT] = (names, strength)
        for method, (scores, penalty) in ranked.items():
            kept, trust = [names.index(name) for name in scores], np.zeros(len(names))
            lists = [each[:, kept] for each, _ in held_out], [right for _, right in held_out]
            trust[kept] = trust_in_scores(*lists, first[kept], penalty)
            wrong[method] = _wrong(trust, new)
        return {"task": task, "language": language, "wrong": wrong}

    def rows(self, outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
        """Return the errors, means over languages, and their differences to the whole."""
        rows = []
        for task in dict.fromkeys(outcome["task"] for outcome in outcomes):
            mine = [outcome for outcome in outcomes if outcome["task"] == task]
            for method in (WHOLE, *(name for name in mine[0]["wrong"] if name != WHOLE)):
                rows.append(_row(mine, method, WRONG, None) | {"task": task})
                if method != WHOLE:
                    rows.append(_row(mine, method, DIFFERENCE, WHOLE) | {"task": task})
        return rows

    def notes(self, rows: list[dict[str, Any]]) -> list[str]:
        """Say how many points each score saves."""
        saved = [row for row in rows if row["metric"] == DIFFERENCE and row["method"].startswith("without")]
        return [f"{row['task']}, {row['method']}: {row['value']:+.2f} ± {row['error']:.2f} points." for row in saved]


def pronounced(language: str, fold: int, size: int | None) -> tuple[list[str], np.ndarray, float, Lists, Lists]:
    """Return the names of scores, their weights before learning and the penalty, and lists of words held out and new."""
    data = load_pronunciations(language).train
    words, phones = data.words[:size], data.phones[:size]
    order = np.random.default_rng(SEED).permutation(len(words))
    new = order[fold :: FOLDS["g2p"]].tolist()
    rest = [i for i in order.tolist() if i not in set(new)]
    known = [tuple(words[i]) for i in rest], [tuple(phones[i]) for i in rest]
    model = _Sequences().fit(*known)
    names = [*(part.kind for part in model.models_), *WORD_SCORES, JOINT]
    out = {word for word, _, _ in model.held_out_words}
    learned = [pair for pair in zip(*known, strict=True) if pair[0] not in out]
    joint = JointRuns().choose([x for x, _ in learned], [y for _, y in learned], model.aligner_)
    held_out = [
        (np.column_stack([scores, joint.log_probabilities(word, found)]), right)
        for (word, found, scores), (_, right) in zip(model.held_out_words, model.held_out_lists, strict=True)
    ]
    joint = joint.fit(*known, joint.aligner_.fit(*known))
    lists = []
    for i, each in zip(new, model.candidates([tuple(words[i]) for i in new]), strict=True):
        truth = tuple(phones[i])
        scores = joint.log_probabilities(tuple(words[i]), list(each.objects))
        lists.append((np.column_stack([each.scores, scores]), _right(each.objects, truth)))
    return names, np.append(model.first_trust(), 0.0), PULL / max(1, len(held_out)), held_out, lists


def inflected(language: str, fold: int, size: int | None) -> tuple[list[str], np.ndarray, float, Lists, Lists]:
    """Return the same for inflected forms."""
    data = load_inflection(language, "medium").train
    requests, forms = as_requests(data.requests)[:size], data.forms[:size]
    order = np.random.default_rng(SEED).permutation(len(forms))
    new = order[fold :: FOLDS["inflection"]].tolist()
    lemmas = {requests[i].lemma for i in new}
    rest = [i for i in order.tolist() if requests[i].lemma not in lemmas]
    train, made = [requests[i] for i in rest], [forms[i] for i in rest]
    model = _Forms(Decision(), vowels_in([*(lemma for lemma, _ in train), *made], "aeiou"), 8, 0)
    model.fit(train, made)
    found = model.lists([requests[i] for i in new])
    lists = [(each.scores, _right(each.forms, forms[i])) for i, each in zip(new, found, strict=True)]
    return list(SCORES), PRIOR, 10.0, model.held_out_lists, lists


class _Sequences(AlignedSequences):
    """Keeps the lists that weights are learned from, and the candidates."""

    held_out_lists: Lists
    held_out_words: list[Any]

    def learned_trust(self, scores: list[np.ndarray], correct: list[np.ndarray]) -> np.ndarray:
        self.held_out_lists = list(zip(scores, correct, strict=True))
        return super().learned_trust(scores, correct)

    def _constructed(self, word: Chunk) -> tuple[Sequence[Chunk], np.ndarray]:
        found, scores = super()._constructed(word)
        if not hasattr(self, "trust_"):  # while the weights are learned
            self.held_out_words = [*getattr(self, "held_out_words", []), (word, found, scores)]
        return found, scores


class _Forms(FormModels):
    """Keeps the lists that weights are learned from."""

    held_out_lists: Lists

    def learned_trust(self, scores: list[np.ndarray], correct: list[np.ndarray]) -> np.ndarray:
        self.held_out_lists = list(zip(scores, correct, strict=True))
        return super().learned_trust(scores, correct)


def _right(found: Iterable[Any], truth: Any) -> np.ndarray:
    return np.asarray([each == truth for each in found], dtype=bool)


def _wrong(trust: np.ndarray, lists: Lists) -> list[int]:
    return [int(not right[np.argmax(scores @ trust)]) for scores, right in lists]


def _row(outcomes: Sequence[Outcome], method: str, metric: str, other: str | None) -> dict[str, Any]:
    """Return the mean over languages of the errors of a method, or of their difference to another, with its standard error."""
    values: dict[str, list[float]] = {}
    for outcome in outcomes:
        less = outcome["wrong"][other] if other else [0] * len(outcome["wrong"][method])
        own = [100.0 * (a - b) for a, b in zip(outcome["wrong"][method], less, strict=True)]
        values.setdefault(outcome["language"], []).extend(own)
    each = [np.asarray(value) for value in values.values()]
    error = float(np.sqrt(sum(value.var() / len(value) for value in each))) / len(each)
    return {"method": method, "metric": metric, "value": float(np.mean([v.mean() for v in each])), "error": error}
