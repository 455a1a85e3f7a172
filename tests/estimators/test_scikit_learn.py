"""scikit-learn's own contract for arrays, and what it cannot check for objects."""

import numpy as np
import pandas as pd
import pytest
from expected_failures import expected_failures
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import AutoEstimator, DependencyEstimator, NeighborsEstimator
from mercer.decoders import Candidates
from mercer.kernels import Classes, Gaussian, LabelSets, Linear, Precomputed, Subsequence
from mercer.operators import ConditionalCovariance, Covariance
from mercer.solvers import LowRank


@parametrize_with_checks(
    [
        DependencyEstimator(),
        DependencyEstimator(alpha=0.1),
        DependencyEstimator(Precomputed(), Linear()),
        DependencyEstimator(Precomputed().clipped(), Linear()),
        DependencyEstimator(Gaussian("median"), Gaussian("median"), Covariance(), decoder=Candidates()),
        DependencyEstimator(operator=ConditionalCovariance(0.1)),
        DependencyEstimator(solver=LowRank(tol=1e-8)),
        NeighborsEstimator(k=2),
        AutoEstimator(effort="fast", time_limit=1e-9),
        NeighborsEstimator(Precomputed(), Linear(), k=1),
    ],
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("ignore::mercer.NumericalWarning")
def test_scikit_learn_contract(estimator, check):
    check(estimator)


WORDS = ["abab", "abba", "baab", "bbaa", "aabb", "baba", "abaa", "bbab", "aaab", "babb", "abbb", "baaa"] * 2
SETS = [{w[0], w[-1] + "!"} for w in WORDS]


class Blob:
    """An object nothing is known about but what its kernel says."""

    def __init__(self, value):
        self.value = value


def blob_kernel(a, b):
    return float(np.exp(-((a.value - b.value) ** 2)))


def objects_of_kind(kind):
    from mercer.kernels import FromFunction

    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((len(WORDS), 3))
    blobs = [Blob(v) for v in rng.standard_normal(len(WORDS))]
    return {
        "strings to strings": (Subsequence(2), Subsequence(2).normalized(), WORDS, [w[::-1] for w in WORDS]),
        "strings to label sets": (Subsequence(2), LabelSets(), WORDS, SETS),
        "vectors to strings": (Gaussian("median"), Subsequence(2).normalized(), vectors, WORDS),
        "objects to classes": (FromFunction(blob_kernel), Classes(), blobs, [w[0] for w in WORDS]),
        "objects to objects": (FromFunction(blob_kernel), FromFunction(blob_kernel), blobs, blobs[::-1]),
    }[kind]


KINDS = [
    "strings to strings",
    "strings to label sets",
    "vectors to strings",
    "objects to classes",
    "objects to objects",
]


@pytest.mark.parametrize("kind", KINDS)
class TestObjects:
    def test_predict_gives_one_training_object_each(self, kind):
        input_kernel, output_kernel, X, Y = objects_of_kind(kind)
        predicted = DependencyEstimator(input_kernel, output_kernel, alpha=0.1).fit(X, Y).predict(X)
        assert isinstance(predicted, np.ndarray)
        assert predicted.dtype == object
        assert predicted.shape == (len(X),)
        assert all(any(p is y or p == y for y in Y) for p in predicted)

    def test_clone_keeps_parameters_and_drops_the_fit(self, kind):
        input_kernel, output_kernel, X, Y = objects_of_kind(kind)
        model = DependencyEstimator(input_kernel, output_kernel, alpha=0.1).fit(X, Y)
        copy = clone(model)
        assert copy.get_params(deep=False)["input_kernel"] == input_kernel
        assert not hasattr(copy, "embedding_")

    def test_cross_val_predict_gives_objects(self, kind):
        input_kernel, output_kernel, X, Y = objects_of_kind(kind)
        model = DependencyEstimator(input_kernel, output_kernel, alpha=0.1)
        predicted = cross_val_predict(model, X, Y, cv=KFold(3))
        assert predicted.dtype == object
        assert predicted.shape == (len(X),)
        assert all(type(p) is type(Y[0]) for p in predicted)

    def test_grid_search_over_nested_parameters(self, kind):
        input_kernel, output_kernel, X, Y = objects_of_kind(kind)
        model = DependencyEstimator(input_kernel, output_kernel)
        nested = {"strings": "input_kernel__decay", "vectors": "input_kernel__scale"}.get(kind.split()[0])
        grid = {"alpha": [0.01, 1.0]} | ({nested: [0.3, 0.9]} if nested else {})
        search = GridSearchCV(model, grid, cv=3, error_score="raise").fit(X, Y)
        assert set(search.best_params_) == set(grid)
        assert search.best_score_ <= 0
        assert len(search.predict(X)) == len(X)

    def test_pandas_column_in(self, kind):
        input_kernel, output_kernel, X, Y = objects_of_kind(kind)
        if kind.startswith("vectors"):
            columns = pd.DataFrame(X, index=np.arange(len(X))[::-1])
        else:
            columns = pd.Series(list(X), index=np.arange(len(X))[::-1])
        model = DependencyEstimator(input_kernel, output_kernel, alpha=0.1)
        expected = model.fit(X, Y).predict(X)
        found = model.fit(columns, pd.Series(list(Y))).predict(columns)
        assert all(a is b or a == b for a, b in zip(expected, found, strict=True))

    def test_order_of_the_pairs_does_not_matter(self, kind):
        input_kernel, output_kernel, X, Y = objects_of_kind(kind)
        order = np.random.default_rng(1).permutation(len(X))
        model = DependencyEstimator(input_kernel, output_kernel, alpha=0.1)
        weights = model.fit(X, Y).decision_weights(X)
        shuffled = model.fit([X[i] for i in order], [Y[i] for i in order]).decision_weights(X)
        assert np.allclose(weights[:, order], shuffled, atol=1e-8)


@pytest.mark.parametrize("kind", ["strings to strings", "strings to label sets", "objects to objects"])
def test_candidates_of_each_input_as_pandas_columns(kind):
    input_kernel, output_kernel, X, Y = objects_of_kind(kind)
    model = DependencyEstimator(input_kernel, output_kernel, alpha=0.1).fit(X, Y)
    sets = [Y[3:6], Y[7:9]]
    expected = model.predict(X[:2], candidates=sets)
    assert list(model.predict(X[:2], candidates=[pd.Series(each, index=[5] * len(each)) for each in sets])) == list(
        expected
    )


def test_candidates_of_each_input_as_columns_and_tables_of_numbers():
    X = np.random.default_rng(0).standard_normal((12, 3))
    numbers = DependencyEstimator(alpha=0.1).fit(X, X[:, 0])
    assert numbers.predict(X[:2], candidates=[pd.Series([50.0]), pd.Series([1e3, 70.0])]).tolist() == [50.0, 70.0]
    vectors = DependencyEstimator(alpha=0.1).fit(X, X)
    found = vectors.predict(X[:2], candidates=[pd.DataFrame(X[:1] + 9), pd.DataFrame(X[1:2] - 9)])
    assert np.array_equal(found, [X[0] + 9, X[1] - 9])


def test_precomputed_grams_are_sliced_on_both_sides():
    kernel = Subsequence(2).normalized()
    K = kernel(WORDS)
    on_gram = DependencyEstimator(Precomputed(), LabelSets(), alpha=0.1)
    on_words = DependencyEstimator(kernel, LabelSets(), alpha=0.1)
    assert np.allclose(cross_val_score(on_gram, K, SETS, cv=3), cross_val_score(on_words, WORDS, SETS, cv=3))
    search = GridSearchCV(on_gram, {"alpha": [0.1, 1.0]}, cv=3, error_score="raise").fit(K, SETS)
    assert search.predict(K[:2]).shape == (2,)


def test_output_gram_with_indices_works_in_cross_validation():
    L = Subsequence(2).normalized()(WORDS)
    by_gram = DependencyEstimator(Subsequence(2), Precomputed(L), alpha=0.1, decoder=Candidates())
    by_words = DependencyEstimator(Subsequence(2), Subsequence(2).normalized(), alpha=0.1)
    found = cross_val_predict(by_gram, WORDS, np.arange(len(WORDS)), cv=3)
    expected = cross_val_predict(by_words, WORDS, WORDS, cv=3)
    assert [WORDS[i] for i in found] == list(expected)


def test_pipelines_for_vectors_and_for_strings():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((len(WORDS), 3))
    pipe = make_pipeline(StandardScaler(), DependencyEstimator(Gaussian("median"), Classes()))
    assert pipe.fit(X, WORDS).predict(X).shape == (len(WORDS),)
    lower = FunctionTransformer(lambda words: [w.lower() for w in words])
    pipe = make_pipeline(lower, DependencyEstimator(Subsequence(2), Classes(), alpha=0.01))
    upper = [w.upper() for w in WORDS]
    plain = DependencyEstimator(Subsequence(2), Classes(), alpha=0.01).fit(WORDS, WORDS)
    assert list(pipe.fit(upper, WORDS).predict(upper)) == list(plain.predict(WORDS))


def test_html_and_text_repr_name_the_parts():
    model = DependencyEstimator(0.5 * Gaussian(2.0) + Linear(), Classes())
    assert "Gaussian" in model._repr_html_()
    assert "0.5 * Gaussian(scale=2.0) + Linear()" in repr(model)


def test_default_kernels_are_never_changed_by_fit():
    X = np.random.default_rng(0).standard_normal((10, 2))
    model = DependencyEstimator().fit(X, X)
    assert model.input_kernel.scale == "median"
    assert isinstance(model.input_kernel_.scale, float)
    assert DependencyEstimator().input_kernel.scale == "median"
