"""``bench alpha``: the seconds to choose alpha and fit, beside what users would call instead, on all cores."""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path

from threadpoolctl import threadpool_limits

from experiments.bench import problems
from experiments.bench.reporting import cores, finish
from experiments.bench.scale import BARRED, COMPARED, RATIOS, RUNGS, Rung, draw, fit
from experiments.bench.scale_rivals import RIVALS, Rival
from experiments.bench.timing import Bar, Rows, interleaved, ratio_row, row
from mercer.report import Result, tracked

SIZES, ROUNDS = (1000, 3000), 2


def main(output: Path | None = None, quick: bool = False) -> None:
    """Measure all methods, print the table, and write the result as JSON to `output` if it is given."""
    finish(measure((50, 60) if quick else SIZES), output)


def measure(sizes: tuple[int, ...]) -> Result:
    """Make the rows of each number of pairs."""
    begin, rows = time.perf_counter(), []
    before = os.getloadavg()[0]
    with threadpool_limits(cores()), tracked("bench alpha", len(sizes)) as step:
        for n in sizes:
            step(f"{n:,} pairs")
            rows += compared(n, ROUNDS)
    parameters = {"sizes": list(sizes), "rounds": ROUNDS, "cores": cores(), "load before": before}
    return Result("bench-alpha", rows, parameters, [problems.SEED], seconds=time.perf_counter() - begin)


def compared(n: int, rounds: int) -> Rows:
    """Compare a path of alpha by exact leave-one-out with each rival that is installed, side by side."""
    inputs, outputs = draw(n)
    methods: dict[str, Rung | Rival] = {
        COMPARED: RUNGS[COMPARED],
        **{name: RIVALS[name] for name in RATIOS if RIVALS[name].installed},
    }
    seconds = interleaved({name: partial(fit, each, inputs, outputs) for name, each in methods.items()}, rounds)
    rows = [row(name, "seconds", [own.min()], n=n) for name, own in seconds.items()]
    for name in methods:
        if name != COMPARED:
            bar = Bar(RATIOS[name], "≥") if n == BARRED else None
            rows.append(
                ratio_row(name, "times the seconds of the exact path", (seconds[name], seconds[COMPARED]), bar, n=n)
            )
    return rows
