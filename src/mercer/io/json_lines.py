"""One JSON object per line."""

from __future__ import annotations

import json
from typing import Any

from mercer.io.lines import text_lines
from mercer.io.records import BadRecord, ReadOptions, Records


def read_jsonl(path: str, options: ReadOptions) -> Records:
    """Read a JSON object per line; its keys are the columns, missing keys and nulls are gaps."""
    bad: list[BadRecord] = []
    rows: list[tuple[int, dict[str, Any]]] = []
    for number, text in text_lines(path, bad):
        if not text.strip():
            continue
        try:
            rows.append((number, _record(text)))
        except (ValueError, RecursionError) as error:
            bad.append(BadRecord(f"line {number}", str(error) or "brackets are nested too deep"))
    if not rows:
        raise ValueError(f"{path}: {bad[0] if bad else 'the file is empty; expected a JSON object per line'}")
    names = list(dict.fromkeys(name for _, row in rows for name in row))
    columns = {name: [row.get(name) for _, row in rows] for name in names}
    notes = [f"keys: {', '.join(names)}"]
    records = Records(columns, [number for number, _ in rows], "line", bad, notes)
    if len(names) == 2:
        records.inputs, records.outputs = (names[0],), (names[1],)
    return records


def _record(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text, object_pairs_hook=_distinct, parse_constant=_refused)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at position {error.pos + 1}") from error
    if not isinstance(found, dict):
        raise ValueError(f'holds a {type(found).__name__}; expected an object, such as {{"x": 1, "y": 2}}')
    for name, value in found.items():
        if isinstance(value, dict):
            raise ValueError(f"column {name!r} holds an object; expected text, a number, true, false, null or a list")
    return found


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the column {next(name for name in names if names.count(name) > 1)!r} is there twice")
    return found


def _refused(name: str) -> float:
    if name == "NaN":
        return float("nan")
    raise ValueError(f"holds {name}; expected finite numbers, or null for a gap")
