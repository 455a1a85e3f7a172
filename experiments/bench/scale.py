"""``bench scale``: time, memory and error of each rung of `Auto` and of its rivals against the number of pairs.

``python -m experiments.bench.scale NAME N`` prints the seconds of one fit, its peak in GiB, its products, its residual, and the
squared error of its predictions as a share of that of the mean.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path
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
    """Measure limits, rungs and rivals, print the table, write JSON to `output` after each, and a picture beside it."""
    begin, rows = time.perf_counter(), limits(400 if quick else 3000)
    parameters: dict[str, Any] = {"features": FEATURES, "outputs": OUTPUTS, "alpha": ALPHA, "threads": cores()}
    methods = _methods()
    absent = [name for name in methods if name in RIVALS and not RIVALS[name].installed]
    parameters["not installed"] = absent
    with tracked("bench scale", len(methods) - len(absent)) as step:
        for name, rung in methods.items():
            if name in absent:
                continue
            step(name)
            sizes = tuple(n // 20 for n in rung.pairs) if quick else rung.pairs
            sizes += (20_000, 50_000) if large and name == "conjugate gradients" else ()
            rows += rung_rows(name, rung, sizes)
            result = Result("bench-scale", rows, parameters, [problems.SEED], seconds=time.perf_counter() - begin)
            if output is not None:
                output.parent.mkdir(parents=True, exist_ok=True)
                result.to_json(output)
    finish(result, output)
    if output is not None:
        draw_scale(result.rows, output.with_suffix(".svg"))


def rung_rows(name: str, rung: Rung | Rival, sizes: tuple[int, ...]) -> Rows:
    """Measure one method at each size, in a process of its own, and fit the exponent of a rung."""
    rows, seconds = [], []
    for n in sizes:
        took, peak, products, residual, error = measure_in_process("scale", name, n)
        most_seconds, most_memory = BARS.get((name, n), (None, None))
        found: dict[str, Any] = {"n": n, "iterations": int(products), "residual": residual}
        rows.append(row(name, "seconds", [took], None if most_seconds is None else Bar(most_seconds), **found))
        rows.append(row(name, "peak memory, GiB", [peak], None if most_memory is None else Bar(most_memory), **found))
        rows.append(row(name, "squared error, share of the mean's", [error], **found))
        seconds.append(took)
    exponent = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
    if isinstance(rung, Rival):
        return [*rows, row(name, "exponent of time against n", [exponent])]
    # below the sizes of the rung a time is mostly what a call costs
    bar = Bar(rung.within) if sizes[: len(rung.pairs)] == rung.pairs else None
    metric = f"exponent of time against n, distance from {rung.exponent:g}"
    rows.append(row(name, metric, [abs(exponent - rung.exponent)], bar, exponent=exponent))
    return rows


def _methods() -> dict[str, Rung | Rival]:
    return {**RUNGS, **RIVALS}


def measure(name: str, n: int) -> tuple[float, float, int, float, float]:
    """Return seconds and peak GiB of one fit, the products it took, its residual and its error."""
    method = _methods()[name]
    with threadpool_limits(cores()):
        _fit(method, *draw(WARM_UP))
        (inputs, outputs), (new, wanted) = draw(n), draw(QUERIES, seed=1)
        before, begin = held("VmRSS"), time.perf_counter()
        predict, found = _fit(method, inputs, outputs)
        seconds = time.perf_counter() - begin
        peak = (held("VmHWM") - before) / 2**30
        left = predict(new) - wanted
    error = float(np.sum(left**2) / np.sum((outputs.mean(axis=0) - wanted) ** 2))
    return (
        seconds,
        peak,
        getattr(found, "iterations", 0),
        getattr(found, "reached", getattr(found, "residual", 0.0)),
        error,
    )


def _fit(method: Rung | Rival, inputs: np.ndarray, outputs: np.ndarray) -> tuple[Any, Any]:
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
