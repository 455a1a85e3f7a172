"""Work on Gram matrices that makes no second matrix of their size."""

from __future__ import annotations

from mercer.core.arrays import Array, namespace
from mercer.kernels.base import Kernel, Prepared
from mercer.kernels.base import row_blocks as row_blocks


def fresh(gram: Array, X: Prepared) -> Array:
    """`gram`, or a copy if the kernel returned the user's own matrix, so that it can be overwritten."""
    return namespace(gram).asarray(gram, copy=True) if gram is X.objects else gram


def own(gram: Array, kernel: Kernel) -> Array:
    """`gram`, or a copy if it may be the user's own matrix, so that it can be overwritten."""
    return namespace(gram).asarray(gram, copy=True) if kernel.pairwise else gram


def squared_norms(X: Prepared, Z: Prepared | None, gram: Array) -> tuple[Array, Array]:
    """k(x, x) and k(z, z) for the rows and columns of `gram`, read off its diagonal if there is no `Z`."""
    if Z is not None:
        return X.norms, Z.norms
    diagonal = namespace(gram).asarray(namespace(gram).linalg.diagonal(gram), copy=True)
    return diagonal, diagonal


def centred(gram: Array) -> Array:
    """H K H, the Gram matrix around the mean; one that is not quite symmetric is centred as it is."""
    xp = namespace(gram)
    return gram - xp.mean(gram, axis=1)[:, None] - xp.mean(gram, axis=0) + xp.mean(gram)


def asymmetry(matrix: Array) -> tuple[float, tuple[int, int], float]:
    """The largest difference between a square matrix and its transpose, its position, and the largest entry."""
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
