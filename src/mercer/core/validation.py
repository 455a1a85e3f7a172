"""Checks of parameters: each returns the value as a plain Python type, or raises an error with the name and the value."""

from __future__ import annotations

import math
from collections.abc import Collection as Choices
from numbers import Integral, Real
from typing import Any

import numpy as np


def is_whole(value: Any) -> bool:
    """Return True for a whole number of any library, but not for True and False."""
    return isinstance(value, Integral) and type(value) is not bool


def is_real(value: Any) -> bool:
    """Return True for a real number of any library, but not for NaN, True and False."""
    return isinstance(value, Real) and type(value) is not bool and not math.isnan(value)


def check_whole(
    value: Any, name: str, least: int = 1, most: float = math.inf, *, expected: str = "a positive whole number"
) -> int:
    """Return `value` as an int, or raise ValueError unless it is a whole number from `least` to `most`."""
    if not is_whole(value) or not least <= value <= most:
        raise ValueError(f"{name}={value!r}; expected {expected}")
    return int(value)


def check_jobs(value: Any) -> int | None:
    """Return `value`, or raise ValueError unless it is a number of jobs as in scikit-learn, or None."""
    if value is not None and not (is_whole(value) and value):
        raise ValueError(f"n_jobs={value!r}; expected a number of jobs, -1 for one for each core, or None")
    return None if value is None else int(value)


def check_real(  # noqa: PLR0913
    value: Any,
    name: str,
    low: float = 0.0,
    high: float = math.inf,
    *,
    closed: str = "neither",
    expected: str = "a positive finite number",
) -> float:
    """Return `value` as a float, or raise ValueError unless it is a number between `low` and `high`.

    `closed` names the ends that belong to the range: "neither", "left", "right" or "both".
    """
    ends = {"left": (low,), "right": (high,), "both": (low, high)}.get(closed, ())
    if not is_real(value) or not (low < value < high or value in ends):
        raise ValueError(f"{name}={value!r}; expected {expected}")
    return float(value)


def check_choice(value: Any, name: str, choices: Choices[str]) -> str:
    """Return `value`, or raise ValueError unless it is one of the words in `choices`."""
    if not isinstance(value, str) or value not in choices:
        *first, last = map(repr, choices)
        raise ValueError(f"{name}={value!r}; expected {', '.join(first)}{' or ' if first else ''}{last}")
    return value


def numbers(values: Any) -> np.ndarray:
    """Return a list of numbers as an array, and an empty one for anything else."""
    try:
        found = np.asarray(values)
    except ValueError:  # ragged
        found = np.empty(0)
    return found.astype(float) if found.dtype.kind in "iuf" else np.empty(0)


def check_instance(value: Any, name: str, kind: type | tuple[type, ...], *, expected: str) -> Any:
    """Return `value`, or raise TypeError unless it is of the given type."""
    if not isinstance(value, kind):
        raise TypeError(f"{name}={value!r:.60}; expected {expected}")
    return value
