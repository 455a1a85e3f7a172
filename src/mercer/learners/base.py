"""The learner protocol, and the problem a learner is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from sklearn.base import clone

from mercer.core.arrays import Array, like, namespace
from mercer.core.collections import Collection, concatenate, count, take
from mercer.core.threads import side_by_side
from mercer.decoders.base import Decoder
from mercer.embeddings.base import Embedding
from mercer.kernels.base import Kernel
from mercer.selection.alpha import Criterion, leave_one_out_only, warn_if_lost
from mercer.selection.folds import KFold
from mercer.solvers.base import RidgeProblem
from mercer.solvers.kernel_values import gram_matrix, sub_inputs


@runtime_checkable
class FittedMap(Protocol):
    """A learned map from inputs to points of the output feature space."""

    attributes: dict[str, Any]
    """Fitted attributes of the estimator: ``alpha_``, ``loo_path_``, …"""

    def points(self, inputs: Collection) -> Array:
        """Return h(x) in the coordinates of the embedding, one row for each checked input."""

    def left_out_points(self) -> Array:
        """Return h₋ᵢ(xᵢ): each training pair predicted by a fit that has not seen it (its group, where there are groups)."""

    def weights(self, inputs: Collection) -> Array | None:
        """Return w with h(x) = Σ w_j(x) ψ(y_j) over the training pairs; None if the learner has no such form."""

    # A map may also have `points_without(groups)`, the point of each training pair from a fit without its group, and `groups`,
    # the group of each pair, where it leaves more pairs out together than it was asked to, such as copies.


class Learner:
    """A method that learns a map from pairs.

    A new learner defines `fit`, which returns a `FittedMap`; `mercer.testing.check_learner` is its contract.
    """

    has_weights: bool = False
    """True if points are combinations of training outputs with weights that do not depend on the outputs."""

    def fit(self, problem: LearningProblem) -> FittedMap:
        """Learn from the pairs of `problem`."""
        raise TypeError(f"{type(self).__name__} must define fit(problem)")

    def preferred_embedding(self, kernel: Kernel, outputs: Collection) -> tuple[Embedding, str] | None:
        """Return the embedding of outputs this learner works best with, and why; None for any."""
        return None

    def reason(self) -> str:
        """Return one sentence on how the map was learned."""
        return f"{self!r:.60} takes the place of the ridge"


@dataclass
class LearningProblem:
    """Training pairs as a learner sees them.

    Attributes
    ----------
    kernel : Kernel
        The resolved input kernel.
    inputs, outputs : collections
        The n pairs, checked.
    embedding, decoder : Embedding, Decoder
        Fitted on the outputs.
    criterion : Criterion
        The score a choice of parameters makes small.
    sample_weight : array (n,), optional
        Positive weights.
    groups : int array (n,), optional
        The group of each pair, 0, 1, …
    observed : boolean array (n, r), optional
        The targets that are known; None for all.
    """

    kernel: Kernel
    inputs: Collection
    outputs: Collection
    embedding: Embedding
    decoder: Decoder
    criterion: Criterion
    sample_weight: np.ndarray | None = None
    groups: np.ndarray | None = None
    observed: np.ndarray | None = None
    targets: Array | None = None
    """V of the paired outputs; None if outputs are known through their kernel alone."""
    partial: bool = False
    """True if the pairs are only some of those the embedding was fitted on."""

    @property
    def size(self) -> int:
        """The number of pairs, n."""
        return count(self.inputs)

    def require_targets(self, learner: Any) -> Array:
        """Return V; raise ValueError if the outputs have no coordinates."""
        if self.targets is None:
            raise ValueError(
                f"{learner!r:.60} predicts coordinates, and the output kernel {self.embedding.kernel_!r} is implicit; add "
                "embedding=PrincipalComponents()"
            )
        return self.targets

    def ridge(self, targets: Array, fit_intercept: bool) -> RidgeProblem:
        """Return the ridge problem of these pairs with the identity operator."""
        weighting: dict[str, Any] = {"sample_weight": self.sample_weight, "groups": self.groups}
        return RidgeProblem(self.kernel, self.inputs, targets, fit_intercept=fit_intercept, **weighting)

    def choose_alpha(self, alpha: Any, paths: Any) -> dict[str, Any]:
        """Return the attributes `alpha_`, `alphas_` and `loo_path_` for a number, or for the rule of leave-one-out.

        `paths` is a `LeaveOneOutPath` over alpha, with the `scale` of its grid.
        """
        rule = leave_one_out_only(alpha)
        if rule is None:
            warn_if_lost(float(alpha), paths.scale)
            return {"alpha_": float(alpha), "alphas_": None, "loo_path_": None}

        def scores(criterion: Criterion, alphas: np.ndarray) -> np.ndarray:
            return criterion.left_out(paths, alphas.tolist())

        return dict(
            zip(("alpha_", "alphas_", "loo_path_"), rule.best(paths.scale, self.criterion, scores), strict=True)
        )

    def held(self) -> LearningProblem:
        """Return the problem without its criterion, as a fitted map keeps it."""
        return replace(self, criterion=None)  # type: ignore[arg-type]

    def reduced(self) -> LearningProblem:
        """Return the problem with its kernel and targets alone, as a compact map keeps it."""
        none: Any = None
        return replace(self.held(), inputs=none, outputs=none, embedding=none, decoder=none, groups=None, observed=None)

    def subset(self, rows: np.ndarray) -> LearningProblem:
        """Return the problem on some of the pairs, with the embedding and the decoder as they are."""
        groups = None if self.groups is None else np.unique(self.groups[rows], return_inverse=True)[1]
        return replace(
            self,
            inputs=sub_inputs(self.kernel, self.inputs, rows, rows),
            outputs=take(self.outputs, rows),
            sample_weight=None if self.sample_weight is None else self.sample_weight[rows],
            groups=groups,
            observed=None if self.observed is None else self.observed[rows],
            targets=None if self.targets is None else take(self.targets, rows),
            partial=True,
        )

    def refitted(self, rows: np.ndarray) -> LearningProblem:
        """Return the problem on some of the pairs, with the embedding and the decoder fitted anew."""
        part = self.subset(rows)
        all_outputs, n = part.outputs, count(self.outputs)
        if count(self.embedding.outputs_) > n:
            all_outputs = concatenate(part.outputs, take(self.embedding.outputs_, slice(n, None)))
        embedding = clone(self.embedding)
        fit_embedding(embedding, self.embedding.kernel_, all_outputs, len(rows), self.kernel, part.inputs)
        decoder = clone(self.decoder).fit(embedding, self.decoder.loss_)
        whole = embedding.coordinates_
        targets = None if whole is None else whole[: len(rows), :]
        return replace(part, embedding=embedding, decoder=decoder, targets=targets, partial=False)


def fit_embedding(  # noqa: PLR0913
    embedding: Embedding, kernel: Kernel, outputs: Collection, paired: int, input_kernel: Kernel, inputs: Collection
) -> None:
    """Fit the embedding to the outputs, and to the Gram matrix of the inputs if it looks at them."""
    if embedding.looks_at_inputs:
        embedding.fit(kernel, outputs, paired, gram_matrix(input_kernel, inputs, "input", 4))  # type: ignore[call-arg]
    else:
        embedding.fit(kernel, outputs, paired)


def enough_folds(pairs: int) -> int:
    """Return how many folds leave enough to learn from: ten of up to 400 pairs, else five."""
    return 5 if pairs > 400 else 10


def left_out_by_folds(
    fit: Callable[[LearningProblem], FittedMap], problem: LearningProblem, n_splits: int = 10, random_state: int = 0
) -> Array:
    """Return the point of each pair predicted by a fit without its fold; the embedding is held."""
    most = count(problem.inputs) if problem.groups is None else len(np.unique(problem.groups))
    splits = KFold(min(n_splits, most), random_state=random_state).splits(count(problem.inputs), problem.groups)

    def points_of(split: tuple[np.ndarray, np.ndarray]) -> Array:
        train, held_out = split
        points = fit(problem.subset(train)).points(sub_inputs(problem.kernel, problem.inputs, held_out, train))
        if problem.targets is None:  # weights on the pairs of the fold, as weights on all
            return points @ like(np.eye(problem.size)[train], points)
        return points

    parts = side_by_side(points_of, splits)
    xp = namespace(parts[0])
    return take(xp.concat(parts), np.argsort(np.concatenate([held_out for _, held_out in splits])))
