"""Rules that choose alpha, leave-one-out first, the criteria they minimise, and the search they share."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from sklearn.base import BaseEstimator

from mercer.core.arrays import Array, NumericalWarning, cached_property, to_numpy
from mercer.core.collections import Collection, count, distinct, is_blocks, to_backend_of, united
from mercer.core.validation import is_real
from mercer.decoders.base import Decoder
from mercer.decoders.pool import left_out
from mercer.embeddings.base import Embedding
from mercer.losses.base import Loss
from mercer.solvers.factorization import Factorization
from mercer.solvers.kernel_values import gram_matrix

if TYPE_CHECKING:
    from mercer.learners.base import LearningProblem

_ROUNDING = 1e-12  # spread of the losses of all values, relative to the largest, that counts as none
_SAME = 1e-12  # difference of two scores, relative to the range of all scores, that is taken as rounding
_DOWN, _UP = 2, 4  # most decades by which a grid grows at its two ends
_FALL = 1e-3  # share of the score by which the value at an edge has to be better than the next, for the edge to matter
_NOTHING = 1e-6  # the same as a share of the largest score, so that a perfect fit has no edge


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
        (see `mercer.selection.alpha.search_alpha`). A given grid does not grow. Both warn if the best is at the edge.

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


NAMED: dict[str, type[RidgeSelection]] = {"loo": LeaveOneOut}
"""Rules that a word stands for; others are added beside their code."""


def ridge_selection(alpha: Any) -> RidgeSelection | None:
    """Return the rule that `alpha` names; None for a number."""
    if isinstance(alpha, RidgeSelection):
        return alpha
    if isinstance(alpha, str) and alpha in NAMED:
        return NAMED[alpha]()
    if is_real(alpha) or alpha != alpha:
        if not 0 < alpha < np.inf:
            raise ValueError(
                f"alpha={alpha!r}; expected a positive finite number. For hardly any regularisation pass one that is small "
                "beside k(x, x)"
            )
        return None
    raise ValueError(
        f"alpha={alpha!r}; expected a positive number, one of {sorted(NAMED)}, or a rule from mercer.selection such as "
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


_FEW_UNITS, _TIMES = (
    20,
    4,
)  # distinct pairs below which pairs that come so often are a design, and not copies by accident


def copies_together(problem: LearningProblem, rule: RidgeSelection | None) -> LearningProblem:
    """Return the problem with the copies of each pair in one group, so that no pair is predicted from its copy.

    Copies are pairs with equal inputs and equal outputs, as the kernels see them. Equal inputs whose outputs differ are
    repeated measurements, and are left out as before, as are fewer than 20 distinct pairs that occur four times on average: the
    inputs to predict are then among them. Nothing changes without a `rule` that leaves pairs out, nor for inputs in blocks, which
    are not compared with each other.
    """
    if rule is None or not rule.leaves_out or is_blocks(problem.inputs):
        return problem
    n = count(problem.inputs)
    _, inputs = distinct(problem.inputs, getattr(problem.kernel, "key", None))
    if int(inputs.max()) + 1 == n:
        return problem
    _, outputs = distinct(problem.outputs, problem.embedding.kernel_.key)
    kinds = np.unique(np.stack([inputs, outputs]), axis=1)
    # inputs with a single output between them
    copied = (np.bincount(kinds[0]) == 1)[inputs]
    copies = np.where(copied, inputs, n + np.arange(n))
    surplus = n - len(np.unique(copies))
    groups = united(copies, problem.groups)
    units = int(groups.max()) + 1
    if surplus == 0 or units < rule.least_groups:
        return problem
    if problem.groups is None and units < _FEW_UNITS and n >= _TIMES * units:
        return problem  # few pairs that all come again and again are a design, whose inputs will come again
    are = "is a copy of another" if surplus == 1 else "are copies of others"
    warnings.warn(
        f"{surplus} of the {n} pairs {are}; copies are left out together. Pass distinct pairs, with sample_weight for how often "
        "each occurs",
        NumericalWarning,
        stacklevel=2,
    )
    return replace(problem, groups=groups, criterion=problem.criterion.grouped(groups))


# -- the search for the best alpha, on a grid that grows if the score still falls at its edge ----------------

Scores = Callable[[np.ndarray], np.ndarray]
"""alphas → the score of each, smaller is better."""


def search_alpha(alphas: np.ndarray, scores: Scores, grows: bool) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the best alpha, all values tried, and their scores.

    A grid that `grows` is continued by decades while the best value is at its edge, at most 2 decades down and 4 up. A value
    at the edge that is better than the next by less than a thousandth of the score is not an edge: the outputs may be noise,
    and their mean, that is a large alpha, the right answer. Warns if the best value is at an edge in the end.

    Examples
    --------
    >>> alpha, tried, _ = search_alpha(np.array([0.1, 1.0]), lambda alphas: 1 + np.log10(alphas / 100) ** 2, True)
    >>> round(alpha, 6), len(tried)
    (100.0, 8)
    """
    path = scores(alphas)
    lowest, highest = alphas.min() / 10.0**_DOWN, alphas.max() * 10.0**_UP
    while True:
        alpha = best_alpha(alphas, path)
        side, other = _edge(alphas, path, alpha)
        if side == 0:
            return alpha, alphas, path
        more = np.sort(alpha * 10.0 ** (side * np.array([0.5, 1.0])))
        more = more[(more > lowest * 0.99) & (more < highest * 1.01)]
        found = scores(more) if grows and len(more) else np.empty(0)
        if len(found) == 0 or not np.all(np.isfinite(found)):
            _warn(side, alpha, (float(path.min()), other), grows)
            return alpha, alphas, path
        parts = ((alphas, path), (more, found))[::side]
        alphas, path = (np.concatenate(both) for both in zip(*parts, strict=True))


