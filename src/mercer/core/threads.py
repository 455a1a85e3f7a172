"""Rows of a Gram matrix divided among threads, in groups that take a moment each."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from threading import Lock
from time import perf_counter

import numpy as np

_ROUNDS = 3
"""Groups per worker that the rows left would be divided into, at the least."""
_MOMENT = 0.1
"""Seconds that a group may take: an interrupt is noticed between groups."""


class Groups:
    """Groups of neighbouring rows for several workers, last rows first, which take longest for symmetric matrices.

    Groups grow while one takes less than a moment, and shrink as fewer rows are left, so that no worker waits long at the end.

    Examples
    --------
    >>> groups = Groups(10, workers=1)
    >>> [groups.take(size).tolist() for size in (1, 2, 9)]
    [[9], [7, 8], [5, 6]]
    """

    def __init__(self, rows: int, workers: int) -> None:
        self.left, self.workers, self.lock = rows, workers, Lock()

    def take(self, size: int) -> np.ndarray:
        """Return the next group, of `size` rows or fewer; empty at the end."""
        with self.lock:
            size = min(size, max(1, self.left // (_ROUNDS * self.workers)), self.left)
            self.left -= size
            return np.arange(self.left, self.left + size)

    def stop(self) -> None:
        """Leave out the rows that nobody has taken."""
        with self.lock:
            self.left = 0

    def work(self, fill: Callable[[np.ndarray], None]) -> None:
        """Call `fill` on one group after the other until none is left."""
        size = 1
        while len(group := self.take(size)):
            start = perf_counter()
            fill(group)
            size = 2 * size if perf_counter() - start < _MOMENT else max(1, size // 2)


def in_threads(fill: Callable[[np.ndarray], None], rows: int, worthwhile: bool = True) -> None:
    """Call `fill` on groups of neighbouring rows, in as many threads as numba is set to use.

    Unlike numba's own parallel regions, plain threads survive a fork and may be started from several threads; `fill` has to
    release the interpreter lock. An interrupt waits for the groups at work, about a tenth of a second.
    """
    if not worthwhile:
        fill(np.arange(rows))
        return
    from numba import get_num_threads

    groups = Groups(rows, get_num_threads())
    if groups.workers == 1:
        groups.work(fill)
        return
    with ThreadPoolExecutor(groups.workers) as pool:
        try:
            working = [pool.submit(groups.work, fill) for _ in range(groups.workers)]
            while wait(working, timeout=_MOMENT).not_done:
                pass  # a signal that another thread took does not wake a wait without end
            for done in working:
                done.result()
        finally:
            groups.stop()
