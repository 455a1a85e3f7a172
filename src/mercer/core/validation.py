"""Checks of parameters: each returns the value as a plain Python type, or raises an error with the name and the value."""

from __future__ import annotations

import math
from collections.abc import Collection as Choices
from numbers import Integral, Real
from typing import Any


def is_whole(value: Any) -> bool:
    """Return True for a whole number of any library, but not for True and False.

    Examples
    --------
    >>> import numpy as np
    >>> is_whole(3), is_whole(np.int64(3)), is_whole(True), is_whole(np.True_), is_whole(3.0)
    (True, True, False, False, False)
    """
    return isinstance(value, Integral) and type(value) is not bool


def is_real(value: Any) -> bool:
    """Return True for a real number of any library, but not for NaN, True and False.

    Examples
    --------
    >>> import numpy as np
    >>> is_real(0.5), is_real(np.float32(2)), is_real(True), is_real("1"), is_real(math.nan)
    (True, True, False, False, False)
    """
    return isinstance(value, Real) and type(value) is not bool and not math.isnan(value)


def check_whole(
    value: Any, name: str, least: int = 1, most: float = math.inf, *, expected: str = "a positive whole number"
) -> int:
    """Return `value` as an int, or raise ValueError unless it is a whole number from `least` to `most`.

    Examples
    --------
    >>> check_whole(0, "rank")
    Traceback (most recent call last):
    ...
    ValueError: rank=0; expected a positive whole number
    """
    if not is_whole(value) or not least <= value <= most:
        raise ValueError(f"{name}={value!r}; expected {expected}")
    return int(value)


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

    Examples
    --------
    >>> check_real(1.5, "tol", 0, 1, expected="a number between 0 and 1")
    Traceback (most recent call last):
    ...
    ValueError: tol=1.5; expected a number between 0 and 1
    """
    ends = {"left": (low,), "right": (high,), "both": (low, high)}.get(closed, ())
    if not is_real(value) or not (low < value < high or value in ends):
        raise ValueError(f"{name}={value!r}; expected {expected}")
    return float(value)


def check_choice(value: Any, name: str, choices: Choices[str]) -> str:
    """Return `value`, or raise ValueError unless it is one of the words in `choices`.

    Examples
    --------
    >>> check_choice("mean", "origin", ("zero", "one"))
    Traceback (most recent call last):
    ...
    ValueError: origin='mean'; expected 'zero' or 'one'
    """
    if not isinstance(value, str) or value not in choices:
        *first, last = map(repr, choices)
        raise ValueError(f"{name}={value!r}; expected {', '.join(first)}{' or ' if first else ''}{last}")
    return value


def check_instance(value: Any, name: str, kind: type | tuple[type, ...], *, expected: str) -> Any:
    """Return `value`, or raise TypeError unless it is of the given type.

    Examples
    --------
    >>> check_instance(3, "kernel", str, expected="the name of a kernel")
    Traceback (most recent call last):
    ...
    TypeError: kernel=3; expected the name of a kernel
    """
    if not isinstance(value, kind):
        raise TypeError(f"{name}={value!r:.60}; expected {expected}")
    return value
