"""Embeddings: coordinates of outputs, in which learning a map is regression."""

from mercer.embeddings.aware import InputAware, KernelCCA, KernelPLS, ReducedRank
from mercer.embeddings.base import Embedding
from mercer.embeddings.directions import Directions
from mercer.embeddings.distinct import Distinct
from mercer.embeddings.explicit import Features, FeaturesOf
from mercer.embeddings.implicit import Implicit
from mercer.embeddings.pivoted import Pivoted
from mercer.embeddings.spectral import PrincipalComponents, Spectral

__all__ = [
    "Directions",
    "Distinct",
    "Embedding",
    "Features",
    "FeaturesOf",
    "Implicit",
    "InputAware",
    "KernelCCA",
    "KernelPLS",
    "Pivoted",
    "PrincipalComponents",
    "ReducedRank",
    "Spectral",
]
