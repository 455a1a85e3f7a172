"""Sequences in FASTA files."""

from __future__ import annotations

import re
from typing import Any

from mercer.io.lines import text_lines
from mercer.io.records import BadRecord, ReadOptions, Records

_FIELD = re.compile(r"(?:^|[\s|;])([A-Za-z]\w*)=([^\s|;]+)")
_SEQUENCE = re.compile(r"[A-Za-z*\-.]+")


def read_fasta(path: str, options: ReadOptions) -> Records:
    """Read the columns id, description and sequence; ``key=value`` in a description is a column of its own."""
    bad: list[BadRecord] = []
    found: list[tuple[int, str, list[str]]] = []
    for number, text in text_lines(path, bad):
        line = text.strip()
        if line.startswith(">"):
            found.append((number, line[1:].strip(), []))
        elif line and not line.startswith(";"):
            if not found:
                raise ValueError(f"{path}: line {number} is {line!r:.30}; expected a line that begins with > first")
            if not _SEQUENCE.fullmatch(line):
                bad.append(BadRecord(f"line {number}", f"{line!r:.30}; expected letters of a sequence"))
                found[-1][2].append("")
            found[-1][2].append(line)
    if not found:
        raise ValueError(f"{path}: {bad[0] if bad else 'the file is empty; expected lines that begin with >'}")
    wrong = {number for number, _, lines in found if "" in lines}
    for number, head, _ in found:
        names = [name for name, _ in _FIELD.findall(head)]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            bad.append(BadRecord(f"line {number}", f"the column {twice!r} is there twice"))
            wrong.add(number)
    bad += [BadRecord(f"line {n}", f"{head!r:.30} has no sequence") for n, head, lines in found if not lines]
    kept = [(number, head, "".join(lines)) for number, head, lines in found if lines and number not in wrong]
    fields = [dict(_FIELD.findall(head)) for _, head, _ in kept]
    names = list(dict.fromkeys(name for each in fields for name in each))
    columns: dict[str, list[Any]] = {
        "id": [head.split()[0] if head else None for _, head, _ in kept],
        "description": [head.partition(" ")[2].strip() or None for _, head, _ in kept],
        "sequence": [sequence.upper() for _, _, sequence in kept],
    }
    columns |= {name: [each.get(name) for each in fields] for name in names if name not in ("id", "sequence")}
    notes = [f"{len(kept)} sequences; columns: {', '.join(columns)}"]
    records = Records(columns, [number for number, _, _ in kept], "line", bad, notes, typed=False, inputs=("sequence",))
    if len(names) == 1:
        records.outputs = (names[0],)
    return records
