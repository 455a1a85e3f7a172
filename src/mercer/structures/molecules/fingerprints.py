"""Molecules as sets of bits: fingerprints of SMILES, packed eight to a byte."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from mercer.core.arrays import is_array, to_numpy
from mercer.core.collections import as_objects, reject_non_collection
from mercer.core.validation import check_whole

KINDS = ("morgan", "features", "atom-pairs", "torsions", "paths", "maccs")  # by the meaning of the bits
KEPT = 2**16  # fingerprints, the last ones asked for, that are kept
_MACCS = 168  # bits of the MACCS keys, padded to whole bytes


def fingerprints(
    smiles: Any, kind: str = "morgan", radius: int = 2, bits: int = 2048, name: str = "smiles"
) -> np.ndarray:
    """Compute fingerprints of molecules, one row of ``bits / 8`` bytes each, packed as by `numpy.packbits`.

    Bits stand for the surroundings of an atom up to `radius` bonds ("morgan", with radius 2 ECFP4; "features", the same with
    atoms by their role), for pairs of atoms and their distance, for torsions (four atoms in a row), for paths of at most
    `radius` bonds, or for the 166 questions of the MACCS keys, which have a length of their own. An error names the position
    of a SMILES that cannot be read.

    Examples
    --------
    >>> fingerprints(["CCO", "c1ccccc1"]).shape
    (2, 256)
    >>> fingerprints(["CCO", "C1CC"])
    Traceback (most recent call last):
    ...
    ValueError: smiles[1] is 'C1CC', which rdkit cannot read; expected the SMILES of a molecule. Drop or mend it
    """
    check_fingerprint(kind, radius, bits)
    reject_non_collection(smiles, name)
    rows = np.empty((len(smiles), _MACCS // 8 if kind == "maccs" else bits // 8), dtype=np.uint8)
    for i, text in enumerate(smiles):
        _require_text(text, f"{name}[{i}]")
        found = _packed(text, kind, int(radius), int(bits))
        if found is None:
            molecule(text, f"{name}[{i}]")  # raises an error with the position
        else:
            rows[i] = np.frombuffer(found, dtype=np.uint8)
    return rows


def check_fingerprint(kind: Any, radius: Any, bits: Any) -> None:
    """Raise ValueError if there are no such fingerprints."""
    if kind not in KINDS:
        raise ValueError(f"fingerprint={kind!r}; expected one of {', '.join(map(repr, KINDS))}")
    least = 1 if kind == "paths" else 0
    check_whole(radius, "radius", least, expected=f"a whole number, {least} or more")
    check_whole(bits, "bits", 8, expected="a whole number, 8 or more")
    if bits % 8:
        raise ValueError(f"bits={bits!r}; expected a multiple of 8")


def molecule(smiles: Any, name: str = "smiles") -> Any:
    """Read a SMILES as a molecule of rdkit; an error names a SMILES that cannot be read."""
    _require_text(smiles, name)
    found = _parsed(smiles)
    if found is None or found.GetNumAtoms() == 0:
        why = "which rdkit cannot read" if found is None else "which has no atoms"
        raise ValueError(f"{name} is {smiles!r:.200}, {why}; expected the SMILES of a molecule. Drop or mend it")
    return found


def canonical(smiles: str) -> str:
    """Return the SMILES that rdkit writes for the same molecule.

    Examples
    --------
    >>> canonical("OCC")
    'CCO'
    """
    return rdkit().Chem.MolToSmiles(molecule(smiles))


def as_packed(collection: Any, name: str = "X", kind: str = "morgan", radius: int = 2, bits: int = 2048) -> np.ndarray:
    """Return packed fingerprints as they are, and fingerprints of SMILES."""
    checked = as_molecules(collection, name)
    return checked if checked.dtype == np.uint8 else fingerprints(checked, kind, radius, bits, name)


def as_molecules(collection: Any, name: str = "X") -> np.ndarray:
    """Check `collection`: rows of packed bytes, or SMILES as an object array; molecules of rdkit become SMILES."""
    reject_non_collection(collection, name)
    if is_array(collection) and getattr(collection, "ndim", 1) == 2:
        packed = to_numpy(collection)
        if packed.dtype != np.uint8:
            expected = "packed fingerprints of dtype uint8. Pack rows of 0 and 1 by numpy.packbits(rows, axis=1)"
            raise TypeError(f"{name} is a matrix of dtype {packed.dtype}; expected {expected}")
        if 0 in packed.shape:
            raise ValueError(f"{name} has shape {packed.shape}; expected at least one molecule and one byte")
        return packed
    texts = as_objects(collection, name)
    for i, text in enumerate(texts):
        if is_molecule(text):
            texts[i] = text = rdkit().Chem.MolToSmiles(text)
        _require_text(text, f"{name}[{i}]", ", or all molecules as packed fingerprints of dtype uint8")
    return texts


def is_molecule(thing: Any) -> bool:
    """Whether `thing` is a molecule of rdkit; does not import rdkit."""
    return any(each.__module__ == "rdkit.Chem.rdchem" and each.__name__ == "Mol" for each in type(thing).__mro__)


def rdkit() -> Any:
    """Import rdkit; an error says how to install it."""
    try:
        import rdkit
        from rdkit import Chem, rdBase  # noqa: F401
    except ImportError as error:
        raise ImportError("reading molecules needs rdkit; run 'pip install mercer[molecules]'") from error
    return rdkit


def _require_text(smiles: Any, name: str, otherwise: str = "") -> None:
    if not isinstance(smiles, str):
        found = f"{smiles!r:.60}, a {type(smiles).__name__}"
        raise TypeError(f"{name} is {found}; expected the SMILES of a molecule, a string{otherwise}")


def _parsed(smiles: str) -> Any:
    """Read a SMILES as a molecule of rdkit; None if it cannot be read."""
    chemistry = rdkit()
    with chemistry.rdBase.BlockLogs():
        return chemistry.Chem.MolFromSmiles(smiles)


@lru_cache(maxsize=KEPT)
def _packed(smiles: str, kind: str, radius: int, bits: int) -> bytes | None:
    """Return packed bits, kept for the last molecules; None if the SMILES cannot be read."""
    found = _parsed(smiles)
    if found is None or found.GetNumAtoms() == 0:
        return None
    if kind == "maccs":
        from rdkit.Chem.rdMolDescriptors import GetMACCSKeysFingerprint

        return np.packbits(np.asarray(GetMACCSKeysFingerprint(found), dtype=np.uint8)).tobytes()
    return np.packbits(_generator(kind, radius, bits).GetFingerprintAsNumPy(found)).tobytes()


@lru_cache(maxsize=8)
def _generator(kind: str, radius: int, bits: int) -> Any:
    rdkit()
    from rdkit.Chem import rdFingerprintGenerator as generators

    if kind == "morgan":
        return generators.GetMorganGenerator(radius=radius, fpSize=bits)
    if kind == "features":
        roles = generators.GetMorganFeatureAtomInvGen()
        return generators.GetMorganGenerator(radius=radius, fpSize=bits, atomInvariantsGenerator=roles)
    if kind == "atom-pairs":
        return generators.GetAtomPairGenerator(fpSize=bits)
    if kind == "torsions":
        return generators.GetTopologicalTorsionGenerator(fpSize=bits)
    return generators.GetRDKitFPGenerator(maxPath=radius, fpSize=bits)
