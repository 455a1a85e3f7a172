"""Every learner under the public contract, and the contract under broken learners."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

from mercer.core.collections import as_objects
from mercer.embeddings import PrincipalComponents
from mercer.kernels import FromFunction, Gaussian, Linear, Precomputed, Subsequence
from mercer.learners import (
    EntangledKernel,
    JointMap,
    Learner,
    Neighbors,
    OutputKernel,
    Regressor,
    Ridge,
    SmoothedCurves,
    as_learner,
)
from mercer.learners.base import left_out_by_folds
from mercer.operators import (
    ConditionalCovariance,
    Covariance,
    DiagonalRegularizationJoint,
    Entangled,
    PatchwiseJoint,
    Separable,
    SumOfSeparable,
    TensorProductJoint,
)
from mercer.selection import LeaveOneOut
from mercer.solvers import LowRank, Structured
from mercer.testing import check_learner, learning_problem

rng = np.random.default_rng(0)
X = rng.standard_normal((13, 2))
NEW = rng.standard_normal((3, 2))
Y = np.column_stack([X[:, 0], X[:, 0] * X[:, 1], np.sin(X[:, 1])]) + 0.1 * rng.standard_normal((13, 3))
WORDS = as_objects(["abab", "abba", "baab", "bbaa", "aabb", "baba", "abaa", "bbab", "aaab", "babb", "abbb", "baaa"])
NEW_WORDS = as_objects(["aabba", "b", "abab"])
T = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.5], [0.0, 0.5, 1.0]])
KERNEL = Gaussian(1.5)
STRINGS = Subsequence(2).normalized()

VECTORS = learning_problem(KERNEL, X, Y), NEW
LINEAR = learning_problem(Linear(), X, Y), NEW
GRAM = learning_problem(Precomputed(), KERNEL(X), Y), KERNEL(NEW, X)
TEXTS = learning_problem(STRINGS, WORDS, WORDS[::-1], STRINGS), NEW_WORDS
TEXT_COORDINATES = (
    learning_problem(STRINGS, WORDS, WORDS[::-1], STRINGS, PrincipalComponents(n_components=3)),
    NEW_WORDS,
)
MISSING = replace(VECTORS[0], observed=np.random.default_rng(1).random(Y.shape) > 0.2), NEW
IMAGES = learning_problem(Linear(), X, Y[:, :2]), NEW


def chosen_alpha(learner):
    """The learner with the alpha that was chosen."""
    return lambda fitted: replace(learner, alpha=fitted.attributes["alpha_"])


def held_operator(learner):
    """A ridge with the operator's matrix, learned on all pairs, as it is."""

    def held(fitted):
        ridge = fitted.ridge
        matrix = np.asarray(ridge.operator.matrix(ridge.operator_outputs(ridge.decomposed(), ridge.targets)))
        return Ridge(Separable(ridge.kernel, matrix), fitted.alpha, fit_intercept=learner.fit_intercept)

    return held


def held_output_matrix(fitted):
    found = fitted.attributes
    return Ridge(Separable(KERNEL, found["output_matrix_"]), found["alpha_"], fit_intercept=fitted.ridge.fit_intercept)


def held_entangled(learner):
    """A ridge with the learned kernel, or with its partial trace, value by value."""

    def held(fitted):
        kernel, alpha = fitted.attributes["kernel_"], fitted.attributes["alpha_"]
        if learner.mode == "partial-trace":
            traced = FromFunction(lambda x, z: float(np.trace(kernel.block(x, z))) / 3)
            return Ridge(Separable(traced), alpha, fit_intercept=learner.fit_intercept)
        return Ridge(kernel, alpha, fit_intercept=learner.fit_intercept)

    return held


def held_length(learner):
    return lambda fitted: replace(learner, lengths=[fitted.attributes["length_"]], alpha=fitted.attributes["alpha_"])


def held_joint_kernel(learner):
    return lambda fitted: replace(learner, joint_kernel=fitted.attributes["joint_kernel_"])


