"""Learn a map from any kind of object to any other: strings, images, label sets, rankings, graphs, curves."""

from mercer import testing
from mercer._version import __version__
from mercer.core.arrays import NumericalWarning
from mercer.embeddings import PrincipalComponents
from mercer.estimators import (
    CurveRidge,
    DependencyEstimator,
    EntangledRidge,
    NeighborsEstimator,
    OperatorValuedRidge,
    OutputKernelLearning,
)
from mercer.saving import load, save
from mercer.sequence_models import AlignedSequences, Inflection

__all__ = [
    "AlignedSequences",
    "CurveRidge",
    "DependencyEstimator",
    "EntangledRidge",
    "Inflection",
    "NeighborsEstimator",
    "NumericalWarning",
    "OperatorValuedRidge",
    "OutputKernelLearning",
    "PrincipalComponents",
    "__version__",
    "load",
    "save",
    "testing",
]
