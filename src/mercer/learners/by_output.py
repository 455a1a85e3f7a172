"""Coordinates of outputs that are predicted by a map each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer.core.arrays import Array, namespace
from mercer.core.collections import Collection
from mercer.learners.base import FittedMap, Learner, LearningProblem, enough_folds, left_out_by_folds
from mercer.learners.compact import compacted


@dataclass
class FittedByOutput:
    """The fitted map of each coordinate, side by side; pairs are left out by folds, the learner fitted again in each.

    Attributes
    ----------
    maps : sequence of FittedMap
        A map for each coordinate.
    attributes : dict
        Fitted attributes of the estimator.
    learner, problem : Learner, LearningProblem
        The learner that found the maps, and the pairs.
    """

    maps: Sequence[FittedMap]
    attributes: dict[str, Any]
    learner: Learner
    problem: LearningProblem

    def points(self, inputs: Collection) -> Array:
        """Return the coordinates side by side."""
        parts = [own.points(inputs) for own in self.maps]
        return namespace(*parts).concat(parts, axis=1)

    @property
    def groups(self) -> np.ndarray | None:
        """The group of each training pair; None if pairs are left out one by one."""
        return self.problem.groups

    def left_out_points(self) -> Array:
        """Return the point of each pair from a fit without its fold."""
        return self.points_without(self.groups)

    def points_without(self, groups: np.ndarray | None) -> Array:
        """Return the point of each pair from a fit without its group, and others of its fold."""
        problem = replace(self.problem, groups=groups)
        return left_out_by_folds(self.learner.fit, problem, enough_folds(problem.size))

    def weights(self, inputs: Collection) -> None:
        """Return None: each coordinate has weights of its own."""
        return

    def reduced(self) -> FittedByOutput:
        """Return the maps without what predictions do not take."""
        return replace(self, maps=[compacted(own) for own in self.maps], problem=self.problem.reduced())
