"""Tables of benchmarks, and measurements in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mercer.report import Result, Table, print_table

_ROOT = Path(__file__).parents[2]

_SIZES = {"n": "n = {}", "p": "p = {}", "rank": "m = {}", "letters": "{} letters"}


def finish(result: Result, output: Path | None) -> None:
    """Print the table, and write the result as JSON to `output` if it is given."""
    print_table(table(result))
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        result.to_json(output)


def table(result: Result) -> Table:
    """Tabulate the rows of a benchmark: the value, the bar and whether it is met."""
    lines = []
    for row in result.rows:
        sizes = [text.format(row[key]) for key, text in _SIZES.items() if key in row]
        bar = "" if row["bar"] is None else f"{row['sense']} {row['bar']:g}"
        met = {None: "", True: "yes", False: "no"}[row["met"]]
        lines.append([f"{', '.join([row['method'], *sizes])}: {row['metric']}", _value(row), bar, met])
    return Table(["what", "measured", "bar", "met"], lines, result.experiment.replace("-", " "))


def _value(row: dict[str, Any]) -> str:
    value = f"{row['value']:.3g}" if row["value"] < 1000 else f"{row['value']:,.0f}"
    spread = "" if row["error"] is None else f" ± {row['error']:.2g}"
    iterations = f" ({row['iterations']} iterations)" if row.get("iterations", 1) > 1 else ""
    return f"{value}{spread}{iterations}"


def cores() -> int:
    """Count the cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def measure_in_process(module: str, *arguments: Any, on: Sequence[int] = ()) -> list[float]:
    """Run a module of this folder in a fresh process, on the cores `on` if they are given, and return the numbers it prints."""
    pinned = ["taskset", "-c", ",".join(map(str, on))] if on else []
    command = [*pinned, sys.executable, "-m", f"experiments.bench.{module}", *map(str, arguments)]
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed: {done.stderr.strip()}")
    return [float(value) for value in done.stdout.split()]
