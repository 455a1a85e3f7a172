"""Neural networks for tables: RealMLP with its tuned defaults."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from experiments.rivals.methods.tuning import SEED, regressed
from experiments.rivals.problem import Problem

FEW = 1000


def realmlp(problem: Problem) -> np.ndarray:
    """`RealMLP_TD_Regressor` of pytabkit: tuned defaults, all outputs at once.

    Up to 1,000 examples it is the mean of five networks (``n_cv=5``), each with the best epoch on another fifth of the training
    examples; beyond, one network. Curves are predicted by their scores on principal components; label sets take their threshold
    from three inner folds.
    """
    return regressed(problem, [RealMLP(problem.threads)], folds=3, components=True)


class RealMLP(RegressorMixin, BaseEstimator):
    """RealMLP on doubles turned into single precision."""

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads

    def fit(self, X: Any, y: Any) -> RealMLP:
        """Fit the network on the processor."""
        from pytabkit import RealMLP_TD_Regressor

        self.model_ = RealMLP_TD_Regressor(
            device="cpu", random_state=SEED, n_threads=self.threads, n_cv=5 if len(X) <= FEW else 1
        )
        self.model_.fit(X.astype(np.float32), np.reshape(y, (len(X), -1)).astype(np.float32))
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict rows of numbers."""
        return np.asarray(self.model_.predict(X.astype(np.float32)), dtype=float)
