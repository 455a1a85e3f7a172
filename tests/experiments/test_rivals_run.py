"""Runs of the comparison: whole, resumed, merged, over time and failing."""

import json
import shutil
import sys
import time

import pytest

from experiments import command
from experiments.rivals import experiment as rivals_experiment
from experiments.rivals import run as rivals_run
from experiments.rivals import tasks as rivals_tasks
from experiments.rivals.experiment import Rivals
from experiments.rivals.registry import METHODS, Method
from experiments.rivals.worker import Job, Worker, computed
from experiments.runner import run_pieces
from mercer.report import Result

CHOSEN = {"tasks": ["linnerud", "diabetes"], "methods": ["RidgeCV", "PLS", "k-NN"]}


class InProcess:
    """Worker that computes in this process."""

    threads, memory = 1, rivals_experiment.MEMORY
    jobs: list[Job] = []

    def outcome(self, job, limit):
        self.jobs.append(job)
        return computed(job)


@pytest.fixture
def jobs(monkeypatch):
    """Compute without a second process; returns the jobs computed."""
    monkeypatch.setattr(rivals_experiment, "_worker", InProcess())
    monkeypatch.setattr(InProcess, "jobs", [])
    return InProcess.jobs


def test_a_run_is_whole_resumed_and_merged(jobs, tmp_path):
    report = rivals_run.run(tmp_path / "one", **CHOSEN, small=True)
    assert len(jobs) == len(set(jobs)) == 2 * 3 * 2
    assert all(set(report.tasks[task]) == set(CHOSEN["methods"]) for task in CHOSEN["tasks"])
    result = Result.read(tmp_path / "one" / "rivals.json")
    assert {row["metric"] for row in result.rows} == {"mean rank", "aRRMSE", "seconds"}
    assert "Critical difference" in (tmp_path / "one" / "rivals.html").read_text()
    again = rivals_run.run(tmp_path / "one", **CHOSEN, small=True)
    assert len(jobs) == 12
    assert again == report
    # pieces of another machine are copied
    rivals_run.run(tmp_path / "two", tasks=["linnerud"], methods=["KernelRidge"], small=True)
    folders = [tmp_path / name / ".pieces" / "rivals-small" for name in ("one", "two")]
    shutil.copytree(*folders, dirs_exist_ok=True)
    merged = rivals_run.run(tmp_path / "two", small=True, jobs=0)
    assert len(jobs) == 14
    assert set(merged.tasks["linnerud"]) == {*CHOSEN["methods"], "KernelRidge"}


def test_stopped_runs_and_damaged_pieces_are_resumed(jobs, tmp_path):
    rivals_run.run(tmp_path, tasks=["linnerud"], methods=["RidgeCV"], small=True)
    (piece,) = (tmp_path / ".pieces" / "rivals-small").glob("*00.json")
    piece.write_text(piece.read_text()[:-20])
    rivals_run.run(tmp_path, tasks=["linnerud"], methods=["RidgeCV", "PLS"], small=True)
    assert jobs[2:] == [
        Job("linnerud", 0, "RidgeCV", True),
        Job("linnerud", 0, "PLS", True),
        Job("linnerud", 1, "PLS", True),
    ]


def test_other_data_make_a_piece_run_again(jobs, tmp_path, monkeypatch):
    rivals_run.run(tmp_path, tasks=["linnerud"], methods=["RidgeCV"], small=True)
    other = rivals_tasks.Task("linnerud", "vectors", rivals_tasks.diabetes)
    monkeypatch.setitem(rivals_tasks.TASKS, "linnerud", other)
    rivals_run.run(tmp_path, tasks=["linnerud"], methods=["RidgeCV"], small=True)
    assert len(jobs) == 4


def test_pieces_over_time_are_marked_and_run_again_under_a_longer_limit(jobs, tmp_path, monkeypatch):
    monkeypatch.setattr(InProcess, "outcome", lambda self, job, limit: {"status": "timed out", "limit": limit})
    only = {"tasks": ["linnerud"], "methods": ["RidgeCV"], "small": True}
    report = rivals_run.run(tmp_path, **only, time_limit=5)
    assert report.tasks["linnerud"]["RidgeCV"].mark == "over 5 s"
    assert run_pieces(Rivals(["linnerud"], ["RidgeCV"], time_limit=5), tmp_path, small=True, jobs=0) != [None, None]
    assert run_pieces(Rivals(["linnerud"], ["RidgeCV"], time_limit=6), tmp_path, small=True, jobs=0) == [None, None]
    assert rivals_run.report(tmp_path, small=True) == report


def test_what_is_not_installed_is_said_and_not_run(jobs, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(METHODS, "RidgeCV", Method("RidgeCV", "linear", "ridge", package="no_such_package"))
    rivals_run.run(tmp_path, **CHOSEN, small=True)
    assert "RidgeCV: not installed (no_such_package)" in capsys.readouterr().out
    assert {job.method for job in jobs} == {"PLS", "k-NN"}


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"tasks": ["nowhere"]}, "there is no task 'nowhere'; expected some of linnerud"),
        ({"methods": ["x"]}, "no method 'x'"),
    ],
)
def test_unknown_names_are_refused(chosen, message):
    with pytest.raises(ValueError, match=message):
        Rivals(**chosen)


def test_tasks_without_their_data_are_left_out(jobs, tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("MERCER_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    rivals_tasks._loaded.cache_clear()
    assert {piece.settings["task"] for piece in Rivals(["jura", "linnerud"], ["PLS"]).pieces(False)} == {"linnerud"}
    assert "jura: left out, multi_target/jura.npz is not in MERCER_DATA" in capsys.readouterr().out


def test_a_worker_stops_what_takes_too_long_and_goes_on():
    worker = Worker(threads=1, memory=12.0)
    try:
        start = time.perf_counter()
        late = worker.outcome(Job("digits", 0, "KernelRidge"), 0.2)
        assert late == {"status": "timed out", "limit": 0.2}
        assert time.perf_counter() - start < 30
        good = worker.outcome(Job("linnerud", 0, "RidgeCV"), 60)
        assert good["status"] == "done"
        # rankings have no such fold: the message comes back
        assert worker.outcome(Job("linnerud", 99, "RidgeCV"), 60)["message"].startswith("IndexError")
        assert worker.outcome(Job("linnerud", 0, "RidgeCV"), 60)["value"] == good["value"]
    finally:
        worker.stop()


def test_the_command_runs_and_lists(jobs, monkeypatch, capsys, tmp_path):
    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["experiments", "rivals", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            command.main()
        return stopped.value.code or 0, capsys.readouterr().out

    status, out = call("--small", "--tasks", "linnerud", "--methods", "PLS;RidgeCV", "--output", tmp_path)
    assert status == 0
    assert "rivals.html" in out
    parameters = json.loads((tmp_path / "rivals.json").read_text())["parameters"]
    assert parameters["small"] is True
    assert "is ahead of every rival on" in parameters["notes"][0]
    assert "random forest" in call("--list")[1]
