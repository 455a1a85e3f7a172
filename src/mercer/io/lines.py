"""Reading of text files line by line; bad lines are reported by number."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from mercer.io.records import BadRecord

MOST_BYTES = 2**28  # size of the largest file that is read, 256 MiB
LONGEST_LINE = 2**22  # in bytes
_BOM = b"\xef\xbb\xbf"


def text_lines(path: str | Path, bad: list[BadRecord]) -> Iterator[tuple[int, str]]:
    r"""Yield the number and the text of each line that is text; the others are appended to `bad`.

    The text is UTF-8, with or without a byte order mark, LF or CRLF. ``-`` is standard input.
    """
    with opened(path) as file:
        number = read = 0
        while data := file.readline(LONGEST_LINE + 1):
            number += 1
            read += len(data)
            too_long = len(data) > LONGEST_LINE
            while too_long and not data.endswith(b"\n") and (data := file.readline(LONGEST_LINE)):
                read += len(data)
                require_size(path, read)
            require_size(path, read)
            where = f"line {number}"
            if too_long:
                bad.append(BadRecord(where, f"longer than {LONGEST_LINE} bytes"))
                continue
            if b"\r" in data.rstrip(b"\r\n"):
                bad.append(BadRecord(where, "lines end with CR alone; expected LF or CRLF, as by tr '\\r' '\\n'"))
                continue
            data = data.removeprefix(_BOM) if number == 1 else data
            try:
                text = data.decode("utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                place = f"byte {data[error.start]:#04x} at position {error.start + 1}"
                bad.append(BadRecord(where, f"not UTF-8: {place}"))
                continue
            if "\0" in text:
                bad.append(BadRecord(where, "holds a zero byte, so this is not a text file"))
            else:
                yield number, text


def printable(text: str) -> str:
    r"""Return text with its control characters but tabs and line ends written out, since a terminal would obey them.

    Examples
    --------
    >>> printable("a\x1b[2J\tb")
    'a\\x1b[2J\tb'
    """
    return "".join(c if c.isprintable() or c in "\t\n" else repr(c)[1:-1] for c in text)


@contextmanager
def opened(path: str | Path) -> Iterator[BinaryIO]:
    """Open a file of bounded size, a pipe, or standard input (``-``)."""
    if str(path) == "-":
        yield sys.stdin.buffer
        return
    path = Path(path)
    if path.is_dir() or not path.exists():  # a pipe is not a regular file, but can be read
        what = "a folder" if path.is_dir() else "no such file"
        raise ValueError(f"{path}: {what}; expected a text file, or - for standard input")
    require_size(path, path.stat().st_size)
    with path.open("rb") as file:
        yield file


def regular_file(path: str | Path, what: str) -> Path:
    """Return the path of a regular file of bounded size, for formats that cannot be read from a pipe."""
    found = Path(path)
    if not found.is_file():
        kind = "a folder" if found.is_dir() else "a pipe or a device" if found.exists() or str(path) == "-" else ""
        raise ValueError(f"{path}: {kind or 'no such file'}; expected {what}")
    require_size(path, found.stat().st_size)
    if found.stat().st_size == 0:
        raise ValueError(f"{path}: the file is empty; expected {what}")
    return found


def text_file(path: str | Path, what: str, field: str, end: str) -> Path:
    """Return the path of a regular file whose lines are text, for a parser of its own.

    Each `field`, a pattern whose first group is its name, may occur once in a record; a line like the pattern `end` ends one.
    """
    bad: list[BadRecord] = []
    found, seen = regular_file(path, what), set[str]()
    for number, text in text_lines(path, bad):
        if re.match(end, text, re.IGNORECASE):
            seen.clear()
        matched = re.match(field, text, re.IGNORECASE)
        name = "" if matched is None else matched[1].lower()
        if name in seen:
            bad.append(BadRecord(f"line {number}", f"the column {name!r} is there twice in one record"))
        seen |= {name} if name else set()
    if bad:
        raise ValueError(f"{path}: {min(bad, key=lambda each: int(each.where.split()[1]))}")
    return found


def require_size(path: str | Path, size: int) -> None:
    """Raise ValueError for a file that is too large to be read into memory."""
    if size > MOST_BYTES:
        raise ValueError(f"{path} has more than {MOST_BYTES // 2**20} MiB; expected a smaller file, to fit in memory")
