"""Lines of text files, each checked, and the bad ones named by number."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

MOST_BYTES = 2**28
"""The largest file that is read, 256 MiB."""

LONGEST_LINE = 100_000
"""The longest line in bytes."""

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class BadLine:
    """A line that cannot be used, and why."""

    number: int
    why: str

    def __str__(self) -> str:
        return f"line {self.number}: {self.why}"


@dataclass(frozen=True)
class Line:
    """A good line and its number in the file, from 1."""

    number: int
    columns: list[str]


def read_pairs(path: str | Path) -> tuple[list[Line], list[BadLine]]:
    """The lines of a file of two columns with a tab between them, and those that are not like that. ``-`` is standard input.

    UTF-8, with or without a mark of byte order, any kind of line end. Empty lines are left out.
    """
    good: list[Line] = []
    bad: list[BadLine] = []
    for line in _lines(path):
        if isinstance(line, BadLine):
            bad.append(line)
            continue
        columns = line.columns
        if len(columns) != 2:
            found = f"{len(columns)} columns" if len(columns) > 1 else "no tab"
            bad.append(BadLine(line.number, f"expected two columns with a tab between them, found {found}"))
        elif not all(column.strip() for column in columns):
            bad.append(BadLine(line.number, f"column {1 if not columns[0].strip() else 2} is empty"))
        else:
            good.append(line)
    return good, bad


def read_inputs(path: str | Path) -> tuple[list[Line], list[BadLine]]:
    """The lines of a file of inputs; of a line with tabs the first column counts. ``-`` is standard input."""
    good: list[Line] = []
    bad: list[BadLine] = []
    for line in _lines(path):
        if isinstance(line, BadLine):
            bad.append(line)
        elif not line.columns[0].strip():
            bad.append(BadLine(line.number, "column 1 is empty"))
        else:
            good.append(Line(line.number, line.columns[:1]))
    return good, bad


def _lines(path: str | Path) -> Iterator[Line | BadLine]:
    with _opened(path) as file:
        number = read = 0
        while data := file.readline(LONGEST_LINE + 1):
            number += 1
            read += len(data)
            too_long = len(data) > LONGEST_LINE
            while too_long and not data.endswith(b"\n") and (data := file.readline(LONGEST_LINE)):
                read += len(data)
                _require_size(path, read)
            _require_size(path, read)
            if too_long:
                yield BadLine(number, f"longer than {LONGEST_LINE} bytes")
                continue
            data = data.removeprefix(_BOM) if number == 1 else data
            try:
                text = data.decode("utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                yield BadLine(number, f"not UTF-8: byte {data[error.start]:#04x} at position {error.start + 1}")
                continue
            if "\0" in text:
                yield BadLine(number, "holds a zero byte, so this is no text file")
            elif text.strip():
                yield Line(number, text.split("\t"))


@contextmanager
def _opened(path: str | Path) -> Iterator[BinaryIO]:
    if str(path) == "-":
        yield sys.stdin.buffer
        return
    path = Path(path)
    if path.is_dir() or not path.exists():  # a pipe is no regular file, and is read all the same
        what = "a folder" if path.is_dir() else "no such file"
        raise ValueError(f"{path}: {what}; expected a text file, or - for standard input")
    _require_size(path, path.stat().st_size)
    with path.open("rb") as file:
        yield file


def _require_size(path: str | Path, size: int) -> None:
    if size > MOST_BYTES:
        raise ValueError(
            f"{path} has more than {MOST_BYTES // 2**20} MiB; expected a smaller file, so that it fits in memory"
        )
