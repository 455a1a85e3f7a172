"""Comparison of two folders of results: the same rows, up to rounding and times."""

from __future__ import annotations

import math
import re
from numbers import Real
from pathlib import Path
from typing import Any

from mercer.report import Result

TOLERANCE = 1e-8

_TIMES = re.compile(r"\b(time|seconds)\b")


def compare_folders(first: Path, second: Path, tol: float = TOLERANCE) -> tuple[int, list[str]]:
    """Compare the results of two folders, experiment by experiment.

    Benchmarks (``bench-*.json``) are left out: they measure times.

    Parameters
    ----------
    first, second : Path
        Folders with one ``<name>.json`` for each experiment.
    tol : float
        Tolerance on numbers, relative to the larger one and absolute below 1.

    Returns
    -------
    tuple of int and list of str
        Number of results found in both folders, and one line for each difference.
    """
    names = [_results(folder) for folder in (first, second)]
    differences = [f"{name}: only in {first}" for name in sorted(names[0] - names[1])]
    differences += [f"{name}: only in {second}" for name in sorted(names[1] - names[0])]
    both = sorted(names[0] & names[1])
    for name in both:
        one, two = (Result.read(folder / f"{name}.json").rows for folder in (first, second))
        differences += [f"{name}: {difference}" for difference in compare_rows(one, two, tol)]
    return len(both), differences


def compare_rows(first: list[dict[str, Any]], second: list[dict[str, Any]], tol: float = TOLERANCE) -> list[str]:
    """Compare rows in order; rows whose metric is a time need only have the same texts.

    Examples
    --------
    >>> row = {"method": "KDE", "metric": "loss", "value": 0.5, "error": None}
    >>> compare_rows([row], [row | {"value": 0.5 + 1e-12}])
    []
    >>> compare_rows([row], [row | {"value": 0.6}])
    ['row 0 (KDE, loss): value is 0.5 and 0.6']
    """
    if len(first) != len(second):
        return [f"{len(first)} rows and {len(second)} rows"]
    found = []
    for i, (one, two) in enumerate(zip(first, second, strict=True)):
        ignored = ("value", "error") if is_time(one["metric"]) else ()
        found += [
            f"row {i} ({one['method']}, {one['metric']}): {key} is {one.get(key)!r} and {two.get(key)!r}"
            for key in dict.fromkeys([*one, *two])
            if key not in ignored and not _same(one.get(key), two.get(key), tol)
        ]
    return found


def is_time(metric: str) -> bool:
    """Return True for a metric that is a time.

    Examples
    --------
    >>> is_time("CPU seconds"), is_time("loss")
    (True, False)
    """
    return _TIMES.search(metric) is not None


def _same(one: Any, two: Any, tol: float) -> bool:
    if isinstance(one, Real) and isinstance(two, Real):
        return math.isclose(one, two, rel_tol=tol, abs_tol=tol)
    return one == two


def _results(folder: Path) -> set[str]:
    if not folder.is_dir():
        raise ValueError(f"{folder} is not a folder; expected a folder with results as JSON")
    found = {path.stem for path in folder.glob("*.json") if not path.name.startswith("bench-")}
    if not found:
        raise ValueError(f"{folder} has no results; expected files such as weston-table3.json")
    return found
