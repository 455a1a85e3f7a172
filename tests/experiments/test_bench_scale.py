"""``bench scale``: every rung has its rows, and the device cases run on a CPU. Times are not asserted."""

import json

import pytest

from experiments.bench import scale, scale_device
from experiments.command import main
from mercer.report import Result


@pytest.fixture
def small(monkeypatch):
    """Rungs of a few pairs, measured in this process."""
    rungs = {
        name: scale.Rung(r.solver, (60, 90), r.exponent, r.within, r.chooses_alpha) for name, r in scale.RUNGS.items()
    }
    monkeypatch.setattr(scale, "RUNGS", rungs)
    monkeypatch.setattr(scale, "measure_in_process", lambda _, name, n: scale.measure(name, n))


def test_every_rung_has_seconds_memory_and_an_exponent(small, tmp_path):
    scale.main(tmp_path / "new" / "scale.json")
    result = Result.read(tmp_path / "new" / "scale.json")
    assert [row["n"] for row in result.rows if row["metric"] == "seconds"] == [60, 90] * len(scale.RUNGS)
    solved = [row for row in result.rows if row["method"] == "conjugate gradients" and "n" in row]
    assert all(0 < row["residual"] <= 1e-8 for row in solved)
    exponents = [row for row in result.rows if "exponent" in row]
    assert len(exponents) == len(scale.RUNGS)
    assert all(row["value"] == abs(row["exponent"] - scale.RUNGS[row["method"]].exponent) for row in exponents)


def test_device_cases_run_anywhere_and_failures_are_rows(tmp_path, monkeypatch):
    pytest.importorskip("torch")
    path = tmp_path / "device.json"
    rows = scale_device.main(path, "cpu", 60)
    assert json.loads(path.read_text())["rows"] == rows
    assert len(rows) == len(scale_device.CASES)
    assert all(row["n"] == 60 and row["finite"] and row["seconds"] > 0 for row in rows)
    monkeypatch.setattr(scale_device, "draw", lambda *_: 1 / 0)
    assert all("ZeroDivisionError" in row["failed"] for row in scale_device.main(path, "cpu", 60))


def test_options_of_scale_are_refused_elsewhere(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["experiments", "bench", "core", "--device", "cuda"])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert "are for bench scale" in capsys.readouterr().err
