"""What holds for every public estimator: safe fits, constants, batches, threads, copies, and all answers."""

import copy
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contracts import Interruption, assert_same, assert_unchanged, state
from sklearn.base import clone
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

import mercer
from mercer import (
    AutoEstimator,
    CurveRidge,
    DependencyEstimator,
    EntangledRidge,
    NeighborsEstimator,
    OperatorValuedRidge,
    OutputKernelLearning,
    PrincipalComponents,
)
from mercer.core.collections import hash_key
from mercer.decoders import Candidates, ClosedForm
from mercer.embeddings import KernelCCA, KernelPLS, ReducedRank, Spectral
from mercer.estimators import JointKernelMap
from mercer.kernels import Classes, Gaussian, Kemeny, LabelSets, Linear, Precomputed, Subsequence
from mercer.learners import Neighbors
from mercer.losses import EditDistance
from mercer.operators import ConditionalCovariance, Covariance, PatchwiseJoint, Separable, SumOfSeparable
from mercer.selection import KFold
from mercer.solvers import LowRank, Tridiagonal
from mercer.uncertainty.conformal import HELD_OUT, LEFT_OUT

pytestmark = pytest.mark.filterwarnings("ignore::mercer.NumericalWarning")

rng = np.random.default_rng(0)
X = rng.standard_normal((14, 4))
NEW = rng.standard_normal((5, 4))
Y = np.column_stack([X[:, 0], X[:, 0] * X[:, 1], np.sin(X[:, 2]), X[:, 3]]) + 0.1 * rng.standard_normal((14, 4))
WORDS = ["abab", "abba", "baab", "bbaa", "aabb", "baba", "abaa", "bbab", "aaab", "babb", "abbb", "baaa", "aaba", "bbba"]
NEW_WORDS = ["aabba", "bbbb", "abab", "baabb", "ab"]
SETS = [frozenset(word[:2]) | {word[-1] + "!"} for word in WORDS]
ORDERS = np.argsort(Y, axis=1)
STRINGS = Subsequence(2).normalized()
GAUSSIAN = Gaussian(2.0)
T = np.eye(4) + 0.5


@dataclass
class Case:
    """An estimator with data for it, and a parameter it does not accept."""

    model: Any
    X: Any = None
    Y: Any = None
    new: Any = None
    bad: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        self.X, self.Y, self.new = (
            default if given is None else given for given, default in ((self.X, X), (self.Y, Y), (self.new, NEW))
        )
        self.bad = {"alpha": -1.0} if self.bad is None else self.bad

    def fitted(self) -> Any:
        return clone(self.model).fit(self.X, self.Y)


