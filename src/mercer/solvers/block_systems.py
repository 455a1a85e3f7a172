"""The system (Σ k_l ⊗ T_l + αI) vec(C) = vec(Y), solved exactly where inputs or outputs can be taken apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from mercer.core.arrays import (
    Array,
    add_to_diagonal,
    cholesky,
    clip_spectrum,
    eigh,
    eye,
    namespace,
    solve_triangular,
    to_numpy,
    zeros,
)
from mercer.core.collections import take
from mercer.core.gram_eigh import GramEigh
from mercer.operators.base import OperatorSpectrum
from mercer.operators.blocks import KroneckerSum, full
from mercer.solvers.conjugate_gradient import Solution
from mercer.solvers.kronecker import CommonBasis, Pencil
from mercer.solvers.ridge import Ridge

_CHUNK = 2**22
"""Numbers in p×p blocks worked on at a time."""


class BlockSystem:
    r"""The regularised system of an operator-valued kernel, :math:`(\mathbf{K} + \alpha I)\,C = Y`, for any α."""

    reason: str
    """Why the system is solved this way."""
    exact: bool = True
    solution: Solution | None = None
    """How the last iteration went; None where nothing is iterated."""

    def solve(self, alpha: float) -> Array:
        """C, one row of p coefficients for each training input."""
        raise TypeError(f"{type(self).__name__} must define solve(alpha)")

    def leave_one_out(self, alpha: float) -> Array:
        """yᵢ − h₋ᵢ(xᵢ), the residual of each sample under the fit without it; zero where an output is missing."""
        raise TypeError(f"{type(self).__name__} must define leave_one_out(alpha)")


class OneTerm(BlockSystem):
    """K(x, z) = k(x, z)·T: two eigendecompositions, for all ridges."""

    reason = "one separable term: the eigenvectors of k and of T take the system apart"

    def __init__(self, blocks: KroneckerSum, Y: Array) -> None:
        xp = namespace(Y)
        values, vectors = eigh(xp.asarray(blocks.grams[0], copy=True))
        values = clip_spectrum(values, "the input Gram matrix")
        self.ridge = Ridge(GramEigh(vectors, values, vectors), Y, _spectrum_of(blocks.matrices[0]))
        self.Y = Y

    def solve(self, alpha: float) -> Array:
        """U [(Uᵀ Y Q) / (s cᵀ + α)] Qᵀ."""
        ridge = self.ridge
        scaled = ridge.inside / (ridge.spectrum.values[:, None] * ridge.gains + alpha)
        return ridge.spectrum.vectors @ ridge._unrotate(scaled)

    def leave_one_out(self, alpha: float) -> Array:
        """As for scalar kernels, in each eigendirection of T."""
        return self.Y - self.ridge.leave_one_out(alpha)


class OneTermFeatures(BlockSystem):
    """K(x, z) = φ(x)·φ(z) T with few features: the cost grows with n, not with its cube."""

    reason = "one separable term with few features: m×m in place of n×n"

    def __init__(self, features: Array, T: Array, Y: Array) -> None:
        self.features, self.Y = features, Y
        self.ridge = Ridge(GramEigh.of_features(features), Y, _spectrum_of(T))

    def weights(self, alpha: float) -> Array:
        """W, m×p, with h(x) = φ(x) W."""
        return self.ridge.coefficients(alpha)

    def solve(self, alpha: float) -> Array:
        """(Y − h(x)) / α."""
        return (self.Y - self.features @ self.weights(alpha)) / alpha

    def leave_one_out(self, alpha: float) -> Array:
        """As for scalar kernels, in each eigendirection of T."""
        return self.Y - self.ridge.leave_one_out(alpha)


def _spectrum_of(T: Array) -> OperatorSpectrum:
    """T, (p, p) or the diagonal (p,), as eigenvalues and eigenvectors."""
    if T.ndim == 1:
        return OperatorSpectrum(T, None)
    gains, rotation = eigh(namespace(T).asarray(T, copy=True))
    return OperatorSpectrum(clip_spectrum(gains, "T"), rotation)


class TwoTerms(BlockSystem):
    """Two terms whose output matrices are affine in each other: one generalised eigenproblem for each ridge."""

    reason = "two terms, T₂ = μI + νT₁: one matrix pencil takes all output directions apart"

    def __init__(self, found: Pencil, basis: CommonBasis, Y: Array) -> None:
        self.found = found
        self.basis = basis
        self.targets = basis.into(Y)

    def _decomposed(self, alpha: float) -> tuple[Array, Array]:
        """V and D with (g A + M)⁻¹ = V diag(1 / (g λ + 1)) Vᵀ for every g; D holds g λ + 1."""
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
        return vectors, values[:, None] * found.gains + 1.0

    def solve(self, alpha: float) -> Array:
        """V [(Vᵀ Y Q) / D] Qᵀ."""
        vectors, divisor = self._decomposed(alpha)
        return self.basis.out_of(vectors @ ((vectors.T @ self.targets) / divisor))

    def leave_one_out(self, alpha: float) -> Array:
        """Each output direction is a scalar problem; its leave-one-out residual is zᵢ / (G⁻¹)ᵢᵢ."""
        vectors, divisor = self._decomposed(alpha)
        coefficients = vectors @ ((vectors.T @ self.targets) / divisor)
        return self.basis.out_of(coefficients / ((vectors * vectors) @ (1.0 / divisor)))


class PerDirection(BlockSystem):
    """Output matrices that commute: one Cholesky factor for each of their common directions.

    Where they are diagonal, outputs are apart from the start, and each may be observed on inputs of its own.
    """

    reason = "the output matrices commute: each common direction is a scalar problem"

    def __init__(self, blocks: KroneckerSum, basis: CommonBasis, Y: Array, observed: np.ndarray | None = None) -> None:
        self.grams = blocks.grams
        self.basis = basis
        self.targets = basis.into(Y)
        self.gains = to_numpy(basis.values)
        self.observed = np.ones(tuple(Y.shape), dtype=bool) if observed is None else observed

    def _groups(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Directions with the same gains, observed on the same inputs: they share a factor."""
        groups: dict[tuple[bytes, bytes], list[int]] = {}
        # eigenvalues that differ by rounding are one; + 0.0 makes -0.0 and 0.0 the same bytes
        gains = np.round(self.gains / max(float(np.abs(self.gains).max()), np.finfo(float).tiny), 13) + 0.0
        for a in range(gains.shape[1]):
            groups.setdefault((gains[:, a].tobytes(), self.observed[:, a].tobytes()), []).append(a)
        for columns in groups.values():
            yield np.asarray(columns), np.flatnonzero(self.observed[:, columns[0]])

    def _each(self, alpha: float) -> Iterator[tuple[np.ndarray, np.ndarray, Array, Array]]:
        """For each group its directions, its inputs, the Cholesky factor L and L⁻¹ Y."""
        everything = self.targets.shape[0]
        for columns, rows in self._groups():
            parts = [float(c) * gram for c, gram in zip(self.gains[:, columns[0]], self.grams, strict=True)]
            system = sum(parts[1:], start=parts[0])
            if len(rows) < everything:
                system = take(take(system, rows).T, rows)
            factor = cholesky(add_to_diagonal(system, alpha))
            right = take(take(self.targets, rows).T, columns).T
            yield columns, rows, factor, solve_triangular(factor, right)

    def _collect(self, found: Sequence[tuple[np.ndarray, np.ndarray, Array]]) -> Array:
        result = zeros(tuple(self.targets.shape), self.targets)
        for columns, rows, part in found:
            if len(rows) == self.targets.shape[0]:
                whole = part
            else:
                scatter = take(eye(self.targets.shape[0], self.targets), rows)
                whole = scatter.T @ part
            for j, a in enumerate(columns.tolist()):
                result[:, a] = whole[:, j]
        return self.basis.out_of(result)

    def solve(self, alpha: float) -> Array:
        """(Σ c_l k_l + αI)⁻¹ y in each direction."""
        return self._collect(
            [
                (columns, rows, solve_triangular(factor, half, transpose=True))
                for columns, rows, factor, half in self._each(alpha)
            ]
        )

    def leave_one_out(self, alpha: float) -> Array:
        """Residuals zᵢ / (G⁻¹)ᵢᵢ in each direction."""
        xp, found = namespace(self.targets), []
        for columns, rows, factor, half in self._each(alpha):
            inverse = solve_triangular(factor, eye(len(rows), factor))
            diagonal = xp.sum(inverse * inverse, axis=0)[:, None]
            found.append((columns, rows, solve_triangular(factor, half, transpose=True) / diagonal))
        return self._collect(found)


