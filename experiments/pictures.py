"""A picture of the rows of an experiment: lines over a size, or dots beside the paper's values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import AbstractContextManager
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

from experiments.comparison import is_time
from experiments.experiment import Experiment
from experiments.pivots import Layout

_FIXED = ("method", "metric", "value", "error", "paper", "paper_error")
_SETTINGS = ("σl", "ε")
"""Numbers that are settings, not sizes."""
_MOST_PANELS, _MOST_METRICS, _WIDEST = 6, 3, 72
_WIDTH, _LEGEND_COLUMNS = 9.6, 3
_FAR_APART = 12
"""Ratio of sizes from which their axis is logarithmic."""
_DASHES = ("-", "--", ":")
_LIGHT: Any = {"savefig.facecolor": "white", "svg.hashsalt": "mercer", "svg.fonttype": "none", "font.size": 9}


def draw(experiment: Experiment, rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw the rows into a file."""
    path.write_bytes(drawn(experiment, rows))


def drawn(experiment: Experiment, rows: Sequence[dict[str, Any]]) -> bytes:
    """Draw the rows as SVG, with a hash of them in it so that a test can tell an old picture."""
    from matplotlib.figure import Figure

    with style():
        figure = Figure(layout="constrained")
        sizes = _sizes(rows)
        if sizes:
            _lines(figure, rows, sizes)
        else:
            _dots(figure, experiment, rows)
        return as_svg(figure, fingerprint(rows))


def style() -> AbstractContextManager[None]:
    """Return a context in which figures look as on all pages."""
    import matplotlib

    return matplotlib.rc_context(_LIGHT)


def as_svg(figure: Any, description: str | None = None) -> bytes:
    """Write a figure as SVG, the same bytes each time."""
    with BytesIO() as file:
        figure.savefig(file, format="svg", metadata={"Date": None, "Description": description})
        return file.getvalue()


def fingerprint(rows: Sequence[dict[str, Any]]) -> str:
    """Return a hash of the rows.

    Examples
    --------
    >>> fingerprint([{"value": 1.0}])[:12]
    '62150ca66cae'
    """
    return sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()


