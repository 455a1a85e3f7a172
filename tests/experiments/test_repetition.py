"""Two runs with one seed: the same result but for times, whatever the order of Python's hashes."""

import copy
import json

import pytest

from experiments import repetition
from experiments.registry import EXPERIMENTS
from mercer.report import Result

QUICK = ("toy-strings-construction", "tree-parsing")
"""Experiments whose data are drawn; `python -m experiments repeat all` has every one."""


def test_two_runs_give_the_same_result_but_for_times(tmp_path):
    assert set(QUICK) <= EXPERIMENTS.keys()
    assert repetition.run_twice(QUICK, tmp_path) == []
    assert all((tmp_path / seed / f"{name}.json").is_file() for seed in repetition.HASH_SEEDS for name in QUICK)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("rows", 0, "value"), 0.5 + 1e-15, "toy: {'method': 'm', 'metric': 'loss'"),
        (("parameters", "alpha"), 2.0, "toy: parameters differ"),
        (("seeds",), [1], "toy: seeds differ"),
        (("rows",), [], "toy: 2 rows and 0 rows"),
        (("rows", 1, "value"), 9.0, None),
        (("seconds",), 9.0, None),
    ],
)
def test_every_part_but_times_is_compared(tmp_path, path, value, message):
    rows = [
        {"method": "m", "metric": "loss", "value": 0.5, "error": 0.1},
        {"method": "m", "metric": "CPU seconds", "value": 1.0, "error": None},
    ]
    content = json.loads(Result("toy", rows, {"alpha": 1.0}, [0], seconds=1.0).to_json())
    other = copy.deepcopy(content)
    inner = other
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    for folder, each in (("a", content), ("b", other)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "toy.json").write_text(json.dumps(each))
    found = repetition.differences(tmp_path / "a" / "toy.json", tmp_path / "b" / "toy.json")
    assert len(found) == (message is not None)
    assert message is None or found[0].startswith(message)


def test_a_run_that_fails_is_told(tmp_path):
    with pytest.raises(
        ValueError, match="the run with PYTHONHASHSEED=1 failed:\nexperiments: there is no experiment 'nothing'"
    ):
        repetition.run_twice(["nothing"], tmp_path)
