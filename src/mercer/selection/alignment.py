"""Kernel alignment: how alike two Gram matrices are, and a kernel's scale chosen by it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.cluster import KMeans

from mercer.core.arrays import Array, float64, is_array, like, namespace, to_numpy
from mercer.core.collections import Collection, as_vectors
from mercer.kernels.base import Kernel


def alignment(K1: Array, K2: Array, centered: bool = False) -> float:
    r"""The cosine of two Gram matrices, :math:`\langle K_1, K_2\rangle_F / (\|K_1\|_F \|K_2\|_F)`.

    Parameters
    ----------
    K1, K2 : array of shape (n, n)
        Gram matrices of the same objects.
    centered : bool
        Centre both first (Cortes et al. 2012), so that a constant added to a kernel does not count
        as likeness.

    Returns
    -------
    float
        At most 1, reached where one is a positive multiple of the other.

    Examples
    --------
    >>> import numpy as np
    >>> alignment(np.eye(2), np.ones((2, 2))), alignment(np.eye(2), 3 * np.eye(2), centered=True)
    (0.7071067811865475, 1.0)
    """
    first = _checked(K1, "K1")
    second = like(_checked(K2, "K2"), first)
    if first.shape != second.shape:
        raise ValueError(
            f"K1 has shape {tuple(first.shape)} and K2 has shape {tuple(second.shape)}; expected "
            "Gram matrices of the same objects"
        )
    xp = namespace(first)
    sides = []
    for matrix, name in ((first, "K1"), (second, "K2")):
        largest = float(xp.max(xp.abs(matrix)))
        # scaled by its largest entry, so that tiny kernel values do not vanish when squared
        side = matrix / largest if largest > 0 else matrix
        side = _centred(side) if centered else side
        if float(xp.max(xp.abs(side))) <= side.shape[0] * float(xp.finfo(side.dtype).eps):
            raise ValueError(
                f"{name} is zero{' once centred' if centered else ''}; expected a Gram matrix that "
                "tells objects apart, since alignment with zero is undefined"
            )
        sides.append(side)
    left, right = sides
    return float(xp.sum(left * right)) / float(np.sqrt(float(xp.sum(left * left)) * float(xp.sum(right * right))))


def cluster_target(X: Collection, n_clusters: int = 30, random_state: Any = None) -> Array:
    r"""A target to align with, :math:`K_{ij} = 1` where k-means puts i and j in one cluster, else 0.

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
    X = as_vectors(X)
    if not 1 <= n_clusters <= X.shape[0]:
        raise ValueError(
            f"n_clusters={n_clusters} for {X.shape[0]} objects; expected a number from 1 to the number of objects"
        )
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
        """The scale chosen; the first of the best where several are equal."""
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
    r"""The scale whose Gram matrix is best aligned with a target, :math:`\arg\max_s A(K_s, T)`.

    Weston et al. (section 4.3) choose the width of the output kernel so, with the clusters of
    k-means as target.

    Parameters
    ----------
    kernel : Kernel
        A kernel with a parameter to choose. It is not changed.
    X : collection
        Objects.
    scales : iterable of float
        Values to try.
    target : array of shape (n, n), optional
        By default `cluster_target`, for which X must be vectors.
    n_clusters : int
        For that target.
    centered : bool
        Whether to use centred alignment.
    random_state : int, RandomState or None
        For that target.
    parameter : str
        Name of the parameter, nested ones as in ``set_params``: ``"kernel__scale"``.

    Returns
    -------
    ScaleChoice
        With ``kernel``, ``scale``, ``scales`` and ``alignments``.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> X = [[0.0], [0.1], [9.0], [9.1]]
    >>> choose_scale(Gaussian(), X, [0.01, 1.0, 100.0], n_clusters=2, random_state=0).kernel
    Gaussian(scale=1.0)
    """
    values = [float(scale) for scale in scales]
    if not values:
        raise ValueError("scales is empty; expected at least one value to try")
    if parameter not in kernel.get_params():
        raise ValueError(
            f"parameter={parameter!r} is no parameter of {kernel!r}; expected one of "
            f"{', '.join(sorted(kernel.get_params()))}"
        )
    X = kernel.check(X, "X")
    target = cluster_target(_clustered(X), n_clusters, random_state) if target is None else target
    tried = [clone(kernel).set_params(**{parameter: value}) for value in values]
    alignments = [alignment(candidate.resolve(X)(X), target, centered) for candidate in tried]
    return ScaleChoice(tried[int(np.argmax(alignments))], values, alignments)


def _clustered(X: Collection) -> Array:
    """The objects as the vectors k-means needs."""
    try:
        return as_vectors(X)
    except (TypeError, ValueError) as error:
        raise TypeError(
            "target is None, and the clusters of k-means, which then take its place, need vectors; X holds other objects. "
            "Pass target=..., a Gram matrix of the same objects to align with"
        ) from error


def _checked(K: Array, name: str) -> Array:
    matrix = float64(K if is_array(K) else np.asarray(K))
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
        raise ValueError(f"{name} has shape {tuple(matrix.shape)}; expected a square Gram matrix")
    if not bool(namespace(matrix).all(namespace(matrix).isfinite(matrix))):
        raise ValueError(f"{name} contains NaN or infinity; expected finite kernel values")
    return matrix


def _centred(K: Array) -> Array:
    xp = namespace(K)
    # means of both sides, so that a matrix that is not quite symmetric is centred as it is
    rows, columns = xp.mean(K, axis=1), xp.mean(K, axis=0)
    return K - rows[:, None] - columns[None, :] + xp.mean(K)
