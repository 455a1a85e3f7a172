"""The eigendecomposition of a Gram matrix, whole or of low rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.core.arrays import Array, clip_spectrum, eigh, namespace


@dataclass
class GramEigh:
    r"""A Gram matrix as :math:`k = U\,\mathrm{diag}(s)\,U^\top`, whole or of low rank.

    Attributes
    ----------
    vectors : array (n, m)
        U, orthonormal columns.
    values : array (m,)
        s ≥ 0.
    basis : array (b, m)
        Takes kernel values against the b basis inputs (or features) to k_x U; U itself if all training inputs are the basis.
    pivots : int array (b,), optional
        The training inputs in the basis; None for all.
    residual : float
        Share of the trace of k that the decomposition leaves out.
    constant : array (n,), optional
        A unit vector that is not penalised (an intercept). U is orthogonal to it.
    mean : array (b,), optional
        The mean of the kernel values against the basis inputs; set together with `constant`.
    complete : bool
        True if U and the constant span the whole space; False for columns from features, of which those of small eigenvalues
        are orthonormal only roughly, even if there are as many as rows.
    """

    vectors: Array
    values: Array
    basis: Array
    pivots: np.ndarray | None = None
    residual: float = 0.0
    constant: Array | None = None
    mean: Array | None = None
    complete: bool = True

    def inside(self, rows: Array) -> Array:
        """Return Uᵀ times `rows`."""
        return self.vectors.T @ rows

    def outside(self, inside: Array) -> Array:
        """Return U times `inside`."""
        return self.vectors @ inside

    def whitened(self, inside: Array, ridge: float) -> Array:
        """Return (S + ridge I)^{-1/2} times `inside`."""
        return inside / namespace(inside).sqrt(self.values + ridge)[:, None]

    @classmethod
    def of_features(cls, features: Array, constant: Array | None = None, mean: Array | None = None) -> GramEigh:
        """Decompose the Gram matrix Φ Φᵀ of explicit features, the basis of new inputs.

        With a `constant`, Φ is first made orthogonal to it; `mean` is then the mean of the features.
        """
        xp = namespace(features)
        scale = float(xp.sum(features * features))
        if constant is not None:
            features = features - constant[:, None] * (constant @ features)
        tall = features.shape[0] >= features.shape[1]
        values, vectors = eigh(features.T @ features if tall else features @ features.T)
        values = clip_spectrum(values, "the Gram matrix of the input features")
        # directions at rounding level would be divided by next to nothing; one is kept if all are
        share = features.shape[0] * float(xp.finfo(values.dtype).eps)
        rounding = max(share * float(values[-1]), share * share * scale)
        first = min(int(xp.sum(xp.astype(values <= rounding, xp.int64))), values.shape[0] - 1)
        values, vectors = values[first:], vectors[:, first:]
        values = xp.where(values > rounding, values, xp.zeros_like(values))
        roots = xp.sqrt(values) if float(values[-1]) > 0 else xp.ones_like(values)
        left, right = (features @ (vectors / roots), vectors) if tall else (vectors, features.T @ (vectors / roots))
        return cls(left, values, right * roots, constant=constant, mean=mean, complete=False)
