"""Learn a map from any kind of object to any other: strings, images, label sets, rankings, graphs, curves.

Names and rooms (``mercer.kernels``, ``mercer.testing``, …) are imported when they are first used.
"""

from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from mercer._version import __version__

if TYPE_CHECKING:
    from mercer import testing
    from mercer.automatic import AutoEstimator
    from mercer.core.arrays import NumericalWarning
    from mercer.embeddings import PrincipalComponents
    from mercer.estimators import (
        CurveRidge,
        DependencyEstimator,
        EntangledRidge,
        KernelPCA,
        NeighborsEstimator,
        OperatorValuedRidge,
        OutputKernelLearning,
    )
    from mercer.saving import load, save
    from mercer.sequence_models import AlignedSequences, Inflection

__all__ = [
    "AlignedSequences",
    "AutoEstimator",
    "CurveRidge",
    "DependencyEstimator",
    "EntangledRidge",
    "Inflection",
    "KernelPCA",
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

_NAMES = {
    "automatic": ["AutoEstimator"],
    "core.arrays": ["NumericalWarning"],
    "embeddings": ["PrincipalComponents"],
    "estimators": [
        "CurveRidge",
        "DependencyEstimator",
        "EntangledRidge",
        "KernelPCA",
        "NeighborsEstimator",
        "OperatorValuedRidge",
        "OutputKernelLearning",
    ],
    "saving": ["load", "save"],
    "sequence_models": ["AlignedSequences", "Inflection"],
}
_ROOM_OF = {name: room for room, names in _NAMES.items() for name in names}

if not TYPE_CHECKING:  # with __getattr__ in sight, mypy would accept any name

    def __getattr__(name: str) -> Any:
        if name in _ROOM_OF:
            value = getattr(import_module(f"mercer.{_ROOM_OF[name]}"), name)
            globals()[name] = value
            return value
        if not name.startswith("_") and find_spec(f"mercer.{name}") is not None:
            return import_module(f"mercer.{name}")
        raise AttributeError(f"module 'mercer' has no attribute {name!r}")

    def __dir__() -> list[str]:
        rooms = [module.name for module in iter_modules(__path__) if not module.name.startswith("_")]
        return sorted([*__all__, *rooms])
