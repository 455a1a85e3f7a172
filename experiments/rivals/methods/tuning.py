"""Choice among settings of a regressor by folds inside the training examples, in the task's own score."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from experiments.rivals.methods.targets import Targets
from experiments.rivals.problem import CURVES, LABELS, Problem

SEED, POINTS = 0, 60


def inputs(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Return training and test inputs, standardised unless columns are of one unit: curves, pixels, absence and presence."""
    X, X_test = np.asarray(problem.X, dtype=float), np.asarray(problem.X_test, dtype=float)
    if problem.kind == CURVES or (np.all(np.round(X) == X) and X.min() >= 0 and X.max() <= 16):
        return X, X_test
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), scaler.transform(X_test)


def regressed(problem: Problem, models: Sequence[Any], *, folds: int = 5, components: bool = False) -> np.ndarray:
    """Fit the model of least left-out loss to all training examples, and predict the test inputs.

    A model is a scikit-learn regressor of several outputs. Label sets need left-out rows for their threshold even where there
    is one model to choose from. With `components`, curves are predicted by their scores on principal components, from means of
    neighbouring points where the input has more than 60.
    """
    X, X_test = inputs(problem)
    if components and problem.kind == CURVES:
        X, X_test = _thinned(X), _thinned(X_test)
    targets = Targets(problem, components)
    held_out = None
    if len(models) > 1 or problem.kind == LABELS:
        found = [left_out(model, X, targets.rows, folds) for model in models]
        best = int(np.argmin([targets.loss(rows) for rows in found]))
        held_out, model = found[best], models[best]
    else:
        (model,) = models
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        predicted = clone(model).fit(X, targets.rows).predict(X_test)
    return targets.outputs(predicted, held_out)


def left_out(model: Any, X: np.ndarray, Y: np.ndarray, folds: int) -> np.ndarray:
    """Predict each training example by a model fitted without its fold."""
    rows = np.empty(Y.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for train, test in KFold(min(folds, len(X)), shuffle=True, random_state=SEED).split(X):
            rows[test] = np.reshape(clone(model).fit(X[train], Y[train]).predict(X[test]), (len(test), -1))
    return rows


def standardised(model: Any) -> TransformedTargetRegressor:
    """Return `model` with outputs standardised before it is fitted."""
    return TransformedTargetRegressor(model, transformer=StandardScaler())


def _thinned(curves: np.ndarray) -> np.ndarray:
    """Return curves of at most 60 points, means over blocks of neighbouring ones."""
    if curves.shape[1] <= POINTS:
        return curves
    return np.stack([block.mean(axis=1) for block in np.array_split(curves, POINTS, axis=1)], axis=1)


def median_square(X: np.ndarray) -> float:
    """Return the median squared distance of (at most 1,000 of) the inputs."""
    from scipy.spatial.distance import pdist

    return float(np.median(pdist(X[:1000], "sqeuclidean"))) or 1.0
