"""Search for the best alpha on a grid that grows if the score still falls at its edge."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from mercer.core.arrays import NumericalWarning

_ROUNDING = 1e-12  # difference of two scores, relative to the range of all scores, that is taken as rounding
_DOWN, _UP = 2, 4  # most decades by which a grid grows at its two ends
_FALL = 1e-3  # share of the score by which the value at an edge has to be better than the next, for the edge to matter
_NOTHING = 1e-6  # the same as a share of the largest score, so that a perfect fit has no edge

Scores = Callable[[np.ndarray], np.ndarray]
"""alphas → the score of each, smaller is better."""


def search_alpha(alphas: np.ndarray, scores: Scores, grows: bool) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the best alpha, all values tried, and their scores.

    A grid that `grows` is continued by decades while the best value is at its edge, at most 2 decades down and 4 up. A value
    at the edge that is better than the next by less than a thousandth of the score is not an edge: the outputs may be noise,
    and their mean, that is a large alpha, the right answer. Warns if the best value is at an edge in the end.

    Examples
    --------
    >>> alpha, tried, _ = search_alpha(np.array([0.1, 1.0]), lambda alphas: 1 + np.log10(alphas / 100) ** 2, True)
    >>> round(alpha, 6), len(tried)
    (100.0, 8)
    """
    path = scores(alphas)
    lowest, highest = alphas.min() / 10.0**_DOWN, alphas.max() * 10.0**_UP
    while True:
        alpha = best_alpha(alphas, path)
        side, other = _edge(alphas, path, alpha)
        if side == 0:
            return alpha, alphas, path
        more = np.sort(alpha * 10.0 ** (side * np.array([0.5, 1.0])))
        more = more[(more > lowest * 0.99) & (more < highest * 1.01)]
        found = scores(more) if grows and len(more) else np.empty(0)
        if len(found) == 0 or not np.all(np.isfinite(found)):
            _warn(side, alpha, (float(path.min()), other), grows)
            return alpha, alphas, path
        parts = ((alphas, path), (more, found))[::side]
        alphas, path = (np.concatenate(both) for both in zip(*parts, strict=True))


def warn_if_lost(alpha: float, scale: float) -> None:
    """Warn of an alpha that is lost in the rounding of kernel values of this size; the limit of small values is fitted."""
    if alpha < np.finfo(float).eps * scale:
        warnings.warn(
            f"alpha={alpha:.3g} is lost in the rounding of kernel values of size {scale:.3g}: the fit is that of the limit of "
            "small values. Pass a larger alpha to regularise",
            NumericalWarning,
            stacklevel=3,
        )


def best_alpha(alphas: np.ndarray, path: np.ndarray) -> float:
    """Return the alpha of the smallest score, the largest of equals; raise ValueError for scores that are not finite.

    Scores that differ by no more than rounding beside the range of all scores are equal.

    Examples
    --------
    >>> best_alpha(np.array([0.1, 1.0, 10.0]), np.array([2.0, 2.0, 5.0]))
    1.0
    """
    if not np.all(np.isfinite(path)):
        raise ValueError(
            f"the loss at alpha={alphas[~np.isfinite(path)][0]:.3g} is not a finite number; the outputs or the kernel values "
            "are too large for doubles. Scale them"
        )
    lowest = float(np.min(path))
    return float(np.max(alphas[path <= lowest + _ROUNDING * (float(np.max(path)) - lowest)]))


def _edge(alphas: np.ndarray, path: np.ndarray, alpha: float) -> tuple[int, float]:
    """−1 or 1 if the score falls towards the smallest or the largest alpha, the best one, else 0; and the score next to it."""
    order = np.argsort(alphas, kind="stable")
    for side, edge, inner in ((1, -1, -2), (-1, 0, 1)):
        if len(order) > 1 and alphas[order[edge]] == alpha:
            best, other = float(path[order[edge]]), float(path[order[inner]])
            falls = other - best > max(_FALL * abs(best), _NOTHING * float(np.max(np.abs(path))))
            return (side, other) if falls else (0, other)
    return 0, 0.0


def _warn(side: int, alpha: float, scores: tuple[float, float], grows: bool) -> None:
    size, more = ("largest", "larger") if side > 0 else ("smallest", "smaller")
    cause = f"pass a rule with {more} values, such as alpha=LeaveOneOut(alphas=[...])"
    if grows:
        cause = (
            "the outputs may hardly depend on the inputs"
            if side > 0
            else "the kernel may be too wide, or pairs nearly equal"
        )
    warnings.warn(
        f"alpha={alpha:.3g} is the {size} value tried and has the lowest loss, {scores[0]:.4g} against {scores[1]:.4g} at the "
        f"next value: the best alpha may be {more}; {cause}",
        NumericalWarning,
        stacklevel=2,
    )
