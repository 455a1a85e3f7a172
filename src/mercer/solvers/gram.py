"""Gram matrices, made with the memory checked and the kernel's promises measured."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse.linalg

from mercer.core import memory
from mercer.core.arrays import Array, NumericalWarning, namespace, not_psd_message, to_numpy
from mercer.core.collections import Collection, count
from mercer.kernels.base import Kernel
from mercer.kernels.grams import asymmetry

WAY_OUT = "fit on fewer pairs, or use solver=LowRank(rank=...), whose memory grows with n·rank and not with n²"


def gram_matrix(kernel: Kernel, objects: Collection, side: str, matrices: float, *, decomposed: bool = False) -> Array:
    """The Gram matrix of `objects`, once `matrices` of its size are known to fit and it is known to be one."""
    memory.require(count(objects), count(objects), matrices, f"the exact fit ({side} kernel)", WAY_OUT)
    gram = kernel(objects)
    check_gram(gram, kernel, side, decomposed=decomposed)
    return gram


def check_gram(gram: Array, kernel: Kernel, side: str, *, decomposed: bool = False) -> None:
    """Raise unless `gram` is the Gram matrix of a kernel.

    Kernels that are positive semi-definite by construction are checked for NaN only; others also for symmetry and for
    a clearly negative eigenvalue (by a few Lanczos steps, which is where a bad one shows first), unless the matrix is to be
    `decomposed` anyway, which shows all of them.
    """
    check_finite(gram, kernel, side)
    if not kernel.is_psd:
        check_symmetric(gram, kernel, side)
        if not decomposed:
            check_positive(gram, kernel, side)


def check_finite(gram: Array, kernel: Kernel, side: str) -> None:
    """Raise if the kernel gave NaN or infinity, naming a pair."""
    xp = namespace(gram)
    # the sum is finite iff all entries are, but for overflow: the exact look is taken only when it is not
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


def check_symmetric(gram: Array, kernel: Kernel, side: str) -> None:
    """Raise if k(x, z) and k(z, x) differ by more than rounding, naming the worst pair."""
    worst, (i, j), largest = asymmetry(gram)
    if worst > 1e-8 * max(largest, np.finfo(float).tiny):
        raise ValueError(
            f"the {side} kernel {kernel!r} is not symmetric: k(x{i}, x{j}) = {float(gram[i, j]):.6g} and "
            f"k(x{j}, x{i}) = {float(gram[j, i]):.6g}; expected the same value. Symmetrise it with (K + K.T) / 2"
        )


def check_positive(gram: Array, kernel: Kernel, side: str, tolerance: float = 1e-6) -> None:
    """Raise if the Gram matrix has a clearly negative eigenvalue, and say it."""
    matrix = to_numpy(gram)
    if len(matrix) <= 64:
        values = np.linalg.eigvalsh(matrix)
        lowest, highest = values[0], values[-1]
    else:
        start = np.random.default_rng(0).standard_normal(len(matrix))
        try:
            lowest = scipy.sparse.linalg.eigsh(
                matrix, k=1, which="SA", v0=start, tol=1e-2, maxiter=20, return_eigenvectors=False
            )[0]
        except scipy.sparse.linalg.ArpackNoConvergence:
            return  # nothing stands out below zero
        highest = scipy.sparse.linalg.eigsh(matrix, k=1, which="LA", v0=start, tol=1e-2, return_eigenvectors=False)[0]
    if lowest < -tolerance * max(highest, 0.0):
        raise ValueError(not_psd_message(f"the Gram matrix of the {side} kernel {kernel!r}", lowest, highest))


def warn_low_rank(residual: float, side: str, columns: int) -> None:
    """Say how much of the trace a low-rank factor leaves out, when that is a lot."""
    if residual > 0.1:
        warnings.warn(
            f"the low-rank factor of the {side} kernel ({columns} columns) leaves out {residual:.1%} of its trace; "
            "raise rank, or give tol, if predictions are poor",
            NumericalWarning,
            stacklevel=4,
        )
