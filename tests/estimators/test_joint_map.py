"""Joint kernel maps against the dense system, brute-force leave-one-out, and the estimator they contain."""

import array_api_strict
import numpy as np
import pytest
import torch
from expected_failures import expected_failures
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import DependencyEstimator, load, save
from mercer.core.arrays import to_numpy
from mercer.estimators import JointKernelMap
from mercer.kernels import Gaussian, Linear, Subsequence
from mercer.operators import (
    Covariance,
    DiagonalRegularizationJoint,
    Identity,
    InducedJoint,
    PatchwiseJoint,
    TensorProductJoint,
)
from mercer.selection import KFold, LeaveOneOut

rng = np.random.default_rng(0)
X, NEW = rng.standard_normal((9, 12)), rng.standard_normal((4, 12))
Y = np.tanh(X + 0.3 * X[:, ::-1])
JOINTS = [
    TensorProductJoint(Gaussian(3.0)),
    DiagonalRegularizationJoint(Gaussian(3.0), 0.3),
    PatchwiseJoint((3, 4), 2, 1, Gaussian(2.0)),
    0.5 * PatchwiseJoint((3, 4), 2, 1) + 0.5 * TensorProductJoint(),
]


@parametrize_with_checks(
    [JointKernelMap(), JointKernelMap(alpha=0.1, fit_intercept=False)], expected_failed_checks=expected_failures
)
@pytest.mark.filterwarnings("ignore::mercer.NumericalWarning")
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("joint", JOINTS, ids=repr)
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_predictions_are_those_of_the_dense_block_system(joint, fit_intercept):
    n, p, alpha = len(X), 12, 0.2
    model = JointKernelMap(joint, alpha, fit_intercept).fit(X, Y)
    fixed = joint.resolve(X, Y)
    system = fixed.blocks(X, None, p).transpose(0, 2, 1, 3).reshape(n * p, n * p) + alpha * np.eye(n * p)
    right = Y.ravel()
    if fit_intercept:
        ones = np.kron(np.ones((n, 1)), np.eye(p))
        system, right = np.block([[system, ones], [ones.T, np.zeros((p, p))]]), np.append(right, np.zeros(p))
    found = np.linalg.solve(system, right)
    weights, mean = found[: n * p].reshape(n, p), found[n * p :] if fit_intercept else np.zeros(p)
    expected = np.einsum("ijab,jb->ia", fixed.blocks(NEW, X, p), weights) + mean
    assert np.allclose(model.predict(NEW), expected)


@pytest.mark.parametrize("joint", JOINTS[:3], ids=repr)
def test_leave_one_out_is_refitting(joint):
    alphas = [0.01, 1.0]
    model = JointKernelMap(joint, LeaveOneOut(alphas)).fit(X, Y)
    for alpha, score in zip(alphas, model.loo_path_, strict=True):
        errors = []
        for j in range(len(X)):
            rest = np.delete(np.arange(len(X)), j)
            predicted = JointKernelMap(joint, alpha).fit(X[rest], Y[rest]).predict(X[j : j + 1])
            errors.append(((predicted - Y[j]) ** 2).sum())
        assert score == pytest.approx(np.mean(errors))
    assert model.alpha_ == alphas[int(np.argmin(model.loo_path_))]


def test_tensor_product_is_the_identity_operator():
    joint = JointKernelMap(TensorProductJoint(Gaussian("median"))).fit(X, Y)
    plain = DependencyEstimator(Gaussian("median"), Linear()).fit(X, Y)
    assert joint.alpha_ == pytest.approx(plain.alpha_)
    assert np.allclose(joint.loo_path_, plain.loo_path_)
    assert np.allclose(joint.predict(NEW), plain.predict(NEW))


