"""How long the parts of a sequence are that a kernel counts: one length, or all from a shortest to a longest."""

from __future__ import annotations

from numbers import Integral
from typing import Any

Length = int | tuple[int, int]
"""One length, or ``(shortest, longest)``."""


def is_whole(value: Any, least: int) -> bool:
    """Whether `value` is a whole number, at least `least`."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least


def require_length(length: Any, owner: object) -> None:
    """Raise unless `length` is a whole number, or two of them in order."""
    pair = length if isinstance(length, tuple | list) else (length, length)
    if len(pair) != 2 or not all(is_whole(each, 1) for each in pair) or pair[0] > pair[1]:
        raise ValueError(
            f"length={length!r} in {type(owner).__name__}; expected a whole number, 1 or more, or (shortest, longest) for the "
            "sum over all lengths from one to the other"
        )


def length_range(length: Length) -> range:
    """The lengths that count.

    Examples
    --------
    >>> list(length_range(3)), list(length_range((1, 3)))
    ([3], [1, 2, 3])
    """
    shortest, longest = length if isinstance(length, tuple | list) else (length, length)
    return range(int(shortest), int(longest) + 1)


def occurring(lengths: range, longest: int) -> range:
    """Those of the lengths that fit in the longest sequence; the first where none does.

    Examples
    --------
    >>> occurring(range(1, 10**9), 4), occurring(range(7, 10**9), 4)
    (range(1, 5), range(7, 8))
    """
    return range(lengths.start, min(lengths.stop, max(lengths.start, longest) + 1))
