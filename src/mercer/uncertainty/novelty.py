"""Inputs unlike all training inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.core.arrays import to_numpy
from mercer.core.collections import Collection, count, take
from mercer.kernels.base import Kernel

_MOST, _MOST_COMPARED = 1000, 4000
_BLOCK = 512


@dataclass
class Novelty:
    r"""Distances of training inputs to the nearest other one, the scale for those of new inputs.

    Distances are those in the feature space of a kernel, :math:`k(x, x) - 2 k(x, z) + k(z, z)`. At most 1,000 training inputs,
    drawn at random, are compared with 4,000.

    Attributes
    ----------
    kernel : Kernel
        A resolved kernel.
    rows : array
        The training inputs that new ones are compared with.
    distances : array
        The squared distance of some of them to the nearest other one (of another group), in order.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> X = np.arange(19.0).reshape(-1, 1)
    >>> Novelty.of(Linear(), X).p_values(X, np.array([[3.2], [90.0]])).tolist()
    [1.0, 0.05]
    """

    kernel: Kernel
    rows: np.ndarray
    distances: np.ndarray

    @classmethod
    def of(cls, kernel: Kernel, inputs: Collection, groups: Any = None) -> Novelty:
        """Return the distances of training inputs."""
        kernel = kernel if kernel.is_resolved else kernel.resolve(inputs)
        rows = np.random.default_rng(0).permutation(count(inputs))[:_MOST_COMPARED]
        some = np.sort(rows[:_MOST])
        own = np.asarray(groups, dtype=object) if groups is not None else np.arange(count(inputs))
        found = cls(kernel, np.sort(rows), np.empty(0))
        nearest = found._nearest(inputs, take(inputs, some), own[found.rows], own[some])
        found.distances = np.sort(nearest[np.isfinite(nearest)])
        return found

    def p_values(self, training: Collection, inputs: Collection) -> np.ndarray:
        """Return the share of training inputs, counting the new one, that were as far from all others as each input is."""
        nearest = self._nearest(training, inputs, np.arange(len(self.rows)), np.full(count(inputs), -1))
        slack = 1e-9 * float(self.distances[-1]) if len(self.distances) else 0.0
        at_least = len(self.distances) - np.searchsorted(self.distances, nearest - slack, side="left")
        return (1.0 + at_least) / (len(self.distances) + 1.0)

    def _nearest(self, training: Collection, inputs: Collection, owners: np.ndarray, own: np.ndarray) -> np.ndarray:
        known = take(training, self.rows)
        sizes, nearest = to_numpy(self.kernel.diag(known)), []
        for start in range(0, count(inputs), _BLOCK):
            part = slice(start, start + _BLOCK)
            new = take(inputs, part)
            squared = to_numpy(self.kernel.diag(new))[:, None] + sizes - 2.0 * to_numpy(self.kernel(new, known))
            squared[own[part][:, None] == owners[None, :]] = np.inf
            nearest.append(np.maximum(squared.min(axis=1), 0.0))
        return np.concatenate(nearest)
