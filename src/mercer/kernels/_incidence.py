"""Objects as sets of numbered items, and how many items two objects share."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from mercer.kernels._products import products


def incidence(items: np.ndarray, counts: np.ndarray, width: int) -> sparse.csr_array:
    """A 0/1 matrix with ones in the columns `items`, `counts[i]` of them in row i."""
    starts = np.concatenate([[0], np.cumsum(counts)])
    return sparse.csr_array((np.ones(len(items)), items, starts), shape=(len(counts), width))


def shared(left: sparse.csr_array, right: sparse.csr_array) -> np.ndarray:
    """The number of items that each row of `left` shares with each row of `right`."""
    return products(left, None if right is left else right)