def cases():
    """Learners, each with a problem, and with what holds what they learned from the outputs."""
    for intercept in (True, False):
        for problem in (VECTORS, LINEAR, GRAM, TEXTS, TEXT_COORDINATES):
            yield Ridge(alpha=0.1, fit_intercept=intercept), problem, None
        yield Ridge(alpha=0.1, solver=LowRank(tol=0.0), fit_intercept=intercept), VECTORS, None
        plain = Ridge(fit_intercept=intercept)
        yield plain, VECTORS, chosen_alpha(plain)
        yield plain, TEXTS, chosen_alpha(plain)
        for operator in (Covariance(), ConditionalCovariance(0.1), Covariance(centered=True)):
            learner = Ridge(operator, 0.1, fit_intercept=intercept)
            yield learner, VECTORS, held_operator(learner)
            yield learner, TEXT_COORDINATES, held_operator(learner)
        chosen = Ridge(Covariance(), LeaveOneOut([0.01, 0.1]), fit_intercept=intercept)
        yield chosen, VECTORS, held_operator(chosen)
        Q = np.random.default_rng(1).standard_normal((6, 4))
        for operator, missing in (
            (Separable(KERNEL), None),
            (Separable(KERNEL, T), "folds"),  # solved by iteration where outputs are missing
            (Separable(KERNEL, [1.0, 2.0, 0.0]), None),
            (SumOfSeparable([(KERNEL, T), (Linear(), np.eye(3))]), "folds"),
            (Entangled(Linear(), Q, 3), None),
        ):
            learner = Ridge(operator, 0.1, fit_intercept=intercept)
            yield learner, VECTORS, None
            yield learner, MISSING, missing
        learned = OutputKernel(0.1, fit_intercept=intercept)
        yield learned, VECTORS, held_output_matrix
        yield replace(learned, alpha=LeaveOneOut([0.01, 0.1])), VECTORS, held_output_matrix
        for mode in ("partial-trace", "entangled"):
            learner = EntangledKernel(
                Linear(), 3, mode=mode, alpha=0.1, max_iter=5, fit_intercept=intercept, random_state=0
            )
            yield learner, VECTORS, held_entangled(learner)
        smoothed = SmoothedCurves(lengths=[0.0, 1.0], fit_intercept=intercept)
        yield smoothed, VECTORS, held_length(smoothed)
        yield replace(smoothed, alpha=0.1), VECTORS, held_length(smoothed)
        yield SmoothedCurves(lengths=[0.0], alpha=0.1, fit_intercept=intercept), VECTORS, None
        yield SmoothedCurves([0.0, 1.0, 4.0], [0.7], period=5.0, alpha=0.1, fit_intercept=intercept), GRAM, None
        for joint in (TensorProductJoint(KERNEL), DiagonalRegularizationJoint(KERNEL, 0.5)):
            yield JointMap(joint, 0.1, intercept), IMAGES, None
        patches = JointMap(PatchwiseJoint((1, 2), size=1, overlap=0), 0.1, intercept)
        yield patches, IMAGES, held_joint_kernel(patches)
        chosen = JointMap(TensorProductJoint(KERNEL), fit_intercept=intercept)
        yield chosen, VECTORS, chosen_alpha(chosen)
    for problem in (VECTORS, LINEAR, GRAM, TEXTS, TEXT_COORDINATES):
        yield Neighbors(3), problem, None
        yield Neighbors("loo"), problem, lambda fitted: Neighbors(fitted.k)
    yield Regressor(SVR(kernel="precomputed", tol=1e-10)), VECTORS, "folds"
    yield Regressor(SVR(kernel="precomputed", tol=1e-10)), GRAM, "folds"
    yield Regressor(SVR(kernel="precomputed", tol=1e-10)), TEXT_COORDINATES, "folds"
    yield Regressor(SVR(tol=1e-10)), VECTORS, "folds"
    yield Regressor(DecisionTreeRegressor(max_depth=2, random_state=0)), VECTORS, "folds"
    yield as_learner(LinearRegression()), VECTORS, "folds"
    both = SumOfSeparable([(KERNEL, T), (Linear(), np.diag([1.0, 2.0, 3.0]))])
    yield Ridge(both, 0.1, solver=Structured(method="cg")), VECTORS, "folds"


CASES = list(cases())


@pytest.mark.parametrize(("learner", "data", "held"), CASES, ids=[f"{learner!r:.60}" for learner, *_ in CASES])
def test_contract(learner, data, held):
    check_learner(learner, *data, held)


class Mean(Learner):
    """A learner of a user: the mean of all outputs."""

    def fit(self, problem):
        return FittedMean(problem)


class FittedMean:
    def __init__(self, problem):
        self.problem, self.attributes = problem, {}
        self.share = np.ones(len(problem.inputs)) if problem.sample_weight is None else problem.sample_weight

    def points(self, inputs):
        return self.weights(inputs) @ self.problem.targets

    def left_out_points(self):
        groups = self.problem.groups
        groups = np.arange(len(self.share)) if groups is None else groups
        shares = self.share * (groups[:, None] != groups)
        return shares / shares.sum(axis=1, keepdims=True) @ self.problem.targets

    def weights(self, inputs):
        return np.tile(self.share / self.share.sum(), (len(inputs), 1))


