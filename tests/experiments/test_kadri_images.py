"""The small versions of the digit experiments of Kadri et al."""

import json

import numpy as np
import pytest

from experiments.papers.kadri_completion import (
    ANY,
    CANDIDATE,
    COMMON,
    COMMON_SCALE,
    CONDITIONAL,
    CONTINUOUS,
    CORTES,
    COVARIANCE,
    METRIC,
    NEIGHBOURS,
    OWN,
    REACH,
    WESTON,
)
from experiments.registry import experiment
from experiments.runner import reproduce
from mercer.datasets import store


@pytest.fixture
def usps():
    folder = store.data_folder()
    if folder is None or not (folder / "usps").is_dir():
        pytest.skip("needs the USPS digits: set MERCER_DATA to a folder that holds usps/")


def score(rows, **wanted):
    found = [row for row in rows if all(row.get(name) == value for name, value in wanted.items())]
    assert len(found) == 1, f"{wanted} names {len(found)} rows"
    return found[0]["value"]


@pytest.mark.data
@pytest.mark.usefixtures("usps")
@pytest.mark.parametrize("name", ["kadri-table2-left", "report-images"])
def test_small_version(name, tmp_path):
    made = experiment(name)
    rows = reproduce(made, tmp_path, small=True).rows
    for method in (CORTES, WESTON, COVARIANCE, CONDITIONAL):
        losses = {
            pre_image: score(
                rows, method=method, setting=COMMON, metric=METRIC, σl=COMMON_SCALE, **{"pre-image": pre_image}
            )
            for pre_image in (CANDIDATE, CONTINUOUS)
        }
        assert losses[CONTINUOUS] < losses[CANDIDATE]
        neighbours = score(rows, method=NEIGHBOURS, setting=COMMON, σl=COMMON_SCALE, **{"pre-image": CANDIDATE})
        assert losses[CANDIDATE] < neighbours
        printed = [row for row in rows if (row["method"], row["setting"], row["metric"]) == (method, OWN, METRIC)]
        assert {row["paper"] for row in printed} == {made.paper[method].loss}
    assert score(rows, metric=REACH) > 0.95
    chance = score(rows, method=ANY, σl=made.paper[CORTES].output_scale)
    assert abs(chance - 0.9) < 0.1
    same = [
        row["value"]
        for row in rows
        if (row["method"], row["setting"], row.get("pre-image")) == (CORTES, COMMON, CANDIDATE)
    ]
    assert len(set(same)) == 3, "the same predictions cost differently at each σl"

    page = (tmp_path / f"{name}.html").read_text(encoding="utf-8")
    assert page.count("<img") >= 36
    assert "cannot be compared with each other" in page
    again = reproduce(made, tmp_path / "again", small=True).rows
    assert json.dumps(rows) == json.dumps(again)


@pytest.mark.parametrize("small", [False, True])
def test_folds_of_the_report_are_drawn_from_the_first_1000(small):
    made = experiment("report-images")
    pieces = made.pieces(small)
    for piece in pieces:
        split = made.split(piece.settings)
        together = np.concatenate([split.train, split.test])
        assert len(split.train) == piece.settings["train"]
        assert len(np.unique(together)) == len(together) == piece.settings["digits"]
        assert together.max() < 1000
    for size in {piece.settings["train"] for piece in pieces}:
        trained = [made.split(piece.settings).train for piece in pieces if piece.settings["train"] == size]
        assert len(np.unique(np.concatenate(trained))) == size * len(trained)
