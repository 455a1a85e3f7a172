import numpy as np
import pytest

from experiments.beyond import label_ranking_methods as methods
from experiments.registry import experiment
from experiments.runner import reproduce
from mercer.datasets import store
from mercer.losses import Kendall


def test_inputs_are_prepared_from_the_training_part_alone():
    rng = np.random.default_rng(0)
    train, test = rng.normal(size=(30, 3)), rng.normal(size=(10, 3))
    for form, (first, second) in methods.prepared(train, test).items():
        np.testing.assert_allclose(first.mean(axis=0), 0, atol=1e-12)
        alone = methods.prepared(train, test[:1])[form][1]
        np.testing.assert_allclose(second[:1], alone, atol=1e-12)
        assert np.isfinite(second).all()


def test_methods_learn_a_ranking_they_can(monkeypatch):
    monkeypatch.setattr(methods, "ALPHAS", np.array([0.01, 0.1, 1.0]))
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 2))
    y = np.argsort(np.argsort(X @ rng.normal(size=(2, 4)), axis=1), axis=1)
    found, chosen = methods.predictions(X[:60], y[:60], X[60:])
    assert list(found) == list(methods.METHODS)
    tau = {name: 1 - 2 * Kendall().paired(y[60:], ranks).mean() for name, ranks in found.items()}
    assert tau[methods.MIDDLE] < 0.5 < 0.75 < min(tau[methods.FIRST], tau[methods.BEST])
    assert len(chosen) == methods.MEMBERS
    assert [one.loss for one in chosen] == sorted(one.loss for one in chosen)


@pytest.mark.data
def test_the_small_run(tmp_path):
    if store.data_folder() is None or not (store.data_folder() / "label_ranking").is_dir():
        pytest.skip("needs the label ranking sets: set MERCER_DATA to a folder that holds label_ranking/")
    result = reproduce(experiment("label-ranking"), tmp_path, small=True)
    found = {(row["method"], row["set"]): row["value"] for row in result.rows}
    for name in ("iris", "glass"):
        assert found[methods.MIDDLE, name] < found[methods.FIRST, name]
        assert found[methods.BEST, name] > 0.85
    page = (tmp_path / "label-ranking.html").read_text()
    assert "true order" in page
    again = experiment("label-ranking")
    piece = again.pieces(small=True)[0]
    assert again.run(piece)["tau"] == again.run(piece)["tau"]
