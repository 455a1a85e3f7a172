"""Run an experiment piece by piece; finished pieces are kept, so that a stopped run is resumed."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import cache, partial
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import Any

from threadpoolctl import threadpool_limits

from experiments.experiment import Experiment, Outcome, Piece
from experiments.fingerprint import code_fingerprint
from experiments.page import experiment_page
from mercer.core.files import written_atomically
from mercer.report import Result, environment, tracked

Record = dict[str, Any]
"""Record of a finished piece: its core-seconds, its outcome, and the environment it was computed in."""


class Stopped(KeyboardInterrupt):
    """A run was stopped; its finished pieces are kept."""


def reproduce(
    experiment: Experiment, folder: Path, *, small: bool = False, fresh: bool = False, jobs: int = 1
) -> Result:
    """Run one experiment, as `reproduce_all` does."""
    (result,) = reproduce_all([experiment], folder, small=small, fresh=fresh, jobs=jobs)
    return result


def reproduce_all(
    experiments: Sequence[Experiment], folder: Path, *, small: bool = False, fresh: bool = False, jobs: int = 1
) -> Iterator[Result]:
    """Run the pieces of `experiments` that are not finished; yield results in order, each when its pieces are complete.

    A finished piece is used again if its settings and the code it was computed by are still the same.

    Parameters
    ----------
    experiments : sequence of Experiment
        The experiments to run; their pieces share the processes, so that none waits for the last piece of an experiment.
    folder : Path
        Folder for ``<name>.json``, ``<name>.html`` and the pieces (``.pieces/<name>/``).
    small : bool
        Run the small versions, which take seconds.
    fresh : bool
        Discard the pieces of an earlier run.
    jobs : int
        Number of pieces run in parallel, each in its own process with its share of the cores.
    """
    runs = [_Run(each, folder, small, fresh) for each in experiments]
    with _workers(jobs, sum(len(run.left) for run in runs)) as submit:
        for run in runs:
            run.begin(submit)
        for run in runs:
            yield _write(run.experiment, folder, small, [record for record in run.finish() if record is not None])


def run_pieces(
    experiment: Experiment, folder: Path, *, small: bool = False, fresh: bool = False, jobs: int = 1
) -> list[Record | None]:
    """Run the pieces of `experiment` that are not finished; return the records of all, as `reproduce` takes them.

    With ``jobs=0`` nothing is run, and pieces that are not finished have None for a record.
    """
    run = _Run(experiment, folder, small, fresh, quiet=jobs == 0)
    if jobs == 0:
        return run.records
    with _workers(jobs, len(run.left)) as submit:
        run.begin(submit)
        return run.finish()


Work = tuple[Experiment, Piece, Path, str]
Submit = Callable[[Work], Callable[[], Record]]
"""Take a piece of work; the function that is returned waits for its record."""


class _Run:
    """Pieces of an experiment: the records of those that are finished, and the work that is left."""

    def __init__(self, experiment: Experiment, folder: Path, small: bool, fresh: bool, quiet: bool = False) -> None:
        pieces = experiment.pieces(small)
        kept = folder / ".pieces" / (f"{experiment.name}-small" if small else experiment.name)
        code = cache(code_fingerprint)
        digests = ["".join(code(path) for path in experiment.code(piece)) for piece in pieces]
        prints = [_fingerprint(experiment, piece, digest) for piece, digest in zip(pieces, digests, strict=True)]
        self.experiment = experiment
        self.work: list[Work] = [
            (experiment, piece, kept / f"{piece.key}.json", mark) for piece, mark in zip(pieces, prints, strict=True)
        ]
        found = [None if fresh else _read(path, mark, quiet) for _, _, path, mark in self.work]
        self.records = [
            record if record is not None and experiment.keeps(record["outcome"]) else None for record in found
        ]
        self.left = [number for number, record in enumerate(self.records) if record is None]
        self._waiting: list[Callable[[], Record]] = []

    def begin(self, submit: Submit) -> None:
        """Submit the work that is left."""
        self._waiting = [submit(self.work[number]) for number in self.left]

    def finish(self) -> list[Record | None]:
        """Wait for the work and return all records; raise Stopped if the run is stopped."""
        try:
            with tracked(self.experiment.name, len(self.left)) as step:
                for number, record in zip(self.left, self._waiting, strict=True):
                    step(self.work[number][1].key)
                    self.records[number] = record()
        except (KeyboardInterrupt, BrokenProcessPool) as error:
            done = sum(_read(path, mark, quiet=True) is not None for _, _, path, mark in self.work)
            why = "stopped" if isinstance(error, KeyboardInterrupt) else "a worker was killed"
            kept = f"{done} of {len(self.work)} pieces of {self.experiment.name} are kept"
            raise Stopped(f"{why}; {kept}, the same command resumes") from None
        return self.records


@contextmanager
def _workers(jobs: int, count: int) -> Iterator[Submit]:
    """Yield the function that takes work: in this process, when its record is asked for, or in several at once."""
    if jobs == 1 or count < 2:
        yield lambda work: partial(_run, *work)
        return
    threads = max(1, (os.cpu_count() or 1) // jobs)
    # spawned, not forked: a fork inherits the threads of BLAS and Numba in an unknown state
    with ProcessPoolExecutor(
        jobs, mp_context=get_context("spawn"), initializer=_limit_threads, initargs=(threads,)
    ) as pool:
        try:
            yield lambda work: pool.submit(_run, *work).result
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _write(experiment: Experiment, folder: Path, small: bool, records: list[Record]) -> Result:
    outcomes: list[Outcome] = [record["outcome"] for record in records]
    seconds = sum(record["seconds"] for record in records)
    parameters = {"protocol": experiment.protocol, "small": small} | experiment.parameters(small)
    examples = experiment.examples(outcomes)
    parameters |= {"examples": [table.content() for table in examples]} if examples else {}
    result = Result(
        experiment.name,
        experiment.rows(outcomes),
        parameters,
        experiment.seeds(small),
        joined_environments([record["environment"] for record in records]),
        round(seconds, 2),
    )
    result.to_json(folder / f"{experiment.name}.json")
    with written_atomically(folder / f"{experiment.name}.html") as temporary:
        temporary.write_text(experiment_page(experiment, result, outcomes), encoding="utf-8")
    return result


def joined_environments(environments: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the environment of pieces that were computed on several machines, different values side by side.

    Examples
    --------
    >>> joined_environments([{"cpu": "a", "cores": 2}, {"cpu": "b", "cores": 2}])
    {'cpu': 'a and b', 'cores': 2}
    """
    joined = {}
    for name in environments[0]:
        values = list(dict.fromkeys(each[name] for each in environments))
        joined[name] = values[0] if len(values) == 1 else " and ".join(map(str, values))
    return joined


