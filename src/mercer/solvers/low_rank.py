"""Low-rank solver: pivoted incomplete Cholesky on both sides, two small eigenproblems."""

from __future__ import annotations

from dataclasses import replace

from mercer.core.arrays import on_device, solve_triangular
from mercer.core.collections import Collection
from mercer.core.gram_eigh import GramEigh
from mercer.core.pivoted import pivoted_cholesky
from mercer.kernels.base import Kernel
from mercer.solvers.base import SpectralSolver
from mercer.solvers.gram import check_finite, warn_low_rank


class LowRank(SpectralSolver):
    r"""Few columns of the Gram matrices, :math:`k \approx G G^\top`: O(n m² + m³) where exact costs O(n³).

    Predictions use the same factors as training, so the model is an exact one for the kernel :math:`G G^\top`.

    Parameters
    ----------
    rank : int, optional
        Most columns to take on each side (the paper's m₁ = m₂).
    tol : float, default=1e-6
        Stop when this share of the trace is left. With a rank given, whichever comes first.
    device : str, optional
        Where the algebra runs, through PyTorch; by default where the kernel's columns are.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> X = np.linspace(0, 1, 100)[:, None]
    >>> found = LowRank(tol=1e-8).factorize(Gaussian(1.0), X)
    >>> len(found.pivots) < 12, found.residual < 1e-8
    (True, True)
    """

    def __init__(self, rank: int | None = None, tol: float = 1e-6, device: str | None = None) -> None:
        self.rank = rank
        self.tol = tol
        self.device = device

    def factorize(self, kernel: Kernel, inputs: Collection) -> GramEigh:
        """Factor the Gram matrix on pivots, and diagonalise the factor."""
        found = pivoted_cholesky(kernel, inputs, rank=self.rank, tol=self.tol)
        check_finite(found.factor, kernel, "input")
        warn_low_rank(found.residual, "input", len(found.pivots))
        factor, triangle = on_device(found.factor, self.device), on_device(found.triangle, self.device)
        spectrum = GramEigh.of_features(factor)
        basis = solve_triangular(triangle, spectrum.basis, transpose=True)
        return replace(spectrum, basis=basis, pivots=found.pivots, residual=found.residual)
