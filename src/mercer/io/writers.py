"""Tables written row by row: CSV, TSV, JSON lines, and Parquet at the end."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Protocol

from mercer.core.files import naming_file, written_atomically
from mercer.io.cells import plain, written
from mercer.io.lines import printable
from mercer.io.records import format_of, require_package

WRITTEN = ("csv", "tsv", "jsonl", "parquet")
Row = dict[str, Any]


class Writer(Protocol):
    """Takes rows, all with the same columns."""

    def write(self, rows: list[Row]) -> None:
        """Write rows, and flush them."""


class _Text:
    """Rows as lines of a text file."""

    def __init__(self, file: IO[str], form: str, header: bool) -> None:
        self.file, self.form, self.header = file, form, header
        self.shown = file is sys.stdout and file.isatty()

    def write(self, rows: list[Row]) -> None:
        text = "".join(self._lines(rows))
        self.file.write(printable(text) if self.shown else text)
        self.file.flush()

    def _lines(self, rows: list[Row]) -> Iterator[str]:
        for row in rows:
            if self.form == "jsonl":
                yield json.dumps({name: plain(value) for name, value in row.items()}, ensure_ascii=False) + "\n"
                continue
            if self.header:
                self.header = False
                yield self._line(list(row))
            yield self._line([written(value) for value in row.values()])

    def _line(self, cells: list[str]) -> str:
        if self.form == "tsv":
            return "\t".join(cell.replace("\t", " ").replace("\n", " ") for cell in cells) + "\n"
        lines = _Lines()
        csv.writer(lines, lineterminator="\n").writerow(cells)
        return lines.text


class _Lines:
    """The last line that was written."""

    text = ""

    def write(self, text: str) -> None:
        self.text = text


class _Columns:
    """Rows that are kept, and written as a Parquet file at the end."""

    def __init__(self) -> None:
        self.rows: list[Row] = []

    def write(self, rows: list[Row]) -> None:
        self.rows += rows


def written_format(output: Path | None, source: str, form: str | None = None) -> str:
    """Return the format of answers: by the suffix of the output, or else that of the inputs (`form`) if it can be written.

    Examples
    --------
    >>> written_format(Path("out.parquet"), "new.csv"), written_format(None, "molecules.sdf"), written_format(None, "-")
    ('parquet', 'csv', 'tsv')
    """
    if output is not None and output.suffix:
        form = format_of(str(output))
        if form not in WRITTEN:
            raise ValueError(f"{output}: answers are not written as {form}; expected {', '.join(WRITTEN)}")
    form = form or format_of(source)
    return form if form in WRITTEN and not (form == "parquet" and output is None) else "csv"


@contextmanager
def opened_writer(output: Path | None, form: str, header: bool = True) -> Iterator[Writer]:
    """Yield a writer to a file, or to standard output if there is none; rows of text are kept if the block raises."""
    if form == "parquet":
        assert output is not None
        pyarrow = require_package("pyarrow", "writing Parquet files", "tables")
        parquet = require_package("pyarrow.parquet", "writing Parquet files", "tables")
        kept = _Columns()
        yield kept
        columns = {name: [plain(row[name]) for row in kept.rows] for name in (kept.rows[0] if kept.rows else [])}
        with written_atomically(output) as temporary:
            parquet.write_table(pyarrow.table(columns), temporary)
        return
    if output is None:
        yield _Text(sys.stdout, form, header)
        return
    output.parent.mkdir(parents=True, exist_ok=True)
    with naming_file(output), output.open("w", encoding="utf-8", newline="") as file:
        yield _Text(file, form, header)
