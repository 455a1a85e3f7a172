"""The contract of a solver."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mercer.core.arrays import to_numpy
from mercer.operators.base import Outputs
from mercer.solvers.base import RidgeProblem, Solver


def check_solver(solver: Solver, problem: RidgeProblem, queries: np.ndarray, atol: float = 1e-7) -> None:
    r"""Check that `solver` agrees with dense algebra: predictions, leave-one-out, leave-group-out, weights, risks.

    The problem is solved as it stands, with and without an intercept, with sample weights and with groups, for each of
    these that the solver supports. An approximate solver passes with a tolerance (or rank) that makes its factor complete.

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
    n = problem.size
    weights, groups = np.linspace(0.5, 2.0, n), np.arange(n) % 3
    for fit_intercept in (False, True):
        for weight in (None, weights):
            for group in (None, groups):
                variant = replace(problem, fit_intercept=fit_intercept, sample_weight=weight, groups=group)
                _check(solver, _fresh(variant), queries, atol)


def _fresh(problem: RidgeProblem) -> RidgeProblem:
    """The problem without what an earlier one has cached."""
    return replace(problem)


def _check(solver: Solver, problem: RidgeProblem, queries: np.ndarray, atol: float) -> None:
    kernel, alpha = problem.kernel, problem.alpha
    assert alpha is not None, "check_solver needs a problem with one alpha"
    assert problem.targets is not None, "check_solver needs a problem with targets"
    what = f"{solver!r} (intercept {problem.fit_intercept}, weights {problem.roots is not None}, groups "
    what += f"{problem.groups is not None})"
    gram, targets = to_numpy(kernel(problem.inputs)).copy(), to_numpy(problem.targets)
    cross = to_numpy(kernel(queries, problem.inputs))
    C = _operator_matrix(problem)
    factorization = solver.factorize(problem)
    dense = DenseRidge(gram, targets, C, alpha, problem.fit_intercept, problem.sample_weight)
    _same(factorization.map(alpha).points(queries), dense.points(cross), f"{what}: predictions", atol)

    members = problem.members or [np.asarray([j]) for j in range(problem.size)]
    expected = np.empty_like(targets)
    for own in members:
        rest = np.setdiff1d(np.arange(problem.size), own)
        expected[own] = dense.on(rest).points(gram[np.ix_(own, rest)])
    left_out = to_numpy(factorization.left_out_points(alpha))
    _same(left_out, expected, f"{what}: left-out points", atol)
    risks = to_numpy(next(iter(factorization.risks([alpha]))))
    _same(risks, np.sum((expected - targets) ** 2, axis=1), f"{what}: risks", atol * (1.0 + np.abs(targets).max()) * 4)
    if problem.operator.is_identity:
        weighed = to_numpy(factorization.weights(queries, alpha)) @ targets
        _same(weighed, dense.points(cross), f"{what}: weights times outputs", atol)
    assert np.array_equal(to_numpy(kernel(problem.inputs)), gram), f"{what} changed the inputs it was given"
    again = solver.factorize(_fresh(problem)).map(alpha).points(queries)
    assert np.array_equal(to_numpy(again), to_numpy(factorization.map(alpha).points(queries))), (
        f"{what}: two runs differ"
    )
    assert 0.0 <= factorization.residual <= 1.0, f"{what}: residual is {factorization.residual}"


def _operator_matrix(problem: RidgeProblem) -> np.ndarray:
    """C, taken from all pairs."""
    r = to_numpy(problem.targets).shape[1]
    if problem.operator.is_identity:
        return np.eye(r)
    plain = replace(problem, targets=problem.targets)
    outputs: Outputs = plain.operator_outputs(plain.decomposed(), to_numpy(problem.targets))
    matrix = to_numpy(problem.operator.matrix(outputs))
    return np.diag(matrix) if matrix.ndim == 1 else matrix


class DenseRidge:
    """The ridge problem by one dense system of n·r equations, the intercept by bordering."""

    def __init__(  # noqa: PLR0913
        self,
        gram: np.ndarray,
        targets: np.ndarray,
        C: np.ndarray,
        alpha: float,
        fit_intercept: bool,
        sample_weight: np.ndarray | None = None,
    ) -> None:
        self.gram, self.targets, self.C, self.alpha, self.fit_intercept = gram, targets, C, alpha, fit_intercept
        n, r = targets.shape
        self.weight = np.ones(n) if sample_weight is None else sample_weight
        system = np.kron(C, gram) + alpha * np.kron(np.eye(r), np.diag(1.0 / self.weight))
        right = targets.ravel(order="F")
        if fit_intercept:
            ones = np.kron(np.eye(r), np.ones((n, 1)))
            system = np.block([[system, ones], [ones.T, np.zeros((r, r))]])
            right = np.append(right, np.zeros(r))
        solved = np.linalg.solve(system, right)
        self.dual = solved[: n * r].reshape(n, r, order="F")
        self.intercept = solved[n * r :] if fit_intercept else np.zeros(r)

    def points(self, cross: np.ndarray) -> np.ndarray:
        """Return h(x) for rows of kernel values."""
        return cross @ self.dual @ self.C + self.intercept

    def on(self, rows: np.ndarray) -> DenseRidge:
        """Return the fit on some of the pairs, C held."""
        gram = self.gram[np.ix_(rows, rows)]
        return DenseRidge(gram, self.targets[rows], self.C, self.alpha, self.fit_intercept, self.weight[rows])


def _same(found: object, expected: np.ndarray, what: str, atol: float) -> None:
    gap = float(np.abs(to_numpy(found) - expected).max())
    assert gap <= atol, f"{what} differ from dense algebra by {gap:.3g}"
