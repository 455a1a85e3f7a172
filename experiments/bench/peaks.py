"""Peak memory of a fit, in n×n matrices of doubles, each measured in a process of its own.

``python -m experiments.bench.peaks NAME N`` prints one figure.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from experiments.bench import problems
from experiments.bench.sizes import Sizes
from experiments.bench.timing import row
from mercer.estimators import DependencyEstimator
from mercer.kernels import Gaussian, Linear
from mercer.operators import ConditionalCovariance, Covariance

WARM_UP = 50
"""Pairs of the fit that loads and compiles what every fit needs, before memory is looked at."""

_STATUS = Path("/proc/self/status")


def fits() -> dict[str, tuple[DependencyEstimator, float]]:
    """The fits that are measured, and the most matrices each may hold."""
    sides: tuple[Any, Any] = (
        Gaussian(scale=problems.INPUT_SCALE),
        Gaussian(scale=problems.OUTPUT_SCALE),
    )
    return {
        "covariance fit": (DependencyEstimator(*sides, Covariance(), alpha=0.1), 8.0),
        "conditional covariance fit": (
            DependencyEstimator(*sides, ConditionalCovariance(0.1), alpha=0.1),
            8.0,
        ),
        "covariance fit, leave-one-out": (DependencyEstimator(*sides, Covariance()), 8.0),
        "identity fit, leave-one-out": (DependencyEstimator(*sides), 8.0),
        "identity fit, leave-one-out, vectors": (DependencyEstimator(sides[0], Linear()), 8.0),
        "identity fit, one ridge": (DependencyEstimator(*sides, alpha=0.1), 3.0),
    }


def peaks(sizes: Sizes) -> list[dict[str, Any]]:
    """Each fit in a fresh process, two at a time: memory, unlike time, is not shared."""
    measured, n = fits(), sizes.memory_pairs
    with ThreadPoolExecutor(2) as pool:
        figures = list(pool.map(lambda name: _in_process(name, n), measured))
    return [
        row(name, "peak memory, n² doubles", [figure], bar, n=n)
        for (name, (_, bar)), figure in zip(measured.items(), figures, strict=True)
    ]


def _in_process(name: str, n: int) -> float:
    command = [sys.executable, "-m", "experiments.bench.peaks", name, str(n)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"measuring the memory of the {name} failed: {done.stderr.strip()}")
    return float(done.stdout)


def measure(name: str, n: int) -> float:
    """Matrices of n×n doubles that the fit adds to what the process held before it."""
    model, _ = fits()[name]
    with threadpool_limits(1):  # the work space of further threads does not grow with n
        model.fit(*problems.vectors(WARM_UP))
        X, Y = problems.vectors(n)
        before = held("VmRSS")
        model.fit(X, Y)
    return (held("VmHWM") - before) / (8 * n * n)


def held(figure: str) -> int:
    """Bytes held now (VmRSS) or at most so far (VmHWM); the latter where nothing else is told."""
    if _STATUS.is_file():
        # not ru_maxrss: on Linux a process inherits that figure from the one that launched it
        for line in _STATUS.read_text().splitlines():
            if line.startswith(f"{figure}:"):
                return int(line.split()[1]) * 1024
    highest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return highest if sys.platform == "darwin" else highest * 1024


if __name__ == "__main__":
    print(measure(sys.argv[1], int(sys.argv[2])))
