"""Worker: a process that computes one piece at a time and can be stopped when it takes too long."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy as np

DONE, TIMED_OUT, FAILED = "done", "timed out", "failed"
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class Job(NamedTuple):
    """One fold of a task by one method."""

    task: str
    fold: int
    method: str
    small: bool = False


class Worker:
    """Process of its own for the methods, started again after a job that was stopped or that ended it.

    Parameters
    ----------
    threads : int
        Number of threads of every numerical library.
    memory : float
        Most address space in gigabytes; a method that wants more fails.
    """

    def __init__(self, threads: int, memory: float) -> None:
        self.threads, self.memory = threads, memory
        self._process: Any = None
        self._pipe: Any = None

    def outcome(self, job: Job, limit: float) -> dict[str, Any]:
        """Compute a job within `limit` seconds, loading of data and libraries not counted."""
        try:
            self._start()
            self._pipe.send(job)
            if self._pipe.recv() == "ready" and not self._pipe.poll(limit):
                self.stop()
                return {"status": TIMED_OUT, "limit": limit}
            return self._pipe.recv()
        except (EOFError, BrokenPipeError, ConnectionResetError):
            code = self._process.exitcode
            self.stop()
            return {"status": FAILED, "message": f"the process ended with status {code}"}

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
        self._process = self._pipe = None

    def _start(self) -> None:
        if self._process is not None:
            return
        context = get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other, self.threads, self.memory), daemon=True)
        before = dict(os.environ)
        os.environ |= dict.fromkeys(_THREADS, str(self.threads))  # read when the libraries are loaded
        try:
            self._process.start()
        finally:  # numba here would take a change for one of its own
            os.environ.clear()
            os.environ.update(before)
        other.close()


def computed(job: Job, threads: int = 1, pipe: Connection | None = None) -> dict[str, Any]:
    """Compute a job in this process; tell `pipe` when the data and the method are loaded."""
    from experiments.rivals.registry import METHODS
    from experiments.rivals.tasks import TASKS

    try:
        task, predict = TASKS[job.task], METHODS[job.method].load()
        problem, truth = task.problem(job.fold, job.small, threads)
    finally:
        if pipe is not None:
            pipe.send("ready")
    # the processor's time, of all threads: it does not depend on what else the machine does
    start, cpu = time.perf_counter(), time.process_time()
    predicted = predict(problem)
    wall, seconds = time.perf_counter() - start, time.process_time() - cpu
    values = task.score.values(problem.y, truth, predicted)
    value = float(np.mean(values))
    if not np.isfinite(value):
        raise ValueError("predictions are not finite")
    error = float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None
    return {"status": DONE, "value": value, "error": error, "seconds": round(seconds, 3), "wall": round(wall, 3)}


def _serve(pipe: Connection, threads: int, memory: float) -> None:
    """Answer jobs until the other end is closed."""
    from threadpoolctl import threadpool_limits

    with suppress(
        ImportError, ValueError, OSError
    ):  # systems without such limits, on which methods may take all memory
        import resource

        size = int(memory * 1e9)
        resource.setrlimit(resource.RLIMIT_AS, (size, size))
    with open(os.devnull, "w") as nowhere:  # the chatter of libraries
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    while True:
        try:
            job = pipe.recv()
        except EOFError:
            return
        try:
            with threadpool_limits(threads):
                outcome = computed(job, threads, pipe)
        except Exception as error:
            outcome = {"status": FAILED, "message": f"{type(error).__name__}: {error}"[:300]}
        pipe.send(outcome)
