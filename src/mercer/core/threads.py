"""Threads: rows of a Gram matrix divided among them, folds side by side, and limits on their number."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from functools import wraps
from threading import Lock
from time import perf_counter
from typing import Any, TypeVar

import numpy as np

_ROUNDS = 3
"""Groups per worker that the rows left would be divided into, at the least."""
Item = TypeVar("Item")
Result = TypeVar("Result")

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


@contextmanager
def at_most(n_jobs: int | None) -> Iterator[None]:
    """Use at most `n_jobs` threads for kernels on objects and for linear algebra, and run as many folds at a time.

    As in scikit-learn, -1 stands for all processors. None leaves everything as it is. Folds run on threads, or on the cluster
    that ``joblib.parallel_config`` names.
    """
    if n_jobs is None:
        yield
        return
    import joblib
    from threadpoolctl import threadpool_limits

    jobs = joblib.effective_n_jobs(n_jobs)
    with ExitStack() as stack:
        stack.enter_context(_numba_threads(jobs))
        stack.enter_context(threadpool_limits(jobs))
        backend = joblib.parallel.get_active_backend()[0]
        on_cluster = type(backend).__module__ != "joblib._parallel_backends"
        stack.enter_context(joblib.parallel_config(backend if on_cluster else "threading", n_jobs=jobs))
        yield


Method = TypeVar("Method", bound=Callable[..., Any])


class _Limits:
    """The limits on linear algebra that methods of one thread share, and how many of them are at work."""

    def __init__(self) -> None:
        self.lock, self.inside = Lock(), 0
        self.taken: Any = None


_LIMITS = _Limits()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_LIMITS.__init__)  # type: ignore[misc]


def one_blas_thread(method: Method) -> Method:
    """Return a method during which linear algebra uses one thread: on many small matrices, more of them wait for each other.

    The setting is that of the process, so that the first method at work takes it and the last gives it back: if each restored
    what it had found, one that ends would take the limit from another, and the last could leave one thread for good.
    """

    @wraps(method)
    def alone(*arguments: Any, **named: Any) -> Any:
        import threadpoolctl

        # from 3.8 on, the thread that took a limit has to let go of it before another can give it back
        let_go = getattr(threadpoolctl.OpenBLASController, "clear_controlling_thread", None)
        with _LIMITS.lock:
            if not _LIMITS.inside:
                _LIMITS.taken = threadpoolctl.threadpool_limits(1, "blas")
            _LIMITS.inside += 1
        try:
            return method(*arguments, **named)
        finally:
            with _LIMITS.lock:
                _LIMITS.inside -= 1
                if not _LIMITS.inside:
                    if let_go:
                        let_go(force=True)
                    _LIMITS.taken.restore_original_limits()
                    if let_go:
                        let_go(force=True)

    return alone  # type: ignore[return-value]


@contextmanager
def _numba_threads(number: int) -> Iterator[None]:
    """Kernels on objects that are called from this thread use at most so many threads."""
    import numba

    before, most = numba.get_num_threads(), int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]
    numba.set_num_threads(max(1, min(number, most)))
    try:
        yield
    finally:
        numba.set_num_threads(before)


def side_by_side(work: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Return the result of `work` for each item, through joblib: one after another unless a user asked for more jobs.

    Jobs come from ``n_jobs`` of an estimator, or from ``joblib.parallel_config``, whose backend may be a cluster. Kernels in
    each of several threads use one thread.

    Examples
    --------
    >>> side_by_side(abs, [-1, 2])
    [1, 2]
    """
    import joblib

    jobs = joblib.effective_n_jobs(None)
    if jobs == 1:
        return [work(item) for item in items]

    def alone(item: Any) -> Any:
        with _numba_threads(1):
            return work(item)

    return joblib.Parallel(prefer="threads")(joblib.delayed(alone)(item) for item in items)
