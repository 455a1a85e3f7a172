"""Work on Gram matrices a few rows at a time, so that no second n×n matrix is ever made."""

from __future__ import annotations

from collections.abc import Iterator

from mercer.core.arrays import Array, exp, is_numpy_array, namespace
from mercer.core.collections import Collection
from mercer.kernels.base import Kernel

_CACHED = 2**16
"""Entries of a block that stays in a core's cache."""

_LAUNCHED = 2**24
"""Entries of a block for libraries that may run on a device, where each operation costs a launch."""


def row_blocks(gram: Array) -> Iterator[slice]:
    """Slices that cover the rows of `gram`."""
    entries = _CACHED if is_numpy_array(gram) else _LAUNCHED
    step = max(1, entries // max(1, gram.shape[1]))
    for start in range(0, gram.shape[0], step):
        yield slice(start, min(start + step, gram.shape[0]))


def fresh(gram: Array, X: Collection) -> Array:
    """`gram`, free to be overwritten: a copy where the kernel handed back the user's own matrix."""
    return namespace(gram).asarray(gram, copy=True) if gram is X else gram


def own(gram: Array, kernel: Kernel) -> Array:
    """`gram`, or a copy where it may be the user's own matrix, so that it can be overwritten."""
    return namespace(gram).asarray(gram, copy=True) if kernel.pairwise else gram


def squared_norms(kernel: Kernel, X: Collection, Z: Collection | None, gram: Array) -> tuple[Array, Array]:
    """k(x, x) and k(z, z) for the rows and columns of `gram`, read off its diagonal when there is no `Z`."""
    if Z is not None:
        return kernel.diag(X), kernel.diag(Z)
    diagonal = namespace(gram).asarray(namespace(gram).linalg.diagonal(gram), copy=True)
    return diagonal, diagonal


def asymmetry(matrix: Array) -> tuple[float, tuple[int, int], float]:
    """The largest difference between a square matrix and its transpose, where it is, and the largest entry."""
    xp = namespace(matrix)
    worst, where, largest = 0.0, (0, 0), 0.0
    for rows in row_blocks(matrix):
        block = matrix[rows, :]
        difference = xp.abs(block - matrix[:, rows].T)
        largest = max(largest, float(xp.max(xp.abs(block))))
        if float(xp.max(difference)) > worst:
            worst = float(xp.max(difference))
            i, j = divmod(int(xp.argmax(xp.reshape(difference, (-1,)))), matrix.shape[1])
            where = (rows.start + i, j)
    return worst, where, largest


def to_squared_distances(gram: Array, left: Array, right: Array) -> Array:
    """‖φ(x) − φ(z)‖² = k(x, x) + k(z, z) − 2 k(x, z), over `gram`; what rounding puts below zero is not clipped."""
    for rows in row_blocks(gram):
        # the two norms are added first: a sum of two is the same in either order, so symmetry is
        # exact
        gram[rows, :] = (left[rows, None] + right[None, :]) - 2.0 * gram[rows, :]
    return gram


def to_gaussian(squared: Array, scale: float) -> Array:
    """exp(−d² / (2 scale²)) over the squared distances; those below zero by rounding count as zero."""
    xp = namespace(squared)
    for rows in row_blocks(squared):
        # divided twice, so that neither a tiny nor a huge scale overflows when squared
        squared[rows, :] = exp(xp.clip(squared[rows, :], 0.0, None) / (-2.0 * scale) / scale)
    return squared
