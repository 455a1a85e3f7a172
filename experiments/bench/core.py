"""``bench core``: time and memory of the solvers relative to the matrix operations they need."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info, threadpool_limits

from experiments.bench import problems
from experiments.bench.exact import covariances, implicit_leave_one_out, leave_one_out, one_ridge
from experiments.bench.handing_over import hand_over
from experiments.bench.low_rank import low_rank
from experiments.bench.peaks import peaks
from experiments.bench.sizes import QUICK, Sizes
from experiments.bench.subsequences import subsequences
from experiments.bench.timing import keep_memory
from mercer.report import Result, Table, tracked

PARTS: dict[str, Callable[[Sizes], list[dict[str, Any]]]] = {
    "covariance operators": covariances,
    "leave-one-out": leave_one_out,
    "leave-one-out, implicit outputs": implicit_leave_one_out,
    "one ridge": one_ridge,
    "low rank": low_rank,
    "strings": subsequences,
    "memory": peaks,
}


def main(output: Path | None = None, quick: bool = False) -> None:
    """Measure everything, print the table, and write the result as JSON where `output` says so."""
    result = measure(QUICK if quick else Sizes())
    hand_over(result, table(result), output)


def measure(sizes: Sizes) -> Result:
    """The figures of all parts, both sides with as many BLAS threads as there are cores and with memory that is kept."""
    begin, rows, load, kept = time.perf_counter(), [], {"before": _load()}, keep_memory()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    with threadpool_limits(cores), tracked("bench core", len(PARTS)) as step:
        libraries = [f"{each['internal_api']} {each['version']}" for each in threadpool_info()]
        for name, part in PARTS.items():
            step(name)
            rows += part(sizes)
            load[f"after {name}"] = _load()
    parameters = {**asdict(sizes), "threads": cores, "libraries": libraries, "load": load, "memory kept": kept}
    seconds = time.perf_counter() - begin
    return Result("bench-core", rows, parameters, [problems.SEED], seconds=seconds)


def _load() -> float | None:
    """Processes that wanted a core in the last minute: above their number, times are not to be trusted."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def table(result: Result, title: str = "bench core") -> Table:
    """One line for each figure: what, measured, bar, met."""
    lines = []
    for row in result.rows:
        spread = "" if row["error"] is None else f" ± {row['error']:.2g}"
        bar = "" if row["bar"] is None else f"{row['sense']} {row['bar']:g}"
        met = {None: "", True: "yes", False: "no"}[row["met"]]
        what = f"{', '.join([row['method'], *_sizes(row)])}: {row['metric']}"
        value = f"{row['value']:.3g}" if row["value"] < 1000 else f"{row['value']:,.0f}"
        lines.append([what, f"{value}{spread}", bar, met])
    return Table(["what", "measured", "bar", "met"], lines, title)


def _sizes(row: dict[str, Any]) -> list[str]:
    """The sizes a row was measured at."""
    shown = {"n": "n = {}", "rank": "m = {}", "letters": "{} letters"}
    return [text.format(row[key]) for key, text in shown.items() if key in row]
