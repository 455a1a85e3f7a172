"""Which way a system of blocks is solved: exactly where its structure allows, by iteration where it does not."""

from __future__ import annotations

from typing import Any

from mercer.core.arrays import Array, like, to_numpy
from mercer.operators.blocks import BlockOperator, KroneckerSum
from mercer.solvers.base import Solver
from mercer.solvers.block_factored import Factored
from mercer.solvers.block_iterative import Iterative
from mercer.solvers.block_systems import BlockSystem, OneTerm, OneTermFeatures, PerDirection, PerEigenvector, TwoTerms
from mercer.solvers.kronecker import common_basis, pencil


class Structured(Solver):
    """For operator-valued kernels: whatever the structure of the kernel allows, as `OperatorValuedRidge` tells.

    Parameters
    ----------
    tol : float, default=1e-10
        The relative residual an iteration stops at, where one is needed.
    max_iter : int, default=1000
        Most products it takes.

    Examples
    --------
    >>> Structured(tol=1e-6)
    Structured(tol=1e-06)
    """

    def __init__(self, tol: float = 1e-10, max_iter: int = 1000) -> None:
        self.tol = tol
        self.max_iter = max_iter


def factored_system(features: Array, Y: Array, observed: Any = None) -> Factored:
    """The system of a kernel with finite features."""
    mask = None if observed is None else like(observed.astype(float), features)
    return Factored(features, like(Y, features), mask)


def one_term_features(features: Array, T: Array, Y: Array) -> OneTermFeatures:
    """The system of a separable kernel whose scalar kernel has few features."""
    return OneTermFeatures(features, like(T, features), like(Y, features))


def block_system(
    blocks: BlockOperator,
    Y: Array,
    observed: Any = None,
    solver: str = "auto",
    tol: float = 1e-10,
    max_iter: int = 1000,
) -> BlockSystem:
    """The system of these blocks, exact where that can be.

    Parameters
    ----------
    blocks : BlockOperator
        Between training inputs.
    Y : array (n, p)
        Targets, zero where missing.
    observed : boolean array (n, p), optional
        Which targets are there; None for all.
    solver : {"auto", "exact", "cg"}
        "exact" refuses to iterate, "cg" always does.
    tol, max_iter : float, int
        For the iteration.
    """
    Y = like(Y, blocks.reference)
    if solver != "cg":
        found = _exact_system(blocks, Y, observed)
        if found is not None:
            return found
        if solver == "exact":
            missing = "" if observed is None else " with missing outputs"
            raise ValueError(
                f"solver='exact', and nothing takes this system{missing} apart: expected one separable term, terms whose "
                "matrices or Gram matrices commute, or finite features. Use solver='auto', which iterates to tol"
            )
    mask = None if observed is None else like(observed.astype(float), blocks.reference)
    return Iterative(blocks, Y, mask, tol, max_iter)


def _exact_system(blocks: BlockOperator, Y: Array, observed: Any) -> BlockSystem | None:
    if not isinstance(blocks, KroneckerSum):
        return None
    if observed is not None:
        matrices = [_as_diagonal(T) for T in blocks.matrices]
        if any(T is None for T in matrices):
            return None
        basis = common_basis(matrices)
        assert basis is not None
        return PerDirection(blocks, basis, Y, observed)
    if len(blocks.grams) == 1:
        return OneTerm(blocks, Y)
    basis = common_basis(blocks.matrices)
    if basis is not None:
        found = pencil(basis.values, blocks.grams) if len(blocks.grams) == 2 else None
        return PerDirection(blocks, basis, Y) if found is None else TwoTerms(found, basis, Y)
    basis = common_basis(blocks.grams)
    return None if basis is None else PerEigenvector(blocks, basis, Y)


def _as_diagonal(T: Array) -> Array | None:
    """The diagonal of T where there is nothing beside it."""
    if T.ndim == 1:
        return T
    off = to_numpy(T).copy()
    diagonal = off.diagonal().copy()
    off.ravel()[:: off.shape[0] + 1] = 0.0
    return None if off.any() else like(diagonal, T)
