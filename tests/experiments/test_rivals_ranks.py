"""Ranks of methods over tasks, against examples worked by hand."""

import numpy as np
import pytest

from experiments.rivals.picture import critical_difference, rank_figure
from experiments.rivals.ranks import Comparison, Standing, against, among, compared, mean_ranks, ranks, standing
from experiments.rivals.registry import BEST, FAST, REFERENCE
from experiments.rivals.report import Report


def scores(**values):
    return {name: Standing(value, 0.1, 1.0) for name, value in values.items()}


def done(value, fold=0, **more):
    return {
        "task": "jura",
        "method": "PLS",
        "fold": fold,
        "status": "done",
        "value": value,
        "error": 0.2,
        "seconds": 2.0,
    } | more


TASKS = {"t": scores(a=1.0, b=2.0, c=3.0), "u": scores(a=2.0, b=1.0, c=3.0), "v": scores(a=1.0, b=2.0)}
BEST_IS = {"t": "min", "u": "min", "v": "max"}


def test_standing_is_the_mean_over_folds_with_its_error():
    found = standing([done(1.0), done(3.0, 1)], folds=2)
    assert found == Standing(2.0, 1.0, 2.0)
    assert standing([done(1.0)], folds=2) is None
    assert standing([done(0.7)], folds=1) == Standing(0.7, 0.2, 2.0)


def test_one_unfinished_fold_marks_the_method():
    late = {"status": "timed out", "limit": 60.0}
    assert standing([done(1.0), late], folds=2) == Standing(None, mark="over 60 s")
    assert standing([{"status": "failed", "message": "no"}], folds=5).mark == "failed (no)"


def test_ranks_follow_the_direction_and_share_ties():
    own = scores(a=0.5, b=0.9, c=0.9) | {"d": Standing(None), "e": Standing(None)}
    assert ranks(own, "max") == {"b": 1.5, "c": 1.5, "a": 3.0, "d": 4.5, "e": 4.5}


def test_mean_ranks_are_over_the_tasks_of_a_method():
    assert mean_ranks(TASKS, BEST_IS) == {"b": (4 / 3, 3), "a": (5 / 3, 3), "c": (3.0, 2)}
    assert list(among(TASKS, "bc")) == ["t", "u"]


def test_wins_and_losses_are_counted_beyond_one_standard_error():
    assert against(TASKS, BEST_IS, "a", "b") == (1, 0, 2)
    near = {"t": scores(a=1.0, b=1.05), "u": scores(a=1.0) | {"b": Standing(None)}, "v": scores(a=1.0)}
    assert against(near, BEST_IS, "a", "b") == (1, 1, 0)
    assert against(near, BEST_IS, "b", "a") == (0, 1, 1)


def test_critical_difference_is_the_one_of_demsar():
    """Four classifiers on 14 tasks at 5 %: q = 2.569, CD = 1.25 (Demšar 2006, p. 18)."""
    random = np.random.default_rng(0)
    tasks = {f"t{i}": scores(**dict(zip("abcd", np.arange(4) + random.random(4), strict=True))) for i in range(14)}
    found = compared(tasks, dict.fromkeys(tasks, "min"))
    assert found.critical_difference == pytest.approx(2.569 * np.sqrt(4 * 5 / (6 * 14)), abs=1e-3)
    assert list(found.means) == list("abcd")
    assert found.p_value < 1e-6
    assert compared(dict(list(tasks.items())[:1]), {"t0": "min"}) is None


def test_cliques_are_the_longest_runs_within_the_critical_difference():
    found = Comparison({"a": 1.0, "b": 1.5, "c": 2.2, "d": 4.0}, tasks=10, p_value=0.1, critical_difference=1.0)
    assert found.cliques() == [("a", "b"), ("b", "c")]
    (ax,) = rank_figure(found).axes
    ties = [line.get_xdata().tolist() for line in ax.lines if line.get_label() == "tie"]
    assert ties == [[1, 2.0], [1.0, 1.5], [1.5, 2.2]]  # the scale and two cliques
    written = [text.get_text().strip() for text in ax.texts]
    assert {"a 1.00", "b 1.50", "2.20 c", "4.00 d", "critical difference 1.00"} <= set(written)
    assert "&lt;a&gt;" in critical_difference(found, "Ranks of <a>")


