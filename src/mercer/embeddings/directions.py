"""Outputs measured along a few directions of their feature space."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from mercer.core.arrays import Array, namespace
from mercer.core.collections import Collection, count
from mercer.embeddings.base import Embedding


class Directions(Embedding):
    r"""Coordinates along orthonormal directions learned from data, :math:`u_c = \sum_i A_{ic}\,\psi(y_i)`.

    Distances are measured in these coordinates alone: what an output has outside them does not count. Fitting sets `dual_`,
    A with columns orthogonal to 1, `_offset`, the coordinates of the mean output, and `_mean_norm`, its squared norm.
    """

    fixed = False
    origin: str = "mean"
    dual_: Array
    _offset: Array
    _mean_norm: float

    def transform(self, outputs: Collection) -> Array:
        """Projections on the kept directions."""
        projected = self.kernel_(outputs, self.outputs_) @ self.dual_
        return projected - self._offset if self.origin == "mean" else projected

    def norms(self, outputs: Collection) -> Array:
        """Squared norms within the kept directions."""
        rows = self.transform(outputs)
        return namespace(rows).sum(rows * rows, axis=1)

    def outside(self, outputs: Collection) -> Array:
        """Squared distance from the origin less its part in the kept directions."""
        whole = self.kernel_.diag(outputs)
        xp = namespace(whole)
        if self.origin == "mean":
            whole = whole - 2.0 * xp.mean(self.kernel_(outputs, self.outputs_), axis=1) + self._mean_norm
        return xp.clip(whole - self.norms(outputs), 0.0, None)

    def weights(self, points: Array) -> Array:
        """Weights of the point, the mean output included when that is the origin."""
        weights = points @ self.dual_.T
        return weights + 1.0 / count(self.outputs_) if self.origin == "mean" else weights


def check_how_many(cutoff: Any, n_components: Any) -> None:
    """Raise unless the two say how many directions to keep."""
    if not isinstance(cutoff, Real) or not 0 <= float(cutoff) < 1:
        raise ValueError(f"cutoff={cutoff!r}; expected a share of the largest eigenvalue, 0 ≤ cutoff < 1")
    if n_components is None:
        return
    if isinstance(n_components, bool) or not isinstance(n_components, Integral) or n_components < 1:
        raise ValueError(f"n_components={n_components!r}; expected a positive whole number, or None for no limit")
