"""Work on a block of inputs for ridge regression on few features; a block may be on another machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mercer.core.arrays import Array, gram_of, is_array, like, namespace, on_device, to_numpy
from mercer.core.blocks import RowBlocks
from mercer.core.collections import take
from mercer.core.validation import check_whole
from mercer.solvers.kernel_values import check_finite

SAMPLE, EACH = 20_000, 5
"""Inputs among which the pivots are chosen: at least, and for each of them."""


@dataclass
class PivotFeatures:
    """The map from inputs to features, by kernel values against few pivots."""

    kernel: Any
    pivots: Any
    """The pivots, prepared by the kernel."""
    factor: Any
    """Turns kernel values into features, by `extend`."""
    near: Array
    """Roughly the mean of the features."""
    device: str | None = None

    @property
    def size(self) -> int:
        """The number of features."""
        return self.near.shape[0]

    @classmethod
    def chosen(cls, kernel: Any, inputs: RowBlocks, choice: Any, device: str | None) -> PivotFeatures:
        """Choose the pivots among inputs drawn at random, by the rule of a `ColumnChoice`."""
        seed = check_whole(choice.random_state, "random_state", least=0, expected="a whole number, 0 or more")
        _, drawn = inputs.sample(max(SAMPLE, EACH * (choice.rank or 0)), seed)
        drawn = on_device(drawn, device) if is_array(drawn) and kernel.takes_vectors else drawn
        found = choice.factor(kernel, drawn)
        near = on_device(namespace(found.factor).mean(found.factor, axis=0), device)
        pivots = kernel.prepare(take(drawn, found.pivots), checked=True)
        return cls(kernel, pivots, found.on_pivots_alone(), near, device)

    def __call__(self, block: Any) -> tuple[Array, Array]:
        """Return the features of the inputs of a block, and k(x, x) of each."""
        values, norms = self.values(block)
        return self.factor.extend(values), norms

    def values(self, block: Any) -> tuple[Array, Array]:
        """Return the kernel values of the inputs of a block against the pivots, and k(x, x) of each."""
        if self.device is not None and is_array(block) and self.kernel.takes_vectors:
            block = on_device(block, self.device)
        own = self.kernel.prepare(block, checked=True)
        values = on_device(self.kernel(own, self.pivots), self.device)
        check_finite(values, self.kernel, "input")
        return values, own.norms


@dataclass
class NormalEquations:
    """The share of a block in the normal equations, seen from a mean that is roughly that of the features."""

    features: PivotFeatures
    near: Array
    level: Array
    of_values: bool = False
    """True for kernel values against the pivots in place of the features; `near` is then roughly their mean."""

    def __call__(self, block: Any, targets: Array, *roots: Any) -> tuple[Any, ...]:
        """Return FᵀF, FᵀV, the sum of the features, the traces of k and of FFᵀ, and the squares of the targets."""
        rows, norms = self.features.values(block) if self.of_values else self.features(block)
        xp = namespace(rows)
        left = namespace(norms).sum(norms), xp.sum(rows * rows)
        rows = rows - like(self.near, rows)
        targets = like(targets, rows) - like(self.level, rows)
        sums = xp.sum(rows, axis=0)
        if roots:
            root = like(roots[0], rows)[:, None]
            sums, rows, targets = (root[:, 0] * root[:, 0]) @ rows, rows * root, targets * root
        return gram_of(rows), rows.T @ targets, sums, float(left[0]), float(left[1]), xp.sum(targets * targets, axis=0)


@dataclass
class LeftOut:
    """Residuals and leverages of the pairs of a block, for some filters of the path."""

    features: PivotFeatures
    centre: Array
    rotation: Array
    """Takes centred features to rows of U."""
    level: Array
    vectors: Array | None
    """Q, of the operator."""
    shrunk: Sequence[tuple[Array, Array]]
    """1 − R and (1 − R) UᵀV Q of each alpha."""
    total: float
    """The sum of the weights; 0 without an intercept."""
    risks: bool
    """True for squared lengths in place of the residuals."""

    def __call__(self, block: Any, targets: Array, *roots: Any) -> list[Array]:
        """Return one array for each alpha."""
        rows, _ = self.features(block)
        xp = namespace(rows)
        rows = (rows - like(self.centre, rows)) @ like(self.rotation, rows)
        targets = like(targets, rows) - like(self.level, rows)
        vectors = None if self.vectors is None else like(self.vectors, rows)
        targets = targets if vectors is None else targets @ vectors
        weights = like(roots[0] ** 2, rows)[:, None] if roots else None
        squares = rows * rows if weights is None else rows * rows * weights
        own: Any = 0.0 if self.total == 0.0 else (1.0 if weights is None else weights) / self.total
        found: list[Any] = []
        for kept, inside in self.shrunk:
            left = targets - rows @ like(inside, rows)
            left = left / (1.0 - own - squares @ like(kept, rows))
            if self.risks:
                found.append(to_numpy(xp.sum(left * left, axis=1)))
            else:
                found.append(left if vectors is None else left @ vectors.T)
        return found


@dataclass
class TransposedTimes:
    """The transposed kernel values of a block against the pivots times rows of the block, weighted."""

    features: PivotFeatures

    def __call__(self, block: Any, rows: Array, *roots: Any) -> tuple[Array, Array]:
        """Return the share of the block in the product, and the sum of its rows."""
        rows = rows * like(roots[0], rows)[:, None] if roots else rows
        return self.features.values(block)[0].T @ rows, namespace(rows).sum(rows, axis=0)


@dataclass
class Applied:
    """The kernel values of a block against the pivots times coefficients, and a level, weighted."""

    features: PivotFeatures
    coefficients: Array
    level: Array

    def __call__(self, block: Any, *roots: Any) -> Array:
        """Return one row for each input of the block."""
        found = self.features.values(block)[0] @ self.coefficients + self.level
        return found * like(roots[0], found)[:, None] if roots else found
