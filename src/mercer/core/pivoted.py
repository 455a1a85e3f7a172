"""Pivoted incomplete Cholesky: a Gram matrix as G Gᵀ, from a few of its columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.linalg.lapack

from mercer.core.arrays import (
    Array,
    array_namespace,
    clip_spectrum,
    is_numpy_array,
    like,
    solve_triangular,
    to_numpy,
    zeros,
)
from mercer.core.collections import Collection, take
from mercer.core.pivots import PivotRule, RandomPivots
from mercer.core.validation import check_real, check_whole

_INDEFINITE = 1e-6
"""Most that rounding takes a remaining diagonal entry below zero, relative to the largest."""


_STEADY = 1e-4
"""Least square of a pivot relative to the largest, so that products of kernel values lose no more than four digits."""


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
        return array_namespace(self.factor).tril(take(self.factor, self.pivots))

    def on_pivots_alone(self) -> PivotedFactor:
        """Return the same map without the rows of the other objects."""
        return PivotedFactor(np.arange(len(self.pivots)), self.triangle, self.residual)

    def extend(self, columns: Array) -> Array:
        """Return rows of G for objects with kernel values `columns` (m × pivots) against the pivots."""
        return solve_triangular(like(self.triangle, columns), columns.T).T

    def on_pivots(self, coefficients: Array) -> Array:
        """Return coefficients on kernel values against the pivots, from coefficients on the columns of G."""
        return solve_triangular(like(self.triangle, coefficients), coefficients, transpose=True)

    def transposed(self, products: Array) -> Array:
        """Return Gᵀ V from kᵀ V, the products of the kernel values against the pivots (pivots × columns of V)."""
        return solve_triangular(like(self.triangle, products), products)

    @property
    def steady(self) -> bool:
        """True if little is lost when products of kernel values are turned into products of features afterwards."""
        diagonal = to_numpy(array_namespace(self.factor).linalg.diagonal(self.triangle))
        return bool(np.min(diagonal) ** 2 >= _STEADY * np.max(diagonal) ** 2)

    def values_of(self, features: Array) -> Array:
        """Return kernel values against the pivots that have these features."""
        return like(self.triangle, features) @ features


def pivoted_cholesky(
    kernel: _Kernel,
    objects: Collection,
    *,
    rank: int | None = None,
    tol: float = 0.0,
    pivots: PivotRule | None = None,
) -> PivotedFactor:
    """Factor the Gram matrix of `objects` on the pivots that a rule proposes, by default `RandomPivots`.

    Stop at `rank` columns, at `tol` of the trace, or at rounding. A block of pivots takes one evaluation of the kernel and one
    matrix product. Only the columns of the pivots are computed, in O(n·rank²), unless the kernel is a Gram matrix or neither
    `rank` nor `tol` is given.

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
    columns = _Columns(kernel, objects, prepared, gram)
    found = _Growing(columns, to_numpy(kernel.diag(prepared)).astype(float))
    limit = len(found.left) if rank is None else min(int(rank), len(found.left))
    rule, goal = RandomPivots() if pivots is None else pivots, tol * found.whole
    while len(found.pivots) < limit and found.left.sum() > goal:
        proposed = rule.propose(found.left, limit - len(found.pivots))
        if not len(proposed):
            break
        found.add(proposed, rule.accepts, limit, goal)
    if not len(found.pivots):
        raise ValueError(
            f"every object has norm zero under {kernel!r}; expected at least one with k(x, x) > 0. Choose another kernel"
        )
    if gram is None and not kernel.is_psd:
        chosen = take(objects, found.pivots)
        _check_symmetric(to_numpy(kernel(chosen, chosen)), kernel)
    return PivotedFactor(found.pivots, found.rows[: len(found.pivots), :].T, float(found.left.sum() / found.whole))


@dataclass
class _Columns:
    """Columns of a Gram matrix, as rows of an array: of the matrix, or of the kernel where there is none."""

    kernel: _Kernel
    objects: Collection
    prepared: Any
    gram: Array | None

    def at(self, positions: np.ndarray) -> Array:
        """The columns at `positions`, an array that may be overwritten."""
        if self.gram is not None:
            return take(self.gram.T, positions)
        # the whole collection is the second argument, which a kernel sees as encoded once
        return self.kernel(self._encoded(positions), self.prepared)

    def among(self, positions: np.ndarray) -> np.ndarray:
        """The entries between `positions`."""
        if self.gram is not None:
            return to_numpy(take(take(self.gram, positions).T, positions))
        return to_numpy(self.kernel(self._encoded(positions)))

    def _encoded(self, positions: np.ndarray) -> Any:
        return self.kernel.prepare(take(self.objects, positions), checked=True)


