"""Small tasks with outputs of four kinds, for the experiment on calibrated answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from experiments.papers.kadri_words_reading import letter_rows
from experiments.protocol import first_of_each, paper_estimator
from mercer.datasets import load_label_ranking, load_multilabel, load_ocr_words, load_usps
from mercer.decoders import Candidates
from mercer.estimators import DependencyEstimator
from mercer.kernels import Classes, Gaussian, Kemeny, Kernel, LabelSets, Laplacian, PartByPart, Positions
from mercer.losses import F1, Kendall, ZeroOne


@dataclass(frozen=True)
class Task:
    """Inputs and outputs, the model, the score of a prediction (1 is best), and the numbers of training and calibration pairs."""

    inputs: Any
    outputs: np.ndarray
    input_kernel: Kernel
    output_kernel: Kernel
    judged: str
    quality: Callable[[np.ndarray, np.ndarray], np.ndarray]
    trained: int
    calibrated: int
    shown: Callable[[Any], str]

    def model(self) -> DependencyEstimator:
        """Make the estimator: alpha by exact leave-one-out, predictions among the training outputs."""
        return paper_estimator(self.input_kernel, self.output_kernel, decoder=Candidates())


def _right(truth: np.ndarray, found: np.ndarray) -> np.ndarray:
    return 1.0 - ZeroOne().paired(truth, found)


def _digits() -> Task:
    digits = load_usps()
    chosen = first_of_each(digits.labels, 200)
    top = digits.images[chosen][:, :8].reshape(len(chosen), -1)
    classes = digits.labels[chosen]
    return Task(top, classes, Gaussian("median"), Classes(), "right", _right, 150, 150, str)


def _words() -> Task:
    words = load_ocr_words()
    words = words.take(np.sort(np.random.default_rng(0).permutation(len(words))[:2000]))
    # of unit length, so that a point of small norm does not favour short words
    output_kernel = Positions().normalized()
    return Task(
        letter_rows(words), words.strings, PartByPart(Gaussian(4.0)), output_kernel, "right", _right, 150, 150, str
    )


def _label_sets() -> Task:
    music = load_multilabel("emotions")
    X = StandardScaler().fit_transform(np.concatenate([music.X_train, music.X_test]))
    Y = np.concatenate([music.Y_train, music.Y_test]).astype(np.int64)

    def f1(truth: np.ndarray, found: np.ndarray) -> np.ndarray:
        return 1.0 - np.asarray(F1().paired(truth, found))

    def names(row: Any) -> str:
        return ", ".join(music.names(row)) or "none"

    return Task(X, Y, Gaussian("median"), LabelSets(), "F1", f1, 200, 150, names)


def _rankings() -> Task:
    vehicle = load_label_ranking("vehicle")
    X = StandardScaler().fit_transform(vehicle.X)

    def tau(truth: np.ndarray, found: np.ndarray) -> np.ndarray:
        return 1.0 - 2.0 * np.asarray(Kendall().paired(truth, found))

    def order(ranks: Any) -> str:
        return " ".join(str(label) for label in vehicle.labels[np.argsort(ranks)])

    return Task(X, vehicle.ranks, Laplacian("median"), Kemeny(), "τ", tau, 200, 150, order)


_MADE: dict[str, Callable[[], Task]] = {
    "digit, from its top half": _digits,
    "word, from its letters": _words,
    "set of emotions, from music": _label_sets,
    "ranking, of vehicles": _rankings,
}
TASKS = tuple(_MADE)
"""Names of the tasks."""


@cache
def task(name: str) -> Task:
    """Load the task called `name` once."""
    return _MADE[name]()
