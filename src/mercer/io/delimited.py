"""Columns separated by commas or tabs, with or without a header."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from itertools import chain

from mercer.io.lines import LONGEST_LINE, text_lines
from mercer.io.records import BadRecord, ReadOptions, Records
from mercer.io.types import is_number

_USUAL = {
    "input", "output", "source", "target", "x", "y", "id", "name", "text", "word", "typo", "label", "labels", "class", "lemma",
    "form", "tags", "smiles", "sequence", "value", "t",
}  # fmt: skip
"""Names by which a first row of text in a file of two or three columns is taken for a header."""
Row = tuple[int, tuple[str, ...]]
"""The number of the first line of a row, and its cells."""
_LONGEST_NAME = 200  # in characters
_PAIR, _INFLECTED = ("input", "output"), ("lemma", "form", "tags")


def read_csv(path: str, options: ReadOptions) -> Records:
    """Read columns separated by commas, or if the first line has none, by semicolons, tabs or vertical bars."""
    return _read(path, options, None)


def read_tsv(path: str, options: ReadOptions) -> Records:
    """Read columns separated by tabs."""
    return _read(path, options, "\t")


def read_inflections(path: str, options: ReadOptions) -> Records:
    """Read lemma, form and tags separated by tabs; the tags, such as ``V;PST``, may be the second or the third column."""
    return _inflections(_read(path, ReadOptions(False if options.header is None else options.header), "\t"), path)


def _read(path: str, options: ReadOptions, separator: str | None) -> Records:
    bad: list[BadRecord] = []
    rows = list(_rows(path, bad, separator))
    if not rows:
        if bad:
            raise ValueError(f"{path}: {bad[0]}")
        raise ValueError(f"{path}: the file is empty; expected a row of names, and rows below it")
    first = [cell.strip() for cell in rows[0][1]]
    named = options.header if options.header is not None else _is_header(rows, options.names, separator)
    if named:
        check_names(path, rows[0][0], first)
        names = first
        del rows[0]
        if not rows and bad:
            raise ValueError(f"{path}: {bad[0]}")
        if not rows:
            raise ValueError(f"{path}: line 1 holds names of columns ({', '.join(names)}) and nothing follows them")
    else:
        width = max((widths := Counter(len(cells) for _, cells in rows)), key=lambda w: (widths[w], -w))
        names = list(_PAIR[:width]) if width <= 2 else [f"c{j + 1}" for j in range(width)]
    records = _columns(rows, names, bad)
    records.header = bool(named)
    records.notes = [f"header: {', '.join(names)}" if named else f"no header; columns are {', '.join(names)}"]
    if len(names) == 2:
        records.inputs, records.outputs = (names[0],), (names[1],)
    if not named and len(names) == 3 and separator == "\t" and _looks_inflected(records):
        return _inflections(records, path)
    return records


def _rows(path: str, bad: list[BadRecord], separator: str | None) -> Iterator[Row]:
    """Yield the number of the first line of each row, and its cells."""
    numbers = [0]

    def lines() -> Iterator[str]:
        for number, text in text_lines(path, bad):
            numbers[0] = number
            yield text + "\n"

    source = lines()
    if separator is not None:  # quotes are letters here
        yield from ((numbers[0], tuple(text.rstrip("\n").split(separator))) for text in source if text.strip())
        return
    head = next(source, None)
    if head is not None:
        found = next((each for each in ",;\t|" if each in head), ",")
        yield from _quoted(chain([head], source), found, numbers, bad)


def _quoted(source: Iterator[str], separator: str, numbers: list[int], bad: list[BadRecord]) -> Iterator[Row]:
    """Yield rows whose cells may be quoted, and go over several lines."""
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_LINE + 1))  # long cells are named later
    reader, begin = csv.reader(source, delimiter=separator, strict=True), 1
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            bad.append(BadRecord(f"line {begin}", f"{error}; expected quotes that are closed"))
        else:
            if any(cell.strip() for cell in cells):
                yield min(begin, numbers[0]), tuple(cells)
        begin = numbers[0] + 1


def _is_header(rows: list[Row], names: tuple[str, ...], separator: str | None) -> bool:
    """True if the first row holds the names asked for, or text above numbers; in .csv files, unless it holds a number."""
    first = [cell.strip() for cell in rows[0][1]]
    if names and set(names) <= set(first):
        return True
    if any(is_number(cell) or not cell for cell in first) or (len(set(first)) < len(first) and separator is not None):
        return False
    if {cell.lower() for cell in first} <= _USUAL:
        return True
    if separator is None:
        return True
    others = [cells for _, cells in rows[1:200] if len(cells) == len(first)]
    return any(others and all(is_number(cells[j]) for cells in others) for j in range(len(first)))


def check_names(path: str, number: int, names: list[str]) -> None:
    """Raise ValueError for a column without a name, with an endless one, or with that of another column."""
    for j, name in enumerate(names, start=1):
        if not name:
            raise ValueError(f"{path}: line {number}, column {j} has no name; expected a name for every column")
        if len(name) > _LONGEST_NAME:
            size = f"{len(name)} characters; expected at most {_LONGEST_NAME}"
            raise ValueError(f"{path}: line {number}, column {j} has a name of {size}")
        if name in names[: j - 1]:
            first = names.index(name) + 1
            raise ValueError(f"{path}: line {number}, columns {first} and {j} are both called {name!r}; rename one")


def _columns(rows: list[Row], names: list[str], bad: list[BadRecord]) -> Records:
    """Turn rows into columns, and empty `rows` on the way."""
    columns: dict[str, list[str | None]] = {name: [] for name in names}
    numbers = []
    rows.reverse()
    while rows:  # rows are given up as columns grow: files of short lines take many times their size
        number, cells = rows.pop()
        if len(cells) != len(names):
            found = f"{len(cells)} column{'s' * (len(cells) != 1)}"
            bad.append(BadRecord(f"line {number}", f"expected {len(names)} columns, found {found}"))
            continue
        numbers.append(number)
        for name, cell in zip(names, cells, strict=True):
            columns[name].append(cell if cell.strip() else None)
    return Records(columns, numbers, "line", sorted(bad, key=_line), typed=False)


def _line(bad: BadRecord) -> int:
    return int(bad.where.split(",")[0].removeprefix("line "))


def _looks_inflected(records: Records) -> bool:
    values = list(records.columns.values())
    return len(records) > 0 and any(all(";" in (cell or "") for cell in column) for column in values[1:])


def _inflections(records: Records, path: str) -> Records:
    values = list(records.columns.values())
    if len(values) != 3:
        raise ValueError(f"{path} has {len(values)} columns; expected lemma, form and tags separated by tabs")
    lemma, second, third = values
    tagged = [sum(";" in (cell or "") for cell in column) for column in (second, third)]
    form, tags = (third, second) if tagged[0] > tagged[1] else (second, third)
    records.columns = dict(zip(_INFLECTED, (lemma, form, tags), strict=True))
    records.inputs, records.outputs, records.typed = ("lemma", "tags"), ("form",), True
    records.kinds = {"lemma": "lemmas with tags", "form": "strings"}
    records.notes = ["three columns: lemma, form and tags"]
    return records
