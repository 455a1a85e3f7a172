"""Limits of the machine in the same run: products, decompositions and copies of large matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from experiments.bench.timing import Rows, interleaved, row


def limits(n: int, repeats: int = 3) -> Rows:
    """Measure the rates of a product, a Cholesky factor, an eigendecomposition and a copy of n×n matrices."""
    matrix = np.random.default_rng(0).standard_normal((n, n))
    gram = matrix @ matrix.T / n + np.eye(n)
    target = np.empty_like(matrix)
    tasks: dict[str, Callable[[], Any]] = {
        "matrix product": lambda: np.matmul(matrix, gram, out=target),
        "Cholesky factor": lambda: scipy.linalg.cholesky(gram, lower=True, check_finite=False),
        "eigendecomposition": lambda: scipy.linalg.eigh(gram, check_finite=False, driver="evd"),
        "copy": lambda: np.copyto(target, matrix),
    }
    work = {"matrix product": 2.0 * n**3, "Cholesky factor": n**3 / 3.0, "copy": 16.0 * n * n}
    seconds = interleaved(tasks, repeats)
    rows = [row(f"limit: {name}", "seconds", [own.min()], n=n) for name, own in seconds.items()]
    for name, amount in work.items():
        unit = "GB/s" if name == "copy" else "GFLOP/s"
        rows.append(row(f"limit: {name}", unit, [amount / seconds[name].min() / 1e9], n=n))
    return rows
