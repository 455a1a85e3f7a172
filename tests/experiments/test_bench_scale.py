"""``bench scale``: every rung has its rows, and the device cases run on a CPU. Times are not asserted."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from sklearn.base import clone

from experiments.bench import scale, scale_device
from experiments.bench.scale_limits import limits
from experiments.bench.scale_rivals import Rival
from experiments.command import main
from experiments.measured import measured_page
from mercer.report import Result


@pytest.fixture
def small(monkeypatch):
    """Rungs of a few pairs, measured in this process."""
    rungs = {
        name: replace(
            r,
            solver=clone(r.solver).set_params(rank=30) if hasattr(r.solver, "rank") else r.solver,
            pairs=(60, 90),
            also=(),
        )
        for name, r in scale.RUNGS.items()
    }
    monkeypatch.setattr(scale, "RUNGS", rungs)
    names = ("scikit-learn KernelRidge", "scikit-learn Nystroem + Ridge")
    rivals = {name: replace(scale.RIVALS[name], pairs=(60, 90)) for name in names}
    absent = Rival(scale.RIVALS["GPyTorch exact"].fit, (60,), "no_such_package")
    monkeypatch.setattr(scale, "RIVALS", rivals | {"GPyTorch exact": absent})
    monkeypatch.setattr(scale, "limits", lambda n: limits(40, repeats=1))
    monkeypatch.setattr(scale, "measure_in_process", lambda _, name, n, on: scale.measure(name, n))


def test_every_rung_has_seconds_memory_and_an_exponent(small, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    scale.main(tmp_path / "new" / "scale.json")
    result = Result.read(tmp_path / "new" / "scale.json")
    monkeypatch.setattr(scale, "measure_in_process", lambda *_, **__: pytest.fail("measured again"))
    scale.main(tmp_path / "new" / "scale.json")
    again = Result.read(tmp_path / "new" / "scale.json").rows
    kept = [row for row in result.rows if not row["method"].startswith("limit")]
    assert [row for row in again if not row["method"].startswith("limit")] == kept
    timed = [row for row in result.rows if row["metric"] == "seconds" and not row["method"].startswith("limit")]
    assert [row["n"] for row in timed] == [60, 90] * (len(scale.RUNGS) + 2)
    assert not [row for row in result.rows if "times those" in row["metric"]]  # 3,000 pairs were not measured
    assert {row["metric"] for row in result.rows if row["method"].startswith("limit")} >= {"GFLOP/s", "GB/s"}
    assert result.parameters["not installed"] == ["GPyTorch exact"]
    page = measured_page("bench-scale", result, json.loads(Path("results/device/bench-scale-device.json").read_text()))
    assert "| method | n = 60 | n = 90 |" in page.replace("\N{NO-BREAK SPACE}", " ")
    assert "NVIDIA H200" in page
    picture = (tmp_path / "new" / "scale.svg").read_text()
    assert picture.count("<svg") == 1
    error = {
        row["method"]: row["value"] for row in result.rows if row["metric"].startswith("squared") and row["n"] == 90
    }
    # one model with and without an unpenalised mean, of outputs around zero
    assert error["exact, one alpha"] == pytest.approx(error["scikit-learn KernelRidge"], abs=0.02)
    assert error["exact, one alpha"] == pytest.approx(error["conjugate gradients"], abs=1e-6)
    solved = [row for row in result.rows if row["method"] == "conjugate gradients" and "n" in row]
    assert all(0 < row["residual"] <= 1e-8 for row in solved)
    exponents = [row for row in result.rows if "exponent" in row and row["method"] in scale.RUNGS]
    assert len(exponents) == len(scale.RUNGS)
    assert all(row["value"] == abs(row["exponent"] - scale.RUNGS[row["method"]].exponent) for row in exponents)


def test_device_cases_run_anywhere_and_failures_are_rows(tmp_path, monkeypatch):
    pytest.importorskip("torch")
    path = tmp_path / "device.json"
    rows = scale_device.main(path, "cpu", 60)
    assert json.loads(path.read_text())["rows"] == rows
    assert len(rows) == 1 + len(scale_device.CASES)
    assert rows[0]["equal"]
    assert all(row["n"] == 60 and row["finite"] and row["seconds"] > 0 for row in rows[1:])
    monkeypatch.setattr(scale_device, "draw", lambda *_: 1 / 0)
    assert all("ZeroDivisionError" in row["failed"] for row in scale_device.main(path, "cpu", 60)[1:])


def test_options_of_scale_are_refused_elsewhere(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["experiments", "bench", "core", "--device", "cuda"])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert "--device and --jobs are for bench scale" in capsys.readouterr().err


def test_paths_are_compared_with_rivals_on_as_many_pairs():
    himalaya = "himalaya KernelRidgeCV, 20 alphas"
    found = {(scale.COMPARED, n): [9.0, 2.0] for n in (1000, 3000, 4000)}
    found |= {(himalaya, 1000): [9.0, 4.0], (himalaya, 2000): [9.0, 9.0], (himalaya, 3000): [9.0, 22.0]}
    small, large = scale.ratio_rows(found)
    assert (small["n"], small["value"], small["bar"]) == (1000, 2.0, None)
    assert (large["n"], large["value"], large["bar"], large["met"]) == (3000, 11.0, 9.0, True)


def test_a_path_is_compared_with_its_eigendecomposition():
    alone = [{"method": "limit: eigendecomposition", "n": 3000, "value": 2.0}, {"method": "limit: copy", "n": 3000}]
    found = {
        ("scikit-learn grid of 20 alphas", 3000): [23.0, 46.0],
        ("scikit-learn grid of 20 alphas", 1000): [4.0, 8.0],
    }
    (note,) = scale.path_notes(alone, found)
    assert note.startswith("scikit-learn grid of 20 alphas takes the time of 11.5 eigendecompositions of 3,000 pairs")


def test_jobs_have_cores_of_their_own(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2, 5, 6}, raising=False)
    assert scale._cores_of(1) == [()]
    assert scale._cores_of(2) == [(0, 1), (2, 5)]
    with pytest.raises(ValueError, match="jobs=3 need 6 cores, two each; this process may use 5"):
        scale._cores_of(3)