TEXTS = {"X": WORDS, "new": NEW_WORDS}
CASES = {
    "vectors": Case(DependencyEstimator()),
    "column": Case(DependencyEstimator(alpha=0.1), Y=Y[:, 0]),
    "no intercept": Case(DependencyEstimator(GAUSSIAN, fit_intercept=False)),
    "vectors, Gaussian": Case(DependencyEstimator(GAUSSIAN, GAUSSIAN), bad={"decoder": 3}),
    "low rank": Case(DependencyEstimator(solver=LowRank(tol=1e-8)), bad={"solver": "none"}),
    "covariance": Case(DependencyEstimator(operator=Covariance()), bad={"operator": None}),
    "conditional covariance": Case(
        DependencyEstimator(GAUSSIAN, GAUSSIAN, ConditionalCovariance(0.1), decoder=Candidates()),
        bad={"operator__eps": -1.0},
    ),
    "separable": Case(DependencyEstimator(GAUSSIAN, operator=Separable(GAUSSIAN, T)), bad={"input_kernel": Linear()}),
    "precomputed": Case(DependencyEstimator(Precomputed()), X=GAUSSIAN(X), new=GAUSSIAN(NEW, X)),
    "strings": Case(DependencyEstimator(STRINGS, STRINGS), Y=WORDS[::-1], **TEXTS),
    "strings by components": Case(
        DependencyEstimator(
            STRINGS, STRINGS, embedding=PrincipalComponents(), decoder=Candidates(), alpha=KFold(3, [0.1, 1.0])
        ),
        Y=WORDS[::-1],
        bad={"embedding": "none"},
        **TEXTS,
    ),
    "strings by edit distance": Case(
        DependencyEstimator(STRINGS, STRINGS, loss=EditDistance()), Y=WORDS[::-1], bad={"loss": "none"}, **TEXTS
    ),
    "label sets": Case(DependencyEstimator(STRINGS, LabelSets()), Y=SETS, **TEXTS),
    "rankings": Case(DependencyEstimator(output_kernel=Kemeny()), Y=ORDERS),
    "regressor=SVR": Case(
        DependencyEstimator(GAUSSIAN, regressor=SVR(kernel="precomputed", tol=1e-12)), bad={"regressor": "none"}
    ),
    "regressor=tree": Case(DependencyEstimator(regressor=DecisionTreeRegressor(max_depth=2, random_state=0))),
    "regressor=Neighbors": Case(
        DependencyEstimator(STRINGS, LabelSets(), regressor=Neighbors(3)),
        Y=SETS,
        bad={"regressor": Neighbors(0)},
        **TEXTS,
    ),
    "regressor=EntangledRidge": Case(
        DependencyEstimator(regressor=EntangledRidge(kraus_rank=3, max_iter=5, random_state=0)),
        bad={"regressor__gamma": 2.0},
    ),
    "NeighborsEstimator": Case(NeighborsEstimator(k="loo"), bad={"k": 0}),
    "NeighborsEstimator, classes": Case(
        NeighborsEstimator(STRINGS, Classes(), k=3), Y=[word[0] for word in WORDS], bad={"k": "none"}, **TEXTS
    ),
    "OperatorValuedRidge": Case(OperatorValuedRidge()),
    "OperatorValuedRidge, column": Case(OperatorValuedRidge(alpha=0.1), Y=Y[:, 0], bad={"kernel": Linear()}),
    "OperatorValuedRidge, sum": Case(OperatorValuedRidge(SumOfSeparable([(GAUSSIAN, T), (Linear(), np.diag(T))]))),
    "OperatorValuedRidge, iterated": Case(
        OperatorValuedRidge(SumOfSeparable([(GAUSSIAN, T), (Linear(), np.eye(4))]), alpha=0.1, solver="cg", tol=1e-13),
        bad={"solver": "none"},
    ),
    "EntangledRidge": Case(EntangledRidge(kraus_rank=3, max_iter=5, random_state=0), bad={"gamma": 2.0}),
    "EntangledRidge, entangled": Case(
        EntangledRidge(kraus_rank=3, mode="entangled", max_iter=5, random_state=0), bad={"mode": "none"}
    ),
    "OutputKernelLearning": Case(OutputKernelLearning(), bad={"tol": -1.0}),
    "CurveRidge": Case(CurveRidge(), bad={"lengths": [-1.0]}),
    "CurveRidge, a period": Case(CurveRidge(grid=[0.0, 1.0, 2.0, 4.0], period=5.0, alpha=0.1), bad={"grid": [0.0]}),
    "JointKernelMap": Case(JointKernelMap(PatchwiseJoint((2, 2), size=1, overlap=0)), bad={"joint_kernel": Linear()}),
    "JointKernelMap, bounds": Case(JointKernelMap(bounds="data", alpha=0.1)),
}
AUTO = AutoEstimator(effort="fast")
CASES |= {
    f"AutoEstimator, {name}": Case(AUTO, bad=bad, **data)
    for name, bad, data in (
        ("vectors", {"effort": "none"}, {}),
        ("rankings", {"outputs": None}, {"Y": ORDERS}),
        ("label sets", {"loss": "none"}, {"Y": SETS} | TEXTS),
        ("strings", {"random_state": -1}, {"Y": WORDS[::-1]} | TEXTS),
    )
}
EVERY = pytest.mark.parametrize("name", CASES)
MODELS: dict[str, Any] = {}


def model_of(name):
    """A model that is fitted once and only read."""
    if name not in MODELS:
        MODELS[name] = CASES[name].fitted()
    return MODELS[name]


