"""Contracts a part has to keep; public, so that you can check parts of your own."""

from mercer.testing.decoders import check_decoder
from mercer.testing.estimators import check_object_estimator
from mercer.testing.kernels import check_kernel
from mercer.testing.learners import check_learner, learning_problem
from mercer.testing.operators import check_operator
from mercer.testing.solvers import check_solver
from mercer.testing.valued import check_operator_valued_kernel

__all__ = [
    "check_decoder",
    "check_kernel",
    "check_learner",
    "check_object_estimator",
    "check_operator",
    "check_operator_valued_kernel",
    "check_solver",
    "learning_problem",
]
