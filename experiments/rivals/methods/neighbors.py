"""Nearest neighbours of rows of numbers."""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import KNeighborsRegressor

from experiments.rivals.methods.tuning import regressed
from experiments.rivals.problem import Problem

KS = (1, 2, 3, 5, 8, 12, 20, 30, 50)


def neighbors(problem: Problem) -> np.ndarray:
    """`KNeighborsRegressor`: k from 1 to 50, equal weights or by distance, Euclidean or city block, by five inner folds."""
    models = [
        KNeighborsRegressor(k, weights=weights, metric=metric)
        for k in KS
        if k <= len(problem.X) * 4 // 5 - 1
        for weights in ("uniform", "distance")
        for metric in ("euclidean", "manhattan")
    ]
    return regressed(problem, models)
