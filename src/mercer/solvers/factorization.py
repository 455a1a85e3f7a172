"""Factorizations: a ridge problem made ready to be solved for any value of alpha."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from mercer.core.arrays import Array, cached_property, eye, like, namespace, to_numpy
from mercer.core.collections import Collection, take
from mercer.operators.base import OperatorSpectrum
from mercer.operators.identity import Identity
from mercer.solvers.base import RidgeProblem
from mercer.solvers.kernel_values import PointMap


class Factorization:
    r"""A ridge problem made ready to be solved for any value of alpha.

    A new one defines `solve`, which applies :math:`(k + \alpha I)^{-1}` for ``problem.gram()``. The rest follows from it, with
    n right-hand sides to leave pairs out; subclasses override what they can do with less work.

    With the constant q that is not penalised (an intercept), :math:`G = k + \alpha I` and :math:`g = G^{-1}q`, the matrix
    :math:`M = G^{-1} - g g^\top / q^\top g` takes targets to coefficients, and the residual of a pair left out is
    :math:`(M V)_j / M_{jj}`; of a group B, :math:`(M_{BB})^{-1}(M V)_B`.
    """

    residual: float = 0.0
    """Share of the Gram matrix that is left out; 0 for exact solvers."""
    rank: int | None = None
    """The number of features that stand for the Gram matrix; None for all of it."""
    reason: str = ""
    """Why the problem is solved this way; empty for the reason of the solver."""
    exact: bool = True
    """True if pairs are left out exactly; False for iterations."""
    reference: Any = None
    """An array of the library and on the device of the algebra; None for those of the targets."""

    for_choosing_alpha: Factorization | None = None
    """The factorization on which alpha is chosen, if a solution by this one takes long."""

    def __init__(self, problem: RidgeProblem) -> None:
        self.problem = problem

    def solve(self, right: Array, alpha: float) -> Array:
        """Return (k + αI)⁻¹ times `right`."""
        raise TypeError(f"{type(self).__name__} must define solve(right, alpha)")

    def map(self, alpha: float) -> PointMap:
        """Return the map from inputs to points for one value of alpha."""
        return PointMap(self.problem.basis(), *self.coefficients(alpha))

    def coefficients(self, alpha: float) -> tuple[Array, Array | None]:
        """Return B and b with h(x) = k_x B + b."""
        xp, problem = namespace(self._targets), self.problem
        parts = [self._solved(self._targets[:, columns], a) for columns, a in self._directions(alpha)]
        duals, levels = zip(*parts, strict=True)
        dual = problem.scaled(self._unrotated(xp.concat(duals, axis=1)))
        if not problem.fit_intercept:
            return dual, None
        return dual, self._unrotated(xp.concat(levels)[None, :] / problem.total**0.5)[0, :]

    def dual(self, alpha: float) -> Array:
        """Return Z with h(x) = k_x Z C + b; for the identity operator these are the coefficients."""
        return self.coefficients(alpha)[0]

    def left_out_points(self, alpha: float) -> Array:
        """Return h₋ⱼ(xⱼ) for each pair: the point predicted by the fit without it, or without its group; C is held."""
        problem, left = self.problem, self.left_out_residuals(alpha)
        if problem.targets is None:
            return clear_own_weights(-left, problem.members)
        return like(problem.targets, left) - left

    def left_out_residuals(self, alpha: float) -> Array:
        """Return vⱼ − h₋ⱼ(xⱼ) for each pair."""
        xp, parts = namespace(self._targets), []
        for columns, a in self._directions(alpha):
            inverse = self._inverse(a)
            parts.append(
                left_out(inverse, inverse @ self.problem.centred(self._targets[:, columns]), self.problem.members)
            )
        return self.problem.unscaled(self._unrotated(xp.concat(parts, axis=1)))

    def risks(self, alphas: Sequence[float], gram: Array | None = None) -> Iterator[Array]:
        """Yield ‖h₋ⱼ(xⱼ) − ψ(yⱼ)‖² of each pair, for each alpha; `gram` is L, needed without targets."""
        for alpha in alphas:
            left = self.left_out_residuals(float(alpha))
            moved = left if gram is None else left @ like(gram, left)
            yield namespace(left).sum(moved * left, axis=1)

    def weights(self, inputs: Collection, alpha: float) -> Array:
        """Return h(x) as weights on the n training outputs; for the identity operator."""
        return self.on_weights().map(alpha).points(inputs)

    def on_weights(self) -> Factorization:
        """Return the same factorization with weights on the training outputs for targets, and the identity operator."""
        other = copy(self)
        other.problem = replace(self.problem, targets=None, operator=Identity())
        for name in ("_targets", "_spectrum"):
            vars(other).pop(name, None)
        return other

    def generalized_risk(self, alpha: float, gram: Array | None = None) -> float:
        """Return the score of generalised cross-validation; for the identity operator."""
        xp, n = namespace(self._targets), self.problem.size
        smoother = alpha * self._inverse(alpha)
        left = smoother @ self._targets
        squares = float(xp.sum((left if gram is None else left @ like(gram, left)) * left))
        return squares / n / (float(xp.linalg.trace(smoother)) / n) ** 2

    @cached_property
    def scale(self) -> float:
        """The size of alpha that is neither small nor large: the mean eigenvalue of k, times the largest gain of C."""
        gram = self.problem.gram()
        constant, trace = self.problem.constant(gram), float(namespace(gram).linalg.trace(gram))
        mean = (trace if constant is None else trace - float(constant @ gram @ constant)) / self.problem.size
        return mean * (1.0 if self._spectrum is None else float(np.max(to_numpy(self._spectrum.values))))

    @cached_property
    def _targets(self) -> Array:
        """√w V Q, with the identity for V if there are no targets."""
        problem = self.problem
        rows = np.eye(problem.size) if problem.targets is None else problem.targets
        rows = rows if self.reference is None else like(rows, self.reference)
        if self._spectrum is not None and self._spectrum.vectors is not None:
            rows = rows @ like(self._spectrum.vectors, rows)
        return problem.scaled(rows)

    @cached_property
    def _spectrum(self) -> OperatorSpectrum | None:
        problem = self.problem
        if problem.operator.is_identity:
            return None
        assert problem.targets is not None
        return problem.operator_spectrum(problem.decomposed(), problem.targets)[0]

    def _directions(self, alpha: float) -> Iterator[tuple[slice, float]]:
        """Columns of V Q that share an alpha over the gain of C, with that."""
        if self._spectrum is None:
            yield slice(0, self._targets.shape[1]), alpha
            return
        for a, gain in enumerate(to_numpy(self._spectrum.values).tolist()):
            yield slice(a, a + 1), alpha / gain if gain > 0 else np.inf

    def _solved(self, right: Array, alpha: float) -> tuple[Array, Array]:
        """M V, and the level along the constant."""
        xp, q = namespace(right), self.problem.constant(right)
        if alpha == np.inf:
            level = xp.zeros_like(right[0, :]) if q is None else q @ right
            return xp.zeros_like(right), level
        solved = self.solve(right, alpha)
        if q is None:
            return solved, xp.zeros_like(right[0, :])
        of_constant = self.solve(q[:, None], alpha)[:, 0]
        level = (q @ solved) / float(q @ of_constant)
        # a small alpha makes coefficients large, and their rounding along the constant would be seen
        return self.problem.centred(solved - of_constant[:, None] * level), level

    def _inverse(self, alpha: float) -> Array:
        """M, n×n."""
        identity = eye(self.problem.size, self._targets)
        return self.problem.centred(identity) if alpha == np.inf else self._solved(identity, alpha)[0]

    def _unrotated(self, rows: Array) -> Array:
        vectors = None if self._spectrum is None else self._spectrum.vectors
        return rows if vectors is None else rows @ like(vectors, rows).T


def clear_own_weights(weights: Array, members: list[np.ndarray] | None) -> Array:
    """Set the weights of pairs on themselves, or on their group, to zero; rounding leaves them close to it."""
    group = np.arange(weights.shape[0])
    for own in members or []:
        group[own] = own[0]
    return weights * like((group[:, None] != group).astype(float), weights)


def left_out(inverse: Array, left: Array, members: list[np.ndarray] | None) -> Array:
    """Return (M_BB)⁻¹ (M V)_B from M and M V, for every group B or for every pair."""
    xp = namespace(inverse)
    if members is None:
        return left / xp.linalg.diagonal(inverse)[:, None]
    parts, batches, entries = [], by_size(members), xp.reshape(inverse, (-1,))
    for own in batches:
        number, size = own.shape
        places = own[:, :, None] * inverse.shape[0] + own[:, None, :]
        blocks = xp.reshape(take(entries, places.ravel()), (number, size, size))
        right = xp.reshape(take(left, own.ravel()), (number, size, -1))
        parts.append(xp.reshape(xp.linalg.solve(blocks, right), (number * size, -1)))
    return take(xp.concat(parts), np.argsort(np.concatenate([own.ravel() for own in batches])))


def by_size(members: list[np.ndarray]) -> list[np.ndarray]:
    """Return groups of the same size together, a row for each.

    Examples
    --------
    >>> [own.tolist() for own in by_size([np.array([0, 3]), np.array([1]), np.array([2, 4])])]
    [[[1]], [[0, 3], [2, 4]]]
    """
    sizes = {len(own) for own in members}
    return [np.stack([own for own in members if len(own) == size]) for size in sorted(sizes)]
