"""Convex combinations of learners."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mercer.core.arrays import Array, like, to_numpy
from mercer.core.collections import Collection, count, take, to_backend_of
from mercer.core.validation import check_choice
from mercer.decoders.pool import left_out
from mercer.kernels.base import Kernel
from mercer.learners.base import FittedMap, Learner, LearningProblem
from mercer.learners.compact import compacted
from mercer.selection.mixing import Mixing, check_folds, mix_by_loss, mix_by_squares


@dataclass
class OnKernel(Learner):
    """A learner with an input kernel of its own.

    Examples
    --------
    >>> from mercer.kernels import Laplacian
    >>> from mercer.learners import Ridge
    >>> OnKernel(Laplacian("median"), Ridge()).has_weights
    True
    """

    kernel: Kernel
    learner: Learner

    @property
    def has_weights(self) -> bool:  # type: ignore[override]
        """As for the learner."""
        return self.learner.has_weights

    def fit(self, problem: LearningProblem) -> FittedMap:
        """Fit the learner with the kernel resolved from the inputs."""
        kernel = self.kernel if self.kernel.is_resolved else self.kernel.resolve(problem.inputs, checked=True)
        return self.learner.fit(replace(problem, kernel=kernel))


@dataclass
class Mixture(Learner):
    r"""A convex combination of learners, :math:`h(x) = \sum_m \beta_m h_m(x)`, with weights from left-out points.

    The left-out points of the combination are the combination of theirs. The weights make the left-out loss small: by
    non-negative least squares for distances, shared by all coordinates of the output or found for each, or by greedy selection
    for a loss of decoded objects. They are checked on pairs they were not found on, and the best learner alone is taken where a
    combination does not do better there.

    Parameters
    ----------
    learners : sequence of Learner
        The learners; `OnKernel` gives one an input kernel of its own.
    rule : {"auto", "squares", "greedy"}
        The way to find weights; "auto" takes greedy selection if the estimator has a loss of decoded objects.

    Examples
    --------
    >>> from mercer import DependencyEstimator
    >>> from mercer.kernels import Gaussian, Linear
    >>> from mercer.learners import Ridge
    >>> X = np.linspace(0, 3, 30)[:, None]
    >>> mixture = Mixture([Ridge(), OnKernel(Linear(), Ridge())])
    >>> model = DependencyEstimator(Gaussian(1.0), regressor=mixture).fit(X, np.sin(X[:, 0]))
    >>> model.mixing_.weights.round(1).tolist()
    [1.0, 0.0]
    """

    learners: Sequence[Learner]
    rule: str = "auto"

    def __post_init__(self) -> None:
        check_choice(self.rule, "rule", ("auto", "squares", "greedy"))
        if len(self.learners) == 0 or not all(isinstance(learner, Learner) for learner in self.learners):
            raise TypeError(f"learners={self.learners!r:.60}; expected at least one learner from mercer.learners")

    @property
    def has_weights(self) -> bool:  # type: ignore[override]
        """True if all learners have weights."""
        return all(learner.has_weights for learner in self.learners)

    def reason(self) -> str:
        """Return one sentence on how the map was learned."""
        return f"a mixture of {len(self.learners)} learners, by left-out loss"

    def fit(self, problem: LearningProblem) -> FittedMixture:
        """Fit every learner, and weigh them by their left-out points."""
        maps = [learner.fit(problem) for learner in self.learners]
        points = [to_numpy(own.left_out_points()) for own in maps]
        greedy = self.rule == "greedy" or (self.rule == "auto" and problem.criterion.decodes)
        mixing = (mix_decoded if greedy else mix_distances)(problem, points)
        return FittedMixture(maps, mixing.weights, mixing.apply(points), {"mixing_": mixing, "maps_": maps})


def mix_distances(problem: LearningProblem, points: Sequence[np.ndarray]) -> Mixing:
    """Return the mixture of least distance of left-out points to the outputs, in feature space."""
    residuals = feature_residuals(problem, points)
    assert residuals is not None
    # the coordinates of a feature space have no meaning of their own: one weight for all
    shared = problem.targets is None or not problem.embedding.euclidean
    return mix_by_squares(residuals, check_folds(problem.size, problem.groups), problem.sample_weight, shared)


def mix_decoded(problem: LearningProblem, points: Sequence[np.ndarray]) -> Mixing:
    """Return the mixture of least loss of decoded left-out points."""
    outputs, decoder = problem.outputs, problem.decoder
    criterion: Any = problem.criterion

    def loss(mixed: np.ndarray, rows: np.ndarray) -> np.ndarray:
        decoded = decoder.decode(to_backend_of(outputs, mixed), leave_out=left_out(rows, problem.groups))
        losses = to_numpy(criterion.loss.paired(take(outputs, rows), decoded))
        return losses if problem.sample_weight is None else losses * problem.sample_weight[rows]

    return mix_by_loss(loss, points, check_folds(problem.size, problem.groups), feature_residuals(problem, points))


def feature_residuals(problem: LearningProblem, points: Sequence[np.ndarray], most: int = 1500) -> np.ndarray | None:
    """Return what is left of ψ(y) at each point, in coordinates of the feature space, (members, pairs, coordinates).

    None if the output kernel has no finite features and more than `most` outputs would have to be decomposed.
    """
    embedding, targets = problem.embedding, problem.targets
    if targets is not None and embedding.euclidean:
        return np.stack(points) - to_numpy(targets)
    own = np.eye(problem.size) if targets is None else to_numpy(targets)
    outputs = getattr(embedding, "distinct_", problem.outputs)
    features = embedding.kernel_.feature_map(outputs)
    if features is not None and features.dimension <= max(count(outputs), most):
        root = to_numpy(features(outputs))
    elif count(outputs) <= most:
        values, vectors = np.linalg.eigh(to_numpy(embedding.kernel_(outputs)))
        root = vectors * np.sqrt(np.maximum(values, 0.0))
    else:
        return None
    return np.stack([(point - own) @ root for point in points])


@dataclass
class FittedMixture:
    """Fitted maps and their weights; those without weight are not kept."""

    maps: list[FittedMap]
    mixture_weights: np.ndarray
    left_out: np.ndarray
    attributes: dict[str, Any]

    def __post_init__(self) -> None:
        kept = [m for m, weight in enumerate(self.mixture_weights) if np.any(weight)]
        self.maps, self.mixture_weights = [self.maps[m] for m in kept], self.mixture_weights[kept]

    def points(self, inputs: Collection) -> Array:
        """Return the weighted sum of the points of the maps."""
        return self._sum([own.points(inputs) for own in self.maps])

    def left_out_points(self) -> Array:
        """Return the weighted sum of the left-out points, the weights held."""
        return self.left_out

    def points_without(self, groups: np.ndarray | None) -> Array:
        """Return the weighted sum of the points without each group, or of the left-out points of maps that have no others."""
        return self._sum([
            own.points_without(groups) if hasattr(own, "points_without") else own.left_out_points() for own in self.maps
        ])  # fmt: skip

    def reduced(self) -> FittedMixture:
        """Return the maps without what predictions do not take."""
        return replace(self, maps=[compacted(own) for own in self.maps], left_out=np.empty(0), attributes={})

    def weights(self, inputs: Collection) -> Array | None:
        """Return the weighted sum of the weights; None if a map has none, or coordinates have weights of their own."""
        found = [own.weights(inputs) for own in self.maps] if self.mixture_weights.ndim == 1 else [None]
        return None if any(own is None for own in found) else self._sum(found)

    @property
    def groups(self) -> np.ndarray | None:
        """The group of each training pair."""
        return getattr(self.maps[0], "groups", None)

    @property
    def origin(self) -> Array | None:
        """The point of an input that is like no training input; None for zero, or if a map has none."""
        origins = [getattr(own, "origin", None) for own in self.maps]
        return None if any(own is None for own in origins) else self._sum(origins)

    def _sum(self, parts: Sequence[Any]) -> Any:
        first, weighted = parts[0], zip(self.mixture_weights, parts, strict=True)
        return sum(like(weight, first) * like(own, first) for weight, own in weighted)
