"""Joint kernels equal their formulas, and what the operator-valued kernel induces."""

import array_api_strict
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.core.arrays import to_numpy
from mercer.embeddings import Spectral
from mercer.kernels import Gaussian, Linear, Precomputed, Subsequence
from mercer.operators import (
    ConditionalCovariance,
    Covariance,
    DiagonalRegularizationJoint,
    Identity,
    InducedJoint,
    Outputs,
    PatchwiseJoint,
    TensorProductJoint,
)
from mercer.solvers import GramEigh

rng = np.random.default_rng(0)
X, Z = rng.standard_normal((5, 12)), rng.standard_normal((3, 12))
Y, W = rng.standard_normal((5, 12)), rng.standard_normal((3, 12))
KERNEL = Gaussian(3.0)

COORDINATE_WISE = [
    TensorProductJoint(KERNEL),
    DiagonalRegularizationJoint(KERNEL, 0.3),
    PatchwiseJoint((3, 4), 2, 1, Gaussian(1.0)),
    0.7 * PatchwiseJoint((3, 4), 2, 0, Gaussian(1.0)) + 0.3 * TensorProductJoint(KERNEL),
    PatchwiseJoint((3, 4), 2, 1, Gaussian(1.0)) + DiagonalRegularizationJoint(KERNEL, 0.5),
]


@pytest.mark.parametrize("joint", COORDINATE_WISE, ids=repr)
def test_joint_kernel_is_what_the_operator_valued_kernel_induces(joint):
    """J((x, y), (x', y')) = ⟨y, K(x, x') y'⟩ with the dense blocks K."""
    for inputs, outputs in ((None, None), (Z, W)):
        blocks = joint.blocks(X, inputs, 12)
        others = Y if outputs is None else outputs
        expected = np.einsum("ia,ijab,jb->ij", Y, blocks, others)
        assert np.allclose(joint(X, Y, inputs, outputs), expected)
    assert np.allclose(joint(Z, W, X, Y), joint(X, Y, Z, W).T)
    assert np.linalg.eigvalsh(joint(X, Y))[0] > -1e-10
    every = joint.blocks(X, None, 12).transpose(0, 2, 1, 3).reshape(60, 60)
    assert np.linalg.eigvalsh(every)[0] > -1e-10


def test_tensor_product_formula():
    found = TensorProductJoint(KERNEL, Gaussian(2.0))(X, Y, Z, W)
    assert np.allclose(found, KERNEL(X, Z) * Gaussian(2.0)(Y, W))
    words = np.array(["ab", "ba", "abb", "b", "a"], dtype=object)
    l = Subsequence(1).normalized()
    assert np.allclose(TensorProductJoint(KERNEL, l)(X, words), KERNEL(X) * l(words))


@settings(max_examples=25, deadline=None)
@given(weight=st.floats(0, 1), seed=st.integers(0, 2**16))
def test_diagonal_regularization_formula(weight, seed):
    own = np.random.default_rng(seed)
    x, z, y, w = own.standard_normal((4, 3))
    found = DiagonalRegularizationJoint(KERNEL, weight)(x[None], y[None], z[None], w[None])[0, 0]
    k = np.exp(-((x - z) ** 2).sum() / 18)
    assert found == pytest.approx((1 - weight) * k * (y @ w) + weight * sum(x * z * y * w), abs=1e-9)


def test_patchwise_formula():
    found = PatchwiseJoint((3, 4), 2, 1, Gaussian(1.0))(X, Y, Z, W)
    expected = np.zeros((5, 3))
    corners = [(row, column) for row in range(2) for column in range(3)]
    for i, j in np.ndindex(5, 3):
        for r, c in corners:
            x, z, y, w = (a.reshape(3, 4)[r : r + 2, c : c + 2] for a in (X[i], Z[j], Y[i], W[j]))
            expected[i, j] += np.exp(-((x - z) ** 2).sum() / 2) * (y * w).sum()
    assert np.allclose(found, expected / (len(corners) * 4 / 12))


def test_weights_of_a_patchwise_kernel_mean_what_they_say():
    """K(x, x) has the diagonal of k(x, x) on average, so that adding the two weighs them alike."""
    blocks = PatchwiseJoint((3, 4), 2, 1, Gaussian(1.0)).blocks(X, None, 12)
    assert np.trace(blocks[0, 0]) == pytest.approx(12)


