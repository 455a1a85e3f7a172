"""The system (F Fᵀ + αI) c = y of a kernel with finite features: r numbers in place of n·p."""

from __future__ import annotations

from mercer.core.arrays import Array, clip_spectrum, eigh, eye, namespace
from mercer.core.gram_eigh import GramEigh
from mercer.solvers.block_systems import _CHUNK, BlockSystem
from mercer.solvers.ridge import Ridge


class Factored(BlockSystem):
    r"""Blocks :math:`F(x)F(z)^\top`: the eigenvectors of :math:`B^\top B`, r×r, or of :math:`BB^\top` where that is smaller.

    Missing outputs are rows of B that are left out, so partial observations are exact here.

    Parameters
    ----------
    features : array (n, p, r)
        F of the training inputs.
    Y : array (n, p)
        Targets, zero where missing.
    observed : array (n, p), optional
        One where a target is there, zero where it is missing.
    """

    reason = "finite features: ridge regression with r coefficients"

    def __init__(self, features: Array, Y: Array, observed: Array | None = None) -> None:
        xp = namespace(features)
        n, p, r = features.shape
        B = xp.reshape(features if observed is None else features * observed[:, :, None], (n * p, r))
        small = B.T @ B if r <= n * p else B @ B.T
        values, vectors = eigh(0.5 * (small + small.T))
        values = clip_spectrum(values, "the Gram matrix of the features")
        # directions at rounding level would be divided by next to nothing
        rounding = values.shape[0] * float(xp.finfo(values.dtype).eps) * float(values[-1])
        first = min(int(xp.sum(xp.astype(values <= rounding, xp.int64))), values.shape[0] - 1)
        values, vectors = values[first:], vectors[:, first:]
        roots = xp.sqrt(values) + (0.0 if float(values[-1]) > 0 else 1.0)
        left, right = (B @ (vectors / roots), vectors) if r <= n * p else (vectors, B.T @ (vectors / roots))
        self.Y = Y
        self.ridge = Ridge(GramEigh(left, values, right * roots), xp.reshape(Y, (n * p, 1)))

    def weights(self, alpha: float) -> Array:
        """W with h(x) = F(x) w, of length r."""
        return self.ridge.coefficients(alpha)[:, 0]

    def _residuals(self, alpha: float) -> Array:
        """Y − h(x) on the training inputs."""
        xp, ridge = namespace(self.Y), self.ridge
        values = ridge.spectrum.values[:, None]
        fitted = ridge.spectrum.vectors @ (values / (values + alpha) * ridge.inside)
        return self.Y - xp.reshape(fitted, tuple(self.Y.shape))

    def solve(self, alpha: float) -> Array:
        """(Y − h(x)) / α."""
        return self._residuals(alpha) / alpha

    def leave_one_out(self, alpha: float) -> Array:
        """(I − Hᵢᵢ)⁻¹ (yᵢ − h(xᵢ)) with the p×p blocks Hᵢᵢ of the smoother."""
        xp = namespace(self.Y)
        n, p = self.Y.shape
        values, residuals = self.ridge.spectrum.values, self._residuals(alpha)
        rows = xp.reshape(self.ridge.spectrum.vectors, (n, p, -1))
        step, parts = max(1, _CHUNK // max(p * p, p * rows.shape[2])), []
        for start in range(0, n, step):
            here = slice(start, min(start + step, n))
            some = rows[here, :, :]
            smoother = xp.matmul(some * (values / (values + alpha)), xp.matrix_transpose(some))
            left = eye(p, self.Y)[None, :, :] - smoother
            parts.append(xp.linalg.solve(left, residuals[here, :, None])[:, :, 0])
        return xp.concat(parts)
