"""Kernel values of inputs, made and checked, and the maps from inputs to points that they give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse.linalg

from mercer.core import memory
from mercer.core.arrays import Array, like, namespace, not_psd_message, to_numpy
from mercer.core.blocks import RowBlocks
from mercer.core.collections import Collection, count, is_blocks, take
from mercer.kernels.base import Kernel
from mercer.kernels.features import FeatureMap
from mercer.kernels.grams import asymmetry

WAY_OUT = "use solver='auto', ConjugateGradient() or LowRank(rank=...), whose memory grows with n·rank and not with n²"
_NUMBERS = 2**24  # most kernel values a prediction holds at once


def sub_inputs(kernel: Kernel, inputs: Collection, rows: np.ndarray, columns: np.ndarray) -> Collection:
    """Return some of the inputs; of a Gram matrix, some rows and some columns."""
    chosen = take(inputs, rows)
    return take(chosen.T, columns).T if kernel.pairwise else chosen


def gram_matrix(kernel: Kernel, objects: Collection, side: str, matrices: float, *, decomposed: bool = False) -> Array:
    """Return the Gram matrix of `objects`, checked; raise MemoryError unless `matrices` of its size fit."""
    n = count(objects)
    if matrices * n * n >= memory.SMALL:
        memory.require_near(objects, (n, n, matrices), f"the exact fit ({side} kernel)", WAY_OUT)
    gram = kernel(objects)
    check_gram(gram, kernel, side, decomposed=decomposed)
    return gram


def check_gram(gram: Array, kernel: Kernel, side: str, *, decomposed: bool = False) -> None:
    """Raise ValueError for NaN, and for asymmetry or a negative eigenvalue if the kernel is not valid by construction.

    The smallest eigenvalue is that of a few Lanczos steps; a matrix that will be `decomposed` is left to its decomposition.
    """
    check_finite(gram, kernel, side)
    if kernel.is_psd:
        return
    worst, (i, j), largest = asymmetry(gram)
    if worst > 1e-8 * max(largest, np.finfo(float).tiny):
        raise ValueError(
            f"the {side} kernel {kernel!r} is not symmetric: k(x{i}, x{j}) = {float(gram[i, j]):.6g} and "
            f"k(x{j}, x{i}) = {float(gram[j, i]):.6g}; expected the same value. Symmetrise it with (K + K.T) / 2"
        )
    lowest, highest = (0.0, 0.0) if decomposed else _extreme_eigenvalues(to_numpy(gram))
    if lowest < -1e-6 * max(highest, 0.0):
        raise ValueError(not_psd_message(f"the Gram matrix of the {side} kernel {kernel!r}", lowest, highest))


def check_finite(gram: Array, kernel: Kernel, side: str) -> None:
    """Raise ValueError that names a pair for which the kernel gave NaN or infinity."""
    xp = namespace(gram)
    # the sum of finite entries is finite but for overflow, so entries are seldom looked at one by one
    with np.errstate(over="ignore", invalid="ignore"):
        if bool(xp.isfinite(xp.sum(gram))):
            return
    bad = np.argwhere(~np.isfinite(to_numpy(gram)))
    if len(bad):
        i, j = bad[0]
        raise ValueError(
            f"the {side} kernel {kernel!r} gave {float(gram[int(i), int(j)])} for the pair ({i}, {j}); expected finite "
            "numbers. Check that pair, or the kernel's parameters"
        )


def _extreme_eigenvalues(matrix: np.ndarray) -> tuple[float, float]:
    """The smallest and the largest eigenvalue, roughly; zeros if none stands out below zero."""
    if len(matrix) <= 64:
        values = np.linalg.eigvalsh(matrix)
        return values[0], values[-1]
    options = {"k": 1, "v0": np.random.default_rng(0).standard_normal(len(matrix)), "tol": 1e-2}
    try:
        (lowest,) = scipy.sparse.linalg.eigsh(matrix, which="SA", maxiter=20, return_eigenvectors=False, **options)
    except scipy.sparse.linalg.ArpackNoConvergence:
        return 0.0, 0.0
    (highest,) = scipy.sparse.linalg.eigsh(matrix, which="LA", return_eigenvectors=False, **options)
    return lowest, highest


@dataclass
class KernelBasis:
    """Kernel values against all training inputs, or against the pivots of a low-rank factor."""

    kernel: Kernel
    inputs: Any
    columns: int
    """The number of training inputs."""
    pivots: np.ndarray | None = None

    @classmethod
    def of(cls, kernel: Kernel, inputs: Collection, pivots: np.ndarray | None = None) -> KernelBasis:
        """Prepare the training inputs once for all predictions."""
        basis: Any = inputs
        if not kernel.pairwise:
            basis = kernel.prepare(inputs if pivots is None else take(inputs, pivots), checked=True)
        return cls(kernel, basis, count(inputs), pivots)

    def values(self, inputs: Collection, reference: Array) -> Array:
        """Return the kernel values of each input, in the library and on the device of `reference`."""
        values = self.kernel(inputs, self.inputs)
        if self.pivots is not None and self.kernel.pairwise:
            values = take(values.T, self.pivots).T
        check_finite(values, self.kernel, "input")
        return like(values, reference)


@dataclass
class BlockBasis:
    """Kernel values against all training inputs, which are read in blocks."""

    kernel: Kernel
    inputs: RowBlocks

    @property
    def columns(self) -> int:
        """The number of training inputs."""
        return len(self.inputs)

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError(
            "conjugate gradients predict from all training inputs, which are read in blocks and not saved; use "
            "solver=LowRank(rank), or train on inputs in memory"
        )

    def times(self, inputs: Collection, coefficients: Array) -> Array:
        """Return the kernel values of each input times the coefficients, block by block."""
        own = self.kernel.prepare(inputs, checked=True)
        most = max(1, _NUMBERS // max(1, len(own)))
        return self.inputs.total(CrossProduct(self.kernel, own), coefficients, most=most)[0]


@dataclass
class CrossProduct:
    """Kernel values of some inputs against those of a block, times the coefficients of the block."""

    kernel: Kernel
    inputs: Any

    def __call__(self, block: Collection, coefficients: Array) -> tuple[Array]:
        """Return one row for each input."""
        values = self.kernel(self.inputs, self.kernel.prepare(block, checked=True))
        check_finite(values, self.kernel, "input")
        return (like(values, coefficients) @ coefficients,)


@dataclass
class FeatureBasis:
    """Explicit features of the inputs."""

    map: FeatureMap
    columns: int

    def values(self, inputs: Collection, reference: Array) -> Array:
        """Return the features of each input."""
        return like(self.map(inputs), reference)


@dataclass
class PointMap:
    r"""Points as an affine function of basis values, :math:`h(x) = \kappa_x B + b`.

    `basis` has ``values(inputs, reference)``, which can be multiplied by B, and the number of its ``columns``.
    """

    basis: Any
    coefficients: Array | None
    """B; None for the identity."""
    intercept: Array | None

    @property
    def origin(self) -> Array | None:
        """The point of an input that is like no training input; None for zero."""
        return getattr(self.basis, "origin", self.intercept)

    @property
    def point_map(self) -> PointMap:
        """The map alone, without the training pairs that a subclass may hold."""
        return PointMap(self.basis, self.coefficients, self.intercept)

    def points(self, inputs: Any) -> Array:
        """Return one row of coordinates for each input, a batch at a time."""
        if is_blocks(inputs):
            # training inputs in blocks are read here, and not by a task on the blocks of others
            here = hasattr(self.basis, "times")
            read = (self.points(block) for _, block in inputs.blocks())
            parts: list[Any] = list(read if here else inputs.each(self.point_map.points))
            return namespace(parts[0]).concat(parts)
        n, step = count(inputs), max(1, _NUMBERS // max(1, self.basis.columns))
        if n <= step:
            return self._affine(inputs)
        parts = [self._affine(take(inputs, slice(start, min(start + step, n)))) for start in range(0, n, step)]
        return namespace(parts[0]).concat(parts)

    def _affine(self, inputs: Collection) -> Array:
        if self.coefficients is not None and hasattr(self.basis, "times"):
            found = self.basis.times(inputs, self.coefficients)
        else:
            values = self.basis.values(inputs, self.coefficients)
            found = values if self.coefficients is None else values @ self.coefficients
        return found if self.intercept is None else found + like(self.intercept, found)
