"""Solvers: how the regularised system is solved."""

from mercer.core.gram_eigh import GramEigh
from mercer.core.sketch import SparseSketch
from mercer.solvers.base import Auto, Choice, Solver, register
from mercer.solvers.conjugate_gradient import Solution, conjugate_gradient
from mercer.solvers.exact import Cholesky, Exact, ExplicitFeatures
from mercer.solvers.factorization import Factorization
from mercer.solvers.iterative import ConjugateGradient
from mercer.solvers.low_rank import LowRank
from mercer.solvers.maps import KernelBasis, PointMap
from mercer.solvers.problem import RidgeProblem
from mercer.solvers.ridge_path import RidgePath
from mercer.solvers.structured import Structured
from mercer.solvers.tridiagonal import Tridiagonal

__all__ = [
    "Auto",
    "Choice",
    "Cholesky",
    "ConjugateGradient",
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
    "SparseSketch",
    "Structured",
    "Tridiagonal",
    "conjugate_gradient",
    "register",
]
