"""Committed results: valid, from full runs, and the page of results is made from them."""

from pathlib import Path

import pytest

from experiments.measured import TITLES, write_measured
from experiments.page import result_page, summary
from experiments.paper_index import INDEX
from experiments.pictures import fingerprint
from experiments.registry import EXPERIMENTS, experiment
from experiments.verdicts import published
from mercer.report import Result

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "results"
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


def test_the_summary_is_short_and_every_place_of_the_papers_was_run():
    assert (ROOT / "docs" / "results.md").stat().st_size <= 15 * 1024
    run = {path.stem for path in STORED}
    assert {name for item in INDEX for name in item.experiments} <= run & EXPERIMENTS.keys()


@pytest.mark.parametrize(
    "item", [item for item in INDEX if item.values], ids=lambda item: f"{item.paper}, {item.place}"
)
def test_every_value_that_a_paper_prints_stands_beside_a_measurement(item):
    found = [
        each.paper
        for name in item.experiments
        for each in published(experiment(name), Result.read(ROOT / "results" / f"{name}.json").rows)
    ]
    assert [value for value in item.values if not any(abs(value - each) < 1e-9 for each in found)] == []


@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if (ROOT / "results" / f"{name}.json").is_file()])
def test_a_page_and_its_picture_are_made_from_the_result(name):
    result = Result.read(ROOT / "results" / f"{name}.json")
    assert (PAGES / f"{name}.md").read_text(encoding="utf-8") == result_page(experiment(name), result)
    assert fingerprint(result.rows) in (PAGES / f"{name}.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [name for name in TITLES if (ROOT / "results" / f"{name}.json").is_file()])
def test_pages_of_benchmarks_and_rivals_are_made_from_their_results(name, tmp_path):
    write_measured(ROOT / "results", tmp_path)
    assert (PAGES / f"{name}.md").read_text(encoding="utf-8") == (tmp_path / f"{name}.md").read_text(encoding="utf-8")
