"""Kernels on vectors give the same values on sparse rows as on dense ones, and never fill the zeros."""

import tracemalloc

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from test_kernel_contract import VECTOR_KERNELS

from mercer.core.collections import count, distinct, is_numeric, member, members, take
from mercer.core.sparse_rows import as_sparse_rows
from mercer.kernels import (
    Gaussian,
    GaussianOf,
    Jittered,
    LabelsBySize,
    LabelSets,
    Laplacian,
    Linear,
    Overlap,
    OverlapOf,
    Patches,
    Polynomial,
    Precomputed,
    Subsequence,
    VectorKernel,
)
from mercer.testing import check_kernel

RNG = np.random.default_rng(0)
DENSE = np.where(RNG.random((9, 12)) < 0.3, RNG.standard_normal((9, 12)), 0.0)
DENSE[[2, 5]] = 0.0  # empty rows
DENSE[:, [0, 7]] = 0.0  # empty columns
BINARY = (DENSE != 0).astype(float)
SET_KERNELS = [
    LabelSets(),
    Overlap(penalty=1.0),
    OverlapOf(Linear()),
    Overlap().centered(),
    GaussianOf(Overlap(), 1.0),
    LabelsBySize(),
    Overlap() + Linear(),
]
FORMATS = [f"{kind}_{form}" for kind in ("csr", "csc", "coo", "lil", "bsr", "dok") for form in ("array", "matrix")]


def close(found, wanted):
    assert type(found) is np.ndarray
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-10 * max(1.0, np.abs(wanted).max()))


def check_against_dense(kernel, X, Z, dense_X, dense_Z):
    """Equal values in both arguments, in any mixture, for one object too."""
    resolved = kernel.resolve(X)
    reference = kernel.resolve(dense_X)
    gram = resolved(X)
    close(gram, reference(dense_X))
    np.testing.assert_array_equal(gram, gram.T)
    close(resolved.diag(X), reference.diag(dense_X))
    across = reference(dense_X, dense_Z)
    for left, right in ((X, Z), (dense_X, Z), (X, dense_Z)):
        close(resolved(left, right), across)
        close(reference(left, right), across)
        close(resolved(resolved.prepare(left), resolved.prepare(right)), across)
    close(resolved(take(as_sparse_rows(X), np.array([0])), Z), across[:1])
    close(resolved(X, dense_Z[:1]), across[:, :1])


@pytest.mark.parametrize("kernel", [kernel for kernel in VECTOR_KERNELS if kernel.takes_sparse], ids=repr)
def test_vector_kernels_keep_the_contract(kernel):
    check_kernel(kernel, sparse.csr_array(DENSE))
    check_against_dense(kernel, sparse.csr_array(DENSE), sparse.csr_array(DENSE[3:]), DENSE, DENSE[3:])


@pytest.mark.parametrize("kernel", SET_KERNELS, ids=repr)
def test_kernels_of_sets_keep_the_contract(kernel):
    check_kernel(kernel, sparse.csr_array(BINARY))
    check_against_dense(kernel, sparse.csr_array(BINARY), sparse.csr_array(BINARY[3:]), BINARY, BINARY[3:])


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i4", "?"])
def test_every_format_and_dtype(form, dtype):
    values = (3 * DENSE).astype(dtype)
    X = getattr(sparse, form)(values)
    for kernel in (Linear(), Gaussian(2.0), Laplacian(3.0)):
        check_against_dense(kernel, X, X, values.astype(float), values.astype(float))
    assert type(Linear().check(X)) is sparse.csr_array


shapes = st.tuples(st.integers(1, 6), st.integers(1, 6), st.integers(1, 6), st.integers(0, 2**32 - 1))


@settings(max_examples=40, deadline=None)
@given(shapes, st.sampled_from([0.05, 0.3, 0.9]), st.sampled_from([1e-3, 1.0, 1e3]))
def test_random_matrices(shape, density, size):
    n, m, d, seed = shape
    rng = np.random.default_rng(seed)
    X, Z = (size * np.where(rng.random((k, d)) < density, rng.standard_normal((k, d)), 0.0) for k in (n, m))
    # written with explicit zeros and duplicates, in no order
    row, column = np.divmod(rng.permutation(np.tile(np.arange(n * d), 2)), d)
    loose = sparse.coo_array((X[row, column] / 2, (row, column)), shape=X.shape)
    before = loose.data.copy()
    kernels = [Linear(), Linear().normalized(), Polynomial(2), Gaussian(0.7 * size), Laplacian(2.0 * size)]
    for kernel in [*kernels, GaussianOf(Linear(), size), 0.5 * Linear() * Gaussian(size) + Laplacian(size)]:
        check_against_dense(kernel, loose, sparse.lil_array(Z), X, Z)
    assert np.array_equal(loose.data, before)


def test_the_arrays_of_the_user_are_not_changed():
    X = sparse.csr_matrix((np.array([1.0, 0.0, 2.0, 3.0]), np.array([3, 1, 3, 0]), np.array([0, 3, 4])), shape=(2, 4))
    parts = [part.copy() for part in (X.data, X.indices, X.indptr)]
    close(Gaussian(1.0)(X), Gaussian(1.0)(X.toarray()))
    assert all(map(np.array_equal, parts, (X.data, X.indices, X.indptr)))
    assert Linear()(X)[0, 0] == 9.0  # duplicates are added up


