"""Transformable kernels: outputs that look at the input in different ways."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from mercer.core.arrays import Array, is_array, like, namespace
from mercer.core.collections import Collection, concatenate, count, take
from mercer.kernels import Gaussian
from mercer.kernels.base import Kernel
from mercer.kernels.features import FeatureMap
from mercer.operators.blocks import BlockOperator, FactoredBlocks, stacked
from mercer.operators.valued import OperatorValuedKernel


class Transformable(OperatorValuedKernel):
    r"""Each output sees its own transform of the input, :math:`K(x, z)_{lm} = k(S_l x, S_m z)`.

    The poster prints :math:`k(S_m x, S_l z)` in its definition and :math:`k(S_l x, S_m z)` in its examples. Both are kernels;
    they are each other's transpose, and only the second agrees with its Examples 1 and 4. That one is meant here.

    Parameters
    ----------
    kernel : Kernel
        k, on transformed inputs.
    maps : sequence of p callables or matrices
        The :math:`S_l`. A callable takes a whole collection and gives one as long; a matrix S maps x to S x.

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
        """The one scalar kernel."""
        return [self.kernel]

    def check_parameters(self) -> None:
        """A scalar kernel of objects, and maps."""
        if not isinstance(self.kernel, Kernel) or self.kernel.pairwise:
            raise TypeError(
                f"kernel={self.kernel!r:.60} in Transformable; expected a scalar kernel that takes transformed inputs "
                "(a Gram matrix cannot be transformed)"
            )
        if not isinstance(self.maps, list | tuple) or len(self.maps) == 0:
            raise ValueError(f"maps={self.maps!r:.60}; expected a list with one map for each output")
        for l, each in enumerate(self.maps):
            if not callable(each) and not (is_array(each) and each.ndim == 2):
                raise TypeError(f"maps[{l}] is {each!r:.60}; expected a function of a collection, or a matrix")

    def images(self, X: Collection) -> list[Collection]:
        """S_l X for each output, once they are known to be of one kind."""
        found: list[Collection] = []
        for l, each in enumerate(self.maps):
            image = self.kernel.check(_apply(each, X, l), f"maps[{l}](X)")
            if count(image) != count(X):
                raise ValueError(f"maps[{l}] turned {count(X)} objects into {count(image)}; expected as many")
            if found and is_array(image) and image.ndim == 2 and image.shape[1] != found[0].shape[1]:
                raise ValueError(
                    f"maps[{l}] gives vectors of {image.shape[1]} features and maps[0] of {found[0].shape[1]}; expected all "
                    "maps to end in one space"
                )
            found.append(image)
        return found

    def feature_map(self, X: Collection) -> TransformedFeatures | None:
        """The finite map of k on each transform, where k has one with no more features than there are outputs in all."""
        finite = self.kernel.feature_map(reduce(concatenate, self.images(X)))
        if finite is None or finite.dimension > count(X) * len(self.maps):
            return None
        return TransformedFeatures(self, finite, finite.dimension)

    def _resolved(self, X: Collection, p: int) -> Transformable:
        if len(self.maps) != p:
            raise ValueError(f"y has {p} columns and there are {len(self.maps)} maps; expected one map for each output")
        return Transformable(self.kernel.resolve(reduce(concatenate, self.images(X))), self.maps)

    def _block(self, x: Collection, z: Collection) -> Array:
        left, right = self.images(x), self.images(z)
        xp = namespace(self.kernel(left[0], right[0]))
        return xp.stack([xp.concat([self.kernel(a, b)[0, :] for b in right]) for a in left])

    def _gram(self, X: Collection, Z: Collection | None) -> BlockOperator:
        features = self.feature_map(X if Z is None else Z)
        if features is not None:
            left = features(X)
            return FactoredBlocks(left, left if Z is None else features(Z))
        images = self.images(X)
        return TransformedBlocks(self.kernel, images, images if Z is None else self.images(Z))


@dataclass
class TransformedFeatures(FeatureMap):
    """Row l of F(x) is φ(S_l x)."""

    kernel: Transformable
    map: FeatureMap
    dimension: int

    def __call__(self, X: Collection) -> Array:
        """(n, p, dimension)."""
        rows = [self.map(image) for image in self.kernel.images(X)]
        return namespace(rows[0]).stack(rows, axis=1)


class TransformedBlocks(BlockOperator):
    """Blocks from p² scalar Gram matrices of size n×m, one held at a time and made anew for every product."""

    def __init__(self, kernel: Kernel, left: list[Collection], right: list[Collection]) -> None:
        super().__init__(count(left[0]), count(right[0]), len(left), kernel.diag(left[0]))
        self.kernel = kernel
        self.left = left
        self.right = right

    def matvec(self, coefficients: Array) -> Array:
        """Σₘ k(S_l X, S_m Z) c_m for each l."""
        C = self.expect(coefficients, self.columns)
        parts = []
        for image in self.left:
            found = self.kernel(image, self.right[0]) @ C[:, 0]
            for m in range(1, self.outputs):
                found = found + self.kernel(image, self.right[m]) @ C[:, m]
            parts.append(found)
        return stacked(parts, self.reference)

    def transposed(self) -> TransformedBlocks:
        """Sides exchanged."""
        return TransformedBlocks(self.kernel, self.right, self.left)

    def joint(self, Y: Array, W: Array) -> Array:
        """Σ y_l k(S_l x, S_m z) w_m."""
        Y, W = self.expect(Y, self.rows, "Y"), self.expect(W, self.columns, "W")
        pairs = [(l, m) for l in range(self.outputs) for m in range(self.outputs)]
        parts = (Y[:, l][:, None] * self.kernel(self.left[l], self.right[m]) * W[:, m] for l, m in pairs)
        return reduce(lambda total, part: total + part, parts)

    def diagonal_blocks(self) -> Array:
        """K(S_l x, S_m x) for each x, one object at a time."""
        xp = namespace(self.reference)
        blocks = []
        for i in range(self.rows):
            here = slice(i, i + 1)
            row = [xp.concat([self.kernel(take(a, here), take(b, here))[0, :] for b in self.right]) for a in self.left]
            blocks.append(xp.stack(row))
        return xp.stack(blocks)


def _apply(each: Callable[[Collection], Collection] | Array, X: Collection, l: int) -> Collection:
    if callable(each):
        return each(X)
    if X.shape[1] != each.shape[1]:
        raise ValueError(f"maps[{l}] is a matrix for {each.shape[1]} features and X has {X.shape[1]}; expected as many")
    return X @ like(each, X).T
