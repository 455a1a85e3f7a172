"""The command ``mercer demo``."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from mercer.cli.demo.experiment import FULL, QUICK, mean_losses, mean_losses_by_digit, run_folds
from mercer.cli.demo.page import loss_table, write_page
from mercer.datasets import load_digit_halves
from mercer.kernels import Gaussian
from mercer.report import Result, print_table
from mercer.selection import choose_scale

SEED = 0
LEAST_TRAINED = 40
"""Fewest training pairs on which parameters are chosen."""


def run(output: str | Path, folds: int = 5, quick: bool = False) -> Path:
    """Print the table of the demonstration, write ``index.html`` and ``demo.json`` to a folder, and return the page.

    Each fold is trained on once and tested on all others; `quick` uses fewer digits and settings.
    """
    start, size, folder = time.perf_counter(), QUICK if quick else FULL, Path(output)
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"output is {str(folder)!r}, a file; expected a folder to write to")
    if not 2 <= folds <= size.digits // LEAST_TRAINED:
        raise ValueError(
            f"folds is {folds}; expected 2 to {size.digits // LEAST_TRAINED}, so that each fold of "
            f"the {size.digits} digits has at least {LEAST_TRAINED}"
        )
    folder.mkdir(parents=True, exist_ok=True)  # fails before the work, not after it
    digits = load_digit_halves()
    order = np.random.default_rng(SEED).permutation(len(digits.labels))[: size.digits]
    parts = np.array_split(order, folds)
    output_kernel = aligned_gaussian(digits.outputs[parts[0]])
    done = run_folds(digits, parts, output_kernel, size)
    result = Result(
        "digit halves",
        mean_losses(done) + mean_losses_by_digit(done, digits.labels),
        parameters={
            "digits": size.digits,
            "folds": folds,
            "output scale": output_kernel.scale,
            "chosen": [fold.chosen for fold in done],
        },
        seeds=[SEED],
        seconds=time.perf_counter() - start,
    )
    result.to_json(folder / "demo.json")
    write_page(folder / "index.html", result, digits, done)
    print_table(loss_table(result))
    return folder / "index.html"


def aligned_gaussian(outputs: np.ndarray) -> Gaussian:
    """Return the output kernel, its scale chosen by alignment with the clusters of k-means (Weston 4.3).

    It defines the loss, so it is chosen once, on the first fold.
    """
    median = Gaussian(scale="median").resolve(outputs).scale
    return choose_scale(Gaussian(), outputs, median * np.geomspace(0.1, 2.0, 14), random_state=SEED).kernel
