"""Committed results: valid, from full runs, and the page of results is made from them."""

from pathlib import Path

import pytest

from experiments.page import summary
from experiments.registry import EXPERIMENTS, experiment
from mercer.report import Result

ROOT = Path(__file__).parents[2]
STORED = sorted((ROOT / "results").glob("*.json"))


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_a_committed_result_is_whole(path):
    result = Result.read(path)
    assert result.experiment == path.stem
    assert result.rows
    assert result.seconds > 0
    assert {"python", "numpy", "cpu", "cores"} <= result.environment.keys()
    assert result.parameters.get("small") in (None, False), "the small version is for the tests"


def test_the_page_of_results_is_made_from_them():
    known = [(experiment(name), ROOT / "results" / f"{name}.json") for name in EXPERIMENTS]
    expected = summary([(each, Result.read(path)) for each, path in known if path.is_file()])
    assert (ROOT / "docs" / "results.md").read_text(encoding="utf-8") == expected
