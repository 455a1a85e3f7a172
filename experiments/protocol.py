"""Parts that the protocols of the papers share: small folds to train on, and choices made inside them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer.core.arrays import NumericalWarning
from mercer.estimators import DependencyEstimator, ObjectEstimator
from mercer.kernels import Gaussian


@dataclass(frozen=True)
class Split:
    """Positions of the examples to train on and of those to test on."""

    train: np.ndarray
    test: np.ndarray


@contextmanager
def known_copies() -> Iterator[None]:
    """Do not warn that pairs which are copies are left out together: data sets that hold some are used as they are."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r".* pairs are copies of others", NumericalWarning)
        yield


def first_of_each(labels: np.ndarray, count: int, skip: int = 0) -> np.ndarray:
    """Return positions of the first `count` examples of each class after `skip` of them, in the order of the data.

    Examples
    --------
    >>> first_of_each(np.array([7, 3, 7, 7, 3, 3]), 2)
    array([0, 1, 2, 4])
    """
    found = [np.flatnonzero(labels == label)[skip : skip + count] for label in np.unique(labels)]
    scarce = {int(np.unique(labels)[i]): len(own) for i, own in enumerate(found) if len(own) < count}
    if scarce:
        raise ValueError(f"labels has only {scarce} examples of some classes; expected {count} of each")
    return np.sort(np.concatenate(found))


def block_folds(n: int, folds: int) -> list[Split]:
    """Cut `n` examples into consecutive blocks; each in turn is the training set and all others are the test set.

    Examples
    --------
    >>> [split.train.tolist() for split in block_folds(6, 3)]
    [[0, 1], [2, 3], [4, 5]]
    """
    return _one_fold_each(np.array_split(np.arange(n), folds), n)


def shuffled_folds(n: int, folds: int, seed: int) -> list[Split]:
    """Cut `n` shuffled examples into blocks, as `block_folds` does.

    Examples
    --------
    >>> sorted(np.concatenate([split.train for split in shuffled_folds(5, 2, seed=0)]).tolist())
    [0, 1, 2, 3, 4]
    """
    order = np.random.default_rng(seed).permutation(n)
    return _one_fold_each([np.sort(part) for part in np.array_split(order, folds)], n)


def stratified_folds(labels: np.ndarray, folds: int, seed: int | None = None) -> list[Split]:
    """Cut each class into blocks, so that every fold has its share of each; shuffled if a seed is given.

    Examples
    --------
    >>> [split.train.tolist() for split in stratified_folds(np.array([1, 1, 0, 0]), 2)]
    [[0, 2], [1, 3]]
    """
    members = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    if seed is not None:
        random = np.random.default_rng(seed)
        members = [random.permutation(own) for own in members]
    blocks = [np.array_split(own, folds) for own in members]
    return _one_fold_each([np.sort(np.concatenate(own)) for own in zip(*blocks, strict=True)], len(labels))


def _one_fold_each(parts: list[np.ndarray], n: int) -> list[Split]:
    return [Split(part, np.setdiff1d(np.arange(n), part)) for part in parts]


def paper_estimator(*parts: Any, **settings: Any) -> DependencyEstimator:
    """Make a `DependencyEstimator` in the form of the papers: ridge regression without an intercept."""
    return DependencyEstimator(*parts, **settings).set_params(fit_intercept=False)


def input_scales(X: np.ndarray, factors: Iterable[float]) -> list[Gaussian]:
    """Make Gaussian kernels whose scales are multiples of the median distance of the training inputs."""
    median = Gaussian(scale="median").resolve(X).scale
    return [Gaussian(float(factor * median)) for factor in factors]


def best_by_leave_one_out(models: Iterable[ObjectEstimator], X: Any, y: Any) -> ObjectEstimator:
    """Fit all models and return the one of least leave-one-out loss over its own alpha (or k).

    Every model must choose its alpha by ``alpha="loo"`` (its number of neighbours by ``k="loo"``), by the same loss.
    """
    fitted = [clone(model).fit(X, y) for model in models]
    return min(fitted, key=lambda model: float(np.min(model.loo_path_)))
