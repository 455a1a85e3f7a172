"""Kernel ridge regression with a grid."""

from __future__ import annotations

import numpy as np
from sklearn.kernel_ridge import KernelRidge

from experiments.rivals.methods.tuning import inputs, median_square, regressed, standardised
from experiments.rivals.problem import Problem

WIDTHS = (0.03, 0.1, 0.3, 1.0, 3.0)
PENALTIES = (1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0)


def kernel_ridge(problem: Problem) -> np.ndarray:
    """`KernelRidge`: Gaussian and Laplacian kernels, five widths around the median distance, six alphas, five inner folds."""
    X, _ = inputs(problem)
    gammas = {"rbf": 1.0 / median_square(X), "laplacian": 1.0 / median_square(X) ** 0.5 / X.shape[1] ** 0.5}
    models = [
        standardised(KernelRidge(kernel=kernel, gamma=factor * gamma, alpha=alpha))
        for kernel, gamma in gammas.items()
        for factor in WIDTHS
        for alpha in PENALTIES
    ]
    return regressed(problem, models)
