"""Estimators fitted on sparse inputs give the answers of those fitted on dense ones."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVR

import mercer
from mercer import (
    CurveRidge,
    DependencyEstimator,
    EntangledRidge,
    NeighborsEstimator,
    OperatorValuedRidge,
    OutputKernelLearning,
)
from mercer.core.collections import member, take
from mercer.estimators import JointKernelMap
from mercer.kernels import (
    Classes,
    Gaussian,
    GaussianOf,
    LabelSets,
    Laplacian,
    Linear,
    Overlap,
    Patches,
    Polynomial,
    Precomputed,
    Subsequence,
)
from mercer.losses import F1
from mercer.operators import (
    ConditionalCovariance,
    Covariance,
    CurlFree,
    Entangled,
    Nystroem,
    PatchwiseJoint,
    RandomFourier,
    Separable,
    SumOfSeparable,
    Transformable,
)
from mercer.solvers import LowRank

pytestmark = pytest.mark.filterwarnings("ignore::mercer.NumericalWarning")

RNG = np.random.default_rng(0)
X = np.where(RNG.random((30, 12)) < 0.4, RNG.standard_normal((30, 12)), 0.0)
X[3] = 0.0
WIDE = np.hstack([X, np.where(RNG.random((30, 60)) < 0.05, 1.0, 0.0)])
NEW = np.where(RNG.random((7, 12)) < 0.4, RNG.standard_normal((7, 12)), 0.0)
Y = np.column_stack([X[:, :3].sum(axis=1), np.sin(X[:, 4]), X[:, 5] ** 2])
SETS = [frozenset("abcd"[j] for j in range(4) if row[j] != 0) for row in X]

MODELS = {
    "defaults": DependencyEstimator(),
    "few features": DependencyEstimator(Linear(), Linear()),
    "few features, one alpha": DependencyEstimator(Linear() + 0.5 * Linear().normalized(), alpha=0.1),
    "cosine": DependencyEstimator(Linear().normalized() * Gaussian(2.0), alpha=0.1),
    "polynomial": DependencyEstimator(Polynomial(2), alpha=0.1),
    "laplacian": DependencyEstimator(Laplacian("median")),
    "centred": DependencyEstimator((Linear() + Gaussian(2.0)).centered(), alpha=0.1),
    "gaussian of cosine": DependencyEstimator(GaussianOf(Linear().normalized(), "median"), operator=Covariance()),
    "conditional covariance": DependencyEstimator(Gaussian(2.0), operator=ConditionalCovariance(0.1), alpha=0.1),
    "low rank": DependencyEstimator(Gaussian("median"), solver=LowRank(rank=20), alpha=0.1),
    "low rank, linear": DependencyEstimator(Linear(), solver=LowRank(rank=8), alpha=0.1),
    "neighbours": NeighborsEstimator(Gaussian("median"), Linear(), k=3),
    "neighbours by leave-one-out": NeighborsEstimator(Linear().normalized(), Linear(), k="loo"),
    "separable": OperatorValuedRidge(Separable(Gaussian("median"), np.eye(3) + 0.5)),
    "separable, few features": OperatorValuedRidge(Separable(Linear()), alpha=0.1),
    "sum": OperatorValuedRidge(SumOfSeparable([(Gaussian(1.0), np.eye(3)), (Linear(), np.eye(3) + 1.0)]), alpha=0.1),
    "curves": CurveRidge(Gaussian("median"), alpha=0.1),
    "entangled": EntangledRidge(Gaussian("median"), kraus_rank=3, random_state=0, alpha=0.1),
    "entangled, random features": EntangledRidge(
        features=RandomFourier(Gaussian(2.0), 40, random_state=0), kraus_rank=3, random_state=0, alpha=0.1
    ),
    "entangled features": OperatorValuedRidge(Entangled(Nystroem(Gaussian(2.0), 5), np.eye(15)[:, :6], 3), alpha=0.1),
    "output kernel": OutputKernelLearning(Gaussian("median"), alpha=0.1),
    "joint": JointKernelMap(alpha=0.1),
    "support vectors": DependencyEstimator(Linear(), Linear(), regressor=SVR(kernel="linear")),
    "support vectors on a Gram matrix": DependencyEstimator(
        Gaussian(2.0), Linear(), regressor=SVR(kernel="precomputed")
    ),
    "ridge": DependencyEstimator(Linear(), Linear(), regressor=Ridge(solver="sparse_cg", tol=1e-12)),
}


@pytest.mark.parametrize("name", MODELS)
def test_answers_are_those_of_dense_inputs_in_any_mixture(name):
    model = MODELS[name]
    on_dense = clone(model).fit(X, Y)
    on_sparse = clone(model).fit(sparse.csr_matrix(X), Y)
    wanted = on_dense.predict(NEW)
    # iterations (support vectors, ascent) stop at a tolerance of their own
    atol = 1e-3 if "support" in name else 1e-6 if "entangled" in name or "output" in name else 1e-9
    for found in (on_dense, on_sparse):
        for new in (NEW, sparse.coo_array(NEW), sparse.csc_matrix(NEW)):
            np.testing.assert_allclose(found.predict(new), wanted, atol=atol)
        np.testing.assert_allclose(found.predict(sparse.csr_array(NEW)[[2]]), wanted[2:3], atol=atol)
    assert on_sparse.n_features_in_ == 12
    left = [fitted.map_.left_out_points() for fitted in (on_dense, on_sparse)]
    np.testing.assert_allclose(left[1], left[0], atol=10 * atol)
    assert model.__sklearn_tags__().input_tags.sparse


@pytest.mark.parametrize("model", [DependencyEstimator(alpha=0.1), DependencyEstimator(Linear(), alpha=0.1)], ids=repr)
def test_more_columns_than_rows(model):
    on_dense, on_sparse = clone(model).fit(WIDE, Y), clone(model).fit(sparse.csr_array(WIDE), Y)
    np.testing.assert_allclose(on_sparse.predict(WIDE), on_dense.predict(sparse.csr_array(WIDE)), atol=1e-9)


@pytest.mark.parametrize("kernel", [Gaussian("median"), Overlap(1.0), LabelSets() + Linear()], ids=repr)
def test_label_sets_weights_and_explanations(kernel):
    rows = (X != 0).astype(float)
    on_dense = DependencyEstimator(kernel, LabelSets(), loss=F1()).fit(rows, SETS)
    on_sparse = DependencyEstimator(kernel, LabelSets(), loss=F1()).fit(sparse.csr_array(rows.astype(bool)), SETS)
    assert list(on_sparse.predict(sparse.csr_array(rows[:5]))) == list(on_dense.predict(rows[:5]))
    weights = on_dense.decision_weights(rows[:5])
    np.testing.assert_allclose(on_sparse.decision_weights(sparse.csr_array(rows[:5])), weights, atol=1e-9)
    wanted = on_dense.explain(rows[4])
    for one in (rows[4], sparse.csr_array(rows)[[4]], sparse.csr_matrix(rows)[4]):
        found = on_sparse.explain(one)
        assert found.prediction == wanted.prediction
        assert [carrier.position for carrier in found.carriers] == [carrier.position for carrier in wanted.carriers]
        assert np.array_equal(found.carriers[0].input, wanted.carriers[0].input)
        assert "all other pairs" in str(found)
    sets = [each.predict_set(rows[:3], coverage=0.5) for each in (on_dense, on_sparse)]
    assert [list(found.objects) for found in sets[0]] == [list(found.objects) for found in sets[1]]


def test_weights_groups_and_rows_left_out():
    weight, groups = np.arange(30) % 4, np.arange(30) // 3
    found = [
        DependencyEstimator(Gaussian("median")).fit(form(X), Y, sample_weight=weight, groups=groups).predict(NEW)
        for form in (np.asarray, sparse.csr_array)
    ]
    np.testing.assert_allclose(found[0], found[1], atol=1e-9)


def test_sparse_indicators_out_for_sparse_inputs():
    labels = sparse.csr_array((X[:, :4] != 0).astype(int))
    model = DependencyEstimator(Linear().normalized(), LabelSets(), loss=F1()).fit(sparse.csr_array(X), labels)
    found = model.predict(sparse.csr_array(NEW))
    assert type(found) is sparse.csr_array
    dense = DependencyEstimator(Linear().normalized(), LabelSets(), loss=F1()).fit(X, labels.toarray()).predict(NEW)
    assert np.array_equal(found.toarray(), dense)


def test_saved_and_loaded(tmp_path):
    for name in ("defaults", "few features", "centred", "low rank", "neighbours", "sum", "support vectors"):
        model = clone(MODELS[name]).fit(sparse.csr_matrix(X), Y)
        loaded = mercer.load(mercer.save(model, tmp_path / "model.skops"))
        assert np.array_equal(loaded.predict(sparse.csr_array(NEW)), model.predict(sparse.csr_array(NEW)))


def test_pipelines_searches_and_folds():
    texts = ["red green", "green blue sky", "sky", "blue red", "green", "sky red red", "blue sky", "green red"] * 3
    answers = [min(text.split()) for text in texts]
    pipe = make_pipeline(TfidfVectorizer(), DependencyEstimator(Linear().normalized(), Classes(), alpha=0.1))
    assert list(cross_val_predict(pipe, texts, answers, cv=3)) == answers
    grid = {
        "dependencyestimator__alpha": [0.1, 1.0],
        "dependencyestimator__input_kernel": [Linear(), Gaussian("median")],
    }
    assert GridSearchCV(pipe, grid, cv=3, error_score="raise").fit(texts, answers).best_score_ > -0.1


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (DependencyEstimator(Subsequence(2)), "X is a sparse csr_array.*toarray.*Gaussian"),
        (DependencyEstimator(Precomputed()), "X is a sparse csr_array.*toarray"),
        (DependencyEstimator(Patches((3, 4), 2, 1)), "X is a sparse csr_array.*toarray"),
        (OperatorValuedRidge(CurlFree()), "X is a sparse csr_array.*toarray"),
        (OperatorValuedRidge(Transformable(Linear(), [abs, abs, abs])), "X is a sparse csr_array.*toarray"),
        (JointKernelMap(PatchwiseJoint((3, 4), 2)), "X is a sparse csr_array.*toarray"),
    ],
    ids=repr,
)
def test_kernels_of_other_objects_refuse_sparse_inputs(model, message):
    with pytest.raises(TypeError, match=message):
        model.fit(sparse.csr_array(X), X if "Curl" in repr(model) or "Joint" in repr(model) else Y)


def test_other_numbers_of_columns_and_bad_values_are_refused():
    model = DependencyEstimator(Linear(), alpha=0.1).fit(sparse.csr_array(X), Y)
    with pytest.raises(ValueError, match="X has 5 features, but DependencyEstimator is expecting 12"):
        model.predict(sparse.csr_array(NEW[:, :5]))
    bad = sparse.csr_array(X)
    bad.data[3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.fit(bad, Y)
    with pytest.raises(ValueError, match="X has 29 objects and y has 30"):
        model.fit(sparse.csr_array(X[1:]), Y)
    assert model.predict(NEW).shape == (7, 3)


@pytest.mark.parametrize(
    "model",
    [
        DependencyEstimator(Linear().normalized(), alpha=0.1),
        DependencyEstimator(Gaussian("median")),
        DependencyEstimator(Linear(), solver=LowRank(rank=30), alpha=0.1),
        NeighborsEstimator(Gaussian("median"), Linear()),
    ],
    ids=repr,
)
def test_many_columns_are_never_made_dense(model):
    n, d = 2000, 10**5
    rows = sparse.random_array((n, d), density=2e-4, format="csr", rng=np.random.default_rng(0))
    targets = rows[:, :50].sum(axis=1)
    model.fit(rows[:50], targets[:50])  # compiled
    tracemalloc.start()
    predicted = model.fit(rows, targets).predict(rows[:100])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert predicted.shape == (100,)
    assert peak < 0.5 * 8 * n * d  # 8 n d is 1.6 GB


def test_a_regressor_gets_sparse_inputs_as_they_are():
    seen = []

    class Seeing(Ridge):
        def fit(self, X, y, sample_weight=None):
            seen.append(sparse.issparse(X))
            return super().fit(X, y, sample_weight)

    DependencyEstimator(Linear(), Linear(), regressor=Seeing()).fit(sparse.csr_array(X), Y)
    assert seen == [True]
    forest = RandomForestRegressor(5, random_state=0)
    found = [
        DependencyEstimator(Linear(), Linear(), regressor=forest).fit(form(X), Y).predict(form(NEW))
        for form in (np.asarray, sparse.csr_array)
    ]
    np.testing.assert_allclose(found[0], found[1])


def test_members_of_sparse_inputs_are_vectors():
    model = DependencyEstimator(alpha=0.1).fit(sparse.csr_array(X), Y)
    assert np.array_equal(member(model._inputs, 2), X[2])
    assert np.array_equal(take(model._inputs, [1, 5]).toarray(), X[[1, 5]])
