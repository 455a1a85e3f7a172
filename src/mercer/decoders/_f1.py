"""The set of labels of highest expected F1."""

from __future__ import annotations

import numpy as np
from numba import njit

_TIE = 1e-12
"""Difference, relative to the larger, below which two expected values are equal."""


@njit(cache=True, nogil=True)
def best_sets(
    points: np.ndarray, label: np.ndarray, row: np.ndarray, sizes: np.ndarray, labels: int, nothing: np.ndarray
) -> np.ndarray:
    """For each point, which labels make the set of highest expected F1.

    Column c of `points` is P_ls for l = ``label[c]`` and s = ``sizes[row[c]]``; `nothing` is what the empty set is worth.
    """
    chosen = np.zeros((len(points), labels), dtype=np.bool_)
    mass = np.empty((len(sizes), labels))
    worth = np.empty(labels)
    for i in range(len(points)):
        mass[:] = 0.0
        for c in range(len(label)):
            mass[row[c], label[c]] = points[i, c]
        best = nothing[i]
        for k in range(1, labels + 1):
            # larger sets are worth no more than everything that counts for them
            reach = 0.0
            hope = 0.0
            worth[:] = 0.0
            for s in range(len(sizes)):
                share = 2.0 / (k + sizes[s])
                for one in range(labels):
                    part = share * mass[s, one]
                    worth[one] += part
                    reach += max(part, 0.0)
            if reach <= best:
                break
            for one in range(labels):
                hope += max(worth[one], 0.0)
            if hope <= best:
                continue
            order = np.argsort(-worth, kind="mergesort")[:k]
            value = worth[order].sum()
            if value > best + _TIE * abs(value):
                best = value
                chosen[i] = False
                chosen[i, order] = True
    return chosen
