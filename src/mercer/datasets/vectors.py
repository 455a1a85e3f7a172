"""Several numbers from a row of numbers: multi-target regression."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.core.validation import check_choice
from mercer.datasets.store import read_arrays

MULTI_TARGET = {
    "atp1d": (337, 411, 6),
    "edm": (154, 16, 2),
    "jura": (359, 15, 3),
    "oes97": (334, 263, 16),
    "wq": (1060, 16, 14),
}
"""Rows, features and targets of each set."""


@dataclass(frozen=True)
class MultiTarget:
    """Inputs `X` (n, d) and targets `Y` (n, q)."""

    X: np.ndarray
    Y: np.ndarray


def load_multi_target(name: str) -> MultiTarget:
    """Load a set of multi-target regression of the Mulan collection (Tsoumakas et al. 2011).

    `name` is "atp1d" (air ticket prices), "edm" (electrical discharge machining), "jura" (metals in the soil), "oes97"
    (employment) or "wq" (water quality); files in ``multi_target``.
    """
    check_choice(name, "name", MULTI_TARGET)
    n, features, targets = MULTI_TARGET[name]
    X, Y = read_arrays(f"multi_target/{name}.npz", {"X": (n, features), "Y": (n, targets)})
    return MultiTarget(X.astype(float), Y.astype(float))
