import subprocess
import sys

import pytest

import mercer
import mercer.cli.demo
from mercer.cli.main import main


def test_help_lists_what_there_is(mercer_command):
    status, out, _ = mercer_command("--help")
    assert status == 0
    assert {"demo", "fit", "predict"} <= set(out.split())
    assert {"reproduce", "bench"}.isdisjoint(out.split())


def test_version(mercer_command):
    assert mercer_command("--version") == (0, f"mercer {mercer.__version__}\n", "")


def test_module_is_the_command():
    done = subprocess.run([sys.executable, "-m", "mercer", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"mercer {mercer.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--folds", 1), "mercer: folds is 1; expected 2 to 44"),
        (("--quick", "--folds", 8), "mercer: folds is 8; expected 2 to 7"),
        (("--output", __file__), "a file; expected a folder to write to"),
        (("--output", f"{__file__}/inside"), "Not a directory"),
    ],
)
def test_bad_arguments_get_one_line_and_status_2(mercer_command, arguments, message):
    status, out, err = mercer_command("demo", *arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "error",
    [
        FileNotFoundError("data.npz is nowhere"),
        MemoryError("a matrix of 80 GB does not fit"),
        ImportError("graphs need networkx; run 'pip install mercer[graphs]'"),
        ModuleNotFoundError("No module named 'sklearn'", name="sklearn"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_of_the_user_get_one_line_and_status_2(mercer_command, monkeypatch, error):
    monkeypatch.setattr("mercer.cli.demo.run", raising(error))
    assert mercer_command("demo") == (2, "", f"mercer: {error}\n")


@pytest.mark.parametrize(
    "error", [TypeError("a defect"), ImportError("cannot import name 'x' from 'mercer.core'", name="mercer.core")]
)
def test_defects_keep_their_traceback(monkeypatch, error):
    monkeypatch.setattr("mercer.cli.demo.run", raising(error))
    monkeypatch.setattr(sys, "argv", ["mercer", "demo"])
    with pytest.raises(type(error), match=str(error)):
        main()


def raising(error):
    def run(*arguments, **options):
        raise error

    return run