def test_other_efforts_are_ranked_one_at_a_time():
    values = {REFERENCE: 0.5, FAST: 0.4, BEST: 0.3, "PLS": 0.45}
    report = Report({"jura": scores(**values), "edm": scores(**values)})
    means = {name: mean for name, (mean, _) in report.mean_ranks().items()}
    assert means == {FAST: 1.0, BEST: 1.0, "PLS": 1.0, REFERENCE: 2.0}
    assert report.reference() == REFERENCE


def test_our_methods_alone_have_no_ranks_and_still_a_report():
    report = Report({"jura": scores(**{REFERENCE: 0.5, FAST: 0.6}), "edm": scores(**{BEST: 0.4})})
    assert report.mean_ranks() == {}
    assert {row["method"] for row in report.rows()} == {REFERENCE, FAST, BEST}
    assert "0.500" in report.page("Five folds.", {}, "a machine")


def test_an_earlier_result_fills_in_methods_without_pieces():
    earlier = Report({
        "jura": scores(PLS=0.6, RidgeCV=0.7) | {"k-NN": Standing(None, mark="over 9 s")}, "edm": scores(PLS=0.9),
    })  # fmt: skip
    rows = earlier.rows()
    for row in rows:
        if row["method"] == "RidgeCV" and row["metric"] == "aRRMSE":
            row["code"] = "of another time"
    own = Report({"jura": scores(**{REFERENCE: 0.5, "PLS": 0.55})})
    found = own.filled(rows, "another machine").tasks
    assert found["jura"][REFERENCE].value == 0.5
    assert found["jura"]["PLS"].value == 0.55
    assert found["jura"]["k-NN"] == Standing(None, mark="over 9 s", where="another machine")
    assert found["edm"]["PLS"] == Standing(0.9, 0.1, 1.0, where="another machine")
    assert "RidgeCV" not in found["jura"]
    again = Report(found).filled([], "").rows()
    (kept,) = (
        row for row in again if row["method"] == "PLS" and row.get("task") == "edm" and row["metric"] == "aRRMSE"
    )
    assert kept["where"] == "another machine"


def test_scores_of_other_code_are_filled_in_if_asked_for_and_named():
    rows = Report({"jura": {REFERENCE: Standing(0.5, code="of another time"), "PLS": Standing(0.6)}}).rows()
    own = Report({"edm": scores(**{REFERENCE: 0.5, "PLS": 0.55})})
    assert set(own.filled(rows, "another machine").tasks["jura"]) == {"PLS"}
    found = own.filled(rows, "another machine", other_code=True)
    assert found.tasks["jura"][REFERENCE].code == "of another time"
    assert found.notes()[-1] == f"By an earlier version of {REFERENCE}: jura."


def test_notes_compare_with_the_best_rival_of_each_task():
    first = scores(**{REFERENCE: 0.5, "PLS": 0.6, "k-NN": 0.9, "DependencyEstimator": 0.1})
    second, third = scores(**{REFERENCE: 0.5, "PLS": 0.45}), scores(**{REFERENCE: 0.5, "k-NN": 0.1})
    report = Report({"jura": first, "edm": second, "wq": third, "spelling": scores(**{REFERENCE: 0.1})})
    (note,) = report.notes()
    assert "ahead of every rival on 1 of 3 tasks, within one standard error of the best on 2" in note
    assert note.endswith("Behind on: wq (k-NN).")
    assert Report({}).notes() == []
    other = Report({"jura": first | scores(**{BEST: 0.4}), "edm": second}).notes()
    assert other[1] == f"{BEST} was run on 1 of 2 tasks."


def test_report_marks_the_unfinished_and_leaves_out_the_incomplete():
    outcomes = [done(0.5, fold) for fold in range(5)]
    outcomes += [done(0.6, fold, method="k-NN") for fold in range(3)]
    outcomes += [{"task": "jura", "method": "RidgeCV", "fold": 0, "status": "timed out", "limit": 9.0}]
    report = Report.of(outcomes, {"jura": 5})
    assert set(report.tasks["jura"]) == {"PLS", "RidgeCV"}
    cells = {row[0]: row[1] for table in report.scores_tables() for row in table.rows}
    assert cells == {"RidgeCV": "over 9 s", "PLS": "0.500 ± 0.000"}
    assert {row["metric"] for row in report.rows()} == {"mean rank", "aRRMSE", "seconds", "aRRMSE: over 9 s"}
    html = report.page("Five folds.", {"CatBoost": "catboost"}, "a machine")
    assert "Not installed: CatBoost (catboost)" in html
