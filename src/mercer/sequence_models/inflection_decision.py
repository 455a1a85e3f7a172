"""One decision of several: a class, from a row of columns."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Self

import numpy as np
from scipy.linalg import solve

from mercer.sequence_models.inflection_settings import Settings, learn_settings, log_softmax
from mercer.sequence_models.symbols import Alphabet

Row = tuple[Hashable, ...]

_BLOCK = 2048


class Decision:
    r"""Kernel ridge from rows of symbols onto classes, read as probabilities.

    .. math:: p(c \mid x) \propto \exp(h_c(x) / T), \quad h(x) = \bar y + \sum_i k(x, x_i) z_i

    with one-hot outputs, their mean :math:`\bar y`, and a sum of product-Hamming kernels whose weights, with the ridge and T,
    are learned by leave-one-out.

    Parameters
    ----------
    sample : int
        Rows the settings are learned from, drawn at random where there are more.
    rounds : int
        Steps of that learning.
    landmarks : int
        Rows that carry the ridge; where there are more, the least-squares fit within the span of as many, drawn at random.
    seed : int
        Of what is drawn.
    """

    def __init__(self, sample: int = 400, rounds: int = 40, landmarks: int = 5000, seed: int = 0) -> None:
        self.sample = sample
        self.rounds = rounds
        self.landmarks = landmarks
        self.seed = seed

    def fit(self, rows: Sequence[Row], labels: Sequence[Hashable]) -> Self:
        """Learn from rows, all of one length, and the class of each."""
        self.columns_ = [Alphabet(column) for column in zip(*rows, strict=True)]
        self.classes_: list[Any] = sorted(set(labels), key=repr)
        number = {label: i for i, label in enumerate(self.classes_)}
        targets = np.eye(len(self.classes_))[[number[label] for label in labels]]
        if len(self.classes_) == 1:
            return self
        codes, self.prior_ = self._codes(rows), targets.mean(axis=0)
        # a column that never varies says nothing, and costs time
        self.varying_ = np.flatnonzero([len(column) > 1 for column in self.columns_])
        codes = np.ascontiguousarray(codes[:, self.varying_])
        rng = np.random.default_rng(self.seed)
        chosen = np.sort(rng.permutation(len(codes))[: self.sample])
        self.settings_ = learn_settings(codes[chosen], targets[chosen], self.prior_, self.rounds)
        marks = np.sort(rng.permutation(len(codes))[: self.landmarks])
        self.rows_ = codes[marks]
        self.dual_ = _solve(self.settings_, codes, targets - self.prior_, self.rows_)
        return self

    def log_probabilities(self, rows: Sequence[Row]) -> np.ndarray:
        """Log p of each class, in the order of `classes_`, for each row."""
        if len(self.classes_) == 1:
            return np.zeros((len(rows), 1))
        distinct = list(dict.fromkeys(rows))
        codes = np.ascontiguousarray(self._codes(distinct)[:, self.varying_])
        blocks = range(0, len(codes), _BLOCK)
        points = [self.settings_.kernel(codes[i : i + _BLOCK], self.rows_) @ self.dual_ for i in blocks]
        logs = log_softmax((self.prior_ + np.concatenate(points)) / self.settings_.temperature)
        return logs[Alphabet(distinct).codes(rows)]

    def _codes(self, rows: Sequence[Row]) -> np.ndarray:
        columns = [
            alphabet.codes(column) for alphabet, column in zip(self.columns_, zip(*rows, strict=True), strict=True)
        ]
        return np.column_stack(columns)


def _solve(settings: Settings, rows: np.ndarray, targets: np.ndarray, marks: np.ndarray) -> np.ndarray:
    """The weights of the landmarks."""
    gram = settings.kernel(marks, marks)
    if len(marks) == len(rows):
        gram[np.diag_indices(len(gram))] += settings.ridge
        return solve(gram, targets, assume_a="pos", overwrite_a=True, check_finite=False)
    system, right = settings.ridge * gram, np.zeros((len(marks), targets.shape[1]))
    for start in range(0, len(rows), _BLOCK):
        across = settings.kernel(rows[start : start + _BLOCK], marks)
        system += across.T @ across
        right += across.T @ targets[start : start + _BLOCK]
    system[np.diag_indices(len(marks))] += 1e-9 * np.trace(system) / len(marks)
    return solve(system, right, assume_a="pos", overwrite_a=True, check_finite=False)
