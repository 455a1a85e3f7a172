"""Readers of upstream formats: ARFF, rankings, R data, grey pictures, similarity tables, letters, SMILES."""

from __future__ import annotations

import csv
import io
import json
import pickle
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np


class Arff(NamedTuple):
    """The columns of an ARFF file; nominal values are coded by their place in the declaration, missing ones are NaN."""

    names: list[str]
    values: np.ndarray


def read_arff(path: Path) -> Arff:
    """Read an ARFF file, dense or sparse; raise ValueError that names the line of a wrong row."""
    names: list[str] = []
    codes: list[dict[str, float] | None] = []
    rows: list[np.ndarray] = []
    in_data = False
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("%"):
            continue
        if in_data:
            try:
                rows.append(_arff_row(line, codes))
            except (ValueError, KeyError, IndexError) as error:
                raise ValueError(
                    f"{path.name}, line {number}: {line[:60]!r} is not a row of {len(names)} values"
                ) from error
        elif line.lower().startswith("@attribute"):
            name, kind = _attribute(line)
            names.append(name)
            codes.append(kind)
        in_data = in_data or line.lower().startswith("@data")
    return Arff(names, np.asarray(rows, dtype=float).reshape(len(rows), len(names)))


def _attribute(line: str) -> tuple[str, dict[str, float] | None]:
    found = re.match(r"@attribute\s+('(?:[^'\\]|\\.)*'|\"[^\"]*\"|\S+)\s+(.*)", line, re.IGNORECASE)
    if found is None:
        raise ValueError(f"{line[:60]!r} is not a declaration of an attribute")
    name, kind = found[1].strip("'\""), found[2].strip()
    if not kind.startswith("{"):
        return name, None
    values = [value.strip().strip("'\"") for value in kind.strip("{} ").split(",")]
    numeric = all(re.fullmatch(r"-?\d+(\.\d+)?", value) for value in values)
    return name, {value: float(value) if numeric else float(i) for i, value in enumerate(values)}


def _arff_row(line: str, codes: Sequence[dict[str, float] | None]) -> np.ndarray:
    if line.startswith("{"):
        row = np.zeros(len(codes))
        for part in filter(None, (part.strip() for part in line.strip("{} ").split(","))):
            place, value = part.split(None, 1)
            row[int(place)] = _number(value, codes[int(place)])
        return row
    values = next(csv.reader(io.StringIO(line), quotechar="'", skipinitialspace=True))
    if len(values) != len(codes):
        raise ValueError
    return np.asarray([_number(value, kind) for value, kind in zip(values, codes, strict=True)])


def _number(value: str, codes: dict[str, float] | None) -> float:
    value = value.strip().strip("'\"")
    if value == "?":
        return np.nan
    return float(value) if codes is None else codes[value]


def multi_target(table: Arff, targets: int) -> dict[str, np.ndarray]:
    """Split off the last columns as outputs."""
    values, names = table.values, np.asarray(table.names)
    return {
        "X": values[:, :-targets],
        "Y": values[:, -targets:],
        "features": names[:-targets],
        "targets": names[-targets:],
    }


def multi_label(parts: dict[str, Arff], labels: int, sparse: bool) -> dict[str, np.ndarray]:
    """Split off the last columns as labels, of a training and a test part."""
    found: dict[str, np.ndarray] = {}
    for split, table in parts.items():
        inputs, outputs = table.values[:, :-labels], table.values[:, -labels:]
        if sparse:
            found |= _sparse(f"X_{split}", inputs, np.int32)
        else:
            found[f"X_{split}"] = inputs
        found |= _sparse(f"Y_{split}", outputs, np.int16)
    names = np.asarray(next(iter(parts.values())).names)
    return found | {"labels": names[-labels:], "features": names[:-labels]}


def _sparse(name: str, values: np.ndarray, kind: Any) -> dict[str, np.ndarray]:
    rows, columns = np.nonzero(values)
    ends = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(values)))]).astype(np.int32)
    found = {f"{name}_indices": columns.astype(kind), f"{name}_indptr": ends}
    if not np.all(values[rows, columns] == 1):
        found[f"{name}_data"] = values[rows, columns]
    return found | {f"{name}_shape": np.asarray(values.shape, dtype=np.int64)}


def read_ranking(path: Path) -> dict[str, np.ndarray]:
    """Read rows of attributes and a last column such as ``b>a>c``; words are coded by their order."""
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = list(csv.reader(file))
    orders = [row[-1].split(">") for row in rows]
    labels = sorted(set(orders[0]))
    if any(sorted(order) != labels for order in orders):
        raise ValueError(f"{path.name}: some rows do not rank {', '.join(labels)}")
    order = np.asarray([[labels.index(label) for label in own] for own in orders], dtype=np.int8)
    columns, categories = [], {}
    for j, name in enumerate(header[:-1]):
        texts = [row[j] for row in rows]
        try:
            columns.append(np.asarray(texts, dtype=float))
        except ValueError:
            categories[name] = sorted(set(texts))
            columns.append(np.asarray([categories[name].index(text) for text in texts], dtype=float))
    return {
        "X": np.stack(columns, axis=1),
        "ranks": np.argsort(order, axis=1).astype(np.int8),
        "order": order,
        "labels": np.asarray(labels),
        "features": np.asarray(header[:-1]),
        "categories": np.asarray(json.dumps(categories)),
    }


