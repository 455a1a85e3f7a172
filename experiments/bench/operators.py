"""``bench operators``: seconds and memory of fits with operator-valued kernels, each in a process of its own.

``python -m experiments.bench.operators NAME N P`` prints the seconds of one fit, the bytes the process held at most, and
the number of iterations of the solver.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from experiments.bench import problems
from experiments.bench.peaks import held
from experiments.bench.reporting import cores, finish, measure_in_process
from experiments.bench.timing import Bar, Rows, Task, interleaved, row
from mercer.core.arrays import NumericalWarning
from mercer.estimators import EntangledRidge, OperatorValuedRidge
from mercer.kernels import Gaussian, Laplacian
from mercer.operators import CurlFree, Entangled, Nystroem, Separable, SumOfSeparable
from mercer.report import Result, tracked

FEATURES, RANK = 100, 200
"""m and r of the entangled kernel."""

SECONDS, GIBIBYTES = 60.0, 2.0
"""Time a fit may take, and memory its process may hold."""

LEARNED = (50, 20, 20)
"""Features, rank and steps for learning the entangled kernel."""

SMALL, TIMES, GROWTH = (500, 20), 10, 12.0
"""n and p, the factor by which either grows, and the factor by which the time of learning may grow."""

Fit = Callable[[int, int], tuple[Any, np.ndarray, np.ndarray]]


def _data(n: int, p: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X, Y = problems.vectors(n, p)
    return X, Y, np.cov(Y.T) + 1e-3 * np.eye(p)


def _separable(n: int, p: int, alpha: Any = 0.1) -> tuple[OperatorValuedRidge, np.ndarray, np.ndarray]:
    X, Y, T = _data(n, p)
    return OperatorValuedRidge(Separable(_input(), T), alpha), X, Y


def _missing(n: int, p: int) -> tuple[OperatorValuedRidge, np.ndarray, np.ndarray]:
    model, X, Y = _separable(n, p)
    Y[np.random.default_rng(problems.SEED).random(Y.shape) < 0.1] = np.nan
    return model, X, Y


def _sum(n: int, p: int, commuting: bool) -> tuple[OperatorValuedRidge, np.ndarray, np.ndarray]:
    X, Y, T = _data(n, p)
    lags = np.abs(np.subtract.outer(np.arange(p), np.arange(p)))
    other = None if commuting else np.exp(-lags / 5.0)
    return OperatorValuedRidge(SumOfSeparable([(_input(), T), (Laplacian(20.0), other)]), 0.1), X, Y


def _entangled(n: int, p: int, alpha: Any = 0.1) -> tuple[OperatorValuedRidge, np.ndarray, np.ndarray]:
    X, Y, _ = _data(n, p)
    m = min(FEATURES, n // 2)
    Q = np.random.default_rng(problems.SEED).standard_normal((m * p, min(RANK, m * p))) / np.sqrt(m * p)
    return OperatorValuedRidge(Entangled(Nystroem(_input(), rank=m), Q), alpha), X, Y


def _learned(n: int, p: int) -> tuple[EntangledRidge, np.ndarray, np.ndarray]:
    X, Y = problems.vectors(n, p)
    features = Nystroem(_input(), rank=min(LEARNED[0], n // 2))
    return (
        EntangledRidge(features=features, kraus_rank=LEARNED[1], max_iter=LEARNED[2], random_state=problems.SEED),
        X,
        Y,
    )


def _curl_free(n: int, p: int) -> tuple[OperatorValuedRidge, np.ndarray, np.ndarray]:
    X, Y, _ = _data(n, p)
    X = X[:, :2]
    return OperatorValuedRidge(CurlFree(2.0), 0.1), X, Y[:, :2]


def _input() -> Gaussian:
    return Gaussian(scale=problems.INPUT_SCALE)


FITS: dict[str, tuple[Fit, int, int]] = {
    "separable": (_separable, 2000, 100),
    "separable, leave-one-out": (lambda n, p: _separable(n, p, "loo"), 2000, 100),
    "separable, a tenth of the outputs missing": (_missing, 1000, 50),
    "two terms, T₂ = I": (lambda n, p: _sum(n, p, True), 2000, 100),
    "two terms that do not commute": (lambda n, p: _sum(n, p, False), 2000, 100),
    "entangled": (_entangled, 1000, 50),
    "entangled, leave-one-out": (lambda n, p: _entangled(n, p, "loo"), 1000, 50),
    "entangled, learned": (_learned, 1000, 50),
    "curl-free": (_curl_free, 2000, 2),
}
"""Name → the function that makes the problem, and its n and p."""


def main(output: Path | None = None, quick: bool = False) -> None:
    """Measure every fit, print the table, and write the result as JSON to `output` if it is given."""
    finish(measure_all(quick), output)


def measure_all(quick: bool = False) -> Result:
    """Measure seconds and memory of every fit; with `quick`, of small ones."""
    begin, rows = time.perf_counter(), []
    with tracked("bench operators", len(FITS) + 1) as step:
        for name, (_, n, p) in FITS.items():
            step(name)
            n, p = (60, min(p, 4)) if quick else (n, p)
            seconds, peak, iterations = measure_in_process("operators", name, n, p)
            sizes: dict[str, Any] = {"n": n, "p": p, "iterations": int(iterations)}
            rows.append(row(name, "seconds", [seconds], Bar(SECONDS), **sizes))
            rows.append(row(name, "peak memory of the process, GiB", [peak / 2**30], Bar(GIBIBYTES), **sizes))
        step("growth")
        rows += growth(quick)
    parameters = {
        "features": FEATURES,
        "rank": RANK,
        "features, rank, steps of learning": LEARNED,
        "quick": quick,
        "threads": cores(),
    }
    return Result("bench-operators", rows, parameters, [problems.SEED], seconds=time.perf_counter() - begin)


def growth(quick: bool = False) -> Rows:
    """Measure by which factor the time of learning grows with ten times the samples, or ten times the outputs."""
    n, p = (60, 3) if quick else SMALL
    sizes = {"small": (n, p), "n": (TIMES * n, p), "p": (n, TIMES * p)}
    made = {name: _learned(*size) for name, size in sizes.items()}
    tasks: dict[str, Task] = {name: partial(model.fit, X, Y) for name, (model, X, Y) in made.items()}
    with threadpool_limits(cores()), warnings.catch_warnings():
        warnings.simplefilter("ignore", NumericalWarning)  # so few features leave much out
        seconds = interleaved(tasks, 1 if quick else 5)
    return [
        row(
            "entangled, learned",
            f"× the time, {TIMES} × {name}",
            seconds[name] / seconds["small"],
            Bar(GROWTH),
            n=sizes[name][0],
            p=sizes[name][1],
            iterations=1,
        )
        for name in ("n", "p")
    ]


def measure(name: str, n: int, p: int) -> tuple[float, int, int]:
    """Measure the seconds of a fit, the bytes held at most, and its iterations."""
    model, X, Y = FITS[name][0](n, p)
    with threadpool_limits(cores()):
        begin = time.perf_counter()
        model.fit(X, Y)
        seconds = time.perf_counter() - begin
    return seconds, held("VmHWM"), model.n_iter_


if __name__ == "__main__":
    print(*measure(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
