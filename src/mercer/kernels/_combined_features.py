"""Feature maps of sums, multiples and cosines of kernels."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from scipy import sparse

from mercer.core.arrays import Array, NumericalWarning, like, namespace, to_numpy
from mercer.core.collections import Collection
from mercer.kernels.base import Kernel
from mercer.kernels.features import FeatureMap


@dataclass
class SideBySide(FeatureMap):
    """The columns of one map, then those of another."""

    left: FeatureMap
    right: FeatureMap

    @property
    def dimension(self) -> int:  # type: ignore[override]
        """The columns of both."""
        return self.left.dimension + self.right.dimension

    def __call__(self, X: Collection) -> Array:
        """The rows of both, side by side."""
        left = self.left(X)
        return namespace(left).concat([left, like(self.right(X), left)], axis=1)

    def sparse_rows(self, X: Collection) -> sparse.csr_array:
        """The sparse rows of both, side by side."""
        return sparse.hstack([self.left.sparse_rows(X), self.right.sparse_rows(X)], format="csr")


class _OfAnother(FeatureMap):
    """A map that changes the length of each row of another."""

    inner: FeatureMap

    @property
    def dimension(self) -> int:  # type: ignore[override]
        """As many as the map inside."""
        return self.inner.dimension


@dataclass
class Stretched(_OfAnother):
    """The features of another map times a number."""

    factor: float
    inner: FeatureMap

    def __call__(self, X: Collection) -> Array:
        """The stretched rows."""
        return self.factor * self.inner(X)

    def sparse_rows(self, X: Collection) -> sparse.csr_array:
        """The stretched rows, sparse."""
        return self.factor * self.inner.sparse_rows(X)


@dataclass
class UnitLength(_OfAnother):
    """The features of another map divided by the length √k(x, x); rows of length zero stay zero.

    The length is the kernel's, not the row's: it counts what the vocabulary leaves out.
    """

    kernel: Kernel
    inner: FeatureMap

    def __call__(self, X: Collection) -> Array:
        """The rows at unit length."""
        return self.inner(X) * inverse_lengths(self.kernel.diag(X), self.kernel)[:, None]

    def sparse_rows(self, X: Collection) -> sparse.csr_array:
        """The rows at unit length, sparse."""
        lengths = to_numpy(inverse_lengths(self.kernel.diag(X), self.kernel))
        return sparse.csr_array(sparse.diags_array(lengths) @ self.inner.sparse_rows(X))


def inverse_lengths(norms: Array, kernel: Kernel) -> Array:
    """1/√k(x, x), or zero where the norm is zero."""
    xp = namespace(norms)
    lowest, highest = float(xp.min(norms)), float(xp.max(norms))
    if lowest < 0:
        _mind_negative(lowest, highest, kernel)
    positive = norms > 0
    one = xp.ones_like(norms)
    return xp.where(positive, one / xp.sqrt(xp.where(positive, norms, one)), xp.zeros_like(norms))


def _mind_negative(lowest: float, highest: float, kernel: Kernel) -> None:
    if lowest < -1e-10 * max(highest, 0.0) or highest <= 0:
        raise ValueError(
            f"{kernel!r} gives k(x, x) = {lowest:.6g} for some object; expected a kernel, which is "
            "never below zero there. It cannot be normalized"
        )
    warnings.warn(
        f"{kernel!r} gives k(x, x) = {lowest:.3g} for some object (largest {highest:.3g}), below "
        "zero by rounding; it is taken as zero",
        NumericalWarning,
        stacklevel=4,
    )
