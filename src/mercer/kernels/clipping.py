"""The positive part of a similarity that is not positive semi-definite."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property

from mercer.core import memory
from mercer.core.arrays import Array, NumericalWarning, eigh, like, namespace
from mercer.core.collections import Collection, count
from mercer.kernels.algebra import Around, Product, Scaled, Sum, operand
from mercer.kernels.base import Kernel, Prepared, same
from mercer.kernels.features import FeatureMap


@dataclass(eq=False, repr=False)
class Clipped(Around):
    r"""A similarity with its negative eigenvalues on the training objects set to zero.

    .. math:: k_+(x, z) = k_x^\top U_+ S_+^{-1} U_+^\top k_z, \qquad k = U S U^\top

    On the training objects this is :math:`U_+ S_+ U_+^\top`, the nearest kernel; new objects enter by the same formula. A
    `NumericalWarning` says how much was cut.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Precomputed
    >>> similarity = np.array([[1.0, 2.0], [2.0, 1.0]])  # eigenvalues 3 and -1
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # it says that -1 was cut
    ...     kernel = Precomputed(similarity).clipped().resolve([0, 1])
    >>> kernel([0, 1]).round(6)
    array([[1.5, 1.5],
           [1.5, 1.5]])
    """

    is_psd = True

    kernel: Kernel

    @property
    def is_resolved(self) -> bool:
        """False: the eigenvectors are learned."""
        return False

    def _resolved(self, X: Collection) -> ClippedAt:
        way_out = "pass fewer objects, or use the kernel without .clipped(), if it is one, and solver=LowRank(rank=...)"
        memory.require(count(X), count(X), 3, f"the eigenvectors of {self!r}", way_out)
        gram = self.kernel(X)
        xp = namespace(gram)
        values, vectors = eigh(xp.asarray(gram, copy=True))
        largest = float(values[-1])
        if largest <= 0:
            raise ValueError(f"{self.kernel!r} has no positive eigenvalue on these objects; expected a similarity")
        rounding = values.shape[0] * float(xp.finfo(values.dtype).eps) * largest
        lowest = float(values[0])
        if lowest < -rounding:
            mass = float(xp.sum(xp.abs(values) * xp.astype(values < 0, values.dtype)) / xp.sum(xp.abs(values)))
            warnings.warn(
                f"{self.kernel!r} was clipped: its smallest eigenvalue is {lowest:.6g} (the "
                f"largest is {largest:.6g}), and negative ones make up {mass:.3%} of the spectrum",
                NumericalWarning,
                stacklevel=3,
            )
        first = int(xp.sum(xp.astype(values <= rounding, xp.int64)))
        return ClippedAt(self.kernel, X, vectors[:, first:] / xp.sqrt(values[first:]), lowest)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"{operand(self.kernel, Sum, Product, Scaled)}.clipped()"


@dataclass(eq=False, repr=False)
class ClippedAt(Around):
    """A `Clipped` whose eigenvectors are fixed.

    Parameters
    ----------
    kernel : Kernel
        A resolved similarity.
    reference : collection
        The objects the eigenvectors come from; their Gram matrix for a precomputed kernel.
    dual : array (n, r)
        The positive eigenvectors over the roots of their eigenvalues.
    smallest_eigenvalue : float
        The smallest eigenvalue of the similarity, before clipping.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Linear
    >>> X = np.array([[1.0], [2.0]])
    >>> bool(np.allclose(Linear().clipped().resolve(X)(X), X @ X.T))
    True
    """

    is_psd = True

    kernel: Kernel
    reference: Collection
    dual: Array
    smallest_eigenvalue: float = 0.0

    def feature_map(self, X: Collection) -> Projections:
        """Projections on the positive eigenvectors."""
        return Projections(self)

    def _encode(self, X: Collection, name: str) -> _Projected:
        return _Projected(self, self.kernel.prepare(X, name, checked=True), same(X, self.reference))

    def _matrix(self, X: _Projected, Z: _Projected | None) -> Array:
        if Z is None:
            return X.rows @ X.rows.T
        for side, other in ((X, Z), (Z, X)):
            if other.is_reference:
                side.project(other.inner)
        return X.rows @ like(Z.rows, X.rows).T

    def _diag(self, X: _Projected) -> Array:
        return namespace(X.rows).sum(X.rows * X.rows, axis=1)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"{type(self).__name__}({self.kernel!r}, <{count(self.reference)} objects>)"


@dataclass
class _Projected:
    """A collection as the kernel inside has prepared it, with its features."""

    kernel: ClippedAt
    inner: Prepared
    is_reference: bool

    @cached_property
    def rows(self) -> Array:
        """φ(x), one row per object."""
        return self._rows(self.inner if self.is_reference else self.kernel.reference)

    def project(self, reference: Prepared) -> None:
        """Compute the features with the reference objects as they were prepared."""
        if "rows" not in vars(self):
            self.rows = self._rows(reference)

    def _rows(self, reference: Collection | Prepared) -> Array:
        values = self.kernel.kernel(self.inner, reference)
        return values @ like(self.kernel.dual, values)


@dataclass
class Projections(FeatureMap):
    """The feature map of a clipped similarity."""

    kernel: ClippedAt

    @property
    def dimension(self) -> int:  # type: ignore[override]
        """The number of positive eigenvalues."""
        return self.kernel.dual.shape[1]

    def __call__(self, X: Collection) -> Array:
        """φ(x), one row per object."""
        return self.kernel.prepare(X).encoded.rows
