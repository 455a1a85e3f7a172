"""A bell-shaped kernel on top of any other."""

from __future__ import annotations

from dataclasses import dataclass

from mercer.core.arrays import Array, like, namespace
from mercer.core.collections import Collection
from mercer.kernels.algebra import Around
from mercer.kernels.base import Kernel, Prepared, to_squared_distances
from mercer.kernels.grams import fresh, row_blocks, squared_norms
from mercer.kernels.vectors import ScaledByDistance, to_gaussian

_ROUNDING = 1e-9
"""Share of the norms by which rounding may put a squared distance below zero."""


@dataclass(eq=False, repr=False)
class GaussianOf(ScaledByDistance, Around):
    r"""A Gaussian of the distance another kernel measures, :math:`\exp(-d^2 / (2 s^2))`.

    .. math:: d^2(x, z) = k(x, x) + k(z, z) - 2 k(x, z)

    Squared distances that rounding puts below zero count as zero; clearly negative ones mean that the kernel inside is not
    positive semi-definite, and are an error.

    Parameters
    ----------
    kernel : Kernel
        The kernel inside.
    scale : float or "median"
        s, a distance. "median" is the median of d over the training objects (over 1000 of them if there are more).

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Linear, Subsequence
    >>> GaussianOf(Linear(), scale=2.0)([[0.0]], [[2.0]]) == Gaussian(scale=2.0)([[0.0]], [[2.0]])
    array([[ True]])
    >>> GaussianOf(Subsequence(length=2).normalized())(["cat", "cut"]).round(3)
    array([[1.   , 0.411],
           [0.411, 1.   ]])
    """

    kernel: Kernel
    scale: float | str = 1.0

    def distances(self, X: Collection) -> Array:
        """Distances in the feature space of the kernel inside."""
        squared = self._squared_distances(self.kernel.prepare(X, checked=True), None)
        xp = namespace(squared)
        return xp.sqrt(xp.clip(squared, 0.0, None))

    def _matrix(self, X: Prepared, Z: Prepared | None) -> Array:
        return to_gaussian(self._squared_distances(X, Z), float(self.scale))

    def _diag(self, X: Prepared) -> Array:
        return namespace(X.norms).ones_like(X.norms)

    def _squared_distances(self, X: Prepared, Z: Prepared | None) -> Array:
        gram = fresh(self.kernel(X, Z), X)
        left, right = (like(norms, gram) for norms in squared_norms(X, Z, gram))
        xp = namespace(gram)
        squared = to_squared_distances(gram, left, right)
        lowest = min(float(xp.min(squared[rows, :])) for rows in row_blocks(squared))
        largest = max(float(xp.max(xp.abs(left))), float(xp.max(xp.abs(right))))
        if lowest < -_ROUNDING * largest:
            raise ValueError(
                f"{self.kernel!r} gives a squared distance k(x, x) + k(z, z) - 2 k(x, z) of {lowest:.6g}; expected none below "
                "zero, so it is not positive semi-definite. GaussianOf needs a kernel that is"
            )
        return squared
