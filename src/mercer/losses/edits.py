"""How many edits two sequences are apart."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def _edits(a: np.ndarray, b: np.ndarray, row: np.ndarray) -> int:
    """Levenshtein distance by dynamic programming; `row` is scratch for len(b) + 1 numbers."""
    for j in range(len(b) + 1):
        row[j] = j
    for i in range(len(a)):
        diagonal = row[0]
        row[0] = i + 1
        for j in range(len(b)):
            replaced = diagonal + (a[i] != b[j])
            diagonal = row[j + 1]
            row[j + 1] = min(replaced, min(diagonal, row[j]) + 1)
    return row[len(b)]


@njit(cache=True, nogil=True)
def edit_distances(
    a: np.ndarray, a_starts: np.ndarray, b: np.ndarray, b_starts: np.ndarray, paired: bool
) -> np.ndarray:
    """Edit distances of all pairs of sequences; `paired`, of the i-th with the i-th, a column."""
    n = len(a_starts) - 1
    distances = np.empty((n, 1 if paired else len(b_starts) - 1))
    row = np.empty(len(b) + 1, dtype=np.int64)
    for i in range(n):
        left = a[a_starts[i] : a_starts[i + 1]]
        for column in range(distances.shape[1]):
            j = i if paired else column
            distances[i, column] = _edits(left, b[b_starts[j] : b_starts[j + 1]], row)
    return distances
