"""The solver for one alpha with an operator, by a tridiagonal form of the input Gram matrix."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.linalg
from scipy.linalg import lapack

from mercer.core.arrays import Array, NumericalWarning, is_numpy_array, require_positive, to_numpy
from mercer.kernels.grams import row_blocks
from mercer.operators.base import OperatorSpectrum
from mercer.solvers.base import RidgeProblem, Solver, register, separable_only
from mercer.solvers.cholesky import Cholesky
from mercer.solvers.factorization import Factorization
from mercer.solvers.ridge_path import Exact


class TridiagonalForm:
    r"""A Gram matrix as :math:`k = P T P^\top` with T tridiagonal and P a product of reflections, which is not formed.

    `gram` is overwritten, and `name` is for errors. If k is orthogonal to a unit vector `constant`, rows are made so too.
    """

    complete = True

    def __init__(self, gram: Any, name: str, constant: Any = None, scale: float = 0.0) -> None:
        self.constant = constant
        work = int(lapack.dsytrd_lwork(len(gram), lower=1)[0])
        # the transpose is in the order LAPACK works in, so nothing is copied
        reduced = lapack.dsytrd(gram.T, lower=1, lwork=work, overwrite_a=1)
        packed, self.diagonal, self.off_diagonal, self._scales, _ = reduced
        # the first reflection leaves the first row alone
        self._reflections = np.asfortranarray(packed[1:, :-1])
        self.lowest, self.highest = (self._eigenvalue(place) for place in (0, len(gram) - 1))
        self._rounding = float(np.finfo(float).eps) * max(self.highest, 0.0)
        rounding = len(gram) * max(self._rounding, float(np.finfo(float).eps) * scale)
        require_positive(self.lowest, self.highest, rounding, name)
        self.definite = self.lowest >= -rounding
        """True if no eigenvalue is below zero by more than rounding."""

    def inside(self, rows: np.ndarray) -> np.ndarray:
        """Return PᵀV."""
        return self._reflected(rows, "N", self.constant)

    def outside(self, inside: np.ndarray) -> np.ndarray:
        """Return P times `inside`."""
        return self._reflected(inside, "T")

    def whitened(self, inside: np.ndarray, ridge: float) -> np.ndarray:
        """Return W with WᵀW = Vᵀ (k + ridge I)⁻¹ V from PᵀV, by the triangular factor of T + ridge I."""
        found = np.array(inside)
        for i, (pivot, ratio) in enumerate(self._eliminated(np.ones(1), ridge)):
            found[i + 1 : i + 2] -= ratio * found[i]
            found[i] /= np.sqrt(pivot)
        return found

    def solve(self, right: Any, gains: Any, alpha: float) -> np.ndarray:
        """Return (cₐT + αI)⁻¹ times column a, for each column and its gain c; `right` is overwritten."""
        ratios = np.empty((len(right), len(gains)))
        for i, (pivot, ratio) in enumerate(self._eliminated(gains, alpha)):
            ratios[i] = ratio
            right[i + 1 : i + 2] -= ratio * right[i]
            right[i] /= pivot
        for i in range(len(right) - 2, -1, -1):
            right[i] -= ratios[i] * right[i + 1]
        return right

    def _eliminated(self, gains: np.ndarray, alpha: float) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The pivots of cT + αI from the top, each with the multiple of its row that is taken from the next."""
        # with an alpha below the rounding of T a pivot could be zero
        alphas = np.maximum(alpha, 4.0 * self._rounding * gains)
        if np.any(alphas > alpha):
            warnings.warn(
                f"alpha={alpha:.3g} is lost in the rounding of the input Gram matrix, whose largest eigenvalue is "
                f"{self.highest:.3g}; {float(np.max(alphas)):.3g} was used",
                NumericalWarning,
                stacklevel=4,
            )
        pivot = self.diagonal[0] * gains + alphas
        for diagonal, off_diagonal in zip(self.diagonal[1:], self.off_diagonal, strict=True):
            below = off_diagonal * gains
            ratio = below / pivot
            yield pivot, ratio
            # no eigenvalue of cT + αI is below alpha, and so no pivot but by rounding
            pivot = np.maximum(diagonal * gains + alphas - ratio * below, alphas)
        yield pivot, np.zeros_like(pivot)

    def _reflected(self, rows: np.ndarray, transposed: str, constant: np.ndarray | None = None) -> np.ndarray:
        found = np.array(rows, dtype=np.float64, order="C")
        if constant is not None:
            along = constant @ found
            for part in row_blocks(found):
                found[part] -= constant[part, None] * along
        if len(found) > 1:
            # from the right of the transpose, which is in the order LAPACK works in
            block = found.T[:, 1:]
            work = 64 * max(block.shape)
            made, *_ = lapack.dormqr("R", transposed, self._reflections, self._scales, block, lwork=work, overwrite_c=1)
            assert np.shares_memory(made, found)
        return found

    def _eigenvalue(self, place: int) -> float:
        chosen = {"eigvals_only": True, "select": "i", "select_range": (place, place)}
        return float(scipy.linalg.eigh_tridiagonal(self.diagonal, self.off_diagonal, **chosen)[0])


