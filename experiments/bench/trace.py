"""``bench trace``: files a fit crosses, checks of its vectors, size of the library and time of its import."""

from __future__ import annotations

import ast
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import mercer
from experiments.bench import problems
from experiments.bench.reporting import finish
from experiments.bench.timing import Bar, Rows, Task, interleaved, ratio_row, row
from mercer import DependencyEstimator
from mercer.report import Result, tracked

LIBRARY = Path(mercer.__file__).parent

VECTORS = (100, 5, 3)
"""Pairs, inputs and outputs of the fit that is traced."""

CHECKS = {
    "as_vectors": LIBRARY / "core" / "collections.py",
    "check_array": Path("sklearn", "utils", "validation.py"),
    "validate_data": Path("sklearn", "utils", "validation.py"),
}
"""Functions that validate vectors, and the ends of the paths of their files."""

FILES = {"fit": Bar(15), "predict": Bar(8)}
LINES, ISINSTANCE, IMPORT, HELP = Bar(27_000), Bar(6.0), Bar(1.3), Bar(1.0)
"""Bars: lines, calls per 1,000 lines, import time as a ratio, and seconds that ``mercer --help`` takes beyond."""


def main(output: Path | None = None, quick: bool = False) -> None:
    """Trace and measure, print the table, and write the result as JSON to `output` if it is given."""
    result = measure(rounds=1 if quick else 7)
    finish(result, output)
    for each in result.rows:
        if "files" in each:
            print(f"{each['method']}: {' '.join(each['files'])}")


def measure(rounds: int) -> Result:
    """Make the rows of all parts; each time is the fastest of `rounds`."""
    begin, rows = time.perf_counter(), []
    with tracked("bench trace", 3) as step:
        step("calls")
        rows += call_rows()
        step("source")
        rows += source_rows()
        step("imports")
        rows += import_rows(rounds)
    parameters = {"n": VECTORS[0], "d": VECTORS[1], "p": VECTORS[2], "rounds": rounds}
    return Result("bench-trace", rows, parameters, [problems.SEED], seconds=time.perf_counter() - begin)


@dataclass
class Trace:
    """Calls of functions of the library, in the order they are made.

    A room is a folder of the library, or a module at its top. A call changes the room if its nearest caller in the library is
    in another room.
    """

    files: set[str] = field(default_factory=set)
    room_changes: int = 0
    checks: Counter[str] = field(default_factory=Counter)

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Count a call; the signature is that of `sys.setprofile`."""
        if event != "call":
            return
        code = frame.f_code
        if code.co_name in CHECKS and code.co_filename.endswith(str(CHECKS[code.co_name])):
            self.checks[code.co_name] += 1
        room = _room(code.co_filename)
        if room is None or code.co_name == "<module>":
            return
        self.files.add(code.co_filename)
        caller = _caller_room(frame)
        self.room_changes += caller is not None and caller != room


def trace(task: Callable[[], Any]) -> Trace:
    """Trace `task`, after a first run that loads and compiles what it needs."""
    task()
    found, before = Trace(), sys.getprofile()
    sys.setprofile(found)
    try:
        task()
    finally:
        sys.setprofile(before)
    return found


def call_rows() -> Rows:
    """Count the files, the room changes and the checks of a fit on vectors and of a prediction."""
    n, d, p = VECTORS
    random = np.random.default_rng(problems.SEED)
    X, Y = random.standard_normal((n, d)), random.standard_normal((n, p))
    tasks: dict[str, Task] = {
        "fit": lambda: DependencyEstimator().fit(X, Y),
        "predict": partial(DependencyEstimator().fit(X, Y).predict, X),
    }
    rows = []
    for name, task in tasks.items():
        found = trace(task)
        files = sorted(Path(file).relative_to(LIBRARY).as_posix() for file in found.files)
        rows.append(row(name, "files of mercer", [len(files)], FILES[name], n=n, files=files))
        rows.append(row(name, "room changes", [found.room_changes], n=n))
        rows += [row(name, f"calls of {check}", [found.checks[check]], n=n) for check in CHECKS]
    return rows


def source_rows() -> Rows:
    """Count the lines of the library and its calls of isinstance."""
    texts = [path.read_text(encoding="utf-8") for path in LIBRARY.rglob("*.py")]
    lines = sum(text.count("\n") for text in texts)
    calls = sum(map(_isinstance_calls, texts))
    return [
        row("src/mercer", "lines", [lines], LINES),
        row("src/mercer", "isinstance per 1,000 lines", [1000 * calls / lines], ISINSTANCE, calls=calls),
    ]


def import_rows(rounds: int) -> Rows:
    """Measure the time of imports and of ``mercer --help``, each in a fresh process; names of mercer are imported lazily."""
    tasks: dict[str, Task] = {
        "mercer": partial(_python, "-c", "import mercer"),
        "estimator": partial(_python, "-c", "from mercer import DependencyEstimator"),
        "help": partial(_python, "-m", "mercer", "--help"),
        "reference": partial(_python, "-c", "import sklearn.linear_model, scipy.linalg"),
    }
    seconds = interleaved(tasks, rounds)
    reference, metric = seconds["reference"], "× import sklearn.linear_model, scipy.linalg"
    beyond = float(seconds["help"].min() - reference.min())
    return [
        ratio_row("import mercer", metric, (seconds["mercer"], reference), IMPORT),
        ratio_row("from mercer import DependencyEstimator", metric, (seconds["estimator"], reference)),
        row("mercer --help", "seconds beyond that import", [beyond], HELP, reference_seconds=float(reference.min())),
    ]


def _python(*arguments: str) -> None:
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"python {' '.join(arguments)} failed: {done.stderr.strip()}")


def _isinstance_calls(text: str) -> int:
    calls = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    return sum(isinstance(call.func, ast.Name) and call.func.id == "isinstance" for call in calls)


def _caller_room(frame: FrameType) -> str | None:
    above = frame.f_back
    while above is not None:
        room = _room(above.f_code.co_filename)
        if room is not None:
            return room
        above = above.f_back
    return None


@cache
def _room(filename: str) -> str | None:
    """Return the folder of the library that a file is in (or its module at the top); None for other files."""
    path = Path(filename)
    return path.relative_to(LIBRARY).parts[0] if path.is_relative_to(LIBRARY) else None