def _end_with(parent: Any) -> None:
    parent.join()
    os._exit(1)


def _limit_threads(threads: int) -> None:
    import numba

    parent = parent_process()
    if parent is not None:
        # a run that is killed cannot tell its workers to end
        Thread(target=_end_with, args=(parent,), daemon=True).start()
    numba.set_num_threads(min(threads, numba.get_num_threads()))
    threadpool_limits(threads)


def _run(experiment: Experiment, piece: Piece, path: Path, fingerprint: str) -> Record:
    start = core_seconds()
    outcome = experiment.run(piece)
    # the round trip makes an outcome read back the same as one just computed
    record = {
        "seconds": core_seconds() - start,
        "outcome": json.loads(_text(outcome)),
        "environment": environment(),
    }
    body = _text(record)
    envelope = {"fingerprint": fingerprint, "sha256": _sha256(body), "record": record}
    with written_atomically(path) as temporary:
        temporary.write_text(_text(envelope), encoding="utf-8")
    return record


def core_seconds() -> float:
    """Return the processor time of this process, of all its threads and of its finished children."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def _read(path: Path, fingerprint: str, quiet: bool = False) -> Record | None:
    """Read the record of a finished piece; None if there is no file, or if it cannot be used."""
    if not path.is_file():
        return None
    try:
        envelope = json.loads(path.read_text(encoding="utf-8"))
        record = envelope["record"]
        whole = envelope["sha256"] == _sha256(_text(record)) and {"seconds", "outcome", "environment"} <= record.keys()
        current = envelope["fingerprint"] == fingerprint
    except (ValueError, KeyError, TypeError, AttributeError):
        whole = current = False
    if whole and current:
        return record
    if not quiet:
        reason = "from other code or other settings" if whole else "damaged"
        print(f"{path.name}: {reason}; computed again", file=sys.stderr)
    return None


def _fingerprint(experiment: Experiment, piece: Piece, code: str) -> str:
    """Digest of the settings of a piece and of the code that computes it."""
    return _sha256(_text([experiment.name, piece.key, piece.settings, code]))


def _text(content: Any) -> str:
    return json.dumps(content, sort_keys=True, ensure_ascii=False, allow_nan=False)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
