"""Inputs unlike the training inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.linalg

from mercer.core.arrays import cholesky, to_numpy
from mercer.core.collections import Collection, count, take
from mercer.kernels.base import Kernel
from mercer.uncertainty.nearest import nearest, nearness, of_columns

_MOST_NEAR, _MOST_EXPLAINING = 4000, 2000
_RIDGE, _BLOCK = 1.0, 512


class Unlikeness(Protocol):
    """A number that grows with what is unknown about an input; infinite if it shares nothing with any training input.

    Attributes
    ----------
    kernel : Kernel
        The resolved kernel by which inputs are near or far.
    rows : int array
        Positions of the training inputs that are compared with.
    """

    kernel: Kernel
    rows: np.ndarray

    def of(
        self, inputs: Collection, training: Collection, own: np.ndarray | None = None, owners: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the unlikeness of each input, compared with training inputs of other owners than its own."""

    def of_two(self, inputs: Collection) -> float:
        """Return the largest unlikeness of two of these inputs that share something; infinity for none."""


def unlikeness(kernel: Kernel, training: Collection) -> Unlikeness:
    """Return the unlikeness of inputs: their distance if they are vectors, the part that is not explained if they are objects.

    Examples
    --------
    >>> from mercer.kernels import Spectrum
    >>> words = np.array(["recieve", "receeve", "deceive", "seperate"], dtype=object)
    >>> unlikeness(Spectrum(2), words).of(["recieved", "operates", "xyzzy"], words).round(2).tolist()
    [0.72, 1.37, inf]
    """
    near = nearness(kernel, training)
    n, by_columns = count(training), of_columns(kernel, training)
    rows = np.sort(np.random.default_rng(0).permutation(n)[: _MOST_NEAR if by_columns else _MOST_EXPLAINING])
    return Distance(near, rows) if by_columns else Unexplained(near, rows)


@dataclass(eq=False)
class Distance:
    """The squared distance of vectors from the nearest training input."""

    kernel: Kernel
    rows: np.ndarray

    def of(
        self, inputs: Collection, training: Collection, own: np.ndarray | None = None, owners: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the distance of each input."""
        held = None if owners is None else owners[self.rows]
        return nearest(self.kernel, inputs, take(training, self.rows), 1, own, held)[0][:, 0]

    def of_two(self, inputs: Collection) -> float:
        """Return the largest distance of two inputs."""
        return float(np.max(nearest(self.kernel, inputs, inputs, count(inputs))[0]))


@dataclass(eq=False)
class Unexplained:
    r"""Minus the logarithm of the part of an object that training objects explain.

    .. math:: u(x) = -\log\big(k_x^\top (K + I)^{-1} k_x\big)

    with cosines k. The part is that of :math:`\phi(x)` within the span of the training objects, shrunk by a ridge of 1 against
    directions in which there are few. Objects that share parts with many training objects, none of which is near, are known as
    well; an object without any feature is explained if there is another one.
    """

    kernel: Kernel
    rows: np.ndarray
    inverse: np.ndarray | None = None
    """Computed once it is needed; not saved."""

    def __getstate__(self) -> dict[str, object]:
        return vars(self) | {"inverse": None}

    def of(
        self, inputs: Collection, training: Collection, own: np.ndarray | None = None, owners: np.ndarray | None = None
    ) -> np.ndarray:
        """Return minus the logarithm of the part of each input that is explained."""
        known = take(training, self.rows)
        if self.inverse is None:
            # threads may compute it at the same time: the result is the same, and is assigned once it is complete
            self.inverse = _inverse(to_numpy(self.kernel(known)))
        empty, held, parts = ~self.kernel.sees(known), None if owners is None else owners[self.rows], []
        for start in range(0, count(inputs), _BLOCK):
            part = slice(start, start + _BLOCK)
            new = take(inputs, part)
            similar = np.array(to_numpy(self.kernel(new, known)), dtype=float)
            others = np.ones(similar.shape, dtype=bool)
            if own is not None and held is not None:
                others = own[part][:, None] != held[None, :]
                similar[~others] = 0.0
            solved = similar @ self.inverse
            explained = np.sum(similar * solved, axis=1) - self._of_own(solved, others)
            alike = (others & empty).any(axis=1)
            parts.append(np.where(self.kernel.sees(new), explained, alike))
        with np.errstate(divide="ignore"):
            return -np.log(np.maximum(np.concatenate(parts), 0.0))

    def of_two(self, inputs: Collection) -> float:
        """Return the largest unlikeness of two inputs that share something, as if one had explained the other."""
        cosines = np.abs(to_numpy(self.kernel(inputs)))
        shared = cosines[(cosines > 0) & ~np.eye(len(cosines), dtype=bool)]
        return float(np.log1p(_RIDGE) - 2.0 * np.log(np.min(shared))) if len(shared) else np.inf

    def _of_own(self, solved: np.ndarray, others: np.ndarray) -> np.ndarray:
        """The part that owned objects add through the inverse, in which they still are, for each row."""
        assert self.inverse is not None
        added, found = np.zeros(len(solved)), {}
        for i in np.flatnonzero(~others.all(axis=1)).tolist():
            own = np.flatnonzero(~others[i])
            key = own.tobytes()
            if key not in found:
                found[key] = np.linalg.inv(self.inverse[np.ix_(own, own)])
            added[i] = solved[i, own] @ found[key] @ solved[i, own]
        return added


def _inverse(gram: np.ndarray) -> np.ndarray:
    identity = np.eye(len(gram))
    try:
        lower = cholesky(gram + _RIDGE * identity)
    except np.linalg.LinAlgError:  # of a kernel that is not positive semi-definite
        lowest = scipy.linalg.eigvalsh(gram, subset_by_index=[0, 0])[0]
        lower = cholesky(gram + (_RIDGE - lowest) * identity)
    return scipy.linalg.cho_solve((lower, True), identity)
