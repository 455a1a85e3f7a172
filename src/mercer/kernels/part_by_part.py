"""Sequences of parts compared position by position."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mercer.core.arrays import is_array, to_numpy
from mercer.core.collections import Collection, as_objects, is_numeric
from mercer.core.validation import is_real
from mercer.kernels.base import Kernel, Prepared


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

    takes_vectors = False  # the parts may be vectors, the objects are sequences

    kernel: Kernel
    same_length: bool = False

    def check_parameters(self) -> None:
        """Raise TypeError unless `kernel` compares single parts."""
        if not isinstance(self.kernel, Kernel) or self.kernel.pairwise:
            raise TypeError(f"kernel={self.kernel!r} in PartByPart; expected a kernel on parts, such as Gaussian()")
        self.kernel.check_parameters()

    def _check(self, X: Any, name: str) -> np.ndarray:
        sequences = as_objects(X, name).copy()
        for i, sequence in enumerate(sequences):
            if is_array(sequence):
                sequences[i] = sequence = to_numpy(sequence)
            if not (np.ndim(sequence) if is_array(sequence) else hasattr(sequence, "__getitem__")):
                raise TypeError(f"{name}[{i}] is {sequence!r:.60}; expected a sequence of parts")
        return sequences

    def _resolve(self, X: np.ndarray) -> Kernel:
        every = _collected([part for sequence in X for part in sequence])
        return PartByPart(self.kernel.resolve(every), self.same_length)

    def _encode(self, X: np.ndarray, name: str) -> _Parts:
        return _Parts(_lengths(X), [(rows, self.kernel.prepare(parts, "parts")) for rows, parts in by_position(X)])

    def _matrix(self, X: _Parts, Z: _Parts | None) -> np.ndarray:
        other = X if Z is None else Z
        gram = np.zeros((len(X.lengths), len(other.lengths)))
        # the shorter of two sequences decides how many positions they have in common
        for (rows, parts), (columns, others) in zip(X.positions, other.positions, strict=False):
            gram[np.ix_(rows, columns)] += to_numpy(self.kernel(parts, None if Z is None else others))
        if self.same_length:
            gram *= X.lengths[:, None] == other.lengths[None, :]
        return gram

    def _diag(self, X: _Parts) -> np.ndarray:
        diagonal = np.zeros(len(X.lengths))
        for rows, parts in X.positions:
            diagonal[rows] += to_numpy(parts.norms)
        return diagonal


class _Parts(NamedTuple):
    """Sequences by position: their lengths, and for each position the sequences that have it, and their parts there."""

    lengths: np.ndarray
    positions: list[tuple[np.ndarray, Prepared]]


def by_position(sequences: np.ndarray) -> Iterator[tuple[np.ndarray, Collection]]:
    """For each position: the sequences that have it, and their parts there as one collection."""
    lengths = _lengths(sequences)
    arrays = all(map(is_numeric, sequences))
    # picking from one array of all parts is much faster than from many small ones
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
    if is_array(first) or (isinstance(first, list | tuple) and first and is_real(first[0])):
        return np.asarray([np.ravel(to_numpy(part) if is_array(part) else part) for part in parts], dtype=float)
    return as_objects(parts, "parts")
