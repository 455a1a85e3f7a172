"""Small molecules as SMILES and as graphs."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.core.collections import as_objects
from mercer.datasets.store import Table, fetch, read_arrays
from mercer.structures.graphs import networkx

ELEMENTS = {6: "C", 7: "N", 8: "O", 9: "F"}
"""The elements of QM9 other than hydrogen."""


@dataclass(frozen=True)
class SmallMolecules(Table):
    """Molecules of up to nine atoms: their SMILES, and their graphs as matrices."""

    smiles: np.ndarray
    atoms: np.ndarray
    """Atomic numbers, nine columns, padded with zeros."""
    bonds: np.ndarray
    """Orders of the bonds of all pairs of atoms, row by row of the upper triangle."""
    charges: np.ndarray

    def graphs(self) -> np.ndarray:
        """Return networkx graphs, nodes labelled by element and edges by the order of the bond."""
        nx = networkx()
        size = self.atoms.shape[1]
        firsts, seconds = np.triu_indices(size, 1)
        found = np.empty(len(self), dtype=object)
        for i, (atoms, bonds) in enumerate(zip(self.atoms, self.bonds, strict=True)):
            graph: Any = nx.Graph()
            graph.add_nodes_from((j, {"label": ELEMENTS[int(atom)]}) for j, atom in enumerate(atoms) if atom)
            at = np.flatnonzero(bonds)
            graph.add_edges_from((int(firsts[j]), int(seconds[j]), {"label": int(bonds[j])}) for j in at)
            found[i] = graph
        return found


def load_qm9() -> SmallMolecules:
    """Load the 133,595 distinct molecules of QM9 (Ramakrishnan et al. 2014), up to nine atoms of C, N, O and F, without hydrogen.

    SMILES in alphabetical order; bonds without aromatic ones. Read from ``$MERCER_DATA/qm9``, checked against a pinned SHA-256.
    """
    shapes = {"atoms": (_COUNT, 9), "bonds_upper": (_COUNT, 36), "charges": (_COUNT, 9)}
    graphs = read_arrays("qm9/qm9_graphs.npz", shapes)
    with gzip.open(fetch("qm9/qm9_smiles.txt.gz"), "rt", encoding="utf-8") as lines:
        texts = lines.read().split()
    if len(texts) != _COUNT:
        raise ValueError(f"qm9/qm9_smiles.txt.gz holds {len(texts)} SMILES; expected {_COUNT}")
    return SmallMolecules(as_objects(texts), *graphs)


_COUNT = 133595
