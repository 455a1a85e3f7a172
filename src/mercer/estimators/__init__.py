"""scikit-learn estimators: glue over the parts."""

from mercer.estimators.answers import Carrier, Explanation
from mercer.estimators.base import ObjectEstimator
from mercer.estimators.chain import MaxMarginChain
from mercer.estimators.constrained import ConstrainedRidge
from mercer.estimators.curves import CurveRidge
from mercer.estimators.dependency import DependencyEstimator
from mercer.estimators.entangled import EntangledRidge
from mercer.estimators.hopfield import HopfieldNet
from mercer.estimators.joint import JointKernelMap
from mercer.estimators.masks import ImageToMask
from mercer.estimators.neighbors import NeighborsEstimator
from mercer.estimators.operator_valued import OperatorValuedRidge
from mercer.estimators.output_kernel import OutputKernelLearning

__all__ = [
    "Carrier",
    "ConstrainedRidge",
    "CurveRidge",
    "DependencyEstimator",
    "EntangledRidge",
    "Explanation",
    "HopfieldNet",
    "ImageToMask",
    "JointKernelMap",
    "MaxMarginChain",
    "NeighborsEstimator",
    "ObjectEstimator",
    "OperatorValuedRidge",
    "OutputKernelLearning",
]
