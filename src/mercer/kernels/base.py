"""The kernel protocol: values, norms, what is learned from data, and what is computed once per collection."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from mercer.core import memory
from mercer.core.arrays import Array, cached_property, is_array, is_numpy_array, is_sparse, namespace, to_numpy
from mercer.core.collections import Collection, as_objects, count, hash_key, is_numeric, member
from mercer.core.sparse_rows import same_rows
from mercer.core.validation import is_real, is_whole
from mercer.kernels.features import FeatureMap

_ASYMMETRY = 1e-8
"""Relative difference of k(x, z) and k(z, x) that is taken as rounding."""

_CACHED = 2**16
"""Entries of a block that stays in a core's cache."""

_LAUNCHED = 2**24
"""Entries of a block for libraries that may run on a device, where each operation costs a launch."""


class Constraint(NamedTuple):
    """The values that a parameter may have."""

    holds: Callable[[Any], bool]
    expected: str
    error: type[Exception] = ValueError


def _is_positive(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and 0 < float(value) < math.inf


POSITIVE = Constraint(_is_positive, "a finite number above zero")
UP_TO_ONE = Constraint(lambda value: is_real(value) and 0 < value <= 1, "a number above 0, at most 1")


def whole(least: int) -> Constraint:
    """Whole numbers from `least`."""
    return Constraint(lambda value: is_whole(value) and value >= least, f"a whole number, {least} or more")


@dataclass(frozen=True, eq=False)
class Prepared:
    """A collection that a kernel has checked and encoded once, for many evaluations.

    Made by `Kernel.prepare`; ``kernel(X, Z)`` and ``kernel.diag(X)`` take it in place of a collection.

    Examples
    --------
    >>> from mercer.kernels import Spectrum
    >>> kernel = Spectrum(length=2)
    >>> training = kernel.prepare(["banana", "ananas"])
    >>> kernel(["nab"], training)  # encodes "nab" alone
    array([[2., 2.]])
    """

    kernel: Kernel
    objects: Any
    """The checked collection."""
    encoded: Any
    """The collection in the form that the kernel computes with."""

    @cached_property
    def norms(self) -> Array:
        """k(x, x) of each object."""
        return self.kernel._diag(self.encoded)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the checked collection."""
        return tuple(self.objects.shape)

    def __len__(self) -> int:
        return count(self.objects)

    def __getstate__(self) -> dict[str, Any]:
        # a saved model holds objects, and encodes them again when it is loaded
        return {"kernel": self.kernel, "objects": self.objects}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(vars(state["kernel"].prepare(state["objects"], checked=True)))


class Kernel(BaseEstimator):
    r"""A similarity that is an inner product, :math:`k(x, z) = \langle\phi(x), \phi(z)\rangle`.

    A new kernel is a dataclass (``@dataclass(eq=False, repr=False)``) with one method, `pointwise`. The rest has a default:
    override `_matrix` and `_diag` for a faster way, `_encode` for what both need once per collection, `_check` when only some
    objects make sense, `_resolved` when a parameter is learned from data, `feature_map` when φ is finite, `sees` when
    φ(x) = 0 means that the kernel cannot tell anything about x, `takes_sparse` when a collection may be a sparse array.

    Kernels hold parameters, not data. They add, multiply and scale: ``0.5 * Gaussian(2.0) + Linear()``.
    """

    @property
    def is_psd(self) -> bool:
        """Positive semi-definite by construction. Estimators measure kernels for which this is False."""
        parts = self.parts()
        return bool(parts) and all(part.is_psd for part in parts)

    @property
    def pairwise(self) -> bool:
        """True if a collection is itself a Gram matrix (scikit-learn slices those on both sides)."""
        return any(part.pairwise for part in self.parts())

    @property
    def takes_vectors(self) -> bool:
        """True if the objects are vectors: rows of a numeric array."""
        return any(part.takes_vectors for part in self.parts())

    @property
    def takes_tables(self) -> bool:
        """True if the objects are rows of a table with columns of several kinds."""
        return any(part.takes_tables for part in self.parts())

    @property
    def takes_sparse(self) -> bool:
        """True if a collection may be a sparse array of rows, with values equal to those of the dense one."""
        return False

    @property
    def form(self) -> str | None:
        """The kind of collections, if `check` depends on nothing else: parts of one form check a collection once."""
        return None

    def pointwise(self, x: Any, z: Any) -> float:
        """k(x, z) for two objects."""
        if type(self)._matrix is Kernel._matrix:
            raise TypeError(f"{type(self).__name__} must define pointwise(x, z), or override _matrix and _diag")
        return float(self(_alone(x), _alone(z))[0, 0])

    def __call__(self, X: Any, Z: Any = None) -> Any:
        """The Gram matrix of `X`, or the cross-Gram matrix between `X` and `Z`."""
        left = self.prepare(X, "X")
        right = None if Z is None else self.prepare(Z, "Z")
        shape = len(left), len(left if right is None else right)
        if shape[0] * shape[1] >= memory.SMALL:
            way_out = "pass fewer objects, or use solver=ConjugateGradient() or LowRank(rank=...)"
            memory.require_near(left, (*shape, 1), f"values of {self!r}", way_out)
        values = self._matrix(left.encoded, None if right is None else right.encoded)
        if np.shape(values) != shape:
            raise ValueError(
                f"_matrix of {self!r} returned shape {tuple(np.shape(values))}; expected {shape}, a row for each object of X "
                f"and a column for each object of {'X' if Z is None else 'Z'}"
            )
        return values

    def shared_gram(self, X: Collection, known: dict[str, Any] | None = None) -> Any:
        """The Gram matrix of a checked collection, as an array that may be overwritten.

        `known` keeps what kernels of one family compute on the same collection, such as distances, for the next of them.
        """
        gram = self(X)
        return namespace(gram).asarray(gram, copy=True) if self.pairwise else gram

    def diag(self, X: Any) -> Any:
        """k(x, x) for each object, without the rest of the Gram matrix."""
        norms = self.prepare(X).norms
        return namespace(norms).asarray(norms, copy=True)

    def check(self, X: Any, name: str = "X") -> Any:
        """`X` as the collection this kernel works on, or an error that names what is wrong with it."""
        return X.objects if isinstance(X, Prepared) else self._check(X, name)

    def prepare(self, X: Any, name: str = "X", *, checked: bool = False) -> Prepared:
        """`X` checked and encoded, for evaluations that do neither again; `checked` says that `check` has returned it."""
        if isinstance(X, Prepared):
            if X.kernel is not self and X.kernel != self:
                raise ValueError(f"{name} was prepared by {X.kernel!r}; expected a collection prepared by {self!r}")
            return X
        self.check_parameters()
        self.require_resolved()
        return self._prepared(X, name, checked)

    def resolve(self, X: Any, *, checked: bool = False) -> Kernel:
        """A kernel with everything that depends on data (a median scale, a centre) fixed from `X`; `checked` as in `prepare`."""
        self.check_parameters()
        return self._resolve(X if checked else self.check(X))

    @property
    def is_resolved(self) -> bool:
        """True if the kernel can be evaluated as it stands."""
        return all(part.is_resolved for part in self.parts())

    def feature_map(self, X: Any) -> FeatureMap | None:
        """A finite map φ with k(x, z) = φ(x)·φ(z), with its vocabulary taken from `X`; None if the kernel has none."""
        return None

    def sees(self, X: Any) -> np.ndarray:
        """For each object, True if its image φ(x) says anything about it (so for most kernels)."""
        return np.ones(count(X), dtype=bool)

    def key(self, x: Any) -> Hashable:
        """A key that is equal for objects between which this kernel does not distinguish."""
        return hash_key(x)

    def _check(self, X: Any, name: str) -> Any:
        return as_objects(X, name)

    def _encode(self, X: Any, name: str) -> Any:
        """The form of a checked collection that `_matrix` and `_diag` take."""
        return X

    def _matrix(self, X: Any, Z: Any) -> Array:
        if Z is not None:
            return np.asarray([[self._value(X, Z, i, j) for j in range(count(Z))] for i in range(count(X))])
        gram = np.empty((count(X), count(X)))
        for i in range(len(gram)):
            for j in range(i + 1):
                gram[i, j] = gram[j, i] = self._value(X, X, i, j)
        self._require_symmetric(X, gram)
        return gram

    def _diag(self, X: Any) -> Array:
        return np.asarray([self._value(X, X, i, i) for i in range(count(X))])

    def _resolved(self, X: Any) -> Kernel:
        """The kernel with its own parameters learned from `X`; its parts are resolved."""
        return self

    def _prepared(self, X: Any, name: str, checked: bool) -> Prepared:
        X = X if checked else self.check(X, name)
        return Prepared(self, X, self._encode(X, name))

    def _resolve(self, X: Any) -> Kernel:
        parameters = self.get_params(deep=False)
        for name, part in self._named_parts().items():
            part.check_parameters()
            parameters[name] = part._resolve(X) if part.form == self.form is not None else part.resolve(X)
        return type(self)(**parameters)._resolved(X)

    def _value(self, X: Collection, Z: Collection, i: int, j: int) -> float:
        """k(x_i, z_j), or an error if that is not a finite number."""
        x, z = member(X, i), member(Z, j)
        result: Any = self.pointwise(x, z)
        if isinstance(result, Real) or (is_array(result) and result.ndim == 0):
            value = float(result)
            if math.isfinite(value):
                return value
        raise ValueError(
            f"{self!r} returned {result!r:.60} for object {i} = {x!r:.40} and object {j} = {z!r:.40}; expected a "
            "finite real number for every pair"
        )

    def _require_symmetric(self, X: Collection, gram: np.ndarray) -> None:
        """Evaluate each object with one other in the other order: half of the matrix was copied from the other half."""
        others = np.random.default_rng(0).permutation(len(gram))
        for i, j in enumerate(others):
            low, high = sorted((i, int(j)))
            swapped = self._value(X, X, low, high)
            if abs(swapped - gram[low, high]) > _ASYMMETRY * max(abs(swapped), abs(gram[low, high])):
                raise ValueError(
                    f"{self!r} is not symmetric: it gives {gram[low, high]:.6g} for the objects ({high}, {low}) and "
                    f"{swapped:.6g} for ({low}, {high}); expected the same value. Use {self._symmetrised} if that is meant"
                )

    _symmetrised = "(k(x, z) + k(z, x)) / 2"
    """A replacement for a function that is not symmetric, for the error message."""

    constraints: ClassVar[dict[str, Constraint]] = {}
    """The values that each parameter may have."""

    def check_parameters(self) -> None:
        """Raise an error if a parameter is out of its range; parts check their own."""
        for name, constraint in self.constraints.items():
            self._require(constraint.holds(getattr(self, name)), name, constraint.expected, constraint.error)

    def parts(self) -> list[Kernel]:
        """The kernels this one is made of."""
        return list(self._named_parts().values())

    def require_resolved(self) -> None:
        """Raise ValueError if a parameter still has to be learned from data."""
        if not self.is_resolved:
            raise ValueError(
                f"{self!r} has a parameter that is learned from data; call kernel.resolve(X) with the training "
                "objects first (estimators do that in fit, and keep the result as input_kernel_ and output_kernel_)"
            )

    def _named_parts(self) -> dict[str, Kernel]:
        return {name: value for name, value in self.get_params(deep=False).items() if isinstance(value, Kernel)}

    def _require(self, holds: bool, name: str, expected: str, error: type[Exception] = ValueError) -> None:
        """Raise an error about the parameter `name` unless `holds`."""
        if not holds:
            value = getattr(self, name)
            raise error(f"{name}={value!r:.60} in {type(self).__name__}; expected {expected}")

    def __add__(self, other: Kernel) -> Kernel:
        from mercer.kernels.algebra import Sum

        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __radd__(self, other: Any) -> Kernel:
        # sum([a, b]) starts from the number 0
        return self if is_real(other) and other == 0 else NotImplemented

    # NumPy numbers would otherwise take `number * kernel` for themselves
    __array_ufunc__ = None

    def __mul__(self, other: Kernel | float) -> Kernel:
        from mercer.kernels.algebra import Product, Scaled

        if isinstance(other, Kernel):
            return Product(self, other)
        return Scaled(other, self) if is_real(other) else NotImplemented

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
        """The positive part of this similarity, for matrices and functions that are not positive semi-definite."""
        from mercer.kernels.centering import Clipped

        return Clipped(self)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and same(self.get_params(deep=False), other.get_params(deep=False))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        # in the order of the constructor, which get_params does not keep
        names = [field.name for field in fields(self)] if is_dataclass(self) else self.get_params(deep=False)
        arguments = ", ".join(f"{name}={shown(getattr(self, name))}" for name in names)
        return f"{type(self).__name__}({arguments})"


def shown(value: Any) -> str:
    """A parameter as it stands in a repr: numbers plain, data by its shape, functions by their name."""
    if holds_data(value):
        return f"<array of shape {tuple(value.shape)}>"
    value = value.item() if is_numpy_array(value) else value
    return getattr(value, "__name__", None) or repr(value)


def _alone(x: Any) -> Collection:
    """A collection of one object."""
    if is_numeric(x) and tuple(x.shape) != (1,):  # a column of one number would be read as that number
        return x[None, ...]
    collection = np.empty(1, dtype=object)
    collection[0] = x
    return collection


def holds_data(value: Any) -> bool:
    """True for an array with at least one axis, dense or sparse."""
    return (is_array(value) or is_sparse(value)) and value.ndim > 0


def same(a: Any, b: Any) -> bool:
    """True if two values are equal; looks into dictionaries, lists and arrays of any library."""
    if a is b:
        return True
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[name], b[name]) for name in a)
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if is_sparse(a) or is_sparse(b):
        return same_rows(a, b)
    if not holds_data(a) and not holds_data(b):
        return bool(a == b)
    if not (holds_data(a) and holds_data(b)) or tuple(a.shape) != tuple(b.shape):
        return False
    a, b = to_numpy(a), to_numpy(b)
    if a.dtype == object or b.dtype == object:
        return all(map(same, a.ravel().tolist(), b.ravel().tolist()))
    # NaN, an item that is not ranked, equals NaN
    return np.array_equal(a, b, equal_nan=a.dtype.kind == b.dtype.kind == "f")


_same = same


def row_blocks(gram: Array) -> Iterator[slice]:
    """Slices that cover the rows of a matrix, so that work on it needs no second matrix of its size."""
    entries = _CACHED if is_numpy_array(gram) else _LAUNCHED
    step = max(1, entries // max(1, gram.shape[1]))
    for start in range(0, gram.shape[0], step):
        yield slice(start, min(start + step, gram.shape[0]))


def to_squared_distances(gram: Array, left: Array, right: Array) -> Array:
    """‖φ(x) − φ(z)‖² = k(x, x) + k(z, z) − 2 k(x, z), over `gram`; rounding may leave some below zero."""
    for rows in row_blocks(gram):
        # the two norms are added first: a sum of two is the same in either order, so symmetry is exact
        gram[rows, :] = (left[rows, None] + right[None, :]) - 2.0 * gram[rows, :]
    return gram
