"""Small molecules as SMILES and graphs, and molecules with their tandem mass spectra."""

from __future__ import annotations

import gzip
from dataclasses import dataclass

import numpy as np

from mercer.core.collections import as_objects
from mercer.datasets.store import Table, fetch, read_arrays
from mercer.structures.graphs import networkx
from mercer.structures.molecules.spectra import MassSpectrum

ELEMENTS = {6: "C", 7: "N", 8: "O", 9: "F"}
"""The elements of QM9 other than hydrogen."""
PROTON = 1.007276467
"""The mass of [M+H]⁺ less that of the molecule, in units of m/z."""
_MOLECULES, _SPECTRA, _TEST = 133595, 3979, 799


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
        firsts, seconds = np.triu_indices(self.atoms.shape[1], 1)
        found = np.empty(len(self), dtype=object)
        for i, (atoms, bonds) in enumerate(zip(self.atoms, self.bonds, strict=True)):
            found[i] = networkx().Graph()
            found[i].add_nodes_from((j, {"label": ELEMENTS[int(atom)]}) for j, atom in enumerate(atoms) if atom)
            at = np.flatnonzero(bonds)
            found[i].add_edges_from((int(firsts[j]), int(seconds[j]), {"label": int(bonds[j])}) for j in at)
        return found


@dataclass(frozen=True)
class MolecularSpectra(Table):
    """Spectra, the SMILES, mass and packed ECFP4 fingerprint of their molecules, and a mask of the test spectra."""

    spectra: np.ndarray
    smiles: np.ndarray
    masses: np.ndarray
    fingerprints: np.ndarray
    is_test: np.ndarray


def load_qm9() -> SmallMolecules:
    """Load the 133,595 distinct molecules of QM9 (Ramakrishnan et al. 2014), up to nine atoms of C, N, O and F, without hydrogen.

    SMILES in alphabetical order; bonds without aromatic ones. Files in ``qm9``.
    """
    shapes = {"atoms": (_MOLECULES, 9), "bonds_upper": (_MOLECULES, 36), "charges": (_MOLECULES, 9)}
    graphs = read_arrays("qm9/qm9_graphs.npz", shapes)
    with gzip.open(fetch("qm9/qm9_smiles.txt.gz"), "rt", encoding="utf-8") as lines:
        texts = lines.read().split()
    if len(texts) != _MOLECULES:
        raise ValueError(f"qm9/qm9_smiles.txt.gz holds {len(texts)} SMILES; expected {_MOLECULES}")
    return SmallMolecules(as_objects(texts), *graphs)


def load_massbank() -> MolecularSpectra:
    """Load 3979 spectra of MassBank, [M+H]⁺ at high resolution, one per molecule; 799 of them for testing.

    The records of one molecule were merged: m/z rounded to 0.01, intensities scaled to a maximum of 1 and added up, the 100
    highest peaks kept. The precursor's m/z is that of the molecule's formula. Files in ``msms_massbank``.
    """
    with np.load(fetch("msms_massbank/massbank_msms_pos.npz"), allow_pickle=False) as arrays:
        names = ("peak_ptr", "peak_mz", "peak_int", "smiles", "exact_mass", "ecfp4_2048_packed", "is_test")
        starts, mz, heights, texts, masses, packed, is_test = (arrays[name] for name in names)
    held = len(starts) - 1, int(is_test.sum()), packed.shape
    if held != (_SPECTRA, _TEST, (_SPECTRA, 256)) or starts[-1] != len(mz):
        raise ValueError(
            f"the MassBank file holds {held[0]} spectra, {held[1]} for testing, and fingerprints of shape {held[2]}; expected "
            f"{_SPECTRA}, {_TEST} and ({_SPECTRA}, 256)"
        )
    spectra, smiles = np.empty(_SPECTRA, dtype=object), as_objects([str(text) for text in texts])
    # written with two decimals, kept in single precision
    mz, heights = np.round(mz.astype(float), 2), heights.astype(float)
    for i, mass in enumerate(masses):
        peaks = slice(int(starts[i]), int(starts[i + 1]))
        spectra[i] = MassSpectrum(mz[peaks], heights[peaks], float(mass) + PROTON)
    return MolecularSpectra(spectra, smiles, masses, packed, is_test)
