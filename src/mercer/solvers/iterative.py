"""Exact ridge regression without the Gram matrix, by conjugate gradients."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from mercer.core import memory
from mercer.core.arrays import (
    Array,
    NumericalWarning,
    cached_property,
    is_array,
    is_numpy_array,
    like,
    namespace,
    to_numpy,
)
from mercer.core.validation import check_choice, check_real, check_whole
from mercer.embeddings.pivoted import Pivoted
from mercer.operators.base import OperatorSpectrum
from mercer.solvers.base import RidgeProblem, Solver, register, separable_only
from mercer.solvers.conjugate_gradient import iterate
from mercer.solvers.factorization import Factorization
from mercer.solvers.kernel_products import KernelProducts, serves_single
from mercer.solvers.low_rank import COPIES, LowRank, blocks_only, warn_of_outputs
from mercer.solvers.streamed import most_features
from mercer.solvers.structured import Structured

_LEAST_TOL = 1e-14
"""A relative residual below which double precision does not get."""

_MOST_PAIRS = 200_000
"""Most pairs of vectors that `Auto` leaves to conjugate gradients; a tenth of other objects, ten times as many on a device."""

_SHARE = 1e-12
"""The share of the trace that a low-rank model need not hold."""

_SINGLE_FROM, _SINGLE_FROM_ON_DEVICE = 8192, 200_000
"""Pairs from which products in single precision save time; later on a device, where double precision costs less."""

_SINGLE_GAIN, _SINGLE_MOST = 1e-5, 50
"""The share of the residual that products in single precision are trusted to leave, and the most of them before the residual is
computed in double precision."""

_LEAST_RANK, _PER_ROOT = 200, 15
"""Columns of the default preconditioner: at least, and for each unit of √n."""


class ConjugateGradient(Solver):
    r"""Kernel ridge regression to a stated residual, in the memory of n·rank numbers: kernel values are never stored.

    .. math:: (c_a k + \alpha I)\, z_a = V q_a, \qquad \|V q_a - (c_a k + \alpha I) z_a\| \le tol\, \|V q_a\|

    for all output directions at once, :math:`C = Q\,\mathrm{diag}(c)\,Q^\top`. A low-rank factor of k (randomly pivoted
    Cholesky, as in `LowRank`) preconditions the iteration. If alpha is to be chosen, it is chosen on the path of that factor,
    and the solution for the chosen alpha is exact. Left-out points are those of the low-rank model too, exactly.

    Parameters
    ----------
    rank : int, optional
        Columns of the preconditioner; more of them save iterations. By default 15√n, at least 200, if memory allows.
    tol : float, default=1e-8
        The relative residual to reach, from 1e-14 to 1.
    max_iter : int, default=500
        Most products with k.
    device : str, optional
        Where the algebra runs, through PyTorch; by default where the kernel values are.
    precision : {"auto", "single", "double"}, default="auto"
        Arithmetic of the products with k. In single precision, which is for vectors in memory, the solution is refined by
        residuals in double precision until these are below tol; if a refinement gains nothing, the iteration goes on in double
        precision. "auto" is single precision for 8,192 vectors or more, 200,000 on a device.
    random_state : int, default=0
        Seed of the columns.

    Attributes
    ----------
    n_iter_ : int
        Products with k that the last solution took, in either precision.
    residual_ : float
        The largest relative residual of an output direction.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> from mercer.solvers import RidgeProblem
    >>> X = np.random.default_rng(0).standard_normal((500, 3))
    >>> problem = RidgeProblem(Gaussian(1.0), X, X, alpha=0.1, fit_intercept=False)
    >>> B, _ = ConjugateGradient(rank=50).factorize(problem).coefficients(0.1)
    >>> bool(np.allclose(Gaussian(1.0)(X) @ B + 0.1 * B, X, atol=1e-6))
    True
    """

    def __init__(  # noqa: PLR0913 - parameters of a solver
        self,
        rank: int | None = None,
        tol: float = 1e-8,
        max_iter: int = 500,
        device: str | None = None,
        precision: str = "auto",
        random_state: int = 0,
    ) -> None:
        self.rank = rank
        self.tol = tol
        self.max_iter = max_iter
        self.device = device
        self.precision = precision
        self.random_state = random_state

    reads_blocks = True

    def supports(self, problem: RidgeProblem) -> str | None:
        """Return a reason for operators that are not separable, missing targets, and what inputs in blocks do not have."""
        return separable_only(problem) or blocks_only(problem)

    def reason(self, problem: RidgeProblem) -> str:
        """Return why this solver is chosen."""
        return f"conjugate gradients, which need no n×n matrix, are exact to a relative residual of {self.tol:g}"

    def too_large(self, problem: RidgeProblem) -> str | None:
        """Return a reason for so many pairs that each product would take minutes, and for weights on all outputs."""
        n, most = problem.size, _MOST_PAIRS if problem.kernel.takes_vectors else _MOST_PAIRS // 10
        most = most if is_numpy_array(problem.inputs) or not is_array(problem.inputs) else 10 * most
        if n > most:
            return f"{self!r} would compare {n} inputs with each other again and again, and {most} is the most it is chosen for"
        if problem.targets is None:
            return f"{self!r} is for outputs with coordinates"
        return None

    def output_embedding(self) -> Pivoted:
        """Return coordinates of the outputs from a factor of their Gram matrix, which is not formed."""
        return Pivoted(self.rank or 1000, self.tol, random_state=self.random_state)

    def factorize(self, problem: RidgeProblem) -> IterativeRidge:
        """Factor few columns of the Gram matrix, for the choice of alpha and as a preconditioner."""
        expected = f"a relative residual from {_LEAST_TOL:g}, the least that double precision reaches, to 1"
        tol = check_real(self.tol, "tol", _LEAST_TOL, 1, closed="left", expected=expected)
        max_iter = check_whole(self.max_iter, "max_iter")
        if self.rank is not None:
            check_whole(
                self.rank, "rank", expected="a positive whole number, the columns of the preconditioner, or None"
            )
        rank = self.rank or self._default_rank(problem)
        whole = LowRank(rank, _SHARE, self.device, "random", self.random_state)
        found: Any = whole.set_params(tol=self._share(problem)).approximation(problem)
        found.solver = whole.set_params(tol=_SHARE)  # for left-out points, the best model of this rank
        return IterativeRidge(problem, found, float(tol), int(max_iter), self._single(problem))

    def _single(self, problem: RidgeProblem) -> bool:
        """True if products are to be tried in single precision."""
        precision = check_choice(self.precision, "precision", ("auto", "single", "double"))
        able = serves_single(problem.kernel, problem.inputs)
        if precision == "single" and not able:
            raise ValueError(
                f"precision='single' is for vectors in memory, in double precision, and {problem.kernel!r} is computed from "
                "other inputs; pass precision='auto' or 'double'"
            )
        least = _SINGLE_FROM if is_numpy_array(problem.inputs) else _SINGLE_FROM_ON_DEVICE
        return able and (precision == "single" or (precision == "auto" and problem.size >= least))

    def _share(self, problem: RidgeProblem) -> float:
        """The share of the trace at which the preconditioner is good enough."""
        alpha = problem.alpha
        if alpha is None or problem.wants_left_out or not problem.operator.is_identity:
            return _SHARE
        # the condition number is below two once less than alpha is left of the trace
        return min(max(_SHARE, alpha / max(problem.size * problem.mean_norm, alpha)), 0.5)

    def report(self, factorization: Factorization, embedding: Any) -> None:
        """Set the rank of the preconditioner, the number of iterations and the residual."""
        self.rank_, self.n_iter_ = factorization.rank, factorization.iterations  # type: ignore[attr-defined]
        self.residual_ = factorization.reached  # type: ignore[attr-defined]
        self.output_residual_ = warn_of_outputs(embedding)

    def _default_rank(self, problem: RidgeProblem) -> int:
        n = problem.size
        fitting = memory.available_bytes(problem.inputs) // (8 * n * COPIES)
        if problem.in_blocks:  # the columns are made again for each product
            fitting = most_features(problem.inputs)
        return max(1, min(n, max(_LEAST_RANK, int(_PER_ROOT * n**0.5)), fitting))


class IterativeRidge(Factorization):
    """A ridge problem solved by conjugate gradients, each solution the start of the next."""

    iterations = 0
    """Products with k of the last solution."""
    reached = 0.0
    """The largest relative residual of the last solution."""

    def __init__(self, problem: RidgeProblem, low: Any, tol: float, max_iter: int, single: bool = False) -> None:
        super().__init__(problem)
        self.low, self.tol, self.max_iter, self.rank = low, tol, max_iter, low.rank
        self.for_choosing_alpha = low  # its whole path is known
        self.reference = low.reference if low.reference is not None else low.spectrum.vectors
        self.products = KernelProducts(problem.kernel, problem.inputs)
        self.single = KernelProducts(problem.kernel, problem.inputs, single=True) if single else None
        self._start: Array | None = None

    def coefficients(self, alpha: float) -> tuple[Array, Array | None]:
        """Return B and b with h(x) = k_x B + b, all output directions at once."""
        problem, targets = self.problem, self._targets
        xp, q, r = namespace(targets), problem.constant(targets), targets.shape[1]
        gains = np.ones(r) if self._spectrum is None else to_numpy(self._spectrum.values)
        # without a gain nothing but the mean is learned
        alphas = like(alpha / np.where(gains > 0, gains, 1.0), targets)
        right = problem.centred(problem.centred(targets)) * like((gains > 0).astype(float), targets)
        start = self._start if self._start is not None and self._start.shape == right.shape else None
        solved, moved = self._solve(right, alphas, start)
        self._start = solved
        dual = problem.scaled(self._unrotated(solved))
        if q is None:
            return dual, None
        level = (q @ targets - q @ moved) / problem.total**0.5
        return dual, self._unrotated(xp.reshape(level, (1, r)))[0, :]

    def _solve(self, right: Array, alphas: Array, start: Array | None = None) -> tuple[Array, Array]:
        """X with (k + αI) X = `right` orthogonal to the constant, an alpha for each column, and k X, which is not."""
        xp, problem = namespace(right), self.problem
        sizes = xp.sqrt(xp.sum(right * right, axis=0))
        targets, ones = self.tol * sizes, xp.where(sizes > 0, sizes, xp.ones_like(sizes))
        x, moved = (xp.zeros_like(right), xp.zeros_like(right)) if start is None else (start, self._product(start))
        self.iterations, self.reached, quick = int(start is not None), np.inf, self.single
        before = x, moved
        while True:
            left = problem.centred(right - moved - alphas * x)
            reached = float(xp.max(xp.sqrt(xp.sum(left * left, axis=0)) / ones))
            stalled = not reached <= 0.5 * self.reached
            if stalled and quick is not None:
                # single precision does not hold for this matrix: back to the best so far
                (x, moved), quick = before, None
                self.reached = np.inf
                continue
            if not np.isfinite(reached):
                raise ValueError(
                    f"{problem.kernel!r} gives NaN or infinity between some training inputs; expected finite numbers"
                )
            # in double precision, a residual that is not halved is rounding
            if reached <= self.tol or stalled or self.iterations >= self.max_iter:
                break
            self.reached, before, most = reached, (x, moved), self.max_iter - self.iterations
            goal = (
                targets
                if quick is None
                else xp.maximum(targets / 2, _SINGLE_GAIN * xp.sqrt(xp.sum(left * left, axis=0)))
            )
            step, taken = iterate(
                partial(self._system, alphas, quick or self.products),
                left,
                lambda r: problem.centred(self.low.centred_solve(r, alphas)),
                goal,
                most if quick is None else min(_SINGLE_MOST, max(1, most // 4)),
            )
            x = problem.centred(x + step)
            moved = self._product(x)
            self.iterations += taken + 1
        self.reached = reached
        if reached > self.tol:
            warnings.warn(
                f"conjugate gradients stopped at a relative residual of {reached:.3g} after {self.iterations} products, and "
                f"tol={self.tol:g} was asked for; raise rank, max_iter, alpha or tol",
                NumericalWarning,
                stacklevel=4,
            )
        return x, moved

    def _system(self, alphas: Array, products: KernelProducts, rows: Array) -> Array:
        """(k + αI) times `rows`, orthogonal to the constant."""
        return self.problem.centred(self._product(rows, products)) + alphas * rows

    def _product(self, rows: Array, products: KernelProducts | None = None) -> Array:
        """√w k √w times `rows`."""
        return self.problem.scaled((products or self.products)(self.problem.scaled(rows)))

    def left_out_residuals(self, alpha: float) -> Array:
        """Return vⱼ − h₋ⱼ(xⱼ) for each pair, of the low-rank model."""
        return self.low.left_out_residuals(alpha)

    def risks(self, alphas: Sequence[float], gram: Array | None = None) -> Iterator[Array]:
        """Yield ‖h₋ⱼ(xⱼ) − ψ(yⱼ)‖² of each pair, for each alpha, of the low-rank model."""
        return self.low.risks(alphas, gram)

    def generalized_risk(self, alpha: float, gram: Array | None = None) -> float:
        """Return the score of generalised cross-validation, of the low-rank model."""
        return self.low.generalized_risk(alpha, gram)

    @property
    def scale(self) -> float:
        """The size of alpha that is neither small nor large."""
        return self.low.scale

    def on_weights(self) -> Factorization:
        """Return the same with weights on the training outputs for targets: n right-hand sides."""
        n = self.problem.size
        memory.require(n, n, 8, "weights on all training outputs", "ask for points, or use solver=LowRank(rank)")
        other: Any = super().on_weights()
        other._start, other.low = None, self.low.on_weights()
        return other

    @cached_property
    def _spectrum(self) -> OperatorSpectrum | None:
        problem = self.problem
        if problem.operator.is_identity:
            return None
        outputs = problem.operator_outputs(_Solved(self), self.reference)
        return problem.operator.spectrum(outputs)


class _Solved:
    """The input Gram matrix for operators that look at it, by its solutions."""

    complete = True

    def __init__(self, ridge: IterativeRidge) -> None:
        self.ridge = ridge

    def inside(self, rows: Array) -> Array:
        """Return `rows`."""
        return rows

    def outside(self, inside: Array) -> Array:
        """Return `inside`."""
        return inside

    def whitened(self, inside: Array, ridge: float) -> Array:
        """Return W with WᵀW = `inside`ᵀ (k + ridge·I)⁻¹ `inside`."""
        right = self.ridge.problem.centred(inside)
        solved = self.ridge._solve(right, namespace(right).zeros_like(right[0, :]) + ridge)[0]
        inner = right.T @ solved
        return root(0.5 * (inner + inner.T))


def root(matrix: Array) -> Array:
    """Return W with WᵀW = `matrix`, positive semi-definite."""
    xp = namespace(matrix)
    values, vectors = xp.linalg.eigh(matrix)
    return xp.sqrt(xp.clip(values, 0.0, None))[:, None] * vectors.T


register(ConjugateGradient(), after=Structured)
