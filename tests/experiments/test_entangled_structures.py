"""The small version of entangled kernels for structured outputs."""

import pytest

from experiments.registry import experiment
from experiments.runner import reproduce
from mercer.datasets import store


@pytest.mark.data
def test_small_version(tmp_path):
    if store.data_folder() is None or not (store.data_folder() / "usps").is_dir():
        pytest.skip("needs the USPS digits: set MERCER_DATA to a folder that holds usps/")
    made = experiment("entangled-structures")
    rows = reproduce(made, tmp_path, small=True).rows
    at = {(row["task"], row["method"], row["metric"]): row["value"] for row in rows}
    for task in ("lower half of a digit", "toy strings"):
        for method in ("covariance", "OKL", "EKL", "ptrEKL"):
            gap = at[task, method, "loss of the output kernel"] - at[task, "ridge", "loss of the output kernel"]
            assert at[task, method, "difference of the loss to ridge"] == pytest.approx(gap)
            assert at[task, method, "class error"] < 0.7
    assert len(made.notes(rows)) == 2
