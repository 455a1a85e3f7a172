"""Max-margin learning: the contract, the primal solved by another program, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.optimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from mercer import DependencyEstimator, load, save
from mercer.decoders import Candidates
from mercer.kernels import Classes, Gaussian, Linear, Subsequence
from mercer.learners import InducedMap, JointMap, MaxMargin
from mercer.losses import ZeroOne
from mercer.operators import Covariance, DiagonalRegularizationJoint, Identity, InducedJoint, TensorProductJoint
from mercer.testing import check_learner, learning_problem

rng = np.random.default_rng(0)
X, NEW = rng.standard_normal((12, 2)), rng.standard_normal((3, 2))
Y = np.column_stack([np.sign(X[:, 0]), np.sign(X[:, 1])]) * 0.5
LABELS = np.array(["a", "b", "c"], dtype=object)[np.arange(12) % 3]
KERNEL = Gaussian(1.0)
VECTORS = learning_problem(KERNEL, X, Y)
WORDS = np.array(["abab", "abba", "baab", "bbaa", "aabb", "baba", "abaa", "bbab"], dtype=object)
STRINGS = Subsequence(2).normalized()
TEXTS = learning_problem(STRINGS, WORDS, WORDS[::-1], STRINGS)
EXACT = {"tol": 1e-9, "max_passes": 5000}


@pytest.mark.parametrize(
    ("learner", "problem", "queries"),
    [
        (MaxMargin(0.5), VECTORS, NEW),
        (MaxMargin(0.5, "epsilon", 0.3), VECTORS, NEW),
        (MaxMargin(0.5), TEXTS, WORDS[:3]),
        (MaxMargin(0.5, joint_kernel=InducedJoint(KERNEL, Linear(), Covariance())), VECTORS, NEW),
        (MaxMargin(0.5, joint_kernel=DiagonalRegularizationJoint(KERNEL, 0.4)), VECTORS, NEW),
    ],
    ids=["loss", "epsilon", "words", "induced", "diagonal"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_contract(learner, problem, queries):
    check_learner(replace(learner, max_passes=20), problem, queries, held="folds")


def primal(gram, products, margins, group, C, norms):
    """The least objective, over coefficients of all pairs and candidates, by a general program with one slack for each pair."""
    n, K = margins.shape
    joint = sum(np.kron(k, L) for k, L in zip(gram, products, strict=True))

    def split(z):
        return z[: n * K], z[n * K :]

    def objective(z):
        beta, slack = split(z)
        return 0.5 * beta @ joint @ beta + C * slack.sum()

    def slope(z):
        beta, _ = split(z)
        return np.concatenate([joint @ beta, np.full(n, C)])

    rows, right = [], []
    for i in range(n):
        for c in range(K):
            if np.isfinite(margins[i, c]) or c == group[i]:
                row = np.zeros(n * K + n)
                row[: n * K] = joint[i * K + group[i]] - joint[i * K + c]
                row[n * K + i] = 1.0
                rows.append(row)
                right.append(margins[i, c] + 0.5 * (norms[group[i]] - norms[c]) if c != group[i] else 0.0)
    found = scipy.optimize.minimize(
        objective,
        np.zeros(n * K + n),
        jac=slope,
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
        constraints={
            "type": "ineq",
            "fun": lambda z: np.array(rows) @ z - np.array(right),
            "jac": lambda z: np.array(rows),
        },
    )
    return found.fun


@pytest.mark.parametrize("margin", ["loss", "epsilon"])
@pytest.mark.parametrize(
    "joint", [None, InducedJoint(KERNEL, Linear(), Covariance()), DiagonalRegularizationJoint(KERNEL, 0.4)]
)
def test_the_objective_is_the_least_of_the_primal(margin, joint):
    few = np.arange(5)
    problem = learning_problem(KERNEL, X[few], Y[few] + 0.01 * few[:, None])
    V = np.asarray(problem.targets)
    learner = MaxMargin(2.0, margin, 0.5, joint, **EXACT)
    found = learner.fit(problem).attributes
    k, L = KERNEL(X[few]), V @ V.T
    distances = np.maximum(np.diag(L)[:, None] + np.diag(L) - 2 * L, 0)
    margins = distances if margin == "loss" else np.where(distances > 0.25, 0.0625, -np.inf)
    if joint is None:
        grams, products = [k], [L]
    elif isinstance(joint, InducedJoint):
        grams, products = [k], [V @ (V.T @ V / 5) @ V.T]
    else:
        grams = [0.6 * k + 0.4 * np.outer(X[few, a], X[few, a]) for a in range(2)]
        products = [np.outer(V[:, a], V[:, a]) for a in range(2)]
    expected = primal(grams, products, margins, few, 2.0, np.diag(L))
    assert found["objective_"] == pytest.approx(expected, rel=1e-5)
    assert found["gap_"] <= 1e-9 * found["objective_"]


@pytest.mark.parametrize(
    ("outputs", "kernel", "joint"),
    [
        (Y + 0.01 * np.arange(12)[:, None], Gaussian(0.7), None),
        (np.resize(WORDS, 12), STRINGS, None),
        (LABELS, Classes(), None),
        (np.resize(WORDS, 12), STRINGS, InducedJoint(KERNEL, STRINGS, Covariance())),
    ],
    ids=["vectors", "words", "classes", "induced"],
)
def test_the_objective_of_an_estimator_is_that_of_its_two_kernels(outputs, kernel, joint):
    """embedding="auto" dropped components of the outputs and moved their origin: the objective was that of another program."""
    model = DependencyEstimator(
        KERNEL, kernel, regressor=MaxMargin(2.0, joint_kernel=joint, tol=1e-6, max_passes=3000), decoder=Candidates()
    ).fit(X, outputs)
    beta, first = model.map_.beta, model.map_.first
    candidates = model.embedding_.outputs_[first]
    L = np.asarray(kernel(candidates))
    every = np.asarray(kernel(outputs, candidates))
    product = L if joint is None else every.T @ every / 12  # ⟨ψ(y), C ψ(y′)⟩ with C the mean of ψψᵀ
    group = np.argmax(every - 0.5 * np.diag(L), axis=1)
    rows, scores, norms = np.arange(12), KERNEL(X) @ beta @ product, np.diag(L)
    margins = (norms[:, None] + norms - 2 * L)[group] + 0.5 * (norms[group][:, None] - norms)
    margins[rows, group] = 0.0
    violations = np.max(margins + scores - scores[rows, group][:, None], axis=1)
    assert model.objective_ == pytest.approx(0.5 * np.sum(beta * scores) + 2.0 * violations.sum(), rel=1e-9)
    points = np.asarray(model.embedding_.outputs_, dtype=object)
    ranked = model.rank(NEW, k=len(first))
    expected = KERNEL(NEW, X) @ beta @ product - 0.5 * norms
    assert [found.objects[0] if points.ndim == 1 else tuple(found.objects[0]) for found in ranked] == [
        candidates[i] if points.ndim == 1 else tuple(candidates[i]) for i in np.argmax(expected, axis=1)
    ]


def test_two_classes_are_a_support_vector_machine():
    """With ½[y = y′] and the 0-1 loss, two classes have the SVM's direction: margins of 1 on a difference of norm √½·√½."""
    labels = np.where(X[:, 0] + 0.3 * rng.standard_normal(12) > 0, "a", "b").astype(object)
    model = DependencyEstimator(
        KERNEL, Classes(), loss=ZeroOne(), regressor=MaxMargin(3.0, **EXACT), decoder=Candidates(), fit_intercept=False
    ).fit(X, labels)
    assert list(model.predict(X)) == list(np.asarray(labels)) or np.mean(model.predict(X) == labels) > 0.7
    # w = Σ β_i (e_a − e_b)/√2: the same quadratic program as an SVM without a bias
    weights = model.decision_weights(NEW)
    signs = np.where(labels == "a", 1.0, -1.0)
    dual = scipy.optimize.minimize(
        lambda a: 0.5 * (a * signs) @ KERNEL(X) @ (a * signs) - a.sum(),
        np.zeros(12),
        jac=lambda a: signs * (KERNEL(X) @ (a * signs)) - 1.0,
        bounds=[(0, 3.0)] * 12,
        method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 5000},
    ).x
    values = KERNEL(NEW, X) @ (dual * signs)
    first = [int(np.flatnonzero(labels == each)[0]) for each in ("a", "b")]
    found = 0.5 * (weights[:, first[0]] - weights[:, first[1]])
    np.testing.assert_allclose(found, values, atol=1e-4)


