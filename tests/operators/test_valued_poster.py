"""The examples and inclusions of the entangled-kernels poster, and what is refused."""

import numpy as np
import pytest

from mercer.kernels import Gaussian, Linear, Precomputed
from mercer.operators import (
    CurlFree,
    DivergenceFree,
    Entangled,
    Nystroem,
    PartialTrace,
    Separable,
    SumOfSeparable,
    Transformable,
    partial_trace,
)
from mercer.testing import check_operator_valued_kernel

rng = np.random.default_rng(0)
X = rng.standard_normal((5, 2))


def psd(p, rank=None):
    root = rng.standard_normal((p, rank or p))
    return root @ root.T


def same(one, other, inputs, p):
    one, other = one.resolve(inputs, p), other.resolve(inputs, p)
    np.testing.assert_allclose(one(inputs), other(inputs), atol=1e-12)


def test_example_1_transformable_and_not_separable():
    kernel = Transformable(Linear(), [lambda X: X, lambda X: X**2])
    x, z = 1.5, -0.7
    np.testing.assert_allclose(kernel.block([x], [z]), [[x * z, x * z**2], [x**2 * z, x**2 * z**2]])
    block = kernel.block([x], [z])
    assert abs(block[0, 1] - block[1, 0]) > 0.1  # k(x, z)·T would be symmetric
    check_operator_valued_kernel(kernel, X[:, :1], 2)


def test_example_2_transformable_and_separable():
    u = rng.standard_normal(3)
    same(Separable(Linear(), np.outer(u, u)), Transformable(Linear(), [weight * np.eye(2) for weight in u]), X, 3)


def test_example_3_partial_trace_contains_sums_of_separable():
    terms = [(Linear(), psd(3)), (Nystroem(Gaussian(1.0)), psd(3, 1))]
    sums = SumOfSeparable([(Linear(), terms[0][1]), (Gaussian(1.0), terms[1][1])])
    traced = PartialTrace(terms).resolve(X, 3)
    same(sums, PartialTrace(terms), X, 3)
    features = [feature for feature, _ in traced.terms]
    x, z = X[:1], X[1:2]
    written = sum(
        partial_trace(np.kron(T, feature(x).T @ feature(z)), 3) for feature, (_, T) in zip(features, terms, strict=True)
    )
    np.testing.assert_allclose(traced.block(x[0], z[0]), written, atol=1e-12)


def test_separable_is_a_sum_of_one():
    T = psd(3)
    same(Separable(Gaussian("median"), T), SumOfSeparable([(Gaussian("median"), T)]), X, 3)


def test_example_4_partial_trace_contains_transformable():
    maps = [lambda X: X, lambda X: X**2, np.sin]
    together = PartialTrace([(lambda X: np.stack([S(X) for S in maps], axis=1), np.ones((3, 3)))])
    same(Transformable(Linear(), maps), together, X, 3)
    P = together.resolve(X, 3).operator(X[:1], X[1:2])
    images = [(S(X[:1]), S(X[1:2])) for S in maps]
    written = np.block([[left.T @ right for _, right in images] for left, _ in images])
    np.testing.assert_allclose(P, written, atol=1e-12)


def test_example_5_entangled_and_transformable():
    maps = [rng.standard_normal((2, 2)) for _ in range(3)]
    U = np.zeros((6, 6))
    for l, S in enumerate(maps):
        U[2 * l : 2 * l + 2, 2 * l : 2 * l + 2] = S
    same(Entangled.from_operators(Linear(), U, np.ones((3, 3))), Transformable(Linear(), maps), X, 3)


def test_definition_2_theorem_1_and_the_remark():
    """tr(U(T ⊗ φφᵀ)Uᵀ) written out, its Kraus form, and the same as a partial trace kernel."""
    U, T = rng.standard_normal((6, 6)), psd(3)
    kraus = Entangled.from_operators(Linear(), U, T).resolve(X, 3)
    assert kraus.Q.shape[1] <= 6  # at most pN
    x, z = X[0], X[1]
    written = partial_trace(U @ np.kron(T, np.outer(x, z)) @ U.T, 3)
    np.testing.assert_allclose(kraus.block(x, z), written, atol=1e-12)
    np.testing.assert_allclose(sum(M @ np.outer(x, z) @ M.T for M in kraus.kraus), written, atol=1e-12)
    same(kraus, PartialTrace([(Linear(), T)], U), X, 3)


