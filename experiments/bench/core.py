"""``bench core``: time and memory of the solvers relative to the matrix operations they need."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from threadpoolctl import threadpool_info, threadpool_limits

from experiments.bench import problems
from experiments.bench.exact import covariances, implicit_leave_one_out, leave_one_out, one_alpha
from experiments.bench.low_rank import low_rank, nystroem
from experiments.bench.peaks import peaks
from experiments.bench.reporting import cores, finish
from experiments.bench.sizes import QUICK, Sizes
from experiments.bench.subsequences import subsequences
from experiments.bench.timing import Rows, keep_memory
from mercer.report import Result, tracked

PARTS: dict[str, Callable[[Sizes], Rows]] = {
    "covariance operators": covariances,
    "leave-one-out": leave_one_out,
    "leave-one-out, implicit outputs": implicit_leave_one_out,
    "one alpha": one_alpha,
    "low rank": low_rank,
    "low rank, many pairs": nystroem,
    "strings": subsequences,
    "memory": peaks,
}


def main(output: Path | None = None, quick: bool = False) -> None:
    """Measure all parts, print the table, and write the result as JSON to `output` if it is given."""
    finish(measure(QUICK if quick else Sizes()), output)


def measure(sizes: Sizes) -> Result:
    """Make the rows of all parts, with one BLAS thread for each core and with memory that is kept."""
    begin, rows, load, kept = time.perf_counter(), [], {"before": _load()}, keep_memory()
    threads = cores()
    with threadpool_limits(threads), tracked("bench core", len(PARTS)) as step:
        libraries = [f"{each['internal_api']} {each['version']}" for each in threadpool_info()]
        for name, part in PARTS.items():
            step(name)
            rows += part(sizes)
            load[f"after {name}"] = _load()
    parameters = {**asdict(sizes), "threads": threads, "libraries": libraries, "load": load, "memory kept": kept}
    return Result("bench-core", rows, parameters, [problems.SEED], seconds=time.perf_counter() - begin)


def _load() -> float | None:
    """Return the load average of the last minute: above the number of cores, times cannot be trusted."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
