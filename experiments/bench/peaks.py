"""Peak memory of a fit, in n×n matrices of doubles, each measured in a process of its own.

``python -m experiments.bench.peaks NAME N`` prints that number.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from experiments.bench import problems
from experiments.bench.reporting import measure_in_process
from experiments.bench.sizes import Sizes
from experiments.bench.timing import Bar, Rows, row
from experiments.protocol import paper_estimator
from mercer.estimators import DependencyEstimator
from mercer.kernels import Gaussian, Linear
from mercer.operators import ConditionalCovariance, Covariance

WARM_UP = 50
"""Pairs of a first fit, which loads and compiles what every fit needs before memory is measured."""

_STATUS = Path("/proc/self/status")


def fits() -> dict[str, tuple[DependencyEstimator, float]]:
    """Return the estimators to measure, and the most matrices each may hold."""
    sides: tuple[Any, Any] = (
        Gaussian(scale=problems.INPUT_SCALE),
        Gaussian(scale=problems.OUTPUT_SCALE),
    )
    return {
        "covariance fit": (paper_estimator(*sides, Covariance(), alpha=0.1), 8.0),
        "conditional covariance fit": (
            paper_estimator(*sides, ConditionalCovariance(0.1), alpha=0.1),
            8.0,
        ),
        "covariance fit, leave-one-out": (paper_estimator(*sides, Covariance()), 8.0),
        "identity fit, leave-one-out": (paper_estimator(*sides), 8.0),
        "identity fit, leave-one-out, vectors": (paper_estimator(sides[0], Linear()), 8.0),
        "identity fit, one alpha": (paper_estimator(*sides, alpha=0.1), 3.0),
    }


def peaks(sizes: Sizes) -> Rows:
    """Measure each fit in a fresh process, two at a time: unlike times, peaks do not disturb each other."""
    measured, n = fits(), sizes.memory_pairs
    with ThreadPoolExecutor(2) as pool:
        values = list(pool.map(lambda name: measure_in_process("peaks", name, n), measured))
    return [
        row(name, "peak memory, n² doubles", value, Bar(bar), n=n)
        for (name, (_, bar)), value in zip(measured.items(), values, strict=True)
    ]


def measure(name: str, n: int) -> float:
    """Measure how many n×n matrices of doubles the fit adds to the memory of the process."""
    model, _ = fits()[name]
    with threadpool_limits(1):  # the work space of further threads does not grow with n
        model.fit(*problems.vectors(WARM_UP))
        X, Y = problems.vectors(n)
        before = held("VmRSS")
        model.fit(X, Y)
    return (held("VmHWM") - before) / (8 * n * n)


def held(measure: str) -> int:
    """Return the bytes this process holds now (VmRSS) or has held at most (VmHWM); the latter where the system tells no other."""
    if _STATUS.is_file():
        # not ru_maxrss: on Linux a process inherits that value from the one that launched it
        for line in _STATUS.read_text().splitlines():
            if line.startswith(f"{measure}:"):
                return int(line.split()[1]) * 1024
    import resource  # of POSIX alone

    highest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return highest if sys.platform == "darwin" else highest * 1024


if __name__ == "__main__":
    print(measure(sys.argv[1], int(sys.argv[2])))
