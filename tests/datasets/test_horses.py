import numpy as np
import pytest

from mercer.datasets import load_horses, store


@pytest.mark.data
def test_horses():
    folder = store.data_folder()
    if folder is None or not (folder / "weizmann_horses32").is_dir():
        pytest.skip("needs the horses: set MERCER_DATA to a folder that holds weizmann_horses32/")
    parts = load_horses()
    assert {name: len(part.images) for name, part in parts.items()} == {"train": 160, "val": 40, "test": 128}
    for part in parts.values():
        assert part.images.dtype == np.uint8
        assert 0.1 < part.masks.mean() < 0.5
    every = np.concatenate([part.images.reshape(len(part.images), -1) for part in parts.values()])
    assert len(np.unique(every, axis=0)) == 328, "no picture is in two parts"
