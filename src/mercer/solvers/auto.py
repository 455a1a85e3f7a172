"""The solver that picks a solver, and says why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from mercer.solvers.base import Factorization, RidgeProblem, Solver
from mercer.solvers.exact import Cholesky, Exact, ExplicitFeatures
from mercer.solvers.structured import Structured
from mercer.solvers.tridiagonal import Tridiagonal


class Choice(NamedTuple):
    """A part that was picked, and the reason in one sentence."""

    part: Any
    reason: str


class Auto(Solver):
    """Ask solvers in order, and take the first that supports the problem; by default the exact ones.

    ====================  ======================================================
    solver                supports
    ====================  ======================================================
    `ExplicitFeatures`    separable operators, fewer input features than pairs
    `Cholesky`            the identity operator, one alpha
    `Tridiagonal`         other separable operators, one alpha, NumPy
    `Exact`               separable operators, alpha chosen
    `Structured`          any operator-valued kernel, missing outputs
    ====================  ======================================================

    Parameters
    ----------
    solvers : sequence of Solver, optional
        The solvers to ask; by default those of the table.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> from mercer.operators import Covariance
    >>> from mercer.solvers import RidgeProblem
    >>> Auto().choose(RidgeProblem(Gaussian(1.0), np.eye(3), np.eye(3), Covariance(), alpha=1.0)).part
    Tridiagonal()
    """

    def __init__(self, solvers: Sequence[Solver] | None = None) -> None:
        self.solvers = solvers

    def choose(self, problem: RidgeProblem) -> Choice:
        """Return the solver for this problem, and why."""
        refused = []
        for solver in exact_solvers() if self.solvers is None else self.solvers:
            against = solver.supports(problem)
            if against is None:
                return Choice(solver, solver.reason(problem))
            refused.append(f"{solver!r}: {against}")
        raise ValueError("no solver supports this problem. " + "; ".join(refused))

    def factorize(self, problem: RidgeProblem) -> Factorization:
        """Factorize by the solver that is picked."""
        return self.choose(problem).part.factorize(problem)


def exact_solvers(structured: Structured | None = None) -> list[Solver]:
    """Return the solvers `Auto` asks, in order."""
    return [ExplicitFeatures(), Cholesky(), Tridiagonal(), Exact(), structured or Structured()]
