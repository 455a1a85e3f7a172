"""Curves in long format: one row for each curve and position."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.io.records import BadRecord, ReadOptions, Records
from mercer.io.types import Mistake, number
from mercer.structures.curves import on_grid


def gathered(records: Records, options: ReadOptions, path: str) -> Records:
    """Return a record for each curve: columns that are constant on every curve as they are, others as lists on a common grid.

    Curves on grids of their own are interpolated between their points, on the union of the positions that all of them reach.
    """
    curve = options.curve
    if len(curve) != 2 or any(name not in records.columns for name in curve):
        known = ", ".join(records.columns)
        raise ValueError(
            f"--curve {','.join(curve)}; expected the columns of the curve and of the position, of {known}"
        )
    name, at = curve
    rows, positions, bad = _rows(records, name, at)
    values = {each: list(column) for each, column in records.columns.items() if each not in curve}
    varying = [
        each for each, column in values.items() if any(len({column[i] for i in own}) > 1 for own in rows.values())
    ]
    columns: dict[str, list[Any]] = {name: list(rows)}
    for each in values:
        if each not in varying:
            columns[each] = [values[each][own[0]] for own in rows.values()]
    notes, grids = [*records.notes, f"{len(rows)} curves"], {}
    for each in varying:
        numbers, wrong = _numbers(records, each)
        bad |= wrong
        points = []
        for curve_name, own in rows.items():
            there = [i for i in own if numbers[i] is not None]
            points.append(([positions[i] for i in there], [numbers[i] for i in there]))
            if len(there) < 2:
                few = f"the curve {curve_name} has {len(there)} value{'s' * (len(there) != 1)}; expected at least two"
                short = BadRecord(records.where(own[0], each), few)
                raise ValueError(f"{path}: {next((bad[i] for i in own if i in bad), short)}")
        try:
            grid, curves, regular = on_grid(points, options.grids.get(each))
        except ValueError as error:
            raise ValueError(f"{path}: column {each!r}: {error}") from error
        grids[each] = grid.tolist()
        columns[each] = [row.tolist() for row in curves]
        told = "" if regular else ", interpolated from grids that differ"
        notes.append(f"{each}: {len(grid)} positions from {grid[0]:g} to {grid[-1]:g}{told}")
    firsts = [records.numbers[own[0]] for own in rows.values()]
    told_bad = [*records.bad, *(bad[i] for i in sorted(bad))]
    found = Records(columns, firsts, f"curve at {records.unit}", told_bad, notes, grids=grids)
    if len(varying) == 2:
        found.inputs, found.outputs = (varying[0],), (varying[1],)
    return found


def scattered(rows: list[dict[str, Any]], curve: tuple[str, ...], grid: list[float] | None) -> list[dict[str, Any]]:
    """Return a row for each position of predicted curves; answers that are not curves have one row each, without curves."""
    name, at = curve
    found = []
    for row in rows:
        listed = {key: value for key, value in row.items() if np.ndim(value) == 1}
        scalars = {key: value for key, value in row.items() if key not in listed and key != name}
        if grid is None:
            found.append({name: row.get(name)} | scalars)
            continue
        kept = [key for key, value in listed.items() if len(value) == len(grid)]
        whole = all(float(position).is_integer() for position in grid)
        for j, position in enumerate(grid):
            place = int(position) if whole else position
            found.append({name: row.get(name), at: place} | {key: row[key][j] for key in kept} | scalars)
    return found


def _rows(records: Records, name: str, at: str) -> tuple[dict[Any, list[int]], list[Any], dict[int, BadRecord]]:
    """Return the rows of each curve, the positions of all rows, and the rows that cannot be used."""
    positions, bad = _numbers(records, at)
    taken: dict[Any, dict[float, int]] = {}
    for i, (own, place) in enumerate(zip(records.columns[name], positions, strict=True)):
        if own is None:
            bad[i] = BadRecord(records.where(i, name), "an empty cell; expected the name of a curve")
        elif place is None:
            bad.setdefault(i, BadRecord(records.where(i, at), "an empty cell; expected a position"))
        elif place in (of_curve := taken.setdefault(own, {})):
            first = f"the position of {records.where(of_curve[place])}, of the same curve"
            bad[i] = BadRecord(records.where(i, at), f"{place:g}, which is {first}; expected each position once")
        else:
            of_curve[place] = i
    return {own: list(found.values()) for own, found in taken.items()}, positions, bad


def _numbers(records: Records, column: str) -> tuple[list[Any], dict[int, BadRecord]]:
    found: list[Any] = []
    bad: dict[int, BadRecord] = {}
    for i, cell in enumerate(records.columns[column]):
        try:
            found.append(number(cell))
        except Mistake as mistake:
            found.append(None)
            bad[i] = BadRecord(records.where(i, column), str(mistake))
    return found, bad
