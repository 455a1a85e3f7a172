import numpy as np
import pytest

from experiments.beyond import coverage
from experiments.registry import experiment
from experiments.runner import reproduce
from mercer.datasets import store


@pytest.mark.data
def test_the_small_run(tmp_path):
    folders = ("functional", "multi_target", "label_ranking")
    if store.data_folder() is None or not all((store.data_folder() / name).is_dir() for name in folders):
        pytest.skip("needs curves, multi-target and label ranking sets: set MERCER_DATA to a folder that holds them")
    chosen = experiment("coverage")
    result = reproduce(chosen, tmp_path, small=True)
    found = {(row["task"], row["method"], row["metric"], row["asked"]): row["value"] for row in result.rows}
    for task in (coverage.TASKS[0], coverage.TASKS[3], coverage.TASKS[-1]):
        for method in (coverage.HELD_OUT, coverage.LEFT_OUT, coverage.JACKKNIFE):
            assert found[task, method, coverage.COVERAGE, 0.9] > 0.75
            sizes = [found[task, method, coverage.SIZE, level] for level in coverage.LEVELS]
            assert np.all(np.diff(sizes) > 0)
    assert (
        found[coverage.TASKS[3], coverage.BOX, coverage.SIZE, 0.9]
        > found[coverage.TASKS[3], coverage.HELD_OUT, coverage.SIZE, 0.9]
    )
    assert any("jackknife+" in note for note in chosen.notes(result.rows))


@pytest.mark.parametrize("package", ["mapie", "crepes"])
def test_other_packages_have_the_same_intervals_on_the_same_predictions(package):
    pytest.importorskip(package)
    rng = np.random.default_rng(0)
    known, truth, new = rng.normal(size=(3, 59))
    ends = getattr(coverage, f"_{package}")(known, truth, new)
    sizes = np.sort(np.abs(truth - known))
    half = (ends[:, 1] - ends[:, 0])[:, 0] / 2
    places = np.array([47, 53, 56])  # the 48th, 54th and 57th of 59
    # crepes rounds (1 - c)(m + 1) down, in floating point, and may take the next one
    assert np.all(half >= sizes[places] - 1e-9)
    assert np.all(half <= sizes[places + (package == "crepes")] + 1e-9)
    np.testing.assert_allclose(ends.mean(axis=1), np.tile(new, (3, 1)), atol=1e-9)


def test_widths_are_means_over_splits_where_they_are_finite():
    splits = [{"a": [(1.0, None)] * 3}, {"a": [(0.5, 2.0), (0.5, None), (0.5, 4.0)]}]
    rows = {(row["metric"], row["asked"]): row["value"] for row in coverage.rows_of(splits, task="t")}
    assert rows["coverage", 0.9] == 0.75
    assert (rows["size", 0.8], rows["size", 0.95]) == (2.0, 4.0)
    assert ("size", 0.9) not in rows
