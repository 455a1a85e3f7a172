"""Outputs as rows of numbers for regressors, and predicted rows as outputs."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from sklearn.decomposition import PCA

from experiments.rivals.problem import CLASSES, CURVES, LABELS, RANKINGS, Problem
from experiments.rivals.scores import SCORES, example_f1

THRESHOLDS = tuple(round(0.025 * i, 3) for i in range(2, 25))
VARIANCE = 0.999


class Targets:
    """Outputs of a problem as rows: numbers as they are, indicators of labels or classes, ranks.

    Rows are turned back into label sets by a threshold, chosen by F1 on rows predicted by models that had not seen the
    example, the likeliest label always named; into rankings by sorting; into the class of the largest number. With
    `components`, curves are scores on the principal components that hold 99.9 % of the variance: for regressors of one number.
    """

    def __init__(self, problem: Problem, components: bool = False) -> None:
        self.problem, self.kind = problem, problem.kind
        self.basis = PCA(VARIANCE, svd_solver="full").fit(problem.y) if components and self.kind == CURVES else None

    @cached_property
    def classes(self) -> np.ndarray:
        """Classes of the training outputs, sorted."""
        return np.unique(self.problem.y)

    @cached_property
    def rows(self) -> np.ndarray:
        """Training outputs as rows of numbers."""
        y = self.problem.y
        if self.kind == CLASSES:
            return (y[:, None] == self.classes).astype(float)
        return np.asarray(y if self.basis is None else self.basis.transform(y), dtype=float)

    def outputs(self, rows: np.ndarray, held_out: np.ndarray | None = None) -> np.ndarray:
        """Turn predicted rows into outputs; `held_out` are the rows of the training examples, for the threshold of labels."""
        rows = np.asarray(rows, dtype=float).reshape(len(rows), -1)
        if self.kind == LABELS:
            if held_out is None:
                raise ValueError("held_out is missing; label sets need rows of left-out training examples")
            return above(rows, best_threshold(self.problem.y, held_out))
        if self.kind == RANKINGS:
            return np.argsort(np.argsort(rows, axis=1, kind="stable"), axis=1)
        if self.kind == CLASSES:
            return self.classes[rows.argmax(axis=1)]
        return rows if self.basis is None else self.basis.inverse_transform(rows)

    def loss(self, held_out: np.ndarray) -> float:
        """Return the task's own score on left-out training examples, smaller is better."""
        y = self.problem.y
        return SCORES[self.kind].loss(y, y, self.outputs(held_out, held_out))


def best_threshold(Y: np.ndarray, held_out: np.ndarray) -> float:
    """Return the threshold of highest mean F1."""
    return max(THRESHOLDS, key=lambda threshold: float(example_f1(Y, Y, above(held_out, threshold)).mean()))


def above(rows: np.ndarray, threshold: float) -> np.ndarray:
    """Return indicators of the entries above a threshold, and of the largest of each row.

    Examples
    --------
    >>> above(np.array([[0.2, 0.4, 0.1], [0.2, 0.1, 0.0]]), 0.3)
    array([[0, 1, 0],
           [1, 0, 0]], dtype=int8)
    """
    chosen = rows > threshold
    chosen[np.arange(len(rows)), rows.argmax(axis=1)] = True
    return chosen.astype(np.int8)
