"""Molecules: fingerprints and graphs of SMILES, mass spectra, and similarity search.

SMILES need rdkit, graphs need networkx; both are imported when first used.
"""

from mercer.structures.molecules.fingerprints import canonical, fingerprints
from mercer.structures.molecules.graphs import graph_smiles, molecular_graph
from mercer.structures.molecules.search import Neighbors, top_k_tanimoto
from mercer.structures.molecules.spectra import MassSpectrum

__all__ = [
    "MassSpectrum",
    "Neighbors",
    "canonical",
    "fingerprints",
    "graph_smiles",
    "molecular_graph",
    "top_k_tanimoto",
]
