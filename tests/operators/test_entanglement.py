"""Measures of entanglement against definitions written out, states whose measures are known, and what must not matter."""

import numpy as np
import pytest

from mercer.estimators import EntangledRidge
from mercer.kernels import Gaussian, Linear
from mercer.operators import Entangled, PartialTrace, Separable, SumOfSeparable, Transformable, entanglement

rng = np.random.default_rng(0)
X = rng.standard_normal((4, 2))


def psd(p, rank=None):
    root = rng.standard_normal((p, rank or p))
    return root @ root.T


def learned(p=3, m=2, rank=4):
    return Entangled(Linear(), rng.standard_normal((m * p, rank))).resolve(X, p)


def written_out(kernel, X):
    """The measures from blocks and loops."""
    blocks = kernel(X)
    n = len(blocks)
    blocks = blocks / sum(np.trace(blocks[i, i]) for i in range(n))
    gram, transposed = (
        np.block([[at(i, j) for j in range(n)] for i in range(n)])
        for at in (lambda i, j: blocks[i, j], lambda i, j: blocks[i, j].T)
    )
    realigned = np.array([blocks[i, j].ravel() for i in range(n) for j in range(n)])
    values = np.linalg.svd(realigned, compute_uv=False)
    negative = np.linalg.eigvalsh(transposed)
    return {
        "product_distance": np.sqrt(np.sum(values[1:] ** 2)) / np.linalg.norm(gram),
        "asymmetry": np.linalg.norm((gram - transposed) / 2) / np.linalg.norm(gram),
        "negativity": -negative[negative < 0].sum(),
        "realignment": values.sum(),
        "kraus_rank": np.linalg.matrix_rank(gram, tol=1e-9),
    }


@pytest.mark.parametrize(
    "kernel",
    [
        learned(),
        Transformable(Gaussian(1.0), [lambda X: X, lambda X: X**2, np.sin]),
        SumOfSeparable([(Gaussian(1.0), psd(3)), (Linear(), psd(3, 1))]),
        PartialTrace([(Linear(), psd(2))], mixing=rng.standard_normal((4, 4))),
    ],
    ids=lambda kernel: type(kernel).__name__,
)
def test_measures_follow_their_definitions(kernel):
    kernel = kernel.resolve(X, kernel.outputs)
    found = entanglement(kernel, X)
    for name, value in written_out(kernel, X).items():
        assert getattr(found, name) == pytest.approx(value, abs=1e-9), name


def test_separable_kernels_are_separable_and_their_matrix_is_found():
    T = psd(3)
    found = entanglement(Separable(Gaussian(1.0), T), X)
    assert found.is_separable
    assert not found.is_entangled
    assert found.schmidt_rank == 1
    assert found.product_distance < 1e-9
    np.testing.assert_allclose(found.output_matrix, T * 3 / np.trace(T), atol=1e-9)


def test_a_kronecker_mixing_is_separable_and_another_is_not():
    """Definition 2 of the poster: U = A ⊗ B."""
    product = np.kron(rng.standard_normal((3, 3)), rng.standard_normal((2, 2)))
    other = rng.standard_normal((6, 6))
    T = psd(3)
    assert entanglement(Entangled.from_operators(Linear(), product, T).resolve(X, 3), X).is_separable
    found = entanglement(Entangled.from_operators(Linear(), other, T).resolve(X, 3), X)
    assert not found.is_separable
    assert found.is_entangled


def test_sums_of_separable_kernels_are_not_entangled():
    kernel = SumOfSeparable([(Gaussian(0.3), psd(3)), (Linear(), psd(3)), (Gaussian(2.0), psd(3, 1))])
    found = entanglement(kernel, X)
    assert not found.is_separable
    assert not found.is_entangled
    assert found.schmidt_rank == 3
    assert found.negativity < 1e-9
    assert found.realignment <= 1 + 1e-9


@pytest.mark.parametrize("d", [2, 3])
def test_one_identity_matrix_is_as_entangled_as_can_be(d):
    """M = I has the maximally entangled state: negativity (d − 1)/2, realignment d, all Schmidt values alike."""
    kernel = Entangled(Linear(), np.eye(d).reshape(d * d, 1)).resolve(np.eye(d), d)
    found = entanglement(kernel, np.eye(d))
    assert found.negativity == pytest.approx((d - 1) / 2)
    assert found.realignment == pytest.approx(d)
    np.testing.assert_allclose(found.schmidt_values, np.full(d * d, 1 / d), atol=1e-12)
    assert found.product_distance == pytest.approx(np.sqrt(1 - 1 / d**2))
    assert found.kraus_rank == 1
    assert found.effective_rank == pytest.approx(1.0)


def test_scale_rotations_of_outputs_and_order_of_inputs_do_not_matter():
    kernel = learned()
    turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    turned = np.einsum("kl,slm->skm", turn, kernel.kraus)
    other = Entangled(Linear(), 7.0 * turned.transpose(2, 1, 0).reshape(6, 4)).resolve(X, 3)
    one, two = entanglement(kernel, X), entanglement(other, X[::-1])
    for name in ("product_distance", "asymmetry", "negativity", "realignment", "kraus_rank", "effective_rank"):
        assert getattr(one, name) == pytest.approx(getattr(two, name), abs=1e-9), name
    np.testing.assert_allclose(turn @ one.output_matrix @ turn.T, two.output_matrix, atol=1e-9)


def test_many_outputs_of_few_directions_are_measured_in_those():
    inputs = rng.standard_normal((6, 2))
    Y = np.sin(inputs @ rng.standard_normal((2, 300)))
    kernel = EntangledRidge(kraus_rank=10, max_iter=5, random_state=0).fit(inputs, Y).kernel_
    found = entanglement(kernel, inputs)
    assert found.output_matrix.shape == (300, 300)
    assert len(found.schmidt_values) <= 49
    assert found.kraus_rank == 10
    assert found.is_entangled


def test_what_is_refused():
    with pytest.raises(TypeError, match="expected an operator-valued kernel"):
        entanglement(Gaussian(1.0), X)
    with pytest.raises(ValueError, match="not resolved"):
        entanglement(Separable(Gaussian("median"), np.eye(2)), X)
    with pytest.raises(ValueError, match="zero on X"):
        entanglement(Separable(Linear(), np.eye(2)), np.zeros((3, 2)))