def test_a_separable_mixing_is_a_separable_kernel():
    """U = A ⊗ B is not entangled: K = φ(x)ᵀBᵀBφ(z) · A T Aᵀ."""
    A, B, T = rng.standard_normal((3, 3)), rng.standard_normal((2, 2)), psd(3)
    plain = Separable(Linear(), A @ T @ A.T)
    mixed = Entangled.from_operators(Linear(), np.kron(A, B), T).resolve(X, 3)
    np.testing.assert_allclose(mixed(X), plain(X @ B.T), atol=1e-12)


def test_the_gram_matrix_is_equation_4():
    Q, p = rng.standard_normal((6, 4)), 3
    B = np.kron(X, np.eye(p)) @ Q
    dense = Entangled(Linear(), Q).resolve(X, p).gram(X).dense()
    np.testing.assert_allclose(dense, B @ B.T, atol=1e-12)
    kraus = Entangled(Linear(), Q, p).kraus
    np.testing.assert_allclose(kraus[1].ravel(order="F"), Q[:, 1])  # vec(M) stacks columns


def test_partial_traces_of_a_product():
    T, A = psd(2), psd(3)
    np.testing.assert_allclose(partial_trace(np.kron(T, A), 2), T * np.trace(A))
    np.testing.assert_allclose(partial_trace(np.kron(T, A), 2, over="outputs"), A * np.trace(T))


def test_nystroem_is_exact_where_it_may_be_and_pads_where_fewer_features_say_it_all():
    twice = np.vstack([X, X])
    features = Nystroem(Gaussian(1.0), rank=8).fit(twice)
    assert features(twice).shape == (10, 8)
    np.testing.assert_allclose(features(twice) @ features(twice).T, Gaussian(1.0)(twice), atol=1e-12)


# -- what is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("T", "message"),
    [
        (np.array([[1.0, 0.5], [0.0, 1.0]]), r"T is not symmetric, by up to 0.5"),
        (
            np.diag([1.0, -0.5]),
            r"T is not positive semi-definite: its smallest eigenvalue is -0.5 \(the largest is 1\)",
        ),
        (np.array([1.0, -2.0]), "smallest eigenvalue is -2"),
        (np.ones((2, 3)), r"T has shape \(2, 3\); expected a square matrix"),
        (np.array([[np.nan, 0.0], [0.0, 1.0]]), "T contains NaN"),
    ],
)
@pytest.mark.parametrize("wrap", [lambda T: Separable(Linear(), T), lambda T: SumOfSeparable([(Linear(), T)])])
def test_bad_output_matrices(T, message, wrap):
    with pytest.raises(ValueError, match=message):
        wrap(T).resolve(X, 2)
    with pytest.raises(ValueError, match=message):
        wrap(T).gram(X)


