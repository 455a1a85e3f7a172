"""Verdicts on published values, and tables with methods down and settings across."""

import pytest

from experiments.experiment import Experiment
from experiments.pivots import pivoted
from experiments.verdicts import published, verdict


class Tried(Experiment):
    name, title, source, protocol, digits = "tried", "Tried", "", "", 2

    def reason(self, row):
        return ("explained", "another scale") if row["method"] == "b" else None


def row(method, value, error=None, **more):
    return {"method": method, "metric": "loss", "value": value, "error": error, **more}


@pytest.mark.parametrize(
    ("value", "error", "paper_error", "best", "expected"),
    [
        (1.00, 0.10, 0.00, "min", "matched"),
        (1.21, 0.10, 0.00, "min", "not reached"),
        (1.21, 0.10, 0.05, "min", "matched"),
        (0.79, 0.10, None, "min", "beaten"),
        (0.79, 0.10, None, "max", "not reached"),
        (1.004, None, None, "min", "matched"),
        (1.006, None, None, "min", "not reached"),
        (1.21, 0.10, None, None, "differs"),
    ],
)
def test_the_rule(value, error, paper_error, best, expected):
    assert verdict(row("a", value, error, paper=1.0, paper_error=paper_error), best, 2) == expected


def test_the_closest_reading_counts_and_editions_stay_apart():
    rows = [
        row("a", 0.9, paper=0.5, edition="first", reading="squared"),
        row("a", 0.5, paper=0.5, edition="first", reading="plain"),
        row("a", 0.8, paper=0.7, edition="second", reading="squared"),
        row("a", 0.5, paper=0.7, edition="second", reading="plain"),
        row("b", 0.9, paper=0.1),
    ]
    found = published(Tried(), rows)
    assert [(each.what, each.reading, each.row["value"], each.verdict) for each in found] == [
        ("loss, first", "plain", 0.5, "matched"),
        ("loss, second", "squared", 0.8, "not reached"),
        ("loss", "", 0.9, "explained"),
    ]
    assert found[2].reason == "another scale"


def test_methods_go_down_and_settings_across():
    rows = [row(m, v + n / 100, 0.01, n=n) for m, v in (("a", 0.5), ("b", 0.4)) for n in (5, 10)]
    (table,) = pivoted(Tried(), rows)
    assert table.header == ["method", "n 5", "n 10"]
    assert table.rows == [["a", "0.55 ± 0.01", "0.60 ± 0.01"], ["b", "0.45 ± 0.01", "0.50 ± 0.01"]]
    assert table.best == {(1, 1), (1, 2)}


def test_cells_hold_the_paper_and_metrics_have_tables_of_their_own():
    rows = [row("a", 0.5, 0.01, paper=0.7), row("a", 0.3) | {"metric": "difference"}]
    first, second = pivoted(Tried(), rows)
    assert first.rows == [["a", "0.50 ± 0.01 / 0.70 +"]]
    assert second.best == set()