def _sizes(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The keys with numbers, at least three, over which rows are measured: one, or several that were changed one at a time."""
    found: list[str] = []
    for key in dict.fromkeys(k for row in rows for k in row if k not in (*_FIXED, *_SETTINGS)):
        own = [row for row in rows if isinstance(row.get(key), int | float)]
        if len({row[key] for row in own}) >= 3 and 2 * len(own) > len(rows):
            pairs = [{(row.get(other), row[key]) for row in own} for other in found]
            if all(len(each) < len({a for a, _ in each}) * len({b for _, b in each}) for each in pairs):
                found.append(key)
    return found


Panel = tuple[str, str]
"""The size across a panel, and its title."""


def _lines(figure: Any, rows: Sequence[dict[str, Any]], sizes: Sequence[str]) -> None:
    panels: dict[Panel, dict[str, list[dict[str, Any]]]] = {}
    for size in sizes:
        for row in rows:
            if isinstance(row.get(size), int | float):
                rest = [str(row[k]) for k in row if k not in (*_FIXED, size) and isinstance(row[k], str)]
                panels.setdefault((size, ", ".join([row["metric"], *rest])), {}).setdefault(row["method"], []).append(
                    row
                )
    panels = {name: own for name, own in panels.items() if max(map(len, own.values())) > 1} or panels
    kept = sorted(panels, key=lambda panel: -sum(map(len, panels[panel].values())))[: _MOST_PANELS * len(sizes)]
    series = {(size, name): _series(panels[size, name], size) for size, name in kept}
    labels = list(dict.fromkeys(label for own in series.values() for label in own))
    columns = min(2, len(kept))
    grid = -(-len(kept) // columns)
    legend = -(-len(labels) // _LEGEND_COLUMNS)
    figure.set_size_inches(_WIDTH, 2.9 * grid + 0.2 * legend + 0.3)
    panels_of = list(figure.subplots(grid, columns, squeeze=False).flat)
    for unused in panels_of[len(kept) :]:
        unused.remove()
    for axes, (size, name) in zip(panels_of, kept, strict=False):
        for label, own in series[size, name].items():
            errors = [row["error"] or 0.0 for row in own]
            place = labels.index(label)
            style: Any = {"color": f"C{place % 10}", "linestyle": _DASHES[place // 10 % len(_DASHES)]}
            axes.errorbar([row[size] for row in own], [row["value"] for row in own], errors, marker="o", ms=3, **style)
            _published_points(axes, [(row[size], row) for row in own if "paper" in row], style["color"])
        axes.set(title=name, xlabel=size)
        axes.grid(alpha=0.3)
        drawn_rows = [row for own in series[size, name].values() for row in own]
        _ticks(axes, sorted({row[size] for row in drawn_rows}))
        if is_time(drawn_rows[0]["metric"]):
            axes.set_yscale("log")
    _legend(
        figure, [(f"C{i % 10}", _DASHES[i // 10 % len(_DASHES)], "o", label) for i, label in enumerate(labels)], rows
    )


def _published_points(axes: Any, points: Sequence[tuple[float, dict[str, Any]]], colour: str) -> None:
    if points:
        across, up = [place for place, _ in points], [row["paper"] for _, row in points]
        axes.plot(across, up, "D", ms=5, mfc="white", color=colour, zorder=3)


def _ticks(axes: Any, sizes: Sequence[float]) -> None:
    """Put a tick at each size, on a logarithmic axis where they are far apart."""
    if sizes[0] > 0 and sizes[-1] >= _FAR_APART * sizes[0]:
        axes.set_xscale("log")
    axes.set_xticks(sizes, [f"{size:g}" for size in sizes])
    axes.minorticks_off()


def _legend(figure: Any, keys: Sequence[tuple[str, Any, str, str]], rows: Sequence[dict[str, Any]]) -> None:
    """Explain the lines of all panels below them."""
    from matplotlib.lines import Line2D

    lines = [Line2D([], [], color=c, linestyle=dash, marker=m, ms=3, label=label) for c, dash, m, label in keys]
    if any("paper" in row for row in rows):
        lines.append(Line2D([], [], color="0.4", linestyle="", marker="D", mfc="white", label="paper"))
    figure.legend(handles=lines, loc="outside lower center", ncols=min(_LEGEND_COLUMNS, len(lines)), frameon=False)


def _series(methods: dict[str, list[dict[str, Any]]], size: str) -> dict[str, list[dict[str, Any]]]:
    """Rows of each line, in the order of the size; a method has a line for each value of its other numbers.

    Lines of one point are left out where a method has longer ones.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for method, rows in methods.items():
        others = [key for key in rows[0] if key not in (*_FIXED, size) and isinstance(rows[0][key], int | float)]
        lines: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
        for row in sorted(rows, key=lambda row: row[size]):
            lines.setdefault(tuple(row.get(key) for key in others), []).append(row)
        longest = max(map(len, lines.values()))
        kept = {values: own for values, own in lines.items() if len(own) > 1 or longest == 1}
        for values, own in kept.items():
            named = [f"{key} {value:g}" for key, value in zip(others, values, strict=True) if value is not None]
            found[", ".join([method, *(named if len(kept) > 1 else [])])] = own
    return found


def _dots(figure: Any, experiment: Experiment, rows: Sequence[dict[str, Any]]) -> None:
    """Draw a line of dots for each method, a colour for each setting, and the paper's values as diamonds."""
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    # metrics that tell better from worse come first
    metrics = sorted(metrics, key=lambda m: (experiment.sense(m) is None, -sum(row["metric"] == m for row in rows)))
    metrics = metrics[:_MOST_METRICS]
    shown = {metric: [row for row in rows if row["metric"] == metric] for metric in metrics}
    layouts = {metric: Layout(own) for metric, own in shown.items()}
    heights = [len(layout.lines) + 4 for layout in layouts.values()]
    figure.set_size_inches(_WIDTH, 0.21 * sum(heights) + 0.6)
    panels = figure.subplots(len(metrics), 1, squeeze=False, height_ratios=heights)[:, 0]
    for axes, metric in zip(panels, metrics, strict=True):
        layout = layouts[metric]
        for row in shown[metric]:
            place, colour = -layout.lines.index(layout.line(row)), f"C{layout.columns.index(layout.column(row)) % 10}"
            axes.errorbar(row["value"], place, xerr=row["error"] or 0.0, fmt="o", color=colour, ms=4, capsize=2)
            if "paper" in row:
                wide = row.get("paper_error") or 0.0
                axes.errorbar(
                    row["paper"], place, xerr=wide, fmt="D", mfc="white", color="0.4", ms=5, capsize=2, zorder=0
                )
        names = [line if len(line) <= _WIDEST else line[: _WIDEST - 1] + "…" for line in layout.lines]
        axes.set_ylim(0.6 - len(names), 0.6)
        axes.set_yticks([-i for i in range(len(names))], names, fontsize=8)
        axes.set(title=metric)
        axes.grid(alpha=0.3, axis="x")
        keys = [(f"C{j % 10}", "o", column) for j, column in enumerate(layout.columns)] if layout.across else []
        keys += [("0.4", "D", "paper")] if any("paper" in row for row in shown[metric]) else []
        for colour, marker, label in keys:
            axes.plot([], [], marker, color=colour, mfc="white" if marker == "D" else colour, label=label)
        if keys:
            axes.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
