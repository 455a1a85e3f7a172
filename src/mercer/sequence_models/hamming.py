r"""The product-Hamming kernel on rows of symbols, :math:`k(x, z) = \exp(-\sum_j w_j [x_j \ne z_j])`, and its slope."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def hamming_kernel(A: np.ndarray, B: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """k(a, b) for each row a of `A` and b of `B`; `weights[j]` is what a difference in column j costs."""
    gram = np.empty((len(A), len(B)))
    for a in range(len(A)):
        for b in range(len(B)):
            cost = 0.0
            for j in range(len(weights)):
                if A[a, j] != B[b, j]:
                    cost += weights[j]
            gram[a, b] = np.exp(-cost)
    return gram


@njit(cache=True, nogil=True)
def hamming_gram(A: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """k(a, a') for all rows of `A`, each pair once."""
    gram = np.ones((len(A), len(A)))
    for a in range(len(A)):
        for b in range(a):
            cost = 0.0
            for j in range(len(weights)):
                if A[a, j] != A[b, j]:
                    cost += weights[j]
            gram[a, b] = gram[b, a] = np.exp(-cost)
    return gram


@njit(cache=True, nogil=True)
def weight_slopes(A: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    r"""The derivative in each weight, where `slopes` holds :math:`k(a, a') \, \partial L / \partial k(a, a')` for rows of `A`."""
    found = np.zeros(A.shape[1])
    for a in range(len(A)):
        for b in range(a):
            slope = slopes[a, b] + slopes[b, a]
            for j in range(A.shape[1]):
                if A[a, j] != A[b, j]:
                    found[j] -= slope
    return found
