"""Pivoted incomplete Cholesky: a Gram matrix as G Gᵀ, from a few of its columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.linalg.lapack

from mercer.core.arrays import Array, array_namespace, clip_spectrum, is_numpy_array, solve_triangular, to_numpy, zeros
from mercer.core.collections import Collection, take
from mercer.core.validation import check_real, check_whole

_INDEFINITE = 1e-6
"""Most that rounding takes a remaining diagonal entry below zero, relative to the largest."""


class _Kernel(Protocol):
    """The part of a kernel that is needed here."""

    @property
    def pairwise(self) -> bool: ...
    @property
    def is_psd(self) -> bool: ...
    def __call__(self, X: Any, Z: Any = None) -> Array: ...
    def diag(self, X: Any) -> Array: ...
    def check(self, X: Collection, name: str = "X") -> Collection: ...
    def prepare(self, X: Collection, name: str = "X", *, checked: bool = False) -> Any: ...


@dataclass
class PivotedFactor:
    r"""The factor of a Gram matrix on its pivots, :math:`k \approx G G^\top` with :math:`G = k_{:,P} R^{-\top}`.

    New objects have the same feature map, :math:`k_{x,P} R^{-\top}`.
    """

    pivots: np.ndarray
    factor: Array
    residual: float
    """Share of the trace of the Gram matrix that the factor leaves out."""

    @property
    def triangle(self) -> Array:
        """R, the lower triangle with R Rᵀ = k on the pivots."""
        return take(self.factor, self.pivots)

    def extend(self, columns: Array) -> Array:
        """Return rows of G for objects with kernel values `columns` (m × pivots) against the pivots."""
        return solve_triangular(self.triangle, columns.T).T


def pivoted_cholesky(
    kernel: _Kernel, objects: Collection, *, rank: int | None = None, tol: float = 0.0
) -> PivotedFactor:
    """Factor the Gram matrix of `objects`, each pivot the largest diagonal entry that remains.

    Stop at `rank` columns, at `tol` of the trace, or at rounding. Only the columns of the pivots are computed, in O(n·rank²),
    unless the kernel is a Gram matrix or neither `rank` nor `tol` is given.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Linear
    >>> X = np.arange(12.0).reshape(6, 2)
    >>> found = pivoted_cholesky(Linear(), X)
    >>> len(found.pivots), bool(np.allclose(found.factor @ found.factor.T, X @ X.T))
    (2, True)
    """
    if rank is not None:
        check_whole(rank, "rank", expected="a positive whole number, or None to go by tol alone")
    check_real(tol, "tol", 0, 1, closed="left", expected="a share of the trace, 0 ≤ tol < 1")
    objects = kernel.check(objects)
    whole_factor = rank is None and tol == 0.0
    prepared = kernel.prepare(objects, checked=True)
    gram = kernel(prepared) if kernel.pairwise or whole_factor else None
    if whole_factor and is_numpy_array(gram) and gram.diagonal().max() > 0.0:
        return factor_whole(gram, f"the Gram matrix of {kernel!r}")
    left = to_numpy(kernel.diag(prepared)).astype(float).copy()
    whole, largest = left.sum(), left.max()
    size = len(left)
    limit = size if rank is None else min(int(rank), size)
    pivots: list[int] = []
    factor: Array | None = None
    while len(pivots) < limit and left.sum() > tol * whole:
        pivot = int(left.argmax())
        if left[pivot] <= size * np.finfo(float).eps * largest:
            break
        column = gram[:, pivot] if gram is not None else kernel(prepared, take(objects, np.asarray([pivot])))[:, 0]
        if factor is None:
            factor = zeros((size, min(limit, 64)), column)
        used = len(pivots)
        if used == factor.shape[1]:
            # doubling keeps memory within twice the need if no rank is given
            factor = array_namespace(column).concat([factor, zeros((size, min(limit - used, used)), column)], axis=1)
        if used:
            column = column - factor[:, :used] @ factor[pivot, :used]
        column = column / float(np.sqrt(left[pivot]))
        factor[:, used] = column
        left -= to_numpy(column) ** 2
        pivots.append(pivot)
        left[pivots] = 0.0
        if left.min() < -_INDEFINITE * largest:
            raise ValueError(
                f"{kernel!r} is not positive semi-definite: what is left of k(x, x) after {used + 1} columns falls to "
                f"{left.min():.6g} (the largest was {largest:.6g}). Expected a valid kernel; kernel.clipped() makes one"
            )
        np.maximum(left, 0.0, out=left)
    if factor is None:
        raise ValueError(
            f"every object has norm zero under {kernel!r}; expected at least one with k(x, x) > 0. Choose another kernel"
        )
    if gram is None and not kernel.is_psd:
        chosen = take(objects, np.asarray(pivots))
        _check_symmetric(to_numpy(kernel(chosen, chosen)), kernel)
    return PivotedFactor(np.asarray(pivots), factor[:, : len(pivots)], float(left.sum() / whole))


def _check_symmetric(gram: np.ndarray, kernel: Any) -> None:
    gap = float(np.abs(gram - gram.T).max())
    if gap > 1e-8 * float(np.abs(gram).max()):
        raise ValueError(
            f"the Gram matrix of {kernel!r} on its pivots is not symmetric: it differs from its transpose by up to {gap:.6g}; "
            "expected the same value in both orders. Symmetrise it with (K + K.T) / 2"
        )


def factor_whole(gram: np.ndarray, name: str) -> PivotedFactor:
    """Return the factor of a whole Gram matrix, to rounding, by LAPACK.

    Examples
    --------
    >>> gram = np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, 1.0]])
    >>> found = factor_whole(gram, "the example")
    >>> found.pivots.tolist(), bool(np.allclose(found.factor @ found.factor.T, gram))
    ([1, 2], True)
    """
    size, diagonal = len(gram), gram.diagonal()
    rounding = size * np.finfo(float).eps * float(diagonal.max())
    # the transpose is in the order LAPACK works in
    lower, order, rank, _ = scipy.linalg.lapack.dpstrf(gram.T, tol=rounding, lower=1)
    for column in range(1, rank):
        lower[:column, column] = 0.0
    factor = np.empty((size, rank))
    factor[order - 1] = lower[:, :rank]
    # a matrix with a negative eigenvalue has no factor: more than rounding is then left of it
    probe = np.random.default_rng(0).choice([-1.0, 1.0], size)
    if np.abs(gram @ probe - factor @ (factor.T @ probe)).max() > size * rounding:
        clip_spectrum(np.linalg.eigvalsh(gram), name)
    left = np.clip(diagonal - np.sum(factor * factor, axis=1), 0.0, None)
    return PivotedFactor(order[:rank] - 1, factor, float(left.sum() / diagonal.sum()))
