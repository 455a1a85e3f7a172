"""Kernels that are given: as a matrix, as a function, or by distances."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from mercer.core import memory
from mercer.core.arrays import Array, NumericalWarning, float64, is_array, namespace, to_numpy
from mercer.core.collections import as_objects, as_vectors, reject_non_collection, take
from mercer.kernels.base import Constraint, Kernel, shown
from mercer.kernels.centering import CenteredAt
from mercer.kernels.grams import asymmetry, centred

_ASYMMETRY = 1e-8
"""Largest difference between K and its transpose, relative to the largest entry, that is taken as rounding."""

_EUCLIDEAN = 1e-8
"""Negative eigenvalues up to this share of the largest are rounding."""


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

    def _check(self, X: Any, name: str) -> Array:
        if self.gram is None:
            return as_vectors(X, name)
        return as_positions(X, self.gram, "gram", name)

    def _matrix(self, X: Any, Z: Any) -> Array:
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
        worst, _, largest = asymmetry(X) if X.shape[0] == X.shape[1] else (1.0, None, 0.0)
        if worst > _ASYMMETRY * largest:
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

    A Gram matrix takes one call for each unordered pair, and one more per object to check that the function is symmetric.
    Estimators measure if it is positive semi-definite.

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


class _PairByPair(FromFunction):
    """Distances given as a function."""

    _symmetrised = "(d(x, z) + d(z, x)) / 2 as distance"

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"FromDistances(distance={shown(self.function)})"


@dataclass(eq=False, repr=False)
class MinusHalfSquares(Kernel):
    r"""Minus half the squared distance, :math:`-\tfrac12 d^2(x, z) - h\,[d(x, z) > 0]`.

    A kernel once it is centred, if the distances are Euclidean. h is `shift`.
    """

    is_psd = False

    distance: Callable[[Any, Any], float] | Array
    shift: float = 0.0

    def check_parameters(self) -> None:
        """Raise ValueError unless the distance is a function or a square matrix."""
        if not callable(self.distance):
            require_square(self.distance, "distance", "FromDistances")

    def _check(self, X: Any, name: str) -> np.ndarray:
        if callable(self.distance):
            return as_objects(X, name)
        return as_positions(X, self.distance, "distance", name)

    def _matrix(self, X: np.ndarray, Z: np.ndarray | None) -> np.ndarray:
        distances = self._distances(X, Z)
        if Z is None and np.any(np.diag(distances) != 0):
            i = int(np.argmax(np.diag(distances) != 0))
            raise ValueError(f"the distance of object {i} to itself is {distances[i, i]:.6g}; expected 0")
        apart = distances > 0
        np.square(distances, out=distances)
        distances *= -0.5
        if self.shift:
            distances -= self.shift * apart
        return distances

    def _diag(self, X: np.ndarray) -> np.ndarray:
        return np.zeros(len(X))

    def _distances(self, X: np.ndarray, Z: np.ndarray | None) -> np.ndarray:
        if callable(self.distance):
            distances = to_numpy(_PairByPair(self.distance)._matrix(X, Z))
        else:
            matrix = to_numpy(self.distance)
            distances = matrix[np.ix_(X, X if Z is None else Z)].astype(float)
            if Z is None:
                require_symmetric(distances, "distance")
        wrong = ~((distances >= 0) & np.isfinite(distances))
        if wrong.any():
            i, j = np.argwhere(wrong)[0]
            raise ValueError(
                f"the distance of object {i} to object {j} is {distances[i, j]:.6g}; expected a finite number, zero or more"
            )
        return distances


@dataclass(eq=False, repr=False)
class FromDistances(Kernel):
    r"""The inner product that gives distances back, :math:`k(x,x) + k(z,z) - 2k(x,z) = d^2(x,z)`.

    .. math::

        k(x, z) = -\tfrac12 \Big( d^2(x, z) - \sum_p c_p\, d^2(x, x_p) - \sum_q c_q\, d^2(z, x_q)
                  + \sum_{pq} c_p c_q\, d^2(x_p, x_q) \Big)

    with weights :math:`\sum_p c_p = 1` on the training objects: their weighted mean is the origin. This is Weston et al.,
    eq. 5, whose printed form has lost the minus sign.

    The result is a kernel exactly if the distances are Euclidean. `resolve` measures how far from it they are on the training
    objects and keeps the result (see `FromDistancesAt`); a `NumericalWarning` tells if they clearly are not.

    Parameters
    ----------
    distance : callable or array of shape (N, N)
        ``distance(x, z)`` on objects; or a matrix of distances, with positions in it as objects. Distances, not their squares.
    weights : array of shape (n,), optional
        c, one for each training object, with sum 1. By default 1/n: the origin is the centre of mass.
    repair : None or "shift"
        Treatment of distances that are not Euclidean. None leaves them, and estimators refuse a clearly negative eigenvalue.
        "shift" adds one constant to the squared distance of any two objects that differ (Lingoes 1971), the least that makes
        the training objects Euclidean. The order of the distances stays the same.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.array([0.0, 1.0, 5.0])
    >>> kernel = FromDistances(lambda x, z: abs(x - z)).resolve(points)
    >>> bool(np.allclose(kernel(points), np.outer(points - 2, points - 2)))
    True
    """

    distance: Callable[[Any, Any], float] | Array
    weights: Array | None = None
    repair: str | None = None

    is_resolved = False
    constraints = {"repair": Constraint(lambda repair: repair in (None, "shift"), "None or 'shift'")}

    @property
    def is_psd(self) -> bool:
        """True if repaired."""
        return self.repair is not None

    def check_parameters(self) -> None:
        """Raise ValueError unless there is a distance and a known repair."""
        super().check_parameters()
        MinusHalfSquares(self.distance).check_parameters()

    def _check(self, X: Any, name: str) -> np.ndarray:
        return MinusHalfSquares(self.distance).check(X, name)

    def _resolved(self, X: np.ndarray) -> FromDistancesAt:
        way_out = "pass fewer objects: the origin is learned from the distances of all of them, whatever the solver"
        memory.require(len(X), len(X), 2, f"the distances of {self!r}", way_out)
        kernel = MinusHalfSquares(self.distance)
        gram = kernel(X)
        lowest, highest, mass = _spectrum(gram)
        clearly = lowest < -_EUCLIDEAN * highest or highest < 0
        if clearly and self.repair == "shift":
            # a hair more than needed, so that rounding does not leave a negative eigenvalue behind
            shift = -lowest + len(X) * float(np.finfo(float).eps) * max(highest, -lowest)
            kernel = MinusHalfSquares(self.distance, shift)
            gram -= shift * (gram < 0)
        if clearly:
            mended = f"{2 * kernel.shift:.6g} was added to the squares" if kernel.shift else "repair='shift' mends that"
            warnings.warn(
                f"the distances are not Euclidean: the smallest eigenvalue is {lowest:.6g} (the largest is {highest:.6g}), and "
                f"negative ones make up {mass:.3%} of the spectrum; {mended}",
                NumericalWarning,
                stacklevel=3,
            )
        weights = None if self.weights is None else _checked_weights(self.weights, len(X))
        return FromDistancesAt.mean_of(
            kernel, X, weights, gram, smallest_eigenvalue=lowest, negative_mass=mass, repaired=self.repair is not None
        )


@dataclass(eq=False, repr=False)
class FromDistancesAt(CenteredAt):
    """A `FromDistances` whose origin is fixed, with measures of how far from Euclidean the training distances were.

    Parameters
    ----------
    kernel, reference, weights, means, grand_mean
        As in `CenteredAt`, of the kernel −d²/2.
    smallest_eigenvalue : float
        Of the centred training Gram matrix, before any repair. Zero, up to rounding, for Euclidean distances.
    negative_mass : float
        Σ|negative eigenvalues| / Σ|eigenvalues|, from 0 for Euclidean distances upwards.
    repaired : bool
        True if distances that are not Euclidean were made so.

    Examples
    --------
    >>> import numpy as np
    >>> kernel = FromDistances(lambda x, z: abs(x - z)).resolve(np.array([0.0, 1.0, 5.0]))
    >>> round(kernel.negative_mass, 6)
    0.0
    """

    smallest_eigenvalue: float = 0.0
    negative_mass: float = 0.0
    repaired: bool = False

    @property
    def is_psd(self) -> bool:
        """True if repaired."""
        return self.repaired


def as_positions(X: Any, matrix: Any, which: str, name: str = "X") -> np.ndarray:
    """`X` as a 1-D array of integers, each the position of a row in `matrix`."""
    reject_non_collection(X, name)
    positions, size = to_numpy(X) if is_array(X) else as_objects(X, name), _shape(matrix)[0]
    if positions.ndim == 2 and positions.shape[1] == 1:
        positions = positions[:, 0]
    if positions.ndim == 1 and positions.dtype == object:
        positions = np.asarray(positions.tolist())
    if positions.ndim != 1 or positions.dtype.kind not in "iu":
        raise TypeError(
            f"{name} has shape {positions.shape} and dtype {positions.dtype}; expected integers, the positions of the "
            f"objects in {which}, one per object"
        )
    if len(positions) == 0:
        raise ValueError(f"{name} is empty; expected at least one object")
    outside = np.flatnonzero((positions < 0) | (positions >= size))
    if len(outside):
        first = outside[0]
        raise ValueError(f"{name}[{first}] is {positions[first]}; expected a position in {which}, from 0 to {size - 1}")
    return positions


def require_square(matrix: Any, name: str, owner: str) -> None:
    """Raise ValueError unless `matrix` is a square 2-D array."""
    shape = _shape(matrix)
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


def _shape(matrix: Any) -> tuple[int, ...]:
    return tuple(matrix.shape) if is_array(matrix) else np.shape(matrix)


def _as_array(matrix: Any) -> Array:
    return float64(matrix if is_array(matrix) else np.asarray(matrix))


def _spectrum(minus_half_squares: np.ndarray) -> tuple[float, float, float]:
    """Smallest and largest eigenvalue around the centre of mass, and the share of negative ones."""
    values = scipy.linalg.eigvalsh(centred(minus_half_squares), overwrite_a=True, check_finite=False)
    total = float(np.abs(values).sum())
    return float(values[0]), float(values[-1]), float(-values[values < 0].sum()) / total if total else 0.0


def _checked_weights(weights: Any, n: int) -> np.ndarray:
    found = to_numpy(weights).astype(float)
    if found.shape != (n,) or not np.isfinite(found).all():
        raise ValueError(
            f"weights has shape {found.shape} in FromDistances; expected one finite number for each of {n} objects"
        )
    if abs(found.sum() - 1.0) > _EUCLIDEAN:
        raise ValueError(f"weights in FromDistances sum to {found.sum():.6g}; expected 1. Divide them by their sum")
    return found