def read_rda(path: Path) -> dict[str, Any]:
    """Read the objects of a file of R data, arrays as NumPy arrays."""
    try:
        import rdata
    except ImportError as error:
        raise ImportError("files of R data need rdata; run 'pip install rdata'") from error
    return rdata.read_rda(path)


def read_pgm(path: Path) -> np.ndarray:
    """Read a binary grey picture (PGM, type P5)."""
    content = path.read_bytes()
    found = re.match(rb"P5(?:\s+#[^\n]*)*\s+(\d+)(?:\s+#[^\n]*)*\s+(\d+)(?:\s+#[^\n]*)*\s+(\d+)\s", content)
    if found is None or int(found[3]) > 255:
        raise ValueError(f"{path.name} is not a binary grey picture of at most 256 levels")
    width, height = int(found[1]), int(found[2])
    pixels = np.frombuffer(content, dtype=np.uint8, offset=found.end())
    if pixels.size < width * height:
        raise ValueError(f"{path.name} has {pixels.size} pixels; expected {width} × {height}")
    return pixels[: width * height].reshape(height, width)


def read_similarities(path: Path) -> tuple[list[str], list[str], np.ndarray]:
    """Read a table separated by tabs with names of rows and columns."""
    lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    columns = [name.strip() for name in lines[0] if name.strip()]
    names = [line[0].strip() for line in lines[1:]]
    values = np.asarray([[float(value) for value in line[1 : len(columns) + 1]] for line in lines[1:]])
    return names, columns, values


class _ArraysAlone(pickle.Unpickler):
    """Builds arrays of numbers, and nothing else."""

    _ALLOWED = {
        ("numpy.core.multiarray", "_reconstruct"),
        ("numpy._core.multiarray", "_reconstruct"),
        ("numpy", "ndarray"),
        ("numpy", "dtype"),
        ("_codecs", "encode"),
    }

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in self._ALLOWED:
            raise pickle.UnpicklingError(f"{module}.{name} is not an array of numbers")
        return super().find_class(module, name)


def read_letters(path: Path) -> dict[str, np.ndarray]:
    """Read the words of handwritten letters, a pickle of arrays that is read without running code from it."""
    with path.open("rb") as file:
        found = _ArraysAlone(file, encoding="latin1").load()
    lengths = np.asarray([len(word) for word in found["labels"]])
    label = np.concatenate([np.asarray(word) for word in found["labels"]]).astype(np.int8)
    pixels = np.concatenate([np.asarray(word) for word in found["data"]]).astype(np.uint8)
    folds = np.asarray(found["folds"]).astype(np.int8)
    ends = np.cumsum(lengths)
    words = ["".join(chr(97 + int(letter)) for letter in own) for own in np.split(label, ends[:-1])]
    return {
        "pixels_packed": np.packbits(pixels, axis=1),
        "label": label,
        "word_id": np.repeat(np.arange(len(lengths)), lengths).astype(np.int32),
        "position": np.concatenate([np.arange(length) for length in lengths]).astype(np.int8),
        "fold": np.repeat(folds, lengths).astype(np.int8),
        "word_fold": folds,
        "word_length": lengths.astype(np.int8),
        "words": np.asarray(words),
    }


def molecular_graphs(smiles: Sequence[str], most: int = 9) -> dict[str, np.ndarray]:
    """Return atoms, bond orders of the upper triangle and charges of molecules, kekulised."""
    from rdkit import Chem

    pairs = {pair: k for k, pair in enumerate((i, j) for i in range(most) for j in range(i + 1, most))}
    atoms, charges = np.zeros((len(smiles), most), np.uint8), np.zeros((len(smiles), most), np.int8)
    bonds = np.zeros((len(smiles), len(pairs)), np.uint8)
    for row, text in enumerate(smiles):
        molecule = Chem.MolFromSmiles(text)
        if molecule is None or molecule.GetNumAtoms() > most:
            raise ValueError(f"line {row + 1}: {text!r} is not a molecule of at most {most} heavy atoms")
        Chem.Kekulize(molecule, clearAromaticFlags=True)
        for atom in molecule.GetAtoms():
            atoms[row, atom.GetIdx()], charges[row, atom.GetIdx()] = atom.GetAtomicNum(), atom.GetFormalCharge()
        for bond in molecule.GetBonds():
            ends = sorted((bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()))
            bonds[row, pairs[ends[0], ends[1]]] = int(bond.GetBondTypeAsDouble())
    return {"atoms": atoms, "bonds_upper": bonds, "charges": charges, "ok": np.ones(len(smiles), bool)}
