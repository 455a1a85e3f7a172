"""Command line: ``python -m experiments`` and the targets of the Makefile."""

import json
import shutil
import subprocess
import sys
import types
from pathlib import Path

import pytest

from experiments import command, registry
from experiments.comparison import compare_folders, compare_rows
from experiments.experiment import Experiment, Piece, mean_row

ROOT = Path(__file__).parents[2]


class Toy(Experiment):
    name = "toy"
    title = "A toy"
    source = "Nobody, Table 0"
    protocol = "Three seeds."

    def __init__(self, stop_at=None):
        self.ran = []
        self.stop_at = stop_at

    def pieces(self, small):
        return [Piece(f"seed-{seed}", {"seed": seed}) for seed in range(1 if small else 3)]

    def run(self, piece):
        if piece.settings["seed"] == self.stop_at:
            raise KeyboardInterrupt
        self.ran.append(piece.key)
        return {"loss": 0.1 + 0.2 * piece.settings["seed"]}

    def rows(self, outcomes):
        return [mean_row([outcome["loss"] for outcome in outcomes], "ours", "loss", paper=0.25)]


@pytest.fixture
def experiments_command(monkeypatch, capsys):
    """Run the command in this process; returns its exit status, stdout and stderr."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["experiments", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            command.main()
        captured = capsys.readouterr()
        return stopped.value.code or 0, captured.out, captured.err

    return run


def test_module_is_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "experiments", "--help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert {"reproduce", "rivals", "bench", "compare", "summary"} <= set(done.stdout.split())


def test_a_stopped_run_is_resumed_and_summarised(experiments_command, monkeypatch, tmp_path):
    made = []

    def toys(name):
        made.append(Toy(stop_at=2 if not made else None))
        return made[-1]

    monkeypatch.setattr(registry, "EXPERIMENTS", {"toy": ""})
    monkeypatch.setattr(registry, "experiment", toys)
    status, _, err = experiments_command("reproduce", "toy", "--output", tmp_path)
    assert status == 130
    assert "2 of 3 pieces of toy are kept" in err
    status, out, _ = experiments_command("reproduce", "all", "--output", tmp_path)
    assert status == 0
    assert "1 experiments in " in out
    assert "core-seconds" in out
    assert made[1].ran == ["seed-2"]
    assert "toy.html" in out
    assert experiments_command("summary", tmp_path, tmp_path / "results.md")[0] == 0
    assert "0.3000 ± 0.1155" in (tmp_path / "results.md").read_text(encoding="utf-8")
    assert "Nobody, Table 0" in experiments_command("reproduce", "--list")[1]


def test_list_names_every_experiment(experiments_command):
    status, out, _ = experiments_command("reproduce", "--list")
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()[::2]] == list(registry.EXPERIMENTS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("reproduce",), "no experiment was named"),
        (("reproduce", "weston-table9"), "there is no experiment 'weston-table9'"),
        (("compare", "nowhere", "results"), "nowhere is not a folder"),
        (("compare", "tests", "results"), "tests has no results"),
    ],
)
def test_bad_arguments_get_one_line_and_status_2(experiments_command, monkeypatch, arguments, message):
    monkeypatch.chdir(ROOT)
    status, out, err = experiments_command(*arguments)
    assert (status, out) == (2, "")
    assert err.startswith("experiments: ")
    assert message in err
    assert err.count("\n") == 1


def test_missing_file_gets_one_line_and_status_2(experiments_command, monkeypatch):
    def absent(output, quick):
        raise FileNotFoundError("data.npz is nowhere")

    monkeypatch.setitem(sys.modules, "experiments.bench.core", types.SimpleNamespace(main=absent))
    assert experiments_command("bench", "core") == (2, "", "experiments: data.npz is nowhere\n")


def test_defects_keep_their_traceback(monkeypatch):
    def defective(output, quick):
        raise TypeError("a defect")

    monkeypatch.setitem(sys.modules, "experiments.bench.core", types.SimpleNamespace(main=defective))
    monkeypatch.setattr(sys, "argv", ["experiments", "bench", "core"])
    with pytest.raises(TypeError, match="a defect"):
        command.main()


def test_bench_hands_on_its_options(experiments_command, monkeypatch):
    calls = []
    core = types.SimpleNamespace(main=lambda output, quick: calls.append((output, quick)))
    monkeypatch.setitem(sys.modules, "experiments.bench.core", core)
    assert experiments_command("bench", "core")[0] == 0
    assert experiments_command("bench", "core", "--quick", "--output", "x.json")[0] == 0
    assert calls == [(None, False), (Path("x.json"), True)]


def test_unknown_benchmark(experiments_command):
    status, _, err = experiments_command("bench", "everything")
    assert status == 2
    assert "'everything' is not one of 'alpha'" in err


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["reproduce", "NAME=gait", "SMALL=1", "JOBS=2"], "-m experiments reproduce gait --small --jobs 2"),
        (["reproduce"], "-m experiments reproduce --list"),
        (
            ["rivals", "SMALL=1", "JOBS=2", "OPTIONS=--tasks jura"],
            "-m experiments rivals --small --jobs 2 --tasks jura",
        ),
        (["bench", "NAME=core", "QUICK=1"], "-m experiments bench core --quick"),
    ],
)
def test_make_targets_call_the_command(arguments, expected):
    done = subprocess.run(["make", "--dry-run", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    assert expected in " ".join(done.stdout.split())


ROW = {"method": "KDE", "metric": "loss", "value": 0.5, "error": None}
TIME = {"method": "KDE", "metric": "CPU seconds, in those of the recipe", "value": 2.0, "error": 0.1}


def write(folder, name="weston-table3", rows=(ROW, TIME)):
    folder.mkdir(exist_ok=True)
    content = {"experiment": name, "rows": list(rows), "parameters": {}, "seeds": [], "environment": {}, "seconds": 1.0}
    (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")


def test_compare_accepts_rounding_and_times(experiments_command, tmp_path):
    write(tmp_path / "a")
    write(tmp_path / "b", rows=[ROW | {"value": 0.5 + 1e-10}, TIME | {"value": 3.0, "error": 0.2}])
    write(tmp_path / "b", "bench-core")
    assert compare_folders(tmp_path / "a", tmp_path / "b") == (1, [])
    status, out, _ = experiments_command("compare", tmp_path / "a", tmp_path / "b")
    assert (status, out) == (0, "1 results compared, 0 differences\n")
    status, out, _ = experiments_command("compare", tmp_path / "a", tmp_path / "b", "--tol", "1e-12")
    assert status == 1
    assert "weston-table3: row 0 (KDE, loss): value is 0.5 and 0.5000000001" in out


def test_compare_names_every_difference(tmp_path):
    write(tmp_path / "a")
    write(tmp_path / "a", "gait")
    write(tmp_path / "b", rows=[ROW, TIME | {"method": "k-NN"}])
    write(tmp_path / "b", "faces")
    count, differences = compare_folders(tmp_path / "a", tmp_path / "b")
    assert count == 1
    assert [line.partition(":")[0] for line in differences] == ["gait", "faces", "weston-table3"]
    assert "method is 'KDE' and 'k-NN'" in differences[-1]
    assert compare_rows([ROW], []) == ["1 rows and 0 rows"]
    assert compare_rows([ROW], [ROW | {"paper": 0.4}]) == ["row 0 (KDE, loss): paper is None and 0.4"]
    assert compare_rows([ROW | {"error": float("nan")}], [ROW | {"error": 0.1}])
