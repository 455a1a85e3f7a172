"""The ridge problem, and the two protocols by which it is solved: `Solver` and `Factorization`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from mercer.core.arrays import Array, clip_spectrum, eigh, eye, like, namespace, on_device, to_numpy
from mercer.core.collections import Collection, count, take
from mercer.core.gram_eigh import GramEigh
from mercer.kernels.base import Kernel
from mercer.kernels.features import FeatureMap
from mercer.kernels.grams import own, row_blocks
from mercer.operators.base import Operator, OperatorSpectrum, Outputs
from mercer.operators.identity import Identity
from mercer.solvers.gram import check_finite, gram_matrix

_EXACT_MATRICES = 8
"""n×n matrices an exact fit may hold at once (measured by ``python -m experiments bench core``)."""

_NUMBERS = 2**24
"""Kernel values a prediction holds at a time."""


@dataclass
class RidgeProblem:
    r"""The one ridge problem of the library.

    .. math:: \min_{h, b} \sum_i w_i \|h(x_i) + b - v_i\|^2 + \alpha \|h\|_K^2, \qquad K(x, z) = k(x, z)\, C

    for a separable operator C, and with the operator's own K(x, z) for any other.

    Parameters
    ----------
    kernel : Kernel
        k, resolved.
    inputs : collection
        The n training inputs, checked.
    targets : array (n, r), optional
        V. None stands for the n×n identity: points are then weights on the training outputs.
    operator : Operator
        C, or an operator-valued kernel that is resolved.
    alpha : float, optional
        The one value of alpha to solve for; None where it has to be chosen.
    fit_intercept : bool
        Whether there is a b, which is not penalised.
    sample_weight : array (n,), optional
        w > 0; None for all ones.
    groups : int array (n,), optional
        The group of each pair, 0, 1, …: pairs of one group are left out together.
    observed : boolean array (n, r), optional
        The targets that are known; None for all.
    outputs : array (N, r), optional
        Coordinates of all outputs, the paired ones first, for operators learned from them.
    orthogonal : bool
        Whether the columns of `outputs` are orthogonal and, with an intercept, sum to zero.
    wants_left_out : bool
        Whether left-out points will be asked for.
    """

    kernel: Kernel
    inputs: Collection
    targets: Array | None = None
    operator: Operator = field(default_factory=Identity)
    alpha: float | None = None
    fit_intercept: bool = True
    sample_weight: np.ndarray | None = None
    groups: np.ndarray | None = None
    observed: np.ndarray | None = None
    outputs: Array | None = None
    orthogonal: bool = False
    wants_left_out: bool = False

    # -- weights and the intercept -------------------------------------------------------------------

    @property
    def size(self) -> int:
        """The number of pairs, n."""
        return count(self.inputs)

    @cached_property
    def roots(self) -> np.ndarray | None:
        """Square roots of the sample weights; None where all are one."""
        return None if self.sample_weight is None else np.sqrt(np.asarray(self.sample_weight, dtype=float))

    @cached_property
    def total(self) -> float:
        """The sum of the sample weights."""
        return float(self.size) if self.sample_weight is None else float(np.sum(self.sample_weight))

    def scaled(self, rows: Array) -> Array:
        """Return √w times the rows, one for each pair."""
        return rows if self.roots is None else rows * like(self.roots, rows)[:, None]

    def unscaled(self, rows: Array) -> Array:
        """Return the rows divided by √w."""
        return rows if self.roots is None else rows / like(self.roots, rows)[:, None]

    def constant(self, reference: Array) -> Array | None:
        """Return the unit vector along √w that is not penalised; None without an intercept."""
        if not self.fit_intercept:
            return None
        ones = np.ones(self.size) if self.roots is None else self.roots
        return like(ones / np.sqrt(self.total), reference)

    def centred(self, rows: Array) -> Array:
        """Return scaled rows without their part along the constant; as they are without an intercept."""
        constant = self.constant(rows)
        return rows if constant is None else rows - constant[:, None] * (constant @ rows)

    def mean(self, rows: Array) -> Array:
        """Return the weighted mean of rows that are not scaled."""
        if self.sample_weight is None:
            return namespace(rows).mean(rows, axis=0)
        return (like(np.asarray(self.sample_weight, dtype=float), rows) @ rows) / self.total

    # -- what solvers ask for -------------------------------------------------------------------------

    @property
    def members(self) -> list[np.ndarray] | None:
        """Positions of the pairs of each group; None where pairs are left out one by one."""
        if self.groups is None:
            return None
        return [np.flatnonzero(self.groups == group) for group in range(int(self.groups.max()) + 1)]

    def gram(self, matrices: float = 3.0, *, decomposed: bool = False) -> Array:
        """Return √w k √w as an array that may be overwritten.

        `matrices` of its size have to fit in memory. `decomposed` says that all its eigenvalues will be seen, so that a
        negative one need not be looked for.
        """
        # what is orthogonal to the constant does not show every negative eigenvalue
        seen = decomposed and not self.fit_intercept
        gram = own(gram_matrix(self.kernel, self.inputs, "input", matrices, decomposed=seen), self.kernel)
        if self.roots is not None:
            roots = like(self.roots, gram)
            for rows in row_blocks(gram):
                gram[rows, :] = gram[rows, :] * roots[rows, None] * roots
        return gram

    def decomposed(self, device: str | None = None) -> GramEigh:
        """Decompose the scaled Gram matrix, on what is orthogonal to the constant."""
        gram = on_device(self.gram(_EXACT_MATRICES, decomposed=True), device)
        return self.decompose(gram, f"the input Gram matrix of {self.kernel!r}")

    def decompose(self, gram: Array, name: str) -> GramEigh:
        """Decompose a scaled Gram matrix of the inputs, which is overwritten."""
        if not self.fit_intercept:
            values, vectors = eigh(gram)
            values = clip_spectrum(values, name)
            return GramEigh(vectors, values, vectors)
        gram, mean = self.centre_gram(gram, lift=True)
        values, vectors = eigh(gram)
        # the last eigenvector is the constant; its eigenvalue is of the size of k before the constant was taken off
        values, vectors = clip_spectrum(values, name)[:-1], vectors[:, :-1]
        return GramEigh(vectors, values, vectors, constant=self.constant(vectors), mean=mean)

    def centre_gram(self, gram: Array, lift: bool = False) -> tuple[Array, Array]:
        """Make a scaled Gram matrix orthogonal to the constant, in place; also return its mean kernel values.

        With `lift` the constant becomes an eigenvector whose eigenvalue is above all others.
        """
        xp, q = namespace(gram), self.constant(gram)
        assert q is not None
        along = gram @ q
        level = float(q @ along)
        half = along - 0.5 * level * q
        squares = 0.0
        for rows in row_blocks(gram):
            squares += float(xp.sum(gram[rows, :] * gram[rows, :]))
            gram[rows, :] = gram[rows, :] - q[rows, None] * half - half[rows, None] * q
        if lift:
            top = squares**0.5 or 1.0
            for rows in row_blocks(gram):
                gram[rows, :] += (2.0 * top) * q[rows, None] * q
        mean = along / self.total**0.5
        return gram, mean if self.roots is None else mean / like(self.roots, mean)

    def operator_outputs(self, inputs: Any, reference: Array) -> Outputs:
        """Return what an operator learned from the outputs looks at, in the library and on the device of `reference`."""
        rows = self.targets if self.outputs is None else self.outputs
        if rows is None:
            raise ValueError(f"operator={self.operator!r} needs an embedding with coordinates")
        rows, n = like(rows, reference), self.size
        total = self.total + rows.shape[0] - n
        if self.roots is not None:
            xp = namespace(rows)
            rows = xp.concat([self.scaled(rows[:n, :]), rows[n:, :]]) if rows.shape[0] > n else self.scaled(rows)
        if self.fit_intercept and not self.orthogonal:
            ones = np.ones(rows.shape[0])
            if self.roots is not None:
                ones[:n] = self.roots
            constant = like(ones / np.sqrt(total), rows)
            rows = rows - constant[:, None] * (constant @ rows)
        return Outputs(rows, n, self.orthogonal and self.roots is None, inputs, total)

    def operator_spectrum(self, inputs: Any, reference: Array) -> tuple[OperatorSpectrum | None, Array | None]:
        """Return the eigendecomposition of C (None for the identity) and UᵀV, where it was needed for that."""
        if self.operator.is_identity:
            return None, None
        outputs = self.operator_outputs(inputs, reference)
        spectrum = self.operator.spectrum(outputs)
        return spectrum, vars(outputs).get("inside")

    def on(self, train: np.ndarray) -> RidgeProblem:
        """Return the same problem on some of the pairs."""
        groups = None if self.groups is None else np.unique(self.groups[train], return_inverse=True)[1]
        return replace(
            self,
            inputs=sub_inputs(self.kernel, self.inputs, train, train),
            targets=None if self.targets is None else take(self.targets, train),
            sample_weight=None if self.sample_weight is None else self.sample_weight[train],
            groups=groups,
            observed=None if self.observed is None else self.observed[train],
        )


def sub_inputs(kernel: Kernel, inputs: Collection, rows: np.ndarray, columns: np.ndarray) -> Collection:
    """Return some of the inputs; of a Gram matrix, some rows and some columns."""
    chosen = take(inputs, rows)
    return take(chosen.T, columns).T if kernel.pairwise else chosen


# -- maps from inputs to points ---------------------------------------------------------------------------


@dataclass
class KernelBasis:
    """Kernel values against training inputs: all of them, or the pivots of a low-rank factor."""

    kernel: Kernel
    inputs: Any
    columns: int
    """How many training inputs there are."""
    pivots: np.ndarray | None = None

    @classmethod
    def of(cls, kernel: Kernel, inputs: Collection, pivots: np.ndarray | None = None) -> KernelBasis:
        """Prepare the training inputs once for all predictions."""
        n = count(inputs)
        if kernel.pairwise:
            return cls(kernel, inputs, n, pivots)
        basis = inputs if pivots is None else take(inputs, pivots)
        return cls(kernel, kernel.prepare(basis), n, pivots)

    def values(self, inputs: Collection) -> Array:
        """Return the kernel values of each input."""
        values = self.kernel(inputs, self.inputs)
        if self.pivots is not None and self.kernel.pairwise:
            values = take(values.T, self.pivots).T
        check_finite(values, self.kernel, "input")
        return values


@dataclass
class FeatureBasis:
    """Explicit features of the inputs."""

    map: FeatureMap
    columns: int

    def values(self, inputs: Collection) -> Array:
        """Return the features of each input."""
        return self.map(inputs)


@dataclass
class PointMap:
    r"""Points as an affine function of basis values, :math:`h(x) = \kappa_x B + b`."""

    basis: Any
    coefficients: Array
    intercept: Array | None = None

    @property
    def origin(self) -> Array | None:
        """The point of an input without any basis values; None where it is zero."""
        return self.intercept

    def points(self, inputs: Collection) -> Array:
        """Return one row of coordinates for each input, a batch at a time."""
        n, step = count(inputs), max(1, _NUMBERS // max(1, self.basis.columns))
        if n <= step:
            return self._affine(inputs)
        parts = [self._affine(take(inputs, slice(start, min(start + step, n)))) for start in range(0, n, step)]
        return namespace(parts[0]).concat(parts)

    def _affine(self, inputs: Collection) -> Array:
        found = self._linear(self.basis.values(inputs))
        return found if self.intercept is None else found + like(self.intercept, found)

    def _linear(self, values: Array) -> Array:
        return like(values, self.coefficients) @ self.coefficients


# -- protocols --------------------------------------------------------------------------------------------


class Solver(BaseEstimator):
    """A way to solve ridge problems.

    A new solver defines `supports` and `factorize`; `mercer.testing.check_solver` is its contract.
    """

    makes_gram: bool = False
    """Whether the whole Gram matrix of the inputs is made, so that folds may share it."""

    def supports(self, problem: RidgeProblem) -> str | None:
        """Return why this solver cannot solve `problem`; None where it can."""
        return None

    def factorize(self, problem: RidgeProblem) -> Factorization:
        """Do the work that is shared by all values of alpha."""
        raise TypeError(f"{type(self).__name__} must define factorize(problem)")

    def reason(self, problem: RidgeProblem) -> str:
        """Return in one sentence why this solver is picked for a problem it supports."""
        return f"{self!r} supports it"

    def report(self, factorization: Factorization, embedding: Any) -> None:
        """Note on the solver what a user may want to know of a fit."""

    def output_embedding(self) -> Any:
        """Return the embedding of outputs that goes with this solver; None where any does."""
        return None


class Factorization:
    r"""A ridge problem made ready to be solved for any value of alpha.

    A new one defines `solve`, which applies :math:`(k + \alpha I)^{-1}` for ``problem.gram()``; everything else follows from
    it, at the cost of n right-hand sides where pairs are left out. Subclasses override what they have a shorter way for.

    With the constant q that is not penalised (an intercept), :math:`G = k + \alpha I` and :math:`g = G^{-1}q`, the matrix
    :math:`M = G^{-1} - g g^\top / q^\top g` takes targets to coefficients, and the residual of a pair left out is
    :math:`(M V)_j / M_{jj}`; of a group B, :math:`(M_{BB})^{-1}(M V)_B`.
    """

    residual: float = 0.0
    """Share of the Gram matrix that is left out; 0 for exact solvers."""
    reason: str = ""
    """Why the problem is solved this way, where the solver itself does not say it."""
    reference: Any = None
    """An array of the library and the device the algebra runs on; None for those of the targets."""

    def __init__(self, problem: RidgeProblem) -> None:
        self.problem = problem

    # -- what a new one defines -----------------------------------------------------------------------

    def solve(self, right: Array, alpha: float) -> Array:
        """Return (k + αI)⁻¹ times `right`."""
        raise TypeError(f"{type(self).__name__} must define solve(right, alpha)")

    # -- what follows ---------------------------------------------------------------------------------

    def map(self, alpha: float) -> PointMap:
        """Return the map from inputs to points for one value of alpha."""
        coefficients, intercept = self.coefficients(alpha)
        return PointMap(KernelBasis.of(self.problem.kernel, self.problem.inputs), coefficients, intercept)

    def coefficients(self, alpha: float) -> tuple[Array, Array | None]:
        """Return B and b with h(x) = k_x B + b."""
        parts = [self._solved(self._targets[:, columns], a, gain) for columns, a, gain in self._directions(alpha)]
        xp = namespace(self._targets)
        dual = self._unrotated(xp.concat([part[0] for part in parts], axis=1))
        intercept = None
        if self.problem.fit_intercept:
            level = xp.concat([part[1] for part in parts])[None, :] / self.problem.total**0.5
            intercept = self._unrotated(level)[0, :]
        return self.problem.scaled(dual), intercept

    def dual(self, alpha: float) -> Array:
        """Return Z with h(x) = k_x Z C + b; for the identity operator these are the coefficients."""
        return self.coefficients(alpha)[0]

    def left_out_points(self, alpha: float) -> Array:
        """Return h₋ⱼ(xⱼ) for each pair: the point predicted by the fit without it, or without its group; C is held."""
        problem, left = self.problem, self.left_out_residuals(alpha)
        own_points = eye(problem.size, left) if problem.targets is None else like(problem.targets, left)
        points = own_points - left
        return points if problem.targets is not None else clear_own_weights(points, problem.members)

    def left_out_residuals(self, alpha: float) -> Array:
        """Return vⱼ − h₋ⱼ(xⱼ) for each pair."""
        xp, parts = namespace(self._targets), []
        for columns, a, _ in self._directions(alpha):
            inverse = self._inverse(a)
            parts.append(self._without(inverse, inverse @ self._targets[:, columns]))
        return self.problem.unscaled(self._unrotated(xp.concat(parts, axis=1)))

    def risks(self, alphas: Sequence[float], gram: Array | None = None) -> Iterator[Array]:
        """Yield ‖h₋ⱼ(xⱼ) − ψ(yⱼ)‖² of each pair, for each alpha; `gram` is L, needed where there are no targets."""
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
        if gram is not None:
            left_gram = left @ like(gram, left)
            squares = float(xp.sum(left_gram * left))
        else:
            squares = float(xp.sum(left * left))
        return squares / n / (float(xp.linalg.trace(smoother)) / n) ** 2

    @cached_property
    def scale(self) -> float:
        """The size of alpha that is neither small nor large: the mean eigenvalue of k, times the largest gain of C."""
        gram = self.problem.gram()
        constant, trace = self.problem.constant(gram), float(namespace(gram).linalg.trace(gram))
        mean = (trace if constant is None else trace - float(constant @ gram @ constant)) / self.problem.size
        return mean * (1.0 if self._spectrum is None else float(np.max(to_numpy(self._spectrum.values))))

    # -- pieces ---------------------------------------------------------------------------------------

    @cached_property
    def _targets(self) -> Array:
        """√w V Q; the identity where there are no targets."""
        problem = self.problem
        targets = problem.targets
        rows = np.eye(problem.size) if targets is None else targets
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

    def _directions(self, alpha: float) -> Iterator[tuple[slice, float, float]]:
        """Yield columns of V Q that share an alpha and a gain."""
        columns = self._targets.shape[1]
        if self._spectrum is None:
            yield slice(0, columns), alpha, 1.0
            return
        for a, gain in enumerate(to_numpy(self._spectrum.values).tolist()):
            yield slice(a, a + 1), alpha / gain if gain > 0 else np.inf, gain

    def _solved(self, right: Array, alpha: float, gain: float) -> tuple[Array, Array]:
        """Return M V times the gain over itself, and the level along the constant."""
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
        """Return M, n×n."""
        identity = eye(self.problem.size, self._targets)
        if alpha == np.inf:
            return self.problem.centred(identity)
        return self._solved(identity, alpha, 1.0)[0]

    def _without(self, inverse: Array, left: Array) -> Array:
        """Return the residuals of pairs left out, from M and M V."""
        return left_out(inverse, left, self.problem.members)

    def _unrotated(self, rows: Array) -> Array:
        vectors = None if self._spectrum is None else self._spectrum.vectors
        return rows if vectors is None else rows @ like(vectors, rows).T


def clear_own_weights(weights: Array, members: list[np.ndarray] | None) -> Array:
    """Clear the weights of pairs on themselves, or on their group, of rounding."""
    if members is None:
        return weights * (1.0 - eye(weights.shape[0], weights))
    group = np.empty(weights.shape[0])
    for number, own_group in enumerate(members):
        group[own_group] = number
    return weights * like((group[:, None] != group).astype(float), weights)


def left_out(inverse: Array, left: Array, members: list[np.ndarray] | None) -> Array:
    """Return (M_BB)⁻¹ (M V)_B for every group B, or for every pair by itself, from M and M V."""
    xp = namespace(inverse)
    if members is None:
        return left / xp.linalg.diagonal(inverse)[:, None]
    parts = [xp.linalg.solve(take(take(inverse, own).T, own).T, take(left, own)) for own in members]
    return take(xp.concat(parts), np.argsort(np.concatenate(members)))
