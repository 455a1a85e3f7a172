"""Kernels given as a matrix or as a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.core.arrays import Array, is_array, is_numpy_array, namespace, to_numpy
from mercer.core.collections import Collection, as_objects, as_vectors, reject_non_collection, take
from mercer.kernels.base import Constraint, Kernel
from mercer.kernels.grams import asymmetry

_ASYMMETRY = 1e-8
"""Largest difference between K and its transpose, relative to the largest entry, that is taken as rounding."""


@dataclass(eq=False, repr=False)
class Precomputed(Kernel):
    r"""A kernel whose values are known already, :math:`k(x_i, x_j) = K_{ij}`.

    Parameters
    ----------
    gram : array of shape (N, N), optional
        Without it, collections are themselves matrices of kernel values: the Gram matrix of the training objects in `fit`,
        rows of values against the training objects in `predict`. With it, objects are integers, positions in this matrix;
        that works on both sides, for candidates, and in cross-validation.

    Notes
    -----
    ``Precomputed()(K)`` is K itself, not a copy.

    Examples
    --------
    >>> import numpy as np
    >>> K = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> Precomputed()(K[:1], K)
    array([[2., 1.]])
    >>> Precomputed(K)([0], [1, 0])
    array([[1., 2.]])
    """

    is_psd = False

    gram: Array | None = None

    @property
    def pairwise(self) -> bool:
        """True if collections are Gram matrices."""
        return self.gram is None

    def check_parameters(self) -> None:
        """Raise ValueError unless `gram`, if given, is a square matrix."""
        if self.gram is not None:
            require_square(self.gram, "gram", "Precomputed")

    def _check(self, X: Collection, name: str) -> Array:
        if self.gram is None:
            return as_vectors(X, name)
        return as_positions(X, len_of(self.gram), "gram", name)

    def _matrix(self, X: Array, Z: Array | None) -> Array:
        if self.gram is not None:
            return self._looked_up(X, Z)
        if Z is None:
            if X.shape[0] != X.shape[1]:
                raise ValueError(
                    f"X has shape {tuple(X.shape)}; expected a square Gram matrix, n by n kernel values between the objects. "
                    "Precomputed() takes matrices of kernel values, not vectors"
                )
            require_symmetric(X, "X")
        elif X.shape[1] != Z.shape[0]:
            raise ValueError(
                f"X has shape {tuple(X.shape)} and the training Gram matrix has shape {tuple(Z.shape)}; expected one column of "
                f"X for each of the {Z.shape[0]} training objects, their kernel values against the objects of X"
            )
        return X

    def _diag(self, X: Array) -> Array:
        if self.gram is not None:
            gram = _as_array(self.gram)
            return take(namespace(gram).linalg.diagonal(gram), X)
        xp = namespace(X)
        if X.shape[0] != X.shape[1] or float(xp.max(xp.abs(X - X.T))) > _ASYMMETRY * float(xp.max(xp.abs(X))):
            raise ValueError(
                f"k(x, x) is not known: X has shape {tuple(X.shape)}, kernel values against other objects only; expected a "
                "square Gram matrix. Normalize or centre the whole Gram matrix yourself before fitting, or use "
                "Precomputed(gram) with positions as objects"
            )
        return namespace(X).linalg.diagonal(X)

    def _looked_up(self, X: np.ndarray, Z: np.ndarray | None) -> Array:
        gram = _as_array(self.gram)
        xp = namespace(gram)
        if Z is None and np.array_equal(X, np.arange(gram.shape[0])):
            found = xp.asarray(gram, copy=True)  # all of them, as they are
        else:
            found = take(take(gram, X).T, X if Z is None else Z).T
        if not bool(xp.all(xp.isfinite(found))):
            raise ValueError("gram contains NaN or infinity for some of these objects; expected finite kernel values")
        if Z is None:
            require_symmetric(found, "gram")
        return found


@dataclass(eq=False, repr=False)
class FromFunction(Kernel):
    r"""Any function of two objects as a kernel, :math:`k(x, z) = f(x, z)`.

    The function is called once per pair, on objects as they stand in the collection. A Gram matrix takes one call for each
    unordered pair, and one more per object to check that the function is symmetric. Estimators measure if it is positive
    semi-definite.

    Parameters
    ----------
    function : callable
        ``function(x, z)``, a finite number, the same for (z, x).

    Examples
    --------
    >>> FromFunction(lambda x, z: min(len(x), len(z)))(["a", "bcd"])
    array([[1., 1.],
           [1., 3.]])
    """

    is_psd = False
    constraints = {"function": Constraint(callable, "a callable function(x, z)", TypeError)}

    function: Callable[[Any, Any], float]

    def pointwise(self, x: Any, z: Any) -> float:
        """The function's value."""
        return self.function(x, z)


def as_positions(X: Any, size: int, matrix: str, name: str = "X") -> np.ndarray:
    """`X` as a 1-D array of integers, each a position in a `matrix` of `size` rows."""
    reject_non_collection(X, name)
    positions = to_numpy(X) if is_array(X) else np.asarray(as_objects(X, name).tolist())
    if positions.ndim == 2 and positions.shape[1] == 1:
        positions = positions[:, 0]
    if positions.ndim == 1 and positions.dtype == object:
        positions = np.asarray(positions.tolist())
    if positions.ndim != 1 or positions.dtype.kind not in "iu":
        raise TypeError(
            f"{name} has shape {positions.shape} and dtype {positions.dtype}; expected integers, the positions of the "
            f"objects in {matrix}, one per object"
        )
    if len(positions) == 0:
        raise ValueError(f"{name} is empty; expected at least one object")
    outside = np.flatnonzero((positions < 0) | (positions >= size))
    if len(outside):
        first = outside[0]
        raise ValueError(
            f"{name}[{first}] is {positions[first]}; expected a position in {matrix}, from 0 to {size - 1}"
        )
    return positions


def require_square(matrix: Any, name: str, owner: str) -> None:
    """Raise ValueError unless `matrix` is a square 2-D array."""
    shape = np.shape(matrix) if not is_array(matrix) else tuple(matrix.shape)
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] == 0:
        raise ValueError(f"{name} has shape {shape} in {owner}; expected a square matrix, one row per object")


def require_symmetric(matrix: Array, name: str) -> None:
    """Raise ValueError if the matrix differs from its transpose by more than rounding; the error names the worst pair."""
    worst, (i, j), largest = asymmetry(matrix)
    if worst > _ASYMMETRY * largest:
        raise ValueError(
            f"{name} is not symmetric: entries ({i}, {j}) and ({j}, {i}) differ by {worst:.6g} (the largest entry is "
            f"{largest:.6g}); expected the same value. Symmetrise it with (K + K.T) / 2 if that is what you mean"
        )


def len_of(matrix: Any) -> int:
    """The number of rows of an array or nested list."""
    return int(np.shape(matrix)[0]) if not hasattr(matrix, "shape") else int(matrix.shape[0])


def _as_array(matrix: Any) -> Array:
    array = matrix if is_array(matrix) else np.asarray(matrix)
    xp = namespace(array)
    return array.astype(float, copy=False) if is_numpy_array(array) else xp.astype(array, xp.float64)
