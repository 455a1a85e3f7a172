"""Rules that choose alpha by leave-one-out, folds or generalised cross-validation, and the criteria they minimise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from sklearn.base import BaseEstimator

from mercer.core.arrays import Array, like, namespace, to_numpy
from mercer.core.collections import Collection, count, to_backend_of
from mercer.core.threads import side_by_side
from mercer.core.validation import is_real, is_whole
from mercer.decoders.base import Decoder
from mercer.decoders.pool import left_out
from mercer.embeddings.base import Embedding
from mercer.losses.base import Loss
from mercer.selection.search import best_alpha, search_alpha
from mercer.solvers.factorization import Factorization
from mercer.solvers.gram_checks import gram_matrix

_ROUNDING = 1e-12  # spread of the losses of all values, relative to the largest, that counts as none


class LeaveOneOutPath(Protocol):
    """A family of fits, one for each value of a parameter, with its leave-one-out predictions."""

    def left_out_points(self, value: Any) -> Array:
        """Return the point predicted for each training pair without it."""

    def risks(self, values: Sequence[Any], gram: Array | None = None) -> Iterable[Array]:
        """Yield the squared distances of those points to the outputs, for each value."""


class Criterion(Protocol):
    """A score of predictions, smaller is better."""

    decodes: bool
    """True if predictions are decoded first."""

    @property
    def gram(self) -> Array | None:
        """L, if points are weights on the training outputs."""

    def left_out(self, path: LeaveOneOutPath, values: Sequence[Any]) -> np.ndarray:
        """Return for each value the mean loss over the training pairs, each predicted without itself."""

    def grouped(self, groups: np.ndarray | None) -> Criterion:
        """Return the criterion for pairs that leave in groups."""

    def losses(self, points: Array, outputs: Collection, embedding: Embedding, decoder: Decoder) -> np.ndarray:
        """Return the loss of each point against its true output."""


class FeatureDistance:
    """‖h(x) − ψ(y)‖² before decoding: cheap, smooth, and a bound on the kernel's loss.

    Parameters
    ----------
    embedding : Embedding
        Fitted on the training outputs.
    outputs : collection
        The n paired training outputs.
    sample_weight : array (n,), optional
        Weights of the training pairs in means.
    """

    decodes = False

    def __init__(self, embedding: Embedding, outputs: Collection, sample_weight: np.ndarray | None = None) -> None:
        self.embedding, self.outputs, self.sample_weight = embedding, outputs, sample_weight

    @cached_property
    def gram(self) -> Array | None:
        """L, if points are weights on the training outputs."""
        if self.embedding.coordinates_ is not None:
            return None
        return gram_matrix(self.embedding.kernel_, self.outputs, "output", 8)

    def left_out(self, path: LeaveOneOutPath, values: Sequence[Any]) -> np.ndarray:
        """Return mean squared distances, each pair left out in turn."""
        if self.embedding.euclidean:
            risks = path.risks(values, self.gram)
        else:
            points = (to_backend_of(self.outputs, path.left_out_points(value)) for value in values)
            risks = (self.embedding.squared_distances(left_out, self.outputs) for left_out in points)
        means = np.asarray([np.average(to_numpy(risk), weights=self.sample_weight) for risk in risks])
        if self.embedding.fixed:
            return means
        return means + np.average(to_numpy(self.embedding.outside(self.outputs)), weights=self.sample_weight)

    def grouped(self, groups: np.ndarray | None) -> FeatureDistance:
        """Return this criterion, which does not depend on groups."""
        return self

    def losses(self, points: Array, outputs: Collection, embedding: Embedding, decoder: Decoder) -> np.ndarray:
        """Return squared distances."""
        return to_numpy(embedding.squared_distances(points, outputs) + embedding.outside(outputs))


class DecodedLoss:
    """The user's loss between the true and the decoded object.

    Parameters
    ----------
    loss : Loss
        Δ(y, ŷ).
    decoder : Decoder
        Fitted on all training outputs.
    outputs : collection
        The n paired training outputs.
    sample_weight : array (n,), optional
        Weights of the training pairs in means.
    groups : int array (n,), optional
        The group of each pair. Outputs that occur in one group alone are not candidates for its pairs.
    """

    decodes = True
    gram = None

    def __init__(
        self,
        loss: Loss,
        decoder: Decoder,
        outputs: Collection,
        sample_weight: np.ndarray | None = None,
        groups: np.ndarray | None = None,
    ) -> None:
        self.loss, self.decoder, self.outputs, self.sample_weight = loss, decoder, outputs, sample_weight
        self.groups = groups

    def grouped(self, groups: np.ndarray | None) -> DecodedLoss:
        """Return the same criterion for pairs that leave in groups."""
        return DecodedLoss(self.loss, self.decoder, self.outputs, self.sample_weight, groups)

    def left_out(self, path: LeaveOneOutPath, values: Sequence[Any]) -> np.ndarray:
        """Return mean losses, each pair left out in turn as an example and as a candidate."""
        return np.asarray([self._mean_loss(path.left_out_points(value)) for value in values])

    def undecoded(self) -> FeatureDistance:
        """Return the distance before decoding, on the same pairs."""
        return FeatureDistance(self.decoder.embedding_, self.outputs, self.sample_weight)

    def _mean_loss(self, points: Array) -> float:
        points = to_backend_of(self.outputs, points)
        decoded = self.decoder.decode(points, leave_out=left_out(np.arange(count(self.outputs)), self.groups))
        return float(np.average(to_numpy(self.loss.paired(self.outputs, decoded)), weights=self.sample_weight))

    def losses(self, points: Array, outputs: Collection, embedding: Embedding, decoder: Decoder) -> np.ndarray:
        """Return losses of the decoded points."""
        return to_numpy(self.loss.paired(outputs, decoder.decode(points)))


Refit = Callable[[np.ndarray, np.ndarray], tuple[Callable[[float], Array], Embedding, Decoder, Collection]]
"""(train, held out) → points of the held-out inputs for an alpha, the embedding and decoder fitted on the training part,
and the held-out outputs."""


@dataclass
class SelectionProblem:
    """A ridge problem whose alpha is to be chosen."""

    factorization: Factorization
    criterion: Criterion
    refit: Refit
    closed_form_folds: bool
    """True if only the coefficients are learned from the outputs, so that the formula for folds is exact."""


class RidgeSelection(BaseEstimator):
    """A rule for choosing alpha. Its `path` gives one score for each alpha, the smallest is best."""

    alphas: Any
    leaves_out: bool = True
    """True if pairs are predicted by fits without them."""

    @property
    def least_groups(self) -> int:
        """The least number of groups of pairs it can leave out in turn."""
        return 2

    def grid(self, scale: float) -> np.ndarray:
        """Return the values to try first: those given, or 21 from 1e-8 to 1e2 times `scale`."""
        if self.alphas is None:
            return np.logspace(-8, 2, 21) * (scale if scale > 0 else 1.0)
        try:
            alphas = np.atleast_1d(np.asarray(self.alphas, dtype=float))
        except (TypeError, ValueError):
            alphas = np.empty(0)
        if alphas.ndim != 1 or len(alphas) == 0 or not np.all(np.isfinite(alphas)) or np.any(alphas <= 0):
            raise ValueError(f"alphas={self.alphas!r}; expected positive finite numbers, at least one")
        return alphas

    def path(self, problem: SelectionProblem, alphas: np.ndarray) -> np.ndarray:
        """Return the score of each alpha."""
        raise TypeError(f"{type(self).__name__} must define path(problem, alphas)")

    def select(self, problem: SelectionProblem) -> tuple[float, np.ndarray, np.ndarray]:
        """Return the best alpha (the largest of equals), all values tried, and their scores."""

        def scores(criterion: Criterion, alphas: np.ndarray) -> np.ndarray:
            return self.path(replace(problem, criterion=criterion), alphas)

        return self.best(problem.factorization.scale, problem.criterion, scores)

    def best(
        self, scale: float, criterion: Criterion, scores: Callable[[Criterion, np.ndarray], np.ndarray]
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """Return the same for any scores by a criterion, on a grid of this scale; a grid that was given does not grow.

        If all values have the same loss (no output can be predicted exactly, and the loss is zero or one), the
        distance before decoding decides.
        """
        alpha, alphas, path = search_alpha(
            self.grid(scale), lambda some: scores(criterion, some), grows=self.alphas is None
        )
        if criterion.decodes and len(path) > 1 and np.ptp(path) <= _ROUNDING * np.max(np.abs(path)):
            alpha = best_alpha(alphas, scores(criterion.undecoded(), alphas))  # type: ignore[attr-defined]
        return alpha, alphas, path


class LeaveOneOut(RidgeSelection):
    r"""Exact leave-one-out for every alpha from one decomposition, for any loss.

    The point predicted for pair j without it is :math:`\psi(y_j) - (S V)_j / S_{jj}` with :math:`S = I - H`. Exact for
    the identity operator with a fixed embedding and the penalty on the function; under ``Exact(penalty="coefficients")`` the
    basis of kernel functions is held. Operators and principal components learned from the outputs are held at
    their fit on all pairs; `KFold` refits them. Parts of kernels learned from data (a median scale, a centre) are held in both.

    Parameters
    ----------
    alphas : sequence of float, optional
        The grid; by default 21 values over ten decades around the scale of the kernel, and more while the best is at the edge
        (see `mercer.selection.search.search_alpha`). A given grid does not grow. Both warn if the best is at the edge.

    Examples
    --------
    >>> LeaveOneOut(alphas=[0.1, 1.0])
    LeaveOneOut(alphas=[0.1, 1.0])
    """

    def __init__(self, alphas: Any = None) -> None:
        self.alphas = alphas

    def path(self, problem: SelectionProblem, alphas: np.ndarray) -> np.ndarray:
        """Return the mean leave-one-out loss of each alpha."""
        return problem.criterion.left_out(problem.factorization, alphas.tolist())


class KFold(RidgeSelection):
    r"""Exact k-fold cross-validation, for every alpha and any loss.

    Operators, principal components and candidates are those of the training part of each fold; what kernels learn from data (a
    median scale, a centre) is held. If only coefficients are learned, the residuals of a fold B are
    :math:`(S_{BB})^{-1} (S V)_B` and nothing is refitted.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds.
    alphas : sequence of float, optional
        The grid; by default as for `LeaveOneOut`.
    random_state : int, optional
        Seed of the shuffle; None keeps the order of the data.

    Examples
    --------
    >>> KFold(n_splits=10)
    KFold(n_splits=10)
    """

    def __init__(self, n_splits: int = 5, alphas: Any = None, random_state: int | None = None) -> None:
        self.n_splits = n_splits
        self.alphas = alphas
        self.random_state = random_state

    @property
    def least_groups(self) -> int:
        """The number of folds."""
        return self.n_splits

    def path(self, problem: SelectionProblem, alphas: np.ndarray) -> np.ndarray:
        """Return the mean loss over all held-out pairs, for each alpha."""
        ridge = problem.factorization.problem
        splits, weight = self.splits(ridge.size, ridge.groups), ridge.sample_weight
        by_formula = problem.closed_form_folds and not problem.criterion.decodes
        fold_losses = self._by_formula if by_formula else self._by_refitting
        totals = np.zeros(len(alphas))
        for held_out, each in fold_losses(problem, alphas, splits):
            totals += each.sum(axis=1) if weight is None else each @ weight[held_out]
        return totals / ridge.total

    def splits(self, n: int, groups: np.ndarray | None = None) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return pairs of positions to train on and to hold out; groups stay together."""
        from sklearn.model_selection import GroupKFold
        from sklearn.model_selection import KFold as Splitter

        most = n if groups is None else len(np.unique(groups))
        if not is_whole(self.n_splits) or not 2 <= self.n_splits <= most:
            short = "alpha='kfold' is short for KFold(n_splits=5); " if self.n_splits == KFold().n_splits else ""
            what = f"{n} pairs" if groups is None else f"{most} groups"
            raise ValueError(
                f"{short}KFold(n_splits={self.n_splits!r}) cannot split {what}; expected a number of folds between 2 and {most}. "
                f"Pass alpha=KFold(n_splits={min(most, 5)}), from mercer.selection"
            )
        splitter = Splitter if groups is None else GroupKFold
        folds = splitter(self.n_splits, shuffle=self.random_state is not None, random_state=self.random_state)
        return list(folds.split(np.arange(n), groups=groups))

    def _by_formula(
        self, problem: SelectionProblem, alphas: np.ndarray, splits: list[tuple[np.ndarray, np.ndarray]]
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        folds, gram = [held_out for _, held_out in splits], problem.criterion.gram
        found: list[list[np.ndarray]] = [[] for _ in folds]
        for alpha in alphas:
            residuals = problem.factorization.fold_residuals(float(alpha), folds)  # type: ignore[attr-defined]
            for losses, residual in zip(found, residuals, strict=True):
                moved = residual if gram is None else residual @ like(gram, residual)
                losses.append(to_numpy(namespace(residual).sum(moved * residual, axis=1)))
        return zip(folds, map(np.asarray, found), strict=True)

    def _by_refitting(
        self, problem: SelectionProblem, alphas: np.ndarray, splits: list[tuple[np.ndarray, np.ndarray]]
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        refit, criterion = problem.refit, problem.criterion

        def losses_of(split: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
            predict, embedding, decoder, outputs = refit(*split)
            losses = []
            for alpha in alphas:
                points = to_backend_of(outputs, predict(float(alpha)))
                losses.append(criterion.losses(points, outputs, embedding, decoder))
            return split[1], np.asarray(losses)

        yield from map(losses_of, splits) if getattr(refit, "one_by_one", False) else side_by_side(losses_of, splits)


class GCV(RidgeSelection):
    r"""Generalised cross-validation, :math:`\frac{1}{n}\|S V\|^2 / (\frac{1}{n}\mathrm{tr}\,S)^2`.

    It measures distances in feature space, so it goes with ``loss=None`` or ``loss="rkhs"``.

    Parameters
    ----------
    alphas : sequence of float, optional
        The grid; by default as for `LeaveOneOut`.

    Examples
    --------
    >>> GCV()
    GCV()
    """

    leaves_out = False

    def __init__(self, alphas: Any = None) -> None:
        self.alphas = alphas

    def path(self, problem: SelectionProblem, alphas: np.ndarray) -> np.ndarray:
        """Return the score of each alpha."""
        if problem.criterion.decodes:
            raise ValueError(
                "alpha='gcv' measures distances in feature space and cannot follow a loss on objects; use alpha='loo' or "
                "alpha='kfold' with loss=, or leave loss=None"
            )
        gram = problem.criterion.gram
        return np.asarray([problem.factorization.generalized_risk(float(alpha), gram) for alpha in alphas])


_NAMED: dict[str, type[RidgeSelection]] = {"loo": LeaveOneOut, "kfold": KFold, "gcv": GCV}


def ridge_selection(alpha: Any) -> RidgeSelection | None:
    """Return the rule that `alpha` names; None for a number."""
    if isinstance(alpha, RidgeSelection):
        return alpha
    if isinstance(alpha, str) and alpha in _NAMED:
        return _NAMED[alpha]()
    if is_real(alpha) or alpha != alpha:
        if not 0 < alpha < np.inf:
            raise ValueError(
                f"alpha={alpha!r}; expected a positive finite number. For hardly any regularisation pass one that is small "
                "beside k(x, x)"
            )
        return None
    raise ValueError(
        f"alpha={alpha!r}; expected a positive number, one of {sorted(_NAMED)}, or a rule from mercer.selection such as "
        "LeaveOneOut(alphas=[0.1, 1.0])"
    )


def leave_one_out_only(alpha: Any) -> LeaveOneOut | None:
    """Return the rule that `alpha` names, which has to be leave-one-out; None for a number."""
    rule = ridge_selection(alpha)
    if rule is not None and not isinstance(rule, LeaveOneOut):
        raise ValueError(
            f"alpha={alpha!r}; expected a positive number, 'loo' or LeaveOneOut(alphas=...). For folds use GridSearchCV"
        )
    return rule
