"""The contract of operator-valued kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from mercer.core.arrays import to_numpy
from mercer.core.collections import count, is_numeric, member, take
from mercer.operators.valued import OperatorValuedKernel


def check_operator_valued_kernel(kernel: OperatorValuedKernel, X: Any, p: int, atol: float = 1e-9) -> None:
    r"""Check that blocks are adjoint symmetric and positive semi-definite, and equal to those of all other forms.

    Parameters
    ----------
    kernel : OperatorValuedKernel
        The kernel under test, resolved or not.
    X : collection
        A few inputs, three or more; all blocks are formed.
    p, atol : int, float
        The number of outputs, and the tolerance relative to the largest entry of a block.

    Examples
    --------
    >>> from mercer.operators import CurlFree
    >>> check_operator_valued_kernel(CurlFree("median"), np.random.default_rng(0).standard_normal((5, 2)), 2)
    """
    name = repr(kernel)
    before = np.array(to_numpy(X), copy=True) if is_numeric(X) else None
    resolved = kernel.resolve(X, p)
    assert repr(kernel) == name, f"{name}.resolve changed the kernel itself"
    assert resolved.is_resolved, f"{name}.resolve left a parameter unresolved"
    assert resolved.outputs == p, f"{name}: outputs is {resolved.outputs!r}; expected {p}"
    X = resolved.check(X)
    n, random = count(X), np.random.default_rng(0)
    left, right = take(X, slice(0, n - 1)), take(X, slice(1, n))
    pairs = np.asarray([[to_numpy(resolved.block(member(X, i), member(X, j))) for j in range(n)] for i in range(n)])
    assert pairs.shape == (n, n, p, p), f"{name}.block has shape {pairs.shape[2:]}; expected {(p, p)}"
    size = max(float(np.abs(pairs).max()), 1e-300)

    def same(found: Any, expected: np.ndarray, names: str, factor: float = 1.0) -> None:
        gap = float(np.abs(to_numpy(found) - expected).max())
        assert gap <= atol * factor * size, f"{name}: {names} differ by {gap:.3g}"

    same(pairs.transpose(1, 0, 3, 2), pairs, "K(x, z) and K(z, x)ᵀ")
    whole = pairs.transpose(0, 2, 1, 3).reshape(n * p, n * p)
    lowest = float(np.linalg.eigvalsh(0.5 * (whole + whole.T))[0])
    assert lowest >= -atol * n * p * size, f"{name} is not positive: its Gram matrix has the eigenvalue {lowest:.3g}"

    gram, diagonal = resolved.gram(X), pairs[np.arange(n), np.arange(n)]
    assert gram.shape == ((n, p), (n, p)), f"{name}.gram has shape {gram.shape}"
    same(gram.dense(), whole, "gram and the blocks")
    same(resolved(X), pairs, "calling the kernel and its blocks")
    same(gram.diagonal_blocks(), diagonal, "diagonal_blocks and the blocks")
    same(gram.trace_block(), diagonal.sum(axis=0), "trace_block and the blocks", n)
    cross, values = resolved.gram(left, right), pairs[: n - 1, 1:]
    same(cross.dense(), values.transpose(0, 2, 1, 3).reshape((n - 1) * p, (n - 1) * p), "gram(X, Z) and the blocks")
    C, D = random.standard_normal((2, n - 1, p))
    same(cross.matvec(C), np.einsum("ijlm,jm->il", values, C), "matvec and the blocks", n * p)
    same(cross.rmatvec(D), np.einsum("ijlm,il->jm", values, D), "rmatvec and the blocks", n * p)
    joint = np.einsum("il,ijlm,jm->ij", C, values, D)
    same(cross.joint(C, D), joint, "joint of the blocks and yᵀK(x, z)w", p * p)
    same(resolved.joint()(left, C, right, D), joint, "the joint kernel and yᵀK(x, z)w", p * p)

    features = resolved.feature_map(X)
    if features is not None:
        rows = to_numpy(features(X))
        assert rows.shape == (n, p, features.dimension), f"{name}: feature_map gives {rows.shape}"
        same(np.einsum("ilr,jmr->ijlm", rows, rows), pairs, "F(x)F(z)ᵀ and the blocks")
    order = random.permutation(n)
    same(resolved(take(X, order)), pairs[np.ix_(order, order)], "blocks in another order of the inputs and the blocks")
    same(clone(resolved)(X), pairs, "blocks of a clone and the blocks")
    assert before is None or np.array_equal(before, to_numpy(X)), f"{name} changed the inputs"
