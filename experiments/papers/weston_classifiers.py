"""Classifiers of Weston's section 4.2, each with its parameters chosen inside the training digits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import KFold
from sklearn.svm import SVC

from experiments.protocol import best_by_leave_one_out, input_scales, paper_estimator
from mercer.estimators import DependencyEstimator, NeighborsEstimator
from mercer.kernels import Classes, Gaussian, Kernel, Linear

FACTORS = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4)
"""Candidate scales of the Gaussian kernel, in medians of the distances of the training digits."""

SVM_FACTORS, RIDGES = (0.35, 0.5, 0.7, 1.0), (1e-2, 1e-1, 1.0)
"""Candidate scales and ridges of the support vector machines."""


def kernel_classes(X: np.ndarray, y: np.ndarray, kernels: Sequence[Kernel] | None = None) -> DependencyEstimator:
    """Fit KDE with the kernel of classes; input kernel and alpha by leave-one-out distance in feature space."""
    kernels = input_scales(X, FACTORS) if kernels is None else kernels
    model = best_by_leave_one_out([paper_estimator(kernel, Classes()) for kernel in kernels], X, y)
    assert isinstance(model, DependencyEstimator)
    return model


def neighbour_classes(X: np.ndarray, y: np.ndarray) -> NeighborsEstimator:
    """Fit k-NN with k by leave-one-out error."""
    # Linear means plain Euclidean distance; a Gaussian would leave distant digits equally far to machine precision
    return NeighborsEstimator(Linear(), Classes(), k="loo", loss="kernel").fit(X, y)


class OneVersusRest:
    """Support vector machine for each class with squared errors: a ridge on the diagonal and a hard margin (NIPS, 4.2)."""

    def __init__(self, kernel: Gaussian, ridge: float) -> None:
        self.kernel, self.ridge = kernel, ridge

    def fit(self, X: np.ndarray, y: np.ndarray) -> OneVersusRest:
        """Train on vectors and classes."""
        self.X_, self.classes_ = X, np.unique(y)
        gram = self.kernel(X) + self.ridge * np.eye(len(X))
        self.machines_ = [SVC(C=1e6, kernel="precomputed").fit(gram, y == label) for label in self.classes_]
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Predict the class whose machine has the largest value."""
        values = self.kernel(X, self.X_)
        return self.classes_[np.argmax([machine.decision_function(values) for machine in self.machines_], axis=0)]


def support_vectors(X: np.ndarray, y: np.ndarray, seed: int) -> OneVersusRest:
    """Fit the machines with scale and ridge by an inner 5-fold error."""
    models = [OneVersusRest(kernel, ridge) for kernel in input_scales(X, SVM_FACTORS) for ridge in RIDGES]
    folds = list(KFold(5, shuffle=True, random_state=seed).split(X))

    def wrong(model: OneVersusRest) -> int:
        return sum(int(np.sum(model.fit(X[train], y[train]).predict(X[held]) != y[held])) for train, held in folds)

    return min(models, key=wrong).fit(X, y)


def settings(model: Any) -> dict[str, float]:
    """Return the settings that were chosen."""
    if isinstance(model, NeighborsEstimator):
        return {"k": int(model.k_)}
    if isinstance(model, OneVersusRest):
        return {"scale": float(model.kernel.scale), "ridge": model.ridge}
    return {"scale": float(getattr(model.input_kernel_, "scale", 0.0)), "ridge": float(model.alpha_)}
