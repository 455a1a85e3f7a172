"""Mass spectra in MGF and MSP files, by matchms."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np

from mercer.io.lines import text_file
from mercer.io.records import BadRecord, ReadOptions, Records, require_package
from mercer.structures.molecules.fingerprints import molecule
from mercer.structures.molecules.spectra import MassSpectrum

MOST_SPECTRA = 1_000_000
ADDUCTS = {
    "[M+H]+": 1.007276, "[M+Na]+": 22.989218, "[M+NH4]+": 18.033823, "[M+K]+": 38.963158, "[M]+": -0.000549,
    "[M-H]-": -1.007276, "[M+Cl]-": 34.969402, "[M+FA-H]-": 44.998201,
}  # fmt: skip
"""Mass that an ion of charge one has more than its molecule."""
_FIELD = r"(smiles|pepmass|precursor_?mz)\s*[=:]"  # others may repeat
_DROPPED = frozenset(["peak_comments", "num_peaks", "peptide_modifications"])


def read_mgf(path: str, options: ReadOptions) -> Records:
    """Read the columns spectrum and precursor_mz, and the metadata."""
    return _read(path, "load_from_mgf", "an MGF file", "END IONS")


def read_msp(path: str, options: ReadOptions) -> Records:
    """Read the columns spectrum and precursor_mz, and the metadata."""
    return _read(path, "load_from_msp", "an MSP file", r"\s*$|name:")


def _read(path: str, loader: str, what: str, end: str) -> Records:
    importing = require_package("matchms.importing", "reading mass spectra", "spectra")
    file = text_file(path, what, _FIELD, end)
    logging.getLogger("matchms").setLevel(logging.ERROR)
    bad: list[BadRecord] = []
    rows: list[tuple[int, dict[str, Any]]] = []
    try:
        for number, spectrum in enumerate(getattr(importing, loader)(str(file)), start=1):
            if number > MOST_SPECTRA:
                raise ValueError(f"more than {MOST_SPECTRA} spectra; cut the file into smaller ones")
            try:
                rows.append((number, _row(spectrum)))
            except (TypeError, ValueError) as error:
                bad.append(BadRecord(f"spectrum {number}", str(error)))
    except Exception as error:  # whatever a damaged file leads to inside the parser
        after = f"after {len(rows)} spectra" if rows else "at the first spectrum"
        raise ValueError(f"{path} is not {what}, or is damaged {after} ({error!s:.200})") from error
    if not rows:
        raise ValueError(f"{path}: {bad[0] if bad else f'there are no spectra; expected {what}'}")
    names = list(dict.fromkeys(name for _, row in rows for name in row))
    columns = {name: [row.get(name) for _, row in rows] for name in names}
    notes = [f"{len(rows)} spectra; columns: {', '.join(names)}"]
    kinds = {"spectrum": "spectra", "smiles": "molecules"}
    found = Records(columns, [number for number, _ in rows], "spectrum", bad, notes, typed=False, kinds=kinds)
    found.inputs, found.outputs = ("spectrum",), ("smiles",) if "smiles" in columns else ()
    return found


def _row(spectrum: Any) -> dict[str, Any]:
    metadata = {key: value for key, value in spectrum.metadata.items() if key not in _DROPPED}
    precursor = metadata.get("precursor_mz")
    if precursor is None and metadata.get("pepmass"):
        pepmass = metadata["pepmass"]
        precursor = pepmass[0] if isinstance(pepmass, list | tuple) else pepmass
    precursor = None if precursor in (None, "") else float(precursor)
    peaks = spectrum.peaks
    if peaks is None or len(peaks.mz) == 0:
        raise ValueError("it has no peaks; expected m/z and intensity of some")
    found = MassSpectrum(np.asarray(peaks.mz), np.asarray(peaks.intensities), precursor or None)
    plain = {key: value if isinstance(value, str | int | float) else str(value) for key, value in metadata.items()}
    return {"spectrum": found, "precursor_mz": precursor} | {k: v for k, v in plain.items() if k != "precursor_mz"}


def within_ppm(records: Records, column: str, candidates: Any, ppm: float) -> list[list[str]]:
    """Return for each spectrum the candidates whose exact mass is that of its precursor, within `ppm` parts in a million."""
    if candidates is None:
        raise ValueError("--ppm chooses among candidates; pass --candidates FILE")
    if not 0 < ppm < 1e6:
        raise ValueError(f"--ppm {ppm:g}; expected a number above 0, such as 10")
    spectra = records.columns[column]
    if not all(isinstance(each, MassSpectrum) for each in spectra):
        raise ValueError(f"--ppm needs spectra, and the input {column!r} holds other objects")
    descriptors = require_package("rdkit.Chem.Descriptors", "masses of candidates", "molecules")
    masses = np.asarray([descriptors.ExactMolWt(molecule(smiles, "a candidate")) for smiles in candidates])
    order = np.argsort(masses, kind="stable")
    ordered, found = masses[order], []
    adducts = records.columns.get("adduct", [None] * len(spectra))
    for i, (spectrum, adduct) in enumerate(zip(spectra, adducts, strict=True)):
        if spectrum.precursor is None:
            raise ValueError(f"{records.where(i)} has no precursor m/z, which --ppm needs")
        mass = spectrum.precursor - _adduct_mass(adduct, records.where(i))
        half = ppm * 1e-6 * spectrum.precursor
        first, last = np.searchsorted(ordered, [mass - half, mass + half])
        found.append([candidates[j] for j in np.sort(order[first:last])])
    return found


def _adduct_mass(adduct: Any, where: str) -> float:
    name = "[M+H]+" if adduct in (None, "") else str(adduct).strip()
    if name not in ADDUCTS:
        raise ValueError(f"{where} has the adduct {name!r}; expected one of {', '.join(ADDUCTS)}")
    return ADDUCTS[name]
