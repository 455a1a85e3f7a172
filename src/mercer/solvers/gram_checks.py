"""Gram matrices that are asked for, made and checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse.linalg

from mercer.core import memory
from mercer.core.arrays import Array, namespace, not_psd_message, to_numpy
from mercer.core.collections import Collection, count, take
from mercer.kernels.base import Kernel
from mercer.kernels.grams import asymmetry

if TYPE_CHECKING:
    pass


WAY_OUT = "use solver='auto', ConjugateGradient() or LowRank(rank=...), whose memory grows with n·rank and not with n²"


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
