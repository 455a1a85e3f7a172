"""A picture of the rows of an experiment: lines over a size, or dots beside the paper's values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

from experiments.experiment import Experiment
from experiments.pivots import Layout

_FIXED = ("method", "metric", "value", "error", "paper", "paper_error")
_SETTINGS = ("σl", "ε")
"""Numbers that are settings, not sizes."""
_MOST_PANELS, _MOST_METRICS, _WIDEST = 6, 3, 60
_LIGHT: Any = {"savefig.facecolor": "white", "svg.hashsalt": "mercer", "svg.fonttype": "none", "font.size": 9}


def draw(experiment: Experiment, rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw the rows into a file."""
    path.write_bytes(drawn(experiment, rows))


def drawn(experiment: Experiment, rows: Sequence[dict[str, Any]]) -> bytes:
    """Draw the rows as SVG, with a hash of them in it so that a test can tell an old picture."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_LIGHT):
        figure = Figure(layout="constrained")
        size = _size(rows)
        if size is None:
            _dots(figure, rows)
        else:
            _lines(figure, rows, size)
        figure.suptitle(experiment.title)
        with BytesIO() as file:
            figure.savefig(file, format="svg", metadata={"Date": None, "Description": fingerprint(rows)})
            return file.getvalue()


def fingerprint(rows: Sequence[dict[str, Any]]) -> str:
    """Return a hash of the rows.

    Examples
    --------
    >>> fingerprint([{"value": 1.0}])[:12]
    '62150ca66cae'
    """
    return sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()


def _size(rows: Sequence[dict[str, Any]]) -> str | None:
    """The key with numbers, at least three, over which most rows are measured."""
    for key in dict.fromkeys(k for row in rows for k in row if k not in (*_FIXED, *_SETTINGS)):
        own = [row[key] for row in rows if isinstance(row.get(key), int | float)]
        if len(set(own)) >= 3 and 2 * len(own) > len(rows):
            return key
    return None


def _lines(figure: Any, rows: Sequence[dict[str, Any]], size: str) -> None:
    panels: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for row in rows:
        if isinstance(row.get(size), int | float):
            rest = [str(row[k]) for k in row if k not in (*_FIXED, size) and isinstance(row[k], str)]
            panels.setdefault(", ".join([row["metric"], *rest]), {}).setdefault(row["method"], []).append(row)
    panels = {name: own for name, own in panels.items() if max(map(len, own.values())) > 1} or panels
    kept = sorted(panels, key=lambda name: -sum(map(len, panels[name].values())))[:_MOST_PANELS]
    columns = min(3, len(kept))
    grid = -(-len(kept) // columns)
    figure.set_size_inches(4.2 * columns, 3.1 * grid + 0.8)
    panels_of = list(figure.subplots(grid, columns, squeeze=False).flat)
    for unused in panels_of[len(kept) :]:
        unused.remove()
    for axes, name in zip(panels_of, kept, strict=False):
        for label, own in _series(panels[name], size).items():
            errors = [row["error"] or 0.0 for row in own]
            axes.errorbar(
                [row[size] for row in own], [row["value"] for row in own], errors, label=label, marker="o", ms=3
            )
        axes.set(title=name, xlabel=size)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=7, frameon=False)


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


def _dots(figure: Any, rows: Sequence[dict[str, Any]]) -> None:
    """Draw a line of dots for each method, a colour for each setting, and the paper's values as diamonds."""
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    metrics = sorted(metrics, key=lambda m: -sum(row["metric"] == m for row in rows))[:_MOST_METRICS]
    shown = {metric: [row for row in rows if row["metric"] == metric] for metric in metrics}
    layouts = {metric: Layout(own) for metric, own in shown.items()}
    heights = [len(layout.lines) + 4 for layout in layouts.values()]
    figure.set_size_inches(9.6, 0.21 * sum(heights) + 0.6)
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
        axes.set_yticks([-i for i in range(len(names))], names, fontsize=7)
        axes.set(title=metric)
        axes.grid(alpha=0.3, axis="x")
        keys = [(f"C{j % 10}", "o", column) for j, column in enumerate(layout.columns)] if layout.across else []
        keys += [("0.4", "D", "paper")] if any("paper" in row for row in shown[metric]) else []
        for colour, marker, label in keys:
            axes.plot([], [], marker, color=colour, mfc="white" if marker == "D" else colour, label=label)
        if keys:
            axes.legend(fontsize=7, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
