"""Multi-label experiments on the first examples: plausible scores, repeatable, a page; the search against plain fits."""

import numpy as np
import pytest

from experiments.beyond.label_inputs import JACCARD, RANKS, STANDARD, WORDS, around_median, mean_of, written
from experiments.beyond.label_search import ALL_SETS, LabelSearch, by_label, by_size, gaussian_sets, seen_sets
from experiments.protocol import paper_estimator
from experiments.registry import experiment
from experiments.runner import reproduce
from mercer.datasets import store
from mercer.decoders import Standardized
from mercer.kernels import Gaussian, Laplacian, Overlap, Precomputed
from mercer.losses import F1
from mercer.selection import LeaveOneOut


def needs_data():
    if store.data_folder() is None or not (store.data_folder() / "multilabel").is_dir():
        pytest.skip("needs the multi-label sets: set MERCER_DATA to a folder that holds multilabel/")


@pytest.mark.data
@pytest.mark.parametrize("name", ["bibtex", "multilabel"])
def test_small_run(tmp_path, name):
    needs_data()
    found = reproduce(experiment(name), tmp_path / "one", small=True)
    scores = {(row["method"], row.get("setting")): row["value"] for row in found.rows if "F1" in row["metric"]}
    assert all(0.2 < value < 100 for value in scores.values())
    page = (tmp_path / "one" / f"{name}.html").read_text(encoding="utf-8")
    assert "Leave-one-out F1" in page
    assert "true labels" in page
    if name == "bibtex":
        # the recipe in NumPy and the estimator with the same parts give the same sets
        assert scores["IOKR, published recipe", None] == pytest.approx(scores["the same by DependencyEstimator", None])
        assert scores["words by share and idf, outputs matched to F1", None] > scores["IOKR, published recipe", None]
    else:
        again = reproduce(experiment(name), tmp_path / "two", small=True)
        assert again.rows == found.rows


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X = (rng.random((60, 12)) < 0.4).astype(float)
    Y = (X @ rng.normal(size=(12, 4)) > 0.6).astype(np.int8)
    return X, Y


def test_the_search_is_what_the_estimator_finds(problem):
    X, Y = problem
    alphas = [0.05, 0.3, 1.0]
    ways = [ALL_SETS, seen_sets(0.5), seen_sets(1.0), gaussian_sets(1.0), seen_sets(0.8, 0.5)]
    search = LabelSearch(Y, ways, alphas)
    gram = JACCARD.gram(X)
    search.add(JACCARD, gram)
    for way in ways:
        model = paper_estimator(
            Precomputed(), way.kernel, alpha=LeaveOneOut(alphas), decoder=way.decoder, loss=F1()
        ).fit(gram, Y)
        own = [trial.f1 for trial in search.trials if trial.way == way.name]
        best = search.best(ways=[way.name])
        if isinstance(way.decoder, Standardized):  # the estimator chooses alpha before it standardises
            model.set_params(alpha=best.alpha).fit(gram, Y)
            weights = np.linalg.inv(gram + best.alpha * np.eye(60))
            weights = np.eye(60) - weights / np.diag(weights)[:, None]
            decoded = model.decoder_.decode(weights, leave_out=np.arange(60))
            assert best.f1 == pytest.approx(1.0 - F1().paired(Y, decoded).mean())
        else:
            np.testing.assert_allclose(own, 1.0 - model.loo_path_, atol=1e-12)
            assert best.alpha == model.alpha_
        new = JACCARD.gram(X, X[:7])
        np.testing.assert_array_equal(search.predict(best, gram, new), model.predict(new))
    assert search.best() == max(search.trials, key=lambda trial: (trial.f1, trial.alpha))
    assert {(row["recipe"], row["way"]) for row in search.table()} == {("Jaccard", way.name) for way in ways}


def test_how_inputs_are_written_is_learned_from_the_training_inputs():
    rng = np.random.default_rng(1)
    train, test = rng.gamma(2.0, size=(40, 3)), rng.gamma(2.0, size=(5, 3))
    for how in (STANDARD, RANKS, WORDS):
        together = written(train, test, how)
        np.testing.assert_array_equal(together[:1], written(train, test[:1], how))  # no test input looks at another
        assert np.isfinite(together).all()
    scores = written(train, train, RANKS)
    assert (np.argsort(scores, axis=0) == np.argsort(train, axis=0)).all()
    words = written((train > 2.0).astype(float), np.ones((2, 3)), WORDS)
    np.testing.assert_allclose(np.linalg.norm(words, axis=1), 1.0)


def test_recipes():
    X = np.random.default_rng(2).normal(size=(9, 4))
    wide = around_median(X, STANDARD, Laplacian, 2.0)
    narrow = around_median(X, STANDARD, Gaussian, 0.5)
    both = mean_of("both", wide, narrow)
    np.testing.assert_allclose(both.gram(X), (wide.gram(X) + narrow.gram(X)) / 2)
    np.testing.assert_allclose(both.gram(X, X[:3]), both.gram(X)[:3])
    binary = (X > 0).astype(float)
    np.testing.assert_allclose(JACCARD.gram(binary), Overlap(1.0)(binary))


def test_tables_by_size_and_by_label():
    Y = np.array([[1, 0], [1, 1], [1, 0], [0, 1]])
    found = {"right": Y, "first": np.tile([1, 0], (4, 1))}
    sizes = by_size(Y, found)
    assert [row["examples"] for row in sizes] == [3, 1]
    assert all(row["right"] == 1.0 for row in sizes)
    assert sizes[0]["first"] == pytest.approx(2 / 3)
    labels = by_label(Y, found, ["a", "b"])
    assert [row["label"] for row in labels] == ["a", "b"]
    assert labels[0]["first"] == pytest.approx(6 / 7)
    assert labels[1]["first"] == 0.0
