"""Kernels on vectors, rows of a numeric array of any library or of a sparse one, and the width of bell-shaped kernels."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

from mercer.core.arrays import Array, NumericalWarning, exp, is_torch_array, namespace, to_numpy
from mercer.core.collections import Collection, as_vectors, take
from mercer.core.sparse_rows import as_sparse_rows, dense_rows, is_sparse
from mercer.core.validation import is_real
from mercer.kernels.base import POSITIVE, Constraint, Kernel, row_blocks, whole
from mercer.kernels.features import FeatureMap
from mercer.kernels.rows import alike, as_rows

_SAMPLE = 1000
"""Number of objects whose distances give a median: half a million pairs."""


class VectorKernel(Kernel):
    """A kernel whose objects are vectors of one length."""

    takes_vectors = True

    @property
    def form(self) -> str | None:
        """Vectors, dense or sparse where the kernel takes both, unless a subclass checks more than that."""
        if type(self)._check is not VectorKernel._check:
            return None
        return "vectors" if self.takes_sparse else "dense vectors"

    def _check(self, X: Any, name: str) -> Collection:
        return as_sparse_rows(X, name) if self.takes_sparse and is_sparse(X) else as_vectors(X, name)


class RowKernel(VectorKernel):
    """A kernel of inner products or distances, which dense and sparse rows have."""

    takes_sparse = True

    def _encode(self, X: Collection, name: str) -> Any:
        return as_rows(X)


@dataclass(eq=False, repr=False)
class Linear(RowKernel):
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

    def _matrix(self, X: Any, Z: Any) -> Array:
        X, Z = alike(X, Z)
        return X.products(Z)

    def _diag(self, X: Any) -> Array:
        return X.squared_lengths

    def feature_map(self, X: Any) -> Vectors:
        """The vectors themselves."""
        return Vectors(np.shape(X)[1] if np.ndim(X) == 2 else self.check(X).shape[1])


@dataclass(eq=False, repr=False)
class Polynomial(RowKernel):
    r"""Products of up to `degree` features, :math:`k(x, z) = (\gamma\, x \cdot z + c)^d`.

    Parameters
    ----------
    degree : int
        d, at least 1.
    coef0 : float
        c, not negative: the weight of the lower degrees. With 0 only products of exactly `degree` features count.
    gamma : float
        γ, above zero.

    Examples
    --------
    >>> Polynomial(degree=2)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[144.]])
    """

    is_psd = True
    constraints = {
        "degree": whole(1),
        "coef0": Constraint(lambda c: is_real(c) and 0 <= c < math.inf, "a finite number, zero or more"),
        "gamma": POSITIVE,
    }

    degree: int = 3
    coef0: float = 1.0
    gamma: float = 1.0

    def pointwise(self, x: Any, z: Any) -> float:
        """The polynomial of the inner product."""
        return (self.gamma * float(namespace(x).sum(x * z)) + self.coef0) ** self.degree

    def _matrix(self, X: Any, Z: Any) -> Array:
        X, Z = alike(X, Z)
        gram = X.products(Z)
        for rows in row_blocks(gram):
            gram[rows, :] = self._power(gram[rows, :])
        return gram

    def _diag(self, X: Any) -> Array:
        return self._power(X.squared_lengths)

    def _power(self, products: Array) -> Array:
        base = float(self.gamma) * products + float(self.coef0)
        power = base
        for _ in range(int(self.degree) - 1):  # several times faster than a general power
            power = power * base
        return power


class ScaledByDistance(Kernel):
    """A kernel that falls with a distance measured in units of `scale`, which may be ``"median"``."""

    constraints = {
        "scale": Constraint(
            lambda scale: scale == "median" if isinstance(scale, str) else POSITIVE.holds(scale),
            "a finite number above zero, or 'median' for the median distance of the training objects",
        )
    }

    scale: float | str

    def distances(self, X: Any) -> Array:
        """The distances the scale is compared with, one row and column per object of a checked collection."""
        raise TypeError(f"{type(self).__name__} must define distances(X)")

    def of_distances(self, distances: Array) -> Array:
        """The kernel of distances in the form it computes with, over them."""
        raise TypeError(f"{type(self).__name__} must define of_distances(distances)")

    @property
    def is_resolved(self) -> bool:
        """True if the scale is a number."""
        return super().is_resolved and self._is_number

    @property
    def _is_number(self) -> bool:
        return not isinstance(self.scale, str)

    def _resolved(self, X: Collection) -> Self:
        if self._is_number:
            return self
        return type(self)(**self.get_params(deep=False) | {"scale": self._median(sample(X, self.pairwise))})

    def _median(self, X: Any) -> float:
        return self._median_of(self.distances(X))

    def _median_of(self, distances: Array) -> float:
        pairs = to_numpy(distances)[np.triu_indices(distances.shape[0], 1)]
        return median_of(pairs, distances.shape[0], type(self).__name__)


@dataclass(eq=False, repr=False)
class Gaussian(ScaledByDistance, RowKernel):
    r"""The radial basis function, :math:`k(x, z) = \exp(-\|x - z\|^2 / (2 s^2))`.

    Parameters
    ----------
    scale : float or "median"
        s, a distance. "median" is the median distance of the training vectors (of 1000 of them if there are more).

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

    def distances(self, X: Collection) -> Array:
        """Euclidean distances."""
        return self._distances(as_rows(X))

    def _distances(self, X: Any, scale: float = math.inf) -> Array:
        squared = X.squared_distances(None, scale)
        return namespace(squared).sqrt(namespace(squared).clip(squared, 0.0, None))

    def _median(self, X: Collection) -> float:
        rows = as_rows(X)
        median = self._median_of(self._distances(rows))
        return median if rows.is_near(median) else self._median_of(self._distances(rows, median))

    def of_distances(self, distances: Array) -> Array:
        """The kernel of squared distances, over them."""
        return to_gaussian(distances, float(self.scale))

    def shared_gram(self, X: Collection, known: dict[str, Any] | None = None) -> Array:
        """The Gram matrix; squared distances are kept for other scales."""
        if known is None:
            return self(X)
        if "squared distances" not in known:
            rows = as_rows(X)
            known["squared distances"] = rows, rows.squared_distances(None, math.inf)
        rows, squared = known["squared distances"]
        if not rows.is_near(float(self.scale)):
            return self(X)
        return self.of_distances(namespace(squared).asarray(squared, copy=True))

    def _matrix(self, X: Any, Z: Any) -> Array:
        X, Z = alike(X, Z)
        return self.of_distances(X.squared_distances(Z, float(self.scale)))

    def _diag(self, X: Any) -> Array:
        return X.ones()


