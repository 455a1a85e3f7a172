"""The low-rank solver: pivoted incomplete Cholesky on both sides."""

from __future__ import annotations

import warnings
from dataclasses import replace

from mercer.core.arrays import NumericalWarning, on_device, solve_triangular
from mercer.core.pivoted import pivoted_cholesky
from mercer.embeddings.pivoted import Pivoted
from mercer.solvers.base import KernelBasis, RidgeProblem, Solver, check_finite
from mercer.solvers.exact import separable_only
from mercer.solvers.ridge_path import RidgePath


class LowRank(Solver):
    r"""Few columns of the Gram matrices, :math:`k \approx G G^\top`: O(n m² + m³) in place of O(n³).

    Predictions use the same factors as training, so the model is exact for the kernel :math:`G G^\top`.

    Parameters
    ----------
    rank : int, optional
        Most columns to take on each side (the paper's m₁ = m₂).
    tol : float, default=1e-6
        Stop when this share of the trace is left, or at the rank if that comes first.
    device : str, optional
        Where the algebra runs, through PyTorch; by default where the kernel's columns are.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> from mercer.solvers import RidgeProblem
    >>> X = np.linspace(0, 1, 100)[:, None]
    >>> found = LowRank(tol=1e-8).factorize(RidgeProblem(Gaussian(1.0), X, X))
    >>> len(found.spectrum.pivots) < 12, found.residual < 1e-8
    (True, True)
    """

    def __init__(self, rank: int | None = None, tol: float = 1e-6, device: str | None = None) -> None:
        self.rank = rank
        self.tol = tol
        self.device = device

    def supports(self, problem: RidgeProblem) -> str | None:
        """Return a reason for operators that are not separable, and missing targets."""
        return separable_only(problem)

    def output_embedding(self) -> Pivoted:
        """Return the factor of the output side, of the same rank and tolerance."""
        return Pivoted(self.rank, self.tol)

    def report(self, factorization: RidgePath, embedding: Pivoted) -> None:  # type: ignore[override]
        """Set the rank and the shares of the trace left out on both sides."""
        self.rank_, self.residual_ = factorization.spectrum.values.shape[0], factorization.residual
        self.output_residual_ = float(getattr(embedding, "residual_", 0.0))
        if not embedding.fixed and embedding.coordinates_ is not None:
            _warn_low_rank(self.output_residual_, "output", embedding.coordinates_.shape[1])

    def factorize(self, problem: RidgeProblem) -> RidgePath:
        """Factor the Gram matrix on pivots, and diagonalise the factor."""
        kernel, inputs = problem.kernel, problem.inputs
        found = pivoted_cholesky(kernel, inputs, rank=self.rank, tol=self.tol)
        check_finite(found.factor, kernel, "input")
        _warn_low_rank(found.residual, "input", len(found.pivots))
        factor, triangle = on_device(found.factor, self.device), on_device(found.triangle, self.device)
        spectrum = problem.decompose_features(factor)
        basis = solve_triangular(triangle, spectrum.basis, transpose=True)
        mean = None if spectrum.mean is None else triangle @ spectrum.mean
        spectrum = replace(spectrum, basis=basis, pivots=found.pivots, residual=found.residual, mean=mean)
        return RidgePath.of(problem, spectrum, KernelBasis.of(kernel, inputs, found.pivots))


def _warn_low_rank(residual: float, side: str, columns: int) -> None:
    """Warn if a low-rank factor leaves out more than a tenth of the trace."""
    if residual > 0.1:
        warnings.warn(
            f"the low-rank factor of the {side} kernel ({columns} columns) leaves out {residual:.1%} of its trace; "
            "raise rank, or give tol, if predictions are poor",
            NumericalWarning,
            stacklevel=4,
        )