def test_prediction_maximises_the_joint_score():
    """f(x) = argmax 2⟨W, Φ(x, y)⟩ − ‖y‖² over all vectors: no candidate near it scores higher, and rank agrees."""
    model = JointKernelMap(JOINTS[2], 0.1).fit(X, Y)
    best = model.predict(NEW[:1])
    others = np.concatenate([best, best + 0.1 * rng.standard_normal((20, 12)), Y])
    ranked = model.rank(NEW[:1], k=3, candidates=others)[0]
    assert np.array_equal(ranked.objects[0], best[0])
    assert set(map(tuple, model.predict(NEW, candidates=Y))) <= set(map(tuple, Y))


def test_what_happens_elsewhere_does_not_matter():
    """A pixel is learned from the patches around it alone."""
    joint = PatchwiseJoint((3, 4), 2, 0, Gaussian(2.0))
    model = JointKernelMap(joint, 0.1).fit(X, Y)
    hidden = NEW.reshape(-1, 3, 4).copy()
    hidden[:, :, 2:] = 0.0
    near, far = (model.predict(a).reshape(-1, 3, 4) for a in (NEW, hidden.reshape(-1, 12)))
    assert np.allclose(near[:, :, :2], far[:, :, :2])
    assert not np.allclose(near[:, :, 2:], far[:, :, 2:])


def test_images_keep_their_shape():
    images = X.reshape(-1, 3, 4)
    model = JointKernelMap(JOINTS[2], 0.1).fit(images, Y.reshape(-1, 3, 4))
    assert model.predict(images).shape == (9, 3, 4)
    assert np.allclose(model.predict(images).reshape(9, -1), JointKernelMap(JOINTS[2], 0.1).fit(X, Y).predict(X))


@pytest.mark.parametrize("library", [torch, array_api_strict], ids=["torch", "array_api_strict"])
@pytest.mark.parametrize("joint", JOINTS, ids=repr)
def test_other_libraries(library, joint):
    expected = JointKernelMap(joint).fit(X, Y).predict(NEW)
    model = JointKernelMap(joint).fit(library.asarray(X), library.asarray(Y))
    found = model.predict(library.asarray(NEW))
    assert type(found) is type(library.asarray(X))
    assert np.allclose(to_numpy(found), expected)


def test_saved_and_loaded(tmp_path):
    model = JointKernelMap(JOINTS[3]).fit(X, Y)
    assert np.array_equal(load(save(model, tmp_path / "map.skops")).predict(NEW), model.predict(NEW))


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"joint_kernel": Gaussian()}, TypeError, "expected one that is linear in the outputs"),
        (
            {"joint_kernel": InducedJoint(Linear(), Gaussian(), Covariance()), "bounds": (0, 1)},
            ValueError,
            "is for output vectors",
        ),
        ({"alpha": "kfold"}, ValueError, "alpha='kfold'; expected a positive number, 'loo' or LeaveOneOut"),
        ({"alpha": KFold(3)}, ValueError, "expected a positive number"),
        ({"alpha": -1.0}, ValueError, "alpha=-1.0; expected a positive finite number"),
    ],
)
def test_messages(parameters, error, message):
    with pytest.raises(error, match=message):
        JointKernelMap(**parameters).fit(X, Y)


@pytest.mark.parametrize("output_kernel", [Linear(), Gaussian(2.0)], ids=repr)
@pytest.mark.parametrize("operator", [Identity(), Covariance()], ids=repr)
def test_induced_kernels_are_the_estimator_with_the_operator(output_kernel, operator, tmp_path):
    kernel = Gaussian(3.0)
    rule = LeaveOneOut([0.1])
    model = JointKernelMap(InducedJoint(kernel, output_kernel, operator), alpha=rule).fit(X, Y)
    plain = DependencyEstimator(kernel, output_kernel, operator, alpha=rule).fit(X, Y)
    assert np.allclose(model.predict(NEW), plain.predict(NEW))
    assert np.allclose(model.loo_path_, plain.loo_path_)
    joint = InducedJoint(kernel, output_kernel, operator).resolve(X, Y)
    assert np.allclose(model.joint_kernel_(X, Y), joint(X, Y))
    assert np.array_equal(load(save(model, tmp_path / "map.skops")).predict(NEW), model.predict(NEW))


