"""Rows of a Gram matrix divided among threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

_ROUNDS = 3
"""Groups per worker that the rows left would be divided into."""


def in_threads(fill: Callable[[np.ndarray], None], rows: int, worthwhile: bool = True) -> None:
    """Call `fill` on groups of neighbouring rows, in as many threads as numba is set to use.

    Groups shrink as fewer rows are left, so that no thread waits long at the end; the last rows, which take longest for
    symmetric matrices, come first. Unlike numba's own parallel regions, plain threads survive a fork and may be started from
    several threads; `fill` has to release the interpreter lock.
    """
    workers = 1
    if worthwhile:
        from numba import get_num_threads

        workers = get_num_threads()
    if workers == 1:
        fill(np.arange(rows))
        return
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(fill, shrinking_groups(rows, workers)))


def shrinking_groups(rows: int, workers: int) -> list[np.ndarray]:
    """Divide all rows into groups, last rows first, each the same share of the rows left.

    Examples
    --------
    >>> [len(group) for group in shrinking_groups(25, 1)]
    [8, 5, 4, 2, 2, 1, 1, 1, 1]
    """
    groups, left = [], rows
    while left > 0:
        size = max(1, left // (_ROUNDS * workers))
        groups.append(np.arange(left - size, left))
        left -= size
    return groups
