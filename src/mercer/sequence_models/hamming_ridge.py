r"""The product-Hamming kernel on rows of symbols, :math:`k(x, z) = \exp(-\sum_j w_j [x_j \ne z_j])`, and ridge regression."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy.linalg import solve

from mercer.core.compiled import compiled


class _Settings(Protocol):
    """A kernel on rows of numbers, and the ridge's alpha."""

    alpha: float

    def kernel(self, A: np.ndarray, B: np.ndarray | None = None) -> np.ndarray: ...


def ridge_coefficients(
    settings: _Settings, rows: np.ndarray, targets: np.ndarray, landmarks: np.ndarray | None = None, block: int = 2048
) -> np.ndarray:
    """Solve the ridge, one coefficient for each row, or the ridge within the span of `landmarks`, one for each of these.

    With landmarks the normal equations are summed over blocks of rows.
    """
    if landmarks is None:
        gram = settings.kernel(rows)
        gram[np.diag_indices(len(gram))] += settings.alpha
        return solve(gram, targets, assume_a="pos", overwrite_a=True, check_finite=False)
    system = settings.alpha * settings.kernel(landmarks)
    right = np.zeros((len(landmarks), targets.shape[1]))
    for start in range(0, len(rows), block):
        across = settings.kernel(rows[start : start + block], landmarks)
        system += across.T @ across
        right += across.T @ targets[start : start + block]
    system[np.diag_indices(len(landmarks))] += 1e-9 * np.trace(system) / len(landmarks)
    return solve(system, right, assume_a="pos", overwrite_a=True, check_finite=False)


def log_softmax(scores: np.ndarray) -> np.ndarray:
    """Return the logarithm of the softmax of each row."""
    scores = scores - scores.max(axis=1, keepdims=True)
    return scores - np.log(np.sum(np.exp(scores), axis=1, keepdims=True))


@compiled
def _similarities(row: np.ndarray, columns: np.ndarray, weights: np.ndarray, found: np.ndarray) -> None:
    """Put k(row, b) into `found` for its first rows b, given by columns: the inner loop is over neighbours in memory."""
    found[:] = 0.0
    for j in range(len(weights)):
        value, weight, column = row[j], weights[j], columns[j]
        for b in range(len(found)):
            found[b] += weight if column[b] != value else 0.0
    for b in range(len(found)):
        found[b] = np.exp(-found[b])


@compiled
def hamming_kernel(A: np.ndarray, B: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return k(a, b) for each row a of `A` and b of `B`; a difference in column j costs `weights[j]`."""
    gram, columns = np.empty((len(A), len(B))), np.ascontiguousarray(B.T)
    for a in range(len(A)):
        _similarities(A[a], columns, weights, gram[a])
    return gram


@compiled
def hamming_gram(A: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return k(a, a') for all rows of `A`, computing each pair once."""
    gram, columns = np.ones((len(A), len(A))), np.ascontiguousarray(A.T)
    for a in range(len(A)):
        _similarities(A[a], columns, weights, gram[a, :a])
        for b in range(a):
            gram[b, a] = gram[a, b]
    return gram


@compiled
def weight_slopes(A: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    r"""Return the derivative of a loss L in each weight; `slopes` holds :math:`k(a, a') \, \partial L / \partial k(a, a')`."""
    found = np.zeros(A.shape[1])
    for a in range(len(A)):
        row = A[a]
        for b in range(a):
            other, slope = A[b], slopes[a, b] + slopes[b, a]
            for j in range(len(found)):
                found[j] -= slope if row[j] != other[j] else 0.0
    return found
