"""The demonstration from end to end."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from mercer.cli.demo.experiment import FULL, QUICK, figures, figures_by_digit, learn_in_turn
from mercer.cli.demo.page import loss_table, write_page
from mercer.datasets import load_digit_halves
from mercer.kernels import Gaussian
from mercer.report import Result, print_table
from mercer.selection import choose_scale

SEED = 0
LEAST_TRAINED = 40
"""Pairs to learn from below which choosing parameters makes no sense."""


def run(output: str | Path, folds: int = 5, quick: bool = False) -> Path:
    """Run the demonstration: print its table, write ``index.html`` and ``demo.json``.

    Parameters
    ----------
    output : path
        The folder to write to.
    folds : int
        Parts the digits are cut into. Each part is trained on once and tested on all others.
    quick : bool
        A few seconds: fewer digits, fewer settings tried.

    Returns
    -------
    Path
        The page.
    """
    start, size, folder = time.perf_counter(), QUICK if quick else FULL, Path(output)
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"output is {str(folder)!r}, a file; expected a folder to write to")
    if not 2 <= folds <= size.digits // LEAST_TRAINED:
        raise ValueError(
            f"folds is {folds}; expected 2 to {size.digits // LEAST_TRAINED}, so that each part of "
            f"the {size.digits} digits has at least {LEAST_TRAINED}"
        )
    folder.mkdir(parents=True, exist_ok=True)  # before the work, not after it, if it cannot be had
    digits = load_digit_halves()
    order = np.random.default_rng(SEED).permutation(len(digits.labels))[: size.digits]
    parts = np.array_split(order, folds)
    output_kernel = aligned_gaussian(digits.outputs[parts[0]])
    done = learn_in_turn(digits, parts, output_kernel, size)

    result = Result(
        "digit halves",
        figures(done) + figures_by_digit(done, digits.labels),
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
    """The output kernel, its scale chosen by alignment with the clusters of k-means (Weston 4.3).

    It defines the loss, so it is chosen once, on the first part, and is the same for all.
    """
    median = Gaussian(scale="median").resolve(outputs).scale
    return choose_scale(Gaussian(), outputs, median * np.geomspace(0.1, 2.0, 14), random_state=SEED).kernel
