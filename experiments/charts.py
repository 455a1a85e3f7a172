"""Line charts with error bands, by matplotlib, as blocks of HTML."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from math import isfinite
from typing import Any

from mercer.report.rendering import chart, figure_style

_DASHES = ("-", "--", ":", "-.", (0, (1, 4)), (0, (10, 3)))
_LEGEND_WIDTH = 100
"""Characters of the names in a line of the legend."""
_MOST_TICKS, _FEW_TICKS = 10, 6
"""Points up to which the axis has a tick at each, if it is logarithmic and if it is not."""
_COLOURS = ("#2563a8", "#c2410c", "#2e9e6b", "#8a63d2", "#c27c0e", "#8a8f98")


@dataclass(frozen=True)
class Line:
    """Points of a line, and the half-widths of its error band (no band without `errors`)."""

    across: Sequence[float]
    up: Sequence[float]
    errors: Sequence[float] | None = None
    dots: bool = field(default=True, kw_only=True)
    """Mark the points; not for curves of many points."""


def line_chart(lines: Mapping[str, Line], *, across: str, up: str, title: str = "", log: Collection[str] = ()) -> str:
    """Draw named lines over a common axis, as one block of HTML.

    Parameters
    ----------
    lines : mapping of str to Line
        The lines by name; the names make the legend. Lines differ in colour and in dash.
    across, up : str
        Titles of the axes.
    title : str
        Heading of the chart.
    log : collection of str
        The axes that are logarithmic, "across" or "up" or both; their values must be above zero.

    Examples
    --------
    >>> line_chart({"ridge": Line([5, 10], [0.9, 0.7], [0.1, 0.05])}, across="n", up="error")[:30]
    '<figure class="lines"><img src'
    """
    for name, line in lines.items():
        _check(name, line, log)
    with figure_style():
        drawn = chart(line_figure(lines, across=across, up=up, log=log))
    return figure_html(drawn.uri, f"{up} against {across}", title, "lines")


def line_figure(lines: Mapping[str, Line], *, across: str, up: str, log: Collection[str] = ()) -> Any:
    """Return the chart as a figure of matplotlib."""
    from matplotlib import pyplot

    if not lines:
        raise ValueError("lines is empty; expected at least one Line")
    figure, ax = pyplot.subplots(figsize=(6.4, 3.4), layout="constrained")
    for number, (name, line) in enumerate(lines.items()):
        style: Any = {"color": _COLOURS[number % 6], "linestyle": _DASHES[number % 6]}
        ax.plot(line.across, line.up, marker="o" if line.dots else None, markersize=4, label=name, **style)
        if line.errors is not None:
            low, high = ([y + sign * e for y, e in zip(line.up, line.errors, strict=True)] for sign in (-1, 1))
            ax.fill_between(line.across, low, high, color=style["color"], alpha=0.16, linewidth=0)
    ax.set(xlabel=across, ylabel=up, xscale="log" if "across" in log else "linear")
    ax.set_yscale("log" if "up" in log else "linear")
    ticks = sorted({place for line in lines.values() if line.dots for place in line.across})
    if ticks and len(ticks) <= (_MOST_TICKS if "across" in log else _FEW_TICKS):
        ax.set_xticks(ticks, [f"{tick:.4g}" for tick in ticks])
        ax.set_xticks([], minor=True)
    ax.grid(alpha=0.3)
    columns = max(1, min(3, len(lines), _LEGEND_WIDTH // (max(map(len, lines)) + 8)))
    figure.legend(fontsize="small", loc="outside lower center", ncols=columns)
    rows = -(-len(lines) // columns)
    figure.set_figheight(3.2 + 0.16 * rows)
    return figure


def figure_html(uri: str, label: str, title: str, kind: str) -> str:
    """Return a picture with its title as a block of HTML."""
    heading = f"<figcaption>{escape(title)}</figcaption>" if title else ""
    label = escape(f"{title}: {label}" if title else label)
    return f'<figure class="{kind}"><img src="{uri}" alt="{label}" style="max-width:100%">{heading}</figure>'


def _check(name: str, line: Line, log: Collection[str]) -> None:
    errors = [0.0] * len(line.up) if line.errors is None else line.errors
    if not len(line.across) == len(line.up) == len(errors) > 0:
        raise ValueError(
            f"line {name!r} has {len(line.across)} places, {len(line.up)} values and {len(errors)} errors; expected as many "
            "of each, at least one"
        )
    if not all(map(isfinite, [*line.across, *line.up, *errors])):
        raise ValueError(f"line {name!r} contains NaN or infinity; expected finite numbers")
    for axis, values in (("across", line.across), ("up", line.up)):
        if axis in log and min(values) <= 0:
            raise ValueError(f"a logarithmic axis has the value {min(values):g}; expected numbers above zero")
