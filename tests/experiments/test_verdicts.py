"""Verdicts on published values, and tables with methods down and settings across."""

from pathlib import Path

import pytest

from experiments import pictures
from experiments.experiment import Experiment
from experiments.page import markdown
from experiments.pivots import pivoted
from experiments.registry import experiment
from experiments.verdicts import published, verdict
from mercer.report import Result, table_html

RESULTS = Path(__file__).parents[2] / "results"


class Tried(Experiment):
    name, title, source, protocol, digits = "tried", "Tried", "", "", 2

    def reason(self, row, rows):
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
    assert table.header == ["method", "n = 5", "n = 10"]
    assert table.rows == [["a", "0.55 ± 0.01", "0.60 ± 0.01"], ["b", "0.45 ± 0.01", "0.50 ± 0.01"]]
    assert table.best == {(1, 1), (1, 2)}


def test_cells_hold_the_paper_and_metrics_without_a_sense_have_no_best():
    rows = [row("a", 0.5, 0.01, paper=0.7), row("a", 0.3, n=5) | {"metric": "difference"}]
    rows += [row("a", 0.2, n=9) | {"metric": "difference"}, row("b", 0.1, n=9) | {"metric": "difference"}]
    first, second = pivoted(Tried(), rows)
    assert first.rows == [["a", "0.50 ± 0.01 / 0.70 +"]]
    assert second.best == set()


def test_cells_beside_a_published_value_have_the_kind_of_their_verdict():
    rows = [
        row("a", 0.5, 0.01, paper=0.5),
        row("b", 0.9, 0.01, paper=0.5),
        row("c", 0.1, 0.01, paper=0.5),
        row("d", 0.1),
    ]
    (table,) = pivoted(Tried(), rows)
    assert table.kinds == {(0, 1): "matched", (1, 1): "short", (2, 1): "beaten"}
    assert '<span class="short">0.90 ± 0.01 / 0.50 −</span>' in markdown(table)
    assert '<td class="best beaten">0.10 ± 0.01 / 0.50 +</td>' in table_html(table)
    assert '<td class="best">0.10</td>' in table_html(table)


@pytest.mark.parametrize(
    ("name", "method", "changed"),
    [
        ("kadri-table3", "conditional", {"method": "Cortes, σk = 4"}),
        ("weston-table3", "k-NN", {"method": "k-NN, k = 1", "metric": "class of the pre-image"}),
        ("weston-table2", "KDE", {"folds": "shuffled"}),
    ],
)
def test_an_explanation_holds_only_while_the_measurement_behind_it_does(name, method, changed):
    made, rows = experiment(name), Result.read(RESULTS / f"{name}.json").rows
    explained = [each for each in published(made, rows) if each.method == method and each.verdict == "explained"]
    assert explained
    others = [each | {"value": 10.0 * each["value"]} if changed.items() <= each.items() else each for each in rows]
    found = [each for each in published(made, others) if each.method == method and each.row == explained[0].row]
    assert [each.verdict for each in found] == ["not reached"]


def test_a_picture_has_a_line_for_each_value_of_other_numbers():
    rows = [row("a", 1.0, n=n, p=10) for n in (5, 10, 20)] + [row("a", 2.0, n=10, p=30)]
    assert list(pictures._series({"a": rows}, "n")) == ["a"]
    more = [*rows, row("a", 2.0, n=20, p=30)]
    lines = pictures._series({"a": more}, "n")
    assert {name: [each["n"] for each in own] for name, own in lines.items()} == {
        "a, p 10": [5, 10, 20],
        "a, p 30": [10, 20],
    }


def test_a_printed_deviation_is_divided_by_the_root_of_the_folds():
    class Deviations(Tried):
        def paper_folds(self, row):
            return 4

    own = [row("a", 1.15, 0.0, paper=1.0, paper_error=0.1)]
    assert [each.verdict for each in published(Tried(), own)] == ["matched"]
    assert [each.verdict for each in published(Deviations(), own)] == ["not reached"]


def test_settings_that_do_not_compare_have_tables_of_their_own_and_bounds_are_never_the_best():
    class Apart(Tried):
        apart = ("width",)
        bounds = ("floor",)

    rows = [row(m, v * w, width=w, n=n) for m, v in (("a", 3), ("b", 2), ("floor", 1)) for w in (1, 10) for n in (5, 9)]
    first, second = pivoted(Apart(), rows)
    assert [first.title, second.title] == ["loss, width = 1", "loss, width = 10"]
    assert first.best == second.best == {(1, 1), (1, 2)}


def test_metrics_share_a_table_where_their_lines_are_the_same():
    lists = [row(m, 0.5) | {"metric": metric} for metric in ("loss", "error") for m in ("a", "b")]
    (side,) = pivoted(Tried(), lists)
    assert (side.header, side.title) == (["method", "loss", "error"], "loss; error")
    assert side.rows == [["a", "0.50", "0.50"], ["b", "0.50", "0.50"]]
    single = [row("a", 0.1 * n, n=n) | {"metric": metric} for metric in ("loss", "error") for n in (5, 9)]
    (below,) = pivoted(Tried(), single)
    assert [below.title, *(line[0] for line in below.rows)] == ["a", "loss", "error"]


def test_sizes_that_were_changed_one_at_a_time_have_panels_of_their_own():
    one = [row("a", 1.0, n=n, p=10) for n in (5, 10, 20)] + [row("a", 1.0, n=10, p=p) for p in (2, 30)]
    assert pictures._sizes(one) == ["n", "p"]
    full = [row("a", 1.0, n=n, p=p) for n in (5, 10, 20) for p in (2, 10, 30)]
    assert pictures._sizes(full) == ["n"]
