"""``bench words``: the time to learn pronunciations and spellings, and to inflect words."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.bench import problems
from experiments.bench.reporting import cores, finish
from experiments.bench.timing import Bar, Rows, interleaved, row
from mercer.datasets import load_inflection, load_pronunciations
from mercer.report import Result, tracked
from mercer.sequence_models import AlignedSequences, Inflection

LEARN, TYPOS, LEARN_MANY, INFLECT = 15.0, 3.0, 60.0, 10.0
"""Bars in seconds, on two cores."""

JOBS = 2


@dataclass(frozen=True)
class WordSizes:
    """Sizes of one run."""

    words: int = 800
    typos: int = 100
    many: int = 3600
    lemmas: int = 1000
    forms: int = 1000
    repeats: int = 2


QUICK = WordSizes(words=12, typos=8, many=16, lemmas=20, forms=5, repeats=1)
"""Seconds in all: every row is there, but its value means nothing."""


def main(output: Path | None = None, quick: bool = False) -> None:
    """Measure all parts, print the table, and write the result as JSON to `output` if it is given."""
    finish(measure(QUICK if quick else WordSizes()), output)


def measure(sizes: WordSizes) -> Result:
    """Make the rows of all parts."""
    begin, rows = time.perf_counter(), []
    # compile; a letter with two readings, so that every model has something to learn
    AlignedSequences(n_jobs=JOBS).fit(["ab", "ba", "aa", "bb"] * 2, ["ab", "bc", "aa", "bb"] * 2)
    with tracked("bench words", len(PARTS)) as step:
        for name, part in PARTS.items():
            step(name)
            rows += part(sizes)
    parameters = {**asdict(sizes), "n_jobs": JOBS, "cores": cores(), "load before": os.getloadavg()[0]}
    return Result("bench-words", rows, parameters, [problems.SEED], seconds=time.perf_counter() - begin)


def learned(sizes: WordSizes) -> Rows:
    """Measure the time to learn the pronunciations of 800 words, in two languages."""
    rows: Rows = []
    for language, name in (("rum", "Romanian"), ("khm", "Khmer")):
        words = load_pronunciations(language).train
        task = _learning(words.words[: sizes.words], words.phones[: sizes.words])
        rows.append(_row(f"learn {name} words", task, sizes.repeats, LEARN, sizes.words))
    return rows


def corrected(sizes: WordSizes) -> Rows:
    """Measure the time to learn from words with one wrong letter."""
    words = load_pronunciations("ita").train.words[: sizes.typos]
    rng = np.random.default_rng(problems.SEED)
    wrong = [mistyped(word, rng) for word in words]
    return [_row("learn typos", _learning(wrong, words), sizes.repeats, TYPOS, sizes.typos)]


def learned_many(sizes: WordSizes) -> Rows:
    """Measure the time to learn the pronunciations of 3600 Dutch words."""
    words = load_pronunciations("dut").train
    task = _learning(words.words[: sizes.many], words.phones[: sizes.many])
    return [_row("learn Dutch words", task, 1, LEARN_MANY, sizes.many)]


def inflected(sizes: WordSizes) -> Rows:
    """Measure the time to predict Finnish forms."""
    task = load_inflection("finnish", "medium")
    train, new = task.train.first(sizes.lemmas), task.dev.first(sizes.forms)
    model = Inflection(n_jobs=JOBS).fit(train.requests, train.forms)
    model.predict(new.requests[:2])  # compile
    return [
        _row("predict Finnish forms", lambda: model.predict(new.requests), sizes.repeats, INFLECT, len(new.requests))
    ]


PARTS: dict[str, Callable[[WordSizes], Rows]] = {
    "800 words": learned,
    "100 typos": corrected,
    "3600 words": learned_many,
    "1000 forms": inflected,
}


def mistyped(word: str, rng: np.random.Generator) -> str:
    """Replace one letter of a word by another of the alphabet.

    Examples
    --------
    >>> len(mistyped("casa", np.random.default_rng(0)))
    4
    """
    place, letter = int(rng.integers(len(word))), rng.choice(list("abcdefghilmnopqrstuvz"))
    return f"{word[:place]}{letter}{word[place + 1 :]}"


def _learning(words: list[str], outputs: list[Any]) -> Callable[[], Any]:
    return lambda: AlignedSequences(n_jobs=JOBS).fit(words, outputs)


def _row(method: str, task: Callable[[], Any], repeats: int, bar: float, n: int) -> dict[str, Any]:
    begin = time.process_time()
    seconds = interleaved({method: task}, repeats, warm_up=False)[method]
    core_seconds = (time.process_time() - begin) / repeats
    return row(method, "seconds", [float(seconds.min())], Bar(bar), n=n, core_seconds=core_seconds)