class Tridiagonal(Solver):
    r"""One alpha, an operator on the outputs: each output direction solves its own tridiagonal system.

    .. math:: k = P T P^\top, \qquad (c_a T + \alpha I)\, P^\top z_a = P^\top V q_a, \qquad C = Q\,\mathrm{diag}(c)\,Q^\top

    Exact, with less work than an eigendecomposition of k (``python -m experiments bench core``). The algebra is NumPy's; a Gram
    matrix with slightly negative eigenvalues is left to `Exact`, which clips them.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> from mercer.operators import Covariance
    >>> from mercer.solvers import RidgeProblem
    >>> problem = RidgeProblem(Linear(), np.eye(3), np.eye(3), Covariance(), alpha=1.0, fit_intercept=False)
    >>> Tridiagonal().factorize(problem).coefficients(1.0)[0].diagonal().round(6).tolist()
    [0.25, 0.25, 0.25]
    """

    why = "one alpha for each output direction needs a tridiagonal form, no eigenvectors"
    one_alpha = True
    makes_gram = True

    def supports(self, problem: RidgeProblem) -> str | None:
        """Return a reason for more than one alpha, the identity operator, other libraries than NumPy, and missing targets."""
        if problem.operator.is_identity:
            return "it is for an operator on the outputs, and came with operator=Identity(); use solver='auto' or Cholesky()"
        if not (is_numpy_array(problem.inputs) and is_numpy_array(problem.targets)):
            return "it works with NumPy arrays; use Exact()"
        if problem.wants_left_out:
            return "left-out points are wanted, which take eigenvectors; use solver='auto' or Exact()"
        return separable_only(problem, one_alpha=True)

    def matrices(self, problem: RidgeProblem) -> float:
        """Return about two, and more with many targets."""
        return problem.matrices(2.1)

    def factorize(self, problem: RidgeProblem) -> Factorization:
        """Make the Gram matrix and reduce it."""
        gram: Any = np.ascontiguousarray(to_numpy(problem.gram(self.matrices(problem), decomposed=True)))
        mean, constant, scale = None, problem.constant(gram), float(gram.trace())
        if constant is not None:
            gram, mean = problem.centre_gram(gram)
        form = TridiagonalForm(gram, f"the input Gram matrix of {problem.kernel!r}", constant, scale)
        return TridiagonalPath(problem, form, mean) if form.definite else Exact().factorize(problem)


class TridiagonalPath(Factorization):
    """A ridge problem with the input Gram matrix in tridiagonal form."""

    def __init__(self, problem: RidgeProblem, form: TridiagonalForm, mean: Array | None) -> None:
        super().__init__(problem)
        self.form, self.mean = form, mean

    def coefficients(self, alpha: float) -> tuple[Array, Array | None]:
        """Return B and b with h(x) = k_x B + b."""
        problem, form = self.problem, self.form
        outputs = problem.operator_outputs(form, form.diagonal)
        operator = problem.operator.spectrum(outputs) or OperatorSpectrum(np.ones(outputs.coordinates.shape[1]), None)
        inside = outputs.inside
        del outputs  # saves its memory below
        inside = inside if operator.vectors is None else inside @ operator.vectors
        inside = form.solve(inside, operator.values, alpha)
        inside *= operator.values
        found = form.outside(inside if operator.vectors is None else inside @ operator.vectors.T)
        # a small alpha makes coefficients large, and their rounding along the constant would be seen
        dual = problem.scaled(problem.centred(found))
        if self.mean is None or problem.targets is None:
            return dual, None
        return dual, problem.mean(problem.targets) - self.mean @ dual

    def left_out_residuals(self, alpha: float) -> Array:
        """Return vⱼ − h₋ⱼ(xⱼ) for each pair, by eigenvectors."""
        return Exact().factorize(self.problem).left_out_residuals(alpha)

    def on_weights(self) -> Factorization:
        """Return the factorization for weights on the training outputs, by eigenvectors."""
        return Exact().factorize(self.problem).on_weights()


register(Tridiagonal(), after=Cholesky)
