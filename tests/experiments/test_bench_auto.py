"""``bench auto``: every row is there. Times are not asserted."""

import numpy as np
import pytest

from experiments.bench import auto
from experiments.command import Benchmark
from mercer.report import Result


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    path = tmp_path_factory.mktemp("bench") / "bench-auto.json"
    auto.main(path, True)
    return Result.read(path)


def test_every_method_has_its_time_and_its_error(quick):
    assert quick.experiment == "bench-auto"
    found = {(row["method"], row["metric"]): row for row in quick.rows}
    names = {method for method, _ in found}
    assert names >= {*auto.BARS, "KernelRidge"}
    assert [found[name, "seconds"]["bar"] for name in auto.BARS] == [30.0, 5.0]
    assert set(found) == {(name, metric) for name in names for metric in ("seconds", "core-seconds", "aRRMSE")}
    assert all(np.isfinite(row["value"]) and row["value"] > 0 for row in quick.rows)


def test_the_command_knows_it():
    assert "auto" in list(Benchmark)