def broken(**methods):
    """The learner of a user, with some methods of its fitted map replaced."""
    own = type("Fitted", (FittedMean,), methods)
    return type("Broken", (Mean,), {"fit": lambda self, problem: own(problem)})()


def by_folds(learner, problem):
    return left_out_by_folds(learner.fit, problem)


def test_a_learner_of_a_user():
    check_learner(Mean(), *VECTORS)
    check_learner(broken(left_out_points=lambda self: by_folds(Mean(), self.problem)), *VECTORS, "folds")


def forgets_groups(self):
    return FittedMean(replace(self.problem, groups=None)).left_out_points()


def changes_the_inputs(self, inputs):
    self.problem.inputs[0] += 1.0
    return FittedMean.weights(self, inputs)


def remembers(self, inputs):
    self.last = inputs
    return FittedMean.weights(self, inputs)


class Restless(Mean):
    """Two fits differ."""

    def fit(self, problem):
        self.__dict__["fits"] = vars(self).get("fits", 0) + 1
        targets = problem.targets + 1e-10 * vars(self)["fits"]
        return FittedMean(replace(problem, targets=targets))


@dataclass
class Greedy(Mean):
    """Keeps what it found among its parameters."""

    best: Any = None

    def fit(self, problem):
        self.best = 1.0
        return FittedMean(problem)


class Destructive(Mean):
    """Centres the targets in place."""

    def fit(self, problem):
        problem.targets[:] = problem.targets - problem.targets.mean(axis=0)
        return FittedMean(problem)


class Unmoved(Mean):
    """Predicts the same whatever the outputs."""

    def fit(self, problem):
        return FittedConstant(problem)


class FittedConstant(FittedMean):
    def points(self, inputs):
        return np.full((len(inputs), 3), 2.0)

    def left_out_points(self):
        return self.points(self.problem.inputs)

    def weights(self, inputs):
        return None


IN_SAMPLE = {"left_out_points": lambda self: self.points(self.problem.inputs)}


@pytest.mark.parametrize(
    ("learner", "held", "message"),
    [
        (broken(**IN_SAMPLE), None, r"left-out points and those of fits without the pair differ"),
        (broken(**IN_SAMPLE), "folds", r"left-out points of pairs \[0\] whose own outputs are changed differ"),
        (broken(left_out_points=forgets_groups), None, r"groups True\): left-out points and those of fits without"),
        (broken(left_out_points=forgets_groups), "folds", r"groups True\): left-out points of pairs .* are changed"),
        (
            broken(left_out_points=lambda self: FittedMean.left_out_points(self)[1:]),
            None,
            r"left_out_points has shape \(12, 3\)",
        ),
        (
            broken(points=lambda self, x: FittedMean.points(self, x)[:1]),
            None,
            r"points has shape \(1, 3\); expected \(3, 3\)",
        ),
        (broken(points=lambda self, x: FittedMean.points(self, x) + x.mean()), None, "points of input 0 alone differ"),
        (
            broken(points=lambda self, x: FittedMean.points(self, x) + np.arange(len(x))[:, None]),
            None,
            "points of a batch in another order differ",
        ),
        (
            broken(points=lambda self, x: FittedMean.points(self, x) + 1.0),
            None,
            "weights times outputs, and points, differ by 1",
        ),
        (
            broken(weights=lambda self, x: 0.5 * FittedMean.weights(self, x)),
            None,
            r"sums of weights, and one, differ by 0\.5",
        ),
        (broken(weights=remembers), None, "points or weights wrote to last of the fitted map"),
        (broken(attributes=property(lambda self: [], lambda self, value: None)), None, "attributes is a list"),
        (type("Nothing", (Mean,), {"fit": lambda self, problem: problem})(), None, "fit gave no FittedMap"),
        (Destructive(), None, "fit changed outputs, targets of the problem"),
        (Greedy(), None, r"fit changed the learner to Greedy\(best=1\.0\)"),
        (Restless(), None, "two fits on the same problem differ"),
        (Unmoved(), None, "points of outputs plus one, and points plus one, differ by 1"),
    ],
)
def test_the_contract_catches(learner, held, message):
    with pytest.raises(AssertionError, match=message):
        check_learner(learner, learning_problem(KERNEL, X.copy(), Y.copy()), NEW, held)
