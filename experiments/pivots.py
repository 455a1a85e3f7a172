"""Rows of an experiment as tables with methods down and settings across."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from experiments.experiment import Experiment
from experiments.verdicts import KINDS, MARKS, judged
from mercer.report import Table

_FIXED = ("method", "value", "error", "paper", "paper_error")
_MOST_COLUMNS = 9
_NOTHING = "–"
"""Name of the column of rows without the setting that goes across."""


def pivoted(experiment: Experiment, rows: Sequence[dict[str, Any]]) -> list[Table]:
    """Return a table for each metric: methods down, the setting that fills it best across, other settings beside the method.

    Settings under which scores do not compare (`Experiment.apart`) have tables of their own. Metrics without a setting that goes
    across share a table where they have the same lines, and so do metrics of a single line with the same columns.

    A cell holds our value and, after a slash, the paper's with the sign of its verdict. The best of a column is marked, if
    values of the metric are better or worse.
    """
    grids = [
        _grid(experiment, own, title)
        for metric in _values(rows, "metric")
        for title, own in _split(experiment, [row for row in rows if row["metric"] == metric], metric).items()
    ]
    return [grid.table() for grid in _joined(grids)]


class Layout:
    """The place of each row of one metric in a table: `lines` down, `columns` across."""

    def __init__(self, rows: Sequence[dict[str, Any]]) -> None:
        keys = [key for key in dict.fromkeys(k for row in rows for k in row) if key not in _FIXED and key != "metric"]
        keys = [key for key in keys if len(_values(rows, key)) > 1]
        self.across = _across(rows, keys)
        self.down = ["method", *(key for key in keys if key != self.across)]
        self.lines = list(dict.fromkeys(map(self.line, rows)))
        across = self.across
        ordered = rows if across is None or not _is_size(rows, across) else sorted(rows, key=lambda row: row[across])
        self.columns = list(dict.fromkeys(map(self.column, ordered)))

    def line(self, row: dict[str, Any]) -> str:
        """Return the name of the line of a row."""
        return ", ".join(text for key in self.down if (text := _named(key, row.get(key))))

    def column(self, row: dict[str, Any]) -> str:
        """Return the name of the column of a row."""
        if self.across is None:
            return row["metric"]
        return _named(self.across, row.get(self.across)) or _NOTHING


@dataclass
class _Grid:
    """A table in the making: its lines by name, and the places of what is marked."""

    title: str
    corner: str
    across: str | None
    lines: list[str]
    columns: list[str]
    cells: dict[tuple[int, int], str] = field(default_factory=dict)
    best: set[tuple[int, int]] = field(default_factory=set)
    kinds: dict[tuple[int, int], str] = field(default_factory=dict)

    def table(self) -> Table:
        rows = [
            [line, *(self.cells.get((i, j), "") for j in range(1, len(self.columns) + 1))]
            for i, line in enumerate(self.lines)
        ]
        return Table([self.corner, *self.columns], rows, self.title, self.best, self.kinds)

    def add(self, other: _Grid, down: int = 0, right: int = 0) -> None:
        """Take the cells of another grid, moved."""
        self.cells |= {(i + down, j + right): cell for (i, j), cell in other.cells.items()}
        self.kinds |= {(i + down, j + right): kind for (i, j), kind in other.kinds.items()}
        self.best |= {(i + down, j + right) for i, j in other.best}


def _grid(experiment: Experiment, rows: list[dict[str, Any]], title: str) -> _Grid:
    layout = Layout(rows)
    columns = [title] if layout.across is None else layout.columns
    grid = _Grid(title, ", ".join(layout.down), layout.across, layout.lines, columns)
    values: dict[tuple[int, int], float] = {}
    for row in rows:
        place = layout.lines.index(layout.line(row)), 1 + layout.columns.index(layout.column(row))
        grid.cells[place] = _cell(experiment, row)
        values |= {place: row["value"]} if row["method"] not in experiment.bounds else {}
        if "paper" in row:
            grid.kinds[place] = KINDS[judged(experiment, row)]
    grid.best = best_of_columns(values, experiment.sense(rows[0]["metric"]))
    return grid


def _split(experiment: Experiment, rows: list[dict[str, Any]], metric: str) -> dict[str, list[dict[str, Any]]]:
    """Rows of a metric by the settings that keep them apart, under the titles of their tables."""
    keys = [key for key in experiment.apart if len(_values(rows, key)) > 1]
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        title = ", ".join([metric, *filter(None, (_named(key, row.get(key)) for key in keys))])
        found.setdefault(title, []).append(row)
    return found


def _joined(grids: Sequence[_Grid]) -> list[_Grid]:
    """Put single columns with the same lines side by side, and single lines with the same columns below each other."""
    columns: dict[tuple[str, ...], _Grid] = {}
    found = []
    for grid in grids:
        same = columns.get(tuple(grid.lines)) if grid.across is None and len(grid.lines) > 1 else None
        if same is None:
            found.append(grid)
            columns |= {tuple(grid.lines): grid} if grid.across is None else {}
        else:
            same.add(grid, right=len(same.columns))
            same.columns = same.columns + grid.columns
            same.title = f"{same.title}; {grid.title}"
    runs = [(lines, list(run)) for lines, run in groupby(found, key=_single)]
    return [each for lines, run in runs for each in (run if lines is None or len(run) == 1 else [_stacked(run)])]


def _single(grid: _Grid) -> tuple[str, ...] | None:
    """Return what grids of a single line must share to become one table; None for several lines."""
    if len(grid.lines) > 1:
        return None
    return (grid.lines[0], grid.corner, *(grid.columns if grid.across else ()))


def _stacked(grids: Sequence[_Grid]) -> _Grid:
    first = grids[0]
    columns = first.columns if first.across else ["value"]
    made = _Grid(first.lines[0], "measure", first.across, [grid.title for grid in grids], columns)
    for i, grid in enumerate(grids):
        made.add(grid, down=i)
    return made


def _across(rows: Sequence[dict[str, Any]], keys: list[str]) -> str | None:
    """The key whose columns leave the fewest lines without leaving most cells empty; of equal ones the first with numbers."""
    best, fewest = None, len({tuple(_text(row.get(key)) for key in ["method", *keys]) for row in rows}) + 1
    for key in sorted(keys, key=lambda key: not _is_size(rows, key)):
        columns = len(_values(rows, key))
        lines = len({tuple(_text(row.get(other)) for other in ["method", *keys] if other != key) for row in rows})
        if columns <= _MOST_COLUMNS and 3 * len(rows) >= lines * columns and lines < fewest:
            best, fewest = key, lines
    return best


def _is_size(rows: Sequence[dict[str, Any]], key: str) -> bool:
    return all(isinstance(row.get(key), int | float) for row in rows)


def best_of_columns(values: dict[tuple[int, int], float], sense: str | None) -> set[tuple[int, int]]:
    """Return the places of the best value of each column ("min", "max", or None for no best), where it has several.

    Examples
    --------
    >>> best_of_columns({(0, 1): 0.3, (1, 1): 0.2, (0, 2): 0.1}, "min")
    {(1, 1)}
    """
    marked = set()
    for column in {j for _, j in values} if sense else ():
        own = {place: value for place, value in values.items() if place[1] == column}
        target = (min if sense == "min" else max)(own.values())
        marked |= {place for place, value in own.items() if value == target} if len(own) > 1 else set()
    return marked


def _cell(experiment: Experiment, row: dict[str, Any]) -> str:
    ours = score(row["value"], row["error"], experiment.digits)
    if "paper" not in row:
        return ours
    return f"{ours} / {row['paper']:.{experiment.digits}f} {MARKS[judged(experiment, row)]}"


def score(value: float, error: float | None, digits: int) -> str:
    """Write a value and its standard error; both with an exponent if they are less than a tenth of the last digit.

    Examples
    --------
    >>> score(0.25, 0.031, 2), score(3.2e-10, 1.1e-10, 4)
    ('0.25 ± 0.03', '3.2e-10 ± 1.1e-10')
    """
    small = value != 0 and max(abs(value), error or 0.0) < 0.1 * 10**-digits
    shown = ".1e" if small else f".{digits}f"
    return f"{value:{shown}}" if error is None else f"{value:{shown}} ± {error:{shown}}"


def _values(rows: Sequence[dict[str, Any]], key: str | None) -> list[str]:
    return list(dict.fromkeys(_text(row.get(key)) for row in rows)) if key else []


def _text(value: Any) -> str:
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _named(key: str, value: Any) -> str:
    """A setting in words: a number with its name."""
    return f"{key} = {_text(value)}" if isinstance(value, int | float) else _text(value)
