"""The small versions of the experiments on horses and faces."""

import json

import numpy as np
import pytest

from experiments.beyond.faces import CORTES, MEAN, WINDOWS
from experiments.beyond.horses import MEAN as MEAN_MASK
from experiments.beyond.horses import STAGES
from experiments.papers.kadri_face_views import NEW_PEOPLE, RANDOM
from experiments.registry import experiment
from experiments.runner import reproduce
from mercer.datasets import store


def needs(folder):
    found = store.data_folder()
    if found is None or not (found / folder).is_dir():
        pytest.skip(f"needs {folder}: set MERCER_DATA to a folder that holds it")


@pytest.mark.data
def test_horses_small(tmp_path):
    needs("weizmann_horses32")
    made = experiment("horses")
    rows = reproduce(made, tmp_path, small=True).rows
    at = {row["method"]: row["value"] for row in rows}
    assert all(at[stage] > at[MEAN_MASK] + 0.1 for stage in STAGES)
    assert (tmp_path / "horses.html").read_text(encoding="utf-8").count("<img") == 1 + 12 * 4  # the scores first
    assert "bar 0.80" in made.notes(rows)[0]
    # the same again, piece by piece: nothing depends on when or where it runs
    piece = made.pieces(small=True)[0]
    assert json.dumps(made.run(piece)) == json.dumps(made.run(piece))


@pytest.mark.data
def test_faces_small(tmp_path):
    needs("cmu_faces")
    made = experiment("faces")
    rows = reproduce(made, tmp_path, small=True).rows
    for kind in (RANDOM, NEW_PEOPLE):
        at = {row["method"]: row["value"] for row in rows if (row["metric"], row["test"]) == ("MSE", kind)}
        assert at[WINDOWS] < 0.95 * at[CORTES] < at[MEAN]
    assert (tmp_path / "faces.html").read_text(encoding="utf-8").count("<img") == 1 + 2 * 6 * 4  # the scores first
    piece = made.pieces(small=True)[-1]
    first, second = made.run(piece), made.run(piece)
    assert json.dumps(first) == json.dumps(second)
    assert np.isfinite(list(first["errors"].values())).all()
