"""The small version of the covariance operators on larger data; classes; the link to kernel dimension reduction."""

import pytest

from experiments.registry import experiment
from experiments.runner import reproduce
from mercer.datasets import store


@pytest.mark.data
def test_small_version(tmp_path):
    if store.data_folder() is None or not (store.data_folder() / "usps").is_dir():
        pytest.skip("needs the USPS digits: set MERCER_DATA to a folder that holds usps/")
    made = experiment("covariance-sizes")
    rows = reproduce(made, tmp_path, small=True).rows
    ratios = [row["value"] for row in rows if row["metric"].startswith("difference")]
    assert len(ratios) == 4
    assert all(0.8 < ratio < 1.2 for ratio in ratios)
    assert len(made.notes(rows)) == 4
