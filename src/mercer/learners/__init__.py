"""Learners: what is fitted on pairs and gives points, left-out points and weights."""

from mercer.learners.base import FittedMap, Learner, LearningProblem
from mercer.learners.curves import SmoothedCurves
from mercer.learners.entangled import EntangledKernel
from mercer.learners.joint import JointMap
from mercer.learners.neighbors import Neighbors
from mercer.learners.output_kernel import OutputKernel
from mercer.learners.regressor import Regressor, as_learner
from mercer.learners.ridge import Ridge

__all__ = [
    "EntangledKernel",
    "FittedMap",
    "JointMap",
    "Learner",
    "LearningProblem",
    "Neighbors",
    "OutputKernel",
    "Regressor",
    "Ridge",
    "SmoothedCurves",
    "as_learner",
]
