"""Exact solutions of (Σ k_l ⊗ T_l + αI) vec(C) = vec(Y) for terms that commute."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import mul
from typing import Any

import numpy as np

from mercer.core.arrays import Array, add_to_diagonal, cholesky, eigh, eye, like, namespace, solve_triangular, to_numpy
from mercer.core.collections import Collection, take
from mercer.operators.blocks import BlockOperator, KroneckerSum, full
from mercer.operators.valued import OperatorValuedKernel
from mercer.solvers.base import RidgeProblem
from mercer.solvers.cholesky import CholeskyFactor
from mercer.solvers.factorization import Factorization, left_out
from mercer.solvers.kernel_values import PointMap

_CHUNK = 2**22  # most numbers in the blocks that are worked on at a time

# weights of the matrices whose sum is decomposed, without small whole-number relations that make eigenvalues collide
_WEIGHTS = (1.0, 2.0**0.5 - 1.0, 3.0**0.5 - 1.0, 5.0**0.5 - 2.0, 7.0**0.5 - 2.0)


class BlockBasis:
    """The blocks K(x, xⱼ) between new inputs and the training inputs."""

    def __init__(self, kernel: OperatorValuedKernel, inputs: Collection) -> None:
        self.kernel, self.inputs = kernel, inputs
        self.columns = inputs.shape[0]

    def values(self, inputs: Collection, reference: Array) -> BlockOperator:
        """Return the blocks, a map that coefficients are multiplied by."""
        return self.kernel.gram(inputs, self.inputs)


class BlockSystem(Factorization):
    r"""The regularised system of an operator-valued kernel, :math:`(\mathbf{K} + \alpha I)\,C = Y`, for any α.

    With an intercept each output has a constant that is not penalised, and C sums to zero over it.
    """

    def __init__(self, problem: RidgeProblem, blocks: BlockOperator) -> None:
        super().__init__(problem)
        self.blocks = blocks
        self.observed = None if problem.observed is None else like(problem.observed.astype(float), blocks.reference)
        self.Y = problem.scaled(like(problem.targets, blocks.reference))

    def dual(self, alpha: float) -> Array:
        """Return C, one row of p coefficients for each training input."""
        return self.problem.scaled(self._dual(alpha))

    def _dual(self, alpha: float) -> Array:
        raise TypeError(f"{type(self).__name__} must define _dual(alpha)")

    def map(self, alpha: float) -> PointMap:
        """Return the map from inputs to points."""
        dual = self.dual(alpha)
        basis = BlockBasis(self.problem.operator, self.problem.inputs)
        return PointMap(basis, dual, self._intercept(self.blocks.matvec(dual)))

    def _intercept(self, fitted: Array) -> Array | None:
        """The weighted mean of what the fit leaves of the targets that are observed."""
        problem = self.problem
        if not problem.fit_intercept:
            return None
        rows = like(problem.targets, fitted) - fitted
        if self.observed is None:
            return problem.mean(rows)
        xp, weights = namespace(rows), problem.scaled(problem.scaled(self.observed))
        return xp.sum(weights * rows, axis=0) / xp.sum(weights, axis=0)

    def _blocks_left_out(self, residuals: Array, smoother: Callable[[np.ndarray], Array], width: int) -> Array:
        """(S_BB)⁻¹ (S V)_B of each pair or group B, from S V.

        `smoother` gives S_BB for rows (m, size) of groups of one size, from `width` numbers for each output of a pair.
        """
        xp, (n, p) = namespace(residuals), residuals.shape
        members, parts, taken = self.problem.members or list(np.arange(n)[:, None]), [], []
        for size in sorted({len(own) for own in members}):
            same = np.stack([own for own in members if len(own) == size])
            for own in np.array_split(same, -(-len(same) * size * size * p * max(p, width) // _CHUNK)):
                right = xp.reshape(take(residuals, own), (len(own), size * p, 1))
                parts.append(xp.reshape(xp.linalg.solve(smoother(own), right), (len(own) * size, p)))
                taken.append(own.ravel())
        return self.problem.unscaled(take(xp.concat(parts), np.argsort(np.concatenate(taken))))

    def constants(self, reference: Array) -> Array | None:
        """Return for each output the unit vector that is not penalised, (n, p); None without an intercept."""
        q = self.problem.constant(reference)
        if q is None:
            return None
        if self.observed is None:
            return q[:, None] + namespace(q).zeros_like(like(self.Y, reference))
        kept = q[:, None] * like(self.observed, reference)
        return kept / namespace(kept).sqrt(namespace(kept).sum(kept * kept, axis=0))

    @property
    def scale(self) -> float:
        """The size of alpha that is neither small nor large: the largest eigenvalue of the mean block K(x, x)."""
        mean = to_numpy(self.blocks.trace_block()) / self.problem.size
        return float(np.linalg.eigvalsh(0.5 * (mean + mean.T))[-1])


class TwoTerms(BlockSystem):
    """Two terms whose output matrices are affine in each other: one generalised eigenproblem for each alpha."""

    reason = "two terms, T₂ = μI + νT₁: one matrix pencil takes all output directions apart"

    def __init__(self, problem: RidgeProblem, blocks: KroneckerSum, found: Pencil, basis: CommonBasis) -> None:
        super().__init__(problem, blocks)
        self.found, self.basis = found, basis
        self.targets = problem.centred(basis.into(self.Y))

    def _decomposed(self, alpha: float) -> tuple[Array, Array]:
        """V and D = g λ + 1 with (g A + M)⁻¹ = V diag(1 / D) Vᵀ for every g, orthogonal to the constant."""
        xp, found = namespace(self.targets), self.found
        if found.shift is None:
            values, vectors = eigh(xp.asarray(found.matrix, copy=True))
            vectors, values = vectors / alpha**0.5, values / alpha
        else:
            factor = cholesky(add_to_diagonal(xp.asarray(found.shift, copy=True), alpha))
            half = solve_triangular(factor, found.matrix)
            inside = solve_triangular(factor, half.T)
            values, vectors = eigh(0.5 * (inside + inside.T))
            vectors = solve_triangular(factor, vectors, transpose=True)
        return self.problem.centred(vectors), values[:, None] * found.gains + 1.0

    def _dual(self, alpha: float) -> Array:
        vectors, divisor = self._decomposed(alpha)
        return self.basis.out_of(vectors @ ((vectors.T @ self.targets) / divisor))

    def left_out_residuals(self, alpha: float) -> Array:
        """Return yᵢ − h₋ᵢ(xᵢ): each output direction is a scalar problem."""
        vectors, divisor = self._decomposed(alpha)
        left, members = vectors @ ((vectors.T @ self.targets) / divisor), self.problem.members
        if members is None:
            left = left / ((vectors * vectors) @ (1.0 / divisor))
        else:
            inverses = [(vectors / divisor[:, a]) @ vectors.T for a in range(divisor.shape[1])]
            parts = [left_out(each, left[:, a : a + 1], members) for a, each in enumerate(inverses)]
            left = namespace(left).concat(parts, axis=1)
        return self.problem.unscaled(self.basis.out_of(left))


class PerDirection(BlockSystem):
    """Output matrices that commute: one Cholesky factor for each of their common directions.

    If they are diagonal, each output may be observed on inputs of its own.
    """

    reason = "the output matrices commute: each common direction is a scalar problem"

    def __init__(self, problem: RidgeProblem, blocks: KroneckerSum, grams: list[Array], basis: CommonBasis) -> None:
        super().__init__(problem, blocks)
        self.grams, self.basis, self.gains = grams, basis, to_numpy(basis.values)
        self.targets = basis.into(like(problem.targets, blocks.reference))
        self.seen = np.ones(tuple(self.Y.shape), dtype=bool) if problem.observed is None else problem.observed

    def _groups(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Directions that share a factor: those with the same gains, observed on the same inputs."""
        groups: dict[tuple[bytes, bytes], list[int]] = {}
        # eigenvalues that differ by rounding are one; + 0.0 makes -0.0 and 0.0 the same bytes
        gains = np.round(self.gains / max(float(np.abs(self.gains).max()), np.finfo(float).tiny), 13) + 0.0
        for a in range(gains.shape[1]):
            groups.setdefault((gains[:, a].tobytes(), self.seen[:, a].tobytes()), []).append(a)
        for columns in groups.values():
            yield np.asarray(columns), np.flatnonzero(self.seen[:, columns[0]])

    def _by_direction(self, alpha: float, leave_out: bool) -> Array:
        """C, or with `leave_out` the residuals of pairs left out, zero for missing outputs."""
        problem, n, weight = self.problem, self.problem.size, self.problem.sample_weight
        result = namespace(self.targets).zeros_like(self.targets)
        for columns, rows in self._groups():
            gram: Any = sum(map(mul, self.gains[:, columns[0]].tolist(), self.grams))
            gram = gram if len(rows) == n else take(take(gram, rows).T, rows)
            scalar = RidgeProblem(
                problem.kernel,
                rows,
                take(take(self.targets, rows).T, columns).T,
                fit_intercept=problem.fit_intercept,
                sample_weight=None if weight is None else weight[rows],
                groups=None if problem.groups is None else np.unique(problem.groups[rows], return_inverse=True)[1],
            )
            system = CholeskyFactor(scalar, cholesky(add_to_diagonal(gram, alpha)))
            found = system.left_out_residuals(alpha) if leave_out else system.coefficients(alpha)[0]
            found = found if len(rows) == n else take(eye(n, found), rows).T @ found
            for j, a in enumerate(columns.tolist()):
                result[:, a] = found[:, j]
        return self.basis.out_of(result)

    def dual(self, alpha: float) -> Array:
        """Return C, one row of p coefficients for each training input."""
        return self._by_direction(alpha, leave_out=False)

    def left_out_residuals(self, alpha: float) -> Array:
        """Return yᵢ − h₋ᵢ(xᵢ), zero for missing outputs."""
        return self._by_direction(alpha, leave_out=True)


