"""Forests on rows of numbers, all outputs in one tree."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

from experiments.rivals.methods.tuning import SEED, regressed
from experiments.rivals.problem import Problem

TREES, WIDE = 300, 500


def random_forest(problem: Problem) -> np.ndarray:
    """`RandomForestRegressor`: 300 trees; columns per split (√d, d/3, d) and leaves of 1 or 3, by three inner folds."""
    return _forest(problem, RandomForestRegressor)


def extra_trees(problem: Problem) -> np.ndarray:
    """`ExtraTreesRegressor`, without bootstrap: 300 trees; columns per split and size of leaves by three inner folds."""
    return _forest(problem, ExtraTreesRegressor)


def _forest(problem: Problem, family: Any) -> np.ndarray:
    """Compare settings by forests of all trees; with more than 500 columns √d or a tenth of them per split."""
    shares = ("sqrt", 0.1) if np.shape(problem.X)[1] > WIDE else ("sqrt", 1 / 3, 1.0)
    models = [
        family(TREES, max_features=share, min_samples_leaf=leaf, random_state=SEED, n_jobs=problem.threads)
        for share in shares
        for leaf in (1, 3)
    ]
    return regressed(problem, models, folds=3)
