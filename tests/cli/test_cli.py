import subprocess
import sys
import types
from pathlib import Path

import pytest

import mercer
from mercer.cli.main import main


def test_help_lists_what_there_is(mercer_command):
    status, out, _ = mercer_command("--help")
    assert status == 0
    assert "demo" in out
    assert "bench" in out
    assert "reproduce" in out
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


def test_missing_file_gets_one_line_and_status_2(mercer_command, monkeypatch):
    def absent(output, quick):
        raise FileNotFoundError("data.npz is nowhere")

    core = types.SimpleNamespace(main=absent)
    monkeypatch.setitem(sys.modules, "experiments.bench.core", core)
    assert mercer_command("bench", "core") == (2, "", "mercer: data.npz is nowhere\n")


def test_defects_keep_their_traceback(monkeypatch):
    def defective(output, quick):
        raise TypeError("a defect")

    core = types.SimpleNamespace(main=defective)
    monkeypatch.setitem(sys.modules, "experiments.bench.core", core)
    monkeypatch.setattr(sys, "argv", ["mercer", "bench", "core"])
    with pytest.raises(TypeError, match="a defect"):
        main()


def test_bench_hands_on_its_options(mercer_command, monkeypatch):
    calls = []
    core = types.SimpleNamespace(main=lambda output, quick: calls.append((output, quick)))
    monkeypatch.setitem(sys.modules, "experiments.bench.core", core)
    assert mercer_command("bench", "core")[0] == 0
    assert mercer_command("bench", "core", "--quick", "--output", "x.json")[0] == 0
    assert calls == [(None, False), (Path("x.json"), True)]


def test_unknown_benchmark(mercer_command):
    status, _, err = mercer_command("bench", "everything")
    assert status == 2
    assert "'everything' is not one of 'core'" in err
