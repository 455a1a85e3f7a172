"""The positive part of a similarity that is no kernel."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from mercer.core import memory
from mercer.core.arrays import Array, NumericalWarning, eigh, like, namespace
from mercer.core.collections import Collection, count
from mercer.kernels.algebra import Product, Scaled, Sum, _Around, _operand
from mercer.kernels.base import Kernel
from mercer.kernels.features import FeatureMap


@dataclass(eq=False, repr=False)
class Clipped(_Around):
    r"""A similarity with its negative eigenvalues on the training objects set to zero.

    .. math:: k_+(x, z) = k_x^\top U_+ S_+^{-1} U_+^\top k_z, \qquad k = U S U^\top

    On the training objects this is :math:`U_+ S_+ U_+^\top`, the nearest kernel; new objects enter
    by the same formula, so training and prediction use one kernel. A `NumericalWarning` says how
    much was cut.

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

    kernel: Kernel

    @property
    def is_resolved(self) -> bool:
        """False: the eigenvectors have to be learned."""
        return False

    @property
    def is_psd(self) -> bool:
        """True: that is what clipping is for."""
        return True

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
        return f"{_operand(self.kernel, Sum, Product, Scaled)}.clipped()"


@dataclass(eq=False, repr=False)
class ClippedAt(_Around):
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
        What was cut at the bottom of the spectrum.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Linear
    >>> X = np.array([[1.0], [2.0]])
    >>> bool(np.allclose(Linear().clipped().resolve(X)(X), X @ X.T))
    True
    """

    kernel: Kernel
    reference: Collection
    dual: Array
    smallest_eigenvalue: float = 0.0

    @property
    def is_psd(self) -> bool:
        """True."""
        return True

    def feature_map(self, X: Collection) -> Projections:
        """Projections on the positive eigenvectors."""
        return Projections(self)

    def rows(self, X: Collection) -> Array:
        """φ(x), one row per object."""
        values = self.kernel(X, self.reference)
        return values @ like(self.dual, values)

    def _matrix(self, X: Collection, Z: Collection | None) -> Array:
        rows = self.rows(X)
        return rows @ (rows if Z is None else like(self.rows(Z), rows)).T

    def _diag(self, X: Collection) -> Array:
        rows = self.rows(X)
        return namespace(rows).sum(rows * rows, axis=1)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"{type(self).__name__}({self.kernel!r}, <{count(self.reference)} objects>)"


@dataclass
class Projections(FeatureMap):
    """The feature map of a clipped similarity."""

    kernel: ClippedAt

    @property
    def dimension(self) -> int:  # type: ignore[override]
        """How many eigenvalues are positive."""
        return self.kernel.dual.shape[1]

    def __call__(self, X: Collection) -> Array:
        """φ(x), one row per object."""
        return self.kernel.rows(self.kernel.check(X))
