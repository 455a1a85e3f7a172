"""Methods for strings: the nearest word, by edit distance or by n-grams."""

from __future__ import annotations

from typing import Any

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist
from sklearn.feature_extraction.text import TfidfVectorizer

from experiments.rivals.problem import DICTIONARY, INFLECTION, Problem


def nearest(problem: Problem) -> list[Any]:
    """Take the word of the dictionary nearest in edit distance; else the output of the nearest training input.

    A form is made as the nearest lemma with the same tags makes it: by the same change of its ending.
    """
    if problem.kind == DICTIONARY:
        return _at(problem.candidates, _distances(problem.X_test, problem.candidates))
    if problem.kind == INFLECTION:
        return _inflected(problem)
    return _at(problem.y, _distances(problem.X_test, problem.X))


def tfidf(problem: Problem) -> list[Any]:
    """Take the nearest word, or the output of the nearest training input, by the cosine of tf-idf of 1- to 3-grams."""
    known = problem.candidates if problem.kind == DICTIONARY else problem.X
    outputs = problem.candidates if problem.kind == DICTIONARY else problem.y
    vectors = TfidfVectorizer(analyzer="char_wb", ngram_range=(1, 3), sublinear_tf=True, lowercase=False)
    words = vectors.fit_transform(known)
    return _at(outputs, -(vectors.transform(problem.X_test) @ words.T).toarray())


def _distances(words: Any, others: Any) -> np.ndarray:
    return cdist(words, others, scorer=Levenshtein.distance)


def _at(outputs: Any, distances: np.ndarray) -> list[Any]:
    return [outputs[i] for i in distances.argmin(axis=1)]


def _inflected(problem: Problem) -> list[str]:
    """Change the ending as the nearest lemma (longest common ending, then edit distance) with the same tags does."""
    lemmas = [lemma for lemma, _ in problem.X]
    changes = [_change(lemma, form) for lemma, form in zip(lemmas, problem.y, strict=True)]
    forms = []
    for lemma, tags in problem.X_test:
        own = [i for i, (_, known) in enumerate(problem.X) if known == tags and lemma.endswith(changes[i][0])]
        near = min(
            own,
            key=lambda i: (-_common(lemma[::-1], lemmas[i][::-1]), Levenshtein.distance(lemma, lemmas[i])),
            default=None,
        )
        old, new = ("", "") if near is None else changes[near]
        forms.append(lemma[: len(lemma) - len(old)] + new)
    return forms


def _change(lemma: str, form: str) -> tuple[str, str]:
    """Return the ending that `lemma` loses and the one that `form` has instead."""
    size = _common(lemma, form)
    return lemma[size:], form[size:]


def _common(one: str, two: str) -> int:
    """Return the length of the longest common beginning."""
    return next((i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
