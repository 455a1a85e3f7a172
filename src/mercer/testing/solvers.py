"""The contract of a solver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from mercer.core.arrays import to_numpy
from mercer.solvers.base import RidgeProblem, Solver


def check_solver(solver: Solver, problem: RidgeProblem, queries: np.ndarray, atol: float = 1e-7) -> None:
    """Raise an AssertionError unless a solver agrees with dense algebra: predictions, left-out points, weights, risks.

    The problem is solved with and without an intercept, sample weights and groups. An approximate solver passes with a
    tolerance (or rank) that makes its factor complete.

    Parameters
    ----------
    solver : Solver
        The solver under test.
    problem : RidgeProblem
        A small problem with targets that the solver supports, with one alpha.
    queries : collection
        A few new inputs.
    atol : float
        Absolute tolerance.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> from mercer.solvers import Exact
    >>> X = np.random.default_rng(0).standard_normal((8, 2))
    >>> check_solver(Exact(), RidgeProblem(Gaussian(1.0), X, X, alpha=0.1), X[:3] + 0.1)
    """
    refused = solver.supports(problem)
    assert refused is None, f"{solver!r} does not support the problem: {refused}"
    assert problem.alpha is not None, "check_solver needs a problem with one alpha"
    assert problem.targets is not None, "check_solver needs a problem with targets"
    weights, groups = np.linspace(0.5, 2.0, problem.size), np.arange(problem.size) % 3
    for intercept, weight, group in product((False, True), (None, weights), (None, groups)):
        what = f"{solver!r} (intercept {intercept}, weights {weight is not None}, groups {group is not None})"
        variant = replace(problem, fit_intercept=intercept, sample_weight=weight, groups=group)
        _check(solver, variant, queries, atol, what)


def _check(solver: Solver, problem: RidgeProblem, queries: Any, atol: float, what: str) -> None:
    kernel, alpha, targets = problem.kernel, problem.alpha or 0.0, to_numpy(problem.targets)
    gram, cross = to_numpy(kernel(problem.inputs)).copy(), to_numpy(kernel(queries, problem.inputs))
    C, found, pairs = _operator_matrix(problem), solver.factorize(problem), np.arange(problem.size)
    predictions, expected = _dense(problem, gram, C, pairs)(cross), np.empty_like(targets)
    for own in problem.members or list(pairs[:, None]):
        expected[own] = _dense(problem, gram, C, np.setdiff1d(pairs, own))(gram[own])
    points = to_numpy(found.map(alpha).points(queries))
    _same(points, predictions, f"{what}: predictions", atol)
    _same(found.left_out_points(alpha), expected, f"{what}: left-out points", atol)
    risks, larger = next(iter(found.risks([alpha]))), 4 * atol * (1.0 + np.abs(targets).max())
    _same(risks, np.sum((expected - targets) ** 2, axis=1), f"{what}: risks", larger)
    if problem.operator.is_identity:
        weighed = to_numpy(found.weights(queries, alpha)) @ targets
        _same(weighed, predictions, f"{what}: weights times outputs", atol)
    assert np.array_equal(to_numpy(kernel(problem.inputs)), gram), f"{what} changed the inputs it was given"
    again = solver.factorize(replace(problem)).map(alpha).points(queries)
    assert np.array_equal(to_numpy(again), points), f"{what}: two runs differ"
    assert 0.0 <= found.residual <= 1.0, f"{what}: residual is {found.residual}"


def _operator_matrix(problem: RidgeProblem) -> np.ndarray:
    """C, taken from all pairs."""
    targets, problem = to_numpy(problem.targets), replace(problem)
    if problem.operator.is_identity:
        return np.eye(targets.shape[1])
    matrix = to_numpy(problem.operator.matrix(problem.operator_outputs(problem.decomposed(), targets)))
    return np.diag(matrix) if matrix.ndim == 1 else matrix


def _dense(problem: RidgeProblem, gram: np.ndarray, C: np.ndarray, rows: np.ndarray) -> Callable[[Any], np.ndarray]:
    """The fit on some of the pairs by one dense system of n·r equations, as a map of kernel values with all pairs."""
    targets = to_numpy(problem.targets)[rows]
    n, r = targets.shape
    weight = np.ones(n) if problem.sample_weight is None else problem.sample_weight[rows]
    system = np.kron(C, gram[np.ix_(rows, rows)]) + (problem.alpha or 0.0) * np.kron(np.eye(r), np.diag(1.0 / weight))
    right = targets.ravel(order="F")
    if problem.fit_intercept:
        ones = np.kron(np.eye(r), np.ones((n, 1)))
        system = np.block([[system, ones], [ones.T, np.zeros((r, r))]])
        right = np.append(right, np.zeros(r))
    solved = np.linalg.solve(system, right)
    coefficients = solved[: n * r].reshape(n, r, order="F") @ C
    return lambda cross: cross[:, rows] @ coefficients + (solved[n * r :] if problem.fit_intercept else 0.0)


def _same(found: object, expected: np.ndarray, what: str, atol: float) -> None:
    gap = float(np.abs(to_numpy(found) - expected).max())
    assert gap <= atol, f"{what} differ from dense algebra by {gap:.3g}"
