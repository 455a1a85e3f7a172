"""Small molecules as SMILES and as graphs."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.datasets.store import fetch
from mercer.structures.graphs import networkx

ELEMENTS = {6: "C", 7: "N", 8: "O", 9: "F"}
"""The elements of QM9 other than hydrogen."""


@dataclass(frozen=True)
class SmallMolecules:
    """Molecules of up to nine atoms: their SMILES, and their graphs as matrices."""

    smiles: np.ndarray
    atoms: np.ndarray
    """Atomic numbers, nine columns, padded with zeros."""
    bonds: np.ndarray
    """Orders of the bonds of all pairs of atoms, row by row of the upper triangle."""
    charges: np.ndarray

    def __len__(self) -> int:
        return len(self.smiles)

    def take(self, rows: np.ndarray) -> SmallMolecules:
        """Return the molecules at `rows`."""
        return SmallMolecules(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))

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
    with np.load(fetch("qm9/qm9_graphs.npz"), allow_pickle=False) as arrays:
        atoms, bonds, charges = arrays["atoms"], arrays["bonds_upper"], arrays["charges"]
    with gzip.open(fetch("qm9/qm9_smiles.txt.gz"), "rt", encoding="utf-8") as lines:
        texts = lines.read().split()
    if len(texts) != _COUNT or atoms.shape != (_COUNT, 9) or bonds.shape != (_COUNT, 36):
        raise ValueError(
            f"the QM9 files hold {len(texts)} SMILES, atoms {atoms.shape} and bonds {bonds.shape}; expected {_COUNT}, "
            f"({_COUNT}, 9) and ({_COUNT}, 36)"
        )
    smiles = np.empty(_COUNT, dtype=object)
    smiles[:] = texts
    return SmallMolecules(smiles, atoms, bonds, charges)


_COUNT = 133595
