"""Several kernels weighted per output: himalaya."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from experiments.rivals.methods.tuning import SEED, inputs, median_square, regressed, standardised
from experiments.rivals.problem import Problem


def himalaya(problem: Problem) -> np.ndarray:
    """`MultipleKernelRidgeCV`: a linear and four Gaussian kernels weighted per output, 20 random weights, five inner folds."""
    X, _ = inputs(problem)
    return regressed(problem, [standardised(Himalaya(1.0 / median_square(X)))], folds=3)


class Himalaya(RegressorMixin, BaseEstimator):
    """Multiple-kernel ridge of himalaya on Gram matrices that have a mean diagonal of one."""

    def __init__(self, gamma: float = 1.0) -> None:
        self.gamma = gamma

    def fit(self, X: Any, y: Any) -> Himalaya:
        """Choose weights of the kernels and alphas by random search."""
        from himalaya.kernel_ridge import MultipleKernelRidgeCV

        self.X_ = X
        self.scale_ = float(np.mean(np.sum(X**2, axis=1))) or 1.0
        search = {"n_iter": 20, "alphas": np.logspace(-5, 4, 19), "progress_bar": False}
        self.model_ = MultipleKernelRidgeCV("precomputed", solver_params=search, cv=5, random_state=SEED)
        self.model_.fit(self._grams(X), y)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict rows of numbers."""
        return np.asarray(self.model_.predict(self._grams(X)))

    def _grams(self, X: np.ndarray) -> np.ndarray:
        gaussians = [rbf_kernel(X, self.X_, factor * self.gamma) for factor in (0.1, 0.3, 1.0, 3.0)]
        return np.stack([linear_kernel(X, self.X_) / self.scale_, *gaussians])
