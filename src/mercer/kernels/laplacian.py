"""The Laplacian kernel on vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mercer.core.arrays import Array, exp, namespace
from mercer.core.collections import Collection
from mercer.kernels.base import row_blocks
from mercer.kernels.vectors import RowKernel, ScaledByDistance, alike, as_rows


@dataclass(eq=False, repr=False)
class Laplacian(ScaledByDistance, RowKernel):
    r"""The double exponential, :math:`k(x, z) = \exp(-\|x - z\|_1 / s)`.

    Parameters
    ----------
    scale : float or "median"
        s, a distance. "median" is the median L1 distance of the training vectors (of 1000 if there are more).

    Examples
    --------
    >>> Laplacian(scale=2.0)([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.3679]])
    """

    is_psd = True

    scale: float | str = 1.0

    def pointwise(self, x: Any, z: Any) -> float:
        """The double exponential of two vectors."""
        xp = namespace(x)
        return float(xp.exp(-xp.sum(xp.abs(x - z)) / float(self.scale)))

    def distances(self, X: Collection) -> Array:
        """L1 distances."""
        return as_rows(X).city_block(None)

    def of_distances(self, distances: Array) -> Array:
        """The kernel of L1 distances, over them."""
        for rows in row_blocks(distances):
            distances[rows, :] = exp(distances[rows, :] / -float(self.scale))
        return distances

    def shared_gram(self, X: Collection, known: dict[str, Any] | None = None) -> Array:
        """The Gram matrix; L1 distances are kept for other scales."""
        if known is None:
            return self(X)
        if "L1 distances" not in known:
            known["L1 distances"] = self.distances(X)
        distances = known["L1 distances"]
        return self.of_distances(namespace(distances).asarray(distances, copy=True))

    def _matrix(self, X: Any, Z: Any) -> Array:
        X, Z = alike(X, Z)
        return self.of_distances(X.city_block(Z, float(self.scale)))

    def _diag(self, X: Any) -> Array:
        return X.ones()
