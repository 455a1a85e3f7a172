"""Learn a map from any kind of object to any other: strings, images, label sets, rankings, graphs, curves."""

from mercer import testing
from mercer._version import __version__
from mercer.arrays import NumericalWarning
from mercer.embeddings import PrincipalComponents
from mercer.estimators import (
    CurveRidge,
    DependencyEstimator,
    EntangledRidge,
    ImageToMask,
    NeighborsEstimator,
    OperatorValuedRidge,
    OutputKernelLearning,
)
from mercer.saving import load, save
from mercer.transduction import AlignedSequences, Inflection

__all__ = [
    "AlignedSequences",
    "CurveRidge",
    "DependencyEstimator",
    "EntangledRidge",
    "ImageToMask",
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
