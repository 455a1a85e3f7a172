"""Matrices of blocks K(xᵢ, zⱼ), as linear maps that are applied and never formed."""

from __future__ import annotations

from collections.abc import Sequence

from mercer.core.arrays import Array, eye, like, namespace, zeros


class BlockOperator:
    r"""The n×m blocks of an operator-valued kernel as one map, :math:`(\mathbf{K} C)_i = \sum_j K(x_i, z_j)\, c_j`.

    Coefficients and results are matrices with one row of p outputs per object. A new one defines `matvec`,
    `transposed`, `joint` and, where both sides are the same objects, `diagonal_blocks`.

    Parameters
    ----------
    rows, columns, outputs : int
        n, m and p.
    reference : array
        An array of the library and device the map calculates with.
    """

    def __init__(self, rows: int, columns: int, outputs: int, reference: Array) -> None:
        self.rows = rows
        self.columns = columns
        self.outputs = outputs
        self.reference = reference

    @property
    def shape(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """((n, p), (m, p)): the shapes of a result and of coefficients."""
        return (self.rows, self.outputs), (self.columns, self.outputs)

    # -- what a new one defines ---------------------------------------------------------------------

    def matvec(self, coefficients: Array) -> Array:
        """Σⱼ K(xᵢ, zⱼ) cⱼ for each i: from (m, p) to (n, p)."""
        raise TypeError(f"{type(self).__name__} must define matvec(coefficients)")

    def transposed(self) -> BlockOperator:
        """The map with blocks K(zⱼ, xᵢ) = K(xᵢ, zⱼ)ᵀ."""
        raise TypeError(f"{type(self).__name__} must define transposed()")

    def joint(self, Y: Array, W: Array) -> Array:
        """The n×m matrix of yᵢᵀ K(xᵢ, zⱼ) wⱼ."""
        raise TypeError(f"{type(self).__name__} must define joint(Y, W)")

    def diagonal_blocks(self) -> Array:
        """K(xᵢ, xᵢ) for each i, (n, p, p); both sides must be the same objects."""
        raise TypeError(f"{type(self).__name__} must define diagonal_blocks()")

    def scalar_grams(self) -> list[Array]:
        """Return the scalar Gram matrices the blocks are made of; none where they are not sums of separable ones."""
        return []

    # -- what follows -------------------------------------------------------------------------------

    def rmatvec(self, coefficients: Array) -> Array:
        """Σᵢ K(xᵢ, zⱼ)ᵀ cᵢ for each j: from (n, p) to (m, p)."""
        return self.transposed().matvec(coefficients)

    def trace_block(self) -> Array:
        """Σᵢ K(xᵢ, xᵢ), p×p."""
        return namespace(self.reference).sum(self.diagonal_blocks(), axis=0)

    def dense(self) -> Array:
        """The np×mp matrix, row i·p + l for output l of object i. For tests and small problems only."""
        xp = namespace(self.reference)
        size = self.columns * self.outputs
        columns = []
        for j in range(size):
            unit = eye(size, self.reference)[j, :]
            found = self.matvec(xp.reshape(unit, (self.columns, self.outputs)))
            columns.append(xp.reshape(found, (-1,)))
        return xp.stack(columns, axis=1)

    def expect(self, values: Array, rows: int, name: str = "coefficients") -> Array:
        """`values` in the library of the map, once their shape is known to be (rows, p)."""
        if tuple(values.shape) != (rows, self.outputs):
            raise ValueError(f"{name} has shape {tuple(values.shape)}; expected {(rows, self.outputs)}")
        return like(values, self.reference)


class KroneckerSum(BlockOperator):
    r"""Blocks :math:`\sum_l k_l(x_i, z_j)\, T_l`, applied as :math:`\sum_l k_l C T_l`.

    Parameters
    ----------
    grams : sequence of array (n, m)
        The kernel values k_l.
    matrices : sequence of array (p, p) or (p,)
        The T_l; a vector stands for a diagonal matrix.
    """

    def __init__(self, grams: Sequence[Array], matrices: Sequence[Array]) -> None:
        super().__init__(grams[0].shape[0], grams[0].shape[1], matrices[0].shape[0], grams[0])
        self.grams = list(grams)
        self.matrices = [like(matrix, grams[0]) for matrix in matrices]

    def scalar_grams(self) -> list[Array]:
        """Return the k_l."""
        return self.grams

    def matvec(self, coefficients: Array) -> Array:
        """Σ k C T."""
        C = self.expect(coefficients, self.columns)
        parts = [times(gram @ C, T) for gram, T in zip(self.grams, self.matrices, strict=True)]
        return sum(parts[1:], start=parts[0])

    def transposed(self) -> KroneckerSum:
        """The same T, kernel values transposed."""
        return KroneckerSum([gram.T for gram in self.grams], self.matrices)

    def joint(self, Y: Array, W: Array) -> Array:
        """Σ k ∘ (Y T Wᵀ)."""
        Y, W = self.expect(Y, self.rows, "Y"), self.expect(W, self.columns, "W")
        parts = [gram * (times(Y, T) @ W.T) for gram, T in zip(self.grams, self.matrices, strict=True)]
        return sum(parts[1:], start=parts[0])

    def diagonal_blocks(self) -> Array:
        """Σ k(x, x) T."""
        xp = namespace(self.reference)
        parts = [
            xp.linalg.diagonal(gram)[:, None, None] * full(T)[None, :, :]
            for gram, T in zip(self.grams, self.matrices, strict=True)
        ]
        return sum(parts[1:], start=parts[0])

    def trace_block(self) -> Array:
        """Σ tr(k) T."""
        xp = namespace(self.reference)
        parts = [xp.linalg.trace(gram) * full(T) for gram, T in zip(self.grams, self.matrices, strict=True)]
        return sum(parts[1:], start=parts[0])


class FactoredBlocks(BlockOperator):
    r"""Blocks :math:`F(x_i) F(z_j)^\top` from p×r matrices F, applied through r numbers.

    Parameters
    ----------
    left : array (n, p, r)
        F of the objects on the left.
    right : array (m, p, r)
        F of those on the right.
    """

    def __init__(self, left: Array, right: Array) -> None:
        super().__init__(left.shape[0], right.shape[0], left.shape[1], left)
        self.left = left
        self.right = like(right, left)

    def matvec(self, coefficients: Array) -> Array:
        """F (Fᵀ c)."""
        xp = namespace(self.left)
        C = self.expect(coefficients, self.columns)
        weights = xp.reshape(C, (1, -1)) @ xp.reshape(self.right, (-1, self.right.shape[2]))
        return self.left @ weights[0, :]

    def transposed(self) -> FactoredBlocks:
        """Sides exchanged."""
        return FactoredBlocks(self.right, self.left)

    def joint(self, Y: Array, W: Array) -> Array:
        """(yᵀF(x)) · (wᵀF(z))."""
        xp = namespace(self.left)
        Y, W = self.expect(Y, self.rows, "Y"), self.expect(W, self.columns, "W")
        return xp.matmul(Y[:, None, :], self.left)[:, 0, :] @ xp.matmul(W[:, None, :], self.right)[:, 0, :].T

    def diagonal_blocks(self) -> Array:
        """F(x) F(x)ᵀ."""
        xp = namespace(self.left)
        return xp.matmul(self.left, xp.matrix_transpose(self.right))


def times(rows: Array, matrix: Array) -> Array:
    """`rows` times a matrix, or times the diagonal matrix a vector stands for."""
    return rows * matrix if matrix.ndim == 1 else rows @ matrix


def full(matrix: Array) -> Array:
    """A matrix, written out where a vector stands for a diagonal one."""
    return matrix if matrix.ndim == 2 else eye(matrix.shape[0], matrix) * matrix


def stacked(parts: Sequence[Array], reference: Array) -> Array:
    """Columns of length n side by side, (n, p)."""
    found = zeros((parts[0].shape[0], len(parts)), reference)
    for l, part in enumerate(parts):
        found[:, l] = part
    return found
