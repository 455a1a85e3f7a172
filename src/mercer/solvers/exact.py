"""Exact solvers: one eigendecomposition for every ridge, or one Cholesky factor for one."""

from __future__ import annotations

import numpy as np

from mercer.core.arrays import (
    add_to_diagonal,
    clip_spectrum,
    eigh,
    not_psd_message,
    on_device,
    to_numpy,
)
from mercer.core.collections import Collection
from mercer.core.gram_eigh import GramEigh
from mercer.kernels.base import Kernel
from mercer.kernels.grams import own
from mercer.solvers.base import CholeskyMap, Solver, SpectralSolver
from mercer.solvers.gram import gram_matrix

_EXACT_MATRICES = 8
"""n×n matrices an exact fit may hold at once (measured by `mercer bench core`)."""

_CHOLESKY_MATRICES = 3
"""The same for one ridge."""


class Exact(SpectralSolver):
    r"""Everything from :math:`k = U S U^\top`: any operator, the whole path of ridges, exact leave-one-out. O(n³).

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
    >>> Exact().factorize(Linear(), np.eye(3)).values.tolist()
    [1.0, 1.0, 1.0]
    """

    def __init__(self, penalty: str = "function", device: str | None = None) -> None:
        self.penalty = penalty
        self.device = device

    def check_parameters(self) -> None:
        """Raise if the penalty is none of the two."""
        if self.penalty not in ("function", "coefficients"):
            raise ValueError(f"penalty={self.penalty!r}; expected 'function' or 'coefficients'")

    def factorize(self, kernel: Kernel, inputs: Collection) -> GramEigh:
        """Make the Gram matrix and decompose it."""
        self.check_parameters()
        gram = own(gram_matrix(kernel, inputs, "input", _EXACT_MATRICES, decomposed=True), kernel)
        values, vectors = eigh(on_device(gram, self.device))
        values = clip_spectrum(values, f"the input Gram matrix of {kernel!r}")
        return GramEigh(vectors, values, vectors)


class Cholesky(Solver):
    r"""One ridge, identity operator: :math:`(k + \alpha I)^{-1}` by a Cholesky factor, in place. n³/3 operations.

    Parameters
    ----------
    device : str, optional
        Where the algebra runs, through PyTorch; by default where the Gram matrix is.

    Examples
    --------
    >>> Cholesky()
    Cholesky()
    """

    def __init__(self, device: str | None = None) -> None:
        self.device = device

    def factorize(self, kernel: Kernel, inputs: Collection, alpha: float) -> CholeskyMap:
        """Factor k + αI, in the memory of k."""
        gram = own(gram_matrix(kernel, inputs, "input", _CHOLESKY_MATRICES), kernel)
        try:
            return CholeskyMap.of(add_to_diagonal(on_device(gram, self.device), alpha))
        except np.linalg.LinAlgError:
            values = np.linalg.eigvalsh(to_numpy(kernel(inputs)))
            rounding = 10 * len(values) * np.finfo(float).eps * values[-1]
            if values[0] > -rounding:
                raise ValueError(
                    f"alpha={alpha:g} is lost in the rounding of the input Gram matrix, whose largest eigenvalue is "
                    f"{values[-1]:.3g}; use alpha={rounding:.1g} or more, or solver=Exact(), which works without it"
                ) from None
            name = f"the input Gram matrix of {kernel!r}, at alpha={alpha:g},"
            raise ValueError(not_psd_message(name, values[0], values[-1])) from None
