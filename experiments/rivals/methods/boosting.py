"""Gradient boosting: scikit-learn's, LightGBM, XGBoost and CatBoost, with three settings each chosen by three inner folds.

Settings are few long steps with large trees, and many short ones with small trees. Numbers are predicted by least squares,
labels and classes by logistic losses. Curves are predicted by their scores on principal components (99.9 % of the variance),
from means of neighbouring points where the input has more than 60.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from experiments.rivals.methods.tuning import SEED, regressed
from experiments.rivals.problem import CLASSES, LABELS, Problem

SETTINGS = ((100, 0.1, 31), (100, 0.1, 7), (300, 0.03, 7))
"""Number of trees, length of a step, leaves of a tree."""
CAT_SETTINGS = ((300, 0.1, 6), (300, 0.1, 4), (600, 0.03, 4))
"""Number of trees, length of a step, depth of a tree."""
FOLDS = 3


def hist_gradient_boosting(problem: Problem) -> np.ndarray:
    """`HistGradientBoostingRegressor` (`Classifier` for labels and classes), one per output; leaves of five or more."""

    def make(trees: int, step: float, leaves: int) -> Any:
        family = HistGradientBoostingClassifier if _classified(problem) else HistGradientBoostingRegressor
        return family(
            max_iter=trees,
            learning_rate=step,
            max_leaf_nodes=leaves,
            min_samples_leaf=5,
            early_stopping=False,
            random_state=SEED,
        )

    return _boosted(problem, make)


def lightgbm(problem: Problem) -> np.ndarray:
    """`LGBMRegressor` (`Classifier`), one per output; leaves of five or more, half of the columns per tree."""
    import lightgbm as library

    def make(trees: int, step: float, leaves: int) -> Any:
        family = library.LGBMClassifier if _classified(problem) else library.LGBMRegressor
        return family(
            n_estimators=trees,
            learning_rate=step,
            num_leaves=leaves,
            min_child_samples=5,
            colsample_bytree=0.5,
            random_state=SEED,
            n_jobs=problem.threads,
            verbose=-1,
        )

    return _boosted(problem, make)


def xgboost(problem: Problem) -> np.ndarray:
    """`XGBRegressor` (`Classifier`), one per output; depth 5 or 3 for 31 or 7 leaves, half of the columns per tree."""
    import xgboost as library

    def make(trees: int, step: float, leaves: int) -> Any:
        family = library.XGBClassifier if _classified(problem) else library.XGBRegressor
        return family(
            n_estimators=trees,
            learning_rate=step,
            max_depth=5 if leaves == 31 else 3,
            colsample_bytree=0.5,
            random_state=SEED,
            n_jobs=problem.threads,
        )

    return _boosted(problem, make)


def catboost(problem: Problem) -> np.ndarray:
    """`CatBoostRegressor` with MultiRMSE (MultiLogloss for labels, MultiClass for classes), trees of depth 6 or 4."""
    return regressed(
        problem, [CatBoost(problem.kind, *each, problem.threads) for each in CAT_SETTINGS], folds=FOLDS, components=True
    )


def _classified(problem: Problem) -> bool:
    return problem.kind in (LABELS, CLASSES)


def _boosted(problem: Problem, make: Callable[[int, float, int], Any]) -> np.ndarray:
    family = OneClassifier if problem.kind == CLASSES else PerOutput
    return regressed(problem, [family(make(*each)) for each in SETTINGS], folds=FOLDS, components=True)


class PerOutput(RegressorMixin, BaseEstimator):
    """A model for each output: its prediction, or the probability of 1 if it is a classifier."""

    def __init__(self, model: Any = None) -> None:
        self.model = model

    def fit(self, X: Any, y: Any) -> PerOutput:
        """Fit a model to each output that varies."""
        Y = np.reshape(y, (len(X), -1))
        self.first_ = Y[0]
        self.models_ = [clone(self.model).fit(X, column) if np.ptp(column) > 0 else None for column in Y.T]
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict rows of numbers."""
        rows = np.tile(self.first_, (len(X), 1))
        for column, model in enumerate(self.models_):
            if model is not None:
                rows[:, column] = model.predict_proba(X)[:, 1] if hasattr(model, "predict_proba") else model.predict(X)
        return rows


class OneClassifier(RegressorMixin, BaseEstimator):
    """A classifier fitted to rows of indicators; predicts probabilities."""

    def __init__(self, model: Any = None) -> None:
        self.model = model

    def fit(self, X: Any, y: Any) -> OneClassifier:
        """Fit the classifier to the position of the one in each row."""
        self.size_ = y.shape[1]
        self.seen_, codes = np.unique(np.argmax(y, axis=1), return_inverse=True)
        self.model_ = clone(self.model).fit(X, codes)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict the probability of each class."""
        rows = np.zeros((len(X), self.size_))
        rows[:, self.seen_] = self.model_.predict_proba(X)
        return rows


class CatBoost(RegressorMixin, BaseEstimator):
    """CatBoost with the loss of a kind of output."""

    def __init__(
        self, kind: str = "vectors", trees: int = 300, step: float = 0.1, depth: int = 6, threads: int = 1
    ) -> None:
        self.kind = kind
        self.trees = trees
        self.step = step
        self.depth = depth
        self.threads = threads

    def fit(self, X: Any, y: Any) -> CatBoost:
        """Fit the model of all outputs that vary."""
        import catboost as library

        common = {
            "iterations": self.trees,
            "learning_rate": self.step,
            "depth": self.depth,
            "random_seed": SEED,
            "thread_count": self.threads,
            "verbose": False,
            "allow_writing_files": False,
        }
        Y = np.reshape(y, (len(X), -1))
        self.first_, self.varying_ = Y[0], np.flatnonzero(np.ptp(Y, axis=0) > 0)
        Y = Y[:, self.varying_]
        if self.kind == CLASSES:
            self.model_ = library.CatBoostClassifier(loss_function="MultiClass", **common).fit(X, Y.argmax(axis=1))
        elif self.kind == LABELS:
            loss = "MultiLogloss" if Y.shape[1] > 1 else "Logloss"
            self.model_ = library.CatBoostClassifier(loss_function=loss, **common).fit(X, Y.astype(int))
        else:
            loss = "MultiRMSE" if Y.shape[1] > 1 else "RMSE"
            self.model_ = library.CatBoostRegressor(loss_function=loss, **common).fit(X, Y)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict rows of numbers or probabilities."""
        found = self.model_.predict_proba(X) if self.kind in (CLASSES, LABELS) else self.model_.predict(X)
        rows = np.tile(self.first_, (len(X), 1))
        rows[:, self.varying_] = np.reshape(found, (len(X), -1))[:, -len(self.varying_) :]
        return rows
