"""``bench blocks``: low-rank fits and searches among candidates in memory maps, the fits beside their matrix products.

``python -m experiments.bench.blocks fit N`` prints the seconds of one fit, its seconds of one core, those of its products, its
peak in GiB, its residual and its test error over that of the mean. Seconds of a core depend little on what else is running.
``python -m experiments.bench.blocks candidates N`` prints the seconds of a search, those of one core, and its peak in GiB.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from experiments.bench import problems
from experiments.bench.peaks import held
from experiments.bench.reporting import finish, measure_in_process
from experiments.bench.timing import Bar, Rows, row
from mercer import DependencyEstimator
from mercer.core.arrays import gram_of, solve_triangular
from mercer.kernels import Gaussian
from mercer.report import Result, tracked
from mercer.solvers import LowRank

FEATURES, OUTPUTS, RANK, ALPHA = 50, 20, 1000, 1.0
STEP = 8192
"""Rows that are drawn, and multiplied, at a time."""
PAIRS, LARGE, QUICK = (100_000,), 1_000_000, (5000,)
QUERIES, BEST, WIDTH = 100, 20, 16
"""Points, candidates that are found for each, and numbers of a candidate; ten candidates for each pair of a fit."""


def main(output: Path | None = None, quick: bool = False, large: bool = False) -> None:
    """Measure fits, print the table, and write the result as JSON to `output`."""
    begin, rows = time.perf_counter(), []
    sizes = QUICK if quick else PAIRS + ((LARGE,) if large else ())
    with tracked("bench blocks", len(sizes)) as step:
        for n in sizes:
            step(f"n = {n}")
            rows += fit_rows(n) + candidate_rows(10 * n)
    parameters = {"features": FEATURES, "outputs": OUTPUTS, "rank": RANK, "alpha": ALPHA}
    finish(Result("bench-blocks", rows, parameters, [problems.SEED], seconds=time.perf_counter() - begin), output)


def fit_rows(n: int) -> Rows:
    """Measure one fit in a process of its own."""
    seconds, own, products, peak, residual, error = measure_in_process("blocks", "fit", n)
    name, large = "low rank, memory map", n >= LARGE
    found: dict[str, Any] = {"n": n, "seconds": seconds, "core_seconds": own, "products": products}
    bar = Bar(2.0) if n >= PAIRS[0] else None
    return [
        row(name, "× the time of its products, one core", [own / products], bar, **found),
        row(name, "seconds", [seconds], n=n),
        row(name, "peak memory, GiB", [peak], Bar(8.0) if large else None, n=n),
        row(name, "share of the trace left out", [residual], n=n),
        row(name, "test error over that of the mean", [error], n=n),
    ]


def candidate_rows(n: int) -> Rows:
    """Measure one search in a process of its own."""
    seconds, own, peak = measure_in_process("blocks", "candidates", n)
    name = f"best {BEST} for {QUERIES} points, memory map"
    return [
        row(name, "seconds", [seconds], n=n, core_seconds=own),
        row(name, "peak memory, GiB", [peak], Bar(2.0), n=n),
    ]


def measure_candidates(n: int) -> tuple[float, ...]:
    """Return the seconds of a search among n candidates, those of one core, and its peak in GiB."""
    random = np.random.default_rng(problems.SEED)
    inputs = random.standard_normal((300, 3))
    outputs = np.sin(inputs @ random.standard_normal((3, WIDTH)))
    model = DependencyEstimator(Gaussian(1.0), alpha=0.1).fit(inputs, outputs)
    model.rank(inputs[:2], BEST, outputs + 0.1)  # compiles, and chooses the rule for candidates
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        file = np.lib.format.open_memmap(Path(folder) / "candidates.npy", "w+", np.float32, (n, WIDTH))
        for start in range(0, n, STEP):
            file[start : start + STEP] = np.sin(random.standard_normal((min(STEP, n - start), WIDTH)))
        file.flush()
        candidates = np.load(Path(folder) / "candidates.npy", mmap_mode="r")
        before, begin, core = held("VmRSS"), time.perf_counter(), time.process_time()
        model.rank(random.standard_normal((QUERIES, 3)), BEST, candidates)
        seconds, core = time.perf_counter() - begin, time.process_time() - core
        return seconds, core, (held("VmHWM") - before) / 2**30


def measure(n: int, rank: int = RANK) -> tuple[float, ...]:
    """Return the seconds of a fit, of a core, of its products, its peak in GiB, its residual and its relative test error."""
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        inputs, outputs = write(Path(folder), n)
        model = DependencyEstimator(Gaussian((2.0 * FEATURES) ** 0.5), solver=LowRank(rank), alpha=ALPHA)
        before, begin, core = held("VmRSS"), time.perf_counter(), time.process_time()
        model.fit(inputs, outputs)
        seconds, core = time.perf_counter() - begin, time.process_time() - core
        peak = (held("VmHWM") - before) / 2**30
        return seconds, core, _products(inputs, outputs, rank), peak, model.solver_.residual_, _error(model)


def write(folder: Path, n: int) -> tuple[Any, Any]:
    """Write inputs and outputs to files, a block at a time, and map them."""
    random = np.random.default_rng(problems.SEED)
    mix = random.standard_normal((FEATURES, OUTPUTS))
    files = []
    for name, width in (("inputs", FEATURES), ("outputs", OUTPUTS)):
        files.append(np.lib.format.open_memmap(folder / f"{name}.npy", "w+", np.float64, (n, width)))
    for start in range(0, n, STEP):
        some = slice(start, min(start + STEP, n))
        files[0][some], files[1][some] = draw(random, some.stop - start, mix)
    for file in files:
        file.flush()
    return np.load(folder / "inputs.npy", mmap_mode="r"), np.load(folder / "outputs.npy", mmap_mode="r")


def draw(random: Any, n: int, mix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Draw normal inputs, and smooth functions of them with noise."""
    inputs = random.standard_normal((n, FEATURES))
    return inputs, np.tanh(inputs @ mix / FEATURES**0.5) + 0.3 * random.standard_normal((n, OUTPUTS))


def _products(inputs: Any, outputs: Any, rank: int) -> float:
    """The seconds of the products of a fit: kernel values, a triangular system, and the normal equations."""
    pivots, triangle = np.asarray(inputs[:rank]), np.tril(np.ones((rank, rank))) * 0.01 + np.eye(rank)
    gram: Any = np.zeros((rank, rank))
    right: Any = np.zeros((rank, OUTPUTS))
    begin = time.process_time()
    for start in range(0, len(inputs), STEP):
        values = np.asarray(inputs[start : start + STEP]) @ pivots.T
        features = solve_triangular(triangle, values.T).T
        gram += gram_of(features)
        right += features.T @ outputs[start : start + STEP]
    return time.process_time() - begin


def _error(model: DependencyEstimator) -> float:
    random = np.random.default_rng(problems.SEED)
    mix = random.standard_normal((FEATURES, OUTPUTS))
    inputs, outputs = draw(np.random.default_rng(problems.SEED + 1), 2000, mix)
    return float(np.mean((model.predict(inputs) - outputs) ** 2) / np.var(outputs, axis=0).mean())


if __name__ == "__main__":
    print(*{"fit": measure, "candidates": measure_candidates}[sys.argv[1]](int(sys.argv[2])))