@pytest.mark.filterwarnings("ignore::mercer.NumericalWarning")  # the first median of dense rows, around their mean
@pytest.mark.parametrize("kernel", [Gaussian(1.0), Gaussian("median")], ids=repr)
def test_rows_far_from_the_origin_lose_nothing_to_cancellation(kernel):
    X = np.column_stack([1e8 + np.arange(6.0), DENSE[:6]])
    close(kernel.resolve(sparse.csr_array(X))(sparse.csr_array(X)), kernel.resolve(X)(X))
    exact = np.exp(-((X[:, None] - X[None, 2:]) ** 2).sum(-1) / 2)
    close(Gaussian(1.0)(sparse.csr_array(X), sparse.csr_array(X[2:])), exact)
    exact = np.exp(-np.abs(X[:, None] - X[None, 2:]).sum(-1) / 3)
    close(Laplacian(3.0)(sparse.csr_array(X), sparse.csr_array(X[2:])), exact)
    close(Laplacian("median").resolve(sparse.csr_array(X))(X), Laplacian("median").resolve(X)(X))
    one_far = np.vstack([DENSE, np.full((1, 12), 1e9)])
    close(kernel.resolve(sparse.csr_array(one_far))(sparse.csr_array(one_far)), kernel.resolve(one_far)(one_far))
    close(Laplacian(1.0)(sparse.csr_array(one_far)), Laplacian(1.0)(one_far))


def test_dense_rows_of_another_library_against_sparse_ones():
    X = sparse.csr_array(DENSE)
    for kernel in (Linear(), Gaussian(1.0), Laplacian(1.0)):
        close(kernel(X, torch.asarray(DENSE)), kernel(DENSE))
        close(kernel(torch.asarray(DENSE), X), kernel(DENSE))


def test_collections_of_sparse_rows():
    X = as_sparse_rows(sparse.csr_matrix(BINARY))
    assert count(X) == 9
    assert not is_numeric(X)
    assert np.array_equal(member(X, 3), BINARY[3])
    assert np.array_equal(members(X), BINARY)
    for index in (np.array([4, 0, 0]), np.arange(9) % 2 == 0, slice(2, 5), slice(7, None)):
        assert np.array_equal(take(X, index).toarray(), BINARY[index])
    for key in (None, Linear().key):
        for found, wanted in zip(distinct(X, key), distinct(BINARY), strict=True):
            assert np.array_equal(found, wanted)
    centred = Linear().centered().resolve(X)
    assert centred == Linear().centered().resolve(X.copy())
    assert centred != Linear().centered().resolve(2 * X)
    assert "9 objects" in repr(centred)


@pytest.mark.parametrize(
    ("kernel", "X", "error", "message"),
    [
        (Subsequence(2), DENSE, TypeError, "X is a sparse csr_array.*toarray"),
        (Precomputed(), np.eye(3), TypeError, "X is a sparse csr_array.*toarray"),
        (Patches((3, 4), 2, 1), DENSE, TypeError, "X is a sparse csr_array.*toarray"),
        (Jittered(Linear(), (3, 4)), DENSE, TypeError, "X is a sparse csr_array.*toarray"),
        (Linear(), np.where(DENSE == 0, 0, np.nan), ValueError, "X contains NaN or infinity, first in row 0"),
        (Gaussian(), DENSE[:0], ValueError, r"shape \(0, 12\); expected two axes, at least one object"),
        (Linear(), DENSE + 1j * DENSE, TypeError, "dtype complex128; expected real numbers"),
        (Overlap(), 2 * BINARY, ValueError, r"row 0 of X holds 2.0 in column \d+; expected 0 or 1"),
        (Overlap(), BINARY * np.array([1] * 8 + [3])[:, None], ValueError, r"row 8 of X holds 3.0 in column \d+"),
        (LabelSets(labels=3), BINARY, ValueError, "X has 12 columns; expected one for each of the 3"),
    ],
)
def test_refused(kernel, X, error, message):
    with pytest.raises(error, match=message):
        kernel.check(sparse.csr_array(X))


def test_different_lengths_are_refused():
    with pytest.raises(ValueError, match="X has 12 features and Z has 3"):
        Gaussian(1.0)(sparse.csr_array(DENSE), sparse.csr_array(DENSE[:, :3]))
    with pytest.raises(ValueError, match="X has 12 features and Z has 3"):
        Laplacian(1.0)(sparse.csr_array(DENSE), DENSE[:, :3])


def test_a_kernel_written_for_arrays_does_not_get_sparse_rows():
    class Plain(VectorKernel):
        def _matrix(self, X, Z):
            return np.asarray(X) @ np.asarray(X if Z is None else Z).T

        def _diag(self, X):
            return np.sum(X * X, axis=1)

    for kernel in (Plain(), Plain() + Linear(), Linear() + Plain(), (Linear() * Plain()).normalized()):
        close(kernel(DENSE), kernel(DENSE.copy()))
        assert not kernel.takes_sparse
        with pytest.raises(TypeError, match="X is a sparse"):
            kernel(sparse.csr_array(DENSE))


@pytest.mark.parametrize(
    "kernel", [Linear().normalized(), Gaussian("median"), Laplacian("median"), Overlap()], ids=repr
)
def test_nothing_of_the_size_of_the_dense_rows_is_allocated(kernel):
    n, d = 300, 10**7  # 24 GB if dense
    X = sparse.random_array((n, d), density=2e-6, format="csr", rng=np.random.default_rng(0))
    X.data[:] = 1.0
    kernel.resolve(X)(X)  # compiled
    tracemalloc.start()
    resolved = kernel.resolve(X)
    resolved(X), resolved(X, take(X, slice(0, 5)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.02 * n * d * 8
