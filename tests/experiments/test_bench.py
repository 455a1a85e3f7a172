"""``bench core``: every row is there, and its references are right. Times are not asserted."""

import json
import subprocess
import sys

import numpy as np
import pytest

from experiments.bench import core, low_rank, problems, reporting, timing
from experiments.bench.exact import INPUT, decompositions, plain_gaussian
from experiments.bench.peaks import fits
from experiments.bench.sizes import QUICK
from mercer.report import Result


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    path = tmp_path_factory.mktemp("bench") / "new" / "core.json"
    core.main(path, True)
    return Result.read(path)


def test_every_part_has_its_rows(quick):
    metrics = [(row["method"], row["metric"]) for row in quick.rows]
    bars = {(row["sense"], row["bar"]) for row in quick.rows}
    names = {(row["method"], row["metric"], row.get("letters")) for row in quick.rows}
    assert len(names) == len(quick.rows)
    assert {("≤", 1.5), ("≤", 2.0), ("≤", 1.3), ("≥", 100.0), ("≤", 8.0), ("≤", 3.0)} <= bars
    for name in fits():
        assert (name, "peak memory, n² doubles") in metrics


def test_rows_are_finite_and_judged(quick):
    for row in quick.rows:
        assert np.isfinite(row["value"])
        assert row["value"] > 0
        if row["bar"] is None:
            assert row["met"] is None
        else:
            better = row["value"] <= row["bar"] if row["sense"] == "≤" else row["value"] >= row["bar"]
            assert row["met"] is better


def test_both_sides_of_a_comparison_compute_the_same(quick):
    checks = [row for row in quick.rows if row["metric"].startswith("relative difference")]
    assert checks
    assert all(row["met"] for row in checks)


def test_json_says_what_it_was_measured_with(quick):
    assert quick.experiment == "bench-core"
    assert quick.seconds > 0
    assert quick.environment["numpy"] == np.__version__
    assert quick.parameters["pairs"] == QUICK.pairs
    assert json.loads(quick.to_json())["rows"] == quick.rows


def test_the_table_has_a_line_for_each_row(quick):
    table = reporting.table(quick)
    assert table.header == ["what", "measured", "bar", "met"]
    assert len(table.rows) == len(quick.rows)
    assert {line[3] for line in table.rows} <= {"", "yes", "no"}


def test_row_takes_the_median_and_compares_it_in_the_right_sense():
    found = timing.row("a", "b", [1.0, 5.0, 2.0], timing.Bar(2.0))
    assert (found["value"], found["met"]) == (2.0, True)
    assert timing.row("a", "b", [1.0, 5.0, 2.0], timing.Bar(2.5, "≥"))["met"] is False
    assert timing.row("a", "b", [3.0])["error"] is None


def test_reference_row_divides_by_the_fastest_reference_round_by_round():
    seconds = {
        "fit": np.array([2.0, 4.0, 6.0]),
        "slow": np.full(3, 9.0),
        "fast": np.array([1.0, 2.0, 2.0]),
    }
    found = timing.reference_row("fit", "b", seconds, ["slow", "fast"], timing.Bar(2.5))
    assert (found["value"], found["reference"], found["met"]) == (2.0, "fast", True)


def test_interleaved_runs_every_task_in_every_round_after_a_warm_up():
    calls = []
    tasks = {"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}
    seconds = timing.interleaved(tasks, 2)
    assert calls == ["a", "b", "a", "b", "b", "a"]
    assert all(len(each) == 2 for each in seconds.values())


def test_references_decompose_the_matrices_they_are_given():
    X, _ = problems.vectors(30)
    assert len(decompositions(INPUT(X))) == 3
    np.testing.assert_allclose(plain_gaussian(X), INPUT(X), atol=1e-12)


@pytest.mark.parametrize("how", ["inverse", "Cholesky"])
def test_woodbury_is_proposition_one(how):
    n, ridge = 7, 0.3
    random = np.random.default_rng(1)
    U, V = random.standard_normal((n, 3)), random.standard_normal((n, 4))
    k, L = U @ U.T, V @ V.T
    system = np.kron(k, L) + ridge * np.eye(n * n)
    X = np.linalg.solve(system, np.eye(n).ravel()).reshape(n, n, order="F")
    M = low_rank.woodbury(U, V, ridge, how)
    np.testing.assert_allclose((np.eye(n) - V @ M @ U.T) / ridge, X, atol=1e-10)
    # for the training inputs k_x is a row of k, so u(x) is a row of U
    np.testing.assert_allclose(low_rank.points(V, M, U), (L @ X @ k).T @ V, atol=1e-9)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads Linux's own counters")
def test_memory_counts_what_a_fit_holds_and_nothing_from_before():
    # a process of its own, as in the benchmark, launched while this one holds more
    code = """
import numpy as np
from experiments.bench import peaks

class Hungry:
    def fit(self, X, Y):
        self.held = np.ones((2, len(X), len(X)))

peaks.fits = lambda: {"two matrices": (Hungry(), 8.0)}
print(peaks.measure("two matrices", 2000))
"""
    ballast = np.ones(2**26)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ballast.nbytes > 10 * 2 * 2000**2
    assert 1.9 < float(done.stdout) < 2.3


def test_strings_stay_within_their_limits():
    words = problems.strings(50, 4, 3, 9)
    assert {len(word) for word in words} <= set(range(3, 10))
    assert set("".join(words)) == set("abcd")
