"""Every operator-valued kernel under the public contract, and the contract under broken kernels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from mercer.core.arrays import to_numpy
from mercer.kernels import Gaussian, LabelSets, Laplacian, Linear, Polynomial, Precomputed, Subsequence
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
from mercer.operators.valued import OperatorValuedKernel
from mercer.testing import check_operator_valued_kernel

P, D = 3, 3


def psd(rng, p=P, rank=None):
    root = rng.standard_normal((p, rank or p))
    return root @ root.T


def family(seed=0):
    rng = np.random.default_rng(seed)
    T, S = psd(rng), psd(rng, rank=1)
    maps = [rng.standard_normal((2, D)) for _ in range(P)]
    return {
        "separable": Separable(Gaussian("median"), T),
        "separable, identity": Separable(),
        "separable, diagonal": Separable(Laplacian(2.0), np.array([1.0, 0.0, 2.0])),
        "separable, T = 0": Separable(Linear(), np.zeros((P, P))),
        "sum": SumOfSeparable([(Gaussian("median"), T), Separable(Linear(), S), (Polynomial(2), None)]),
        "transformable, linear": Transformable(Linear(), maps),
        "transformable, Gaussian": Transformable(Gaussian("median"), maps),
        "transformable, functions": Transformable(Gaussian(1.0), [np.sin, np.cos, lambda X: X[:, ::-1]]),
        "partial trace": PartialTrace([(Linear(), T), (lambda X: np.stack([X, X**2, np.sin(X)], axis=1), S)]),
        "partial trace, mixed": PartialTrace([(Linear(), T)], rng.standard_normal((P * D, P * D))),
        "entangled": Entangled(Linear(), rng.standard_normal((P * D, 4))),
        "entangled, rank one": Entangled(Linear(), rng.standard_normal((P * D, 1))),
        "entangled, Nyström": Entangled(Nystroem(Gaussian(2.0), rank=4), rng.standard_normal((P * 4, 5))),
        "entangled, from operators": Entangled.from_operators(Linear(), rng.standard_normal((P * D, P * D)), S),
        "curl-free": CurlFree("median"),
        "curl-free, narrow": CurlFree(0.05),
        "divergence-free": DivergenceFree(1.5),
    }


@pytest.mark.parametrize("name", family())
def test_contract(name):
    check_operator_valued_kernel(family()[name], np.random.default_rng(1).standard_normal((5, D)), P)


def matrix(T):
    return np.diag(T) if np.ndim(T) == 1 else np.asarray(T)


def field(kernel, x, z):
    u, d = (x - z)[0] / kernel.scale, x.shape[1]
    if isinstance(kernel, CurlFree):
        return (np.eye(d) - np.outer(u, u)) * np.exp(-0.5 * u @ u)
    return (np.outer(u, u) + (d - 1 - u @ u) * np.eye(d)) * np.exp(-0.5 * u @ u)


DEFINITIONS = {
    Separable: lambda kernel, x, z: kernel.kernel(x, z)[0, 0] * matrix(kernel.T),
    SumOfSeparable: lambda kernel, x, z: sum(term.kernel(x, z)[0, 0] * matrix(term.T) for term in kernel.terms),
    Transformable: lambda kernel, x, z: np.block(
        [[kernel.kernel(left, right) for right in kernel.images(z)] for left in kernel.images(x)]
    ),
    PartialTrace: lambda kernel, x, z: partial_trace(kernel.operator(x, z), P),
    Entangled: lambda kernel, x, z: sum(M @ kernel.features(x).T @ kernel.features(z) @ M.T for M in kernel.kraus),
    CurlFree: field,
    DivergenceFree: field,
}


@pytest.mark.parametrize("name", family())
@pytest.mark.parametrize("offset", [0.0, 100.0])
def test_blocks_are_those_of_the_definition(name, offset):
    X = np.random.default_rng(1).standard_normal((4, D)) + offset * name.startswith(("curl", "divergence"))
    X[3] = X[0]
    kernel = family()[name].resolve(X, P)
    define = DEFINITIONS[type(kernel)]
    written = np.array([[define(kernel, X[i : i + 1], X[j : j + 1]) for j in range(4)] for i in range(4)])
    size = np.abs(written).max()
    np.testing.assert_allclose(kernel(X), written, atol=1e-10 * size)
    np.testing.assert_allclose(kernel.block(X[0], X[1]), written[0, 1], atol=1e-12 * size)


@given(seed=st.integers(0, 10**6), name=st.sampled_from(sorted(family())), offset=st.sampled_from([0.0, 100.0]))
@settings(max_examples=25, deadline=None)
def test_contract_holds_for_any_inputs(seed, name, offset):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((4, D)) + offset * name.startswith(("curl", "divergence"))
    X[3] = X[0]  # inputs may coincide
    check_operator_valued_kernel(family(seed)[name], X, P)


def test_contract_for_objects():
    words, T = ["abab", "ba", "aab", "bbb"], psd(np.random.default_rng(0), 2)
    check_operator_valued_kernel(Separable(Subsequence(2), T), words, 2)
    reverse = Transformable(Subsequence(2), [lambda X: X, lambda X: [word[::-1] for word in X]])
    check_operator_valued_kernel(reverse, words, 2)
    sets = [{"a"}, {"b", "c"}, {"a", "c"}]
    check_operator_valued_kernel(Entangled(LabelSets(), np.random.default_rng(0).standard_normal((6, 2))), sets, 2)


class Skewed(Separable):
    def block(self, x, z):
        return super().block(x, z) + np.triu(np.ones((P, P)), 1)


class Negative(Separable):
    def block(self, x, z):
        return -super().block(x, z)


class WrongProduct(Separable):
    def block(self, x, z):
        return DEFINITIONS[Separable](self, x[None], z[None])

    def _gram(self, X, Z):
        blocks = super()._gram(X, Z)
        blocks.grams = [2.0 * gram for gram in blocks.grams]
        return blocks


class TransposedWrongly(Entangled):
    def _gram(self, X, Z):
        blocks = super()._gram(X, Z)
        blocks.transposed = lambda: blocks
        return blocks


def unsymmetric():
    return np.random.default_rng(0).standard_normal((P * D, 4))


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (Skewed(Gaussian(1.0), np.eye(P)), r"K\(x, z\) and K\(z, x\)ᵀ differ"),
        (Negative(Gaussian(1.0), np.eye(P)), "not positive"),
        (WrongProduct(Gaussian(1.0), np.eye(P)), "gram and the blocks differ"),
        (TransposedWrongly(Linear(), unsymmetric()), "rmatvec and the blocks differ"),
    ],
)
def test_the_contract_catches(broken, message, monkeypatch):
    # a resolved kernel is of the same broken class
    for cls in (Separable, Entangled):
        original = cls._resolved

        def resolved(self, X, p, original=original):
            found = original(self, X, p)
            found.__class__ = type(self)
            return found

        monkeypatch.setattr(cls, "_resolved", resolved)
    with pytest.raises(AssertionError, match=message):
        check_operator_valued_kernel(broken, np.random.default_rng(1).standard_normal((4, D)), P)


def test_helmholtz_the_two_field_kernels_add_up_to_a_multiple_of_the_identity():
    X = np.random.default_rng(0).standard_normal((5, 3))
    both = CurlFree(1.3, 3)(X) + DivergenceFree(1.3, 3)(X)
    squared = ((X[:, None] - X[None]) ** 2).sum(-1) / 1.3**2
    expected = ((3.0 - squared) * np.exp(-0.5 * squared))[:, :, None, None] * np.eye(3)
    np.testing.assert_allclose(both, expected, atol=1e-12)


@pytest.mark.parametrize("kernel", [CurlFree(1.2, 2), DivergenceFree(1.2, 2)])
def test_fields_have_no_curl_or_no_divergence(kernel):
    """Central differences of h(x) = Σ K(x, z) c: ∂ of component l along axis m is jacobian[l, m]."""
    rng = np.random.default_rng(0)
    Z, C, x, step = rng.standard_normal((6, 2)), rng.standard_normal((6, 2)), rng.standard_normal(2), 1e-5
    field = lambda at: kernel.gram(at[None], Z).matvec(C)[0]  # noqa: E731
    jacobian = np.stack([(field(x + step * e) - field(x - step * e)) / (2 * step) for e in np.eye(2)], axis=1)
    curl, divergence = jacobian[1, 0] - jacobian[0, 1], jacobian[0, 0] + jacobian[1, 1]
    small, large = (curl, divergence) if isinstance(kernel, CurlFree) else (divergence, curl)
    assert abs(small) < 1e-8
    assert abs(large) > 1e-2


@pytest.mark.parametrize(
    "name", ["separable", "sum", "transformable, Gaussian", "entangled", "curl-free", "partial trace, mixed"]
)
@pytest.mark.parametrize("library", ["torch", "array_api_strict"])
def test_arrays_of_other_libraries(name, library):
    xp = pytest.importorskip(library)
    X = np.random.default_rng(1).standard_normal((4, D))
    C = np.random.default_rng(2).standard_normal((4, P))
    kernel = family()[name].resolve(X, P)
    expected = kernel.gram(X).matvec(C)
    there = xp.asarray(X)
    found = family()[name].resolve(there, P).gram(there)
    assert isinstance(found.matvec(xp.asarray(C)), type(there))
    np.testing.assert_allclose(to_numpy(found.matvec(xp.asarray(C))), expected, atol=1e-12)
    np.testing.assert_allclose(to_numpy(found.diagonal_blocks()), kernel.gram(X).diagonal_blocks(), atol=1e-12)
    np.testing.assert_allclose(
        to_numpy(found.joint(xp.asarray(C), xp.asarray(C))), kernel.gram(X).joint(C, C), atol=1e-11
    )


def test_precomputed_kernels():
    rng = np.random.default_rng(0)
    X, T = rng.standard_normal((5, 2)), psd(rng)
    K = Gaussian(1.0)(X)
    given, made = Separable(Precomputed(), T), Separable(Gaussian(1.0), T)
    assert given.pairwise
    assert not made.pairwise
    np.testing.assert_allclose(given.gram(K).dense(), made.gram(X).dense())


def test_clone_and_repr():
    kernel = SumOfSeparable([Separable(Gaussian(2.0), np.eye(2)), (Linear(), None)])
    text = "SumOfSeparable(terms=[Separable(kernel=Gaussian(scale=2.0), T=<array of shape (2, 2)>), (Linear(), None)])"
    assert repr(kernel) == repr(clone(kernel)) == text
    assert Separable(Gaussian(1.0)).set_params(kernel__scale=3.0).kernel.scale == 3.0


def test_the_base_class_says_what_is_missing():
    class Nothing(OperatorValuedKernel):
        outputs = 2

        def _resolved(self, X, p):
            return self

    with pytest.raises(TypeError, match="Nothing must define _gram"):
        Nothing().gram([[1.0]])
    with pytest.raises(TypeError, match="Nothing must define _gram"):
        Nothing().block([1.0], [2.0])