# -- what a model says, in a form that can be compared ------------------------------------------------------


def answers(model, new):
    """All answers of a model, one entry for each input."""
    predicted, ranked, sets = model.predict(new), model.rank(new, k=3), model.predict_set(new, coverage=0.7)
    unsure, weights = model.abstention_score(new), model.decision_weights(new)
    explained = [model.explain(one, k=2) for one in new]
    ends: Any = [None] * len(new)
    if model._codec.row_shape is not None:
        box, ellipsoids = model.predict_interval(new, 0.7, simultaneous=True), model.predict_ellipsoid(new, 0.7)
        ends = list(zip(*model.predict_interval(new, 0.7), *box, ellipsoids.radii, strict=True))
    likely = model.predict_proba(new) if hasattr(model, "predict_proba") else ends
    return [
        {
            "predict": predicted[i],
            "rank": (list(ranked[i].objects), ranked[i].scores),
            "predict_set": (list(sets[i].objects), sets[i].scores),
            "abstention_score": unsure[i],
            "decision_weights": weights[i],
            "predict_interval": ends[i],
            "predict_proba": likely[i],
            "explain": (explained[i].prediction, [each.position for each in explained[i].carriers], explained[i].rest),
        }
        for i in range(len(new))
    ]


# -- a fit that raises changes nothing ------------------------------------------------------------------------


def spoiled(case):
    """Training data that no fit accepts."""
    vectors = isinstance(case.X, np.ndarray)
    wrong = [(None, case.Y), (case.X, None), (case.X, case.Y[:-1]), (case.X[:1], case.Y[:1]), (case.X[:0], case.Y[:0])]
    wrong += [(7.0, case.Y), (case.X, 7.0)]
    if vectors:
        wrong += [(np.where(np.eye(len(case.X), case.X.shape[1]), np.inf, case.X), case.Y), (case.X[:, :0], case.Y)]
        # gaps make a table, and lists of letters sets, for an estimator that takes anything
        infinite = np.where(np.eye(len(case.X), case.X.shape[1], 1), np.nan, case.X)
        wrong += [] if case.model is AUTO else [(infinite, case.Y), ([["a"]] * len(X), case.Y)]
    else:
        wrong += [([1.0] * len(WORDS), case.Y), ([*case.X[:-1], None], case.Y)]
    if isinstance(case.Y, np.ndarray) and case.Y.dtype == float:
        infinite = case.Y.copy()
        infinite.flat[3] = np.inf
        wrong += [(case.X, infinite)] + [(case.X, [["a"]] * len(X))] * (case.model is not AUTO)
    else:
        wrong += [(case.X, [*case.Y[:-1], None])]
    return wrong


@EVERY
def test_a_fit_that_raises_leaves_the_model_as_it_was(name):
    case = CASES[name]
    model = case.fitted()
    before, said = state(model), answers(model, case.new)
    for bad_X, bad_Y in spoiled(case):
        with pytest.raises((ValueError, TypeError)):
            model.fit(bad_X, bad_Y)
        assert_unchanged(model, before)
    for bad in ({"sample_weight": [1.0]}, {"groups": [0]}, {"sample_weight": -np.ones(len(case.Y))}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            model.fit(case.X, case.Y, **bad)
        assert_unchanged(model, before)
    assert_same(answers(model, case.new), said)


@EVERY
def test_a_fit_with_a_bad_parameter_leaves_the_model_as_it_was(name):
    case = CASES[name]
    model = case.fitted()
    before, said = state(model), answers(model, case.new)
    good = {key: model.get_params()[key] for key in case.bad}
    model.set_params(**case.bad)
    with pytest.raises((ValueError, TypeError)):
        model.fit(case.X[::-1] if name != "precomputed" else case.X, case.Y)
    assert_same(list(model.predict(case.new)), [one["predict"] for one in said])
    model.set_params(**good)
    assert_unchanged(model, before)
    assert_same(answers(model, case.new), said)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.model is not AUTO])
