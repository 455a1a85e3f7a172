"""The small versions of the face experiments of Kadri et al."""

import json

import numpy as np
import pytest

from experiments.papers.kadri_face_views import (
    CORTES,
    JOINT,
    MEAN,
    MIXED,
    NEIGHBOURS,
    NEW_PEOPLE,
    RANDOM,
    WIDER,
    joint_of,
    split_faces,
)
from experiments.papers.kadri_training_size import ALL, EXACT, LOW_RANK, TIME
from experiments.registry import experiment
from experiments.runner import reproduce
from mercer.datasets import store


@pytest.fixture
def cmu_faces():
    folder = store.data_folder()
    if folder is None or not (folder / "cmu_faces").is_dir():
        pytest.skip("needs the CMU faces: set MERCER_DATA to a folder that holds cmu_faces/")


@pytest.mark.data
@pytest.mark.usefixtures("cmu_faces")
def test_table3_small(tmp_path):
    made = experiment("kadri-table3")
    rows = reproduce(made, tmp_path, small=True).rows
    for kind in (RANDOM, NEW_PEOPLE):
        at = {
            (row["setting"], row["method"]): row["value"]
            for row in rows
            if (row["metric"], row["test"]) == ("MSE", kind)
        }
        nested = {method: value for (setting, method), value in at.items() if setting == "nested"}
        assert nested[MIXED] < nested[CORTES] < min(nested[MEAN], nested[NEIGHBOURS])
        sizes = [nested[joint_of(size)] for size in (6, 10)]
        assert min(sizes) <= nested[JOINT] <= max(sizes), "each draw takes one of the sizes"
        own = {method: value for (setting, method), value in at.items() if setting != "nested"}
        assert own[WIDER] < 0.5 * own[CORTES], "the paper's σk = 1 for Cortes is far too narrow on these pixels"
    paper = {row["method"]: row["paper"] for row in rows if "paper" in row}
    assert paper[joint_of(10)] == pytest.approx(0.1257 / 0.1773)
    page = (tmp_path / "kadri-table3.html").read_text(encoding="utf-8")
    assert page.count("<img") == 1 + 2 * 6 * 4  # the scores first
    again = reproduce(made, tmp_path / "again", small=True).rows
    assert json.dumps(rows) == json.dumps(again)


@pytest.mark.data
@pytest.mark.usefixtures("cmu_faces")
def test_figure2_small(tmp_path):
    made = experiment("kadri-figure2")
    rows = reproduce(made, tmp_path, small=True).rows
    assert all(row["value"] < 1e-6 for row in rows if row["metric"] == "largest difference to LowRank")
    fixed = {row["widths"] for row in rows if row["metric"] == "MSE"}
    assert fixed == {"chosen", "as printed", "equal"}
    chosen = [row for row in rows if row["widths"] == "chosen"]
    error = {(row["method"], row["n"]): row["value"] for row in chosen if row["metric"] == "MSE"}
    assert error[CORTES, ALL] < error[CORTES, 10]
    assert error[LOW_RANK, 30] < error[LOW_RANK, 10]
    assert error[EXACT, ALL] < 1.1 * error[CORTES, ALL]
    times = {(row["method"], row["n"]): row["value"] for row in chosen if row["metric"] == TIME}
    assert times[CORTES, ALL] == 1
    assert times.keys() == error.keys()
    assert (tmp_path / "kadri-figure2.html").read_text(encoding="utf-8").count('<figure class="lines">') == 2
    again = reproduce(made, tmp_path / "again", small=True).rows
    without_times = [[row for row in run if row["metric"] != TIME] for run in (rows, again)]
    assert json.dumps(without_times[0]) == json.dumps(without_times[1])


def test_draws_of_faces():
    person = np.repeat(np.arange(20), 8)
    for seed in range(5):
        split = split_faces(person, RANDOM, seed)
        assert len(set(split.train) | set(split.test)) == 100
        split = split_faces(person, NEW_PEOPLE, seed)
        assert (len(split.train), len(split.test)) == (20, 80)
        assert not set(person[split.train]) & set(person[split.test])
