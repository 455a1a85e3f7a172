"""Run the comparison, or report on the pieces there are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from experiments.rivals.experiment import SEPARATOR, TIME_LIMIT, Rivals, not_installed
from experiments.rivals.ranks import machine
from experiments.rivals.registry import METHODS
from experiments.rivals.report import Report
from experiments.rivals.tasks import TASKS
from experiments.runner import run_pieces
from mercer.core.files import written_atomically
from mercer.report import Result


def run(  # noqa: PLR0913 - one parameter for each option of the command
    folder: Path,
    *,
    tasks: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    small: bool = False,
    fresh: bool = False,
    jobs: int = 1,
    threads: int = 1,
    time_limit: float = TIME_LIMIT,
    earlier: Path | None = None,
    other_code: bool = False,
) -> Report:
    """Run the chosen tasks and methods, then report on all pieces in `folder`, those of earlier runs and of other machines too.

    With ``jobs=0`` nothing is run. `earlier` is a ``rivals.json`` that fills in the scores of methods without pieces, with
    `other_code` also of methods whose code has changed since. Writes ``rivals.json`` and ``rivals.html``.
    """
    chosen = tuple(METHODS) if methods is None else tuple(methods)
    wanted = Rivals(tasks, chosen, time_limit=time_limit, threads=threads)
    missing = not_installed(chosen)
    for name, package in missing.items():
        print(f"{name}: not installed ({package})")
    if jobs > 0:
        wanted.methods = tuple(name for name in chosen if name not in missing)
        run_pieces(wanted, folder, small=small, fresh=fresh, jobs=jobs)
    return report(folder, small=small, earlier=earlier, other_code=other_code)


def report(folder: Path, small: bool = False, earlier: Path | None = None, other_code: bool = False) -> Report:
    """Write the result and the page from the pieces in `folder`, and the scores of an earlier result where there are none."""
    pieces = folder / ".pieces" / ("rivals-small" if small else "rivals")
    begun = {path.name.partition(SEPARATOR)[0] for path in pieces.glob("*.json")}
    everything = Rivals([name for name in TASKS if name in begun], retry=False)
    records = [each for each in run_pieces(everything, folder, small=small, jobs=0) if each is not None]
    outcomes = [record["outcome"] for record in records]
    folds = {name: len(TASKS[name].data(small).folds) for name in dict.fromkeys(each["task"] for each in outcomes)}
    found, machines = Report.of(outcomes, folds), {machine(outcome) for outcome in outcomes}
    if earlier is not None:
        known = Result.read(earlier)
        source = "an earlier run on " + " or ".join(known.parameters["machines"])
        found, machines = found.filled(known.rows, source, other_code), machines | set(known.parameters["machines"])
    parameters = {"protocol": everything.protocol, "small": small, "machines": sorted(machines), "notes": found.notes()}
    seconds = round(sum(record["seconds"] for record in records), 2)
    result = Result(everything.name, found.rows(), parameters, seconds=seconds)
    result.to_json(folder / f"{everything.name}.json")
    with written_atomically(folder / f"{everything.name}.html") as temporary:
        text = found.page(everything.protocol, not_installed(METHODS), "; ".join(sorted(machines)))
        temporary.write_text(text, encoding="utf-8")
    return found
