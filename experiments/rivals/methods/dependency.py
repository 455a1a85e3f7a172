"""`DependencyEstimator` of this library with its defaults."""

from __future__ import annotations

from typing import Any

from experiments.rivals.problem import CLASSES, DICTIONARY, INFLECTION, LABELS, RANKINGS, STRINGS, Problem
from mercer import DependencyEstimator
from mercer.kernels import Classes, Kemeny, LabelSets, Subsequence

KERNELS = {LABELS: LabelSets, RANKINGS: Kemeny, CLASSES: Classes}


def dependency(problem: Problem) -> Any:
    """`DependencyEstimator()`, no loss named; the output kernel says what outputs are.

    Strings are compared by pairs of letters on both sides. A pair (lemma, tags) is written as one string.
    """
    if problem.kind not in STRINGS:
        parts = {"output_kernel": KERNELS[problem.kind]()} if problem.kind in KERNELS else {}
        return DependencyEstimator(**parts).fit(problem.X, problem.y).predict(problem.X_test)
    letters = Subsequence(length=2).normalized()
    X, X_test = problem.X, problem.X_test
    if problem.kind == INFLECTION:
        X, X_test = ([f"{lemma} {tags}" for lemma, tags in each] for each in (X, X_test))
    candidates = problem.candidates if problem.kind == DICTIONARY else None
    return DependencyEstimator(letters, letters).fit(X, problem.y).predict(X_test, candidates)
