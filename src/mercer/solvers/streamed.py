"""Ridge regression on few features of inputs that are read block by block: the features are never stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from mercer.core import memory
from mercer.core.arrays import (
    Array,
    add_to_diagonal,
    cached_property,
    cholesky,
    clip_spectrum,
    eigh,
    is_numpy_array,
    like,
    namespace,
    solve_triangular,
    to_numpy,
)
from mercer.core.blocks import ArrayBlocks, RowBlocks
from mercer.core.collections import is_blocks, take
from mercer.operators.base import OperatorSpectrum
from mercer.solvers.base import RidgeProblem
from mercer.solvers.block_tasks import Applied, LeftOut, NormalEquations, PivotFeatures, TransposedTimes
from mercer.solvers.factorization import Factorization
from mercer.solvers.kernel_values import KernelBasis, PointMap

_NUMBERS, _LAUNCHED_NUMBERS, _LEAST_ROWS = 2**23, 2**29, 1024
"""Features held at a time, 64 MiB of doubles, or 4 GiB on a device other than the processor, where small products waste it; and
the least number of rows of a block."""

_WITHOUT = (
    "inputs that are read in blocks have no weights on all training outputs; predict points, or pass inputs in memory"
)


def _features_held(near: Any) -> int:
    """The number of features of a block, for the device where they are computed."""
    on_host = is_numpy_array(near) or str(getattr(near, "device", "cpu")) == "cpu"
    return _NUMBERS if on_host else min(_LAUNCHED_NUMBERS, memory.available_bytes(near) // (8 * 8))


class StreamedRidge(Factorization):
    r"""Ridge regression on few features of inputs in blocks, :math:`w = (F^\top F + \alpha I)^{-1} F^\top V`.

    A pass over the inputs adds up :math:`F^\top F` and :math:`F^\top V`; one alpha then takes a Cholesky factor of m×m, and a
    path the eigenvectors. Exact leave-one-out needs the leverage of each pair, which takes a pass of its own.
    """

    def __init__(self, problem: RidgeProblem, features: PivotFeatures) -> None:
        super().__init__(problem)
        self.features, self.inputs, self.rank = features, as_rows(problem.inputs), features.size
        self.reference, self.step = features.near, max(_LEAST_ROWS, _features_held(features.near) // self.rank)
        self.roots = () if problem.roots is None else (problem.roots,)
        self._factor: tuple[float, Array] | None = None
        targets: Any = problem.targets
        near = features.near
        xp = namespace(near)
        self.level = (
            like(problem.mean(targets), near) if problem.fit_intercept else xp.zeros_like(targets_row(targets, near))
        )
        near = near if problem.fit_intercept else xp.zeros_like(near)
        self.gram, self.right, sums, whole, held, self.squares = self._normal_equations(near, targets)
        self.residual = max(0.0, 1.0 - held / whole) if whole > 0 else 0.0
        self.centre = near
        if problem.fit_intercept:
            # the centre was that of the sample, and the targets sum to zero around their mean
            self.centre = near + sums / problem.total
            self.gram = self.gram - sums[:, None] * (sums / problem.total)

    def _normal_equations(self, near: Array, targets: Any) -> tuple[Any, ...]:
        """FᵀF, FᵀV, the sum of the features, the traces of k and of FFᵀ, and the squares of the targets, seen from `near`."""
        features, factor = self.features, self.features.factor
        if self.roots or not factor.steady:
            task = NormalEquations(features, near, self.level)
            return self.inputs.total(task, targets, *self.roots, most=self.step)
        # a triangular system of m×m afterwards, in place of one for each input
        task = NormalEquations(features, factor.values_of(near), self.level, of_values=True)
        gram, right, sums, whole, _, squares = self.inputs.total(task, targets, most=self.step)
        gram = factor.transposed(factor.transposed(gram).T)
        right, sums = factor.transposed(right), factor.transposed(sums[:, None])[:, 0]
        held = namespace(gram).linalg.trace(gram) + 2.0 * (near @ sums) + self.problem.size * (near @ near)
        return 0.5 * (gram + gram.T), right, sums, whole, float(held), squares

    def coefficients(self, alpha: float) -> tuple[Array, Array | None]:
        """Return B and b with h(x) = κ_x B + b."""
        found = self._weights(alpha)
        level = self.level - self.centre @ found if self.problem.fit_intercept else None
        return self.features.factor.on_pivots(found), level

    def _weights(self, alpha: float) -> Array:
        """The coefficients on the features."""
        if self.problem.operator.is_identity:
            with suppress(np.linalg.LinAlgError):
                return self._solved_features(self.right, alpha)
        values, vectors = self.spectrum
        gains = self._gains
        inside = vectors.T @ self.right
        inside = inside if self._rotation is None else inside @ self._rotation
        inside = gains / (values[:, None] * gains + alpha) * inside
        return vectors @ (inside if self._rotation is None else inside @ self._rotation.T)

    def _solved_features(self, right: Array, alpha: float) -> Array:
        """(FᵀF + αI)⁻¹ times `right`; raise LinAlgError if alpha is lost in rounding."""
        if "spectrum" in vars(self):
            values, vectors = self.spectrum
            return vectors @ ((vectors.T @ right) / (values[:, None] + alpha))
        if self._factor is None or self._factor[0] != alpha:
            gram = namespace(self.gram).asarray(self.gram, copy=True)
            self._factor = alpha, cholesky(add_to_diagonal(gram, alpha))
        factor = self._factor[1]
        return solve_triangular(factor, solve_triangular(factor, right), transpose=True)

    def map(self, alpha: float) -> PointMap:
        """Return the map from inputs to points."""
        pivots = self.features.pivots
        return PointMap(KernelBasis(self.problem.kernel, pivots, len(pivots)), *self.coefficients(alpha))

    @cached_property
    def spectrum(self) -> tuple[Array, Array]:
        """Eigenvalues and eigenvectors of FᵀF, without those at rounding level."""
        xp = namespace(self.gram)
        scale = float(xp.linalg.trace(self.gram))
        values, vectors = eigh(xp.asarray(self.gram, copy=True))
        values = clip_spectrum(values, "the Gram matrix of the input features", scale=scale)
        rounding = self.problem.size * float(xp.finfo(values.dtype).eps) * float(values[-1])
        first = min(int(xp.sum(xp.astype(values <= rounding, xp.int64))), values.shape[0] - 1)
        return values[first:], vectors[:, first:]

    @cached_property
    def _spectrum(self) -> OperatorSpectrum | None:
        if self.problem.operator.is_identity:
            return None
        return self.problem.operator.spectrum(self.problem.operator_outputs(self, self.reference))

    @property
    def _gains(self) -> Array:
        xp = namespace(self.reference)
        return (
            xp.ones_like(self.reference[:1]) if self._spectrum is None else like(self._spectrum.values, self.reference)
        )

    @property
    def _rotation(self) -> Array | None:
        vectors = None if self._spectrum is None else self._spectrum.vectors
        return None if vectors is None else like(vectors, self.reference)

    complete = False

    def inside(self, rows: Array) -> Array:
        """Return Uᵀ times `rows`, which are scaled."""
        values, vectors = self.spectrum
        return (vectors.T @ self._transposed(rows)) / namespace(values).sqrt(_positive(values))[:, None]

    def outside(self, inside: Array) -> Array:
        """Return U times `inside`."""
        values, vectors = self.spectrum
        return self._applied(vectors @ (inside / namespace(values).sqrt(_positive(values))[:, None]))

    def whitened(self, inside: Array, ridge: float) -> Array:
        """Return (S + ridge I)^{-1/2} times `inside`."""
        return inside / namespace(inside).sqrt(self.spectrum[0] + ridge)[:, None]

    def _transposed(self, rows: Array) -> Array:
        found, sums = self.inputs.total(TransposedTimes(self.features), rows, *self.roots, most=self.step)
        return self.features.factor.transposed(found) - self.centre[:, None] * sums

    def _applied(self, coefficients: Array) -> Array:
        task = Applied(self.features, self.features.factor.on_pivots(coefficients), -(self.centre @ coefficients))
        return namespace(coefficients).concat(list(self.inputs.each(task, *self.roots, most=self.step)))

    def centred_solve(self, right: Array, alphas: Array) -> Array:
        """Return (F Fᵀ + αI)⁻¹ times `right`, which is orthogonal to the constant, with an alpha for each column."""
        xp, first, inner = namespace(right), float(alphas[0]), self._transposed(right)
        if bool(xp.all(alphas == first)):
            with suppress(np.linalg.LinAlgError):
                return (right - self._applied(self._solved_features(inner, first))) / first
        values, vectors = self.spectrum
        rounding = 1000.0 * float(xp.finfo(values.dtype).eps) * float(values[-1])
        alphas = xp.clip(alphas, rounding, None)
        return (right - self._applied(vectors @ ((vectors.T @ inner) / (values[:, None] + alphas)))) / alphas

    def left_out_residuals(self, alpha: float) -> Array:
        """Return vⱼ − h₋ⱼ(xⱼ) for each pair, by a pass over the inputs; for each group if there are groups."""
        if self.problem.groups is not None:
            return self._groups_left_out([alpha])[0]
        parts = [part for (part,) in self._passed([alpha], risks=False)]
        return namespace(parts[0]).concat(parts)

    def risks(self, alphas: Sequence[float], gram: Array | None = None) -> Iterator[Array]:
        """Yield ‖h₋ⱼ(xⱼ) − ψ(yⱼ)‖² of each pair for each alpha, all by one pass over the inputs."""
        if self.problem.groups is not None:
            return iter([namespace(left).sum(left * left, axis=1) for left in self._groups_left_out(alphas)])
        parts = list(zip(*self._passed(alphas, risks=True), strict=True))
        return iter([np.concatenate(part) for part in parts])

    def _groups_left_out(self, alphas: Sequence[float]) -> list[Array]:
        """The residuals of fits without each group, by a pass for each; the pivots and C are held."""
        problem, members = self.problem, self.problem.members or []
        targets = like(problem.targets, self.reference)
        points: list[list[Array]] = [[] for _ in alphas]
        for own in members:
            rest = np.setdiff1d(np.arange(problem.size), own)
            weight = None if problem.sample_weight is None else problem.sample_weight[rest]
            inputs: Any = self.inputs[rest]
            part = replace(problem, inputs=inputs, targets=take(targets, rest), sample_weight=weight, groups=None)
            ridge = StreamedRidge(part, self.features)
            vars(ridge)["_spectrum"] = self._spectrum
            for found, alpha in zip(points, alphas, strict=True):
                found.append(ridge.map(float(alpha)).points(self.inputs[own]))
        order, xp = np.argsort(np.concatenate(members)), namespace(targets)
        return [targets - like(take(xp.concat(found), order), targets) for found in points]

    def _passed(self, alphas: Sequence[float], risks: bool) -> Iterator[list[Array]]:
        problem, gains, (values, vectors) = self.problem, self._gains, self.spectrum
        roots = namespace(values).sqrt(_positive(values))
        inside = (vectors.T @ self.right) / roots[:, None]
        inside = inside if self._rotation is None else inside @ self._rotation
        shrunk = [values[:, None] * gains / (values[:, None] * gains + float(alpha)) for alpha in alphas]
        task = LeftOut(
            self.features, self.centre, vectors / roots, self.level, self._rotation,
            [(kept, kept * inside) for kept in shrunk], problem.total if problem.fit_intercept else 0.0, risks,
        )  # fmt: skip
        return self.inputs.each(task, problem.targets, *self.roots, most=self.step)

    def generalized_risk(self, alpha: float, gram: Array | None = None) -> float:
        """Return the mean squared residual over the squared mean of 1 − Hⱼⱼ; for the identity operator."""
        xp, n, (values, vectors) = namespace(self.gram), self.problem.size, self.spectrum
        left = alpha / (values + alpha)
        inside = (vectors.T @ self.right) / xp.sqrt(_positive(values))[:, None]
        squares = float(xp.sum(self.squares)) - float(xp.sum((1.0 - left * left)[:, None] * inside * inside))
        free = float(xp.sum(left)) + n - values.shape[0] - self.problem.fit_intercept
        return max(squares, 0.0) / n / (free / n) ** 2

    @property
    def scale(self) -> float:
        """The size of alpha that is neither small nor large: the mean eigenvalue of k, times the largest gain of C."""
        trace = float(namespace(self.gram).linalg.trace(self.gram))
        return trace / self.problem.size * float(np.max(to_numpy(self._gains)))

    def dual(self, alpha: float) -> Array:
        """Return Z with h(x) = k_x Z C + b, on all training inputs."""
        raise ValueError(_WITHOUT)

    def on_weights(self) -> Factorization:
        """Raise ValueError: weights on all training outputs would take n numbers for each input."""
        raise ValueError(_WITHOUT)


def _positive(values: Array) -> Array:
    """Eigenvalues to divide by; ones if all are zero."""
    return values if float(values[-1]) > 0 else namespace(values).ones_like(values)


def targets_row(targets: Array, reference: Array) -> Array:
    """Return the first row of the targets, as an array like `reference`."""
    return like(targets[0, :], reference)


def as_rows(inputs: Any) -> RowBlocks:
    """Return inputs in memory as blocks, and those in blocks as they are."""
    return inputs if is_blocks(inputs) else ArrayBlocks(inputs)


def most_features(near: Any) -> int:
    """Return the number of features whose Gram matrix, with copies, fits in the memory where `near` lives."""
    return max(1, int((memory.available_bytes(near) / (8 * 6)) ** 0.5))
