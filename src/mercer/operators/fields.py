"""Kernels for vector fields without curl, or without divergence."""

from __future__ import annotations

from typing import Any, Self

from mercer.core.arrays import Array, eye, namespace
from mercer.core.collections import Collection
from mercer.kernels import Gaussian, Kernel
from mercer.kernels.vectors import matched, squared_euclidean
from mercer.operators.blocks import BlockOperator
from mercer.operators.valued import OperatorValuedKernel


class FieldKernel(OperatorValuedKernel):
    """Second derivatives of the Gaussian kernel g of scale s, K = (sign·uuᵀ + level·I) g with u = (x − z)/s.

    Parameters
    ----------
    scale : float or "median"
        s, a distance, as in `Gaussian`.
    features : int, optional
        The dimension d of the field (at least 2 without divergence); set by `resolve`.
    """

    takes_sparse = False  # the blocks are made of differences
    sign: float
    dimensions: int = 1  # the smallest that a field may have

    def __init__(self, scale: float | str = 1.0, features: int | None = None) -> None:
        self.scale = scale
        self.features = features

    @property
    def outputs(self) -> int | None:
        """p, the number of features; known once resolved."""
        return self.features

    def kernels(self) -> list[Kernel]:
        """Return the Gaussian kernel."""
        return [Gaussian(self.scale)]

    def check(self, X: Any, name: str = "X") -> Array:
        """Return `X` as vectors with one feature for each output."""
        X = super().check(X, name)
        if self.features is not None and X.shape[1] != self.features:
            raise ValueError(f"{name} has {X.shape[1]} features; expected {self.features}, the dimension of {self!r}")
        if X.shape[1] < self.dimensions:
            raise ValueError(f"{name} has a single feature; expected two or more for {type(self).__name__}")
        return X

    def level(self, squared: Array, d: int) -> Array:
        """Return the factor of I in d dimensions, for squared distances ‖u‖²."""
        raise TypeError(f"{type(self).__name__} must define level(squared, d)")

    def _resolved(self, X: Collection, p: int) -> Self:
        if X.shape[1] != p:
            raise ValueError(f"y has {p} columns and X has {X.shape[1]}; expected as many of each for a vector field")
        return type(self)(Gaussian(self.scale).resolve(X).scale, p)

    def _gram(self, X: Any, Z: Any) -> FieldBlocks:
        return FieldBlocks(self, X, X if Z is None else matched(X, Z))


class CurlFree(FieldKernel):
    r"""Fields that are gradients, :math:`K(x, z) = (I - uu^\top)\, e^{-\|u\|^2/2}` with :math:`u = (x - z)/s`.

    This is :math:`-s^2\,\nabla\nabla^\top` of the Gaussian kernel; the factor s² makes K(x, x) the identity.

    Examples
    --------
    >>> CurlFree(scale=1.0, features=2).block([0.0, 0.0], [0.0, 0.0])
    array([[1., 0.],
           [0., 1.]])
    """

    sign = -1.0

    def level(self, squared: Array, d: int) -> Array:
        """Return 1."""
        return 0.0 * squared + 1.0


class DivergenceFree(FieldKernel):
    r"""Fields without sources, :math:`K(x, z) = (uu^\top + (d - 1 - \|u\|^2) I)\, e^{-\|u\|^2/2}` with :math:`u = (x - z)/s`.

    This is :math:`s^2 (\nabla\nabla^\top - \nabla^2 I)` of the Gaussian kernel. Its sum with the curl-free kernel of the same
    scale is a multiple of the identity (Helmholtz).

    Examples
    --------
    >>> DivergenceFree(scale=1.0, features=3).block([0.0, 0.0, 0.0], [0.0, 0.0, 0.0])
    array([[2., 0., 0.],
           [0., 2., 0.],
           [0., 0., 2.]])
    """

    sign = 1.0
    dimensions = 2

    def level(self, squared: Array, d: int) -> Array:
        """Return d − 1 − ‖u‖²."""
        return (d - 1.0) - squared


class FieldBlocks(BlockOperator):
    r"""Blocks of a field kernel, applied through n×m matrices only.

    With :math:`w_{ij} = u_{ij} \cdot c_j` and :math:`A = g \circ w`, the sum of :math:`g\,u_{ij}w_{ij}` over j is
    :math:`x_i (A\mathbf{1})_i - (AZ)_i`.
    """

    def __init__(self, kernel: FieldKernel, X: Array, Z: Array) -> None:
        super().__init__(X.shape[0], Z.shape[0], X.shape[1], X)
        self.kernel = kernel
        xp, scale, origin = namespace(X), float(kernel.scale), namespace(Z).mean(Z, axis=0)
        # near the origin little is lost to cancellation
        self.X, self.Z = (X - origin) / scale, (Z - origin) / scale
        squared = xp.clip(squared_euclidean(self.X, None if Z is X else self.Z), 0.0, None)
        self.gaussian = xp.exp(-0.5 * squared)
        self.level = kernel.level(squared, X.shape[1]) * self.gaussian

    def matvec(self, coefficients: Array) -> Array:
        """Return Σⱼ g (sign·u (u·c) + level·c)."""
        xp = namespace(self.X)
        C = self.expect(coefficients, self.columns)
        A = self.gaussian * (self.X @ C.T - xp.sum(self.Z * C, axis=1))
        along = xp.sum(A, axis=1)[:, None] * self.X - A @ self.Z
        return self.kernel.sign * along + self.level @ C

    def transposed(self) -> FieldBlocks:
        """Return the map with the sides exchanged: the blocks are symmetric."""
        scale = float(self.kernel.scale)
        return FieldBlocks(self.kernel, self.Z * scale, self.X * scale)

    def joint(self, Y: Array, W: Array) -> Array:
        """Return g (sign·(y·u)(u·w) + level·y·w)."""
        xp = namespace(self.X)
        Y, W = self.expect(Y, self.rows, "Y"), self.expect(W, self.columns, "W")
        left = xp.sum(self.X * Y, axis=1)[:, None] - Y @ self.Z.T
        right = self.X @ W.T - xp.sum(self.Z * W, axis=1)
        return self.kernel.sign * self.gaussian * left * right + self.level * (Y @ W.T)

    def diagonal_blocks(self) -> Array:
        """Return the level at distance zero times I, for each object."""
        return namespace(self.X).linalg.diagonal(self.level)[:, None, None] * eye(self.outputs, self.X)[None, :, :]