def test_sample_weights_count_pairs_as_often():
    weights = np.array([2.0] + [1.0] * 11)
    twice = np.append(np.arange(12), 0)
    learner = MaxMargin(0.7, **EXACT)
    once = learner.fit(replace(VECTORS, sample_weight=weights))
    again = learner.fit(learning_problem(KERNEL, X[twice], Y[twice]))
    np.testing.assert_allclose(once.points(NEW), again.points(NEW), atol=1e-4)


def test_an_identity_operator_changes_nothing():
    plain = MaxMargin(0.7).fit(VECTORS).points(NEW)
    induced = MaxMargin(0.7, joint_kernel=InducedJoint(KERNEL, Linear(), Identity())).fit(VECTORS).points(NEW)
    np.testing.assert_array_equal(plain, induced)
    tensor = MaxMargin(0.7, joint_kernel=TensorProductJoint(KERNEL)).fit(VECTORS).points(NEW)
    np.testing.assert_allclose(plain, tensor, atol=1e-9)


def test_what_is_refused():
    for bad, message in (
        ({"C": 0.0}, "C=0.0"),
        ({"margin": "wide"}, "margin='wide'"),
        ({"epsilon": -1.0}, "epsilon=-1.0"),
        ({"max_passes": 0}, "max_passes=0"),
    ):
        with pytest.raises(ValueError, match=message):
            MaxMargin(**bad)
    with pytest.raises(TypeError, match="joint_kernel"):
        MaxMargin(joint_kernel=KERNEL)
    with pytest.raises(ValueError, match="other kernels than the estimator"):
        MaxMargin(joint_kernel=InducedJoint(Gaussian(2.0), Linear(), Covariance())).fit(VECTORS)
    with pytest.raises(ValueError, match="add embedding=PrincipalComponents"):
        MaxMargin(joint_kernel=InducedJoint(STRINGS, STRINGS, Covariance())).fit(TEXTS)
    with pytest.warns(ConvergenceWarning, match="raise max_passes, or lower C"):
        MaxMargin(50.0, tol=1e-12, max_passes=1).fit(VECTORS)


