"""Transformable kernels: each output compares its own transform of the inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

from mercer.core.arrays import Array, is_array, like, namespace
from mercer.core.collections import Collection, concatenate, count, take
from mercer.kernels import FeatureMap, Gaussian, Kernel
from mercer.operators.blocks import BlockOperator, FactoredBlocks
from mercer.operators.valued import OperatorValuedKernel, check_list


class Transformable(OperatorValuedKernel):
    r"""Each output compares its own transform of the inputs, :math:`K(x, z)_{lm} = k(S_l x, S_m z)`.

    The poster prints :math:`k(S_m x, S_l z)` in its definition and :math:`k(S_l x, S_m z)` in its examples. Both are kernels,
    the transpose of each other; this is the second, which agrees with its Examples 1 and 4.

    Parameters
    ----------
    kernel : Kernel
        k, on transformed inputs.
    maps : sequence of p callables or matrices
        The :math:`S_l`. A callable takes a whole collection and returns one as long; a matrix S maps x to S x.

    Examples
    --------
    The poster's Example 1:

    >>> from mercer.kernels import Linear
    >>> kernel = Transformable(Linear(), [lambda X: X, lambda X: X**2])
    >>> kernel.block([2.0], [3.0])
    array([[ 6., 18.],
           [12., 36.]])
    """

    def __init__(self, kernel: Kernel = Gaussian(scale="median"), maps: Sequence[Any] = ()) -> None:  # noqa: B008
        self.kernel = kernel
        self.maps = maps

    @property
    def outputs(self) -> int | None:
        """p, the number of maps."""
        return len(self.maps)

    def kernels(self) -> list[Kernel]:
        """Return the one scalar kernel."""
        return [self.kernel]

    def check_parameters(self) -> None:
        """Raise an error unless there are a scalar kernel of objects and maps."""
        if getattr(self.kernel, "pairwise", True):
            raise TypeError(f"kernel={self.kernel!r:.60} cannot be transformed; expected a scalar kernel of objects")
        check_list(self.maps, "maps", "a list with one map for each output")
        for l, each in enumerate(self.maps):
            if not callable(each) and not (is_array(each) and each.ndim == 2):
                raise TypeError(f"maps[{l}] is {each!r:.60}; expected a function of a collection, or a matrix")

    def images(self, X: Collection) -> list[Collection]:
        """Return S_l X for each output; raise ValueError unless they are as many and of one kind."""
        found: list[Collection] = []
        for l, each in enumerate(self.maps):
            if not callable(each) and X.shape[1] != each.shape[1]:
                raise ValueError(f"maps[{l}] is a matrix for {each.shape[1]} features; expected {X.shape[1]}, as X has")
            image = self.kernel.check(each(X) if callable(each) else X @ like(each, X).T, f"maps[{l}](X)")
            if count(image) != count(X):
                raise ValueError(f"maps[{l}] turned {count(X)} objects into {count(image)}; expected as many")
            if found and is_array(image) and image.ndim == 2 and image.shape[1] != found[0].shape[1]:
                lengths = f"{image.shape[1]} features; expected {found[0].shape[1]}, as maps[0] gives"
                raise ValueError(f"maps[{l}] gives vectors of {lengths}")
            found.append(image)
        return found

    def feature_map(self, X: Collection) -> TransformedFeatures | None:
        """Return the map of k on each transform, if k has one with fewer features than X has outputs in all."""
        finite = self.kernel.feature_map(reduce(concatenate, self.images(X)))
        if finite is None or finite.dimension > count(X) * len(self.maps):
            return None
        return TransformedFeatures(self, finite, finite.dimension)

    def _resolved(self, X: Collection, p: int) -> Transformable:
        return Transformable(self.kernel.resolve(reduce(concatenate, self.images(X))), self.maps)

    def _gram(self, X: Collection, Z: Collection | None) -> BlockOperator:
        features = self.feature_map(X if Z is None else Z)
        if features is not None:
            return FactoredBlocks.of(features, X, Z)
        images = self.images(X)
        return TransformedBlocks(self.kernel, images, images if Z is None else self.images(Z))


@dataclass
class TransformedFeatures(FeatureMap):
    """Features (n, p, dimension) with φ(S_l x) in row l of F(x)."""

    kernel: Transformable
    map: FeatureMap
    dimension: int

    def __call__(self, X: Collection) -> Array:
        """Return F(x) of each object."""
        rows = [self.map(image) for image in self.kernel.images(X)]
        return namespace(rows[0]).stack(rows, axis=1)


class TransformedBlocks(BlockOperator):
    """Blocks from p² scalar Gram matrices of size n×m, one held at a time and computed anew for every product."""

    def __init__(self, kernel: Kernel, left: list[Collection], right: list[Collection]) -> None:
        super().__init__(count(left[0]), count(right[0]), len(left), kernel.diag(left[0]))
        self.kernel = kernel
        self.left = left
        self.right = right

    def matvec(self, coefficients: Array) -> Array:
        """Return Σₘ k(S_l X, S_m Z) c_m for each l."""
        C = self.expect(coefficients, self.columns)
        columns = [
            reduce(add, (self.kernel(image, other) @ C[:, m] for m, other in enumerate(self.right)))
            for image in self.left
        ]
        return namespace(self.reference).stack(columns, axis=1)

    def transposed(self) -> TransformedBlocks:
        """Return the map with the sides exchanged."""
        return TransformedBlocks(self.kernel, self.right, self.left)

    def joint(self, Y: Array, W: Array) -> Array:
        """Return Σ y_l k(S_l x, S_m z) w_m."""
        Y, W = self.expect(Y, self.rows, "Y"), self.expect(W, self.columns, "W")
        pairs = ((l, m) for l in range(self.outputs) for m in range(self.outputs))
        return reduce(add, (Y[:, l][:, None] * self.kernel(self.left[l], self.right[m]) * W[:, m] for l, m in pairs))

    def diagonal_blocks(self) -> Array:
        """Return K(x, x) for each x, one object at a time."""
        xp, blocks = namespace(self.reference), []
        for i in range(self.rows):
            left, right = ([take(image, slice(i, i + 1)) for image in side] for side in (self.left, self.right))
            blocks.append(xp.stack([xp.concat([self.kernel(a, b)[0, :] for b in right]) for a in left]))
        return xp.stack(blocks)
