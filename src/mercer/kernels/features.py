"""Finite feature maps: kernels whose φ(x) can be written down as a row of numbers."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from mercer.core.arrays import Array, NumericalWarning, like, namespace, to_numpy

if TYPE_CHECKING:
    from mercer.kernels.base import Kernel


class FeatureMap:
    """A map from objects to rows of numbers; `dimension` columns, the same for every call.

    Features outside a vocabulary taken from the training objects (a label never seen) are left out of the row. The inner
    product with any combination of training objects stays exact.
    """

    dimension: int

    def __call__(self, X: Any) -> Any:
        """The rows φ(x), one per object."""
        raise TypeError(f"{type(self).__name__} must define __call__(X)")

    def sparse_rows(self, X: Any) -> sparse.csr_array:
        """The same rows as a sparse array."""
        return sparse.csr_array(to_numpy(self(X)))


class SparseFeatureMap(FeatureMap):
    """A map whose rows are mostly zero: it defines `sparse_rows`, and the dense rows follow."""

    def __call__(self, X: Any) -> np.ndarray:
        """The rows φ(x), zeros filled in."""
        return self.sparse_rows(X).toarray()

    def sparse_rows(self, X: Any) -> sparse.csr_array:
        """The rows φ(x), one per object, as a sparse array."""
        raise TypeError(f"{type(self).__name__} must define sparse_rows(X)")


class Vocabulary(FeatureMap):
    """A map with a column for each entry of a vocabulary, the first field of a dataclass."""

    @property
    def dimension(self) -> int:  # type: ignore[override]
        """The size of the vocabulary."""
        return len(getattr(self, next(iter(vars(self)))))


class VocabularyMap(Vocabulary, SparseFeatureMap):
    """A map over a vocabulary whose rows are mostly zero."""


@dataclass
class SideBySide(FeatureMap):
    """The columns of one map, then those of another."""

    left: FeatureMap
    right: FeatureMap

    @property
    def dimension(self) -> int:  # type: ignore[override]
        """The columns of both."""
        return self.left.dimension + self.right.dimension

    def __call__(self, X: Any) -> Any:
        """The rows of both, side by side."""
        left = self.left(X)
        return namespace(left).concat([left, like(self.right(X), left)], axis=1)

    def sparse_rows(self, X: Any) -> sparse.csr_array:
        """The sparse rows of both, side by side."""
        return sparse.hstack([self.left.sparse_rows(X), self.right.sparse_rows(X)], format="csr")


class _OfAnother(FeatureMap):
    """A map that changes the length of each row of another."""

    inner: FeatureMap

    @property
    def dimension(self) -> int:  # type: ignore[override]
        """The columns of the map inside."""
        return self.inner.dimension


@dataclass
class Stretched(_OfAnother):
    """The features of another map times a number."""

    factor: float
    inner: FeatureMap

    def __call__(self, X: Any) -> Any:
        """The stretched rows."""
        return self.factor * self.inner(X)

    def sparse_rows(self, X: Any) -> sparse.csr_array:
        """The stretched rows, sparse."""
        return self.factor * self.inner.sparse_rows(X)


@dataclass
class UnitLength(_OfAnother):
    """The features of another map divided by the length √k(x, x); rows of length zero stay zero.

    The length is the kernel's: it includes features that the vocabulary leaves out of the row.
    """

    kernel: Kernel
    inner: FeatureMap

    def __call__(self, X: Any) -> Any:
        """The rows at unit length."""
        return self.inner(X) * inverse_lengths(self.kernel.diag(X), self.kernel)[:, None]

    def sparse_rows(self, X: Any) -> sparse.csr_array:
        """The rows at unit length, sparse."""
        lengths = to_numpy(inverse_lengths(self.kernel.diag(X), self.kernel))
        return sparse.csr_array(sparse.diags_array(lengths) @ self.inner.sparse_rows(X))


def inverse_lengths(norms: Array, kernel: Kernel) -> Array:
    """1/√k(x, x), or zero where the norm is zero; raise ValueError if a norm is clearly negative."""
    xp = namespace(norms)
    lowest, highest = float(xp.min(norms)), float(xp.max(norms))
    if lowest < -1e-10 * max(highest, 0.0) or (lowest < 0 and highest <= 0):
        raise ValueError(
            f"{kernel!r} gives k(x, x) = {lowest:.6g} for some object; expected a kernel, which is never below zero there. "
            "It cannot be normalized"
        )
    if lowest < 0:
        warnings.warn(
            f"{kernel!r} gives k(x, x) = {lowest:.3g} for some object (largest {highest:.3g}), below zero by rounding; "
            "it is taken as zero",
            NumericalWarning,
            stacklevel=4,
        )
    positive, one = norms > 0, xp.ones_like(norms)
    return xp.where(positive, one / xp.sqrt(xp.where(positive, norms, one)), xp.zeros_like(norms))
