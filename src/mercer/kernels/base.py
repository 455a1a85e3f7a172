"""What a kernel is."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import fields, is_dataclass
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from mercer.core import memory
from mercer.core.arrays import Array, is_array, to_numpy
from mercer.core.collections import Collection, as_objects, count, hash_key, member
from mercer.kernels.features import FeatureMap

_ASYMMETRY = 1e-8
"""Relative difference of k(x, z) and k(z, x) that is taken as rounding."""


class Kernel(BaseEstimator):
    r"""A similarity that is an inner product, :math:`k(x, z) = \langle\phi(x), \phi(z)\rangle`.

    A new kernel is a dataclass (``@dataclass(eq=False, repr=False)``) with one method, `pointwise`. Everything else has
    a default: override `_matrix` and `_diag` when there is a faster way, `check` when only some objects make sense,
    `_resolved` when a parameter is learned from data, `feature_map` when φ is finite, `sees` when φ(x) = 0 means
    that the kernel cannot tell anything about x.

    Kernels hold parameters, not data. They add, multiply and scale: ``0.5 * Gaussian(2.0) + Linear()``.
    """

    @property
    def is_psd(self) -> bool:
        """Positive semi-definite by construction. Where False, as for a new kernel that does not say so, it is measured."""
        parts = self.parts()
        return bool(parts) and all(part.is_psd for part in parts)

    @property
    def pairwise(self) -> bool:
        """Whether a collection is itself a Gram matrix (scikit-learn slices those on both sides)."""
        return any(part.pairwise for part in self.parts())

    @property
    def takes_vectors(self) -> bool:
        """Whether the objects are vectors: rows of a numeric array."""
        return any(part.takes_vectors for part in self.parts())

    # -- what a new kernel defines ------------------------------------------------------------------

    def pointwise(self, x: Any, z: Any) -> float:
        """k(x, z) for two objects."""
        raise TypeError(f"{type(self).__name__} must define pointwise(x, z), or override _matrix and _diag")

    # -- what a user calls --------------------------------------------------------------------------

    def __call__(self, X: Collection, Z: Collection | None = None) -> Array:
        """The Gram matrix of `X`, or the cross-Gram matrix between `X` and `Z`."""
        self.check_parameters()
        self.require_resolved()
        X = self.check(X, "X")
        Z = None if Z is None else self.check(Z, "Z")
        rows, columns = count(X), count(X if Z is None else Z)
        memory.require(rows, columns, 1, f"values of {self!r}", "pass fewer objects, or use solver=LowRank(rank=...)")
        values = self._matrix(X, Z)
        if np.shape(values) != (rows, columns):
            raise ValueError(
                f"_matrix of {self!r} returned shape {tuple(np.shape(values))}; expected {(rows, columns)}, a row for each "
                f"object of X and a column for each object of {'X' if Z is None else 'Z'}"
            )
        return values

    def diag(self, X: Collection) -> Array:
        """k(x, x) for each object, without the rest of the Gram matrix."""
        self.check_parameters()
        self.require_resolved()
        return self._diag(self.check(X, "X"))

    def check(self, X: Collection, name: str = "X") -> Collection:
        """`X` as the collection this kernel works on, or an error that names what is wrong with it."""
        return as_objects(X, name)

    def resolve(self, X: Collection) -> Kernel:
        """A kernel with everything that depends on data (a median scale, a centre) fixed from `X`."""
        self.check_parameters()
        X = self.check(X, "X")
        parameters = {
            name: value.resolve(X) if isinstance(value, Kernel) else value
            for name, value in self.get_params(deep=False).items()
        }
        return type(self)(**parameters)._resolved(X)

    @property
    def is_resolved(self) -> bool:
        """Whether the kernel can be evaluated as it stands."""
        return all(part.is_resolved for part in self.parts())

    def feature_map(self, X: Collection) -> FeatureMap | None:
        """A finite map φ with k(x, z) = φ(x)·φ(z), with its vocabulary taken from `X`; None where there is none."""
        return None

    def sees(self, X: Collection) -> np.ndarray:
        """For each object, whether its image φ(x) says anything about it (True for most kernels)."""
        X = self.check(X, "X")
        return np.ones(X.shape[0] if is_array(X) else len(X), dtype=bool)

    def key(self, x: Any) -> Hashable:
        """What two objects have in common that this kernel takes for one and the same."""
        return hash_key(x)

    # -- vectorised forms, by default from `pointwise` ----------------------------------------------

    def _matrix(self, X: Collection, Z: Collection | None) -> Array:
        if Z is not None:
            return np.asarray([[self._value(X, Z, i, j) for j in range(count(Z))] for i in range(count(X))])
        gram = np.empty((count(X), count(X)))
        for i in range(len(gram)):
            for j in range(i + 1):
                gram[i, j] = gram[j, i] = self._value(X, X, i, j)
        self._require_symmetric(X, gram)
        return gram

    def _diag(self, X: Collection) -> Array:
        return np.asarray([self._value(X, X, i, i) for i in range(count(X))])

    def _value(self, X: Collection, Z: Collection, i: int, j: int) -> float:
        """k(x_i, z_j), which has to be a finite number."""
        x, z = member(X, i), member(Z, j)
        result: Any = self.pointwise(x, z)
        value = result
        if not isinstance(result, Real) and is_array(result) and result.ndim == 0:
            value = to_numpy(result).item()
        if isinstance(value, Real) and math.isfinite(value):
            return float(value)
        raise ValueError(
            f"{self!r} returned {result!r:.60} for object {i} = {x!r:.40} and object {j} = {z!r:.40}; expected a "
            "finite real number for every pair"
        )

    def _require_symmetric(self, X: Collection, gram: np.ndarray) -> None:
        """Half of the matrix was copied from the other half: each object is tried in the other order with one other."""
        others = np.random.default_rng(0).permutation(len(gram))
        for i, j in enumerate(others):
            low, high = sorted((i, int(j)))
            swapped = self._value(X, X, low, high)
            if abs(swapped - gram[low, high]) > _ASYMMETRY * max(abs(swapped), abs(gram[low, high])):
                raise ValueError(
                    f"{self!r} is not symmetric: it gives {gram[low, high]:.6g} for the objects ({high}, {low}) and "
                    f"{swapped:.6g} for ({low}, {high}); expected the same value. Use {self._symmetrised} if that is meant"
                )

    def _resolved(self, X: Collection) -> Kernel:
        return self

    _symmetrised = "(k(x, z) + k(z, x)) / 2"
    """What to use in place of a function that is not symmetric."""

    # -- helpers ------------------------------------------------------------------------------------

    def check_parameters(self) -> None:
        """Raise if a parameter is out of its range; called before every evaluation, parts see to their own."""

    def parts(self) -> list[Kernel]:
        """The kernels this one is made of."""
        return [value for value in self.get_params(deep=False).values() if isinstance(value, Kernel)]

    def require_resolved(self) -> None:
        """Raise if a parameter still has to be learned from data."""
        if not self.is_resolved:
            raise ValueError(
                f"{self!r} has a parameter that is learned from data; call kernel.resolve(X) with the training "
                "objects first (estimators do that in fit, and keep the result as input_kernel_ and output_kernel_)"
            )

    # -- algebra ------------------------------------------------------------------------------------

    def __add__(self, other: Kernel) -> Kernel:
        from mercer.kernels.algebra import Sum

        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __radd__(self, other: Any) -> Kernel:
        # sum([a, b]) starts from the number 0
        return self if isinstance(other, int) and other == 0 else NotImplemented

    # NumPy numbers would otherwise take `number * kernel` for themselves
    __array_ufunc__ = None

    def __mul__(self, other: Kernel | float) -> Kernel:
        from mercer.kernels.algebra import Product, Scaled

        if isinstance(other, Kernel):
            return Product(self, other)
        return Scaled(other, self) if isinstance(other, int | float | np.number) else NotImplemented

    def __rmul__(self, other: float) -> Kernel:
        return self * other

    def normalized(self) -> Kernel:
        """The cosine of this kernel, k(x, z) / √(k(x, x) k(z, z))."""
        from mercer.kernels.algebra import Normalized

        return Normalized(self)

    def centered(self) -> Kernel:
        """The kernel around the mean of the training objects in feature space."""
        from mercer.kernels.centering import Centered

        return Centered(self)

    def clipped(self) -> Kernel:
        """The positive part of this similarity, for matrices and functions that are no kernels."""
        from mercer.kernels.clipping import Clipped

        return Clipped(self)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and _same(self.get_params(deep=False), other.get_params(deep=False))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        # in the order of the constructor, which get_params does not keep
        names = [field.name for field in fields(self)] if is_dataclass(self) else self.get_params(deep=False)
        arguments = ", ".join(f"{name}={shown(getattr(self, name))}" for name in names)
        return f"{type(self).__name__}({arguments})"


def shown(value: Any) -> str:
    """A parameter as it stands in a repr: numbers plain, data by its shape, functions by their name."""
    if isinstance(value, np.generic):
        return repr(value.item())
    if holds_data(value):
        return f"<array of shape {tuple(value.shape)}>"
    return getattr(value, "__name__", None) or repr(value)


def holds_data(value: Any) -> bool:
    """Whether a parameter is an array, and not a number in the guise of one."""
    return is_array(value) and value.ndim > 0


def _same(a: Any, b: Any) -> bool:
    """Equality that looks into dictionaries, lists and arrays of any library."""
    if a is b:
        return True
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(_same(a[name], b[name]) for name in a)
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(_same, a, b))
    if holds_data(a) or holds_data(b):
        if not (holds_data(a) and holds_data(b)) or tuple(a.shape) != tuple(b.shape):
            return False
        a, b = to_numpy(a), to_numpy(b)
        if a.dtype == object or b.dtype == object:
            return all(map(_same, a.ravel().tolist(), b.ravel().tolist()))
        # NaN, an item that is not ranked, is the same as NaN
        return np.array_equal(a, b, equal_nan=a.dtype.kind == b.dtype.kind == "f")
    return bool(a == b)
