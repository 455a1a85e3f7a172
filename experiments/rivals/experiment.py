"""The comparison as an experiment: a piece for each fold of a task and method."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from experiments.experiment import Experiment, Outcome, Piece
from experiments.rivals import scores
from experiments.rivals.registry import METHODS, Method
from experiments.rivals.tasks import TASKS, Task
from experiments.rivals.worker import DONE, TIMED_OUT, Job, Worker
from mercer.report import environment

SMALL_TASKS = ("linnerud", "iris")
TIME_LIMIT, MEMORY, SEPARATOR = 600.0, 12.0, "--"

_worker: Worker | None = None  # one for each process that runs pieces


class Rivals(Experiment):
    """Tasks × methods × folds; each piece has its own time limit.

    The fingerprint of a piece covers its data, its score and the module of its method with what that imports: pieces of rivals
    stay valid when this library changes, and pieces computed on another machine can be copied into the folder of pieces.

    Parameters
    ----------
    tasks, methods : sequences of str
        Names from `TASKS` and `METHODS`; all by default.
    time_limit : float
        Seconds for one fit with its predictions.
    threads : int
        Number of threads of each method.
    memory : float
        Most address space of a method, in gigabytes.
    retry : bool
        Compute again pieces that failed, and those stopped by a shorter limit; False to report on pieces as they are.
    """

    name = "rivals"
    title = "AutoEstimator and its rivals on the same folds"
    source = (
        "Not from the papers: public tasks with vectors, label sets, rankings, curves, classes and strings as outputs."
    )
    protocol = (
        "Multi-target sets: five shuffled folds, average relative root mean squared error against the training mean. "
        "Label sets: official splits, example F1. Label rankings: ten shuffled folds (sushi: five of 1,000 rows), Kendall's τ. "
        "Curves: ten folds, mean squared error. Strings: the splits of the shared tasks and 500 misspelled words among 5,000, "
        "share of wrong outputs. Digits: five folds, accuracy. Every method is tuned inside the training folds, "
        "as its docstring says, on the same folds for all."
    )

    def __init__(  # noqa: PLR0913 - a parameter for each option of the command
        self,
        tasks: Iterable[str] | None = None,
        methods: Iterable[str] | None = None,
        *,
        time_limit: float = TIME_LIMIT,
        threads: int = 1,
        memory: float = MEMORY,
        retry: bool = True,
    ) -> None:
        self.tasks = None if tasks is None else _known(tasks, TASKS, "task")
        self.methods = _known(METHODS if methods is None else methods, METHODS, "method")
        self.time_limit, self.threads, self.memory, self.retry = time_limit, threads, memory, retry

    def chosen(self, small: bool) -> list[Task]:
        """Return the tasks to run."""
        names = self.tasks if self.tasks is not None else SMALL_TASKS if small else tuple(TASKS)
        return [TASKS[name] for name in names]

    def pieces(self, small: bool) -> list[Piece]:
        """Return a piece for each fold, task by task, of every method that can do the task."""
        found = []
        for task in self.chosen(small):
            try:
                data = task.data(small)
            except FileNotFoundError as error:
                print(f"{task.name}: left out, {error}")
                continue
            digest = data.digest()
            found += [
                _piece(Job(task.name, fold, method.name, small), digest)
                for method in map(METHODS.__getitem__, self.methods)
                if task.kind in method.kinds
                for fold in range(len(data.folds))
            ]
        return found

    def code(self, piece: Piece) -> Sequence[Path]:
        """Return the module of the method and that of the scores."""
        return [METHODS[piece.settings["method"]].path, Path(scores.__file__)]

    def keeps(self, outcome: Outcome) -> bool:
        """Compute again a piece that failed, or that was stopped earlier than the limit is now."""
        if outcome["status"] == TIMED_OUT:
            return not self.retry or outcome["limit"] >= self.time_limit
        return not self.retry or outcome["status"] == DONE

    def run(self, piece: Piece) -> Outcome:
        """Run one fold of a task by one method."""
        global _worker
        settings = piece.settings
        job = Job(settings["task"], settings["fold"], settings["method"], settings["small"])
        if _worker is None or (_worker.threads, _worker.memory) != (self.threads, self.memory):
            _worker = Worker(self.threads, self.memory)
        outcome = _worker.outcome(job, self.time_limit)
        machine = {"cpu": environment()["cpu"], "threads": self.threads}
        return {"task": job.task, "fold": job.fold, "method": job.method, **machine, **outcome}


def _piece(job: Job, digest: str) -> Piece:
    key = SEPARATOR.join([job.task, job.method, f"{job.fold:02d}"])
    return Piece(key.replace(" ", "-").replace(",", ""), {**job._asdict(), "data": digest})


def _known(names: Iterable[str], known: dict[str, Any], what: str) -> tuple[str, ...]:
    chosen = tuple(names)
    wrong = [name for name in chosen if name not in known]
    if wrong:
        raise ValueError(f"there is no {what} {wrong[0]!r}; expected some of {', '.join(known)}")
    return chosen


def not_installed(methods: Iterable[str]) -> dict[str, str]:
    """Return the packages that methods miss, by method."""
    chosen: list[Method] = [METHODS[name] for name in methods]
    return {method.name: method.missing for method in chosen if method.missing is not None}
