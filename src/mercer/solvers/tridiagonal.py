"""One alpha with an operator on the outputs, without the eigenvectors of the input Gram matrix."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import scipy.linalg
from scipy.linalg import lapack

from mercer.core.arrays import Array, NumericalWarning, is_numpy_array, require_positive, to_numpy
from mercer.kernels.grams import row_blocks
from mercer.operators.base import OperatorSpectrum
from mercer.solvers.base import RidgeProblem, Solver, register
from mercer.solvers.exact import Cholesky, Exact, separable_only
from mercer.solvers.factorization import Factorization

_MATRICES = 8
"""n×n matrices a fit may hold at once (measured by ``python -m experiments bench core``)."""


class TridiagonalForm:
    r"""A Gram matrix as :math:`k = P T P^\top`, T tridiagonal, P a product of reflections that is never formed.

    Parameters
    ----------
    gram : array (n, n)
        k; overwritten.
    name : str
        What to call it in errors.
    constant : array (n,), optional
        A unit vector that k is orthogonal to; rows lose their part along it.

    Examples
    --------
    >>> form = TridiagonalForm(np.array([[2.0, 1.0, 1.0], [1.0, 2.0, 0.0], [1.0, 0.0, 2.0]]), "the example")
    >>> form.diagonal.round(6).tolist(), np.abs(form.beside).round(6).tolist()
    ([2.0, 2.0, 2.0], [1.414214, 0.0])
    """

    complete = True

    def __init__(self, gram: np.ndarray, name: str, constant: np.ndarray | None = None) -> None:
        self.constant = constant
        work = int(lapack.dsytrd_lwork(len(gram), lower=1)[0])
        # the transpose is in the order LAPACK works in, so nothing is copied
        packed, self.diagonal, self.beside, self._scales, _ = lapack.dsytrd(gram.T, lower=1, lwork=work, overwrite_a=1)
        # the first reflection leaves the first row alone
        self._reflections = np.asfortranarray(packed[1:, :-1])
        self.lowest, self.highest = (self._eigenvalue(place) for place in (0, len(gram) - 1))
        self._rounding = float(np.finfo(float).eps) * max(self.highest, 0.0)
        require_positive(self.lowest, self.highest, len(gram) * self._rounding, name)

    @property
    def definite(self) -> bool:
        """Whether no eigenvalue is below zero by more than rounding."""
        return self.lowest >= -len(self.diagonal) * self._rounding

    def inside(self, rows: np.ndarray) -> np.ndarray:
        """Return PᵀV."""
        return self._reflected(rows, "N", self.constant)

    def outside(self, inside: np.ndarray) -> np.ndarray:
        """Return P times `inside`."""
        return self._reflected(inside, "T")

    def whitened(self, inside: np.ndarray, ridge: float) -> np.ndarray:
        """Return W with WᵀW = Vᵀ (k + ridge I)⁻¹ V, from PᵀV: by the triangular factor of T + ridge I."""
        found = np.array(inside)
        for i, (pivot, ratio) in enumerate(self._eliminated(np.ones(1), ridge)):
            found[i + 1 : i + 2] -= ratio * found[i]
            found[i] /= np.sqrt(pivot)
        return found

    def solve(self, right: np.ndarray, gains: np.ndarray, alpha: float) -> np.ndarray:
        """Return (cₐT + αI)⁻¹ times column a, for each column and its gain c; overwrites `right`."""
        ratios = np.empty((len(right), len(gains)))
        for i, (pivot, ratio) in enumerate(self._eliminated(gains, alpha)):
            ratios[i] = ratio
            right[i + 1 : i + 2] -= ratio * right[i]
            right[i] /= pivot
        for i in range(len(right) - 2, -1, -1):
            right[i] -= ratios[i] * right[i + 1]
        return right

    def _eliminated(self, gains: np.ndarray, alpha: float) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the pivots of cT + αI downwards, each with the multiple of its row that the next row loses."""
        # an alpha below the rounding of T would let a pivot pass through zero
        ridges = np.maximum(alpha, 4.0 * self._rounding * gains)
        if np.any(ridges > alpha):
            warnings.warn(
                f"alpha={alpha:.3g} is lost in the rounding of the input Gram matrix, whose largest eigenvalue is "
                f"{self.highest:.3g}; {float(np.max(ridges)):.3g} was used",
                NumericalWarning,
                stacklevel=4,
            )
        pivot = self.diagonal[0] * gains + ridges
        for diagonal, beside in zip(self.diagonal[1:], self.beside, strict=True):
            below = beside * gains
            ratio = below / pivot
            yield pivot, ratio
            # no pivot is below the ridge, since no eigenvalue of cT + αI is, but by rounding
            pivot = np.maximum(diagonal * gains + ridges - ratio * below, ridges)
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
            assert np.shares_memory(made, found), "reflected in a copy"
        return found

    def _eigenvalue(self, place: int) -> float:
        chosen = {"eigvals_only": True, "select": "i", "select_range": (place, place)}
        return float(scipy.linalg.eigh_tridiagonal(self.diagonal, self.beside, **chosen)[0])


