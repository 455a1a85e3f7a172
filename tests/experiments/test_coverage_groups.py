import numpy as np
import pytest

from experiments.beyond import coverage, coverage_groups
from experiments.registry import experiment
from experiments.runner import reproduce
from mercer.datasets import store

FOLDERS = ("multi_target", "label_ranking")


def _needs_data():
    if store.data_folder() is None or not all((store.data_folder() / name).is_dir() for name in FOLDERS):
        pytest.skip("needs the multi-target and label ranking sets: set MERCER_DATA to a folder that holds them")


@pytest.mark.data
def test_groups_are_drawn_whole_copies_are_exact_and_inputs_tie():
    _needs_data()
    name = coverage.TASKS[2]
    grouped = coverage_groups.pairs(name, coverage_groups.GROUPS)
    train, held, test = (set(grouped.groups[rows]) for rows in grouped.split(0))
    assert (len(train), len(held)) == (grouped.trained, grouped.calibrated)
    assert len(test) > 10
    assert not (train & held)
    assert not (train & test)
    assert not (held & test)
    plain = coverage.vector_task(name)
    copied = coverage_groups.pairs(name, coverage_groups.COPIES)
    rows, times = np.unique(np.hstack([copied.inputs, copied.outputs]), axis=0, return_counts=True)
    assert len(rows) == len(plain.outputs)
    assert set(times) == {1, 2, 3}
    tied = coverage_groups.pairs(name, coverage_groups.TIES)
    assert len(np.unique(tied.inputs, axis=0)) == coverage_groups.KINDS
    assert len(np.unique(np.hstack([tied.inputs, tied.outputs]), axis=0)) < 0.6 * len(plain.outputs)


@pytest.mark.data
def test_the_small_run(tmp_path):
    _needs_data()
    chosen = experiment("coverage-groups")
    result = reproduce(chosen, tmp_path, small=True)
    found = {(row["condition"], row["task"], row["method"], row["metric"], row["asked"]): row for row in result.rows}
    for condition in coverage_groups.CONDITIONS:
        for task in (coverage.TASKS[2], coverage.TASKS[-1]):
            for method in (coverage.HELD_OUT, coverage.LEFT_OUT, coverage.JACKKNIFE):
                levels = [
                    found[condition, task, method, coverage.COVERAGE, level]["value"] for level in coverage.LEVELS
                ]
                assert np.all(np.diff(levels) >= 0)
                assert levels[1] > 0.75
                assert levels[2] < 1.0 or task == coverage.TASKS[-1]  # sets for every object cover every ranking
    assert sum("jackknife+" in note for note in chosen.notes(result.rows)) == 3