@pytest.mark.parametrize(
    ("kernel", "error", "message"),
    [
        (Separable(Linear(), np.eye(3)), ValueError, r"y has 2 columns and .* is for 3 outputs"),
        (Separable("rbf", np.eye(2)), TypeError, "kernel='rbf'; expected a scalar kernel"),
        (SumOfSeparable([]), ValueError, "expected a list with at least one Separable"),
        (SumOfSeparable([Linear()]), TypeError, r"terms\[0\]=Linear\(\); expected a Separable, or a pair"),
        (SumOfSeparable([(Linear(), np.eye(2)), (Linear(), np.eye(3))]), ValueError, r"sizes \[2, 3\]"),
        (SumOfSeparable([(Linear(), -np.eye(2))]), ValueError, r"terms\[0\]: T is not positive semi-definite"),
        (Transformable(Linear(), [np.eye(2)]), ValueError, "y has 2 columns and .* is for 1 outputs"),
        (
            Transformable(Linear(), [np.eye(2), np.ones((3, 2))]),
            ValueError,
            r"maps\[1\] gives vectors of 3 features; expected 2, as maps\[0\]",
        ),
        (
            Transformable(Linear(), [np.eye(2), np.eye(4)]),
            ValueError,
            r"maps\[1\] is a matrix for 4 features; expected 2",
        ),
        (Transformable(Linear(), [np.sin, lambda X: X[1:]]), ValueError, r"maps\[1\] turned 5 objects into 4"),
        (Transformable(Linear(), [np.sin, 3]), TypeError, r"maps\[1\] is 3"),
        (Transformable(Linear(), []), ValueError, "one map for each output"),
        (Transformable(Precomputed(), [np.sin, np.cos]), TypeError, "cannot be transformed"),
        (PartialTrace([]), ValueError, "at least one pair"),
        (PartialTrace([Linear()]), TypeError, "expected a pair"),
        (PartialTrace([(Linear(), np.eye(2))], np.eye(3)), ValueError, r"mixing has shape \(3, 3\); expected \(4, 4\)"),
        (PartialTrace([(lambda X: X[:, None, :], np.eye(2))]), ValueError, "1 rows for each object; expected 2"),
        (Entangled(Linear(), np.ones((6, 1))), ValueError, "Q has 6 rows; expected 4, for 2 features and 2 outputs"),
        (Entangled(Linear(), np.ones((4, 5))), ValueError, "rank 5; expected a rank between 1 and 4"),
        (Entangled(Linear(), np.ones((4, 0))), ValueError, "rank 0; expected a rank between 1 and 4"),
        (Entangled(Linear(), np.ones(4)), ValueError, r"Q is \(4,\); expected a matrix"),
        (Entangled(Linear(), np.full((4, 1), np.nan)), ValueError, "Q contains NaN"),
        (Entangled(Linear(), np.ones((4, 1)), outputs=4), ValueError, "is for 4 outputs"),
        (Entangled(Gaussian(1.0), np.ones((4, 1))), ValueError, "no finite feature map; .*Nystroem"),
        (
            Entangled(Nystroem(Gaussian(1.0), rank=6), np.ones((12, 1))),
            ValueError,
            "rank=6; expected .* to 5, the number of training objects",
        ),
        (Entangled(Nystroem(Gaussian(1.0), rank=0), np.ones((4, 1))), ValueError, "rank=0; expected"),
        (Entangled(Nystroem(Precomputed()), np.ones((4, 1))), ValueError, "is a Gram matrix; expected Precomputed"),
        (Entangled(3, np.ones((4, 1))), TypeError, "features=3; expected a kernel"),
        (CurlFree(-1.0), ValueError, "scale=-1.0"),
    ],
    ids=repr,
)
def test_bad_parameters(kernel, error, message):
    with pytest.raises(error, match=message):
        kernel.resolve(X, 2)


def test_fields_need_as_many_outputs_as_features():
    with pytest.raises(ValueError, match="y has 3 columns and X has 2; expected as many of each"):
        CurlFree().resolve(X, 3)
    with pytest.raises(ValueError, match="X has 3 features; expected 2, the dimension of"):
        CurlFree(1.0, 2).gram(np.ones((2, 3)))
    with pytest.raises(ValueError, match="single feature; expected two or more"):
        DivergenceFree().resolve(X[:, :1], 1)


def test_unresolved_kernels_refuse_to_be_evaluated():
    for kernel in (
        Separable(Gaussian("median"), np.eye(2)),
        Separable(Gaussian(1.0)),
        Entangled(Linear(), np.ones((4, 1))),
    ):
        with pytest.raises(ValueError, match=r"call kernel.resolve\(X, p\) first"):
            kernel.gram(X)


def test_products_check_their_shapes():
    blocks = Separable(Linear(), np.eye(2)).gram(X)
    with pytest.raises(ValueError, match=r"coefficients has shape \(5, 3\); expected \(5, 2\)"):
        blocks.matvec(np.ones((5, 3)))


def test_from_operators_checks_the_size_of_the_mixing():
    with pytest.raises(
        ValueError, match=r"U has shape \(5, 5\); expected a square matrix whose size is a multiple of 3"
    ):
        Entangled.from_operators(Linear(), np.eye(5), np.eye(3))
    with pytest.raises(ValueError, match="multiple of 2"):
        partial_trace(np.eye(3), 2)
