"""``bench auto``: the time of AutoEstimator from data to predictions, beside what users would pick instead."""

from __future__ import annotations

import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from experiments.bench import problems
from experiments.bench.reporting import cores, finish
from experiments.bench.timing import Bar, Rows, row
from experiments.rivals.problem import VECTORS, Problem
from experiments.rivals.registry import FAST, METHODS, REFERENCE
from experiments.rivals.scores import SCORES
from mercer.report import Result, tracked

BARS = {REFERENCE: 30.0, FAST: 5.0}
"""Bars in seconds, on two cores."""

RIVALS = ("KernelRidge", "random forest", "CatBoost")
THREADS = 2


@dataclass(frozen=True)
class AutoSizes:
    """Sizes of one run."""

    pairs: int = 1000
    columns: int = 50
    outputs: int = 5
    repeats: int = 2


QUICK = AutoSizes(pairs=40, columns=4, outputs=2, repeats=1)
"""Seconds in all: every row is there, but its value means nothing."""


def main(output: Path | None = None, quick: bool = False) -> None:
    """Measure all methods, print the table, and write the result as JSON to `output` if it is given."""
    finish(measure(QUICK if quick else AutoSizes()), output)


def measure(sizes: AutoSizes) -> Result:
    """Make the rows of all methods that are installed, with two threads each."""
    begin, rows = time.perf_counter(), []
    names = [*BARS, *(name for name in RIVALS if METHODS[name].missing is None)]
    with threadpool_limits(THREADS), tracked("bench auto", len(names)) as step:
        METHODS[REFERENCE].load()(_problem(QUICK)[0])  # compile
        for name in names:
            step(name)
            rows += measured(name, sizes)
    parameters = {**asdict(sizes), "threads": THREADS, "cores": cores(), "load before": os.getloadavg()[0]}
    return Result("bench-auto", rows, parameters, [problems.SEED], seconds=time.perf_counter() - begin)


def measured(name: str, sizes: AutoSizes) -> Rows:
    """Time a method of `experiments.rivals` from data to predictions, and score them."""
    (problem, truth), predict, score = _problem(sizes), METHODS[name].load(), SCORES[VECTORS]
    begin, seconds = time.process_time(), []
    for _ in range(sizes.repeats):
        start = time.perf_counter()
        predicted = predict(problem)
        seconds.append(time.perf_counter() - start)
    core_seconds = (time.process_time() - begin) / sizes.repeats
    error = score.values(problem.y, truth, predicted)
    bar, n = Bar(BARS[name]) if name in BARS else None, sizes.pairs
    return [
        row(name, "seconds", [min(seconds)], bar, n=n),
        row(name, "core-seconds", [core_seconds], n=n),
        row(name, score.name, error, n=n),
    ]


def _problem(sizes: AutoSizes) -> tuple[Problem, np.ndarray]:
    """Pairs to learn from with as many inputs to predict, and the outputs of these."""
    X, y = problems.vectors(2 * sizes.pairs, sizes.outputs, sizes.columns)
    n = sizes.pairs
    return Problem(VECTORS, X[:n], y[:n], X[n:], threads=THREADS), y[n:]
