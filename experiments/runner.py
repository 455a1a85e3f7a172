"""Running an experiment: piece by piece, each kept as soon as it is done, so that a second run goes on where one stopped."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from experiments.experiment import Experiment, Outcome, Piece
from experiments.page import experiment_page
from mercer.core.files import written_atomically
from mercer.report import Result, tracked


class Stopped(KeyboardInterrupt):
    """A run was stopped; what it had finished is kept."""


def reproduce(
    experiment: Experiment,
    folder: Path,
    *,
    small: bool = False,
    fresh: bool = False,
    jobs: int = 1,
    say: Callable[[str], None] = print,
) -> Result:
    """Run `experiment`, or what is left of it, and write its JSON and its page into `folder`.

    Parameters
    ----------
    experiment : Experiment
        What to run.
    folder : Path
        Where ``<name>.json``, ``<name>.html`` and the pieces (``.pieces/<name>/``) go.
    small : bool
        The small version, which takes seconds.
    fresh : bool
        Forget what an earlier run finished.
    jobs : int
        How many pieces are run at a time, each in a process of its own that has its share of the cores.
    say : callable
        Where notices go.
    """
    pieces = experiment.pieces(small)
    kept = folder / ".pieces" / (f"{experiment.name}-small" if small else experiment.name)
    paths = [kept / f"{piece.key}.json" for piece in pieces]
    fingerprints = [_fingerprint(experiment, piece) for piece in pieces]
    records = [
        None if fresh else _read(path, fingerprint, say) for path, fingerprint in zip(paths, fingerprints, strict=True)
    ]
    left = [number for number, record in enumerate(records) if record is None]
    work = [(experiment, pieces[number], paths[number], fingerprints[number]) for number in left]
    try:
        with tracked(experiment.name, len(left)) as step:
            for number, record in zip(left, _in_order(work, jobs, step), strict=True):
                records[number] = record
    except KeyboardInterrupt:
        kept_now = (_read(path, own, lambda _: None) for path, own in zip(paths, fingerprints, strict=True))
        done = sum(record is not None for record in kept_now)
        raise Stopped(
            f"stopped; {done} of {len(pieces)} pieces of {experiment.name} are kept, the same command goes on"
        ) from None
    found = [record for record in records if record is not None]
    outcomes: list[Outcome] = [record["outcome"] for record in found]
    seconds = sum(record["seconds"] for record in found)
    rows = experiment.rows(outcomes)
    parameters = {"protocol": experiment.protocol, "small": small} | experiment.parameters(small)
    result = Result(experiment.name, rows, parameters, experiment.seeds(small), seconds=round(seconds, 2))
    result.to_json(folder / f"{experiment.name}.json")
    with written_atomically(folder / f"{experiment.name}.html") as temporary:
        temporary.write_text(experiment_page(experiment, result, outcomes), encoding="utf-8")
    return result


Work = tuple[Experiment, Piece, Path, str]


def _in_order(work: list[Work], jobs: int, step: Callable[[str], None]) -> Iterator[dict[str, Any]]:
    """The records of the pieces, run one by one or several at a time."""
    if jobs == 1 or len(work) < 2:
        for each in work:
            step(each[1].key)
            yield _run(*each)
        return
    threads = max(1, (os.cpu_count() or 1) // jobs)
    # processes started afresh: one that is forked inherits the threads of BLAS and Numba in an unknown state
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


def _limit_threads(threads: int) -> None:
    import numba

    numba.set_num_threads(min(threads, numba.get_num_threads()))
    threadpool_limits(threads)


def _run(experiment: Experiment, piece: Piece, path: Path, fingerprint: str) -> dict[str, Any]:
    start = time.perf_counter()
    outcome = experiment.run(piece)
    # the round trip makes an outcome read back the same as one just computed
    record = {"seconds": time.perf_counter() - start, "outcome": json.loads(_text(outcome))}
    body = _text(record)
    envelope = {"fingerprint": fingerprint, "sha256": _sha256(body), "record": record}
    with written_atomically(path) as temporary:
        temporary.write_text(_text(envelope), encoding="utf-8")
    return record


def _read(path: Path, fingerprint: str, say: Callable[[str], None]) -> dict[str, Any] | None:
    """The record of a finished piece; None where there is none, or where it cannot be used."""
    if not path.is_file():
        return None
    try:
        envelope = json.loads(path.read_text(encoding="utf-8"))
        record = envelope["record"]
        whole = envelope["sha256"] == _sha256(_text(record)) and {"seconds", "outcome"} <= record.keys()
        current = envelope["fingerprint"] == fingerprint
    except (ValueError, KeyError, TypeError, AttributeError):
        whole = current = False
    else:
        if whole and not current:
            say(f"{path.name}: from another version or other settings; done again")
            return None
    if not whole:
        say(f"{path.name}: damaged; done again")
        return None
    return record


def _fingerprint(experiment: Experiment, piece: Piece) -> str:
    """What a kept piece must agree with: the settings, and the source it was computed by."""
    return _sha256(_text([experiment.name, piece.key, piece.settings, _source()]))


def _source() -> str:
    """A digest of the library's own source, taken once."""
    global _SOURCE
    if _SOURCE is None:
        root = Path(__file__).parent.parent
        texts = (path.read_bytes() for path in sorted(root.rglob("*.py")))
        _SOURCE = hashlib.sha256(b"\0".join(texts)).hexdigest()
    return _SOURCE


_SOURCE: str | None = None


def _text(content: Any) -> str:
    return json.dumps(content, sort_keys=True, ensure_ascii=False, allow_nan=False)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
