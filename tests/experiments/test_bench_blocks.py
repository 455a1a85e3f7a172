"""The benchmark of fits on memory maps."""

from experiments.bench import blocks


def test_a_fit_is_measured_beside_its_products():
    seconds, core, products, peak, residual, error = blocks.measure(3000, rank=60)
    assert seconds > 0
    assert core > 0
    assert products > 0
    assert peak >= 0
    assert 0 < residual < 1
    assert error < 1


def test_a_search_is_measured():
    seconds, core, peak = blocks.measure_candidates(2000)
    assert seconds > 0
    assert core > 0
    assert peak >= 0


def test_rows(monkeypatch):
    monkeypatch.setattr(blocks, "measure_in_process", lambda *arguments: [3.0, 2.0, 1.5, 0.5, 0.1, 0.3])
    rows = blocks.fit_rows(1_000_000)
    assert [row["met"] for row in rows if row["bar"] is not None] == [True, True]
    assert all(row["bar"] is None for row in blocks.fit_rows(5000))
    monkeypatch.setattr(blocks, "measure_in_process", lambda *arguments: [3.0, 2.0, 1.5])
    assert [row["met"] for row in blocks.candidate_rows(1000)] == [None, True]
