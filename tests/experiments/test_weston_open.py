"""The small version of what Weston et al. leave open."""

import pytest

from experiments.registry import experiment
from experiments.runner import reproduce
from mercer.datasets import store


@pytest.mark.data
def test_small_version(tmp_path):
    if store.data_folder() is None or not (store.data_folder() / "usps").is_dir():
        pytest.skip("needs the USPS digits: set MERCER_DATA to a folder that holds usps/")
    made = experiment("weston-open")
    rows = reproduce(made, tmp_path, small=True).rows
    at = {(row["task"], row["method"]): row["value"] for row in rows}
    # a picture of its own is nearer than any training half, and denoising takes noise away
    assert at["completion", "KDE, continuous"] < at["completion", "KDE, training half"]
    assert at["denoising", "mercer.KernelPCA"] < 0.8 * at["denoising", "as they are"]
    assert len({value for (task, _), value in at.items() if task == "completion"}) >= 10
    assert len(made.notes(rows)) == 5
