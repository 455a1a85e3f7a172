"""Solvers: how the regularised system is solved."""

from mercer.core.gram_eigh import GramEigh
from mercer.core.sketch import SparseSketch
from mercer.solvers.base import Auto, Choice, RidgeProblem, Solver, register
from mercer.solvers.cholesky import Cholesky
from mercer.solvers.conjugate_gradient import Solution, conjugate_gradient
from mercer.solvers.factorization import Factorization
from mercer.solvers.iterative import ConjugateGradient
from mercer.solvers.kernel_values import KernelBasis, PointMap
from mercer.solvers.low_rank import LowRank
from mercer.solvers.ridge_path import Exact, ExplicitFeatures, RidgePath
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