def test_a_fit_that_is_interrupted_leaves_the_model_as_it_was(name):
    case = CASES[name]
    model = case.fitted()
    before, said = state(model), answers(model, case.new)
    order = np.arange(len(case.Y))[::-1]
    other = [case.Y[i] for i in order] if isinstance(case.Y, list) else case.Y[order]
    counting = Interruption()
    counting.during(clone(case.model).fit, case.X, other)
    last = counting.calls
    for at in np.unique(np.append(np.linspace(1, last, 8).astype(int), [last - 1, last - 2])):
        interruption = Interruption(at)
        with pytest.raises(KeyboardInterrupt):
            interruption.during(model.fit, case.X, other)
        assert_unchanged(model, before, f"interrupted at call {at} of {last}, of {interruption.where}")
    assert_same(answers(model, case.new), said)


@EVERY
def test_a_second_fit_is_as_good_as_new(name):
    case = CASES[name]
    order = np.arange(len(case.Y))[::-1]
    other = [case.Y[i] for i in order] if isinstance(case.Y, list) else case.Y[order]
    model = clone(case.model).fit(case.X, other, sample_weight=np.arange(len(order)), groups=np.arange(len(order)) % 6)
    model.predict_set(case.new)
    model.fit(case.X, case.Y)
    fresh = case.fitted()
    assert vars(model).keys() == vars(fresh).keys()
    assert_unchanged(model, state(fresh))
    assert_same(answers(model, case.new), answers(fresh, case.new))


@pytest.mark.parametrize("regressor", [Neighbors(3), SVR(kernel="precomputed")], ids=repr)
def test_a_fit_with_another_learner_leaves_nothing_behind(regressor):
    model = DependencyEstimator().fit(X, Y).set_params(regressor=regressor).fit(X, Y)
    assert vars(model).keys() == vars(clone(model).fit(X, Y)).keys()


# -- constants ------------------------------------------------------------------------------------------------


STAYS = ("no intercept", "vectors, Gaussian", "conditional covariance")
MOVED = {
    name: (case.model, case.X, case.Y, case.new)
    for name, case in CASES.items()
    if isinstance(case.Y, np.ndarray) and case.Y.dtype == float and name not in STAYS
}
MISSING = np.where(np.random.default_rng(1).random(Y.shape) < 0.2, np.nan, Y)
for model in (
    DependencyEstimator(alpha="kfold"),
    DependencyEstimator(alpha="gcv"),
    DependencyEstimator(alpha=0.1, solver=Tridiagonal(), operator=Covariance()),
    DependencyEstimator(operator=ConditionalCovariance(0.1)),
    DependencyEstimator(operator=Covariance(), solver=LowRank(5), alpha="kfold"),
    DependencyEstimator(embedding=PrincipalComponents(n_components=2)),
    DependencyEstimator(loss="kernel", decoder=ClosedForm("data")),
    DependencyEstimator(regressor=OutputKernelLearning()),
    DependencyEstimator(regressor=CurveRidge()),
    DependencyEstimator(regressor=JointKernelMap()),
):
    MOVED[repr(model)] = (model, X, Y, NEW)
for kernel in (Separable(GAUSSIAN), Separable(GAUSSIAN, np.diag(T)), Separable(GAUSSIAN, T)):
    model = OperatorValuedRidge(kernel, alpha=0.1, tol=1e-13)
    MOVED[f"missing outputs, {model!r}"] = (model, X, MISSING, NEW)


def assert_moves(model, X, Y, new, constant):
    plain, moved = clone(model).fit(X, Y), clone(model).fit(X, Y + constant)
    gap = np.abs(moved.predict(new) - constant - plain.predict(new)).max()
    assert gap <= 1e-9 * constant
    for chosen in ("alpha_", "length_", "k_"):
        value = getattr(plain, chosen, None)
        assert getattr(moved, chosen, None) == (value if value is None else pytest.approx(value, rel=1e-9))


@pytest.mark.parametrize("constant", [1.0, 1000.0])
@pytest.mark.parametrize("name", MOVED)
def test_a_constant_added_to_outputs_is_added_to_predictions(name, constant):
    assert_moves(*MOVED[name], constant)


