"""The known objects nearest to an input."""

from __future__ import annotations

import numpy as np

from mercer.core.arrays import to_numpy
from mercer.core.collections import Collection, count, is_sparse, take
from mercer.kernels import Encoded, Linear, ZScores
from mercer.kernels.base import Kernel

_BLOCK = 512


def of_columns(kernel: Kernel, inputs: Collection) -> bool:
    """Return True for vectors, unless they are sparse: those are objects that share columns."""
    return kernel.takes_vectors and not is_sparse(inputs)


def nearness(kernel: Kernel, inputs: Collection) -> Kernel:
    """Return the kernel by which inputs are near or far: columns standardised for vectors, cosines for other objects."""
    if of_columns(kernel, inputs):
        return Encoded(ZScores(), Linear()).resolve(inputs)
    return kernel.normalized().resolve(inputs)


def nearest(  # noqa: PLR0913
    kernel: Kernel,
    inputs: Collection,
    known: Collection,
    k: int,
    own: np.ndarray | None = None,
    owners: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    r"""Return the squared distances of the `k` nearest known objects to each input, nearest first, and their positions.

    Distances are those in the feature space of a resolved kernel, :math:`k(x, x) - 2 k(x, z) + k(z, z)`. Known objects with the
    same owner as the input, where owners are given, are infinitely far.

    Examples
    --------
    >>> distances, positions = nearest(Linear(), np.array([[1.2]]), np.array([[0.0], [1.0], [5.0]]), 2)
    >>> distances.round(2).tolist(), positions.tolist()
    ([[0.04, 1.44]], [[1, 0]])
    """
    sizes, distances, positions = to_numpy(kernel.diag(known)), [], []
    for start in range(0, count(inputs), _BLOCK):
        part = slice(start, start + _BLOCK)
        new = take(inputs, part)
        squared = to_numpy(kernel.diag(new))[:, None] + sizes - 2.0 * to_numpy(kernel(new, known))
        if own is not None and owners is not None:
            squared[own[part][:, None] == owners[None, :]] = np.inf
        order = np.argsort(squared, axis=1, kind="stable")[:, :k]
        positions.append(order)
        distances.append(np.maximum(np.take_along_axis(squared, order, axis=1), 0.0))
    return np.concatenate(distances), np.concatenate(positions)
