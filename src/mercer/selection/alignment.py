"""Kernel alignment: the similarity of two Gram matrices, and the scale of a kernel chosen by it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer.core.arrays import Array, float64, is_array, like, namespace, to_numpy
from mercer.core.collections import Collection, as_vectors
from mercer.kernels.base import Kernel
from mercer.kernels.grams import centred


def alignment(K1: Array, K2: Array, centered: bool = False) -> float:
    r"""Return the cosine of two Gram matrices, :math:`\langle K_1, K_2\rangle_F / (\|K_1\|_F \|K_2\|_F)`.

    It is at most 1, for positive multiples of each other.

    Parameters
    ----------
    K1, K2 : array of shape (n, n)
        Gram matrices of the same objects.
    centered : bool
        Centre both first (Cortes et al. 2012), so that a constant added to a kernel does not count as similarity.

    Examples
    --------
    >>> import numpy as np
    >>> alignment(np.eye(2), np.ones((2, 2))), alignment(np.eye(2), 3 * np.eye(2), centered=True)
    (0.7071067811865475, 1.0)
    """
    first = checked_gram(K1, "K1")
    second = like(checked_gram(K2, "K2"), first)
    if first.shape != second.shape:
        shapes = f"K1 has shape {tuple(first.shape)} and K2 has shape {tuple(second.shape)}"
        raise ValueError(f"{shapes}; expected Gram matrices of the same objects")
    xp = namespace(first)
    sides = []
    for matrix, name in ((first, "K1"), (second, "K2")):
        largest = float(xp.max(xp.abs(matrix)))
        # scaled by its largest entry, so that tiny kernel values do not vanish when squared
        side = matrix / largest if largest > 0 else matrix
        side = centred(side) if centered else side
        require_size(float(xp.max(xp.abs(side))), side.shape[0], 1.0, f"{name} is zero{' once centred' * centered}")
        sides.append(side)
    left, right = sides
    return float(xp.sum(left * right)) / float(np.sqrt(float(xp.sum(left * left)) * float(xp.sum(right * right))))


def cluster_target(X: Collection, n_clusters: int = 30, random_state: Any = None) -> Array:
    r"""Return a target of alignment, :math:`K_{ij} = 1` if k-means puts i and j in one cluster, else 0.

    Parameters
    ----------
    X : array of shape (n, d)
        Vectors.
    n_clusters : int
        Number of clusters, at most n. Weston et al. (section 4.3) take 30.
    random_state : int, RandomState or None
        For k-means.

    Examples
    --------
    >>> cluster_target([[0.0], [0.1], [9.0]], n_clusters=2, random_state=0)
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """
    from sklearn.cluster import KMeans  # takes long to import

    X = as_vectors(X)
    if not 1 <= n_clusters <= X.shape[0]:
        raise ValueError(f"n_clusters={n_clusters} for {X.shape[0]} objects; expected a number from 1 to {X.shape[0]}")
    clusters = KMeans(n_clusters, n_init=10, random_state=random_state).fit(to_numpy(X)).labels_
    return like((clusters[:, None] == clusters).astype(float), X)


@dataclass
class ScaleChoice:
    """A kernel with the scale of the highest alignment, and the alignment of every scale tried."""

    kernel: Kernel
    scales: list[float]
    alignments: list[float]

    @property
    def scale(self) -> float:
        """The chosen scale; the first of the best if several are equal."""
        return self.scales[int(np.argmax(self.alignments))]


def choose_scale(  # noqa: PLR0913
    kernel: Kernel,
    X: Collection,
    scales: Iterable[float],
    target: Array | None = None,
    n_clusters: int = 30,
    centered: bool = False,
    random_state: Any = None,
    parameter: str = "scale",
) -> ScaleChoice:
    r"""Choose the scale whose Gram matrix is best aligned with a target, :math:`\arg\max_s A(K_s, T)`.

    Weston et al. (section 4.3) choose the width of the output kernel so, with the clusters of k-means as target.

    Parameters
    ----------
    kernel : Kernel
        A kernel with a parameter to choose. It is not changed.
    X : collection
        Objects.
    scales : iterable of float
        Values to try.
    target : array of shape (n, n), optional
        By default ``cluster_target(X, n_clusters, random_state)``, for which X must be vectors.
    centered : bool
        Use centred alignment.
    parameter : str
        Name of the parameter, nested ones as in ``set_params``: ``"kernel__scale"``.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> X = [[0.0], [0.1], [9.0], [9.1]]
    >>> choose_scale(Gaussian(), X, [0.01, 1.0, 100.0], n_clusters=2, random_state=0).kernel
    Gaussian(scale=1.0)
    """
    values, names = [float(scale) for scale in scales], sorted(kernel.get_params())
    if not values:
        raise ValueError("scales is empty; expected at least one value to try")
    if parameter not in names:
        raise ValueError(f"parameter={parameter!r} is not a parameter of {kernel!r}; expected one of {names}")
    X = kernel.check(X, "X")
    target = cluster_target(_clustered(X), n_clusters, random_state) if target is None else target
    tried = [clone(kernel).set_params(**{parameter: value}) for value in values]
    alignments = [alignment(candidate.resolve(X)(X), target, centered) for candidate in tried]
    return ScaleChoice(tried[int(np.argmax(alignments))], values, alignments)


def _clustered(X: Collection) -> Array:
    """Return the objects as the vectors that k-means needs."""
    try:
        return as_vectors(X)
    except (TypeError, ValueError) as error:
        raise TypeError("target is None, and clusters of k-means need vectors. Pass target=..., a matrix") from error


def checked_gram(K: Array, name: str) -> Array:
    """Return `K` in double precision; raise ValueError unless it is a square matrix of finite numbers."""
    matrix = float64(K if is_array(K) else np.asarray(K))
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
        raise ValueError(f"{name} has shape {tuple(matrix.shape)}; expected a square Gram matrix")
    if not bool(namespace(matrix).all(namespace(matrix).isfinite(matrix))):
        raise ValueError(f"{name} contains NaN or infinity; expected finite kernel values")
    return matrix


def require_size(size: float, n: int, largest: float, message: str) -> None:
    """Raise ValueError unless the size of an n×n matrix, of some largest entry before centring, is above rounding."""
    if size <= n * float(np.finfo(float).eps) * largest:
        raise ValueError(f"{message}; expected one that tells objects apart, since alignment with zero is undefined")
