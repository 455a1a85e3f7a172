"""Learn a map from any kind of object to any other: strings, images, label sets, rankings, graphs, curves."""

from mercer._version import __version__
from mercer.arrays import NumericalWarning
from mercer.estimators import (
    DependencyEstimator,
    EntangledRidge,
    NeighborsEstimator,
    OperatorValuedRidge,
    OutputKernelLearning,
)
from mercer.saving import load, save

__all__ = [
    "DependencyEstimator",
    "EntangledRidge",
    "NeighborsEstimator",
    "NumericalWarning",
    "OperatorValuedRidge",
    "OutputKernelLearning",
    "__version__",
    "load",
    "save",
]
