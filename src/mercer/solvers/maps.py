"""Maps from inputs to points: kernel values or features of inputs, times coefficients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.core.arrays import Array, like, namespace
from mercer.core.blocks import RowBlocks, is_blocks
from mercer.core.collections import Collection, count, take
from mercer.kernels.base import Kernel
from mercer.kernels.features import FeatureMap
from mercer.solvers.gram_checks import check_finite

if TYPE_CHECKING:
    pass


_NUMBERS = 2**24  # most kernel values a prediction holds at once


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
