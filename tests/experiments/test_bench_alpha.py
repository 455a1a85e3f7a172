"""``bench alpha``: a path of alpha has rows beside every rival that is installed. Times are not asserted."""

import pytest

from experiments.bench import alpha
from experiments.bench.scale import COMPARED
from experiments.bench.scale_rivals import RIVALS
from mercer.report import Result


def test_every_rival_is_timed_beside_the_path(tmp_path):
    path = tmp_path / "bench-alpha.json"
    alpha.main(path, quick=True)
    result = Result.read(path)
    seconds = {(row["method"], row["n"]): row["value"] for row in result.rows if row["metric"] == "seconds"}
    ratios = [row for row in result.rows if row["metric"].startswith("times")]
    assert ratios
    assert {row["method"] for row in ratios} == {name for name in alpha.RATIOS if RIVALS[name].installed}
    for row in ratios:
        assert row["value"] == pytest.approx(seconds[row["method"], row["n"]] / seconds[COMPARED, row["n"]])
        assert row["bar"] is None  # a quick run has other numbers of pairs
    assert result.parameters["sizes"] == [50, 60]


def test_bars_are_for_one_number_of_pairs(monkeypatch):
    monkeypatch.setattr(alpha, "BARRED", 50)
    barred = {row["method"]: (row["bar"], row["sense"]) for row in alpha.compared(50, 1) if row["bar"] is not None}
    assert barred["scikit-learn grid of 20 alphas"] == (30.0, "≥")
