"""Reading of text files line by line; bad lines are reported by number."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

MOST_BYTES = 2**28  # size of the largest file that is read, 256 MiB
LONGEST_LINE = 100_000  # in bytes
_BOM = b"\xef\xbb\xbf"


class BadLine(NamedTuple):
    """A line that cannot be used, and the reason."""

    number: int
    reason: str

    def __str__(self) -> str:
        return f"line {self.number}: {self.reason}"


class Line(NamedTuple):
    """A good line and its number in the file, from 1."""

    number: int
    columns: list[str]


def read_pairs(path: str | Path) -> tuple[list[Line], list[BadLine]]:
    """Read a file of two columns separated by a tab; return its good and its bad lines.

    The text is UTF-8, with or without a byte order mark, LF or CRLF. Empty lines are skipped. ``-`` is standard input.
    """
    return _read(path, 2)


def read_inputs(path: str | Path) -> tuple[list[Line], list[BadLine]]:
    """Read a file of inputs, the first column of each line; return its good and its bad lines. ``-`` is standard input."""
    return _read(path, 1)


def printable(text: str) -> str:
    r"""Return text with its control characters but tabs and line ends written out, since a terminal would obey them.

    Examples
    --------
    >>> printable("a\x1b[2J\tb")
    'a\\x1b[2J\tb'
    """
    return "".join(c if c.isprintable() or c in "\t\n" else repr(c)[1:-1] for c in text)


def _read(path: str | Path, width: int) -> tuple[list[Line], list[BadLine]]:
    good: list[Line] = []
    bad: list[BadLine] = []
    for number, columns in _lines(path, bad):
        used = columns if width == 2 else columns[:1]
        empty = [i for i, column in enumerate(used, start=1) if not column.strip()]
        if len(used) != width:
            found = f"{len(used)} columns" if len(used) > 1 else "no tab"
            bad.append(BadLine(number, f"expected two columns separated by a tab, found {found}"))
        elif empty:
            bad.append(BadLine(number, f"column {empty[0]} is empty"))
        else:
            good.append(Line(number, used))
    return good, bad


def _lines(path: str | Path, bad: list[BadLine]) -> Iterator[Line]:
    """Yield the lines that are text; the others are appended to `bad`."""
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
                bad.append(BadLine(number, f"longer than {LONGEST_LINE} bytes"))
                continue
            if b"\r" in data.rstrip(b"\r\n"):
                bad.append(BadLine(number, "lines end with CR alone; expected LF or CRLF, as by tr '\\r' '\\n'"))
                continue
            data = data.removeprefix(_BOM) if number == 1 else data
            try:
                text = data.decode("utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                where = f"byte {data[error.start]:#04x} at position {error.start + 1}"
                bad.append(BadLine(number, f"not UTF-8: {where}"))
                continue
            if "\0" in text:
                bad.append(BadLine(number, "holds a zero byte, so this is not a text file"))
            elif text.strip():
                yield Line(number, text.split("\t"))


@contextmanager
def _opened(path: str | Path) -> Iterator[BinaryIO]:
    if str(path) == "-":
        yield sys.stdin.buffer
        return
    path = Path(path)
    if path.is_dir() or not path.exists():  # a pipe is not a regular file, but can be read
        what = "a folder" if path.is_dir() else "no such file"
        raise ValueError(f"{path}: {what}; expected a text file, or - for standard input")
    _require_size(path, path.stat().st_size)
    with path.open("rb") as file:
        yield file


def _require_size(path: str | Path, size: int) -> None:
    if size > MOST_BYTES:
        raise ValueError(f"{path} has more than {MOST_BYTES // 2**20} MiB; expected a smaller file, to fit in memory")
