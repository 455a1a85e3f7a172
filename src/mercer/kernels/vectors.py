"""Kernels on vectors: rows of a numeric array of any library."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from scipy.spatial.distance import cdist

from mercer.core.arrays import Array, exp, is_numpy_array, is_torch_array, like, namespace
from mercer.core.collections import Collection, as_vectors
from mercer.kernels._scales import ScaledByDistance, require_positive
from mercer.kernels.base import Kernel
from mercer.kernels.features import FeatureMap
from mercer.kernels.grams import row_blocks, to_gaussian, to_squared_distances


class VectorKernel(Kernel):
    """A kernel whose objects are vectors of one length."""

    @property
    def takes_vectors(self) -> bool:
        """True: the objects are rows of a numeric array."""
        return True

    def check(self, X: Collection, name: str = "X") -> Array:
        """`X` as a 2-D array of finite doubles."""
        return as_vectors(X, name)


@dataclass(eq=False, repr=False)
class Linear(VectorKernel):
    r"""The inner product, :math:`k(x, z) = x \cdot z`.

    Examples
    --------
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0], [0.0, 1.0]])
    array([[11.,  2.]])
    """

    is_psd = True

    def pointwise(self, x: Any, z: Any) -> float:
        """The inner product of two vectors."""
        return float(namespace(x).sum(x * z))

    def _matrix(self, X: Array, Z: Array | None) -> Array:
        return inner_products(X, Z)

    def _diag(self, X: Array) -> Array:
        return namespace(X).sum(X * X, axis=1)

    def feature_map(self, X: Collection) -> Vectors:
        """The vectors themselves."""
        return Vectors(self.check(X).shape[1])


@dataclass(eq=False, repr=False)
class Polynomial(VectorKernel):
    r"""Products of up to `degree` features, :math:`k(x, z) = (\gamma\, x \cdot z + c)^d`.

    Parameters
    ----------
    degree : int
        d, at least 1.
    coef0 : float
        c, not negative: the weight of the lower degrees. With 0 only products of exactly `degree`
        features count.
    gamma : float
        γ, above zero.

    Examples
    --------
    >>> Polynomial(degree=2)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[144.]])
    """

    is_psd = True

    degree: int = 3
    coef0: float = 1.0
    gamma: float = 1.0

    def check_parameters(self) -> None:
        """The ranges in which a polynomial is a kernel."""
        if isinstance(self.degree, bool) or not isinstance(self.degree, Integral) or self.degree < 1:
            raise ValueError(f"degree={self.degree!r} in Polynomial; expected a whole number, 1 or more")
        if not isinstance(self.coef0, Real) or not 0 <= float(self.coef0) < float("inf"):
            raise ValueError(f"coef0={self.coef0!r} in Polynomial; expected a finite number, zero or more")
        require_positive(self.gamma, "gamma", self)

    def pointwise(self, x: Any, z: Any) -> float:
        """The polynomial of the inner product."""
        return (self.gamma * float(namespace(x).sum(x * z)) + self.coef0) ** self.degree

    def _matrix(self, X: Array, Z: Array | None) -> Array:
        gram = inner_products(X, Z)
        for rows in row_blocks(gram):
            gram[rows, :] = self._power(gram[rows, :])
        return gram

    def _diag(self, X: Array) -> Array:
        return self._power(namespace(X).sum(X * X, axis=1))

    def _power(self, products: Array) -> Array:
        base = float(self.gamma) * products + float(self.coef0)
        power = base
        for _ in range(int(self.degree) - 1):  # several times faster than a general power
            power = power * base
        return power


@dataclass(eq=False, repr=False)
class Gaussian(ScaledByDistance, VectorKernel):
    r"""The radial basis function, :math:`k(x, z) = \exp(-\|x - z\|^2 / (2 s^2))`.

    Parameters
    ----------
    scale : float or "median"
        s, a distance. "median" is the median distance of the training vectors (of 1000 of them when
        there are more).

    Examples
    --------
    >>> Gaussian(scale=2.0)([[0.0], [2.0]]).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    """

    is_psd = True

    scale: float | str = 1.0

    def pointwise(self, x: Any, z: Any) -> float:
        """The radial basis function of two vectors."""
        xp = namespace(x)
        return float(xp.exp(-xp.sum((x - z) ** 2) / (2.0 * float(self.scale) ** 2)))

    def distances(self, X: Array) -> Array:
        """Euclidean distances."""
        xp = namespace(X)
        return xp.sqrt(xp.clip(squared_euclidean(X, None), 0.0, None))

    def _matrix(self, X: Array, Z: Array | None) -> Array:
        return to_gaussian(squared_euclidean(X, Z), float(self.scale))

    def _diag(self, X: Array) -> Array:
        return ones(X)


@dataclass(eq=False, repr=False)
class Laplacian(ScaledByDistance, VectorKernel):
    r"""The double exponential, :math:`k(x, z) = \exp(-\|x - z\|_1 / s)`.

    Parameters
    ----------
    scale : float or "median"
        s, a distance. "median" is the median L1 distance of the training vectors (of 1000 when
        there are more).

    Examples
    --------
    >>> Laplacian(scale=2.0)([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.3679]])
    """

    is_psd = True

    scale: float | str = 1.0

    def pointwise(self, x: Any, z: Any) -> float:
        """The double exponential of two vectors."""
        xp = namespace(x)
        return float(xp.exp(-xp.sum(xp.abs(x - z)) / float(self.scale)))

    def distances(self, X: Array) -> Array:
        """L1 distances."""
        return city_block(X, X)

    def _matrix(self, X: Array, Z: Array | None) -> Array:
        gram = city_block(X, X if Z is None else matched(X, Z))
        for rows in row_blocks(gram):
            gram[rows, :] = exp(gram[rows, :] / -float(self.scale))
        return gram

    def _diag(self, X: Array) -> Array:
        return ones(X)


@dataclass
class Vectors(FeatureMap):
    """The identity: vectors are their own features."""

    dimension: int

    def __call__(self, X: Collection) -> Array:
        """The vectors as they are."""
        X = as_vectors(X)
        if X.shape[1] != self.dimension:
            raise ValueError(f"X has {X.shape[1]} features; expected {self.dimension}, as in training")
        return X


def matched(X: Array, Z: Array) -> Array:
    """`Z` in the library of `X`; an error where the vectors have different lengths."""
    if X.shape[1] != Z.shape[1]:
        raise ValueError(
            f"X has {X.shape[1]} features and Z has {Z.shape[1]}; expected vectors of one length on both sides"
        )
    return like(Z, X)


def inner_products(X: Array, Z: Array | None) -> Array:
    """X Zᵀ, exactly symmetric when there is no `Z`."""
    if Z is not None:
        return X @ matched(X, Z).T
    products = X @ X.T
    # NumPy sees that both sides are one matrix and fills one triangle from the other; others need
    # not
    return products if is_numpy_array(X) else 0.5 * (products + products.T)


def squared_euclidean(X: Array, Z: Array | None) -> Array:
    """Squared distances by one matrix product; not clipped, so rounding may leave some below zero."""
    xp = namespace(X)
    Z = None if Z is None else matched(X, Z)
    # distances do not change with the origin, and close to it little is lost to cancellation
    origin = xp.mean(X if Z is None else Z, axis=0)
    X = X - origin
    if Z is None:
        products = inner_products(X, None)
        norms = xp.asarray(xp.linalg.diagonal(products), copy=True)
        return to_squared_distances(products, norms, norms)
    Z = Z - origin
    return to_squared_distances(X @ Z.T, xp.sum(X * X, axis=1), xp.sum(Z * Z, axis=1))


def city_block(X: Array, Z: Array) -> Array:
    """L1 distances of all pairs."""
    if is_numpy_array(X):
        return cdist(X, Z, "cityblock")
    if is_torch_array(X):
        import torch

        return torch.cdist(X, Z, p=1.0)
    xp = namespace(X)
    return xp.stack([xp.sum(xp.abs(X[i, :] - Z), axis=1) for i in range(X.shape[0])])


def ones(X: Array) -> Array:
    """A one for each object, in the library and on the device of `X`."""
    xp = namespace(X)
    return xp.ones(X.shape[0], dtype=X.dtype, device=None if is_numpy_array(X) else X.device)
