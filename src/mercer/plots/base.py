"""Parts that all displays share: axes, colours, and checks of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

TRUE, PREDICTED, QUIET = "#8a8f98", "#c2410c", "#2563a8"
"""Colours of the truth, of predictions, and of what neither is; they are told apart on light and dark paper."""


def pyplot() -> Any:
    """Import matplotlib.pyplot; an error says how to install it."""
    try:
        import matplotlib.pyplot
    except ImportError as error:
        raise ImportError("displays need matplotlib; run 'pip install mercer[plots]'") from error
    return matplotlib.pyplot


def figure_and_axes(ax: Any, **size: Any) -> tuple[Any, Any]:
    """Return the figure and the axes to draw on: those given, or new ones."""
    if ax is not None:
        return ax.figure, ax
    return pyplot().subplots(layout="constrained", **size)


def as_numbers(values: Any, name: str, ndim: int = 1) -> np.ndarray:
    """Return numbers as an array; raise ValueError if they are not finite or have another number of axes."""
    try:
        found = np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}={values!r:.60}; expected numbers") from error
    if found.ndim != ndim or found.size == 0 or not np.all(np.isfinite(found)):
        expected = "a list of finite numbers" if ndim == 1 else "a table of finite numbers"
        raise ValueError(f"{name} has shape {found.shape}; expected {expected}, at least one")
    return found
