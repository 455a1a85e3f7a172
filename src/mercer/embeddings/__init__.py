"""Outputs as points: coordinates in which learning a map is plain regression."""

from mercer.embeddings.base import Embedding
from mercer.embeddings.explicit import Features
from mercer.embeddings.implicit import Implicit
from mercer.embeddings.pivoted import Pivoted
from mercer.embeddings.spectral import PrincipalComponents, Spectral

__all__ = ["Embedding", "Features", "Implicit", "Pivoted", "PrincipalComponents", "Spectral"]
