"""`AutoEstimator` of this library: nothing named but the loss."""

from __future__ import annotations

from typing import Any

import mercer
from experiments.rivals.problem import CLASSES, DICTIONARY, LABELS, RANKINGS, STRINGS, Problem
from mercer.losses import F1, Kendall, Loss, ZeroOne

LOSSES: dict[str, type[Loss]] = {LABELS: F1, RANKINGS: Kendall, CLASSES: ZeroOne, **dict.fromkeys(STRINGS, ZeroOne)}


def fast(problem: Problem) -> Any:
    """`AutoEstimator(loss, effort="fast")`."""
    return _predicted(problem, "fast")


def balanced(problem: Problem) -> Any:
    """`AutoEstimator(loss)`: the default effort, "balanced"."""
    return _predicted(problem, "balanced")


def best(problem: Problem) -> Any:
    """`AutoEstimator(loss, effort="best")`."""
    return _predicted(problem, "best")


def _predicted(problem: Problem, effort: str) -> Any:
    """Fit with the loss of the task: F1, Kendall's τ, exact match; squared error, the default, for numbers.

    The words of a dictionary are passed as outputs without inputs and as candidates.
    """
    loss = LOSSES[problem.kind]() if problem.kind in LOSSES else None
    library: Any = mercer  # any of its modules may change what the estimator does
    model = library.AutoEstimator(loss=loss, effort=effort, n_jobs=problem.threads, random_state=0)
    if problem.kind == DICTIONARY:
        model.fit(problem.X, problem.y, extra_outputs=problem.candidates)
        return model.predict(problem.X_test, candidates=problem.candidates)
    return model.fit(problem.X, problem.y).predict(problem.X_test)
