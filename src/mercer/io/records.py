"""Records read from a file: named columns, the number of each record, and what could not be used."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

SHOWN = 5  # bad records that are listed
LONGEST_CELL = 100_000  # in characters


class BadRecord(NamedTuple):
    """A record that cannot be used, and the reason."""

    where: str
    reason: str

    def __str__(self) -> str:
        return f"{self.where}: {self.reason}"


@dataclass
class Records:
    """Columns of equal length, one entry per record.

    Attributes
    ----------
    columns : dict of str to list
        The values: text, numbers, None for gaps, or objects of the format, such as spectra.
    numbers : list of int
        The number of each record in its file, from 1.
    unit : str
        The name of a record: "line", "row", "molecule", "spectrum", …
    bad : list of BadRecord
        Records that cannot be used.
    notes : list of str
        Sentences about what was found, such as a header.
    header : bool
        False if the file does not name its columns.
    typed : bool
        False if every cell is text whose type is still to be found.
    kinds : dict of str to str
        Kinds of the columns that the format tells, such as "molecules".
    inputs, outputs : tuples of str
        The columns that are inputs and outputs unless others are named.
    grids : dict of str to list
        The positions of columns of curves.
    """

    columns: dict[str, list[Any]]
    numbers: list[int]
    unit: str = "line"
    bad: list[BadRecord] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    header: bool = True
    typed: bool = True
    kinds: dict[str, str] = field(default_factory=dict)
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    grids: dict[str, list[float]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.numbers)

    def where(self, row: int, column: str | None = None) -> str:
        """Name a record, and one of its columns, as ``line 7, column 'age'``."""
        return f"{self.unit} {self.numbers[row]}" + (f", column {column!r}" if column is not None else "")

    def kept(self, rows: Iterable[int]) -> Records:
        """Return the records at `rows`, without bad ones and notes."""
        rows = list(rows)
        columns = {name: [values[i] for i in rows] for name, values in self.columns.items()}
        kept: Any = (self.unit, [], [], self.header, self.typed, self.kinds, self.inputs, self.outputs, self.grids)
        return Records(columns, [self.numbers[i] for i in rows], *kept)


@dataclass(frozen=True)
class ReadOptions:
    """Options of readers.

    Attributes
    ----------
    header : bool or None
        True if the first row names the columns, None to find out.
    names : tuple of str
        Columns that will be asked for; a first row that holds them is a header.
    masks : path or None
        Folder of masks, for a folder of images.
    curve : tuple of str
        The columns (curve, position) of curves in long format.
    grids : dict of str to list
        The positions wanted of columns of curves.
    """

    header: bool | None = None
    names: tuple[str, ...] = ()
    masks: str | None = None
    curve: tuple[str, ...] = ()
    grids: dict[str, list[float]] = field(default_factory=dict)


Read = Callable[[str, ReadOptions], Records]

FORMATS: dict[str, tuple[str, ...]] = {
    "csv": (".csv",),
    "tsv": (".tsv", ".tab", ".txt"),
    "jsonl": (".jsonl", ".ndjson"),
    "parquet": (".parquet", ".pq"),
    "inflections": (".trn", ".dev", ".tst"),
    "sdf": (".sdf", ".sd"),
    "smiles": (".smi", ".smiles"),
    "mgf": (".mgf",),
    "msp": (".msp",),
    "fasta": (".fasta", ".fa", ".faa", ".fna"),
    "images": (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".pgm", ".ppm", ".webp"),
}
"""Formats, and the suffixes of their files; a folder holds images."""
_OTHERS = {
    ".xlsx", ".xlsm", ".xls", ".ods", ".json", ".html", ".htm", ".xml", ".pdf", ".doc", ".docx", ".gz", ".zip", ".bz2", ".xz",
    ".zst", ".7z", ".tar", ".tgz", ".feather", ".arrow", ".h5", ".hdf5", ".npy", ".npz", ".mat", ".pkl", ".pickle", ".joblib",
}  # fmt: skip
"""Suffixes of files that are not tab-separated text."""
_MODULES = {
    "csv": "delimited", "tsv": "delimited", "inflections": "delimited", "jsonl": "json_lines", "parquet": "parquet",
    "sdf": "molecules", "smiles": "molecules", "mgf": "spectra", "msp": "spectra", "fasta": "fasta", "images": "images",
}  # fmt: skip


def format_of(path: str) -> str:
    """Return the format of a file by its suffix; tab-separated text if it is unknown, unless it is known for something else.

    Examples
    --------
    >>> format_of("table.CSV"), format_of("molecules.sdf"), format_of("-")
    ('csv', 'sdf', 'tsv')
    """
    if path != "-" and Path(path).is_dir():
        return "images"
    suffix = Path(path).suffix.lower()
    if suffix in _OTHERS:
        known = ", ".join(each for suffixes in FORMATS.values() for each in suffixes)
        raise ValueError(f"{path}: {suffix} files are not read or written; expected one of {known}")
    return next((name for name, suffixes in FORMATS.items() if suffix in suffixes), "tsv")


def read(path: str | Path, options: ReadOptions | None = None, form: str | None = None) -> Records:
    """Read the records of a file, in the format of its suffix unless `form` names another; ``-`` is standard input."""
    path, options = str(path), options or ReadOptions()
    form = form or format_of(path)
    if form not in FORMATS:
        raise ValueError(f"--format {form!r}; expected one of {', '.join(FORMATS)}")
    module = import_module(f"mercer.io.{_MODULES[form]}")
    records = getattr(module, f"read_{form}")(path, options)
    records = _without_long_cells(records)
    if options.curve:
        records = import_module("mercer.io.curves").gathered(records, options, path)
    return records


def _without_long_cells(records: Records) -> Records:
    long = {
        i: (name, len(value))
        for name, values in records.columns.items()
        for i, value in enumerate(values)
        if type(value) is str and len(value) > LONGEST_CELL
    }
    if not long:
        return records
    kept = records.kept(i for i in range(len(records)) if i not in long)
    kept.notes, kept.bad = records.notes, list(records.bad)
    for i, (name, size) in sorted(long.items()):
        reason = f"a cell of {size} characters; expected at most {LONGEST_CELL}"
        kept.bad.append(BadRecord(records.where(i, name), reason))
    return kept


def report_bad(path: str | Path, bad: list[BadRecord], skip: bool) -> str | None:
    """Return a sentence about bad records that are left out; raise ValueError unless they may be skipped."""
    if not bad:
        return None
    more = [f"and {len(bad) - SHOWN} more"] if len(bad) > SHOWN else []
    listed = "; ".join([*map(str, bad[:SHOWN]), *more])
    if not skip:
        cure = "Correct them, or pass --skip-bad to leave them out"
        if any(each.reason.startswith("not UTF-8") for each in bad):  # often all records of one category
            cure = "Save the file as UTF-8 first, such as by iconv -f latin1 -t utf-8; then correct the rest, or pass --skip-bad"
        raise ValueError(f"{path}: {listed}. {cure}")
    return f"{path}: left out {listed}"


def require_package(name: str, what: str, extra: str) -> Any:
    """Import a package, or raise ImportError with the extra that installs it."""
    try:
        return import_module(name)
    except ImportError as error:
        package = name.split(".")[0]
        raise ImportError(f"{what} needs {package}; run 'pip install mercer[{extra}]'") from error
