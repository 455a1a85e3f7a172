"""Ridge leverage scores: the share of each object in the directions that a ridge leaves (Alaoui and Mahoney 2015)."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.core.arrays import add_to_diagonal, cholesky, solve_triangular, to_numpy
from mercer.core.collections import Collection
from mercer.core.pivoted import pivoted_cholesky
from mercer.core.pivots import PivotRule


def leverage_scores(kernel: Any, objects: Collection, rank: int, pivots: PivotRule) -> np.ndarray:
    r"""Estimate the diagonal of :math:`K (K + \lambda I)^{-1}` from a first factor on other pivots.

    :math:`\lambda` is the trace that this factor leaves out, over its rank. What it leaves out of an object counts in full:
    :math:`f_i^\top (F^\top F + \lambda I)^{-1} f_i + (k_{ii} - \|f_i\|^2) / \lambda`.

    Examples
    --------
    >>> from mercer.core.pivots import GreedyPivots
    >>> from mercer.kernels import Gaussian
    >>> X = np.array([[0.0], [0.01], [0.02], [9.0]])
    >>> int(leverage_scores(Gaussian(1.0), X, 1, GreedyPivots()).argmax())
    3
    """
    factor = pivoted_cholesky(kernel, objects, rank=rank, pivots=pivots).factor
    norms = to_numpy(kernel.diag(objects))
    left = np.clip(norms - to_numpy((factor * factor).sum(axis=1)), 0.0, None)
    ridge = max(float(left.sum()), 1e-12 * float(norms.sum())) / factor.shape[1]
    solved = solve_triangular(cholesky(add_to_diagonal(factor.T @ factor, ridge)), factor.T)
    return to_numpy((solved * solved).sum(axis=0)) + left / ridge
