"""Learners: what is fitted on pairs and gives points, left-out points and weights."""

from mercer.learners.base import FittedMap, Learner, LearningProblem
from mercer.learners.constant import Constant
from mercer.learners.curves import SmoothedCurves
from mercer.learners.entangled import EntangledKernel
from mercer.learners.forest import Forest
from mercer.learners.joint import InducedMap, JointMap
from mercer.learners.max_margin import MaxMargin
from mercer.learners.metric import LearnedMetric
from mercer.learners.mixture import Mixture, OnKernel
from mercer.learners.neighbors import Neighbors
from mercer.learners.output_kernel import OutputKernel
from mercer.learners.regressor import Regressor, as_learner
from mercer.learners.relevance import RelevantColumns
from mercer.learners.ridge import Ridge
from mercer.learners.words import RelevantWords

__all__ = [
    "Constant",
    "EntangledKernel",
    "FittedMap",
    "Forest",
    "InducedMap",
    "JointMap",
    "LearnedMetric",
    "Learner",
    "LearningProblem",
    "MaxMargin",
    "Mixture",
    "Neighbors",
    "OnKernel",
    "OutputKernel",
    "Regressor",
    "RelevantColumns",
    "RelevantWords",
    "Ridge",
    "SmoothedCurves",
    "as_learner",
]
