"""The solver that picks a solver, and says why."""

from __future__ import annotations

from typing import Any, NamedTuple

from mercer.operators import ConditionalCovariance, Covariance, Identity, Operator
from mercer.solvers.base import Solver
from mercer.solvers.exact import Cholesky, Exact
from mercer.solvers.tridiagonal import Tridiagonal


class Choice(NamedTuple):
    """A part that was picked, and the reason in one sentence."""

    part: Any
    reason: str


class Auto(Solver):
    """Pick an exact solver; never an approximate one without being told.

    =======================  ===============================  =============
    operator                 ridge                            picks
    =======================  ===============================  =============
    identity                 one number                       `Cholesky`
    covariance, conditional  one number                       `Tridiagonal`
    any                      chosen (leave-one-out, …)        `Exact`
    any other                one number                       `Exact`
    =======================  ===============================  =============

    Examples
    --------
    >>> from mercer.operators import Covariance
    >>> Auto().choose(Covariance(), one_alpha=True).part
    Tridiagonal()
    """

    def choose(self, operator: Operator, one_alpha: bool, spectral: bool = False) -> Choice:
        """The solver for this operator, and why.

        `spectral` is for fits with an operator that would be no cheaper without eigenvectors: on arrays that are not NumPy's,
        or for a decoder that wants to know how each pair is predicted without it.
        """
        if one_alpha and isinstance(operator, Identity):
            return Choice(Cholesky(), "one ridge with the identity operator needs one Cholesky factor")
        if one_alpha and not spectral and type(operator) in (Covariance, ConditionalCovariance):
            return Choice(
                Tridiagonal(), "one ridge for each output direction needs a tridiagonal form, no eigenvectors"
            )
        if isinstance(operator, Identity):
            return Choice(Exact(), "choosing the ridge needs the whole path, which one eigendecomposition gives")
        return Choice(
            Exact(), f"{type(operator).__name__} couples the outputs, and eigendecompositions uncouple them exactly"
        )
