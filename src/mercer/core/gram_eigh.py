"""The spectrum of the input Gram matrix, exact or low rank: what every λ, fold and query is computed from."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mercer.core.arrays import Array, clip_spectrum, eigh, namespace


@dataclass
class GramEigh:
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

    def inside(self, rows: Array) -> Array:
        """Uᵀ times `rows`."""
        return self.vectors.T @ rows

    def outside(self, inside: Array) -> Array:
        """U times `inside`."""
        return self.vectors @ inside

    def whitened(self, inside: Array, ridge: float) -> Array:
        """(S + ridge I)^{-1/2} times `inside`."""
        return inside / namespace(inside).sqrt(self.values + ridge)[:, None]

    @classmethod
    def of_features(cls, features: Array) -> GramEigh:
        """The spectrum of the Gram matrix Φ Φᵀ of explicit features; new inputs enter by their features."""
        xp = namespace(features)
        values, rotation = eigh(features.T @ features)
        values = clip_spectrum(values, "the Gram matrix of the input features")
        # directions at rounding level would be divided by next to nothing
        rounding = values.shape[0] * float(xp.finfo(values.dtype).eps) * float(values[-1])
        first = int(xp.sum(xp.astype(values <= rounding, xp.int64)))
        values, rotation = values[first:], rotation[:, first:]
        roots = xp.sqrt(values)
        return cls(features @ (rotation / roots), values, rotation * roots)