@pytest.mark.parametrize("constant", [1000.0, 1e8])
@pytest.mark.parametrize(
    "embedding", [PrincipalComponents(), KernelPLS(), KernelCCA(), ReducedRank(), Spectral("mean")], ids=repr
)
@pytest.mark.parametrize("kernel", [Linear(), 2.0 * Linear()], ids=repr)
def test_a_constant_and_coordinates_learned_from_outputs(kernel, embedding, constant):
    model = DependencyEstimator(output_kernel=kernel, embedding=embedding)
    plain, moved = clone(model).fit(X, Y), clone(model).fit(X, Y + constant)
    np.testing.assert_allclose(moved.predict(NEW) - constant, plain.predict(NEW), atol=1e-14 * constant)
    # candidates are scored by distances from the mean, which do not cancel
    chosen = [one.fit(X, Y + c).rank(NEW, 3, candidates=Y + c) for one, c in ((plain, 0.0), (moved, constant))]
    for mine, theirs in zip(*chosen, strict=True):
        np.testing.assert_allclose(theirs.objects - constant, mine.objects, atol=1e-14 * constant)


def test_outputs_far_from_zero_have_neighbours_too():
    plain, moved = NeighborsEstimator().fit(X, Y), NeighborsEstimator().fit(X, Y + 1e8)
    assert plain.k_ == moved.k_
    np.testing.assert_allclose(moved.predict(NEW) - 1e8, plain.predict(NEW), atol=1e-6)


def test_outputs_that_are_all_the_same_are_named():
    with pytest.raises(ValueError, match="all outputs are the same point"):
        DependencyEstimator(embedding=PrincipalComponents()).fit(X, np.full((14, 2), 1e8))


# -- batches --------------------------------------------------------------------------------------------------


@EVERY
def test_answers_do_not_depend_on_the_batch(name):
    case, model = CASES[name], model_of(name)
    together = answers(model, case.new)
    alone = [answers(model, case.new[i : i + 1])[0] for i in range(len(together))]
    assert_same(alone, together, 1e-9)
    order = [3, 0, 4, 2, 1]
    mixed = answers(model, [case.new[i] for i in order] if isinstance(case.new, list) else case.new[order])
    assert_same(mixed, [together[i] for i in order], 1e-9)


@EVERY
def test_candidates_do_not_depend_on_the_batch(name):
    case, model = CASES[name], model_of(name)
    some, new = case.Y[3:8], case.new

    def chosen(new):
        ranked = model.rank(new, 2, candidates=some)
        sets, unsure = model.predict_set(new, 0.6, candidates=some), model.abstention_score(new, candidates=some)
        predicted = model.predict(new, candidates=some)
        return [
            [predicted[i], list(ranked[i].objects), ranked[i].scores, list(sets[i].objects), unsure[i]]
            for i in range(len(new))
        ]

    together = chosen(new)
    assert_same([chosen(new[i : i + 1])[0] for i in range(len(new))], together, 1e-9)
    assert all(hash_key(one[0]) in {hash_key(each) for each in some} for one in together)


# -- the order of the training pairs --------------------------------------------------------------------------

BY_FOLDS = {  # pairs are dealt to folds in their order, as scikit-learn does
    "regressor=SVR",
    "regressor=tree",
    "strings by components",
    "OperatorValuedRidge, iterated",
}
EQUALLY_NEAR = {"regressor=Neighbors", "NeighborsEstimator, classes"}  # such inputs keep the order of the data


@pytest.mark.parametrize("name", [name for name in CASES if CASES[name].model is not AUTO and name not in EQUALLY_NEAR])
def test_the_order_of_training_pairs_does_not_matter(name):
    case, order = CASES[name], np.random.default_rng(5).permutation(len(WORDS))
    new = case.new[:, order] if name == "precomputed" else case.new
    X = [case.X[i] for i in order] if isinstance(case.X, list) else case.X[order]
    X = X[:, order] if name == "precomputed" else X
    Y = [case.Y[i] for i in order] if isinstance(case.Y, list) else case.Y[order]
    moved = clone(case.model).fit(X, Y)
    expected, found = answers(model_of(name), case.new), answers(moved, new)
    back = np.argsort(order)
    for mine, theirs in zip(found, expected, strict=True):
        some = {"predict", "decision_weights"} | ({"predict_interval"} if name not in BY_FOLDS else set())
        mine["decision_weights"] = mine["decision_weights"][back]
        assert_same({each: mine[each] for each in some}, {each: theirs[each] for each in some}, 1e-6, name)
        if name not in BY_FOLDS:
            assert len(mine["predict_set"][0]) == len(theirs["predict_set"][0])
            assert mine["abstention_score"] == pytest.approx(theirs["abstention_score"], abs=1e-6)