def test_saved_and_loaded(tmp_path):
    joint = DiagonalRegularizationJoint(KERNEL, 0.4)
    for learner in (MaxMargin(1.0), MaxMargin(1.0, joint_kernel=joint)):
        model = DependencyEstimator(KERNEL, Linear(), regressor=learner, decoder=Candidates()).fit(X, Y)
        assert np.array_equal(load(save(model, tmp_path / "model.skops")).predict(NEW), model.predict(NEW))


def test_multiclass_on_new_points():
    model = DependencyEstimator(
        Gaussian(0.5), Classes(), loss=ZeroOne(), regressor=MaxMargin(10.0), decoder=Candidates()
    ).fit(X, LABELS)
    assert np.mean(model.predict(X) == LABELS) == 1.0
    machine = SVC(C=1e4, gamma=2.0).fit(X, LABELS.astype(str))
    assert np.mean(machine.predict(X) == LABELS.astype(str)) == 1.0
    assert model.n_iter_ >= 1


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_contract_of_induced_maps(fit_intercept):
    learner = InducedMap(TensorProductJoint(STRINGS, STRINGS), 0.1, fit_intercept)
    check_learner(learner, TEXTS, WORDS[:3])
    induced = InducedMap(InducedJoint(KERNEL, Linear(), Identity()), 0.1, fit_intercept)
    check_learner(induced, VECTORS, NEW)


def test_induced_maps_refuse_kernels_on_coordinates():
    with pytest.raises(TypeError, match="joint_kernel"):
        InducedMap(DiagonalRegularizationJoint(KERNEL, 0.4))
    with pytest.raises(TypeError, match="use InducedMap"):
        JointMap(InducedJoint(KERNEL, Linear(), Covariance()))
    with pytest.raises(ValueError, match="is not linear in the outputs"):
        JointMap(TensorProductJoint(KERNEL, Gaussian(1.0)))
