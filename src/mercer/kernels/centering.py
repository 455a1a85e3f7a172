"""Kernels around the mean of the training objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from mercer.core import memory
from mercer.core.arrays import Array, like, namespace
from mercer.core.collections import Collection, count
from mercer.kernels.algebra import Product, Scaled, Sum, _Around, _operand
from mercer.kernels.base import Kernel, _same
from mercer.kernels.grams import fresh, row_blocks


@dataclass(eq=False, repr=False)
class Centered(_Around):
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
        """False: the mean has to be learned."""
        return False

    def _resolved(self, X: Collection) -> CenteredAt:
        way_out = "pass fewer objects, or use the kernel without .centered(), and solver=LowRank(rank=...)"
        memory.require(count(X), count(X), 1, f"the mean of {self!r}", way_out)
        return CenteredAt.mean_of(self.kernel, X)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"{_operand(self.kernel, Sum, Product, Scaled)}.centered()"


@dataclass(eq=False, repr=False)
class CenteredAt(_Around):
    r"""A kernel around a weighted mean of reference objects, :math:`\mu = \sum_p c_p \phi(x_p)` with :math:`\sum_p c_p = 1`.

    .. math:: k(x, z) - \sum_p c_p k(x, x_p) - \sum_p c_p k(z, x_p) + \sum_{pq} c_p c_q k(x_p, x_q)

    Made by `Centered`; evaluated on the reference objects themselves, or against them, it costs no
    more than the kernel inside.

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

    def _matrix(self, X: Collection, Z: Collection | None) -> Array:
        gram = fresh(self.kernel(X, Z), X)
        at_reference = Z is not None and _same(Z, self.reference)
        left = gram @ like(self.weights, gram) if at_reference else self._means_of(X, Z is None)
        right = left if Z is None else self._means_of(Z, True)
        left, right = like(left, gram), like(right, gram)
        for rows in row_blocks(gram):
            # the two means are added first: a sum of two is the same in either order, so symmetry
            # is exact
            gram[rows, :] = gram[rows, :] - (left[rows, None] + right[None, :]) + self.grand_mean
        return gram

    def _diag(self, X: Collection) -> Array:
        norms = self.kernel.diag(X)
        return norms - 2.0 * like(self._means_of(X, True), norms) + self.grand_mean

    def _means_of(self, X: Collection, alone: bool) -> Array:
        """Σ_p c_p k(x, x_p) for each x; `alone`: a Gram matrix given for X must then be that of the reference."""
        if _same(X, self.reference):
            return self.means
        if self.pairwise and alone:
            raise ValueError(
                f"X is a matrix of shape {tuple(X.shape)} that is not the training Gram matrix, and "
                f"{self!r} is precomputed; expected the training Gram matrix, or rows of kernel "
                "values against the training objects together with it: kernel(rows, gram). Use "
                "Precomputed(gram) with indices as objects to evaluate any pair"
            )
        gram = self.kernel(X, self.reference)
        return gram @ like(self.weights, gram)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"{type(self).__name__}({self.kernel!r}, <{count(self.reference)} objects>)"
