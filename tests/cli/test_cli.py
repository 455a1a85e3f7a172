import subprocess
import sys

import pytest

import mercer


def test_help_lists_what_there_is(mercer_command):
    status, out, _ = mercer_command("--help")
    assert status == 0
    assert "demo" in out
    assert {"fit", "predict"} <= set(out.split())


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
