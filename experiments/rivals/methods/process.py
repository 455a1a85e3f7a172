"""Gaussian process with a scale per column."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from experiments.rivals.methods.targets import Targets
from experiments.rivals.methods.tuning import SEED, inputs, left_out, median_square
from experiments.rivals.problem import LABELS, Problem

MEMORY = 4e9


def gaussian_process(problem: Problem) -> np.ndarray:
    """`GaussianProcessRegressor`: constant × Gaussian with a scale per column + noise, by marginal likelihood, y normalised.

    Outputs share their kernel. Label sets take their threshold from five inner folds, with the kernel of all of them.
    """
    X, X_test = inputs(problem)
    need = 16.0 * len(X) ** 2 * X.shape[1]
    if need > MEMORY:
        raise MemoryError(f"the gradient of {X.shape[1]} scales needs {need / 1e9:.0f} GB for {len(X)} inputs")
    targets = Targets(problem)
    spread = float(np.sqrt(median_square(X)))
    kernel = ConstantKernel(1.0, (1e-3, 1e4)) * RBF(np.full(X.shape[1], spread), (1e-2 * spread, 1e3 * spread))
    model = GaussianProcessRegressor(kernel + WhiteKernel(0.1, (1e-6, 1e2)), normalize_y=True, random_state=SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, targets.rows)
        fixed = GaussianProcessRegressor(model.kernel_, optimizer=None, normalize_y=True)
        held_out = left_out(fixed, X, targets.rows, 5) if problem.kind == LABELS else None
        return targets.outputs(model.predict(X_test), held_out)