@pytest.mark.parametrize("l", [Gaussian(2.0), Linear()], ids=repr)
def test_covariance_operators_induce_the_papers_joint_kernels(l):
    """⟨ψ(y), C ψ(y')⟩ written with kernel values alone, for outputs that were never seen too."""
    n, eps = 5, 0.1
    k, seen = KERNEL(X), l(Y, Y)
    found = InducedJoint(KERNEL, l, Covariance()).resolve(X, Y)(X, Y, Z, W)
    assert np.allclose(found, KERNEL(X, Z) * (seen @ l(Y, W)) / n)
    found = InducedJoint(KERNEL, l, ConditionalCovariance(eps)).resolve(X, Y)(Z, W)
    unexplained = eps * np.linalg.inv(k + n * eps * np.eye(n))
    assert np.allclose(found, KERNEL(Z) * (l(W, Y) @ unexplained @ l(Y, W)))


@pytest.mark.parametrize("operator", [Covariance(), Covariance(centered=True), ConditionalCovariance(0.1)], ids=repr)
def test_induced_blocks_are_the_operators(operator):
    l = Gaussian(2.0)
    joint = InducedJoint(KERNEL, l, operator).resolve(X, Y)
    embedding = Spectral().fit(l, Y)
    values, vectors = np.linalg.eigh(KERNEL(X))
    resolved = operator(KERNEL, Outputs(embedding.coordinates_, 5, True, GramEigh(vectors, values, vectors)))
    blocks = resolved(X, Z)
    assert np.allclose(joint.blocks(X, Z, 5), blocks)
    rows, others = embedding.transform(Y), embedding.transform(W)
    assert np.allclose(joint(X, Y, Z, W), np.einsum("ia,ijab,jb->ij", rows, blocks, others))


def test_a_given_gram_matrix_is_not_overwritten():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    rows = np.random.default_rng(0).standard_normal((1010, 3))
    gram = pandas.DataFrame(rows @ rows.T)
    before = gram.to_numpy().copy()
    InducedJoint(Precomputed(), Gaussian(2.0), Covariance()).resolve(gram, rows[:, :2])
    assert np.array_equal(gram.to_numpy(), before)


def test_identity_induces_the_tensor_product():
    found = InducedJoint(Gaussian("median"), Gaussian(2.0), Identity()).resolve(X, Y)
    assert isinstance(found, TensorProductJoint)
    scale = Gaussian("median").resolve(X)
    assert np.allclose(found(X, Y, Z, W), scale(X, Z) * Gaussian(2.0)(Y, W))


@pytest.mark.parametrize("library", [torch, array_api_strict], ids=["torch", "array_api_strict"])
@pytest.mark.parametrize("joint", [*COORDINATE_WISE, InducedJoint(KERNEL, Gaussian(2.0), Covariance())], ids=repr)
def test_other_libraries(library, joint):
    expected = joint.resolve(X, Y)(X, Y, Z, W)
    own = [library.asarray(a) for a in (X, Y, Z, W)]
    found = joint.resolve(*own[:2])(*own)
    assert type(found) is type(own[0])
    assert np.allclose(to_numpy(found), expected)


def test_median_scales_are_resolved_inside_sums():
    joint = (2.0 * PatchwiseJoint((3, 4), 2, 1) + TensorProductJoint()).resolve(X, Y)
    assert joint.right.input_kernel == Gaussian("median").resolve(X)
    assert isinstance(joint.left.joint.kernel.scale, float)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: TensorProductJoint(KERNEL)(X, Y, Z), "only one of X2 and Y2 was given"),
        (lambda: TensorProductJoint(KERNEL)(X, Y[:3]), "X has 5 objects and Y has 3; expected pairs"),
        (lambda: DiagonalRegularizationJoint(KERNEL, 1.5)(X, Y), "weight=1.5; expected a number from 0 to 1"),
        (lambda: DiagonalRegularizationJoint(KERNEL)(X, Y[:, :5]), "inputs have 12 coordinates and outputs 5"),
        (lambda: PatchwiseJoint((3, 4), 2, 1, KERNEL)(X, Y[:, :5]), "outputs have 5 pixels; expected 12"),
        (lambda: PatchwiseJoint((3, 5), 2, 1, KERNEL)(X, Y), "X has 12 pixels per image; expected 3 × 5"),
        (lambda: PatchwiseJoint((3, 4), 4, 1, KERNEL)(X, Y), "size=4 in PatchwiseJoint; expected .* from 1 to 3"),
        (lambda: (-1.0 * TensorProductJoint(KERNEL))(X, Y), "factor=-1.0; expected a number above zero"),
        (lambda: InducedJoint(KERNEL, Linear(), Covariance())(X, Y), r"call resolve\(X, Y\) first"),
    ],
)
def test_messages(call, message):
    with pytest.raises(ValueError, match=message):
        call()