class PerEigenvector(BlockSystem):
    """Input Gram matrices that commute: one p×p system for each of their common eigenvectors."""

    reason = "the input Gram matrices commute: each common eigenvector has a p×p system"

    def __init__(self, blocks: KroneckerSum, basis: CommonBasis, Y: Array) -> None:
        assert basis.vectors is not None
        self.vectors = basis.vectors
        self.values = basis.values
        self.blocks = blocks
        self.inside = basis.vectors.T @ Y

    def _systems(self, alpha: float) -> Iterator[tuple[slice, Array]]:
        n, p = self.inside.shape
        step = max(1, _CHUNK // (p * p))
        for start in range(0, n, step):
            here = slice(start, min(start + step, n))
            parts = [
                self.values[l, here][:, None, None] * full(T)[None, :, :] for l, T in enumerate(self.blocks.matrices)
            ]
            yield here, sum(parts[1:], start=parts[0]) + alpha * eye(p, self.inside)[None, :, :]

    def _coefficients(self, alpha: float) -> Array:
        xp = namespace(self.inside)
        parts = [xp.linalg.solve(each, self.inside[here, :, None])[:, :, 0] for here, each in self._systems(alpha)]
        return self.vectors @ xp.concat(parts)

    def solve(self, alpha: float) -> Array:
        """U z̃ with (Σ s_l T_l + αI) z̃ = (UᵀY) for each eigenvector."""
        return self._coefficients(alpha)

    def leave_one_out(self, alpha: float) -> Array:
        """((G⁻¹)ᵢᵢ)⁻¹ cᵢ with the p×p blocks (G⁻¹)ᵢᵢ."""
        xp = namespace(self.inside)
        n, p = self.inside.shape
        squares, blocks = self.vectors * self.vectors, zeros((n, p * p), self.inside)
        for here, each in self._systems(alpha):
            inverse = xp.linalg.inv(each)
            blocks = blocks + squares[:, here] @ xp.reshape(inverse, (inverse.shape[0], p * p))
        return xp.linalg.solve(xp.reshape(blocks, (n, p, p)), self._coefficients(alpha)[:, :, None])[:, :, 0]
