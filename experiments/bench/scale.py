"""``bench scale``: time and memory of each rung of `Auto` against the number of pairs, and their exponents.

``python -m experiments.bench.scale RUNG N`` prints the seconds of one fit, its peak in GiB, its products and its residual.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from experiments.bench import problems
from experiments.bench.peaks import WARM_UP, held
from experiments.bench.reporting import cores, finish, measure_in_process
from experiments.bench.timing import Bar, Rows, row
from mercer.kernels import Gaussian
from mercer.report import Result, tracked
from mercer.solvers import Cholesky, ConjugateGradient, Exact, LowRank, RidgeProblem, Solver

FEATURES, OUTPUTS, ALPHA = 50, 20, 1.0


@dataclass(frozen=True)
class Rung:
    """A solver, the numbers of pairs it is measured at, and the exponent of time against them."""

    solver: Solver
    pairs: tuple[int, ...]
    exponent: float
    within: float
    chooses_alpha: bool = False


RUNGS = {
    "exact, path of alpha": Rung(Exact(), (1000, 2000, 4000), 3.0, 0.15, chooses_alpha=True),
    "exact, one alpha": Rung(Cholesky(), (2000, 4000, 8000), 3.0, 0.15),
    "conjugate gradients": Rung(ConjugateGradient(), (4000, 8000, 16000), 2.0, 0.15),
    "low rank": Rung(LowRank(500), (10_000, 20_000, 40_000), 1.0, 0.1),
}

BARS = {("conjugate gradients", 20_000): (45.0, 4.0), ("conjugate gradients", 50_000): (600.0, 8.0)}
"""Most seconds and GiB."""


def main(output: Path | None = None, quick: bool = False, large: bool = False) -> None:
    """Measure all rungs, print the table, and write the result as JSON to `output` after each of them."""
    begin, rows = time.perf_counter(), []
    parameters = {"features": FEATURES, "outputs": OUTPUTS, "alpha": ALPHA, "threads": cores()}
    with tracked("bench scale", len(RUNGS)) as step:
        for name, rung in RUNGS.items():
            step(name)
            sizes = tuple(n // 20 for n in rung.pairs) if quick else rung.pairs
            sizes += (20_000, 50_000) if large and name == "conjugate gradients" else ()
            rows += rung_rows(name, rung, sizes)
            result = Result("bench-scale", rows, parameters, [problems.SEED], seconds=time.perf_counter() - begin)
            if output is not None:
                output.parent.mkdir(parents=True, exist_ok=True)
                result.to_json(output)
    finish(result, output)


def rung_rows(name: str, rung: Rung, sizes: tuple[int, ...]) -> Rows:
    """Measure one rung at each size, in a process of its own, and fit the exponent."""
    rows, seconds = [], []
    for n in sizes:
        took, peak, products, residual = measure_in_process("scale", name, n)
        most_seconds, most_memory = BARS.get((name, n), (None, None))
        found: dict[str, Any] = {"n": n, "iterations": int(products), "residual": residual}
        rows.append(row(name, "seconds", [took], None if most_seconds is None else Bar(most_seconds), **found))
        rows.append(row(name, "peak memory, GiB", [peak], None if most_memory is None else Bar(most_memory), **found))
        seconds.append(took)
    exponent = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
    # below the sizes of the rung a time is mostly what a call costs
    bar = Bar(rung.within) if sizes[: len(rung.pairs)] == rung.pairs else None
    metric = f"exponent of time against n, distance from {rung.exponent:g}"
    rows.append(row(name, metric, [abs(exponent - rung.exponent)], bar, exponent=exponent))
    return rows


def measure(name: str, n: int) -> tuple[float, float, int, float]:
    """Return seconds and peak GiB of one fit, the products it took and its residual."""
    rung = RUNGS[name]
    with threadpool_limits(cores()):
        _fit(rung, WARM_UP)
        before, begin = held("VmRSS"), time.perf_counter()
        found = _fit(rung, n)
        seconds = time.perf_counter() - begin
    peak = (held("VmHWM") - before) / 2**30
    return seconds, peak, getattr(found, "iterations", 0), getattr(found, "reached", found.residual)


def _fit(rung: Rung, n: int) -> Any:
    inputs, outputs = draw(n)
    kernel = Gaussian((2.0 * FEATURES) ** 0.5)
    found = rung.solver.factorize(RidgeProblem(kernel, inputs, outputs, alpha=None if rung.chooses_alpha else ALPHA))
    if rung.chooses_alpha:
        list(found.risks(np.logspace(-3, 2, 20).tolist()))
    found.map(ALPHA)
    return found


def draw(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw normal inputs, and smooth functions of them with noise: a spectrum that decays slowly."""
    random = np.random.default_rng(problems.SEED)
    inputs, mix = random.standard_normal((n, FEATURES)), random.standard_normal((FEATURES, OUTPUTS))
    return inputs, np.tanh(inputs @ mix / FEATURES**0.5) + 0.3 * random.standard_normal((n, OUTPUTS))


if __name__ == "__main__":
    print(*measure(sys.argv[1], int(sys.argv[2])))
