"""The low-rank solver: few columns of the Gram matrices on both sides."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

from sklearn.base import clone

from mercer.core import memory
from mercer.core.arrays import NumericalWarning, on_device
from mercer.core.columns import ColumnChoice
from mercer.core.validation import check_whole, is_whole
from mercer.embeddings.pivoted import Pivoted
from mercer.solvers.base import RidgeProblem, Solver, register, separable_only
from mercer.solvers.block_tasks import PivotFeatures
from mercer.solvers.factorization import Factorization
from mercer.solvers.feature_ridge import FeatureRidge, FeatureSpace
from mercer.solvers.kernel_values import KernelBasis, check_finite
from mercer.solvers.ridge_path import RidgePath
from mercer.solvers.streamed import StreamedRidge, as_rows, most_features
from mercer.solvers.structured import Structured

COPIES = 6
"""Arrays of the size of the factor that a path holds at once."""


_GROUPS = 20
"""Most groups that are left out of inputs in blocks."""


class LowRank(Solver):
    r"""Few columns of the Gram matrices, :math:`k \approx G G^\top`: O(n m² + m³) in place of O(n³).

    Predictions use the same factors as training, so the model is exact for the kernel :math:`G G^\top`. m is the number of
    columns taken: n·m kernel values and O(n m² + m³) for the input side, and as much for coordinates of implicit outputs.
    Operators and a path of alphas add eigendecompositions of size m, so that from m of about a third
    of n on an exact factorization is faster.

    Inputs may be read in blocks (see `mercer.io.open_rows`), and columns that would not fit in memory are not kept: the pivots
    are then chosen among inputs drawn at random, 20,000 or five for each pivot, and a pass over all inputs adds up
    :math:`G^\top G` and :math:`G^\top V`. Leaving pairs out takes another pass.

    Parameters
    ----------
    rank : int, optional
        Most columns to take on each side (the paper's m₁ = m₂); by default as many as fit in memory.
    tol : float, default=1e-6
        Stop when this share of the trace is left, or at the rank if that comes first.
    device : str, optional
        Where the algebra runs, through PyTorch; by default where the kernel's columns are.
    pivots : {"random", "greedy", "uniform", "leverage"} or SparseSketch, default="random"
        The choice of columns: with probability proportional to the part of k(x, x) that is left (randomly pivoted Cholesky,
        Chen et al. 2023), the largest part that is left, all alike (Nyström), by ridge leverage scores, or random
        combinations of columns in place of single ones (`SparseSketch`, El Ahmad et al.).
    random_state : int, default=0
        Seed of the choice; one seed gives one model.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> from mercer.solvers import RidgeProblem
    >>> X = np.linspace(0, 1, 100)[:, None]
    >>> found = LowRank(tol=1e-8).factorize(RidgeProblem(Gaussian(1.0), X, X))
    >>> found.rank < 12, found.residual < 1e-8
    (True, True)
    """

    def __init__(
        self,
        rank: int | None = None,
        tol: float = 1e-6,
        device: str | None = None,
        pivots: Any = "random",
        random_state: int = 0,
    ) -> None:
        self.rank = rank
        self.tol = tol
        self.device = device
        self.pivots = pivots
        self.random_state = random_state

    reads_blocks = True
    why = "few columns of {kernel!r} stand for all of it; see residual_ for what they leave out"

    def supports(self, problem: RidgeProblem) -> str | None:
        """Return a reason for operators that are not separable, missing targets, and what inputs in blocks do not have."""
        return separable_only(problem) or blocks_only(problem)

    def for_part(self, size: int) -> LowRank:
        """Return the solver with a rank that `size` pairs have."""
        return self if self.rank is None else clone(self).set_params(rank=min(self.rank, size))

    def output_embedding(self) -> Pivoted:
        """Return the factor of the output side, with the same rank, tolerance and choice of columns."""
        return Pivoted(self.rank, self.tol, self.pivots, self.random_state)

    def report(self, factorization: Factorization, embedding: Any) -> None:
        """Set the rank and the shares of the trace left out on both sides."""
        self.rank_, self.residual_ = factorization.rank, factorization.residual
        self.output_residual_ = warn_of_outputs(embedding)

    def factorize(self, problem: RidgeProblem) -> Factorization:
        """Factor the Gram matrix on few columns; diagonalise the factor unless one map is all that is asked for."""
        if self.rank is not None and is_whole(self.rank) and self.rank > problem.size:
            raise ValueError(
                f"rank={self.rank}, and there are {problem.size} training pairs; expected at most as many columns, or None to "
                "go by tol alone"
            )
        found = self.approximation(problem)
        assert found.rank is not None
        _warn_low_rank(found.residual, "input", found.rank)
        return found

    def approximation(self, problem: RidgeProblem) -> FeatureRidge | RidgePath | StreamedRidge:
        """Return the same as `factorize`, without a warning if much is left out."""
        kernel, inputs = problem.kernel, problem.inputs
        n = problem.size
        if self.rank is not None:
            check_whole(self.rank, "rank", expected="a positive whole number, or None to go by tol alone")
        if self._streams(problem):
            most = min(n, most_features(inputs) if self.rank is None else self.rank)
            choice = ColumnChoice(most, self.tol, self.pivots, self.random_state)
            return StreamedRidge(problem, PivotFeatures.chosen(kernel, as_rows(inputs), choice, self.device))
        fitting = memory.available_bytes(inputs) // (8 * n * COPIES)
        rank = max(1, fitting) if self.rank is None and fitting < n else self.rank
        found = ColumnChoice(rank, self.tol, self.pivots, self.random_state).factor(kernel, inputs)
        check_finite(found.factor, kernel, "input")
        basis, rows = KernelBasis.of(kernel, inputs, found.pivots), on_device(found.factor, self.device)
        one_map = problem.alpha is not None and problem.operator.is_identity and not problem.wants_left_out
        if one_map and problem.targets is not None:
            return FeatureRidge(problem, FeatureSpace(rows, found.on_pivots, basis, found.residual), self)
        spectrum, m = problem.decompose_features(rows), rows.shape[1]
        mean = None if spectrum.mean is None else found.values_of(spectrum.mean)
        on_pivots = found.on_pivots(spectrum.basis)
        spectrum = replace(spectrum, basis=on_pivots, pivots=found.pivots, residual=found.residual, mean=mean)
        path = RidgePath.of(problem, spectrum, basis)
        path.rank = m
        return path

    def _streams(self, problem: RidgeProblem) -> bool:
        """Return True for inputs in blocks, and for those in memory if the columns asked for would not fit beside them."""
        if problem.in_blocks:
            return True
        if self.rank is None or problem.kernel.pairwise or blocks_only(problem, "") is not None:
            return False
        needed = 8 * COPIES * problem.size * min(self.rank, problem.size)
        return needed > 8 * memory.SMALL and needed > memory.available_bytes(problem.inputs)


def blocks_only(problem: RidgeProblem, reason: str = "inputs are read in blocks, and ") -> str | None:
    """Return a reason for what inputs in blocks do not have: points as weights, and many groups that are left out."""
    if not (problem.in_blocks or not reason):
        return None
    if problem.kernel.pairwise:
        return f"{reason}a Gram matrix is not"
    if problem.targets is None:
        return f"{reason}outputs need coordinates; pass embedding=Pivoted(rank), or a decoder that takes coordinates"
    groups = 0 if problem.groups is None else int(problem.groups.max()) + 1
    if groups > _GROUPS and (problem.alpha is None or problem.wants_left_out):
        more = f"of these there are {groups}; pass alpha=number, fewer groups, or inputs in memory"
        return f"{reason}each group is left out by a pass of its own, for up to {_GROUPS} groups, and {more}"
    return None


def warn_of_outputs(embedding: Any) -> float:
    """Return the share of the trace of the output kernel that its coordinates leave out; warn if that is much."""
    residual = float(getattr(embedding, "residual_", 0.0))
    if not embedding.fixed and embedding.coordinates_ is not None:
        _warn_low_rank(residual, "output", embedding.coordinates_.shape[1])
    return residual


def _warn_low_rank(residual: float, side: str, columns: int) -> None:
    """Warn if a low-rank factor leaves out more than a tenth of the trace."""
    if residual > 0.1:
        warnings.warn(
            f"the low-rank factor of the {side} kernel ({columns} columns) leaves out {residual:.1%} of its trace; "
            "raise rank, or give tol, if predictions are poor",
            NumericalWarning,
            stacklevel=4,
        )


register(LowRank(), after=Structured)