class PerEigenvector(BlockSystem):
    """Input Gram matrices that commute: one p×p system for each of their common eigenvectors."""

    reason = "the input Gram matrices commute: each common eigenvector has a p×p system"

    def __init__(self, problem: RidgeProblem, blocks: KroneckerSum, basis: CommonBasis) -> None:
        super().__init__(problem, blocks)
        assert basis.vectors is not None
        self.vectors, self.values = problem.centred(basis.vectors), basis.values
        self.inside = self.vectors.T @ self.Y

    def _systems(self, alpha: float) -> Iterator[tuple[slice, Array]]:
        n, p = self.inside.shape
        step = max(1, _CHUNK // (p * p))
        assert isinstance(self.blocks, KroneckerSum)
        for start in range(0, n, step):
            here = slice(start, min(start + step, n))
            terms = enumerate(self.blocks.matrices)
            parts = [self.values[l, here][:, None, None] * full(T)[None, :, :] for l, T in terms]
            yield here, sum(parts) + alpha * eye(p, self.inside)[None, :, :]

    def _dual(self, alpha: float) -> Array:
        xp = namespace(self.inside)
        parts = [xp.linalg.solve(each, self.inside[here, :, None])[:, :, 0] for here, each in self._systems(alpha)]
        return self.vectors @ xp.concat(parts)

    def left_out_residuals(self, alpha: float) -> Array:
        """Return yᵢ − h₋ᵢ(xᵢ) from the blocks of the smoother, of each pair or group."""
        xp, (n, p) = namespace(self.inside), self.inside.shape
        inverses = xp.concat([alpha * xp.linalg.inv(each) for _, each in self._systems(alpha)])

        def smoother(own: np.ndarray) -> Array:
            rows, (groups, size) = take(self.vectors, own), own.shape
            products = xp.reshape(rows[:, :, None, :] * rows[:, None, :, :], (-1, n))
            blocks = xp.reshape(products @ xp.reshape(inverses, (n, p * p)), (groups, size, size, p, p))
            return xp.reshape(xp.permute_dims(blocks, (0, 1, 3, 2, 4)), (groups, size * p, size * p))

        return self._blocks_left_out(alpha * self._dual(alpha), smoother, n)


@dataclass
class CommonBasis:
    """Matrices A_l = Q diag(values[l]) Qᵀ that are diagonal in one orthonormal basis; `vectors` is None for Q = I."""

    vectors: Array | None
    values: Array

    def into(self, rows: Array) -> Array:
        """Return rows in the basis."""
        return rows if self.vectors is None else rows @ self.vectors

    def out_of(self, rows: Array) -> Array:
        """Return rows of the basis in the original coordinates."""
        return rows if self.vectors is None else rows @ self.vectors.T


def common_basis(matrices: Sequence[Array]) -> CommonBasis | None:
    """Return the basis in which symmetric matrices, or vectors for diagonal ones, are diagonal; None unless they commute."""
    xp = namespace(matrices[0])
    if all(matrix.ndim == 1 for matrix in matrices):
        return CommonBasis(None, xp.stack(list(matrices)))
    square = [full(matrix) for matrix in matrices]
    if not _seem_to_commute(square):
        return None
    sizes = [max(float(xp.linalg.matrix_norm(matrix)), np.finfo(float).tiny) for matrix in square]
    weights = [_WEIGHTS[l % len(_WEIGHTS)] * (1.0 + l // len(_WEIGHTS)) / size for l, size in enumerate(sizes)]
    _, vectors = eigh(sum(map(mul, weights, square)))
    rows = []
    for matrix, size in zip(square, sizes, strict=True):
        turned = vectors.T @ (matrix @ vectors)
        values = xp.linalg.diagonal(turned)
        if float(xp.linalg.matrix_norm(turned - full(values))) > _rounding(matrix) * size:
            return None
        rows.append(xp.asarray(values, copy=True))
    return CommonBasis(vectors, xp.stack(rows))


def _rounding(matrix: Array) -> float:
    return 64.0 * matrix.shape[0] * float(namespace(matrix).finfo(matrix.dtype).eps)


def _seem_to_commute(matrices: Sequence[Array]) -> bool:
    """True if A(Bv) = B(Av) to rounding for one random v, a necessary condition at little cost."""
    first, xp, n = matrices[0], namespace(matrices[0]), matrices[0].shape[0]
    v = like(np.random.default_rng(0).standard_normal((n, 1)), first)
    for matrix in matrices[1:]:
        gap = first @ (matrix @ v) - matrix @ (first @ v)
        # relative to a bound on the products, which may be zero
        size = float(xp.linalg.matrix_norm(first)) * float(xp.linalg.matrix_norm(matrix)) * n**0.5
        if float(xp.max(xp.abs(gap))) > _rounding(matrix) * size:
            return False
    return True


@dataclass
class Pencil:
    r"""Two terms as one: :math:`c_1 k_1 + c_2 k_2 + \alpha I = g\,A + (\mu\,k + \alpha I)` in every output direction."""

    gains: Array  # g, one for each output direction
    matrix: Array  # A
    shift: Array | None  # μ k, positive semi-definite; None for zero


def pencil(values: Array, grams: Sequence[Array]) -> Pencil | None:
    r"""Return the pencil of two terms with common output directions; None if they have none.

    The n×n systems :math:`c_{1a} k_1 + c_{2a} k_2 + \alpha I` of all directions a share a decomposition if and only if the
    numbers :math:`(c_{1a}, c_{2a}, \alpha)` lie in a plane: :math:`T_2 = \mu I + \nu T_1`, or the two exchanged.
    """
    for first, second in ((0, 1), (1, 0)):
        c, d = to_numpy(values[first, :]), to_numpy(values[second, :])
        spread = float(c.max() - c.min())
        slope = 0.0 if spread <= 1e-12 * float(np.abs(c).max()) else float((d[c.argmax()] - d[c.argmin()]) / spread)
        level = float(d[c.argmax()] - slope * c.max())
        size = float(max(np.abs(d).max(), abs(slope) * np.abs(c).max()))
        # a negative level is positive for the two exchanged, since T₁ and T₂ are positive semi-definite
        if np.abs(d - slope * c - level).max() > 1e-12 * size or level < -1e-12 * size:
            continue
        shift = None if abs(level) <= 1e-12 * size else level * grams[second]
        return Pencil(values[first, :], grams[first] + slope * grams[second], shift)
    return None
