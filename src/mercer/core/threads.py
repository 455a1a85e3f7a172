"""Rows of a Gram matrix divided among threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

_ROUNDS = 3
"""A group is one over this many times the number of workers of the rows left."""


def in_threads(fill: Callable[[np.ndarray], None], rows: int, worthwhile: bool = True) -> None:
    """Call `fill` on groups of rows that together are all rows, in as many threads as numba is set to use.

    Neighbouring rows stay together, since their results are neighbours in memory. Groups shrink as fewer rows are left, so
    that no thread waits long at the end; the last rows, which take longest where a matrix is symmetric, come first. Plain
    threads on compiled code that releases the interpreter lock survive a fork and may be started from several threads,
    which numba's own parallel regions do not.
    """
    if not worthwhile:
        fill(np.arange(rows))
        return
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
