"""Kernels of learned metric: xRFM, a recursive feature machine."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.model_selection import KFold

from experiments.rivals.methods.tuning import SEED, regressed, standardised
from experiments.rivals.problem import Problem

SETTINGS = tuple(
    (kernel, bandwidth, penalty)
    for kernel in ("l2", "l1")
    for bandwidth in (3.0, 10.0, 30.0)
    for penalty in (1e-3, 0.1, 1.0)
)


def xrfm(problem: Problem) -> np.ndarray:
    """`xRFM`: 18 settings (Laplace-type ℓ2 and ℓ1 kernels, bandwidth 3, 10 or 30, ridge 1e-3, 0.1 or 1).

    Five machines, each of which chooses its iteration on another fifth of the training examples, are averaged; the setting is the
    one of least squared error on these fifths. Label sets take their threshold from three inner folds.
    """
    return regressed(problem, [standardised(Xrfm(problem.threads))], folds=3)


class Xrfm(RegressorMixin, BaseEstimator):
    """Recursive feature machines, one for each fifth left out, averaged."""

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads

    def fit(self, X: Any, y: Any) -> Xrfm:
        """Fit every setting without each fifth, and keep the one of least squared error on the fifths left out."""
        # bandwidths are meant for columns of variance one
        self.scale_ = float(np.sqrt(np.var(X, axis=0).mean())) or 1.0
        X, Y = self._inputs(X), np.reshape(y, (len(X), -1)).astype(np.float32)
        folds, least = list(KFold(5, shuffle=True, random_state=SEED).split(X)), np.inf
        for setting in SETTINGS:
            machines = [self._machine(setting, X, Y, fold) for fold in folds]
            error = sum(
                float(np.sum((_rows(machine, X[held]) - Y[held]) ** 2))
                for machine, (_, held) in zip(machines, folds, strict=True)
            )
            if error < least:
                least, self.machines_ = error, machines
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict rows of numbers."""
        return np.mean([_rows(machine, self._inputs(X)) for machine in self.machines_], axis=0)

    def _inputs(self, X: Any) -> np.ndarray:
        return np.asarray(X / self.scale_, dtype=np.float32)

    def _machine(self, setting: Any, X: np.ndarray, Y: np.ndarray, fold: Any) -> Any:
        from xrfm import xRFM

        kernel, bandwidth, penalty = setting
        parameters = {
            "model": {"kernel": kernel, "bandwidth": bandwidth, "exponent": 1.0, "diag": False},
            "fit": {"reg": penalty, "iters": 5, "verbose": False, "early_stop_rfm": True},
        }
        model = xRFM(parameters, device="cpu", n_threads=self.threads, random_state=SEED, verbose=False)
        train, held = fold
        model.fit(X[train], Y[train], X[held], Y[held])
        return model


def _rows(machine: Any, X: np.ndarray) -> np.ndarray:
    return np.reshape(machine.predict(X), (len(X), -1)).astype(float)
