"""``bench dask``: strings on a cluster of two worker processes, one of which is killed, beside the same fit on one machine."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from experiments.bench import problems
from experiments.bench.reporting import finish
from experiments.bench.timing import Bar, Rows, row
from mercer import DependencyEstimator
from mercer.io import ArrayBlocks
from mercer.kernels import Subsequence
from mercer.report import Result
from mercer.solvers import LowRank

STRINGS, RANK, QUICK = 50_000, 1000, (600, 40)
PARTITIONS, VICTIM, TURN = 10, 6, 3
"""Parts of the data; the one whose worker is killed, and the time it is read at: in the middle of the normal equations."""
OUTPUTS, ALPHA, WORKERS = 5, 1.0, 2


def main(output: Path | None = None, quick: bool = False) -> None:
    """Compare the two fits, print the table, and write the result as JSON to `output`."""
    from dask.distributed import Client, LocalCluster

    begin = time.perf_counter()
    strings, rank = QUICK if quick else (STRINGS, RANK)
    options: dict[str, Any] = {"n_workers": WORKERS, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(processes=True, **options) as cluster, Client(cluster) as client:
        rows = compare(strings, rank, client)
    parameters = {"kernel": repr(kernel()), "rank": rank, "partitions": PARTITIONS, "workers": WORKERS}
    finish(Result("bench-dask", rows, parameters, [problems.SEED], seconds=time.perf_counter() - begin), output)


def compare(strings: int, rank: int, client: Any) -> Rows:
    """Fit on one machine and on a cluster that loses a worker; measure the difference of the predictions."""
    inputs, outputs = draw(strings)
    queries = inputs[:: max(1, strings // 500)]
    begin = time.perf_counter()
    alone = model(rank).fit(ArrayBlocks(inputs), outputs)
    single = time.perf_counter() - begin
    with tempfile.TemporaryDirectory() as folder:
        before = set(client.run(os.getpid).values())
        bag = in_parts(inputs, Path(folder))
        begin = time.perf_counter()
        together = model(rank).fit(bag, outputs)
        seconds = time.perf_counter() - begin
        client.wait_for_workers(WORKERS)
        lost = len(before - set(client.run(os.getpid).values()))
    one, two = alone.predict(queries), together.predict(queries)
    name = "low rank, strings on two workers"
    found: dict[str, Any] = {"n": strings, "rank": rank}
    return [
        row(name, "largest difference from one machine", [float(np.abs(one - two).max())], Bar(1e-8), **found),
        row(name, "workers killed", [lost], Bar(1, "≥"), **found),
        row(name, "seconds", [seconds], **found),
        row("low rank, strings on one machine", "seconds", [single], **found),
    ]


def kernel() -> Any:
    """Return the kernel of the strings."""
    return Subsequence(3).normalized()


def model(rank: int) -> DependencyEstimator:
    """Return the estimator of both fits."""
    return DependencyEstimator(kernel(), solver=LowRank(rank), alpha=ALPHA)


def draw(number: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw strings of four letters, and numbers that depend on the letters they hold."""
    random = np.random.default_rng(problems.SEED)
    letters, lengths = random.choice(list("abcd"), (number, 12)), random.integers(5, 13, number)
    strings = np.array(["".join(row[:length]) for row, length in zip(letters, lengths, strict=True)], dtype=object)
    shares = np.array([[text.count(letter) / len(text) for letter in "abcd"] for text in strings])
    outputs = np.tanh(3.0 * shares @ random.standard_normal((4, OUTPUTS)))
    return strings, outputs + 0.1 * random.standard_normal((number, OUTPUTS))


def in_parts(strings: np.ndarray, folder: Path) -> Any:
    """Return a bag of the strings; the worker that reads one of its parts for the third time is killed, once."""
    import dask
    import dask.bag

    parts = np.array_split(strings, PARTITIONS)
    read = dask.delayed(read_part, pure=False)
    return dask.bag.from_delayed([read(part.tolist(), i, str(folder)) for i, part in enumerate(parts)])


def read_part(strings: list[str], number: int, folder: str) -> list[str]:
    """Return the strings; kill this process at the time that was set."""
    if number == VICTIM:
        reads = Path(folder) / "reads"
        with reads.open("a") as file:
            file.write("x")
        if reads.stat().st_size == TURN:
            os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
    return strings
