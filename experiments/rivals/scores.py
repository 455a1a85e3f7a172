"""Scores of predictions, in plain NumPy, so that they do not depend on the library that is compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.rivals.problem import (
    CLASSES,
    CURVES,
    DICTIONARY,
    INFLECTION,
    LABELS,
    RANKINGS,
    TRANSDUCTION,
    VECTORS,
)


@dataclass(frozen=True)
class Score:
    """Name of a score, whether the smallest ("min") or the largest ("max") is best, and its function.

    The function takes the training outputs, the true and the predicted ones, and returns one number per example, whose mean
    is the score, or a single number where the score is not a mean.
    """

    name: str
    best: str
    values: Callable[[Any, Any, Any], np.ndarray]

    def loss(self, train: Any, truth: Any, predicted: Any) -> float:
        """Return the mean, with the sign that makes smaller better."""
        mean = float(np.mean(self.values(train, truth, predicted)))
        return mean if self.best == "min" else -mean


def arrmse(train: np.ndarray, truth: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Average over targets of the root mean squared error, relative to that of the training mean.

    Examples
    --------
    >>> arrmse(np.array([[0.0], [2.0]]), np.array([[3.0], [-1.0]]), np.array([[2.0], [0.0]]))
    array([0.5])
    """
    error, plain = ((truth - predicted) ** 2).sum(axis=0), ((truth - train.mean(axis=0)) ** 2).sum(axis=0)
    varies = plain > 0
    return np.array([np.sqrt(error[varies] / plain[varies]).mean()])


def mean_squared_error(train: np.ndarray, truth: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Mean of squared errors over the points of each curve."""
    return ((truth - predicted) ** 2).mean(axis=1)


def example_f1(train: np.ndarray, truth: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """F1 of each label set; 1 if both sets are empty.

    Examples
    --------
    >>> example_f1(None, np.array([[1, 1, 0], [0, 0, 0]]), np.array([[1, 0, 0], [0, 0, 0]])).round(3)
    array([0.667, 1.   ])
    """
    common, sizes = (truth * predicted).sum(axis=1), truth.sum(axis=1) + predicted.sum(axis=1)
    return np.where(sizes == 0, 1.0, 2.0 * common / np.maximum(sizes, 1))


def kendall_tau(train: np.ndarray, truth: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Kendall's τ of two rankings without ties.

    Examples
    --------
    >>> kendall_tau(None, np.array([[0, 1, 2]]), np.array([[1, 0, 2]])).round(3)
    array([0.333])
    """
    first, second = np.triu_indices(truth.shape[1], 1)
    signs = [np.sign(ranks[:, first] - ranks[:, second]) for ranks in (truth, predicted)]
    return (signs[0] * signs[1]).mean(axis=1)


def hits(train: Any, truth: Any, predicted: Any) -> np.ndarray:
    """Tell for each output whether it is exactly right, as 1 or 0."""
    return np.array([float(_plain(one) == _plain(two)) for one, two in zip(truth, predicted, strict=True)])


def misses(train: Any, truth: Any, predicted: Any) -> np.ndarray:
    """Tell for each output whether it is wrong, as 1 or 0."""
    return 1.0 - hits(train, truth, predicted)


def _plain(output: Any) -> Any:
    return output if isinstance(output, str) or not hasattr(output, "__iter__") else list(output)


SCORES = {
    VECTORS: Score("aRRMSE", "min", arrmse),
    CURVES: Score("MSE", "min", mean_squared_error),
    LABELS: Score("example F1", "max", example_f1),
    RANKINGS: Score("Kendall τ", "max", kendall_tau),
    CLASSES: Score("accuracy", "max", hits),
    TRANSDUCTION: Score("wrong words", "min", misses),
    INFLECTION: Score("wrong words", "min", misses),
    DICTIONARY: Score("wrong words", "min", misses),
}
"""Score of each kind of task."""
