"""``bench operators``: every fit runs with the intended solver. Times are not asserted."""

import numpy as np
import pytest

from experiments.bench import operators
from experiments.bench.reporting import table


@pytest.mark.parametrize("name", operators.FITS)
def test_every_fit_is_measured(name):
    seconds, peak, iterations = operators.measure(name, 40, 2 if name == "curl-free" else 4)
    assert seconds > 0
    assert peak > 2**20
    iterated = "missing" in name or "do not commute" in name or name in ("curl-free", "entangled, learned")
    assert (iterations > 1) == iterated


def test_a_process_of_its_own_and_the_table(monkeypatch):
    monkeypatch.setattr(operators, "FITS", {"entangled": operators.FITS["entangled"]})
    result = operators.measure_all(quick=True)
    assert [row["metric"] for row in result.rows] == [
        "seconds",
        "peak memory of the process, GiB",
        "× the time, 10 × n",
        "× the time, 10 × p",
    ]
    assert all(row["met"] == (row["value"] <= row["bar"]) for row in result.rows)
    assert np.isfinite([row["value"] for row in result.rows]).all()
    lines = table(result).rows
    assert len(lines) == 4
    assert lines[0][0] == "entangled, n = 60, p = 4: seconds"
