"""Systems that nothing takes apart: preconditioned conjugate gradients on the blocks as they are."""

from __future__ import annotations

import warnings
from typing import Any

from mercer.core.arrays import Array, NumericalWarning
from mercer.operators.blocks import BlockOperator, KroneckerSum
from mercer.solvers.block_systems import BlockSystem
from mercer.solvers.conjugate_gradient import SketchedPreconditioner, conjugate_gradient
from mercer.solvers.kronecker import KroneckerPreconditioner

_SKETCH = 100
"""Most products spent on a preconditioner."""


class Iterative(BlockSystem):
    """Conjugate gradients, missing outputs left out of the system.

    The preconditioner solves the nearest separable system where the blocks are a sum of separable ones, and deflates the
    large eigenvalues where they are not.

    Parameters
    ----------
    blocks : BlockOperator
        The blocks between training inputs.
    Y : array (n, p)
        Targets, zero where missing.
    observed : array (n, p), optional
        One where a target is there, zero where it is missing.
    tol : float
        The relative residual to reach.
    max_iter : int
        Most products with the blocks.
    """

    exact = False

    def __init__(
        self, blocks: BlockOperator, Y: Array, observed: Array | None = None, tol: float = 1e-10, max_iter: int = 1000
    ) -> None:
        self.blocks = blocks
        self.Y = Y
        self.observed = observed
        self.tol = tol
        self.max_iter = max_iter
        self.preconditioner: Any
        if isinstance(blocks, KroneckerSum):
            self.preconditioner = KroneckerPreconditioner(blocks.grams, blocks.matrices)
            self.reason = "conjugate gradients, preconditioned by the nearest separable kernel"
        else:
            size = Y.shape[0] * Y.shape[1]
            self.preconditioner = SketchedPreconditioner(self._product, Y, max(1, min(_SKETCH, size // 5)))
            self.reason = "conjugate gradients, preconditioned by a sketch of the blocks"

    def _seen(self, values: Array) -> Array:
        return values if self.observed is None else values * self.observed

    def _product(self, C: Array) -> Array:
        return self._seen(self.blocks.matvec(self._seen(C)))

    def solve(self, alpha: float) -> Array:
        """C, and the course of the iteration in `solution`; a warning where it did not arrive."""
        found = conjugate_gradient(
            lambda C: self._product(C) + alpha * C,
            self._seen(self.Y),
            lambda R: self._seen(self.preconditioner(self._seen(R), alpha)),
            self.tol,
            self.max_iter,
        )
        self.solution = found
        if not found.converged:
            warnings.warn(
                f"conjugate gradients stopped after {found.iterations} iterations at a relative residual of "
                f"{found.residual:.3g}, and tol={self.tol:g} was asked for; raise max_iter, alpha or tol",
                NumericalWarning,
                stacklevel=3,
            )
        return found.values