class _Growing:
    """A factor to which blocks of columns are added."""

    def __init__(self, columns: _Columns, diagonal: np.ndarray) -> None:
        self.columns, self.left, self.whole = columns, diagonal.copy(), float(diagonal.sum())
        self.largest = float(diagonal.max())
        # random pivots are at times small, and rounding grows by the root of their ratio to the others
        self.rounding = (1000 + len(diagonal)) * np.finfo(float).eps * self.largest
        self.pivots = np.empty(0, dtype=np.intp)
        self.rows: Any = None
        """The transposed factor, and room for more."""
        self._clear_rounding()

    def add(self, proposed: np.ndarray, accepts: Callable[[float, float], bool], limit: int, goal: float) -> None:
        """Add the columns of the proposed pivots that are accepted, up to `limit` in all, until no more than `goal` is left."""
        used = len(self.pivots)
        own = take(self.rows[:used, :].T, proposed) if used else None
        if len(proposed) == 1:
            chosen, triangle = np.zeros(1, dtype=np.intp), np.sqrt(self.left[proposed])[:, None]
        else:
            block = self.columns.among(proposed)
            block = block if own is None else block - to_numpy(own @ own.T)
            chosen, triangle = _accepted(block, accepts, limit - used, self.rounding)
        if not len(chosen):
            self.left[proposed] = 0.0  # rounding
            return
        pivots = proposed[chosen]
        added = self.columns.at(pivots)
        if own is not None:
            added = added - take(own, chosen) @ self.rows[:used, :]
        added = solve_triangular(like(triangle, added), added)
        xp = array_namespace(added)
        left = self.left.sum() - np.cumsum(to_numpy(xp.sum(added * added, axis=1)))
        kept = min(len(pivots), int(np.searchsorted(-left, -goal)) + 1)
        pivots, added = pivots[:kept], added[:kept, :]
        self._store(added, limit)
        self.left -= to_numpy(xp.sum(added * added, axis=0))
        self.pivots = np.concatenate([self.pivots, pivots])
        self.left[self.pivots] = 0.0
        self._clear_rounding()

    def _store(self, added: Array, limit: int) -> None:
        used, size = len(self.pivots), added.shape[0]
        room = 0 if self.rows is None else self.rows.shape[0]
        if used + size > room:
            # doubling keeps memory within twice the need if no rank is given
            rows = zeros((min(limit, max(64, used + size, 2 * room)), added.shape[1]), added)
            if used:
                rows[:used, :] = self.rows[:used, :]
            self.rows = rows
        self.rows[used : used + size, :] = added

    def _clear_rounding(self) -> None:
        """Set what is left but for rounding to zero; raise ValueError for entries clearly below that."""
        if self.left.min() < -_INDEFINITE * max(self.largest, 0.0):
            raise ValueError(
                f"{self.columns.kernel!r} is not positive semi-definite: what is left of k(x, x) after {len(self.pivots)} "
                f"columns falls to {self.left.min():.6g} (the largest was {self.largest:.6g}). Expected a valid kernel; "
                "kernel.clipped() makes one"
            )
        self.left[self.left <= self.rounding] = 0.0


def _accepted(
    block: np.ndarray, accepts: Callable[[float, float], bool], most: int, rounding: float
) -> tuple[np.ndarray, np.ndarray]:
    """Positions in a block of what is left of a Gram matrix that are accepted in turn, and their Cholesky triangle."""
    before = block.diagonal().copy()
    after, lower = before.copy(), np.zeros_like(block)
    chosen: list[int] = []
    for i in range(len(block)):
        if after[i] <= rounding or not accepts(before[i], after[i]):
            continue
        k = len(chosen)
        lower[i:, k] = (block[i:, i] - lower[i:, :k] @ lower[i, :k]) / np.sqrt(after[i])
        after[i + 1 :] -= lower[i + 1 :, k] ** 2
        chosen.append(i)
        if k + 1 == most:
            break
    positions = np.asarray(chosen, dtype=np.intp)
    return positions, lower[positions, : len(chosen)]


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
