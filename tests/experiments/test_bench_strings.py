"""``bench strings``: every row is there, and its peers compute the same. Times are not asserted."""

import numpy as np
import pytest

from experiments.bench import strings
from experiments.command import Benchmark
from mercer.report import Result


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    path = tmp_path_factory.mktemp("bench") / "new" / "bench-strings.json"
    strings.main(path, True)
    return Result.read(path)


def test_every_comparison_has_its_rows(quick):
    assert quick.experiment == "bench-strings"
    assert quick.parameters["strings"] == strings.QUICK.strings
    faster = {(row["method"], row["metric"], row["letters"]) for row in quick.rows if row["sense"] == "≥"}
    assert len(faster) == 9
    for kernel in ("Subsequence", "WeightedDegree", "Spectrum"):
        assert any(kernel in method and "strkernels" in metric for method, metric, _ in faster)
    for kernel in ("Spectrum", "Mismatch"):
        assert any(kernel in method and "CountVectorizer" in metric for method, metric, _ in faster)
    assert all(np.isfinite(row["value"]) for row in quick.rows)


def test_peers_compute_the_same(quick):
    checks = [row for row in quick.rows if row["metric"].startswith("relative difference")]
    assert len(checks) == 9
    assert all(row["met"] for row in checks)


def test_strings_are_constructed_in_time_and_linearly(quick):
    rows = [row for row in quick.rows if row["method"].startswith("predict")]
    assert {row["metric"] for row in rows} == {"seconds", "× four times a quarter of the strings"}
    assert len(rows) == 4


def test_words_near_a_text_are_those_of_the_mismatch_kernel():
    words = list(strings._near("abc", "abc"))
    assert len(words) == len(set(words)) == 7
    assert all(sum(a != b for a, b in zip(word, "abc", strict=True)) <= 1 for word in words)


def test_the_command_knows_it():
    assert "strings" in list(Benchmark)
