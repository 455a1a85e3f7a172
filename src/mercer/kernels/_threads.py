"""Rows of a Gram matrix shared out to threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np

_GROUPS = 16
"""Groups of rows for each worker, so that none is left waiting for another at the end."""


def in_threads(fill: Callable[[np.ndarray], None], rows: int, worthwhile: bool = True) -> None:
    """Call `fill` on groups of rows that together are all rows, in as many threads as numba is set to use.

    Neighbours stay together, since their results are neighbours in memory; the groups at the end, the large ones of a
    symmetric matrix, are first. Plain threads on compiled code that lets go of the interpreter lock survive a fork and may
    be started from several threads, which a parallel region of the compiler's own does not.
    """
    workers = numba.get_num_threads() if worthwhile else 1
    if workers == 1:
        fill(np.arange(rows))
        return
    groups = np.array_split(np.arange(rows), min(_GROUPS * workers, rows))[::-1]
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(fill, groups))
