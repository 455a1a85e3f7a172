"""Kernels around the mean of the training objects."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from mercer.core import memory
from mercer.core.arrays import Array, like, namespace
from mercer.core.collections import Collection, count
from mercer.kernels.algebra import Around, Product, Scaled, Sum, operand
from mercer.kernels.base import Kernel, Prepared, same
from mercer.kernels.grams import fresh, row_blocks


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

    kernel: Kernel

    @property
    def is_resolved(self) -> bool:
        """False: the mean is learned."""
        return False

    def _resolved(self, X: Collection) -> CenteredAt:
        way_out = "pass fewer objects, or use the kernel without .centered(), and solver=LowRank(rank=...)"
        memory.require(count(X), count(X), 1, f"the mean of {self!r}", way_out)
        return CenteredAt.mean_of(self.kernel, X)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"{operand(self.kernel, Sum, Product, Scaled)}.centered()"


@dataclass(eq=False, repr=False)
class CenteredAt(Around):
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
        """`kernel` around the mean of the checked objects `X`; `gram` is their Gram matrix where it is known."""
        gram = kernel(X) if gram is None else gram
        xp = namespace(gram)
        uniform = np.full(X.shape[0], 1.0 / X.shape[0])
        weights = like(uniform if weights is None else weights, gram)
        means = gram @ weights
        return cls(kernel, X, weights, means, float(xp.sum(means * weights)), **more)

    def _encode(self, X: Collection, name: str) -> _Centring:
        return _Centring(self, self.kernel.prepare(X, name, checked=True), same(X, self.reference))

    def _matrix(self, X: _Centring, Z: _Centring | None) -> Array:
        gram = fresh(self.kernel(X.inner, None if Z is None else Z.inner), X.inner)
        weights = like(self.weights, gram)
        left = X.means if Z is None or not Z.is_reference else gram @ weights
        if Z is not None and Z.is_reference != X.is_reference and not self.pairwise:
            # the values against the reference objects are here, for the norms too
            if Z.is_reference:
                X.means = left
            else:
                Z.means = gram.T @ weights
        left, right = like(left, gram), like((X if Z is None else Z).means, gram)
        for rows in row_blocks(gram):
            # the two means are added first: a sum of two is the same in either order, so symmetry is exact
            gram[rows, :] = gram[rows, :] - (left[rows, None] + right[None, :]) + self.grand_mean
        return gram

    def _diag(self, X: _Centring) -> Array:
        norms = X.inner.norms
        return norms - 2.0 * like(X.means, norms) + self.grand_mean

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"{type(self).__name__}({self.kernel!r}, <{count(self.reference)} objects>)"


@dataclass
class _Centring:
    """A collection as the kernel inside has prepared it, with the means against the reference objects."""

    kernel: CenteredAt
    inner: Prepared
    is_reference: bool

    @cached_property
    def means(self) -> Array:
        """Σ_p c_p k(x, x_p) for each x."""
        if self.is_reference:
            return self.kernel.means
        if self.kernel.pairwise:
            raise ValueError(
                f"X is a matrix of shape {self.inner.shape} that is not the training Gram matrix, and {self.kernel!r} is "
                "precomputed; expected the training Gram matrix, or rows of kernel values against the training objects "
                "together with it: kernel(rows, gram). Use Precomputed(gram) with indices as objects to evaluate any pair"
            )
        gram = self.kernel.kernel(self.inner, self.kernel.reference)
        return gram @ like(self.kernel.weights, gram)
