"""Methods of the comparison: names, where they are, the kinds of task they can do, and the package they need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from experiments.rivals.problem import (
    CLASSES,
    CURVES,
    DICTIONARY,
    INFLECTION,
    LABELS,
    STRINGS,
    TABLES,
    TRANSDUCTION,
    Problem,
)


@dataclass(frozen=True)
class Method:
    """A method: its function is `function` of the module `module` of `experiments.rivals.methods`."""

    name: str
    module: str
    function: str
    kinds: tuple[str, ...] = TABLES
    package: str | None = None

    @property
    def path(self) -> Path:
        """File of the module."""
        return Path(__file__).parent / "methods" / f"{self.module}.py"

    @property
    def missing(self) -> str | None:
        """Return what is not installed, if anything."""
        if self.module == "auto":
            return None if "AutoEstimator" in import_module("mercer").__all__ else "mercer.AutoEstimator"
        return self.package if self.package and find_spec(self.package) is None else None

    def load(self) -> Callable[[Problem], Any]:
        """Import the function."""
        return getattr(import_module(f"experiments.rivals.methods.{self.module}"), self.function)


REFERENCE, FAST, BEST = "AutoEstimator", "AutoEstimator, fast", "AutoEstimator, best"
OURS = (REFERENCE, FAST, BEST, "DependencyEstimator")
_ALL = [
    Method(REFERENCE, "auto", "balanced", TABLES + STRINGS),
    Method(FAST, "auto", "fast", TABLES + STRINGS),
    Method(BEST, "auto", "best", TABLES + STRINGS),
    Method("DependencyEstimator", "dependency", "dependency", TABLES + STRINGS),
    Method("RidgeCV", "linear", "ridge"),
    Method("PLS", "linear", "pls"),
    Method("functional linear", "linear", "functional", (CURVES,)),
    Method("k-NN", "neighbors", "neighbors"),
    Method("KernelRidge", "kernel", "kernel_ridge"),
    Method("random forest", "forests", "random_forest"),
    Method("extra trees", "forests", "extra_trees"),
    Method("logistic regression", "labels", "logistic", (LABELS, CLASSES)),
    Method("classifier chains", "labels", "chains", (LABELS,)),
    Method("himalaya", "multiple", "himalaya", package="himalaya"),
    Method("HistGradientBoosting", "boosting", "hist_gradient_boosting"),
    Method("LightGBM", "boosting", "lightgbm", package="lightgbm"),
    Method("XGBoost", "boosting", "xgboost", package="xgboost"),
    Method("CatBoost", "boosting", "catboost", package="catboost"),
    Method("xRFM", "feature_machine", "xrfm", package="xrfm"),
    Method("Gaussian process, ARD", "process", "gaussian_process"),
    Method("RealMLP", "neural", "realmlp", package="pytabkit"),
    Method("nearest word", "strings", "nearest", STRINGS),
    Method("tf-idf of n-grams", "strings", "tfidf", (TRANSDUCTION, DICTIONARY)),
    Method("letter windows, logistic", "windows", "logistic_windows", (TRANSDUCTION, INFLECTION)),
    Method("letter windows, trees", "windows", "forest_windows", (TRANSDUCTION, INFLECTION)),
]
METHODS = {method.name: method for method in _ALL}
"""Methods by name."""
