"""The small version of the comparison of max-margin methods."""

import pytest

from experiments.registry import experiment
from experiments.runner import reproduce
from mercer.datasets import store


@pytest.mark.data
def test_small_version(tmp_path):
    folder = store.data_folder()
    if folder is None or not all((folder / name).is_dir() for name in ("usps", "ocr_letters")):
        pytest.skip("needs digits and words: set MERCER_DATA to a folder that holds usps/ and ocr_letters/")
    made = experiment("max-margin")
    rows = reproduce(made, tmp_path, small=True).rows
    gaps = [row["value"] for row in rows if row["metric"] == "difference of primal and dual"]
    assert len(gaps) == 6
    assert all(0 <= gap < 0.1 for gap in gaps)
    losses = {row["method"]: row["value"] for row in rows if row["metric"] == "RBF loss"}
    assert all(0.7 < value < 1.2 for value in losses.values())
    assert losses["structured SVM"] < 1.1 * losses["ridge"]
    assert len(made.notes(rows)) == 3
