"""The small version of the experiment on candidates that were not trained on."""

import numpy as np
import pytest

from experiments.beyond.candidates import AUTO, CHOSEN, LOSSES, SPELLING, misspelt
from experiments.registry import experiment
from experiments.runner import reproduce
from mercer.datasets import store

FOLDERS = ("strings", "qm9", "msms_massbank")


@pytest.mark.data
@pytest.mark.filterwarnings("ignore::mercer.core.arrays.NumericalWarning")
def test_new_candidates_small(tmp_path):
    pytest.importorskip("rdkit", reason="rdkit is not installed")
    folder = store.data_folder()
    if folder is None or not all((folder / name).is_dir() for name in FOLDERS):
        pytest.skip(f"needs words and molecules: set MERCER_DATA to a folder that holds {FOLDERS}")
    rows = reproduce(experiment("candidates"), tmp_path, small=True).rows
    at = {(row["task"], row["loss"], row["method"]): row["value"] for row in rows}
    for task, losses in LOSSES.items():
        for loss in losses:
            given = [
                value for (*case, method), value in at.items() if case == [task, loss] and method not in (AUTO, CHOSEN)
            ]
            assert at[task, loss, CHOSEN] >= max(given) - 10.0
        assert at[task, "ZeroOne", CHOSEN] > at[task, "ZeroOne", "expected loss"] + 20.0
    assert min(at[SPELLING, loss, method] for loss in LOSSES[SPELLING] for method in (CHOSEN, AUTO)) >= 86.0


def test_a_misspelt_word_is_one_edit_away():
    rng = np.random.default_rng(0)
    found = {misspelt("abcd", ["x"], rng) for _ in range(200)}
    dropped, swapped = {"bcd", "acd", "abd"}, {"bacd", "acbd", "abdc"}
    added, replaced = {"xabcd", "axbcd", "abxcd"}, {"xbcd", "axcd", "abxd"}
    assert found == dropped | swapped | added | replaced
