"""Solvers: how the regularised system is solved."""

from mercer.core.gram_eigh import GramEigh
from mercer.solvers.auto import Auto, Choice
from mercer.solvers.base import Factorization, KernelBasis, PointMap, RidgeProblem, Solver
from mercer.solvers.conjugate_gradient import Solution, conjugate_gradient
from mercer.solvers.exact import Cholesky, Exact, ExplicitFeatures
from mercer.solvers.low_rank import LowRank
from mercer.solvers.ridge_path import RidgePath
from mercer.solvers.structured import Structured
from mercer.solvers.tridiagonal import Tridiagonal

__all__ = [
    "Auto",
    "Choice",
    "Cholesky",
    "Exact",
    "ExplicitFeatures",
    "Factorization",
    "GramEigh",
    "KernelBasis",
    "LowRank",
    "PointMap",
    "RidgePath",
    "RidgeProblem",
    "Solution",
    "Solver",
    "Structured",
    "Tridiagonal",
    "conjugate_gradient",
]
