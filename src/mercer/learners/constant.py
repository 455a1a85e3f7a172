"""The mean of the training outputs, whatever the input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from mercer.core.arrays import Array, like, to_numpy
from mercer.core.collections import Collection, count, take
from mercer.embeddings.base import Embedding
from mercer.embeddings.implicit import Implicit
from mercer.kernels.base import Kernel
from mercer.learners.base import Learner, LearningProblem


@dataclass
class Constant(Learner):
    r"""The mean of the outputs for every input, :math:`h(x) = \sum_j w_j \psi(y_j) / \sum_j w_j`: what a map has to beat.

    Examples
    --------
    >>> Constant().has_weights
    True
    """

    has_weights = True

    def preferred_embedding(self, kernel: Kernel, outputs: Collection) -> tuple[Embedding, str] | None:
        """Return weights on the training outputs."""
        return Implicit(), "the mean is a combination of training outputs"

    def fit(self, problem: LearningProblem) -> FittedConstant:
        """Take the mean."""
        return FittedConstant(problem.held(), {})


@dataclass
class FittedConstant:
    """The weights of the mean."""

    problem: LearningProblem
    attributes: dict[str, Any]

    @property
    def shares(self) -> np.ndarray:
        """The share of each pair in the mean."""
        weight = self.problem.sample_weight
        return np.full(self.problem.size, 1.0 / self.problem.size) if weight is None else weight / weight.sum()

    @property
    def groups(self) -> np.ndarray | None:
        """The group of each training pair."""
        return self.problem.groups

    @property
    def origin(self) -> Array:
        """The point of every input."""
        return self._in_coordinates(self.shares[None, :])[0, :]

    def points(self, inputs: Collection) -> Array:
        """Return the mean for each input."""
        return take(self._in_coordinates(self.shares[None, :]), np.zeros(count(inputs), dtype=int))

    def left_out_points(self) -> Array:
        """Return the mean of the other pairs, or of other groups."""
        return self.points_without(self.problem.groups)

    def points_without(self, groups: np.ndarray | None) -> Array:
        """Return for each pair the mean of the pairs outside its group, or of all others."""
        n, shares, targets = self.problem.size, self.shares, self.problem.targets
        group = np.arange(n) if groups is None else groups
        if targets is None:
            others = np.where(group[:, None] == group, 0.0, shares)
            return others / others.sum(axis=1, keepdims=True)
        # from sums over groups, as weights would be n × n
        own = sparse.csr_array((shares, (group, np.arange(n))))
        mean = shares @ to_numpy(targets)
        away = (own @ (mean - to_numpy(targets))) / (1.0 - own.sum(axis=1))[:, None]
        return like((mean + away)[group], targets)

    def weights(self, inputs: Collection) -> np.ndarray:
        """Return the same shares for each input."""
        return np.repeat(self.shares[None, :], count(inputs), axis=0)

    def _in_coordinates(self, weights: np.ndarray) -> Array:
        targets = self.problem.targets
        return weights if targets is None else like(weights @ to_numpy(targets), targets)
