"""Pages of benchmarks and of the comparison with rivals, from their stored results."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from experiments.bench.reporting import table as bench_table
from experiments.bench.scale_page import device_table, scale_tables
from experiments.bench.scale_picture import draw_scale
from experiments.page import markdown
from experiments.pivots import Layout, best_of_columns, score
from experiments.rivals.picture import draw_ranks
from experiments.rivals.scores import SCORES
from mercer.report import Result, Table

TITLES = {
    "bench-core": "Benchmark: fits, paths and peak memory",
    "bench-scale": "Benchmark: time, memory and error against the number of pairs",
    "bench-alpha": "Benchmark: the choice of alpha, beside what users would call",
    "bench-auto": "Benchmark: AutoEstimator from data to predictions",
    "bench-blocks": "Benchmark: a million rows, ten million candidates",
    "bench-dask": "Benchmark: a cluster of two processes, one of them killed",
    "bench-objects": "Benchmark: kernels on objects",
    "bench-operators": "Benchmark: operator-valued kernels",
    "bench-strings": "Benchmark: string kernels",
    "bench-words": "Benchmark: models of words",
    "rivals": "AutoEstimator beside other estimators, on the same folds",
}
"""Titles of the results that are not experiments, by their names."""


def measured_page(name: str, result: Result, device: dict[str, Any] | None = None) -> str:
    """Write the page of a benchmark or of the comparison as Markdown, with what was measured on a `device` too."""
    tables = _TABLES[name](result.rows) if name in _TABLES else [bench_table(result)]
    tables += [] if device is None else [device_table(device)]
    command = "rivals" if name == "rivals" else f"bench {name.removeprefix('bench-')}"
    machine = result.environment
    parts = [f"# {TITLES[name]}", *([f"![{TITLES[name]}]({name}.svg)"] if name in _DRAWN else [])]
    parts += result.parameters.get("notes", [])
    parts += [part for table in tables for part in (f"**{table.title}**", markdown(table))]
    parts.append(
        f"`python -m experiments {command}`: {result.seconds:.0f} seconds on {machine['cpu']}, {machine['cores']} cores."
    )
    return "\n\n".join(parts) + "\n"


def _rivals(rows: Sequence[dict[str, Any]]) -> list[Table]:
    """Mean ranks, then a table of each score: methods down, tasks across."""
    ranked = sorted((row for row in rows if row["metric"] == "mean rank"), key=lambda row: row["value"])
    lines = [[row["method"], f"{row['value']:.2f}", str(row.get("tasks", ""))] for row in ranked]
    found = [Table(["method", "mean rank", "tasks"], lines, "Mean rank, 1 for the best on every task")]
    senses = {each.name: each.best for each in SCORES.values()}
    scored = [row for row in rows if row["metric"] not in ("mean rank", "seconds") and "task" in row]
    for metric in dict.fromkeys(row["metric"] for row in scored):
        own = [
            {key: row[key] for key in ("method", "metric", "task", "value", "error")}
            for row in scored
            if row["metric"] == metric
        ]
        layout = Layout(own)
        cells = [[line, *[""] * len(layout.columns)] for line in layout.lines]
        places = [(layout.lines.index(layout.line(row)), 1 + layout.columns.index(layout.column(row))) for row in own]
        for (i, j), row in zip(places, own, strict=True):
            cells[i][j] = score(row["value"], row["error"], 3)
        values = dict(zip(places, (row["value"] for row in own), strict=True))
        tasks = list(dict.fromkeys(row["task"] for row in own))
        title = metric if len(tasks) > 1 else f"{metric}, {tasks[0]}"
        best = best_of_columns(values, senses[metric])
        found.append(Table([", ".join(layout.down), *layout.columns], cells, title, best))
    return found


_TABLES: dict[str, Callable[[Any], list[Table]]] = {"rivals": _rivals, "bench-scale": scale_tables}
_DRAWN: dict[str, Callable[[Any, Path], None]] = {"bench-scale": draw_scale, "rivals": draw_ranks}


def write_measured(folder: Path, pages: Path) -> None:
    """Write the pages of the results that are in a folder."""
    for name in TITLES:
        if (folder / f"{name}.json").is_file():
            device = folder / "device" / f"{name}-device.json"
            content = json.loads(device.read_text(encoding="utf-8")) if device.is_file() else None
            result = Result.read(folder / f"{name}.json")
            text = measured_page(name, result, content)
            if name in _DRAWN:
                _DRAWN[name](result.rows, pages / f"{name}.svg")
            (pages / f"{name}.md").write_text(text, encoding="utf-8")
