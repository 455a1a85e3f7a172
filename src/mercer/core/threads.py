"""Rows of a Gram matrix shared out to threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np

_ROUNDS = 3
"""A group is this part of what is left for one worker."""


def in_threads(fill: Callable[[np.ndarray], None], rows: int, worthwhile: bool = True) -> None:
    """Call `fill` on groups of rows that together are all rows, in as many threads as numba is set to use.

    Neighbours stay together, since their results are neighbours in memory. Groups get smaller as less is left, so that few are
    handed out and none of the workers waits long for another at the end; the last rows, those with most to do where a matrix is
    symmetric, come first. Plain threads on compiled code that lets go of the interpreter lock survive a fork and may
    be started from several threads, which a parallel region of the compiler's own does not.
    """
    workers = numba.get_num_threads() if worthwhile else 1
    if workers == 1:
        fill(np.arange(rows))
        return
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(fill, shrinking_groups(rows, workers)))


def shrinking_groups(rows: int, workers: int) -> list[np.ndarray]:
    """All rows in groups, last rows first, each the same part of what is left.

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