class Tridiagonal(Solver):
    r"""One alpha, an operator on the outputs: each output direction solves its own tridiagonal system.

    .. math:: k = P T P^\top, \qquad (c_a T + \alpha I)\, P^\top z_a = P^\top V q_a, \qquad C = Q\,\mathrm{diag}(c)\,Q^\top

    Less work than an eigendecomposition of k (``python -m experiments bench core``), and as exact. The algebra is NumPy's,
    wherever the Gram matrix is; one with slightly negative eigenvalues is left to `Exact`, which clips them.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> from mercer.operators import Covariance
    >>> from mercer.solvers import RidgeProblem
    >>> problem = RidgeProblem(Linear(), np.eye(3), np.eye(3), Covariance(), alpha=1.0, fit_intercept=False)
    >>> Tridiagonal().factorize(problem).coefficients(1.0)[0].diagonal().round(6).tolist()
    [0.25, 0.25, 0.25]
    """

    makes_gram = True

    def supports(self, problem: RidgeProblem) -> str | None:
        """Return why not: alpha to be chosen, the identity operator, arrays that are not NumPy's, missing targets."""
        if problem.alpha is None:
            return "it solves one alpha, and alpha is to be chosen; use solver='auto' or Exact()"
        if problem.operator.is_identity:
            return "it is for an operator on the outputs, and came with operator=Identity(); use solver='auto' or Cholesky()"
        if not (is_numpy_array(problem.inputs) and is_numpy_array(problem.targets)):
            return "it works with NumPy arrays; use Exact()"
        if problem.wants_left_out:
            return "left-out points are wanted, which take eigenvectors; use solver='auto' or Exact()"
        return separable_only(problem)

    def reason(self, problem: RidgeProblem) -> str:
        """Return why this solver is picked."""
        return "one alpha for each output direction needs a tridiagonal form, no eigenvectors"

    def factorize(self, problem: RidgeProblem) -> Factorization:
        """Make the Gram matrix and reduce it."""
        gram = np.ascontiguousarray(to_numpy(problem.gram(_MATRICES, decomposed=True)))
        mean, constant = None, problem.constant(gram)
        if constant is not None:
            gram, mean = problem.centre_gram(gram)
        form = TridiagonalForm(gram, f"the input Gram matrix of {problem.kernel!r}", constant)
        return TridiagonalPath(problem, form, mean) if form.definite else Exact().factorize(problem)


class TridiagonalPath(Factorization):
    """A ridge problem with the input Gram matrix in tridiagonal form."""

    def __init__(self, problem: RidgeProblem, form: TridiagonalForm, mean: np.ndarray | None) -> None:
        super().__init__(problem)
        self.form, self.mean = form, mean

    def coefficients(self, alpha: float) -> tuple[Array, Array | None]:
        """Return B and b with h(x) = k_x B + b."""
        problem, form = self.problem, self.form
        outputs = problem.operator_outputs(form, form.diagonal)
        operator = problem.operator.spectrum(outputs) or OperatorSpectrum(np.ones(outputs.coordinates.shape[1]), None)
        inside = outputs.inside
        del outputs  # what is not needed any more is not held while there is more to come
        inside = inside if operator.vectors is None else inside @ operator.vectors
        inside = form.solve(inside, operator.values, alpha)
        inside *= operator.values
        found = form.outside(inside if operator.vectors is None else inside @ operator.vectors.T)
        if self.mean is None:
            return problem.scaled(found), None
        # a small alpha makes coefficients large, and their rounding along the constant would be seen
        found = problem.scaled(problem.centred(found))
        return found, problem.mean(problem.targets) - self.mean @ found

    def left_out_residuals(self, alpha: float) -> Array:
        """Return vⱼ − h₋ⱼ(xⱼ) for each pair, which takes the eigenvectors after all."""
        return Exact().factorize(self.problem).left_out_residuals(alpha)

    def on_weights(self) -> Factorization:
        """Return the factorization for weights on the training outputs, which takes the eigenvectors after all."""
        return Exact().factorize(self.problem).on_weights()


register(Tridiagonal(), after=Cholesky)
