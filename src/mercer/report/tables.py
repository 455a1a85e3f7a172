"""Rows of results as tables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True)
class Table:
    """Cells of text under a header; the first column names the row, `best` marks (row, column).

    `kinds` gives cells the name of a style: "matched", "beaten", "short" or "differs".
    """

    header: list[str]
    rows: list[list[str]]
    title: str = ""
    best: set[tuple[int, int]] = field(default_factory=set)
    kinds: dict[tuple[int, int], str] = field(default_factory=dict)

    def content(self) -> dict[str, Any]:
        """Return title, header and rows as JSON can hold them; ``Table(**content)`` has no marks.

        Examples
        --------
        >>> Table(["word"], [["go"]], "Errors").content()
        {'title': 'Errors', 'header': ['word'], 'rows': [['go']]}
        """
        return {"title": self.title, "header": self.header, "rows": self.rows}


def pivot(  # noqa: PLR0913
    rows: Iterable[dict[str, Any]],
    down: str,
    across: str,
    *,
    title: str = "",
    digits: int = 3,
    best: str | None = "min",
    within: str = "column",
) -> Table:
    """Arrange values of a result in a table: one row for each value of `down`, one column for each of `across`.

    `rows` are as in `mercer.report.Result`; `digits` is the number of decimals. The value that is `best` ("min", "max" or
    None) `within` its "column" or "row" is marked.

    Examples
    --------
    >>> rows = [{"method": "a", "n": 5, "value": 0.5, "error": 0.1},
    ...         {"method": "b", "n": 5, "value": 0.4, "error": None}]
    >>> pivot(rows, "method", "n").rows
    [['a', '0.500 ± 0.100'], ['b', '0.400']]
    """
    cells = {(str(row[down]), str(row[across])): row for row in rows}
    lines = list(dict.fromkeys(line for line, _ in cells))
    columns = list(dict.fromkeys(column for _, column in cells))
    text = [[line, *(_cell(cells.get((line, column)), digits) for column in columns)] for line in lines]
    groups: dict[str, dict[tuple[int, int], float]] = {}
    for (line, column), row in cells.items():
        place = lines.index(line), columns.index(column) + 1
        groups.setdefault(column if within == "column" else line, {})[place] = row["value"]
    marked = {place for group in groups.values() for place in _best(group, best)}
    return Table([down, *columns], text, title, marked)


def print_table(table: Table, console: Console | None = None) -> None:
    """Print a table to the terminal, the best values in bold; one that is too wide in parts, each with the first column."""
    import rich.table
    from rich.console import Console
    from rich.text import Text

    console = console or Console()
    for part, columns in enumerate(_parts(table, console.width)):
        title = f"{table.title} (continued)" if part else table.title
        drawn = rich.table.Table(title=Text(title) if title else None, title_justify="left")
        for j in (0, *columns):
            drawn.add_column(Text(table.header[j]), justify="right" if j else "left", no_wrap=j > 0, overflow="fold")
        for i, row in enumerate(table.rows):
            drawn.add_row(*(Text(row[j], style="bold" if (i, j) in table.best else "") for j in (0, *columns)))
        console.print(drawn)


def _parts(table: Table, width: int) -> list[list[int]]:
    """The columns after the first that fit beside each other; the first takes at most half of the width."""
    widths = [max(len(row[j]) for row in (table.header, *table.rows)) + 3 for j in range(len(table.header))]
    first = min(widths[0], max(width // 2, 12)) + 1
    parts: list[list[int]] = [[]]
    for j in range(1, len(widths)):
        if parts[-1] and first + sum(widths[k] for k in parts[-1]) + widths[j] > width:
            parts.append([])
        parts[-1].append(j)
    return parts


def _best(group: dict[tuple[int, int], float], best: str | None) -> list[tuple[int, int]]:
    """Return the places of the best value; empty if there is nothing to compare."""
    if best is None or len(group) < 2:
        return []
    target = min(group.values()) if best == "min" else max(group.values())
    return [place for place, value in group.items() if value == target]


def _cell(row: dict[str, Any] | None, digits: int) -> str:
    if row is None:
        return "–"
    text = f"{row['value']:.{digits}f}"
    return text if row["error"] is None else f"{text} ± {row['error']:.{digits}f}"
