"""Two collections side by side, in the form losses work on: arrays of numbers, or object arrays."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from mercer.core.arrays import like
from mercer.core.collections import Collection, as_objects, count, is_numeric


def side_by_side(A: Collection, B: Collection, *, paired: bool = False) -> tuple[Collection, Collection]:
    """True and predicted objects as collections; as many of each when `paired`."""
    A = A if is_numeric(A) else as_objects(A, "Y_true")
    B = B if is_numeric(B) else as_objects(B, "Y_pred")
    n, m = count(A), count(B)
    if paired and n != m:
        raise ValueError(f"Y_true has {n} objects and Y_pred has {m}; expected one prediction for each")
    return A, (like(B, A) if is_numeric(A) and is_numeric(B) else B)


def alone(thing: Any) -> Collection:
    """A collection of one object: an array for a vector or a number."""
    if isinstance(thing, Real):
        return np.asarray([thing])
    if is_numeric(thing):
        return thing[None, ...]
    objects = np.empty(1, dtype=object)
    objects[0] = thing
    return objects
