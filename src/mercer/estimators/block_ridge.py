"""The ridge of an operator-valued kernel on vectors: all ridges of one problem, and the map each of them gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.core import memory
from mercer.core.arrays import Array, like, namespace, to_numpy
from mercer.core.collections import Collection, count, take
from mercer.kernels.features import FeatureMap
from mercer.operators.blocks import BlockOperator, KroneckerSum
from mercer.operators.separable import Separable
from mercer.operators.valued import OperatorValuedKernel
from mercer.selection.ridge import LeaveOneOut
from mercer.solvers.block_auto import block_system, factored_system, one_term_features
from mercer.solvers.block_systems import BlockSystem
from mercer.solvers.gram import check_gram

_NUMBERS = 2**24
"""Numbers a prediction may hold at a time."""


@dataclass
class BlockMap:
    """h(x) = Σⱼ K(x, xⱼ) cⱼ, or the features of x times weights where there are finitely many."""

    kernel: OperatorValuedKernel
    inputs: Collection
    dual: Array
    features: FeatureMap | None
    weights: Array | None

    def __call__(self, inputs: Collection) -> Array:
        """One row of p outputs for each input, a batch at a time."""
        n, p = count(inputs), self.dual.shape[1]
        width = count(self.inputs) if self.features is None else p * self.features.dimension
        step = max(1, _NUMBERS // max(width, 1))
        parts = [self._values(take(inputs, slice(start, min(start + step, n)))) for start in range(0, n, step)]
        return namespace(parts[0]).concat(parts)

    def _values(self, inputs: Collection) -> Array:
        if self.features is None:
            return self.kernel.gram(inputs, self.inputs).matvec(self.dual)
        rows = self.features(inputs)
        return rows @ like(self.weights, rows)


class BlockRidge:
    """The systems (K + αI) c = y of a resolved kernel on given inputs, one for each ridge α.

    Parameters
    ----------
    kernel : OperatorValuedKernel
        K, resolved.
    inputs : collection of n inputs
    targets : array (n, p)
        Zero where missing.
    observed : boolean array (n, p), optional
        Which targets are there.
    solver, tol, max_iter : str, float, int
        As in `OperatorValuedRidge`.
    """

    system: BlockSystem

    def __init__(
        self,
        kernel: OperatorValuedKernel,
        inputs: Collection,
        targets: Array,
        observed: np.ndarray | None = None,
        solver: str = "auto",
        tol: float = 1e-10,
        max_iter: int = 1000,
    ) -> None:
        self.kernel, self.inputs, self.targets = kernel, inputs, targets
        self.features = kernel.feature_map(inputs) if solver != "cg" else None
        few = _few_features(kernel, inputs) if solver != "cg" and observed is None else None
        if self.features is not None:
            self.system = factored_system(self.features(inputs), targets, observed)
        elif few is not None:
            assert isinstance(kernel, Separable)
            self.features = few
            self.system = one_term_features(few(inputs), kernel.matrix(), targets)
        else:
            self.system = block_system(_blocks(kernel, inputs), targets, observed, solver, tol, max_iter)

    def solve(self, alpha: float) -> BlockMap:
        """The map of one ridge."""
        dual = self.system.solve(alpha)
        weights = None if self.features is None else self.system.weights(alpha)  # type: ignore[attr-defined]
        return BlockMap(self.kernel, self.inputs, dual, self.features, weights)

    def grid(self, rule: LeaveOneOut) -> np.ndarray:
        """The ridges to try: those of the rule, or 21 over ten decades around the scale of the kernel."""
        if not self.system.exact:
            raise ValueError(
                "choosing alpha needs exact leave-one-out, and this system is solved by iteration. Give alpha as a "
                "number, search over it with GridSearchCV, or use a kernel whose structure is solved exactly (see the table "
                "in OperatorValuedRidge)"
            )
        if rule.alphas is not None:
            return rule.grid(None)  # type: ignore[arg-type]  # the grid given, checked
        mean = to_numpy(self.kernel.gram(self.inputs).trace_block()) / count(self.inputs)
        scale = float(np.linalg.eigvalsh(0.5 * (mean + mean.T))[-1])
        return np.logspace(-8, 2, 21) * (scale if scale > 0 else 1.0)

    def leave_one_out(self, alpha: float) -> Array:
        """The point predicted for each training input without it."""
        left = self.system.leave_one_out(alpha)
        return like(self.targets, left) - left

    def leave_one_out_risks(self, alphas: Sequence[Any], gram: Array | None = None) -> Iterator[Array]:
        """Squared errors of these points; targets are coordinates here, so no Gram matrix of outputs is looked at."""
        assert gram is None
        for alpha in alphas:
            left = self.system.leave_one_out(float(alpha))
            yield namespace(left).sum(left * left, axis=1)


def _few_features(kernel: OperatorValuedKernel, inputs: Collection) -> FeatureMap | None:
    """The finite map of a separable kernel's k, where it has fewer features than there are inputs."""
    if not isinstance(kernel, Separable):
        return None
    found = kernel.kernel.feature_map(inputs)
    return found if found is not None and found.dimension < count(inputs) else None


def _blocks(kernel: OperatorValuedKernel, inputs: Collection) -> BlockOperator:
    """The blocks between the inputs, once they are known to fit and to come from valid kernels."""
    scalar = kernel.kernels()
    way_out = "fit on fewer pairs, or use finite features (Entangled or PartialTrace with Nystroem)"
    memory.require(count(inputs), count(inputs), 4.0 + 4.0 * len(scalar), "the fit", way_out)
    blocks = kernel.gram(inputs)
    if isinstance(blocks, KroneckerSum):
        for each, gram in zip(scalar, blocks.grams, strict=True):
            check_gram(gram, each, "input")
    return blocks
