"""Forests against scikit-learn's, and what leaves as weights promise."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

import mercer
from mercer import DependencyEstimator
from mercer.embeddings import Distinct
from mercer.kernels import Classes, Gaussian, Kemeny, LabelSets, Linear, Subsequence
from mercer.learners import Constant, Forest, Mixture, OnKernel, Ridge
from mercer.learners.forest import _on_grid
from mercer.structures.table_encoder import TableEncoder
from mercer.structures.tables import Table
from mercer.testing import check_learner, learning_problem

rng = np.random.default_rng(0)
X = rng.standard_normal((24, 3))
NEW = rng.standard_normal((6, 3))
Y = np.column_stack([X[:, 0] ** 2, X[:, 1] * X[:, 2]]) + 0.1 * rng.standard_normal((24, 2))
GRID = _on_grid(Y)  # outputs as trees see them, to 1e-8
WEIGHT = rng.uniform(0.2, 3.0, 24)
SETS = np.array([frozenset(np.flatnonzero(row > 0).tolist()) | {9} for row in X], dtype=object)
SCIKIT = {"extra": ExtraTreesRegressor, "random": RandomForestRegressor}
BOTH = pytest.mark.parametrize("kind", list(SCIKIT))


def problem_of(weight=None, **more):
    from dataclasses import replace

    return replace(learning_problem(Linear(), X, Y), sample_weight=weight, **more)


def grown(kind, weight=None, **options):
    return SCIKIT[kind](30, random_state=0, max_features=1.0, **options).fit(X, GRID, sample_weight=weight)


@BOTH
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["", "weighted"])
@pytest.mark.parametrize("leaf", [1, 4])
def test_points_are_predictions_of_scikit_learn(kind, weight, leaf):
    fitted = Forest(kind, 30, min_samples_leaf=leaf).fit(problem_of(weight))
    forest = grown(kind, weight, min_samples_leaf=leaf)
    centred = Y - Y.mean(axis=0)
    expected = forest.predict(NEW) * np.abs(centred).max() + Y.mean(axis=0)
    assert np.allclose(fitted.points(NEW), expected, rtol=0, atol=1e-7)
    assert np.array_equal(fitted.leaf_of, forest.apply(X).T + fitted.trees.roots[:, None])


def test_weights_are_the_mean_over_trees_of_leaf_mates():
    forest = grown("extra", min_samples_leaf=2)
    at, to = forest.apply(X), forest.apply(NEW)
    naive = np.zeros((len(NEW), len(X)))
    for i in range(len(NEW)):
        for t in range(30):
            mates = at[:, t] == to[i, t]
            naive[i] += mates / mates.sum() / 30
    fitted = Forest("extra", 30, min_samples_leaf=2).fit(problem_of())
    assert np.allclose(fitted.weights(NEW), naive, atol=1e-14)


def test_out_of_bag_points_are_those_of_scikit_learn():
    fitted = Forest("random", 60).fit(problem_of())
    forest = RandomForestRegressor(60, random_state=0, max_features=1.0, oob_score=True).fit(X, GRID)
    expected = forest.oob_prediction_ * np.abs(Y - Y.mean(axis=0)).max() + Y.mean(axis=0)
    assert np.allclose(fitted.left_out_points(), expected, atol=1e-7)


def test_out_of_bag_is_not_used_with_groups_or_when_a_pair_is_in_every_bag():
    few, grouped = Forest("random", 2).fit(problem_of()), Forest("random", 9).fit(problem_of(groups=np.arange(24) // 3))
    for fitted in (few, grouped):
        assert np.array_equal(fitted.left_out_points(), fitted.points_without(fitted.groups))


@pytest.mark.parametrize(
    ("kernel", "outputs"), [(Linear(), Y), (LabelSets(), SETS), (Gaussian(1.0), Y)], ids=["vectors", "sets", "weights"]
)
@pytest.mark.parametrize("learner", [Forest("extra", 8), Forest("random", 30), OnKernel(Linear(), Forest("extra", 8))])
def test_the_contract_of_learners(learner, kernel, outputs, monkeypatch):
    monkeypatch.setattr("mercer.learners.forest._FEWEST", 4)
    check_learner(learner, learning_problem(Linear(), X[:13], outputs[:13], kernel), NEW[:3], "folds")


@pytest.mark.parametrize(
    ("learner", "held"),
    [
        (Constant(), None),
        (OnKernel(Gaussian(1.0), Ridge(alpha=0.1)), None),
        (OnKernel(Gaussian(1.0), Constant()), None),
    ],
    ids=repr,
)
@pytest.mark.parametrize(
    "problem",
    [learning_problem(Linear(), X, Y), learning_problem(Linear(), X, Y, Gaussian(1.0))],
    ids=["coordinates", "weights"],
)
@pytest.mark.filterwarnings("ignore::mercer.NumericalWarning")
def test_the_contract_of_simple_learners(learner, held, problem):
    check_learner(learner, problem, NEW, held)


def test_constant_in_distinct_coordinates():
    labels = np.array(list("abcabbaccabcabcaabbbccab"), dtype=object)
    check_learner(Constant(), learning_problem(Linear(), X, labels, Classes(), Distinct()), NEW)


def test_the_contract_of_a_mixture_with_its_weights_held():
    parts = [Ridge(alpha=0.1), OnKernel(Gaussian(1.0), Ridge(alpha=0.01)), Constant()]
    check_learner(Mixture(parts), learning_problem(Linear(), X, Y), NEW, lambda fitted: Held(parts, fitted.attributes))
    mixed = Mixture(parts).fit(learning_problem(Linear(), X, Y))
    halves = np.arange(24) % 2
    parted = mixed.points_without(halves)
    rest = learning_problem(Linear(), X, Y).subset(np.flatnonzero(halves == 1))
    expected = Held(parts, mixed.attributes).fit(rest).points(X[halves == 0])
    assert np.allclose(parted[halves == 0], expected, atol=1e-9)


class Held(mercer.learners.Learner):
    """A mixture with weights that are given."""

    def __init__(self, parts, attributes):
        self.parts, self.mixing = parts, attributes["mixing_"]

    def __repr__(self):
        return "Held()"

    def fit(self, problem):
        from mercer.learners.mixture import FittedMixture

        maps = [part.fit(problem) for part in self.parts]
        return FittedMixture(maps, self.mixing.weights, np.zeros((problem.size, 2)), {})


def test_a_wrong_learner_in_a_mixture_is_named():
    with pytest.raises(TypeError, match="at least one learner"):
        Mixture([])
    with pytest.raises(TypeError, match="at least one learner"):
        Mixture([RandomForestRegressor()])
    with pytest.raises(ValueError, match="rule"):
        Mixture([Ridge()], rule="none")
    with pytest.raises(ValueError, match="kind"):
        Forest("oblique")
    with pytest.raises(ValueError, match="n_estimators"):
        Forest("extra", 0)


@BOTH
def test_sparse_rows_are_as_dense_ones(kind):
    words = (rng.random((24, 8)) < 0.3).astype(float)
    dense = Forest(kind, 10).fit(learning_problem(Linear(), words, Y))
    rows = Forest(kind, 10).fit(learning_problem(Linear(), sparse.csr_array(words), Y))
    assert np.array_equal(dense.points(words[:5]), rows.points(sparse.csr_array(words[:5])))
    assert np.allclose(dense.left_out_points(), rows.left_out_points(), atol=1e-12)


def test_objects_that_have_no_columns_are_named():
    with pytest.raises(ValueError, match="pass encoder="):
        Forest().fit(learning_problem(Subsequence(2), ["ab", "ba", "aab"], np.eye(3)))


def test_an_encoder_makes_columns():
    table = Table.of({"size": [1.0, 2.0, None, 4.0] * 6, "city": ["Oslo", "Bergen", "Oslo", None] * 6})
    encoder = TableEncoder(kinds=dict(table.kinds)).fit(table)
    from mercer.kernels import Columns

    fitted = Forest("extra", 10, encoder=encoder).fit(learning_problem(Columns(), table, Y))
    forest = ExtraTreesRegressor(10, random_state=0, max_features=1.0).fit(encoder.transform(table), Y)
    assert np.allclose(fitted.points(table[:4]), forest.predict(encoder.transform(table[:4])))


@pytest.mark.parametrize(
    ("kernel", "outputs"),
    [(LabelSets(), SETS), (Kemeny(), np.argsort(X, axis=1)), (Subsequence(2).normalized(), None), (Linear(), Y)],
    ids=["sets", "rankings", "strings", "vectors"],
)
def test_a_forest_in_an_estimator_is_decoded_and_saved(kernel, outputs, tmp_path):
    if outputs is None:
        outputs = ["".join("ab"[int(value > 0)] for value in row) for row in X]
    model = DependencyEstimator(Linear(), kernel, regressor=Forest("random", 20)).fit(X, outputs)
    same = mercer.load(mercer.save(model, tmp_path / "model.skops"))
    assert np.array_equal(same.predict(NEW), model.predict(NEW))
    assert np.allclose(model.decision_weights(NEW).sum(axis=1), 1.0)
    assert len(model.predict_set(NEW, 0.5, candidates=outputs)) == len(NEW)


def test_columns_far_out_are_split_as_scikit_learn_does():
    far = X * [1e30, 1e-30, 1.0]
    fitted = Forest("extra", 10).fit(learning_problem(Linear(), far, Y))
    forest = ExtraTreesRegressor(10, random_state=0, max_features=1.0).fit(far, Y)
    assert np.allclose(fitted.points(far), forest.predict(far))