@dataclass(eq=False, repr=False)
class Laplacian(ScaledByDistance, RowKernel):
    r"""The double exponential, :math:`k(x, z) = \exp(-\|x - z\|_1 / s)`.

    Parameters
    ----------
    scale : float or "median"
        s, a distance. "median" is the median L1 distance of the training vectors (of 1000 if there are more).

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

    def distances(self, X: Collection) -> Array:
        """L1 distances."""
        return as_rows(X).city_block(None)

    def of_distances(self, distances: Array) -> Array:
        """The kernel of L1 distances, over them."""
        for rows in row_blocks(distances):
            distances[rows, :] = exp(distances[rows, :] / -float(self.scale))
        return distances

    def shared_gram(self, X: Collection, known: dict[str, Any] | None = None) -> Array:
        """The Gram matrix; L1 distances are kept for other scales."""
        if known is None:
            return self(X)
        if "L1 distances" not in known:
            known["L1 distances"] = self.distances(X)
        distances = known["L1 distances"]
        return self.of_distances(namespace(distances).asarray(distances, copy=True))

    def _matrix(self, X: Any, Z: Any) -> Array:
        X, Z = alike(X, Z)
        return self.of_distances(X.city_block(Z, float(self.scale)))

    def _diag(self, X: Any) -> Array:
        return X.ones()


@dataclass
class Vectors(FeatureMap):
    """The identity: vectors are their own features."""

    dimension: int

    def __call__(self, X: Any) -> Array:
        """The vectors as they are, sparse ones made dense."""
        # a checked collection is not checked again
        X = X if getattr(X, "ndim", 0) == 2 and str(X.dtype).endswith("float64") else Linear().check(X)
        if X.shape[1] != self.dimension:
            raise ValueError(f"X has {X.shape[1]} features; expected {self.dimension}, as in training")
        return dense_rows(X) if is_sparse(X) else X

    def sparse_rows(self, X: Any) -> sparse.csr_array:
        """The vectors, sparse."""
        return X if is_sparse(X) else super().sparse_rows(X)


def to_gaussian(squared: Array, scale: float) -> Array:
    """exp(−d² / (2 scale²)) over the squared distances; those below zero by rounding count as zero."""
    xp: Any = namespace(squared)
    if is_torch_array(squared):
        tensor: Any = squared
        return tensor.clamp_(min=0.0).mul_(-0.5 / scale).div_(scale).exp_()
    for rows in row_blocks(squared):
        # divided twice, so that neither a tiny nor a huge scale overflows when squared
        squared[rows, :] = exp(xp.clip(squared[rows, :], 0.0, None) / (-2.0 * scale) / scale)
    return squared


def sample(X: Collection, pairwise: bool) -> Collection:
    """`X`, or a fixed random choice of its objects if there are many (rows and columns of a Gram matrix)."""
    n = X.shape[0]
    if n <= _SAMPLE:
        return X
    chosen = np.sort(np.random.default_rng(0).choice(n, _SAMPLE, replace=False))
    rows = take(X, chosen)
    return take(rows.T, chosen).T if pairwise else rows


def median_of(pairs: np.ndarray, count: int, owner: str) -> float:
    """The median distance over pairs of `count` objects; over the pairs that differ if most are equal; 1.0 if all are."""
    median = float(np.median(pairs)) if pairs.size else 0.0
    if median > 0:
        return median
    apart = pairs[pairs > 0]
    found = float(np.median(apart)) if apart.size else 1.0
    used = f"the median of the {apart.size} pairs that differ, {found:.6g}, is used" if apart.size else "1.0 is used"
    warnings.warn(
        f"scale='median' in {owner}: the median distance of {count} objects is zero, {used}; give a number if you know "
        "the scale",
        NumericalWarning,
        stacklevel=7,
    )
    return found
