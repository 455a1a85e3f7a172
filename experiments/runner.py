"""Run an experiment piece by piece; finished pieces are kept, so that a stopped run is resumed."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import Any

from threadpoolctl import threadpool_limits

from experiments.experiment import Experiment, Outcome, Piece
from experiments.fingerprint import code_fingerprint
from experiments.page import experiment_page
from mercer.core.files import written_atomically
from mercer.report import Result, tracked

Record = dict[str, Any]
"""Record of a finished piece: its seconds and its outcome."""


class Stopped(KeyboardInterrupt):
    """A run was stopped; its finished pieces are kept."""


def reproduce(
    experiment: Experiment, folder: Path, *, small: bool = False, fresh: bool = False, jobs: int = 1
) -> Result:
    """Run the pieces of `experiment` that are not finished, and write its JSON file and its page into `folder`.

    A finished piece is used again if its settings and the code it was computed by are still the same.

    Parameters
    ----------
    experiment : Experiment
        The experiment to run.
    folder : Path
        Folder for ``<name>.json``, ``<name>.html`` and the pieces (``.pieces/<name>/``).
    small : bool
        Run the small version, which takes seconds.
    fresh : bool
        Discard the pieces of an earlier run.
    jobs : int
        Number of pieces run in parallel, each in its own process with its share of the cores.
    """
    records = run_pieces(experiment, folder, small=small, fresh=fresh, jobs=jobs)
    return _write(experiment, folder, small, [record for record in records if record is not None])


def run_pieces(
    experiment: Experiment, folder: Path, *, small: bool = False, fresh: bool = False, jobs: int = 1
) -> list[Record | None]:
    """Run the pieces of `experiment` that are not finished; return the records of all, as `reproduce` takes them.

    With ``jobs=0`` nothing is run, and pieces that are not finished have None for a record.
    """
    pieces = experiment.pieces(small)
    kept = folder / ".pieces" / (f"{experiment.name}-small" if small else experiment.name)
    code = cache(code_fingerprint)
    digests = ["".join(code(path) for path in experiment.code(piece)) for piece in pieces]
    prints = [_fingerprint(experiment, piece, digest) for piece, digest in zip(pieces, digests, strict=True)]
    work = [(experiment, piece, kept / f"{piece.key}.json", mark) for piece, mark in zip(pieces, prints, strict=True)]
    records = [None if fresh else _read(path, mark, quiet=jobs == 0) for _, _, path, mark in work]
    records = [record if record is not None and experiment.keeps(record["outcome"]) else None for record in records]
    left = [number for number, record in enumerate(records) if record is None and jobs > 0]
    try:
        with tracked(experiment.name, len(left)) as step:
            for number, record in zip(left, _in_order([work[number] for number in left], jobs, step), strict=True):
                records[number] = record
    except (KeyboardInterrupt, BrokenProcessPool) as error:
        done = sum(_read(path, fingerprint, quiet=True) is not None for _, _, path, fingerprint in work)
        why = "stopped" if isinstance(error, KeyboardInterrupt) else "a worker was killed"
        raise Stopped(
            f"{why}; {done} of {len(pieces)} pieces of {experiment.name} are kept, the same command resumes"
        ) from None
    return records


def _write(experiment: Experiment, folder: Path, small: bool, records: list[Record]) -> Result:
    outcomes: list[Outcome] = [record["outcome"] for record in records]
    seconds = sum(record["seconds"] for record in records)
    parameters = {"protocol": experiment.protocol, "small": small} | experiment.parameters(small)
    result = Result(
        experiment.name, experiment.rows(outcomes), parameters, experiment.seeds(small), seconds=round(seconds, 2)
    )
    result.to_json(folder / f"{experiment.name}.json")
    with written_atomically(folder / f"{experiment.name}.html") as temporary:
        temporary.write_text(experiment_page(experiment, result, outcomes), encoding="utf-8")
    return result


Work = tuple[Experiment, Piece, Path, str]


def _in_order(work: list[Work], jobs: int, step: Callable[[str], None]) -> Iterator[Record]:
    """Run the pieces, one by one or several at a time, and yield their records in order."""
    if jobs == 1 or len(work) < 2:
        for each in work:
            step(each[1].key)
            yield _run(*each)
        return
    threads = max(1, (os.cpu_count() or 1) // jobs)
    # spawned, not forked: a fork inherits the threads of BLAS and Numba in an unknown state
    with ProcessPoolExecutor(
        jobs, mp_context=get_context("spawn"), initializer=_limit_threads, initargs=(threads,)
    ) as pool:
        futures = [pool.submit(_run, *each) for each in work]
        try:
            for (_, piece, _, _), future in zip(work, futures, strict=True):
                step(piece.key)
                yield future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


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
    start = time.perf_counter()
    outcome = experiment.run(piece)
    # the round trip makes an outcome read back the same as one just computed
    record = {"seconds": time.perf_counter() - start, "outcome": json.loads(_text(outcome))}
    body = _text(record)
    envelope = {"fingerprint": fingerprint, "sha256": _sha256(body), "record": record}
    with written_atomically(path) as temporary:
        temporary.write_text(_text(envelope), encoding="utf-8")
    return record


def _read(path: Path, fingerprint: str, quiet: bool = False) -> Record | None:
    """Read the record of a finished piece; None if there is no file, or if it cannot be used."""
    if not path.is_file():
        return None
    try:
        envelope = json.loads(path.read_text(encoding="utf-8"))
        record = envelope["record"]
        whole = envelope["sha256"] == _sha256(_text(record)) and {"seconds", "outcome"} <= record.keys()
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
