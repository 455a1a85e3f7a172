"""A picture of the rows of an experiment: lines over a size, or dots beside the paper's values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from experiments.experiment import Experiment

_FIXED = ("method", "metric", "value", "error", "paper", "paper_error")
_MOST_PANELS, _MOST_LINES = 6, 26
_LIGHT: Any = {"savefig.facecolor": "white", "svg.hashsalt": "mercer", "svg.fonttype": "none", "font.size": 9}


def draw(experiment: Experiment, rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw the rows, with a hash of them in the file so that a test can tell an old picture."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_LIGHT):
        figure = Figure(layout="constrained")
        size = _size(rows)
        if size is None:
            _dots(figure, experiment, rows)
        else:
            _lines(figure, rows, size)
        figure.suptitle(experiment.title)
        figure.savefig(path, format="svg", metadata={"Date": None, "Description": fingerprint(rows)})


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
    for key in dict.fromkeys(k for row in rows for k in row if k not in _FIXED):
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
    kept = sorted(panels, key=lambda name: -sum(map(len, panels[name].values())))[:_MOST_PANELS]
    columns = min(3, len(kept))
    grid = -(-len(kept) // columns)
    figure.set_size_inches(4.2 * columns, 3.1 * grid + 0.8)
    for axes, name in zip(figure.subplots(grid, columns, squeeze=False).flat, kept, strict=False):
        for method, own in panels[name].items():
            own = sorted(own, key=lambda row: row[size])
            errors = [row["error"] or 0.0 for row in own]
            axes.errorbar(
                [row[size] for row in own], [row["value"] for row in own], errors, label=method, marker="o", ms=3
            )
        axes.set(title=name, xlabel=size)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=7, frameon=False)


def _dots(figure: Any, experiment: Experiment, rows: Sequence[dict[str, Any]]) -> None:
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    metrics = sorted(metrics, key=lambda m: -sum(row["metric"] == m for row in rows))[:3]
    shown = {metric: _chosen(experiment, [row for row in rows if row["metric"] == metric]) for metric in metrics}
    height = 0.24 * sum(map(len, shown.values())) + 0.8 * len(metrics) + 0.6
    figure.set_size_inches(8.4, height)
    ratios = [len(own) + 2 for own in shown.values()]
    panels = figure.subplots(len(metrics), 1, squeeze=False, height_ratios=ratios)[:, 0]
    for axes, (metric, own) in zip(panels, shown.items(), strict=True):
        for i, row in enumerate(own):
            axes.errorbar(row["value"], -i, xerr=row["error"] or 0.0, fmt="o", color="C0", ms=4, capsize=2)
            if "paper" in row:
                wide = row.get("paper_error") or 0.0
                axes.errorbar(row["paper"], -i, xerr=wide, fmt="D", mfc="white", color="C3", ms=5, capsize=2, zorder=0)
        axes.set_yticks([-i for i in range(len(own))], [_label(row) for row in own], fontsize=7)
        axes.set(title=metric)
        axes.grid(alpha=0.3, axis="x")
    if any("paper" in row for own in shown.values() for row in own):
        panels[0].plot([], [], "o", color="C0", label="ours")
        panels[0].plot([], [], "D", mfc="white", color="C3", label="paper")
        panels[0].legend(fontsize=8, frameon=False)


def _chosen(experiment: Experiment, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows with a published value, or else the best, as many as can be read."""
    with_paper = [row for row in rows if "paper" in row]
    if len(rows) <= _MOST_LINES:
        return rows
    if with_paper:
        return with_paper[:_MOST_LINES]
    sign = -1.0 if experiment.sense(rows[0]["metric"]) == "max" else 1.0
    return sorted(rows, key=lambda row: sign * row["value"])[:_MOST_LINES]


def _label(row: dict[str, Any]) -> str:
    rest = [str(row[k]) for k in row if k not in _FIXED and row[k] not in (None, "")]
    text = ", ".join([row["method"], *rest])
    return text if len(text) <= 60 else text[:57] + "…"
