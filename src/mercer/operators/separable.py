"""Operator-valued kernels made of scalar ones: separable kernels, their sums, and transformable kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from mercer.core.arrays import Array, is_array, like, namespace, to_numpy
from mercer.core.collections import Collection, concatenate, count, take
from mercer.core.validation import check_instance
from mercer.kernels import FeatureMap, Gaussian, Kernel
from mercer.operators.base import OperatorSpectrum, Outputs, SeparableOperator
from mercer.operators.blocks import BlockOperator, FactoredBlocks, KroneckerSum
from mercer.operators.valued import OperatorValuedKernel, check_list, output_matrix


class Separable(OperatorValuedKernel, SeparableOperator):  # type: ignore[misc]  # a call returns its blocks
    r"""One kernel of inputs and one matrix of outputs, :math:`K(x, z) = k(x, z)\, T`.

    Parameters
    ----------
    kernel : Kernel, default=Gaussian(scale="median")
        k.
    T : array (p, p) or (p,), optional
        Symmetric and positive semi-definite; a vector is a diagonal matrix. By default the identity: outputs are learned alone.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> Separable(Linear(), [[2.0, 1.0], [1.0, 2.0]]).block([1.0, 2.0], [3.0, 4.0])
    array([[22., 11.],
           [11., 22.]])
    """

    def __init__(self, kernel: Kernel = Gaussian(scale="median"), T: Any = None) -> None:  # noqa: B008
        self.kernel = kernel
        self.T = T

    @property
    def outputs(self) -> int | None:
        """p, the size of T."""
        return None if self.T is None else len(self.T)

    def check_parameters(self) -> None:
        """Raise an error unless k is a kernel and T is symmetric and positive semi-definite."""
        check_instance(self.kernel, "kernel", Kernel, expected="a scalar kernel such as mercer.kernels.Gaussian()")
        if self.T is not None:
            output_matrix(self.T)

    @property
    def is_identity(self) -> bool:  # type: ignore[override]
        """True if outputs are learned alone, with the same weight."""
        return self.T is None or (np.ndim(self.T) == 1 and bool(np.all(to_numpy(self.T) == 1.0)))

    def matrix(self, outputs: Outputs | None = None) -> Array:
        """Return T as an array, (p,) if it was given as a diagonal."""
        T = output_matrix(self.T)
        return T if outputs is None else like(T, outputs.coordinates)

    def spectrum(self, outputs: Outputs) -> OperatorSpectrum | None:
        """Return the eigendecomposition of T, or None for the identity."""
        if self.is_identity:
            return None
        return OperatorSpectrum(self.matrix(outputs), None) if np.ndim(self.T) == 1 else super().spectrum(outputs)

    def _resolved(self, X: Collection, p: int) -> Separable:
        return Separable(self.kernel.resolve(X), np.ones(p) if self.T is None else self.matrix())

    def _gram(self, X: Collection, Z: Collection | None) -> KroneckerSum:
        return KroneckerSum([self.kernel(X, Z)], [self.matrix()])


class SumOfSeparable(OperatorValuedKernel):
    r"""Several kernels of inputs, each with its matrix of outputs, :math:`K(x, z) = \sum_l k_l(x, z)\, T_l`.

    Parameters
    ----------
    terms : sequence of Separable or of (kernel, T)
        At least one.

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Linear
    >>> # a part shared by all tasks, and one for each task alone
    >>> kernel = SumOfSeparable([(Linear(), np.ones((2, 2))), (Gaussian(1.0), np.eye(2))])
    >>> kernel.block([2.0], [2.0])
    array([[5., 4.],
           [4., 5.]])
    """

    def __init__(self, terms: Sequence[Any]) -> None:
        self.terms = terms

    @property
    def outputs(self) -> int | None:
        """p, the size of the matrices."""
        sizes = [term.outputs for term in self._terms()]
        return None if None in sizes else sizes[0]

    def kernels(self) -> list[Kernel]:
        """Return the k_l."""
        return [term.kernel for term in self._terms()]

    def check_parameters(self) -> None:
        """Raise an error unless every term is separable and the matrices have one size."""
        terms = self._terms()
        for i, term in enumerate(terms):
            try:
                term.check_parameters()
            except ValueError as error:
                raise ValueError(f"terms[{i}]: {error}") from None
        sizes = [term.outputs for term in terms if term.outputs is not None]
        if len(set(sizes)) > 1:
            raise ValueError(f"terms have matrices of sizes {sizes}; expected one size, the number of outputs")

    def _terms(self) -> list[Separable]:
        check_list(self.terms, "terms", "a list with at least one Separable or (kernel, T)")
        terms = [Separable(*term) if type(term) is tuple and len(term) == 2 else term for term in self.terms]
        for i, term in enumerate(terms):
            check_instance(term, f"terms[{i}]", Separable, expected="a Separable, or a pair (kernel, T)")
        return terms

    def _resolved(self, X: Collection, p: int) -> SumOfSeparable:
        return SumOfSeparable([term.resolve(X, p) for term in self._terms()])

    def _gram(self, X: Collection, Z: Collection | None) -> KroneckerSum:
        terms = self._terms()
        return KroneckerSum([term.kernel(X, Z) for term in terms], [term.matrix() for term in terms])


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
    >>> from mercer.kernels import Linear
    >>> kernel = Transformable(Linear(), [lambda X: X, lambda X: X**2])  # Example 1 of the poster
    >>> kernel.block([2.0], [3.0])
    array([[ 6., 18.],
           [12., 36.]])
    """

    takes_sparse = False  # maps are functions of arrays

    def __init__(self, kernel: Kernel = Gaussian(scale="median"), maps: Sequence[Any] = ()) -> None:  # noqa: B008
        self.kernel = kernel
        self.maps = maps

    @property
    def outputs(self) -> int | None:
        """p, the number of maps."""
        return len(self.maps)

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
        self.kernel, self.left, self.right = kernel, left, right

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
