"""Matrices of blocks K(xᵢ, zⱼ), as linear maps that are applied and never formed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add

from mercer.core.arrays import Array, eye, like, namespace
from mercer.core.collections import Collection
from mercer.kernels.features import FeatureMap


class BlockOperator:
    r"""The n×m blocks of an operator-valued kernel as one map, :math:`(\mathbf{K} C)_i = \sum_j K(x_i, z_j)\, c_j`.

    Coefficients and results are matrices with one row of p outputs per object. A new one defines `matvec`, `transposed`,
    `joint` and, for the same objects on both sides, `diagonal_blocks`.

    Parameters
    ----------
    rows, columns, outputs : int
        n, m and p.
    reference : array
        An array of the library and on the device of the map.
    """

    def __init__(self, rows: int, columns: int, outputs: int, reference: Array) -> None:
        self.rows, self.columns, self.outputs = rows, columns, outputs
        self.reference = reference

    @property
    def shape(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """((n, p), (m, p)): the shapes of a result and of coefficients."""
        return (self.rows, self.outputs), (self.columns, self.outputs)

    def matvec(self, coefficients: Array) -> Array:
        """Return Σⱼ K(xᵢ, zⱼ) cⱼ for each i: from (m, p) to (n, p)."""
        raise TypeError(f"{type(self).__name__} must define matvec(coefficients)")

    def transposed(self) -> BlockOperator:
        """Return the map with blocks K(zⱼ, xᵢ) = K(xᵢ, zⱼ)ᵀ."""
        raise TypeError(f"{type(self).__name__} must define transposed()")

    def joint(self, Y: Array, W: Array) -> Array:
        """Return the n×m matrix of yᵢᵀ K(xᵢ, zⱼ) wⱼ."""
        raise TypeError(f"{type(self).__name__} must define joint(Y, W)")

    def diagonal_blocks(self) -> Array:
        """Return K(xᵢ, xᵢ) for each i, (n, p, p); both sides must be the same objects."""
        raise TypeError(f"{type(self).__name__} must define diagonal_blocks()")

    def scalar_grams(self) -> list[Array]:
        """Return the scalar Gram matrices of a sum of separable kernels; an empty list for other blocks."""
        return []

    def __matmul__(self, coefficients: Array) -> Array:
        return self.matvec(coefficients)

    def rmatvec(self, coefficients: Array) -> Array:
        """Return Σᵢ K(xᵢ, zⱼ)ᵀ cᵢ for each j: from (n, p) to (m, p)."""
        return self.transposed().matvec(coefficients)

    def trace_block(self) -> Array:
        """Return Σᵢ K(xᵢ, xᵢ), p×p."""
        return namespace(self.reference).sum(self.diagonal_blocks(), axis=0)

    def dense(self) -> Array:
        """Return the np×mp matrix, row i·p + l for output l of object i. For tests and small problems only."""
        xp, size = namespace(self.reference), self.columns * self.outputs
        units = xp.reshape(eye(size, self.reference), (size, self.columns, self.outputs))
        return xp.stack([xp.reshape(self.matvec(units[j, :, :]), (-1,)) for j in range(size)], axis=1)

    def expect(self, values: Array, rows: int, name: str = "coefficients") -> Array:
        """Return `values` in the library of the map; raise ValueError unless their shape is (rows, p)."""
        if tuple(values.shape) != (rows, self.outputs):
            raise ValueError(f"{name} has shape {tuple(values.shape)}; expected {(rows, self.outputs)}")
        return like(values, self.reference)


class KroneckerSum(BlockOperator):
    r"""Blocks :math:`\sum_l k_l(x_i, z_j)\, T_l`, applied as :math:`\sum_l k_l C T_l`; a vector is a diagonal T."""

    def __init__(self, grams: Sequence[Array], matrices: Sequence[Array]) -> None:
        super().__init__(grams[0].shape[0], grams[0].shape[1], matrices[0].shape[0], grams[0])
        self.grams = list(grams)
        self.matrices = [like(matrix, grams[0]) for matrix in matrices]

    def scalar_grams(self) -> list[Array]:
        """Return the k_l."""
        return self.grams

    def matvec(self, coefficients: Array) -> Array:
        """Return Σ k C T."""
        C = self.expect(coefficients, self.columns)
        return self._sum(lambda gram, T: times(gram @ C, T))

    def transposed(self) -> KroneckerSum:
        """Return the map of the transposed Gram matrices, with the same T."""
        return KroneckerSum([gram.T for gram in self.grams], self.matrices)

    def joint(self, Y: Array, W: Array) -> Array:
        """Return Σ k ∘ (Y T Wᵀ)."""
        Y, W = self.expect(Y, self.rows, "Y"), self.expect(W, self.columns, "W")
        return self._sum(lambda gram, T: gram * (times(Y, T) @ W.T))

    def diagonal_blocks(self) -> Array:
        """Return Σ k(x, x) T."""
        diagonal = namespace(self.reference).linalg.diagonal
        return self._sum(lambda gram, T: diagonal(gram)[:, None, None] * full(T)[None, :, :])

    def trace_block(self) -> Array:
        """Return Σ tr(k) T."""
        trace = namespace(self.reference).linalg.trace
        return self._sum(lambda gram, T: trace(gram) * full(T))

    def _sum(self, term: Callable[[Array, Array], Array]) -> Array:
        return reduce(add, map(term, self.grams, self.matrices))


class FactoredBlocks(BlockOperator):
    r"""Blocks :math:`F(x_i) F(z_j)^\top` from features F of both sides, (n, p, r) and (m, p, r), applied through r numbers."""

    def __init__(self, left: Array, right: Array) -> None:
        super().__init__(left.shape[0], right.shape[0], left.shape[1], left)
        self.left = left
        self.right = like(right, left)

    @classmethod
    def of(cls, features: FeatureMap, X: Collection, Z: Collection | None) -> FactoredBlocks:
        """Return the blocks between `X` and `Z`, or between the objects of `X`, from a map F."""
        left = features(X)
        return cls(left, left if Z is None else features(Z))

    def matvec(self, coefficients: Array) -> Array:
        """Return F (Fᵀ c)."""
        xp = namespace(self.left)
        C = self.expect(coefficients, self.columns)
        weights = xp.reshape(C, (1, -1)) @ xp.reshape(self.right, (-1, self.right.shape[2]))
        return self.left @ weights[0, :]

    def transposed(self) -> FactoredBlocks:
        """Return the map with the sides exchanged."""
        return FactoredBlocks(self.right, self.left)

    def joint(self, Y: Array, W: Array) -> Array:
        """Return (yᵀF(x)) · (wᵀF(z))."""
        xp = namespace(self.left)
        Y, W = self.expect(Y, self.rows, "Y"), self.expect(W, self.columns, "W")
        return xp.matmul(Y[:, None, :], self.left)[:, 0, :] @ xp.matmul(W[:, None, :], self.right)[:, 0, :].T

    def diagonal_blocks(self) -> Array:
        """Return F(x) F(x)ᵀ."""
        xp = namespace(self.left)
        return xp.matmul(self.left, xp.matrix_transpose(self.right))


def times(rows: Array, matrix: Array) -> Array:
    """Return `rows` times a matrix, or times the diagonal matrix of a vector."""
    return rows * matrix if matrix.ndim == 1 else rows @ matrix


def full(matrix: Array) -> Array:
    """Return a matrix, or the diagonal matrix of a vector."""
    return matrix if matrix.ndim == 2 else eye(matrix.shape[0], matrix) * matrix
