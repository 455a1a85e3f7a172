import numpy as np
import pytest

from mercer.datasets import load_multilabel, store
from mercer.datasets.labels import LABEL_SETS


@pytest.mark.data
@pytest.mark.parametrize("name", LABEL_SETS)
def test_the_official_splits(name):
    if store.data_folder() is None or not (store.data_folder() / "multilabel" / name).is_dir():
        pytest.skip(f"needs the multi-label sets: set MERCER_DATA to a folder that holds multilabel/{name}/")
    data = load_multilabel(name)
    train, test, features, labels = LABEL_SETS[name]
    assert data.X_train.shape == (train, features)
    assert data.Y_test.shape == (test, labels)
    assert set(np.unique(data.Y_train)) == {0, 1}
    whole = np.vstack([data.Y_train, data.Y_test])
    cardinality = {"bibtex": 2.402, "corel5k": 3.522, "emotions": 1.869, "enron": 3.378, "yeast": 4.237}
    assert whole.sum(axis=1).mean() == pytest.approx(cardinality[name], abs=1e-3)
    assert data.names(data.Y_train[0]) == [data.labels[j] for j in np.flatnonzero(data.Y_train[0])]


def test_what_is_wrong_with_a_file_is_named(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="name='scene'; expected 'bibtex'"):
        load_multilabel("scene")
    path = tmp_path / "multilabel" / "emotions" / "emotions.npz"
    path.parent.mkdir(parents=True)
    monkeypatch.setenv("MERCER_DATA", str(tmp_path))

    def written(labels):
        rows = {"train": 391, "test": 202}
        arrays = {f"X_{split}": np.zeros((n, 72)) for split, n in rows.items()}
        for split, n in rows.items():
            arrays[f"Y_{split}_indices"] = np.full(n, labels)
            arrays[f"Y_{split}_indptr"] = np.arange(n + 1)
            arrays[f"Y_{split}_shape"] = np.array([n, 6])
        np.savez(path, labels=np.zeros(6, dtype="U1"), features=np.zeros(72, dtype="U1"), **arrays)
        digest = store.hashlib.sha256(path.read_bytes()).hexdigest()
        monkeypatch.setitem(store.SOURCES, "multilabel/emotions/emotions.npz", store.Source(digest))
        return load_multilabel("emotions")

    assert written(2).Y_train[:, 2].all()
    with pytest.raises(ValueError, match=r"Y_train in .* has entries in columns 6 to 6; expected 0 to 5"):
        written(6)
