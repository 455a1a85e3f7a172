"""Kernels by short names, such as ``spectrum:1-3/normalized``."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import reduce
from operator import add
from typing import Any

from mercer.kernels import Classes, Mismatch, Positions, Spectrum, Subsequence, WeightedDegree
from mercer.kernels.base import Kernel

NAMES: dict[str, tuple[Callable[..., Kernel], str]] = {
    "spectrum": (Spectrum, "common n-grams: spectrum:3, or spectrum:1-3 for all lengths from 1 to 3"),
    "subsequence": (Subsequence, "common subsequences with gaps: subsequence:3,0.5 has length 3 and decay 0.5"),
    "mismatch": (Mismatch, "n-grams that differ in a few symbols: mismatch:3,1"),
    "weighted-degree": (
        WeightedDegree,
        "n-grams at the same position: weighted-degree:3, or weighted-degree:3,2 with shifts",
    ),
    "positions": (Positions, "symbols at the same position; no parameters"),
    "classes": (Classes, "equal or not equal; no parameters"),
}
"""The kernel of each short name, and its usage."""

_NORMALIZED = "/normalized"


def parse_kernel(text: str) -> Kernel:
    """Return the kernel that a short name stands for.

    A name from `NAMES`, then a colon and parameters in the order of the constructor, then ``/normalized`` for the cosine;
    a sum is written with a plus.

    Examples
    --------
    >>> parse_kernel("spectrum:1-3/normalized")
    Spectrum(length=(1, 3)).normalized()
    >>> parse_kernel("subsequence:3,0.5 + positions")
    Subsequence(length=3, decay=0.5) + Positions()
    """
    return reduce(add, [_term(part.strip(), text) for part in text.split("+")])


def _term(part: str, text: str) -> Kernel:
    name, colon, parameters = part.removesuffix(_NORMALIZED).partition(":")
    if name not in NAMES:
        raise ValueError(
            f"kernel {text!r}: {name!r} is not a kernel; expected one of {', '.join(NAMES)}, such as spectrum:3"
        )
    kind, usage = NAMES[name]
    values = [_value(value.strip(), text) for value in parameters.split(",")] if colon else []
    try:
        kernel = kind(*values)
    except TypeError as error:
        raise ValueError(f"kernel {text!r} has too many parameters; {usage}") from error
    kernel.check_parameters()
    return kernel.normalized() if part.endswith(_NORMALIZED) else kernel


def _value(value: str, text: str) -> Any:
    if re.fullmatch(r"\d+", value):
        return int(value)
    if re.fullmatch(r"\d+-\d+", value):
        low, high = value.split("-")
        return int(low), int(high)
    try:
        return float(value)
    except ValueError as error:
        raise ValueError(f"kernel {text!r}: {value!r} is not a number; expected such as subsequence:3,0.5") from error
