"""Molecules in SDF and SMILES files, by rdkit."""

from __future__ import annotations

from typing import Any

from mercer.io.delimited import check_names
from mercer.io.lines import text_file, text_lines
from mercer.io.records import BadRecord, ReadOptions, Records
from mercer.structures.molecules.fingerprints import molecule, rdkit

MOST_MOLECULES = 2_000_000
_HEADS = ("smiles", "molecule", "canonical_smiles")
_PROPERTY, _END = r">.*<(.+)>", r"\$\$\$\$"


def read_sdf(path: str, options: ReadOptions) -> Records:
    """Read the columns molecule (a SMILES), name, and the properties of the file."""
    chemistry = rdkit()
    file = text_file(path, "an SDF file", _PROPERTY, _END)
    bad: list[BadRecord] = []
    rows: list[tuple[int, dict[str, Any]]] = []
    with chemistry.rdBase.BlockLogs(), file.open("rb") as stream:
        for number, found in enumerate(chemistry.Chem.ForwardSDMolSupplier(stream), start=1):
            if number > MOST_MOLECULES:
                raise ValueError(f"{path} has more than {MOST_MOLECULES} molecules; cut it into smaller files")
            if found is None or found.GetNumAtoms() == 0:
                why = "rdkit cannot read it" if found is None else "it has no atoms"
                bad.append(BadRecord(f"molecule {number}", f"{why}; drop or mend it"))
                continue
            name = found.GetProp("_Name") if found.HasProp("_Name") else ""
            own = {key: found.GetProp(key) for key in found.GetPropNames(includePrivate=False)}
            rows.append((number, {"molecule": chemistry.Chem.MolToSmiles(found), "name": name or None} | own))
    if not rows:
        raise ValueError(f"{path}: {bad[0] if bad else 'there are no molecules; expected an SDF file'}")
    names = list(dict.fromkeys(name for _, row in rows for name in row))
    columns = {name: [row.get(name) for _, row in rows] for name in names}
    return _records(columns, [number for number, _ in rows], "molecule", bad)


def read_smiles(path: str, options: ReadOptions) -> Records:
    """Read a SMILES per line, then its name; under a header, as many columns as it has, separated by spaces or tabs."""
    rdkit()
    bad: list[BadRecord] = []
    lines = [(number, text) for number, text in text_lines(path, bad) if text.strip()]
    if not lines:
        raise ValueError(f"{path}: {bad[0] if bad else 'the file is empty; expected a SMILES per line'}")
    named = options.header or (options.header is None and lines[0][1].split()[0].lower() in _HEADS)
    head = ["molecule", *lines[0][1].split()[1:]] if named else ["molecule", "name"]
    if named:
        check_names(path, lines[0][0], head)
        if len(lines) == 1:
            raise ValueError(f"{path}: line 1 holds names of columns and nothing follows them")
    rows = [(number, text.strip().split(maxsplit=-1 if named else 1)) for number, text in lines[named:]]
    width = min(len(head), max(len(cells) for _, cells in rows))
    kept: list[tuple[int, list[str]]] = []
    for number, cells in rows:
        if named and len(cells) != len(head):
            bad.append(BadRecord(f"line {number}", f"expected {len(head)} columns, found {len(cells)}"))
            continue
        try:
            molecule(cells[0])
        except ValueError:
            reason = f"{cells[0]!r:.60}, which rdkit cannot read; expected the SMILES of a molecule"
            bad.append(BadRecord(f"line {number}, column 'molecule'", reason))
            continue
        kept.append((number, cells))
    columns: dict[str, list[Any]] = {
        name: [cells[j] if j < len(cells) else None for _, cells in kept] for j, name in enumerate(head[:width])
    }
    return _records(columns, [number for number, _ in kept], "line", bad)


def _records(columns: dict[str, list[Any]], numbers: list[int], unit: str, bad: list[BadRecord]) -> Records:
    notes = [f"{len(numbers)} molecules; columns: {', '.join(columns)}"]
    found = Records(columns, numbers, unit, bad, notes, typed=False, kinds={"molecule": "molecules"})
    found.inputs = ("molecule",)
    others = [name for name in columns if name not in ("molecule", "name")]
    found.outputs = (others[0],) if len(others) == 1 else ("name",) if "name" in columns and not others else ()
    return found