def warn_if_lost(alpha: float, scale: float) -> None:
    """Warn of an alpha that is lost in the rounding of kernel values of this size; the limit of small values is fitted."""
    if alpha < np.finfo(float).eps * scale:
        warnings.warn(
            f"alpha={alpha:.3g} is lost in the rounding of kernel values of size {scale:.3g}: the fit is that of the limit of "
            "small values. Pass a larger alpha to regularise",
            NumericalWarning,
            stacklevel=3,
        )


def best_alpha(alphas: np.ndarray, path: np.ndarray) -> float:
    """Return the alpha of the smallest score, the largest of equals; raise ValueError for scores that are not finite.

    Scores that differ by no more than rounding beside the range of all scores are equal.

    Examples
    --------
    >>> best_alpha(np.array([0.1, 1.0, 10.0]), np.array([2.0, 2.0, 5.0]))
    1.0
    """
    if not np.all(np.isfinite(path)):
        raise ValueError(
            f"the loss at alpha={alphas[~np.isfinite(path)][0]:.3g} is not a finite number; the outputs or the kernel values "
            "are too large for doubles. Scale them"
        )
    lowest = float(np.min(path))
    return float(np.max(alphas[path <= lowest + _SAME * (float(np.max(path)) - lowest)]))


def _edge(alphas: np.ndarray, path: np.ndarray, alpha: float) -> tuple[int, float]:
    """−1 or 1 if the score falls towards the smallest or the largest alpha, the best one, else 0; and the score next to it."""
    order = np.argsort(alphas, kind="stable")
    for side, edge, inner in ((1, -1, -2), (-1, 0, 1)):
        if len(order) > 1 and alphas[order[edge]] == alpha:
            best, other = float(path[order[edge]]), float(path[order[inner]])
            falls = other - best > max(_FALL * abs(best), _NOTHING * float(np.max(np.abs(path))))
            return (side, other) if falls else (0, other)
    return 0, 0.0


def _warn(side: int, alpha: float, scores: tuple[float, float], grows: bool) -> None:
    size, more = ("largest", "larger") if side > 0 else ("smallest", "smaller")
    cause = f"pass a rule with {more} values, such as alpha=LeaveOneOut(alphas=[...])"
    if grows:
        cause = (
            "the outputs may hardly depend on the inputs"
            if side > 0
            else "the kernel may be too wide, or pairs nearly equal"
        )
    warnings.warn(
        f"alpha={alpha:.3g} is the {size} value tried and has the lowest loss, {scores[0]:.4g} against {scores[1]:.4g} at the "
        f"next value: the best alpha may be {more}; {cause}",
        NumericalWarning,
        stacklevel=2,
    )
