"""Kernels by short names, such as ``spectrum:1-3/normalized``."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from mercer.kernels import Classes, Mismatch, Positions, Spectrum, Subsequence, WeightedDegree
from mercer.kernels.base import Kernel

NAMES: dict[str, tuple[Callable[..., Kernel], str]] = {
    "spectrum": (Spectrum, "common n-grams: spectrum:3, or spectrum:1-3 for all lengths from 1 to 3"),
    "subsequence": (Subsequence, "common subsequences with gaps: subsequence:3,0.5 has length 3 and decay 0.5"),
    "mismatch": (Mismatch, "n-grams that agree but for a few symbols: mismatch:3,1"),
    "weighted-degree": (
        WeightedDegree,
        "n-grams at the same place: weighted-degree:3, or weighted-degree:3,2 with shifts",
    ),
    "positions": (Positions, "symbols at the same place"),
    "classes": (Classes, "the same or not the same"),
}
"""The kernel of each short name, and what it is."""

_NORMALIZED = "/normalized"


def parse_kernel(text: str) -> Kernel:
    """The kernel a short name stands for.

    A name from `NAMES`, after a colon its parameters in the order of its constructor, and ``/normalized`` for the cosine; a
    sum is written with a plus.

    Examples
    --------
    >>> parse_kernel("spectrum:1-3/normalized")
    Spectrum(length=(1, 3)).normalized()
    >>> parse_kernel("subsequence:3,0.5 + positions")
    Subsequence(length=3, decay=0.5) + Positions()
    """
    kernels = [_one(part.strip(), text) for part in text.split("+")]
    kernel = kernels[0]
    for other in kernels[1:]:
        kernel = kernel + other
    return kernel


def described() -> str:
    """One line for each name, for the help of a command."""
    return "; ".join(what if ":" in what else f"{name}: {what}" for name, (_, what) in NAMES.items())


def _one(part: str, text: str) -> Kernel:
    normalized = part.endswith(_NORMALIZED)
    name, colon, parameters = part.removesuffix(_NORMALIZED).partition(":")
    if name not in NAMES:
        raise ValueError(
            f"kernel {text!r}: {name!r} is no kernel; expected one of {', '.join(NAMES)}, such as spectrum:3"
        )
    values = [_value(value.strip(), text) for value in parameters.split(",")] if colon else []
    try:
        kernel = NAMES[name][0](*values)
    except TypeError as error:
        raise ValueError(f"kernel {text!r} has too many parameters; {NAMES[name][1]}") from error
    kernel.check_parameters()
    return kernel.normalized() if normalized else kernel


def _value(value: str, text: str) -> Any:
    if re.fullmatch(r"\d+", value):
        return int(value)
    if re.fullmatch(r"\d+-\d+", value):
        low, high = value.split("-")
        return int(low), int(high)
    try:
        return float(value)
    except ValueError as error:
        raise ValueError(f"kernel {text!r}: {value!r} is no number; expected such as subsequence:3,0.5") from error