def test_induced_kernels_score_pairs_as_their_points_do():
    """2⟨W, Φ(x, y)⟩ − l(y, y) with W from the dense system over all pairs ranks candidates as the model does."""
    k, l, alpha = Gaussian(3.0), Gaussian(2.0), 0.1
    joint = InducedJoint(k, l, Covariance())
    model = JointKernelMap(joint, alpha, fit_intercept=False).fit(X, Y)
    L = l(Y)
    C = L @ L / len(X)  # ⟨ψ(y), C ψ(y′)⟩ of training outputs
    # k Z C + αZ = V in the coordinates of L = V Vᵀ: scores are k_x Z C vᵀ
    values, vectors = np.linalg.eigh(L)
    V = vectors * np.sqrt(np.maximum(values, 0.0))
    inner = V.T @ V / len(X)
    Z = np.linalg.solve(np.kron(inner, k(X)) + alpha * np.eye(81), V.ravel(order="F")).reshape(9, 9, order="F")
    scores = 2.0 * k(NEW, X) @ Z @ inner @ V.T - np.diag(L)
    assert np.allclose(model.joint_kernel_(X, Y), k(X) * C)
    assert np.array_equal(model.predict(NEW, candidates=Y), Y[scores.argmax(axis=1)])


def test_strings_with_a_product_of_kernels():
    words = Subsequence(2).normalized()
    texts, answers = ["aab", "bba", "abb", "bab"], ["xxy", "yyx", "xyy", "yxy"]
    model = JointKernelMap(TensorProductJoint(words, words), alpha=0.1).fit(texts, answers)
    plain = DependencyEstimator(words, words, alpha=0.1).fit(texts, answers)
    assert list(model.predict(["aaab", "bbba"])) == list(plain.predict(["aaab", "bbba"]))


def test_leaving_groups_out_equals_refitting_without_them():
    rng = np.random.default_rng(5)
    images, group = rng.random((9, 4, 5)), np.array([0, 1, 2, 0, 1, 2, 2, 2, 1])
    answers = np.cumsum(images, axis=1)
    joint = PatchwiseJoint((4, 5), 2, 1, Gaussian(0.5)) + TensorProductJoint(Gaussian(1.0))
    alphas = [0.01, 0.3]
    path = JointKernelMap(joint, LeaveOneOut(alphas)).fit(images, answers, groups=group).loo_path_
    for alpha, found in zip(alphas, path, strict=True):
        squares = []
        for left in range(3):
            model = JointKernelMap(joint, alpha).fit(images[group != left], answers[group != left])
            squares += list(np.sum((model.predict(images[group == left]) - answers[group == left]) ** 2, axis=(1, 2)))
        assert found == pytest.approx(np.mean(squares))
    alone = JointKernelMap(joint, LeaveOneOut(alphas)).fit(images, answers, groups=np.arange(9)).loo_path_
    np.testing.assert_allclose(alone, JointKernelMap(joint, LeaveOneOut(alphas)).fit(images, answers).loo_path_)


@pytest.mark.parametrize(("groups", "message"), [([0, 1], "one label for each of the 4"), ([0] * 4, "a single group")])
def test_groups_that_do_not_fit(groups, message):
    with pytest.raises(ValueError, match=message):
        JointKernelMap().fit(np.eye(4), np.eye(4), groups=groups)


def test_answers_stay_in_their_box():
    rng = np.random.default_rng(6)
    images = rng.random((10, 3, 3))
    free = JointKernelMap(alpha=1e-3).fit(images, 3 * images - 1)
    boxed = JointKernelMap(alpha=1e-3, bounds=(0.0, 1.0)).fit(images, 3 * images - 1)
    queries = rng.random((5, 3, 3))
    np.testing.assert_allclose(boxed.predict(queries), np.clip(free.predict(queries), 0.0, 1.0))
    assert free.predict(queries).min() < 0
    with pytest.raises(ValueError, match=r"bounds=\(1, 0\); expected 'data', None, or a pair"):
        JointKernelMap(alpha=1.0, bounds=(1, 0)).fit(images, images)
