"""Sample weights count as repeated pairs, and groups are left out whole: both as refitting has it."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import cross_validate
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

from mercer import (
    CurveRidge,
    DependencyEstimator,
    EntangledRidge,
    NeighborsEstimator,
    OperatorValuedRidge,
    OutputKernelLearning,
)
from mercer.decoders import Candidates
from mercer.estimators import JointKernelMap
from mercer.kernels import Gaussian, LabelSets, Linear, Precomputed, Subsequence
from mercer.losses import EditDistance
from mercer.operators import (
    ConditionalCovariance,
    Covariance,
    DiagonalRegularizationJoint,
    Entangled,
    PatchwiseJoint,
    Separable,
    SumOfSeparable,
)
from mercer.selection import KFold, LeaveOneOut
from mercer.solvers import LowRank, Tridiagonal

rng = np.random.default_rng(0)
X = rng.standard_normal((12, 4))
NEW = rng.standard_normal((5, 4))
Y = np.column_stack([X[:, 0], X[:, 0] * X[:, 1], np.sin(X[:, 2]), X[:, 3]]) + 0.1 * rng.standard_normal((12, 4))
MISSING = np.where(np.random.default_rng(1).random(Y.shape) < 0.2, np.nan, Y)
WORDS = np.array(
    ["abab", "abba", "baab", "bbaa", "aabb", "baba", "abaa", "bbab", "aaab", "babb", "abbb", "baaa"], dtype=object
)
NEW_WORDS = ["aabba", "bbbb", "abab", "baabb"]
SETS = np.array([frozenset(word[:2]) | {word[-1] + "!"} for word in WORDS], dtype=object)
KERNEL = Gaussian(2.0)
STRINGS = Subsequence(2).normalized()
T = np.eye(4) + 0.5
Q = np.random.default_rng(2).standard_normal((16, 5))
COUNTS = np.array([1, 2, 0, 3, 1, 1, 2, 1, 4, 1, 0, 2])
REPEATED = np.repeat(np.arange(12), COUNTS)
GROUPS = np.array(list("abcabcddabcd"))
D = DependencyEstimator

VECTORS = X, Y, NEW
RIDGES = [
    *(
        (model.set_params(fit_intercept=intercept), *VECTORS)
        for intercept in (True, False)
        for model in (
            D(KERNEL, alpha=0.1),
            D(Linear(), alpha=0.1),
            D(KERNEL, KERNEL, alpha=0.1, decoder=Candidates()),
            D(KERNEL, alpha=0.1, solver=LowRank(tol=0.0)),
            D(KERNEL, operator=Covariance(), alpha=0.1),
            D(KERNEL, operator=Covariance(), alpha=0.1, solver=Tridiagonal()),
            D(KERNEL, operator=ConditionalCovariance(0.1), alpha=0.1),
            D(KERNEL, operator=ConditionalCovariance(0.1), alpha=LeaveOneOut([0.1])),
            D(KERNEL, operator=Separable(KERNEL, T), alpha=0.1),
            OperatorValuedRidge(Separable(KERNEL), alpha=0.1),
            OperatorValuedRidge(Separable(KERNEL, T), alpha=0.1),
            OperatorValuedRidge(SumOfSeparable([(KERNEL, T), (Linear(), np.diag(T))]), alpha=0.1, tol=1e-13),
            OperatorValuedRidge(SumOfSeparable([(KERNEL, T), (Linear(), np.eye(4))]), alpha=0.1),
            OperatorValuedRidge(Entangled(Linear(), Q, 4), alpha=0.1),
            EntangledRidge(features=Linear(), kraus_rank=3, max_iter=5, alpha=0.1, random_state=0),
            EntangledRidge(features=Linear(), kraus_rank=3, mode="entangled", max_iter=5, alpha=0.1, random_state=0),
            EntangledRidge(KERNEL, kraus_rank=3, max_iter=5, alpha=0.1, random_state=0),
            OutputKernelLearning(KERNEL, alpha=0.1, max_iter=0),
            OutputKernelLearning(KERNEL, alpha=0.1, max_iter=5000, tol=1e-14),
            CurveRidge(KERNEL, lengths=[0.0], alpha=0.1),
            CurveRidge(KERNEL, lengths=[1.0], period=5.0, alpha=0.1),
            JointKernelMap(PatchwiseJoint((2, 2), size=1, overlap=0, kernel=KERNEL), alpha=0.1),
            JointKernelMap(DiagonalRegularizationJoint(KERNEL), alpha=0.1),
        )
    ),
    (D(STRINGS, STRINGS, alpha=0.1), WORDS, WORDS[::-1], NEW_WORDS),
    (D(STRINGS, STRINGS, alpha=0.1, loss=EditDistance()), WORDS, WORDS[::-1], NEW_WORDS),
    (D(STRINGS, LabelSets(), alpha=0.1), WORDS, SETS, NEW_WORDS),
    (D(KERNEL, regressor=SVR(kernel="precomputed", tol=1e-12)), *VECTORS),
    (D(KERNEL, regressor=DecisionTreeRegressor(max_depth=2, random_state=0)), *VECTORS),
    (OperatorValuedRidge(Separable(KERNEL), alpha=0.1), X, MISSING, NEW),
    (OperatorValuedRidge(Separable(KERNEL, np.diag(T)), alpha=0.1), X, MISSING, NEW),
    (OperatorValuedRidge(Separable(KERNEL, T), alpha=0.1, tol=1e-13), X, MISSING, NEW),
    (OperatorValuedRidge(Entangled(Linear(), Q, 4), alpha=0.1), X, MISSING, NEW),
]


def named(part):
    return f"{part!r:.60}" if hasattr(part, "fit") else ""


def assert_same_predictions(found, expected, new):
    a, b = found.predict(new), expected.predict(new)
    if a.dtype == object:
        assert a.tolist() == b.tolist()
    else:
        np.testing.assert_allclose(a, b, atol=1e-8)


@pytest.mark.parametrize(("model", "X", "Y", "new"), RIDGES, ids=named)
def test_whole_weights_count_as_repeated_pairs(model, X, Y, new):
    weighted = clone(model).fit(X, Y, sample_weight=COUNTS)
    assert_same_predictions(weighted, clone(model).fit(X[REPEATED], Y[REPEATED]), new)


@pytest.mark.parametrize("operator", [Covariance(centered=True), ConditionalCovariance(0.1, centered=True)], ids=repr)
def test_whole_weights_and_an_operator_around_the_mean(operator):
    model = D(KERNEL, operator=operator, alpha=0.1, fit_intercept=False)
    assert_same_predictions(clone(model).fit(X, Y, sample_weight=COUNTS), model.fit(X[REPEATED], Y[REPEATED]), NEW)


EVERY = [
    *RIDGES,
    (D(), *VECTORS),
    (NeighborsEstimator(KERNEL, k=3), *VECTORS),
    (NeighborsEstimator(k="loo"), *VECTORS),
    (EntangledRidge(kraus_rank=3, max_iter=5, random_state=0), *VECTORS),
    (OutputKernelLearning(), *VECTORS),
    (CurveRidge(), *VECTORS),
    (JointKernelMap(PatchwiseJoint((2, 2), size=1, overlap=0)), *VECTORS),
    (OperatorValuedRidge(), X, MISSING, NEW),
]


@pytest.mark.parametrize(("model", "X", "Y", "new"), EVERY, ids=named)
def test_a_pair_without_weight_is_left_out(model, X, Y, new):
    kept = COUNTS > 0
    groups = np.arange(12) % 6
    found = clone(model).fit(X, Y, sample_weight=kept.astype(float), groups=groups)
    assert_same_predictions(found, clone(model).fit(X[kept], Y[kept], groups=groups[kept]), new)
    assert found.decision_weights(new).shape == (len(new), kept.sum())


def test_a_pair_without_weight_keeps_its_column_of_a_gram_matrix():
    kept = COUNTS > 0
    gram, rows = KERNEL(X), KERNEL(NEW, X)
    found = D(Precomputed(), alpha=0.1).fit(gram, Y, sample_weight=kept)
    expected = D(KERNEL, alpha=0.1).fit(X[kept], Y[kept])
    np.testing.assert_allclose(found.predict(rows), expected.predict(NEW), atol=1e-10)


@pytest.mark.parametrize(("model", "X", "Y", "new"), RIDGES, ids=named)
def test_equal_weights_change_nothing(model, X, Y, new):
    plain = clone(model).fit(X, Y)
    assert_same_predictions(clone(model).fit(X, Y, sample_weight=np.ones(12)), plain, new)
    assert_same_predictions(clone(model).fit(X, Y, sample_weight=1.0), plain, new)
    assert_same_predictions(clone(model).fit(X, Y, groups=np.arange(12)), plain, new)


# -- groups ---------------------------------------------------------------------------------------------------

ALPHAS = [0.01, 0.1, 1.0]
CHOSEN = LeaveOneOut(ALPHAS)
PATHS = [
    *(
        model.set_params(fit_intercept=intercept)
        for intercept in (True, False)
        for model in (
            D(KERNEL, alpha=CHOSEN, loss="rkhs"),
            D(KERNEL, KERNEL, alpha=CHOSEN, loss="rkhs"),
            D(KERNEL, operator=Separable(KERNEL, T), alpha=CHOSEN, loss="rkhs"),
            OperatorValuedRidge(Separable(KERNEL, T), alpha=CHOSEN),
            OperatorValuedRidge(Entangled(Linear(), Q, 4), alpha=CHOSEN),
            JointKernelMap(DiagonalRegularizationJoint(KERNEL), alpha=CHOSEN),
        )
    ),
]


def squared_errors(model, X, Y):
    """Squared distances in feature space, of vectors to their predictions."""
    if getattr(model, "loss", None) == "rkhs":
        return [-model.score(X[i : i + 1], Y[i : i + 1]) for i in range(len(Y))]
    return np.sum((model.predict(X) - Y) ** 2, axis=1)


def left_out_errors(model, X, Y, groups, weight=None):
    """The errors of pairs whose group is not learned from."""
    found = np.empty(len(Y))
    for own in (groups == group for group in np.unique(groups)):
        weights = {} if weight is None else {"sample_weight": weight[~own]}
        found[own] = squared_errors(clone(model).fit(X[~own], Y[~own], **weights), X[own], Y[own])
    return np.average(found, weights=weight)


@pytest.mark.parametrize("weight", [None, np.linspace(0.5, 2.0, 12)], ids=["", "weighted"])
@pytest.mark.parametrize("groups", [np.arange(12), GROUPS], ids=["pairs", "groups"])
@pytest.mark.parametrize("model", PATHS, ids=lambda model: f"{model!r:.60}")
def test_the_path_is_that_of_refitting_without_each_group(model, groups, weight):
    path = clone(model).fit(X, Y, sample_weight=weight, groups=groups).loo_path_
    expected = [left_out_errors(clone(model).set_params(alpha=alpha), X, Y, groups, weight) for alpha in ALPHAS]
    np.testing.assert_allclose(path, expected, rtol=1e-8)


@pytest.mark.parametrize("weight", [None, np.linspace(0.5, 2.0, 12)], ids=["", "weighted"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_path_of_curves(fit_intercept, weight):
    model = CurveRidge(KERNEL, lengths=[0.0, 1.0], alpha=CHOSEN, fit_intercept=fit_intercept)
    path = clone(model).fit(X, Y, sample_weight=weight, groups=GROUPS).loo_path_
    steps = np.sqrt([0.5, 1.0, 1.0, 0.5])  # the weights of the trapezoidal rule
    for i, length in enumerate(model.lengths):
        for j, alpha in enumerate(ALPHAS):
            one = clone(model).set_params(lengths=[length], alpha=alpha)
            found = np.empty((12, 4))
            for own in (group == GROUPS for group in "abcd"):
                weights = {} if weight is None else {"sample_weight": weight[~own]}
                found[own] = clone(one).fit(X[~own], Y[~own], **weights).predict(X[own])
            errors = np.sum(((found - Y) * steps) ** 2, axis=1)
            assert path[i, j] == pytest.approx(np.average(errors, weights=weight), rel=1e-8)


def test_the_path_of_neighbours():
    path = NeighborsEstimator(KERNEL, k="loo", loss="rkhs").fit(X, Y, groups=GROUPS).loo_path_
    for k in (1, 3, 5):
        expected = left_out_errors(NeighborsEstimator(KERNEL, k=k, loss="rkhs"), X, Y, GROUPS)
        assert path[k - 1] == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("groups", [np.arange(12), GROUPS], ids=["pairs", "groups"])
@pytest.mark.parametrize("loss", ["rkhs", EditDistance()], ids=["rkhs", "edit distance"])
def test_the_path_of_strings(loss, groups):
    model = D(STRINGS, STRINGS, alpha=CHOSEN, decoder=Candidates(), loss=loss)
    path = clone(model).fit(WORDS, WORDS[::-1], groups=groups).loo_path_
    for alpha, score in zip(ALPHAS, path, strict=True):
        one, total = clone(model).set_params(alpha=alpha), 0.0
        for own in (groups == group for group in np.unique(groups)):
            total -= clone(one).fit(WORDS[~own], WORDS[::-1][~own]).score(WORDS[own], WORDS[::-1][own]) * own.sum()
        assert score == pytest.approx(total / 12, rel=1e-8)


def test_folds_do_not_split_groups():
    for rule in (KFold(4, ALPHAS), KFold(2, ALPHAS, random_state=0)):
        folds = rule.splits(12, np.unique(GROUPS, return_inverse=True)[1])
        assert all(set(GROUPS[train]).isdisjoint(GROUPS[held_out]) for train, held_out in folds)
    path = D(KERNEL, alpha=KFold(4, ALPHAS)).fit(X, Y, groups=GROUPS).loo_path_
    assert path == pytest.approx(D(KERNEL, alpha=CHOSEN).fit(X, Y, groups=GROUPS).loo_path_, rel=1e-8)


@pytest.mark.parametrize(
    "model",
    [D(), D(KERNEL, regressor=SVR(kernel="precomputed")), NeighborsEstimator(), OperatorValuedRidge(), CurveRidge()],
    ids=lambda model: f"{model!r:.60}",
)
def test_names_of_groups_do_not_matter(model):
    numbers = np.unique(GROUPS, return_inverse=True)[1]
    paths = [
        clone(model).fit(X, Y, groups=groups).map_.left_out_points()
        for groups in (
            GROUPS,
            list(GROUPS),
            10 - 3 * numbers,
            pd.Series(GROUPS, index=np.arange(12)[::-1]),
            GROUPS == "a",
        )
    ]
    for path in paths[1:4]:
        np.testing.assert_allclose(path, paths[0], atol=1e-12)
    assert np.abs(paths[4] - paths[0]).max() > 1e-3


# -- what is refused ------------------------------------------------------------------------------------------

with sklearn.config_context(enable_metadata_routing=True):
    ROUTED = SVR().set_fit_request(sample_weight=True)
CLASSES = [
    D(),
    D(regressor=ROUTED),
    NeighborsEstimator(),
    OperatorValuedRidge(),
    EntangledRidge(kraus_rank=3),
    OutputKernelLearning(),
    CurveRidge(),
    JointKernelMap(),
]


@pytest.mark.parametrize("model", CLASSES, ids=repr)
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (
            {"sample_weight": np.ones(5)},
            r"sample_weight has .*shape \(5,\); expected one number for each of the 12 pairs",
        ),
        ({"sample_weight": np.ones((12, 1))}, r"sample_weight has .*shape \(12, 1\)"),
        ({"sample_weight": ["one"] * 12}, "sample_weight .* expected one number for each of the 12 pairs"),
        ({"sample_weight": -np.ones(12)}, "sample_weight has negative or non-finite entries"),
        ({"sample_weight": np.r_[np.ones(11), np.nan]}, "sample_weight has negative or non-finite entries"),
        ({"sample_weight": np.r_[np.ones(11), np.inf]}, "sample_weight has negative or non-finite entries"),
        ({"sample_weight": np.zeros(12)}, "at least two pairs with a weight above zero"),
        ({"sample_weight": np.eye(12)[3]}, "at least two pairs with a weight above zero"),
        ({"groups": [1, 2, 3]}, r"groups has shape \(3,\); expected one label for each of the 12 pairs"),
        ({"groups": np.ones((12, 2))}, r"groups has shape \(12, 2\)"),
        ({"groups": "abcd"}, r"groups has shape \(4,\)"),
        ({"groups": ["one"] * 12}, "groups holds a single group, .*'one'.*; expected at least two"),
        (
            {"groups": [0] * 6 + [1] * 6, "sample_weight": np.repeat([1.0, 0.0], 6)},
            "groups holds a single group",
        ),
    ],
    ids=lambda part: next(iter(part)) if isinstance(part, dict) else "",
)
def test_bad_weights_and_groups_are_named(model, bad, message):
    with pytest.raises(ValueError, match=message):
        clone(model).fit(X, Y, **bad)


# -- scikit-learn passes them on ------------------------------------------------------------------------------


@pytest.mark.parametrize("model", CLASSES, ids=repr)
def test_weights_and_groups_are_routed(model):
    seen = []

    class Recording(type(model)):
        def fit(self, X, y, sample_weight=None, groups=None):
            seen.append((len(X), sample_weight.tolist(), groups.tolist()))
            return super().fit(X, y, sample_weight=sample_weight, groups=groups)

    recording = Recording(**model.get_params(deep=False))
    weight, groups = np.arange(1.0, 13.0), np.arange(12) % 4
    with sklearn.config_context(enable_metadata_routing=True):
        recording.set_fit_request(sample_weight=True, groups=True).set_score_request(sample_weight=False)
        cross_validate(recording, X, Y, cv=2, params={"sample_weight": weight, "groups": groups}, error_score="raise")
    assert [(n, len(share), len(names)) for n, share, names in seen] == [(6, 6, 6)] * 2
    assert seen[1][1] == weight[:6].tolist()
