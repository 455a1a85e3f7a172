"""Low-rank solver: pivoted incomplete Cholesky on both sides, two small eigenproblems."""

from __future__ import annotations

from mercer.arrays import clip_spectrum, eigh, namespace, on_device, solve_triangular
from mercer.kernels.base import Kernel
from mercer.objects import Objects
from mercer.pivoted import pivoted_cholesky
from mercer.solvers.base import SpectralSolver
from mercer.solvers.gram import check_finite, warn_low_rank
from mercer.solvers.spectrum import Spectrum


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

    def factorize(self, kernel: Kernel, inputs: Objects) -> Spectrum:
        """Factor the Gram matrix on pivots, and diagonalise the factor."""
        self._check_parameters()
        found = pivoted_cholesky(kernel, inputs, rank=self.rank, tol=self.tol)
        check_finite(found.factor, kernel, "input")
        warn_low_rank(found.residual, "input", len(found.pivots))
        factor, triangle = on_device(found.factor, self.device), on_device(found.triangle, self.device)
        xp = namespace(factor)
        values, rotation = eigh(factor.T @ factor)
        values = clip_spectrum(values, "the Gram matrix of the input factor")
        # directions at rounding level would be divided by next to nothing
        rounding = values.shape[0] * float(xp.finfo(values.dtype).eps) * float(values[-1])
        first = int(xp.sum(xp.astype(values <= rounding, xp.int64)))
        values, rotation = values[first:], rotation[:, first:]
        roots = xp.sqrt(values)
        basis = solve_triangular(triangle, rotation * roots, transpose=True)
        return Spectrum(factor @ (rotation / roots), values, basis, found.pivots, found.residual)

    def _check_parameters(self) -> None:
        rank = self.rank
        if rank is not None and (isinstance(rank, bool) or int(rank) != rank or rank < 1):
            raise ValueError(f"rank={rank!r}; expected a positive whole number, or None to go by tol alone")
        if not 0 <= self.tol < 1:
            raise ValueError(f"tol={self.tol!r}; expected a share of the trace, 0 ≤ tol < 1")
