"""Rules that hold for the whole source: English, privacy of modules, imports, budgets, and the contents of the wheel."""

import ast
import re
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LIBRARY = sorted((ROOT / "src" / "mercer").rglob("*.py"))
EXPERIMENTS = sorted((ROOT / "experiments").rglob("*.py"))

MOST_LINES = 47_850
MOST_ISINSTANCE = 6.0
"""Budgets: lines of the library, and calls of isinstance in 1,000 lines of it."""


@cache
def tree(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def module_name(path):
    parts = path.relative_to(ROOT / "src" if path.is_relative_to(ROOT / "src") else ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def docstrings(path):
    """(line, text) of the docstrings of a module, its classes, functions and attributes: strings that stand alone."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value


def imported(path):
    """(line, module) of every import in a file; of ``from a import b`` both a and a.b, which may be a module."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def test_docstrings_begin_with_a_verb_or_a_noun():
    questions = [
        f"{path.relative_to(ROOT)}:{line}: {text.strip()[:60]}"
        for path in LIBRARY + EXPERIMENTS
        for line, text in docstrings(path)
        if re.match(r"\s*(What|Which|How)\b", text)
    ]
    assert not questions, "\n".join(questions)


def is_private_module(name):
    """Whether a dotted name is, or lies in, a module of ours whose name begins with an underscore."""
    base = ROOT if name.startswith("experiments.") else ROOT / "src"
    parts = name.split(".")
    private = [i for i, part in enumerate(parts) if part.startswith("_") and not part.startswith("__")]
    path = base.joinpath(*parts[: private[0] + 1]) if private else base
    return bool(private) and (path.with_suffix(".py").exists() or path.is_dir())


def test_private_modules_stay_in_their_room():
    """A room is a folder of `mercer` or of `experiments`; `mercer._version` belongs to all."""
    crossings = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in LIBRARY + EXPERIMENTS
        for line, name in imported(path)
        if name.split(".")[0] in ("mercer", "experiments")
        and is_private_module(name)
        and not name.startswith("mercer._version")
        and module_name(path).split(".")[:2] != name.split(".")[:2]
    ]
    assert not crossings, "\n".join(crossings)


def test_imports_are_absolute():
    """The rules of imports, here and in pyproject.toml, read absolute names."""
    relative = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in LIBRARY + EXPERIMENTS
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert not relative


POSIX = {"fcntl", "grp", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty"}
"""Modules that Windows does not have."""


def test_modules_can_be_imported_on_every_system():
    """Imports of POSIX stand in functions or are tried; tests import doctests of the experiments too."""
    bound = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in LIBRARY + EXPERIMENTS + sorted((ROOT / "tests").rglob("*.py"))
        for node in tree(path).body
        if isinstance(node, ast.Import | ast.ImportFrom)
        and POSIX & {getattr(node, "module", None), *(alias.name for alias in node.names)}
    ]
    assert not bound, "\n".join(bound)


def library_lines():
    return sum(path.read_bytes().count(b"\n") for path in LIBRARY)


def test_lines_are_within_budget():
    assert library_lines() <= MOST_LINES


def test_isinstance_calls_are_within_budget():
    calls = sum(
        isinstance(node, ast.Call) and getattr(node.func, "id", None) == "isinstance"
        for path in LIBRARY
        for node in ast.walk(tree(path))
    )
    assert 1000 * calls / library_lines() <= MOST_ISINSTANCE, f"{calls} calls in {library_lines()} lines"


@pytest.mark.parametrize(
    ("statement", "absent"),
    [
        ("import mercer", {"numpy", "sklearn", "numba", "typer", "rich", "mercer.testing"}),
        ("from mercer import DependencyEstimator", {"numba", "typer", "skops", "mercer.testing", "mercer.report"}),
        ("import mercer.report", {"typer", "rich", "sklearn", "mercer.cli"}),
        ("import mercer.cli.main", {"numpy", "sklearn", "numba", "mercer.estimators"}),
    ],
)
def test_imports_are_lean(statement, absent):
    code = f"{statement}; import sys; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert absent.isdisjoint(loaded)


def test_wheel_holds_the_library_its_types_and_nothing_else(tmp_path):
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {"mercer/py.typed", "mercer/datasets/SHA256SUMS", "mercer/report/style.css", "mercer/__init__.py"} <= set(
        names
    )
    folders = {name.split("/")[0] for name in names}
    assert {folder for folder in folders if not folder.endswith(".dist-info")} == {"mercer"}
    assert not [name for name in names if "experiments" in name or "test_" in name]


def test_names_of_test_files_are_unique():
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert sorted(set(names)) == sorted(names), "pytest imports test files by their names"
