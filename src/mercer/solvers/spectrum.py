"""The spectrum of the input Gram matrix, exact or low rank: what every λ, fold and query is computed from."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mercer.arrays import Array


@dataclass
class Spectrum:
    r"""The input Gram matrix as :math:`k = U\,\mathrm{diag}(s)\,U^\top`, and how new inputs enter it.

    Attributes
    ----------
    vectors : array (n, m)
        U, orthonormal columns; m = n when the decomposition is complete.
    values : array (m,)
        s ≥ 0.
    basis : array (b, m)
        Turns kernel values against the b basis inputs into k_x U: U itself when all training inputs are the basis.
    pivots : int array (b,), optional
        Which training inputs are the basis; None for all.
    residual : float
        Share of the trace of k that the decomposition leaves out.
    """

    vectors: Array
    values: Array
    basis: Array
    pivots: np.ndarray | None = None
    residual: float = 0.0
    complete: bool = field(init=False)

    def __post_init__(self) -> None:
        self.complete = self.vectors.shape[0] == self.vectors.shape[1]
