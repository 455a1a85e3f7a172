"""The solver for operator-valued kernels, exact if their structure allows it and by iteration otherwise."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from mercer.core import memory
from mercer.core.arrays import Array, NumericalWarning, eye, like, namespace
from mercer.core.collections import take
from mercer.core.gram_eigh import GramEigh
from mercer.core.validation import check_choice, check_real, check_whole
from mercer.operators.blocks import BlockOperator, FactoredBlocks, KroneckerSum, full
from mercer.operators.valued import OperatorValuedKernel
from mercer.solvers.base import RidgeProblem, Solver, register
from mercer.solvers.block_systems import BlockSystem, PerDirection, PerEigenvector, TwoTerms, common_basis, pencil
from mercer.solvers.conjugate_gradient import KroneckerPreconditioner, SketchedPreconditioner, conjugate_gradient
from mercer.solvers.kernel_values import FeatureBasis, PointMap, check_gram
from mercer.solvers.ridge_path import Exact, RidgePath

_SKETCH = 100  # most products for a preconditioner


class Structured(Solver):
    r"""Operator-valued kernels, :math:`(\mathbf{K} + \alpha I)\,c = y`, by the structure of the kernel.

    `mercer.OperatorValuedRidge` has a table of what is solved exactly; anything else is solved by preconditioned conjugate
    gradients.

    Parameters
    ----------
    tol : float, default=1e-10
        The relative residual an iteration stops at.
    max_iter : int, default=1000
        Most products an iteration takes.
    method : {"auto", "exact", "cg"}, default="auto"
        "exact" refuses to iterate, "cg" always does.

    Examples
    --------
    >>> Structured(tol=1e-6)
    Structured(tol=1e-06)
    """

    why = "an operator-valued kernel is solved as its structure allows"

    def __init__(self, tol: float = 1e-10, max_iter: int = 1000, method: str = "auto") -> None:
        self.tol = tol
        self.max_iter = max_iter
        self.method = method

    def supports(self, problem: RidgeProblem) -> str | None:
        """Return a reason for operators that are a matrix alone, without blocks."""
        check_choice(self.method, "solver", ("auto", "exact", "cg"))
        check_real(self.tol, "tol", 0, 1, expected="a number between 0 and 1")
        check_whole(self.max_iter, "max_iter")
        if not isinstance(problem.operator, OperatorValuedKernel):
            return f"it is for operator-valued kernels, and came with operator={problem.operator!r}; use solver='auto'"
        return None

    def factorize(self, problem: RidgeProblem) -> BlockSystem:
        """Find the structure of the blocks."""
        kernel = problem.operator
        assert isinstance(kernel, OperatorValuedKernel)
        features = kernel.feature_map(problem.inputs) if self.method != "cg" else None
        if features is not None:
            rows = features(problem.inputs)
            return Factored(problem, FactoredBlocks(rows, rows), FeatureBasis(features, rows.shape[1] * rows.shape[2]))
        n, scalar = problem.size, kernel.kernels()
        way_out = "fit on fewer pairs, or use finite features (Entangled or PartialTrace with Nystroem)"
        memory.require(n, n, 4.0 + 4.0 * len(scalar), "the fit", way_out)
        blocks = kernel.gram(problem.inputs)
        for each, gram in zip(scalar, blocks.scalar_grams(), strict=False):
            check_gram(gram, each, "input")
        if self.method != "cg":
            found = _exact_system(problem, blocks)
            if found is not None:
                return found
            if self.method == "exact":
                missing = "" if problem.observed is None else " with missing outputs"
                raise ValueError(
                    f"solver='exact', and nothing takes this system{missing} apart: expected one separable term, terms whose "
                    "matrices or Gram matrices commute, or finite features. Use solver='auto', which iterates to tol"
                )
        return Iterative(problem, blocks, float(self.tol), int(self.max_iter))


def _scaled_grams(problem: RidgeProblem, blocks: BlockOperator) -> list[Array]:
    """The scalar Gram matrices of a sum of separable kernels, times √w on both sides."""
    grams = blocks.scalar_grams()
    if problem.roots is None:
        return grams
    return [problem.scale_gram(namespace(gram).asarray(gram, copy=True)) for gram in grams]


def _exact_system(problem: RidgeProblem, blocks: BlockOperator) -> BlockSystem | None:
    """The system that takes the blocks apart; None if nothing does."""
    if not isinstance(blocks, KroneckerSum):
        return None
    grams = _scaled_grams(problem, blocks)
    if problem.observed is not None:
        diagonals = [T for T in map(_as_diagonal, blocks.matrices) if T is not None]
        basis = common_basis(diagonals) if len(diagonals) == len(grams) else None
        return None if basis is None else PerDirection(problem, blocks, grams, basis)
    basis = common_basis(blocks.matrices)
    if basis is not None and len(grams) != 2:
        return PerDirection(problem, blocks, grams, basis)
    centred = grams
    if problem.fit_intercept:
        xp = namespace(blocks.reference)
        centred = [problem.centre_gram(xp.asarray(gram, copy=True))[0] for gram in grams]
    if basis is not None:
        found = pencil(basis.values, centred)
        return PerDirection(problem, blocks, grams, basis) if found is None else TwoTerms(problem, blocks, found, basis)
    basis = common_basis(centred)
    return None if basis is None else PerEigenvector(problem, blocks, basis)


def _as_diagonal(T: Array) -> Array | None:
    """The diagonal of T; None if other entries are not zero."""
    if T.ndim == 1:
        return T
    diagonal = namespace(T).linalg.diagonal(T)
    return None if bool(namespace(T).any(full(diagonal) != T)) else diagonal


class Factored(BlockSystem):
    r"""Blocks :math:`F(x)F(z)^\top`: one ridge regression with r coefficients, without the rows of missing outputs."""

    reason = "finite features: ridge regression with r coefficients"

    def __init__(self, problem: RidgeProblem, blocks: FactoredBlocks, basis: FeatureBasis) -> None:
        super().__init__(problem, blocks)
        self.basis, self.features, features = basis, blocks.left, blocks.left
        xp = namespace(features)
        n, p, r = features.shape
        B = features if self.observed is None else features * self.observed[:, :, None]
        if problem.roots is not None:
            B = B * like(problem.roots, B)[:, None, None]
        Y, q = self.Y, self.constants(B)
        if q is not None:
            B = B - q[:, :, None] * xp.sum(q[:, :, None] * B, axis=0)
            Y = Y - q * xp.sum(q * Y, axis=0)
        self.path = RidgePath(GramEigh.of_features(xp.reshape(B, (n * p, r))), xp.reshape(Y, (n * p, 1)))
        self.centred = Y

    def map(self, alpha: float) -> PointMap:
        """Return the map from inputs to points, h(x) = F(x) w + b."""
        weights = self.path.coefficients(alpha)[0][:, 0]
        return PointMap(self.basis, weights, self._intercept(self.features @ weights))

    def _residuals(self, alpha: float) -> Array:
        """Y − h(x) on the training inputs, times √w."""
        xp, path = namespace(self.Y), self.path
        values = path.spectrum.values[:, None]
        fitted = path.spectrum.vectors @ (values / (values + alpha) * path.inside)
        return self.centred - xp.reshape(fitted, tuple(self.Y.shape))

    def _dual(self, alpha: float) -> Array:
        return self._residuals(alpha) / alpha

    def left_out_residuals(self, alpha: float) -> Array:
        """Return yᵢ − h₋ᵢ(xᵢ) from the blocks of the smoother, of each pair or group."""
        xp, (n, p), values, q = namespace(self.Y), self.Y.shape, self.path.spectrum.values, self.constants(self.Y)
        rows = xp.reshape(self.path.spectrum.vectors, (n, p, -1))

        def smoother(own: np.ndarray) -> Array:
            groups, size = own.shape
            some = xp.reshape(take(rows, own), (groups, size * p, -1))
            fitted = xp.matmul(some * (values / (values + alpha)), xp.matrix_transpose(some))
            if q is not None:
                along = take(q, own)
                outer = along[:, :, :, None, None] * eye(p, q)[None, None, :, None, :] * along[:, None, None, :, :]
                fitted = fitted + xp.reshape(outer, fitted.shape)
            return eye(size * p, self.Y)[None, :, :] - fitted

        return self._blocks_left_out(self._residuals(alpha), smoother, rows.shape[2])


class Iterative(BlockSystem):
    """Preconditioned conjugate gradients, without missing outputs.

    The preconditioner solves the nearest separable system for sums of separable kernels, and deflates the large eigenvalues of
    other blocks.
    """

    exact = False
    solution: Any = None
    """The `Solution` of the last iteration."""

    def __init__(self, problem: RidgeProblem, blocks: BlockOperator, tol: float, max_iter: int) -> None:
        super().__init__(problem, blocks)
        self.tol, self.max_iter = tol, max_iter
        self.roots = None if problem.roots is None else like(problem.roots, blocks.reference)[:, None]
        self.q = self.constants(self.Y)
        self.preconditioner: Any
        matrices = getattr(blocks, "matrices", None)
        if matrices is not None:
            self.preconditioner = KroneckerPreconditioner(_scaled_grams(problem, blocks), matrices)
            self.reason = "conjugate gradients, preconditioned by the nearest separable kernel"
        else:
            size = self.Y.shape[0] * self.Y.shape[1]
            self.preconditioner = SketchedPreconditioner(self._product, self.Y, max(1, min(_SKETCH, size // 5)))
            self.reason = "conjugate gradients, preconditioned by a sketch of the blocks"

    def _seen(self, values: Array) -> Array:
        """Values without missing outputs, orthogonal to the constants."""
        values = values if self.observed is None else values * self.observed
        return values if self.q is None else values - self.q * namespace(values).sum(self.q * values, axis=0)

    def _product(self, C: Array) -> Array:
        C = self._seen(C)
        if self.roots is None:
            return self._seen(self.blocks.matvec(C))
        return self._seen(self.roots * self.blocks.matvec(self.roots * C))

    def _dual(self, alpha: float) -> Array:
        found = conjugate_gradient(
            lambda C: self._product(C) + alpha * C,
            self._seen(self._seen(self.Y)),  # twice, since a large mean leaves rounding along the constants
            lambda R: self._seen(self.preconditioner(self._seen(R), alpha)),
            self.tol,
            self.max_iter,
        )
        self.solution = found
        if not found.converged:
            warnings.warn(
                f"conjugate gradients stopped after {found.iterations} iterations at a relative residual of "
                f"{found.residual:.3g}, and tol={self.tol:g} was asked for; raise max_iter, alpha or tol",
                NumericalWarning,
                stacklevel=3,
            )
        return found.values

    def left_out_residuals(self, alpha: float) -> Array:
        """Raise: an iteration has no exact leave-one-out."""
        raise ValueError(
            "choosing alpha with missing outputs needs exact leave-one-out, and this system is solved by iteration. Give alpha "
            "as a number, search over it with GridSearchCV, or use a kernel whose structure is solved exactly (see "
            "mercer.solvers.Structured)"
        )


register(Structured(), after=Exact)
