"""Exact solvers by an eigendecomposition, of the Gram matrix or of features, for all values of alpha at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mercer.core import memory
from mercer.core.arrays import Array, cached_property, eye, is_numpy_array, like, namespace, to_numpy
from mercer.core.collections import take
from mercer.core.gram_eigh import GramEigh
from mercer.core.validation import check_choice
from mercer.kernels.features import FeatureMap
from mercer.kernels.grams import row_blocks
from mercer.operators.base import OperatorSpectrum
from mercer.operators.identity import Identity
from mercer.solvers.base import RidgeProblem, Solver, register, separable_only
from mercer.solvers.factorization import Factorization, by_size, clear_own_weights, left_out
from mercer.solvers.filters import Filters, inside_gram
from mercer.solvers.kernel_values import FeatureBasis, PointMap

_BLOCK = 256  # columns of an n×r temporary that are made at a time
_FEW = 256  # pairs below which products cost too little to be saved
_SMALLEST = 1e-5  # least 1 − Hⱼⱼ, relative to the largest it could be, at which values of alpha can share products


class RidgePath(Factorization):
    r"""Vector-valued kernel ridge regression, :math:`k Z C + \alpha Z = V`, :math:`h(x) = k_x^\top Z C + b`.

    With :math:`k = U S U^\top` and :math:`C = Q\,\mathrm{diag}(c)\,Q^\top` the smoother of output direction a is
    :math:`I - U\,\mathrm{diag}(R_{\cdot a})\,U^\top`, :math:`R_{ia} = \alpha / (s_i c_a + \alpha)`. The coefficients, exact
    leave-one-out, folds and GCV follow from R. An intercept is a direction outside U with R = 0.

    Parameters
    ----------
    spectrum : GramEigh
        The decomposed input Gram matrix.
    targets : array (n, r), optional
        V, times the roots of the sample weights; None for the n×n identity, whose points are weights on the training outputs.
    operator : OperatorSpectrum, optional
        C; None for the identity.
    penalty : {"function", "coefficients"}
        The norm of the function, :math:`k + \alpha I`, or the sum of squared coefficients, :math:`k^2 + \alpha I` (Weston's
        technical report).
    inside : array (m, r), optional
        :math:`U^\top V`, if it is known already.
    """

    def __init__(
        self,
        spectrum: GramEigh,
        targets: Array | None,
        operator: OperatorSpectrum | None = None,
        penalty: str = "function",
        inside: Array | None = None,
    ) -> None:
        self.spectrum, self.penalty, self.operator = spectrum, penalty, operator
        self.rotation = operator.vectors if operator is not None else None
        xp = namespace(spectrum.values)
        ones = xp.ones((1,), dtype=spectrum.vectors.dtype, device=getattr(spectrum.vectors, "device", None))
        self.gains = ones if operator is None else operator.values
        self.residual = spectrum.residual
        self.complete = spectrum.complete
        self.roots: Array | None = None
        self.members: list[np.ndarray] | None = None
        self.basis: Any = None
        self.targets: Any = targets
        if targets is None:
            self.inside = spectrum.vectors.T
        else:
            self.inside = self._rotate(spectrum.vectors.T @ targets if inside is None else inside)

    @classmethod
    def of(cls, problem: RidgeProblem, spectrum: GramEigh, basis: Any = None, penalty: str = "function") -> RidgePath:
        """Return the path of a problem whose input Gram matrix is decomposed, with the `basis` of predictions."""
        reference = spectrum.vectors
        operator, inside = problem.operator_spectrum(spectrum, reference)
        targets = None if problem.targets is None else problem.scaled(like(problem.targets, reference))
        if inside is None and targets is not None:
            # U is orthogonal to the constant but for rounding, which a large mean would show
            inside = spectrum.vectors.T @ problem.centred(targets)
        path = cls(spectrum, targets, operator, penalty, inside)
        path.problem, path.basis, path.members = problem, basis, problem.members
        if problem.roots is not None:
            path.roots = like(problem.roots, reference)
            if targets is None:
                path.inside = problem.scaled(reference).T
        return path

    def _residual(self, alpha: float, part: slice | None = None) -> Array:
        """R, of shape (m, 1) or (m, r), or some of its columns."""
        s = self.spectrum.values[:, None]
        if self.penalty == "coefficients":
            return alpha / (s * s + alpha)
        gains = self.gains if part is None or self.gains.shape[0] == 1 else self.gains[part]
        return alpha / (s * gains + alpha)

    def _gained(self, alpha: float) -> Array:
        """(1 − R) / s applied to UᵀV: the coefficients on k_x U."""
        s = self.spectrum.values[:, None]
        if self.penalty == "coefficients":
            return self.inside * (s / (s * s + alpha))
        xp = namespace(self.inside)
        gained = xp.empty_like(self.inside)
        for rows in row_blocks(gained):
            gained[rows, :] = self.gains / (s[rows, :] * self.gains + alpha) * self.inside[rows, :]
        # k_x has no part along eigenvectors of eigenvalue zero but rounding, which a small alpha would show
        return gained if float(xp.min(s)) > 0 else gained * xp.astype(s > 0, gained.dtype)

    def _rotate(self, points: Array) -> Array:
        return points if self.rotation is None else points @ self.rotation

    def _unrotate(self, points: Array) -> Array:
        return points if self.rotation is None else points @ self.rotation.T

    def map(self, alpha: float) -> PointMap:
        """Return the map from inputs to points."""
        return PointMap(self.basis, *self.coefficients(alpha))

    def coefficients(self, alpha: float) -> tuple[Array, Array | None]:
        """Return B and b with h(x) = κ_x B + b, for the values κ_x of the basis."""
        spectrum = self.spectrum
        found = spectrum.basis @ self._unrotate(self._gained(alpha))
        if self.roots is not None and spectrum.pivots is None and spectrum.basis is spectrum.vectors:
            found = found * self.roots[:, None]
        if spectrum.constant is None:
            return found, None
        return found, self._mean_target() - spectrum.mean @ found

    def centred_solve(self, right: Array, alphas: Array) -> Array:
        """Return (k + αI)⁻¹ times `right`, which is orthogonal to the constant, with an alpha for each column."""
        vectors, values = self.spectrum.vectors, self.spectrum.values[:, None]
        # with less than rounding the result would not be positive definite where U is orthonormal only roughly
        rounding = 1000.0 * float(namespace(values).finfo(values.dtype).eps) * float(values[-1, 0])
        alphas = namespace(alphas).clip(alphas, rounding, None)
        return (right - vectors @ (values / (values + alphas) * (vectors.T @ right))) / alphas

    def dual(self, alpha: float) -> Array:
        """Return Z, the solution of k Z C + αZ = V orthogonal to the constant."""
        xp = namespace(self.inside)
        residual = xp.concat(list(self._residual_blocks(alpha)), axis=1)
        dual = self._unrotate(residual) / alpha
        return dual if self.roots is None else dual * self.roots[:, None]

    def left_out_points(self, alpha: float) -> Array:
        """Return h₋ⱼ(xⱼ) for each pair: the point predicted by the fit without it, or without its group; C is held."""
        left = self.left_out_residuals(alpha)
        if self.targets is None:
            return clear_own_weights(-left, self.members)
        return self._unscaled(self.targets) - left

    def some_left_out_points(self, alpha: float, rows: np.ndarray) -> Array:
        """Return the left-out points of some pairs, with as much less work where pairs are left out one by one."""
        if self.targets is None or self.members is not None or self.operator is not None:
            return take(self.left_out_points(alpha), rows)
        residual, vectors = self._residual(alpha), take(self.spectrum.vectors, rows)
        if self.complete:
            left = vectors @ (residual * self.inside)
        else:
            left = take(self._rotated, rows) - vectors @ ((1.0 - residual) * self.inside)
        left = self._unscaled(left / take(self._diagonal(residual), rows), rows)
        return take(self._unscaled(self.targets), rows) - left

    def left_out_residuals(self, alpha: float) -> Array:
        """Return vⱼ − h₋ⱼ(xⱼ) for each pair; of weights on the training outputs without targets."""
        if self.targets is None:
            smoother = self._smoother(alpha)
            left = left_out(smoother, smoother, self.members)
        elif self.members is not None:
            left = self._groups_left_out(alpha)
        else:
            left = self._unrotate(namespace(self.inside).concat(list(self._loo_blocks(alpha)), axis=1))
        return self._unscaled(left)

    def risks(self, alphas: Sequence[float], gram: Array | None = None) -> Iterator[Array]:
        """Yield ‖h₋ⱼ(xⱼ) − ψ(yⱼ)‖² of each pair for each alpha; values of alpha share products."""
        if self.members is not None:
            yield from super().risks(alphas, gram)
            return
        for risk in self._risks(alphas, gram):
            yield risk if self.roots is None else risk / self.roots**2

    def _risks(self, alphas: Sequence[float], gram: Array | None) -> Iterator[Array]:
        if self.targets is None:
            assert gram is not None
            for alpha in alphas:
                yield self._quadratic(alpha, gram) / self._diagonal(self._residual(alpha))[:, 0] ** 2
            return
        if self.gains.shape[0] == 1:
            yield from self._risks_filtered(alphas)
            return
        # side by side in at most one n×n matrix
        most = max(1, self.targets.shape[0] // self.targets.shape[1])
        for some in np.array_split(np.asarray(alphas), -(-len(alphas) // most)):
            yield from self._risks_together(some.tolist())

    def generalized_risk(self, alpha: float, gram: Array | None = None) -> float:
        """Return the mean squared residual over the squared mean of 1 − Hⱼⱼ."""
        xp = namespace(self.inside)
        n = self.spectrum.vectors.shape[0]
        residual = self._residual(alpha)
        unseen = n - self.spectrum.values.shape[0] - (self.spectrum.constant is not None)
        free = float(xp.mean(xp.sum(residual, axis=0))) + unseen
        if self.targets is None:
            assert gram is not None
            squares = float(xp.sum(self._quadratic(alpha, gram)))
        else:
            squares = sum(float(xp.sum(r * r)) for r in self._residual_blocks(alpha))
        return squares / n / (free / n) ** 2

    def fold_residuals(self, alpha: float, folds: Sequence[np.ndarray]) -> list[Array]:
        """Return ψ(y) − h₋B(x) in coordinates for each fold B, fitted without it. Identity operator only."""
        smoother = self._smoother(alpha)
        left = smoother if self.targets is None else smoother @ self._rotated
        solve = namespace(smoother).linalg.solve
        blocks = [take(take(smoother, fold).T, fold).T for fold in folds]
        return [self._unscaled(solve(S, take(left, fold)), fold) for S, fold in zip(blocks, folds, strict=True)]

    def on_weights(self) -> RidgePath:
        """Return the same path with weights on the training outputs for targets, and the identity operator."""
        problem = replace(self.problem, targets=None, operator=Identity())
        return RidgePath.of(problem, self.spectrum, self.basis, self.penalty)

    @property
    def scale(self) -> float:
        """The size of alpha that is neither small nor large: the mean eigenvalue of k, times the largest gain of C."""
        scale = float(np.sum(to_numpy(self.spectrum.values))) / self.spectrum.vectors.shape[0]
        return scale**2 if self.penalty == "coefficients" else scale * float(np.max(to_numpy(self.gains)))

    def _unscaled(self, left: Array, own: Any = slice(None)) -> Array:
        """Residuals of all or some pairs, without the roots of the weights."""
        if self.roots is None:
            return left
        left = left / take(self.roots, own)[:, None]
        return left * self.roots if self.targets is None else left

    def _mean_target(self) -> Array:
        """The weighted mean of the targets; of weights, the weights of the mean."""
        along = self.spectrum.constant
        assert along is not None
        weights = along if self.roots is None else along * self.roots
        return (weights if self.targets is None else along @ self.targets) / float(namespace(along).sum(weights))

    def _smoother(self, alpha: float) -> Array:
        """S = I − H, for the identity operator."""
        vectors, residual, along = self.spectrum.vectors, self._residual(alpha)[:, 0], self.spectrum.constant
        n = vectors.shape[0]
        way_out = "give outputs coordinates: embedding=Pivoted(rank)"
        memory.require(n, n, 2, "the weights of every pair left out", way_out)
        if self.complete:
            return (vectors * residual) @ vectors.T
        smoother = eye(n, vectors) - (vectors * (1.0 - residual)) @ vectors.T
        return smoother if along is None else smoother - along[:, None] * along

    def _diagonal(self, residual: Array) -> Array:
        """1 − Hⱼⱼ for each training pair and output direction."""
        xp, along = namespace(residual), self.spectrum.constant
        inside = self._squares @ residual
        if self.complete:
            return inside
        unseen = 1.0 - xp.sum(self._squares, axis=1)
        return inside + (unseen if along is None else unseen - along * along)[:, None]

    @cached_property
    def _squares(self) -> Array:
        return self.spectrum.vectors**2

    def _groups_left_out(self, alpha: float) -> Array:
        """(S_BB)⁻¹ (S V)_B of every group B, in each output direction, and back."""
        xp = namespace(self.inside)
        assert self.members is not None
        residual = self._residual(alpha)
        left = xp.concat(list(self._residual_blocks(alpha)), axis=1)
        filters = residual.T if self.complete else residual.T - 1.0
        # groups of one size together where one filter serves all directions, one by one where each has its own
        batches = self._batches if filters.shape[0] == 1 else [own[None, :] for own in self.members]
        parts = [self._batch_left_out(filters, left, own) for own in batches]
        order = np.concatenate([own.ravel() for own in batches])
        return self._unrotate(take(xp.concat(parts), np.argsort(order)))

    @cached_property
    def _batches(self) -> list[np.ndarray]:
        return by_size(self.members or [])

    def _batch_left_out(self, filters: Array, left: Array, own: np.ndarray) -> Array:
        """Solve for groups (g, b) of the same size; (g b, r)."""
        xp, along = namespace(left), self.spectrum.constant
        number, size = own.shape
        rows = xp.reshape(take(self.spectrum.vectors, own.ravel()), (number, size, -1))
        right = xp.reshape(take(left, own.ravel()), (number, size, -1))
        # one system for each filter
        blocks = xp.matmul(rows * filters[:, None, :], xp.matrix_transpose(rows))
        if not self.complete:
            blocks = blocks + eye(size, rows)[None, :, :]
            if along is not None:
                constant = xp.reshape(take(along, own.ravel()), (number, size))
                blocks = blocks - constant[:, :, None] * constant[:, None, :]
        if filters.shape[0] == 1:
            return xp.reshape(xp.linalg.solve(blocks, right), (number * size, -1))
        return xp.linalg.solve(blocks, right[0, :, :].T[:, :, None])[:, :, 0].T

    def _risks_filtered(self, alphas: Sequence[float]) -> list[Array]:
        """The risks of many alphas where one filter serves all output directions."""
        xp = namespace(self.inside)
        if self.spectrum.vectors.shape[0] < _FEW:
            together = len(alphas) * self.inside.shape[1] <= _BLOCK
            return self._risks_together(alphas) if together else [self._risk(float(alpha)) for alpha in alphas]
        residuals = xp.concat([self._residual(float(alpha)) for alpha in alphas], axis=1)
        vectors, diagonals = self.spectrum.vectors, self._diagonal(residuals)
        if self.complete:
            largest = xp.max(residuals, axis=0)
            diagonals = diagonals / largest
            squares = Filters(residuals / largest).squared_norms(vectors, self.inside)
        else:
            squares = Filters(residuals - 1.0).squared_norms(vectors, self.inside, self._rotated)
        # a pair with 1 − Hⱼⱼ near zero divides by next to nothing, and rounding shows
        sound = to_numpy(xp.min(diagonals, axis=0)) > _SMALLEST
        return [
            squares[:, i] / diagonals[:, i] ** 2 if sound[i] else self._risk(float(alpha))
            for i, alpha in enumerate(alphas)
        ]

    def _risk(self, alpha: float) -> Array:
        """The risk of one alpha, product by product."""
        xp = namespace(self.inside)
        return sum(xp.sum(r * r, axis=1) for r in self._loo_blocks(alpha))

    def _risks_together(self, alphas: Sequence[float]) -> list[Array]:
        """The risks of a few alphas, with targets side by side, since one wide product is faster."""
        xp = namespace(self.inside)
        if len(alphas) == 1:
            return [self._risk(float(alphas[0]))]
        vectors, complete = self.spectrum.vectors, self.complete
        residuals = xp.stack([self._residual(float(alpha)) for alpha in alphas], axis=1)
        diagonals = self._diagonal(xp.reshape(residuals, (residuals.shape[0], -1)))
        diagonals = xp.reshape(diagonals, (vectors.shape[0], *residuals.shape[1:]))
        wide = (residuals if complete else residuals - 1.0) * self.inside[:, None, :]
        left = vectors @ xp.reshape(wide, (wide.shape[0], -1))
        left = xp.reshape(left, (vectors.shape[0], *wide.shape[1:]))
        left = (left if complete else self._rotated[:, None, :] + left) / diagonals
        risks = xp.vecdot(left, left)
        return [risks[:, i] for i in range(len(alphas))]

    @cached_property
    def _rotated(self) -> Array:
        """V Q orthogonal to the constant, for eigenvectors that do not span the whole space."""
        along, rows = self.spectrum.constant, self._rotate(self.targets)
        return rows if along is None else rows - along[:, None] * (along @ rows)

    def _parts(self) -> Iterator[slice]:
        """Blocks of output directions."""
        columns = self.inside.shape[1]
        return (slice(start, min(start + _BLOCK, columns)) for start in range(0, columns, _BLOCK))

    def _residual_blocks(self, alpha: float) -> Iterator[Array]:
        """Blocks of columns of (V − H V) Q."""
        vectors = self.spectrum.vectors
        for part in self._parts():
            residual = self._residual(alpha, part)
            if self.complete:
                yield vectors @ (residual * self.inside[:, part])
            else:
                yield self._rotated[:, part] - vectors @ ((1.0 - residual) * self.inside[:, part])

    def _loo_blocks(self, alpha: float) -> Iterator[Array]:
        """Blocks of columns of what is left of V Q when each pair is left out."""
        shared = self._diagonal(self._residual(alpha)) if self.gains.shape[0] == 1 else None
        for part, left in zip(self._parts(), self._residual_blocks(alpha), strict=True):
            yield left / (self._diagonal(self._residual(alpha, part)) if shared is None else shared)

    def _quadratic(self, alpha: float, gram: Array) -> Array:
        """(S L S)ⱼⱼ for each training pair: one product of n×n matrices."""
        vectors, residual = self.spectrum.vectors, self._residual(alpha)[:, 0]
        xp = namespace(vectors)
        if not hasattr(self, "_whole"):
            self._diagonal_of_gram, self._half, self._whole = inside_gram(
                like(gram, vectors), self.spectrum, self.roots
            )
        if self.complete:
            middle = self._whole * residual * residual[:, None]
            return xp.sum((vectors @ middle) * vectors, axis=1)
        kept = vectors * (1.0 - residual)
        square = xp.sum((kept @ self._whole) * kept, axis=1)
        return self._diagonal_of_gram - 2.0 * xp.sum(kept * self._half.T, axis=1) + square


class Exact(Solver):
    r"""Everything from :math:`k = U S U^\top`: any separable operator, all values of alpha, exact leave-one-out. O(n³).

    Parameters
    ----------
    penalty : {"function", "coefficients"}, default="function"
        "function" is kernel ridge regression, :math:`(k + \alpha I)^{-1}` (Weston NIPS 2002, Cortes, Kadri).
        "coefficients" penalises the sum of squared coefficients, :math:`(k^2 + \alpha I)^{-1} k` (Weston's technical
        report, eq. 6); leave-one-out then holds the basis of kernel functions fixed. Identity operator only.
    device : str, optional
        Where the algebra runs, through PyTorch: ``"cuda"``, ``"cpu"``. By default where the Gram matrix is.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Linear
    >>> from mercer.solvers import RidgeProblem
    >>> problem = RidgeProblem(Linear(), np.eye(3), np.eye(3), fit_intercept=False)
    >>> Exact().factorize(problem).spectrum.values.tolist()
    [1.0, 1.0, 1.0]
    """

    makes_gram = True

    def __init__(self, penalty: str = "function", device: str | None = None) -> None:
        self.penalty = penalty
        self.device = device

    def supports(self, problem: RidgeProblem) -> str | None:
        """Return a reason for operators that are not separable, missing targets, and operators with the other penalty."""
        if self.penalty != "function":
            check_choice(self.penalty, "penalty", ("function", "coefficients"))
            if not problem.operator.is_identity:
                return f"penalty={self.penalty!r} goes with operator=Identity() only; use penalty='function'"
        return separable_only(problem)

    def reason(self, problem: RidgeProblem) -> str:
        """Return why this solver is chosen."""
        if problem.operator.is_identity:
            return "choosing alpha needs the whole path, which one eigendecomposition gives"
        return f"{type(problem.operator).__name__} couples the outputs, and eigendecompositions uncouple them exactly"

    def matrices(self, problem: RidgeProblem) -> float:
        """Return about three, or five of other libraries than NumPy, and more with many targets."""
        return problem.matrices(3.2 if is_numpy_array(problem.inputs) else 5.0)

    def factorize(self, problem: RidgeProblem) -> RidgePath:
        """Make the Gram matrix and decompose it."""
        return RidgePath.of(problem, problem.decomposed(self.device), problem.basis(), self.penalty)


class ExplicitFeatures(Solver):
    r"""Few explicit features, :math:`k = \Phi\Phi^\top`: O(n m²) where the Gram matrix costs O(n³). Exact.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Linear
    >>> from mercer.solvers import RidgeProblem
    >>> X = np.random.default_rng(0).standard_normal((6, 2))
    >>> ExplicitFeatures().factorize(RidgeProblem(Linear(), X, X)).spectrum.vectors.shape
    (6, 2)
    """

    why = "{kernel!r} has few features: m×m in place of n×n"

    def supports(self, problem: RidgeProblem) -> str | None:
        """Return a reason for kernels that do not have fewer features than there are pairs."""
        if problem.targets is None:
            return "points are weights on all training outputs"
        against = separable_only(problem)
        found = self._features(problem) if against is None else None
        if found is None or not found.dimension < problem.size:
            return against or f"{problem.kernel!r} does not have fewer explicit features than there are pairs"
        return None

    def factorize(self, problem: RidgeProblem) -> RidgePath:
        """Decompose the m×m matrix of the features."""
        features = self._features(problem)
        assert features is not None
        spectrum = problem.decompose_features(features(problem.inputs))
        return RidgePath.of(problem, spectrum, FeatureBasis(features, features.dimension))

    def _features(self, problem: RidgeProblem) -> FeatureMap | None:
        # sparse features (n-grams, substructures) go through products of sparse rows
        return problem.kernel.feature_map(problem.inputs) if problem.kernel.takes_vectors else None


register(Exact())
register(ExplicitFeatures())
