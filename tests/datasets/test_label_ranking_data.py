import numpy as np
import pytest

from mercer.datasets import load_label_ranking, store
from mercer.datasets.labels import RANKINGS


@pytest.mark.data
@pytest.mark.parametrize(("name", "distinct"), [("iris", 5), ("glass", 30), ("vehicle", 18), ("authorship", 17)])
def test_rankings_are_the_ones_described(name, distinct):
    if store.data_folder() is None or not (store.data_folder() / "label_ranking").is_dir():
        pytest.skip("needs the label ranking sets: set MERCER_DATA to a folder that holds label_ranking/")
    data = load_label_ranking(name)
    assert (*data.X.shape, data.ranks.shape[1]) == RANKINGS[name]
    assert len(np.unique(data.ranks, axis=0)) == distinct
    assert data.ranks.min() == 0


def test_another_set_is_named():
    with pytest.raises(ValueError, match="name='wine'; expected .authorship., .glass."):
        load_label_ranking("wine")


def test_a_file_of_other_shape_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "iris.npz"
    np.savez(path, X=np.zeros((150, 4)), ranks=np.zeros((150, 4)), labels=np.array(["a"]), features=np.array(["b"]))
    monkeypatch.setattr("mercer.datasets.store.fetch", lambda name: path)
    with pytest.raises(ValueError, match=r"label_ranking/iris.npz holds .*; expected"):
        load_label_ranking("iris")
