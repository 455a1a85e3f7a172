"""Ratios of running times, each measured side by side with its reference."""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Task = Callable[[], Any]
Rows = list[dict[str, Any]]

_MOST_MAPPINGS, _TRIM_ABOVE = -4, -1
"""M_MMAP_MAX and M_TRIM_THRESHOLD of malloc.h."""


def keep_memory() -> bool:
    """Make this process keep the memory it frees; returns False if its allocator has no such option.

    Otherwise each task pays for getting its arrays from the system again. The price depends on the tasks before it and on the
    machine, most of all on a virtual one that hands free pages back to its host.
    """
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and mallopt(_MOST_MAPPINGS, 0) == 1 and mallopt(_TRIM_ABOVE, 2**31 - 1) == 1


def interleaved(tasks: dict[str, Task], repeats: int, warm_up: bool = True) -> dict[str, np.ndarray]:
    """Measure the seconds of each task in each of `repeats` rounds; every round runs all tasks.

    A machine that is slow for a while is then slow for both sides of a ratio. The order turns from round to round, so that no
    task always follows the same other one. A round before the first, to load, compile and start threads, does not count.

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


@dataclass(frozen=True)
class Bar:
    """A bound that a value is meant to keep, from above (≤) or from below (≥)."""

    value: float
    sense: str = "≤"

    def met_by(self, value: float) -> bool:
        """Tell whether `value` keeps the bound."""
        return value <= self.value if self.sense == "≤" else value >= self.value


def row(
    method: str, metric: str, values: np.ndarray | list[float], bar: Bar | None = None, **details: Any
) -> dict[str, Any]:
    """Make a row of the result: the median of `values` over all rounds, and their standard deviation.

    Examples
    --------
    >>> row("fit", "× eigh", [1.0, 1.2, 1.1], Bar(1.5))["met"]
    True
    """
    values = np.asarray(values, dtype=float)
    value = float(np.median(values))
    return {
        "method": method,
        "metric": metric,
        "value": value,
        "error": float(np.std(values, ddof=1)) if len(values) > 1 else None,
        "bar": None if bar is None else bar.value,
        "sense": "≤" if bar is None else bar.sense,
        "met": None if bar is None else bool(bar.met_by(value)),
        **details,
    }


def ratio_row(
    method: str, metric: str, times: tuple[np.ndarray, np.ndarray], bar: Bar | None = None, **details: Any
) -> dict[str, Any]:
    """Make a row for the ratio of two running times, each the fastest of its rounds: other processes can only add to a time.

    The error is the standard deviation of the ratios of the rounds.

    Examples
    --------
    >>> ratio_row("fit", "× eigh", (np.array([3.0, 2.0, 2.4]), np.array([1.0, 1.6, 2.0])), Bar(2.0))["value"]
    2.0
    """
    above, below = times
    found = row(method, metric, [above.min() / below.min()], bar, **details)
    rounds = min(len(above), len(below))
    spread = float(np.std(above[:rounds] / below[:rounds], ddof=1)) if rounds > 1 else None
    return found | {"error": spread}


def reference_row(
    method: str, metric: str, seconds: dict[str, np.ndarray], references: list[str], bar: Bar | None = None
) -> dict[str, Any]:
    """Make a row for the time of `method` relative to the fastest of the references."""
    reference = min(references, key=lambda name: float(np.min(seconds[name])))
    found = ratio_row(method, metric, (seconds[method], seconds[reference]), bar)
    return found | {
        "seconds": float(np.min(seconds[method])),
        "reference": reference,
        "reference_seconds": float(np.min(seconds[reference])),
    }


@dataclass(frozen=True)
class PeerComparison:
    """A Gram matrix computed by mercer and by another package.

    Attributes
    ----------
    name, peer : str
        The kernel and the package.
    ours, theirs : callable
        The two computations.
    factor : float
        Multiple of our values that the peer gives.
    """

    name: str
    peer: str
    ours: Task
    theirs: Task
    factor: float = 1.0

    def rows(self, repeats: int, faster: float, tol: float, **details: Any) -> Rows:
        """Measure by which factor ours is faster and by how much the values differ."""
        mine, other = self.ours(), self.theirs()
        difference = float(np.max(np.abs(self.factor * mine - other)) / np.max(np.abs(other)))
        seconds = interleaved({"mercer": self.ours, self.peer: self.theirs}, repeats)
        own, reference = seconds["mercer"], seconds[self.peer]
        timed = {"seconds": float(np.min(own)), "reference_seconds": float(np.min(reference))}
        timed["pairs_per_second"] = mine.size / timed["seconds"]
        method, bar = f"{self.name} Gram", Bar(faster, "≥")
        return [
            ratio_row(method, f"× faster than {self.peer}", (reference, own), bar, **timed, **details),
            row(method, f"relative difference from {self.peer}", [difference], Bar(tol), **details),
        ]
