"""Ratios of running times, each measured side by side with what it is compared with."""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

Task = Callable[[], Any]

_MOST_MAPPINGS, _TRIM_ABOVE = -4, -1
"""M_MMAP_MAX and M_TRIM_THRESHOLD of malloc.h."""


def keep_memory() -> bool:
    """Have this process keep the memory it frees, where its allocator can be told to; whether it could.

    Otherwise each task pays for getting its arrays from the system anew. How much depends on what ran before it and on the
    machine, most of all on a virtual one that hands free pages back to its host.
    """
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and mallopt(_MOST_MAPPINGS, 0) == 1 and mallopt(_TRIM_ABOVE, 2**31 - 1) == 1


def interleaved(tasks: dict[str, Task], repeats: int, warm_up: bool = True) -> dict[str, np.ndarray]:
    """Seconds of each task in each of `repeats` rounds; every round runs all of them.

    A machine that is slow for a while is then slow for both sides of a ratio. The order turns from
    round to round, so that no task always follows the same other. A round before the first, to
    load, compile and start threads, does not count.

    Examples
    --------
    >>> tasks = {"short": lambda: sum(range(10)), "long": lambda: sum(range(10**6))}
    >>> seconds = interleaved(tasks, 3)
    >>> bool(np.all(seconds["short"] < seconds["long"]))
    True
    """
    names = list(tasks)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for task in tasks.values() if warm_up else ():
        task()
    for turn in range(repeats):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            begin = time.perf_counter()
            tasks[name]()
            seconds[name].append(time.perf_counter() - begin)
    return {name: np.asarray(each) for name, each in seconds.items()}


def fastest(seconds: dict[str, np.ndarray], names: list[str]) -> str:
    """Which of `names` has the fastest round."""
    return min(names, key=lambda name: float(np.min(seconds[name])))


def ratio_row(
    method: str,
    metric: str,
    above: np.ndarray,
    below: np.ndarray,
    bar: float | None = None,
    sense: str = "≤",
    **details: Any,
) -> dict[str, Any]:
    """A row for one running time over another, each the fastest of its rounds: what else runs can only add to a time.

    The error is the standard deviation of the ratios of rounds.

    Examples
    --------
    >>> ratio_row("fit", "× eigh", np.array([3.0, 2.0, 2.4]), np.array([1.0, 1.6, 2.0]), bar=2.0)["value"]
    2.0
    """
    found = row(method, metric, [above.min() / below.min()], bar, sense, **details)
    rounds = min(len(above), len(below))
    spread = float(np.std(above[:rounds] / below[:rounds], ddof=1)) if rounds > 1 else None
    return found | {"error": spread}


def row(
    method: str,
    metric: str,
    ratios: np.ndarray | list[float],
    bar: float | None = None,
    sense: str = "≤",
    **details: Any,
) -> dict[str, Any]:
    """One line of the result: the median of the ratios of all rounds, and their standard deviation.

    Examples
    --------
    >>> row("fit", "× eigh", [1.0, 1.2, 1.1], bar=1.5)["met"]
    True
    """
    values = np.asarray(ratios, dtype=float)
    value = float(np.median(values))
    met = None if bar is None else bool(value <= bar if sense == "≤" else value >= bar)
    error = float(np.std(values, ddof=1)) if len(values) > 1 else None
    found = {"method": method, "metric": metric, "value": value, "error": error}
    return {**found, "bar": bar, "sense": sense, "met": met, **details}


def compared(
    method: str,
    metric: str,
    seconds: dict[str, np.ndarray],
    measured: str,
    references: list[str],
    bar: float | None = None,
) -> dict[str, Any]:
    """A row for how many times the fastest of the references `measured` takes."""
    reference = fastest(seconds, references)
    return ratio_row(
        method,
        metric,
        seconds[measured],
        seconds[reference],
        bar,
        seconds=float(np.min(seconds[measured])),
        reference=reference,
        reference_seconds=float(np.min(seconds[reference])),
    )
