"""Time of exact fits relative to the decompositions they need."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy.linalg

from experiments.bench import problems
from experiments.bench.sizes import Sizes
from experiments.bench.timing import Bar, Rows, Task, interleaved, reference_row
from experiments.protocol import paper_estimator
from mercer.estimators import DependencyEstimator
from mercer.kernels import Gaussian, Linear, Precomputed
from mercer.operators import ConditionalCovariance, Covariance
from mercer.selection import LeaveOneOut
from mercer.solvers import RidgePath, RidgeProblem

INPUT = Gaussian(scale=problems.INPUT_SCALE)
OUTPUT = Gaussian(scale=problems.OUTPUT_SCALE)


def decompositions(*matrices: np.ndarray) -> dict[str, Task]:
    """Return tasks that decompose these symmetric matrices, one for each driver of NumPy and SciPy."""

    def scipy_eigh(driver: str) -> None:
        for matrix in matrices:
            scipy.linalg.eigh(matrix, driver=driver, check_finite=False)

    def numpy_eigh() -> None:
        for matrix in matrices:
            np.linalg.eigh(matrix)

    return {
        "numpy.linalg.eigh": numpy_eigh,
        "scipy.linalg.eigh(driver='evd')": lambda: scipy_eigh("evd"),
        "scipy.linalg.eigh(driver='evr')": lambda: scipy_eigh("evr"),
    }


def covariances(sizes: Sizes) -> Rows:
    """Compare fits with (conditional) covariance operators with two eigendecompositions."""
    X, Y = problems.vectors(sizes.pairs)
    k, L = INPUT(X), OUTPUT(Y)
    positions = np.arange(sizes.pairs)

    def given(operator: Any) -> None:
        paper_estimator(Precomputed(), Precomputed(L), operator, alpha=0.1).fit(k, positions)

    def whole(operator: Any) -> None:
        paper_estimator(INPUT, OUTPUT, operator, alpha=0.1).fit(X, Y)

    references = decompositions(k, L)
    operators = {"covariance": Covariance(), "conditional covariance": ConditionalCovariance(0.1)}
    bars = {"covariance": Bar(1.5), "conditional covariance": Bar(2.0)}
    tasks: dict[str, Task] = dict(references)
    for name, operator in operators.items():
        tasks[f"{name} fit, Gram matrices given"] = partial(given, operator)
        tasks[f"{name} fit, Gram matrices made"] = partial(whole, operator)
    seconds = interleaved(tasks, sizes.repeats)
    rows = []
    for name in operators:
        for how, bar in (("given", bars[name]), ("made", None)):
            method = f"{name} fit, Gram matrices {how}"
            rows.append(reference_row(method, "× two eigh", seconds, list(references), bar))
    return [{**row, "n": sizes.pairs} for row in rows]


def leave_one_out(sizes: Sizes) -> Rows:
    """Compare a fit that chooses alpha, with explicit coordinates, with one eigendecomposition."""
    X, Y = problems.vectors(sizes.pairs, sizes.coordinates)
    rule = LeaveOneOut(np.logspace(-6, 2, 50))

    def path(fit_intercept: bool) -> None:
        DependencyEstimator(INPUT, Linear(), alpha=rule, fit_intercept=fit_intercept).fit(X, Y)

    references = decompositions(INPUT(X))
    method = f"fit with 50 values of alpha by leave-one-out, {sizes.coordinates} coordinates"
    methods = {method: False, f"{method}, with an intercept": True}
    tasks: dict[str, Task] = {name: partial(path, fit_intercept) for name, fit_intercept in methods.items()}
    seconds = interleaved({**references, **tasks}, sizes.repeats)
    rows = [reference_row(name, "× one eigh", seconds, list(references), Bar(2.0)) for name in methods]
    return [{**row, "n": sizes.pairs} for row in rows]


def implicit_leave_one_out(sizes: Sizes) -> Rows:
    """Compare one more value of alpha, for outputs known through their kernel alone, with one n³ product."""
    X, Y = problems.vectors(sizes.pairs)
    gram = OUTPUT(Y)
    ridge = RidgePath(RidgeProblem(INPUT, X, fit_intercept=False).decomposed(), None)
    next(ridge.risks([1.0], gram))  # computes what all values of alpha share
    alphas = np.logspace(-6, 2, 10)

    def path() -> None:
        for alpha in alphas:
            next(ridge.risks([float(alpha)], gram))

    left, right = gram, INPUT(X)

    def products() -> None:
        for _ in alphas:
            left @ right

    method = "each alpha by leave-one-out, implicit outputs"
    seconds = interleaved({method: path, "n × n product": products}, sizes.repeats)
    return [reference_row(method, "× one n³ product", seconds, ["n × n product"]) | {"n": sizes.pairs}]


def one_alpha(sizes: Sizes) -> Rows:
    """Compare a fit with the identity operator and one alpha with the Gram matrix and SciPy's Cholesky in place."""
    n = sizes.cholesky_pairs
    X, Y = problems.vectors(n)

    def fit() -> None:
        paper_estimator(INPUT, OUTPUT, alpha=0.1).fit(X, Y)

    def factor(gram: np.ndarray) -> None:
        gram.ravel()[:: n + 1] += 0.1
        # the transpose is in the order LAPACK works in, so nothing is copied
        scipy.linalg.cho_factor(gram.T, overwrite_a=True, check_finite=False)

    references = {
        "Gram by NumPy, scipy.linalg.cho_factor": lambda: factor(plain_gaussian(X)),
        "Gram by mercer, scipy.linalg.cho_factor": lambda: factor(INPUT(X)),
    }
    method = "identity fit, one alpha"
    seconds = interleaved({**references, method: fit}, sizes.repeats)
    return [reference_row(method, "× (Cholesky + Gram)", seconds, list(references), Bar(1.3)) | {"n": n}]


def plain_gaussian(X: np.ndarray) -> np.ndarray:
    """Compute the Gaussian Gram matrix of the inputs with NumPy, in place."""
    norms = np.sum(X * X, axis=1)
    gram = X @ X.T
    gram *= -2.0
    gram += norms
    gram += norms[:, None]
    np.maximum(gram, 0.0, out=gram)
    gram *= -1.0 / (2.0 * problems.INPUT_SCALE**2)
    return np.exp(gram, out=gram)
