"""Inputs of the multi-label experiments: their encodings and kernels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from mercer.kernels import Gaussian, Kernel, Laplacian, Overlap

PLAIN, STANDARD, RANKS, WORDS = "as they are", "standardised", "normal scores", "unit rows with √idf"


def written(X_train: np.ndarray, X: np.ndarray, how: str) -> np.ndarray:
    """Encode the rows of `X`, with statistics of `X_train`.

    "standardised" is mean 0 and variance 1; "normal scores" the normal quantile of each value's rank among the training
    values; "unit rows with √idf" words weighted by the root of log(n / documents with the word), rows of length 1.

    Examples
    --------
    >>> X = np.array([[1.0], [2.0], [4.0]])
    >>> written(X, X, RANKS).round(2).ravel().tolist()
    [-0.67, 0.0, 0.67]
    """
    if how == PLAIN:
        return X
    if how == STANDARD:
        deviation = X_train.std(axis=0)
        return (X - X_train.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    if how == RANKS:
        ordered = np.sort(X_train, axis=0)
        below = [np.searchsorted(own, x, "left") for own, x in zip(ordered.T, X.T, strict=True)]
        upto = [np.searchsorted(own, x, "right") for own, x in zip(ordered.T, X.T, strict=True)]
        ranks = (np.column_stack(below) + np.column_stack(upto) + 1.0) / 2.0
        return norm.ppf(ranks / (len(X_train) + 1.0), scale=1.0).clip(-4.0, 4.0)
    documents = np.maximum((X_train > 0).sum(axis=0), 1)
    rows = X * np.sqrt(np.maximum(np.log(len(X_train) / documents), 0.0))
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1.0)


@dataclass(frozen=True)
class Recipe:
    """Input kernel: the mean of kernels on encoded inputs."""

    name: str
    parts: tuple[tuple[str, Kernel], ...]

    def gram(self, X_train: np.ndarray, X: np.ndarray | None = None) -> np.ndarray:
        """Compute kernel values of the training inputs, or of the rows of `X` against them."""
        total: np.ndarray | float = 0.0
        for how, kernel in self.parts:
            rows = written(X_train, X_train, how)
            total = total + (kernel(rows) if X is None else kernel(written(X_train, X, how), rows))
        return np.asarray(total) / len(self.parts)


def around_median(X_train: np.ndarray, how: str, family: type[Gaussian] | type[Laplacian], factor: float) -> Recipe:
    """Make a kernel whose scale is a multiple of the median distance of the training inputs."""
    median = family(scale="median").resolve(written(X_train, X_train, how)).scale
    return Recipe(f"{family.__name__}, {factor:g} medians, {how}", ((how, family(factor * float(median))),))


JACCARD = Recipe("Jaccard", ((PLAIN, Overlap(1.0)),))
"""Kernel of binary inputs: the share of common features."""

SQUARED = Recipe("Jaccard, squared", ((PLAIN, Overlap(1.0) * Overlap(1.0)),))
"""The square of the same kernel, narrower."""


def gaussian_of_words(gamma: float) -> Recipe:
    """Make exp(−γ‖x − z‖²) on unit rows with √idf."""
    return Recipe(f"Gaussian, γ = {gamma:g}, {WORDS}", ((WORDS, Gaussian(float(np.sqrt(0.5 / gamma)))),))


def mean_of(name: str, *recipes: Recipe) -> Recipe:
    """Average the kernels of several recipes."""
    return Recipe(name, tuple(part for recipe in recipes for part in recipe.parts))
