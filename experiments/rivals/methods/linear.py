"""Linear methods: ridge regression, partial least squares, functional linear regression."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression, RidgeCV

from experiments.rivals.methods.tuning import regressed
from experiments.rivals.problem import Problem

ALPHAS = np.logspace(-4, 6, 31)
COMPONENTS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)


def ridge(problem: Problem) -> np.ndarray:
    """`RidgeCV`: 31 values of alpha from 1e-4 to 1e6, one per output, by leave-one-out; inputs standardised."""
    return regressed(problem, [RidgeCV(ALPHAS, alpha_per_target=True)])


def pls(problem: Problem) -> np.ndarray:
    """`PLSRegression`: 1 to 32 components, by five inner folds."""
    most = min(len(problem.X) * 4 // 5 - 1, np.shape(problem.X)[1])
    return regressed(problem, [PLSRegression(n, scale=False) for n in COMPONENTS if n <= max(most, 1)])


def functional(problem: Problem) -> np.ndarray:
    """Least squares from principal components of input curves to those of output curves; both numbers by five inner folds."""
    most = min(len(problem.X) * 4 // 5 - 2, np.shape(problem.X)[1])
    numbers = [n for n in COMPONENTS if n <= most]
    outputs = [n for n in (2, 4, 8, 16) if n <= min(most, np.shape(problem.y)[1])]
    return regressed(problem, [FunctionalLinear(n, m) for n in numbers for m in outputs])


class FunctionalLinear(RegressorMixin, BaseEstimator):
    """Functional linear regression between principal components of inputs and of outputs."""

    def __init__(self, inputs: int = 1, outputs: int = 1) -> None:
        self.inputs = inputs
        self.outputs = outputs

    def fit(self, X: Any, y: Any) -> FunctionalLinear:
        """Fit both sets of components and the map between them."""
        self.inputs_, self.outputs_ = PCA(self.inputs).fit(X), PCA(self.outputs).fit(y)
        self.linear_ = LinearRegression().fit(self.inputs_.transform(X), self.outputs_.transform(y))
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict output curves."""
        return self.outputs_.inverse_transform(self.linear_.predict(self.inputs_.transform(X)))
