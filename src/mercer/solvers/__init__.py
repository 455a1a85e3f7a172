"""Solvers: how the regularised system is solved."""

from mercer.core.gram_eigh import GramEigh
from mercer.solvers.auto import Auto, Choice
from mercer.solvers.base import Solver, SpectralSolver
from mercer.solvers.block_auto import Structured
from mercer.solvers.conjugate_gradient import Solution, conjugate_gradient
from mercer.solvers.exact import Cholesky, Exact
from mercer.solvers.low_rank import LowRank
from mercer.solvers.ridge import Ridge
from mercer.solvers.tridiagonal import Tridiagonal

__all__ = [
    "Auto",
    "Choice",
    "Cholesky",
    "Exact",
    "GramEigh",
    "LowRank",
    "Ridge",
    "Solution",
    "Solver",
    "SpectralSolver",
    "Structured",
    "Tridiagonal",
    "conjugate_gradient",
]
