"""Tandem mass spectra and their molecules."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.datasets.store import Table, fetch
from mercer.structures.molecules.spectra import MassSpectrum

PROTON = 1.007276467
"""The mass of [M+H]⁺ less that of the molecule, in units of m/z."""


@dataclass(frozen=True)
class MolecularSpectra(Table):
    """Spectra, the SMILES, mass and packed ECFP4 fingerprint of their molecules, and a mask of the test spectra."""

    spectra: np.ndarray
    smiles: np.ndarray
    masses: np.ndarray
    fingerprints: np.ndarray
    is_test: np.ndarray


def load_massbank() -> MolecularSpectra:
    """Load 3979 spectra of MassBank, [M+H]⁺ at high resolution, one per molecule; 799 of them for testing.

    The records of one molecule were merged: m/z rounded to 0.01, intensities scaled to a maximum of 1 and added up, the 100
    highest peaks kept. The precursor's m/z is that of the molecule's formula. Read from ``$MERCER_DATA/msms_massbank``,
    checked against a pinned SHA-256.
    """
    with np.load(fetch("msms_massbank/massbank_msms_pos.npz"), allow_pickle=False) as arrays:
        names = ("peak_ptr", "peak_mz", "peak_int", "smiles", "exact_mass", "ecfp4_2048_packed", "is_test")
        starts, mz, heights, texts, masses, packed, is_test = (arrays[name] for name in names)
    if len(starts) != _COUNT + 1 or starts[-1] != len(mz) or packed.shape != (_COUNT, 256) or is_test.sum() != _TEST:
        raise ValueError(
            f"the MassBank file holds {len(starts) - 1} spectra, {int(is_test.sum())} for testing, and fingerprints of shape "
            f"{packed.shape}; expected {_COUNT}, {_TEST} and ({_COUNT}, 256)"
        )
    spectra, smiles = np.empty(_COUNT, dtype=object), np.empty(_COUNT, dtype=object)
    # written with two decimals, kept in single precision
    mz, heights = np.round(mz.astype(float), 2), heights.astype(float)
    for i, text in enumerate(texts):
        peaks = slice(int(starts[i]), int(starts[i + 1]))
        spectra[i] = MassSpectrum(mz[peaks], heights[peaks], float(masses[i]) + PROTON)
        smiles[i] = str(text)
    return MolecularSpectra(spectra, smiles, masses, packed, is_test)


_COUNT, _TEST = 3979, 799
