"""Tasks of the comparison: name, kind and data, from small to large."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from experiments.rivals.data import Data, drawn, official, shuffled, take
from experiments.rivals.problem import (
    CLASSES,
    CURVES,
    DICTIONARY,
    INFLECTION,
    LABELS,
    RANKINGS,
    TRANSDUCTION,
    VECTORS,
    Problem,
)
from experiments.rivals.scores import SCORES, Score
from experiments.rivals.spelling import misspelled

TARGET_FOLDS, TARGET_SEED, ROWS = 5, 3, 1000
RANKING_FOLDS, RANKING_SEED = 10, 1
CURVE_FOLDS, CURVE_SEED = 10, 0


@dataclass(frozen=True)
class Task:
    """A task of the comparison; `source` loads its data."""

    name: str
    kind: str
    source: Callable[[], Data]

    @property
    def score(self) -> Score:
        """Score of this kind of task."""
        return SCORES[self.kind]

    def data(self, small: bool = False) -> Data:
        """Load the data, or the first rows of the first folds."""
        found = _loaded(self)
        return found.small() if small else found

    def problem(self, fold: int, small: bool = False, threads: int = 1) -> tuple[Problem, object]:
        """Return one fold as a method sees it, and the true outputs of its test inputs."""
        data = self.data(small)
        train, test = data.folds[fold]
        X, y, X_test, truth = (take(each, rows) for rows in (train, test) for each in (data.X, data.y))
        return Problem(self.kind, X, y, X_test, data.candidates, threads), truth


@cache
def _loaded(task: Task) -> Data:
    return task.source()


def multi_target(name: str) -> Data:
    """Load a multi-target set: five shuffled folds, of 1,000 rows drawn at random where there are more."""
    from mercer.datasets import load_multi_target

    data = load_multi_target(name)
    rows = drawn(len(data.X), min(ROWS, len(data.X)))
    return shuffled(data.X[rows], data.Y[rows], TARGET_FOLDS, TARGET_SEED)


def multi_label(name: str) -> Data:
    """Load a multi-label set with its official split."""
    from mercer.datasets import load_multilabel

    data = load_multilabel(name)
    return official((data.X_train, data.Y_train), (data.X_test, data.Y_test))


def label_ranking(name: str) -> Data:
    """Load a label ranking set: ten shuffled folds, five of 1,000 rows drawn at random of sushi."""
    from mercer.datasets import load_label_ranking

    data = load_label_ranking(name)
    rows = drawn(len(data.X), min(ROWS, len(data.X)))
    folds = RANKING_FOLDS if len(rows) == len(data.X) else TARGET_FOLDS
    return shuffled(data.X[rows], data.ranks[rows], folds, RANKING_SEED)


def gait() -> Data:
    """Load angles of the hip as inputs, angles of the knee as outputs."""
    from mercer.datasets import load_gait

    data = load_gait()
    return shuffled(data.hip, data.knee, CURVE_FOLDS, CURVE_SEED)


def weather() -> Data:
    """Load temperatures over a year as inputs, logarithms of precipitation as outputs."""
    from mercer.datasets import load_weather

    data = load_weather()
    return shuffled(data.temperature, data.log_precipitation, CURVE_FOLDS, CURVE_SEED)


def growth() -> Data:
    """Load heights at the first 16 ages as inputs, at the last 15 as outputs, girls and boys together."""
    from mercer.datasets import load_growth

    data = load_growth()
    heights, half = np.concatenate([data.girls, data.boys]), (len(data.ages) + 1) // 2
    return shuffled(heights[:, :half], heights[:, half:], CURVE_FOLDS, CURVE_SEED)


def pronunciation(language: str) -> Data:
    """Load spellings and phones with the split of the shared task."""
    from mercer.datasets import load_pronunciations

    data = load_pronunciations(language)
    return official((data.train.words, data.train.phones), (data.test.words, data.test.phones))


def inflection(language: str) -> Data:
    """Load (lemma, tags) and forms with the split of the shared task, 100 training words."""
    from mercer.datasets import load_inflection

    data = load_inflection(language, "low")
    return official((data.train.requests, data.train.forms), (data.test.requests, data.test.forms))


def spelling() -> Data:
    """Load 500 misspelled Dutch words to train on, 500 others to test on, among 5,000 words without a training pair."""
    from mercer.datasets import load_pronunciations

    data = load_pronunciations("dut")
    train, test, words = misspelled([*data.train.words, *data.dev.words, *data.test.words])
    return official(train, test, words)


def digits() -> Data:
    """Load scikit-learn's digits: classes from 64 pixels."""
    from sklearn.datasets import load_digits

    data = load_digits()
    return shuffled(data.data, data.target, TARGET_FOLDS, TARGET_SEED)


def linnerud() -> Data:
    """Load scikit-learn's linnerud: three physiological numbers from three exercises, 20 men."""
    from sklearn.datasets import load_linnerud

    data = load_linnerud()
    return shuffled(data.data, data.target, TARGET_FOLDS, TARGET_SEED)


def diabetes() -> Data:
    """Load scikit-learn's diabetes: progression after a year from ten measurements."""
    from sklearn.datasets import load_diabetes

    data = load_diabetes()
    return shuffled(data.data, data.target[:, None], TARGET_FOLDS, TARGET_SEED)


def _named(kind: str, load: Callable[[str], Data], *names: str) -> list[Task]:
    return [Task(name, kind, partial(load, name)) for name in names]


_ALL = [
    Task("linnerud", VECTORS, linnerud),
    *_named(VECTORS, multi_target, "edm", "jura"),
    Task("diabetes", VECTORS, diabetes),
    Task("gait", CURVES, gait),
    Task("weather", CURVES, weather),
    Task("growth", CURVES, growth),
    *_named(RANKINGS, label_ranking, "iris", "glass", "housing"),
    *_named(LABELS, multi_label, "emotions"),
    Task("spelling", DICTIONARY, spelling),
    Task("inflection", INFLECTION, partial(inflection, "english")),
    Task("pronunciation", TRANSDUCTION, partial(pronunciation, "ady")),
    *_named(RANKINGS, label_ranking, "vehicle", "authorship", "sushi"),
    *_named(VECTORS, multi_target, "wq", "atp1d", "oes97"),
    *_named(LABELS, multi_label, "yeast", "enron"),
    Task("digits", CLASSES, digits),
    *_named(LABELS, multi_label, "corel5k", "bibtex"),
]
TASKS = {task.name: task for task in _ALL}
"""Tasks by name, from small to large."""
