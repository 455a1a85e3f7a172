"""Sequences of parts compared position by position."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.core.arrays import is_array, to_numpy
from mercer.core.collections import Collection, as_objects
from mercer.kernels.base import Kernel


@dataclass(eq=False, repr=False)
class PartByPart(Kernel):
    r"""A kernel on the parts, added over the positions both sequences have, :math:`k(x, z) = \sum_p \kappa(x_p, z_p)`.

    For things that come cut into parts in order: words as letter images, songs as bars, days as hours. Sequences may
    differ in length.

    Parameters
    ----------
    kernel : Kernel
        κ, the similarity of two parts.
    same_length : bool, default=False
        Let sequences of different lengths share nothing: :math:`k(x, z) = [|x| = |z|] \sum_p \kappa(x_p, z_p)`.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> words = [[[1.0, 0.0], [0.0, 1.0]], [[2.0, 0.0]]]
    >>> PartByPart(Linear())(words)
    array([[2., 2.],
           [2., 4.]])
    >>> PartByPart(Linear(), same_length=True)(words)
    array([[2., 0.],
           [0., 4.]])
    """

    kernel: Kernel
    same_length: bool = False

    @property
    def takes_vectors(self) -> bool:
        """False: the parts may be vectors, the objects are sequences of them."""
        return False

    def check_parameters(self) -> None:
        """`kernel` compares single parts."""
        if not isinstance(self.kernel, Kernel) or self.kernel.pairwise:
            raise TypeError(f"kernel={self.kernel!r} in PartByPart; expected a kernel on parts, such as Gaussian()")
        self.kernel.check_parameters()

    def check(self, X: Collection, name: str = "X") -> np.ndarray:
        """`X` as an object array of sequences."""
        sequences = as_objects(X, name).copy()
        for i, sequence in enumerate(sequences):
            if is_array(sequence):
                sequences[i] = sequence = to_numpy(sequence)
            if np.ndim(sequence) == 0 if isinstance(sequence, np.ndarray) else not hasattr(sequence, "__getitem__"):
                raise TypeError(f"{name}[{i}] is {sequence!r:.60}; expected a sequence of parts")
        return sequences

    def resolve(self, X: Collection) -> Kernel:
        """What the kernel on parts learns from data, it learns from all parts."""
        self.check_parameters()
        every = [part for sequence in self.check(X) for part in sequence]
        return PartByPart(self.kernel.resolve(_collected(every)), self.same_length)

    def pointwise(self, x: Any, z: Any) -> float:
        """The sum over the positions of two sequences."""
        if self.same_length and len(x) != len(z):
            return 0.0
        pairs = zip(x, z, strict=False)
        return sum(float(to_numpy(self.kernel(_collected([a]), _collected([b])))[0, 0]) for a, b in pairs)

    def _matrix(self, X: np.ndarray, Z: np.ndarray | None) -> np.ndarray:
        gram = np.zeros((len(X), len(X if Z is None else Z)))
        if Z is None:
            for rows, parts in by_position(X):
                gram[np.ix_(rows, rows)] += to_numpy(self.kernel(parts))
        else:
            # whichever is shorter decides how many positions they have in common
            for (rows, parts), (columns, others) in zip(by_position(X), by_position(Z), strict=False):
                gram[np.ix_(rows, columns)] += to_numpy(self.kernel(parts, others))
        if self.same_length:
            left, right = _lengths(X), _lengths(X if Z is None else Z)
            gram *= left[:, None] == right[None, :]
        return gram

    def _diag(self, X: np.ndarray) -> np.ndarray:
        diagonal = np.zeros(len(X))
        for rows, parts in by_position(X):
            diagonal[rows] += to_numpy(self.kernel.diag(parts))
        return diagonal


def by_position(sequences: np.ndarray) -> Iterator[tuple[np.ndarray, Collection]]:
    """For each position: which sequences have it, and their parts there as one collection."""
    lengths = _lengths(sequences)
    arrays = all(isinstance(sequence, np.ndarray) and sequence.dtype != object for sequence in sequences)
    # one array of all parts is much faster to pick from than many small ones
    parts = (
        np.concatenate([np.reshape(s, (len(s), -1)) for s in sequences if len(s)]) if arrays and any(lengths) else None
    )
    starts = np.cumsum(lengths) - lengths
    for position in range(int(lengths.max(initial=0))):
        rows = np.flatnonzero(lengths > position)
        if parts is not None:
            yield rows, np.asarray(parts[starts[rows] + position], dtype=float)
        else:
            yield rows, _collected([sequences[i][position] for i in rows])


def _lengths(sequences: np.ndarray) -> np.ndarray:
    return np.asarray([len(sequence) for sequence in sequences])


def _collected(parts: list[Any]) -> Collection:
    """Parts as a collection a kernel takes: vectors (and images) as rows of an array, anything else as objects."""
    first = parts[0]
    if is_array(first) or (isinstance(first, list | tuple) and first and isinstance(first[0], int | float)):
        return np.asarray([np.ravel(to_numpy(part) if is_array(part) else part) for part in parts], dtype=float)
    return as_objects(parts, "parts")
