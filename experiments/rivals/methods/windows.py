"""Letter by letter: each letter of a word, in its window of neighbours, is classified into the symbols it stands for."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

from experiments.rivals.methods.tuning import SEED
from experiments.rivals.problem import INFLECTION, Problem

WINDOW, LONGEST, ROUNDS, END = 4, 3, 5, "</w>"
Chunk = tuple[str, ...]


def logistic_windows(problem: Problem) -> list[Any]:
    """Logistic regression (C = 3) on windows of four letters to each side, and on tags where there are any."""
    return _predicted(problem, LogisticRegression(C=3.0, max_iter=300))


def forest_windows(problem: Problem) -> list[Any]:
    """300 extremely randomised trees on the same windows."""
    return _predicted(problem, ExtraTreesClassifier(300, random_state=SEED, n_jobs=problem.threads))


def _predicted(problem: Problem, model: Any) -> list[Any]:
    words, tests = _with_end(problem, problem.X), _with_end(problem, problem.X_test)
    chunks = aligned([letters for letters, _ in words], [list(output) for output in problem.y])
    known = [
        (row, " ".join(chunk))
        for word, own in zip(words, chunks, strict=True)
        if own
        for row, chunk in zip(_rows(*word), own, strict=True)
    ]
    vectors = DictVectorizer()
    X = vectors.fit_transform([row for row, _ in known])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, [chunk for _, chunk in known])
    outputs = []
    for word in tests:
        symbols = [symbol for chunk in model.predict(vectors.transform(_rows(*word))) for symbol in chunk.split()]
        outputs.append("".join(symbols) if problem.kind == INFLECTION else symbols)
    return outputs


def _with_end(problem: Problem, X: Any) -> list[tuple[list[str], list[str]]]:
    """Return letters with an end mark, and tags, of each input."""
    pairs = X if problem.kind == INFLECTION else [(word, "") for word in X]
    return [([*word, END], [tag for tag in tags.split(";") if tag]) for word, tags in pairs]


def _rows(letters: Sequence[str], tags: Sequence[str]) -> list[dict[str, Any]]:
    """Return the columns of each letter: its window, letters from the end, tags alone and with the letter."""
    rows = []
    for place, letter in enumerate(letters):
        row: dict[str, Any] = {"end": str(min(len(letters) - 1 - place, WINDOW))}
        for shift in range(-WINDOW, WINDOW + 1):
            at = place + shift
            row[f"letter {shift}"] = letters[at] if 0 <= at < len(letters) else ""
        for tag in tags:
            row |= {f"tag {tag}": 1, f"tag {tag} and letter": letter, f"tag {tag} and end": row["end"]}
        rows.append(row)
    return rows


def aligned(inputs: Sequence[Sequence[str]], outputs: Sequence[Sequence[str]]) -> list[list[Chunk] | None]:
    """Cut each output into one chunk of 0 to 3 symbols per input symbol, by hard EM on counts of (symbol, chunk).

    None where an output is too long to be cut.

    Examples
    --------
    >>> aligned(["ab", "b", "a"], ["xy", "y", "x"])[0]
    [('x',), ('y',)]
    """
    counts: Counter[tuple[str, Chunk]] = Counter()
    found: list[list[Chunk] | None] = []
    for _ in range(ROUNDS):
        total: Counter[str] = Counter()
        for (symbol, _), count in counts.items():
            total[symbol] += count
        found = [_best_cut(x, y, counts, total) for x, y in zip(inputs, outputs, strict=True)]
        counts = Counter(pair for x, cut in zip(inputs, found, strict=True) if cut for pair in zip(x, cut, strict=True))
    return found


def _best_cut(
    x: Sequence[str], y: Sequence[str], counts: Counter[tuple[str, Chunk]], total: Counter[str]
) -> list[Chunk] | None:
    """Return the chunks of largest product of probabilities, by dynamic programming over places in `y`."""
    best: dict[int, tuple[float, list[Chunk]]] = {0: (0.0, [])}
    for symbol in x:
        after: dict[int, tuple[float, list[Chunk]]] = {}
        for place, (cost, chunks) in best.items():
            for size in range(min(LONGEST, len(y) - place) + 1):
                chunk = tuple(y[place : place + size])
                # before the first counts an equal symbol is free and other sizes than one cost most
                prior = 0.1 if chunk == (symbol,) else 1e-3 ** abs(size - 1) / 50
                share = (counts[symbol, chunk] + prior) / (total[symbol] + 1.0)
                new = cost - float(np.log(share))
                if place + size not in after or new < after[place + size][0]:
                    after[place + size] = new, [*chunks, chunk]
        best = after
    return best[len(y)][1] if len(y) in best else None
