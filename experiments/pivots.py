"""Rows of an experiment as tables with methods down and settings across."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from experiments.experiment import Experiment
from experiments.verdicts import KINDS, MARKS, verdict
from mercer.report import Table

_FIXED = ("method", "value", "error", "paper", "paper_error")
_MOST_COLUMNS = 9


def pivoted(experiment: Experiment, rows: Sequence[dict[str, Any]]) -> list[Table]:
    """Return a table for each metric: methods down, the setting that fills it best across, other settings beside the method.

    A cell holds our value and, after a slash, the paper's with the sign of its verdict. The best of a column is marked, if
    values of the metric are better or worse.
    """
    return [_table(experiment, [row for row in rows if row["metric"] == m], m) for m in _values(rows, "metric")]


class Layout:
    """The place of each row of one metric in a table: `lines` down, `columns` across."""

    def __init__(self, rows: Sequence[dict[str, Any]]) -> None:
        keys = [key for key in dict.fromkeys(k for row in rows for k in row) if key not in _FIXED and key != "metric"]
        keys = [key for key in keys if len(_values(rows, key)) > 1]
        self.across = _across(rows, keys)
        self.down = ["method", *(key for key in keys if key != self.across)]
        self.lines = list(dict.fromkeys(map(self.line, rows)))
        self.columns = list(dict.fromkeys(map(self.column, rows)))

    def line(self, row: dict[str, Any]) -> str:
        """Return the name of the line of a row."""
        return ", ".join(text for key in self.down if (text := _text(row.get(key))))

    def column(self, row: dict[str, Any]) -> str:
        """Return the name of the column of a row."""
        if self.across is None:
            return row["metric"]
        text = _text(row.get(self.across))
        return f"{self.across} {text}" if _bare(text) else text


def _table(experiment: Experiment, rows: list[dict[str, Any]], metric: str) -> Table:
    layout = Layout(rows)
    cells = [[line, *[""] * len(layout.columns)] for line in layout.lines]
    values: dict[tuple[int, int], float] = {}
    kinds: dict[tuple[int, int], str] = {}
    for row in rows:
        i, j = layout.lines.index(layout.line(row)), 1 + layout.columns.index(layout.column(row))
        cells[i][j], values[i, j] = _cell(experiment, row), row["value"]
        if "paper" in row:
            kinds[i, j] = KINDS[_verdict(experiment, row)]
    header = [", ".join(layout.down), *layout.columns]
    return Table(header, cells, metric, _best(values, experiment.sense(metric)), kinds)


def _across(rows: Sequence[dict[str, Any]], keys: list[str]) -> str | None:
    """The key whose columns leave the fewest lines without leaving most cells empty."""
    best, fewest = None, len({tuple(_text(row.get(key)) for key in ["method", *keys]) for row in rows}) + 1
    for key in keys:
        columns = len(_values(rows, key))
        lines = len({tuple(_text(row.get(other)) for other in ["method", *keys] if other != key) for row in rows})
        if columns <= _MOST_COLUMNS and 3 * len(rows) >= lines * columns and lines < fewest:
            best, fewest = key, lines
    return best


def _best(values: dict[tuple[int, int], float], sense: str | None) -> set[tuple[int, int]]:
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
    return f"{ours} / {row['paper']:.{experiment.digits}f} {MARKS[_verdict(experiment, row)]}"


def _verdict(experiment: Experiment, row: dict[str, Any]) -> str:
    return verdict(row, experiment.published_sense(row), experiment.digits)


def score(value: float, error: float | None, digits: int) -> str:
    """Write a value and its standard error."""
    return f"{value:.{digits}f}" if error is None else f"{value:.{digits}f} ± {error:.{digits}f}"


def _values(rows: Sequence[dict[str, Any]], key: str | None) -> list[str]:
    return list(dict.fromkeys(_text(row.get(key)) for row in rows)) if key else []


def _text(value: Any) -> str:
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _bare(column: str) -> bool:
    return column.replace(".", "", 1).isdigit() or column == ""