# -- reading --------------------------------------------------------------------------------------------------


@EVERY
def test_answers_do_not_write_to_the_model(name):
    case = CASES[name]
    model = case.fitted()
    before = state(model)
    for call in (
        lambda: model.predict(case.new),
        lambda: model.rank(case.new),
        lambda: model.decision_weights(case.new),
        lambda: model.predict_set(case.new),
        lambda: model.abstention_score(case.new),
        lambda: model.explain(case.new[0]),
        lambda: model.score(case.X, case.Y),
    ):
        call()
        assert_unchanged(model, before)
    assert set(vars(model)) == set(vars(case.fitted()))


@EVERY
@pytest.mark.usefixtures("_hasty_threads")
def test_threads_share_a_model(name):
    case = CASES[name]
    expected = [answers(model_of(name), case.new[i : i + 2]) for i in range(4)]
    model = case.fitted()  # calibrated by the threads themselves
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda i: answers(model, case.new[i : i + 2]), range(4)))
    assert_same(found, expected, 1e-12)


# -- copies ---------------------------------------------------------------------------------------------------


@EVERY
def test_parameters_survive_cloning_and_fitting(name):
    case = CASES[name]
    copied = clone(case.model)
    assert repr(copied) == repr(case.model) == repr(model_of(name)) == repr(clone(model_of(name)))
    parameters = case.model.get_params(deep=False)
    assert list(parameters) == list(copied.get_params(deep=False))
    assert repr(type(case.model)(**parameters)) == repr(case.model)
    assert not [part for part in vars(copied) if part.endswith("_")]
    again = clone(case.model).set_params(**parameters).fit(case.X, case.Y)
    assert_same(list(again.predict(case.new)), list(model_of(name).predict(case.new)))


FOREIGN = ["sklearn.tree._tree.Tree"]


@EVERY
@pytest.mark.filterwarnings("ignore:the model holds sklearn.tree:UserWarning")
def test_saved_models_say_the_same(name, tmp_path: Path):
    case, model = CASES[name], model_of(name)
    same = mercer.load(mercer.save(model, tmp_path / "model.skops"), trust=FOREIGN)
    assert repr(same) == repr(model)
    assert_same(answers(same, case.new), answers(model, case.new))
    assert_same(answers(copy.deepcopy(model), case.new), answers(model, case.new))


# -- everything is written once -------------------------------------------------------------------------------


@EVERY
def test_every_estimator_has_every_answer(name):
    case = CASES[name]
    model, n = case.fitted(), len(case.Y)
    unsure = model.abstention_score(case.new)
    assert unsure.shape == (len(case.new),)
    assert np.all((unsure >= 0) & (unsure <= 1))
    assert model.decision_weights(case.new).shape == (len(case.new), n)
    explained = model.explain(case.new[0], k=3)
    assert len(explained.carriers) == 3
    assert sum(abs(each.share) for each in explained.carriers) + explained.rest == pytest.approx(1.0)
    assert_same(explained.prediction, model.predict(case.new[:1])[0])
    for found in model.predict_set(case.new, 0.5, candidates=case.Y):
        assert len(found.objects) == len(found.scores) <= n
    assert model.calibration_.source == LEFT_OUT
    assert len(model.calibration_.scores) == n
    sets = model.calibrate(case.X, case.Y).predict_set(case.new, 0.5)
    assert len(sets) == len(case.new)
    assert model.calibration_.source == HELD_OUT
    assert np.isfinite(model.score(case.X, case.Y))
