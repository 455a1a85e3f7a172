"""Kernels learned from reference objects: around their mean, or with negative eigenvalues set to zero."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from mercer.core import memory
from mercer.core.arrays import Array, NumericalWarning, cached_property, eigh, like, namespace
from mercer.core.collections import Collection, count
from mercer.kernels.algebra import Around, Product, Scaled, Sum, operand
from mercer.kernels.base import Kernel, Prepared, same
from mercer.kernels.features import FeatureMap
from mercer.kernels.grams import fresh, row_blocks


@dataclass
class _Referenced:
    """A collection as the kernel inside has prepared it, with its projection on the reference objects."""

    kernel: CenteredAt | ClippedAt
    inner: Prepared
    is_reference: bool

    @cached_property
    def projection(self) -> Array:
        """Kernel values against the reference objects, times weights or eigenvectors."""
        return self.kernel._projection(self, self.inner if self.is_reference else self.kernel.reference)

    def project(self, reference: Prepared) -> None:
        """Project on the reference objects as they were prepared, instead of preparing them again."""
        if "projection" not in vars(self):
            self.projection = self.kernel._projection(self, reference)


class _AtReference(Around):
    """A kernel that compares objects with reference objects."""

    reference: Collection

    def _encode(self, X: Collection, name: str) -> _Referenced:
        return _Referenced(self, self.kernel.prepare(X, name, checked=True), same(X, self.reference))

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"{type(self).__name__}({self.kernel!r}, <{count(self.reference)} objects>)"


@dataclass(eq=False, repr=False)
class Centered(Around):
    r"""A kernel around the mean of the training objects, :math:`\langle\phi(x) - \mu, \phi(z) - \mu\rangle`.

    The mean μ is learned: `resolve` gives a `CenteredAt`, which can be evaluated.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> Linear().centered()
    Linear().centered()
    >>> Linear().centered().resolve([[1.0], [3.0]])([[4.0]], [[1.0], [3.0]])
    array([[-2.,  2.]])
    """

    is_resolved = False

    kernel: Kernel

    def _resolved(self, X: Collection) -> CenteredAt:
        way_out = "pass fewer objects, or use the kernel without .centered(), and solver=LowRank(rank=...)"
        memory.require(count(X), count(X), 1, f"the mean of {self!r}", way_out)
        return CenteredAt.mean_of(self.kernel, X)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"{operand(self.kernel, Sum, Product, Scaled)}.centered()"


@dataclass(eq=False, repr=False)
class CenteredAt(_AtReference):
    r"""A kernel around a weighted mean of reference objects, :math:`\mu = \sum_p c_p \phi(x_p)` with :math:`\sum_p c_p = 1`.

    .. math:: k(x, z) - \sum_p c_p k(x, x_p) - \sum_p c_p k(z, x_p) + \sum_{pq} c_p c_q k(x_p, x_q)

    Made by `Centered`; on the reference objects, or against them, it costs no more than the kernel inside.

    Parameters
    ----------
    kernel : Kernel
        A resolved kernel.
    reference : collection
        The objects x_p; their Gram matrix for a precomputed kernel.
    weights : array of shape (n,)
        The c_p.
    means : array of shape (n,)
        Σ_q c_q k(x_p, x_q) for each reference object.
    grand_mean : float
        Σ_pq c_p c_q k(x_p, x_q).

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> kernel = Linear().centered().resolve([[1.0], [3.0]])
    >>> type(kernel).__name__, kernel.diag([[2.0]])
    ('CenteredAt', array([0.]))
    """

    kernel: Kernel
    reference: Collection
    weights: Array
    means: Array
    grand_mean: float

    @classmethod
    def mean_of(
        cls, kernel: Kernel, X: Collection, weights: Array | None = None, gram: Array | None = None, **more: Any
    ) -> Self:
        """`kernel` around the mean of the checked objects `X`; `gram` is their Gram matrix if it is known."""
        gram = kernel(X) if gram is None else gram
        xp = namespace(gram)
        uniform = np.full(X.shape[0], 1.0 / X.shape[0])
        weights = like(uniform if weights is None else weights, gram)
        means = gram @ weights
        return cls(kernel, X, weights, means, float(xp.sum(means * weights)), **more)

    def _matrix(self, X: _Referenced, Z: _Referenced | None) -> Array:
        gram = fresh(self.kernel(X.inner, None if Z is None else Z.inner), X.inner)
        weights = like(self.weights, gram)
        left = X.projection if Z is None or not Z.is_reference else gram @ weights
        if Z is not None and Z.is_reference != X.is_reference and not self.pairwise:
            # the values against the reference objects are here, for the norms too
            if Z.is_reference:
                X.projection = left
            else:
                Z.projection = gram.T @ weights
        left, right = like(left, gram), like((X if Z is None else Z).projection, gram)
        for rows in row_blocks(gram):
            # the two means are added first: a sum of two is the same in either order, so symmetry is exact
            gram[rows, :] = gram[rows, :] - (left[rows, None] + right[None, :]) + self.grand_mean
        return gram

    def _diag(self, X: _Referenced) -> Array:
        norms = X.inner.norms
        return norms - 2.0 * like(X.projection, norms) + self.grand_mean

    def _projection(self, X: _Referenced, reference: Collection | Prepared) -> Array:
        """Σ_p c_p k(x, x_p) for each x."""
        if X.is_reference:
            return self.means
        if self.pairwise:
            raise ValueError(
                f"X is a matrix of shape {X.inner.shape} that is not the training Gram matrix, and {self!r} is precomputed; "
                "expected the training Gram matrix, or rows of kernel values against the training objects together with it: "
                "kernel(rows, gram). Use Precomputed(gram) with indices as objects to evaluate any pair"
            )
        values = self.kernel(X.inner, reference)
        return values @ like(self.weights, values)


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
    is_resolved = False

    kernel: Kernel

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
                f"{self.kernel!r} was clipped: its smallest eigenvalue is {lowest:.6g} (the largest is {largest:.6g}), and "
                f"negative ones make up {mass:.3%} of the spectrum",
                NumericalWarning,
                stacklevel=3,
            )
        first = int(xp.sum(xp.astype(values <= rounding, xp.int64)))
        return ClippedAt(self.kernel, X, vectors[:, first:] / xp.sqrt(values[first:]), lowest)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"{operand(self.kernel, Sum, Product, Scaled)}.clipped()"


@dataclass(eq=False, repr=False)
class ClippedAt(_AtReference):
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

    def feature_map(self, X: Any) -> Projections:
        """Projections on the positive eigenvectors."""
        return Projections(self)

    def _matrix(self, X: _Referenced, Z: _Referenced | None) -> Array:
        if Z is None:
            return X.projection @ X.projection.T
        for side, other in ((X, Z), (Z, X)):
            if other.is_reference:
                side.project(other.inner)
        return X.projection @ like(Z.projection, X.projection).T

    def _diag(self, X: _Referenced) -> Array:
        return namespace(X.projection).sum(X.projection * X.projection, axis=1)

    def _projection(self, X: _Referenced, reference: Collection | Prepared) -> Array:
        """φ(x) for each x."""
        values = self.kernel(X.inner, reference)
        return values @ like(self.dual, values)


@dataclass
class Projections(FeatureMap):
    """The feature map of a clipped similarity."""

    kernel: ClippedAt

    @property
    def dimension(self) -> int:  # type: ignore[override]
        """The number of positive eigenvalues."""
        return self.kernel.dual.shape[1]

    def __call__(self, X: Any) -> Array:
        """φ(x), one row per object."""
        return self.kernel.prepare(X).encoded.projection
