"""The solver that picks a solver, and says why."""

from __future__ import annotations

from typing import Any, NamedTuple

from mercer.operators import Identity, Operator
from mercer.solvers.base import Solver
from mercer.solvers.exact import Cholesky, Exact


class Choice(NamedTuple):
    """A part that was picked, and the reason in one sentence."""

    part: Any
    reason: str


class Auto(Solver):
    """Pick an exact solver; never an approximate one without being told.

    ==================  ===============================  ============
    operator            ridge                            picks
    ==================  ===============================  ============
    identity            one number                       `Cholesky`
    identity            chosen (leave-one-out, …)        `Exact`
    any other           one number, or chosen            `Exact`
    ==================  ===============================  ============

    Examples
    --------
    >>> from mercer.operators import Covariance
    >>> Auto().choose(Covariance(), one_alpha=True).part
    Exact()
    """

    def choose(self, operator: Operator, one_alpha: bool) -> Choice:
        """The solver for this operator, and why."""
        if one_alpha and isinstance(operator, Identity):
            return Choice(Cholesky(), "one ridge with the identity operator needs one Cholesky factor")
        if isinstance(operator, Identity):
            return Choice(Exact(), "choosing the ridge needs the whole path, which one eigendecomposition gives")
        return Choice(
            Exact(), f"{type(operator).__name__} couples the outputs, and eigendecompositions uncouple them exactly"
        )
