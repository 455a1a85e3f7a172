"""``bench scale``: time, memory and error of each rung of `Auto` and of its rivals against the number of pairs.

``python -m experiments.bench.scale NAME N`` prints the seconds of one fit, its core-seconds, its peak in GiB, its products, its
residual, and the squared error of its predictions as a share of that of the mean. Exponents, ratios and bars are of core-seconds,
the processor time of all threads: other work on the machine hardly adds to it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from experiments.bench import problems
from experiments.bench.peaks import WARM_UP, held
from experiments.bench.reporting import cores, finish, measure_in_process
from experiments.bench.scale_limits import limits
from experiments.bench.scale_picture import draw_scale
from experiments.bench.scale_rivals import RIVALS, Rival
from experiments.bench.timing import Bar, Rows, row
from mercer.core.arrays import to_numpy
from mercer.kernels import Gaussian
from mercer.report import Result, tracked
from mercer.solvers import Cholesky, ConjugateGradient, Exact, LowRank, RidgeProblem, Solver

Task = tuple[str, int]
"""A method and a number of pairs."""

FEATURES, OUTPUTS, ALPHA, QUERIES = 50, 20, 1.0, 1000
SCALE = (2.0 * FEATURES) ** 0.5
ALPHAS = np.logspace(-3, 2, 20)


@dataclass(frozen=True)
class Rung:
    """A solver, the numbers of pairs it is measured at, and the exponent of time against them."""

    solver: Solver
    pairs: tuple[int, ...]
    exponent: float
    within: float
    also: tuple[int, ...] = ()
    """Further numbers of pairs, which do not count for the exponent."""
    chooses_alpha: bool = False


RUNGS = {
    "exact, path of alpha": Rung(Exact(), (4000, 8000, 12_000), 3.0, 0.15, (1000, 3000), chooses_alpha=True),
    "exact, one alpha": Rung(Cholesky(), (16_000, 24_000, 32_000), 3.0, 0.15, (8000,)),
    "conjugate gradients": Rung(ConjugateGradient(), (16_000, 32_000, 64_000), 2.0, 0.15, (20_000, 50_000)),
    "low rank": Rung(LowRank(500), (80_000, 160_000, 320_000), 1.0, 0.1),
}
"""Sizes from which on the products of the leading power of n take most of the time."""

BARS = {("conjugate gradients", 20_000): (90.0, 4.0), ("conjugate gradients", 50_000): (1200.0, 8.0)}
"""Most core-seconds and GiB: 45 seconds and 10 minutes of two cores."""

RATIOS = {"himalaya KernelRidgeCV, 20 alphas": 9.0, "scikit-learn grid of 20 alphas": 30.0}
"""Least core-seconds of each, in those of our path of as many pairs as `BARRED` says."""
COMPARED, BARRED = "exact, path of alpha", 3000


def main(output: Path | None = None, quick: bool = False, jobs: int = 1) -> None:
    """Measure limits, rungs and rivals, print the table, write JSON to `output` after each, and a picture beside it.

    With several `jobs`, as many fits are measured at once, the largest first, each on two cores of its own. What `output` holds
    already is kept, so that a run that was stopped goes on; for a run from the start, name another file.
    """
    begin, measured = time.perf_counter(), limits(400 if quick else 3000)
    parameters: dict[str, Any] = {"features": FEATURES, "outputs": OUTPUTS, "alpha": ALPHA}
    parameters |= {"threads": cores() if jobs == 1 else 2, "at once": jobs}
    parameters["not installed"] = [name for name, rival in RIVALS.items() if not rival.installed]
    tasks = [
        (name, n // 20 if quick else n)
        for name, method in _methods().items()
        if name not in parameters["not installed"]
        for n in (*method.pairs, *method.also)
    ]
    found = {} if output is None or not output.is_file() else _known(Result.read(output).rows)
    tasks = [task for task in tasks if task not in found]

    def so_far() -> Result:
        rows = measured + [
            row for name, method in _methods().items() for row in method_rows(name, method, found, quick)
        ]
        seconds = time.perf_counter() - begin
        said = parameters | {"notes": path_notes(measured, found)}
        return Result("bench-scale", rows + ratio_rows(found), said, [problems.SEED], seconds=seconds)

    with tracked("bench scale", len(tasks)) as step:
        for task, values in _all_measured(tasks if jobs == 1 else sorted(tasks, key=lambda task: -task[1]), jobs):
            step(f"{task[0]}, {task[1]:,} pairs")
            found[task] = values
            if output is not None:
                output.parent.mkdir(parents=True, exist_ok=True)
                so_far().to_json(output)
    finish(so_far(), output)
    if output is not None:
        draw_scale(so_far().rows, output.with_suffix(".svg"))


def _known(rows: Rows) -> dict[Task, list[float]]:
    """Return what rows tell of each method and number of pairs, in the order in which `measure` returns it."""
    values = {(row["method"], row["n"], row["metric"]): row for row in rows if "iterations" in row}
    return {
        (name, n): [
            values[name, n, "seconds"]["value"],
            first["value"],
            values[name, n, "peak memory, GiB"]["value"],
            float(first["iterations"]),
            first["residual"],
            values[name, n, "squared error, share of the mean's"]["value"],
        ]
        for (name, n, metric), first in values.items()
        if metric == "core-seconds"
    }


def _all_measured(tasks: list[Task], jobs: int) -> Iterator[tuple[Task, list[float]]]:
    """Yield each task with its numbers as they come; each job has two cores of its own."""
    free: SimpleQueue[tuple[int, ...]] = SimpleQueue()
    for on in _cores_of(jobs):
        free.put(on)

    def measured(task: Task) -> tuple[Task, list[float]]:
        on = free.get()
        try:
            return task, measure_in_process("scale", *task, on=on)
        finally:
            free.put(on)

    with ThreadPoolExecutor(jobs) as pool:
        for done in as_completed([pool.submit(measured, task) for task in tasks]):
            yield done.result()


def _cores_of(jobs: int) -> list[tuple[int, ...]]:
    """Return two cores of its own for each job, or none at all for one job."""
    if jobs == 1:
        return [()]
    if not hasattr(os, "sched_getaffinity"):
        raise ValueError(f"jobs={jobs} need cores of their own, which this system does not give; expected jobs=1")
    own = sorted(os.sched_getaffinity(0))
    if 2 * jobs > len(own):
        raise ValueError(f"jobs={jobs} need {2 * jobs} cores, two each; this process may use {len(own)}")
    return [tuple(own[2 * i : 2 * i + 2]) for i in range(jobs)]


def method_rows(name: str, method: Rung | Rival, found: dict[Task, list[float]], quick: bool) -> Rows:
    """Tabulate one method: seconds, memory and error at each size, and the exponent of time."""
    rows, own = [], {n: found[each, n] for each, n in sorted(found) if each == name}
    for n, (took, used, peak, products, residual, error) in own.items():
        most_time, most_memory = (None if most is None else Bar(most) for most in BARS.get((name, n), (None, None)))
        more: dict[str, Any] = {"n": n, "iterations": int(products), "residual": residual}
        rows.append(row(name, "seconds", [took], **more))
        rows.append(row(name, "core-seconds", [used], most_time, **more))
        rows.append(row(name, "peak memory, GiB", [peak], most_memory, **more))
        rows.append(row(name, "squared error, share of the mean's", [error], **more))
    sizes = [n for n in own if quick or n in method.pairs]
    if len(sizes) < 2:
        return rows
    exponent = float(np.polyfit(np.log(sizes), np.log([own[n][1] for n in sizes]), 1)[0])
    if isinstance(method, Rival):
        return [*rows, row(name, "exponent of time against n", [exponent])]
    # below the sizes of the rung a time is mostly what a call costs
    bar = None if quick else Bar(method.within)
    metric = f"exponent of time against n, distance from {method.exponent:g}"
    return [*rows, row(name, metric, [abs(exponent - method.exponent)], bar, exponent=exponent)]


def ratio_rows(found: dict[Task, list[float]]) -> Rows:
    """Compare the core-seconds of a path of alpha with those of the rivals that choose alpha, on as many pairs."""
    return [
        row(
            name,
            "core-seconds, times those of the exact path",
            [found[name, n][1] / found[COMPARED, n][1]],
            Bar(bar, "≥") if n == BARRED else None,
            n=n,
        )
        for name, bar in RATIOS.items()
        for each, n in sorted(found)
        if each == name and (COMPARED, n) in found
    ]


def path_notes(limits_found: Rows, found: dict[Task, list[float]]) -> list[str]:
    """Say how much faster than each rival a path of alpha could be at most, since it takes one eigendecomposition."""
    alone = {row["n"]: row["value"] for row in limits_found if row["method"] == "limit: eigendecomposition"}
    return [
        f"{name} takes the time of {found[name, n][0] / seconds:.1f} eigendecompositions of {n:,} pairs, and a path of alpha "
        f"with exact leave-one-out takes one."
        for name in RATIOS
        for n, seconds in alone.items()
        if (name, n) in found
    ]


def _methods() -> dict[str, Rung | Rival]:
    return {**RUNGS, **RIVALS}


def measure(name: str, n: int) -> tuple[float, float, float, int, float, float]:
    """Return seconds, core-seconds and peak GiB of one fit, the products it took, its residual and its error."""
    method = _methods()[name]
    with threadpool_limits(cores()):
        fit(method, *draw(WARM_UP))
        (inputs, outputs), (new, wanted) = draw(n), draw(QUERIES, seed=1)
        before, begin, used = held("VmRSS"), time.perf_counter(), time.process_time()
        predict, found = fit(method, inputs, outputs)
        seconds, used = time.perf_counter() - begin, time.process_time() - used
        peak = (held("VmHWM") - before) / 2**30
        left = predict(new) - wanted
    error = float(np.sum(left**2) / np.sum((outputs.mean(axis=0) - wanted) ** 2))
    return (
        seconds,
        used,
        peak,
        getattr(found, "iterations", 0),
        getattr(found, "reached", getattr(found, "residual", 0.0)),
        error,
    )


def fit(method: Rung | Rival, inputs: np.ndarray, outputs: np.ndarray) -> tuple[Any, Any]:
    """Fit, and return the prediction and what tells of the fit."""
    if isinstance(method, Rival):
        return method.fit(inputs, outputs, SCALE, ALPHA, ALPHAS), None
    alpha, solver = None if method.chooses_alpha else ALPHA, method.solver
    if getattr(solver, "rank", None) is not None:
        solver = clone(solver).set_params(rank=min(solver.get_params()["rank"], len(inputs)))
    found = solver.factorize(RidgeProblem(Gaussian(SCALE), inputs, outputs, alpha=alpha))
    if method.chooses_alpha:
        means = [float(np.mean(to_numpy(risks))) for risks in found.risks(ALPHAS.tolist())]
        alpha = float(ALPHAS[int(np.argmin(means))])
    return found.map(alpha or ALPHA).points, found


def draw(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Draw normal inputs, and smooth functions of them with noise: a spectrum that decays slowly; `seed` gives other pairs."""
    mix = np.random.default_rng(problems.SEED).standard_normal((FEATURES, OUTPUTS))
    random = np.random.default_rng([problems.SEED, 1 + seed])
    inputs = random.standard_normal((n, FEATURES))
    return inputs, np.tanh(inputs @ mix / FEATURES**0.5) + 0.3 * random.standard_normal((n, OUTPUTS))


if __name__ == "__main__":
    print(*measure(sys.argv[1], int(sys.argv[2])))
