import numpy as np
import pytest

from experiments.beyond import conformal
from experiments.registry import experiment
from experiments.runner import reproduce
from mercer.datasets import store
from mercer.uncertainty import PredictionSet


def test_sets_are_measured_by_what_they_hold():
    sets = [
        PredictionSet(np.array([[0, 1], [1, 0]]), np.zeros(2)),
        PredictionSet(np.zeros((0, 2)), np.zeros(0)),
        PredictionSet(np.array([[1, 1]]), np.zeros(1)),
        PredictionSet(np.array([[1, 0]]), np.zeros(1)),
        PredictionSet(np.array([[1, 1]]), np.zeros(1), any_object=True),
    ]
    found = conformal.measured(sets, np.array([[1, 0]] * 5))
    assert found == {conformal.COVERAGE: 0.6, conformal.SIZE: 1.0, conformal.EMPTY: 0.2, conformal.ANY: 0.2}


@pytest.mark.data
def test_the_small_run(tmp_path):
    folders = ("usps", "label_ranking")
    if store.data_folder() is None or not all((store.data_folder() / name).is_dir() for name in folders):
        pytest.skip("needs the digits and the label ranking sets: set MERCER_DATA to a folder that holds both")
    chosen = experiment("conformal")
    result = reproduce(chosen, tmp_path, small=True)
    found = {(row["task"], row["method"], row["metric"]): row["value"] for row in result.rows}
    for name in (conformal.TASKS[0], conformal.TASKS[3]):
        for method in conformal.METHODS:
            assert 0.8 < found[name, method, conformal.COVERAGE] < 0.98
        judged = next(metric for task, method, metric in found if task == name and method == "the surest 50%")
        assert found[name, "the surest 100%", judged] < found[name, "the surest 50%", judged]
    page = (tmp_path / "conformal.html").read_text(encoding="utf-8")
    assert page.count("<figure class=") >= 2  # coverage against what was asked, and sizes of sets
    piece = chosen.pieces(small=True)[0]
    assert chosen.run(piece)["splits"] == chosen.run(piece)["splits"]
