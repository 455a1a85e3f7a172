"""scikit-learn estimators: glue over the parts."""

from mercer.estimators.base import ObjectEstimator
from mercer.estimators.components import KernelPCA
from mercer.estimators.curves import CurveRidge
from mercer.estimators.dependency import DependencyEstimator
from mercer.estimators.entangled import EntangledRidge
from mercer.estimators.joint import JointKernelMap
from mercer.estimators.neighbors import NeighborsEstimator
from mercer.estimators.operator_valued import OperatorValuedRidge
from mercer.estimators.output_kernel import OutputKernelLearning
from mercer.uncertainty.answers import Carrier, Explanation

__all__ = [
    "Carrier",
    "CurveRidge",
    "DependencyEstimator",
    "EntangledRidge",
    "Explanation",
    "JointKernelMap",
    "KernelPCA",
    "NeighborsEstimator",
    "ObjectEstimator",
    "OperatorValuedRidge",
    "OutputKernelLearning",
]
