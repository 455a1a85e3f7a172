"""Classifiers of labels: one-vs-rest logistic regression and chains of them, with tuned thresholds."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.multioutput import ClassifierChain

from experiments.rivals.methods.targets import Targets
from experiments.rivals.methods.tuning import SEED, inputs
from experiments.rivals.problem import CLASSES, Problem

CS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
FOLDS, CHAINS = 3, 5

Shares = Callable[[Any, np.ndarray, Any, float], np.ndarray]


def logistic(problem: Problem) -> np.ndarray:
    """One `LogisticRegression` per label; C and one threshold for all labels by F1 over three inner folds.

    Classes are predicted by a multinomial logistic regression, C by accuracy over the same folds.
    """
    return _chosen(problem, _multinomial if problem.kind == CLASSES else _one_by_one)


def chains(problem: Problem) -> np.ndarray:
    """Mean of five `ClassifierChain` of logistic regressions in random orders; C and threshold as for single ones."""
    return _chosen(problem, _chained)


def _chosen(problem: Problem, shares: Shares) -> np.ndarray:
    X, X_test = inputs(problem)
    if set(np.unique(X)) <= {0.0, 1.0}:
        X, X_test = sparse.csr_array(X), sparse.csr_array(X_test)
    targets = Targets(problem)
    folds = list(KFold(FOLDS, shuffle=True, random_state=SEED).split(targets.rows))
    best: tuple[float, float, np.ndarray] | None = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for C in CS:
            held_out = np.empty(targets.rows.shape)
            for train, test in folds:
                held_out[test] = shares(X[train], targets.rows[train], X[test], C)
            loss = targets.loss(held_out)
            if best is None or loss < best[0]:
                best = loss, C, held_out
        if best is None:
            raise ValueError("CS is empty; expected at least one value of C")
        return targets.outputs(shares(X, targets.rows, X_test, best[1]), best[2])


def _one_by_one(X: Any, Y: np.ndarray, X_test: Any, C: float) -> np.ndarray:
    found = np.tile(Y[0], (X_test.shape[0], 1))
    for label in _varying(Y):
        found[:, label] = _regression(C).fit(X, Y[:, label]).predict_proba(X_test)[:, 1]
    return found


def _chained(X: Any, Y: np.ndarray, X_test: Any, C: float) -> np.ndarray:
    found, labels = np.tile(Y[0], (X_test.shape[0], 1)), _varying(Y)
    orders = [np.random.default_rng(seed).permutation(len(labels)) for seed in range(CHAINS)]
    shares = [
        ClassifierChain(_regression(C), order=order).fit(X, Y[:, labels]).predict_proba(X_test) for order in orders
    ]
    found[:, labels] = np.mean(shares, axis=0)
    return found


def _multinomial(X: Any, Y: np.ndarray, X_test: Any, C: float) -> np.ndarray:
    found, classes = np.zeros((X_test.shape[0], Y.shape[1])), Y.argmax(axis=1)
    model = LogisticRegression(C=C, max_iter=1000).fit(X, classes)
    found[:, model.classes_] = model.predict_proba(X_test)
    return found


def _regression(C: float) -> LogisticRegression:
    return LogisticRegression(C=C, solver="liblinear")


def _varying(Y: np.ndarray) -> np.ndarray:
    """Return the labels that some examples have and others have not."""
    return np.flatnonzero(Y.min(axis=0) != Y.max(axis=0))
