"""Rules for choosing alpha: exact leave-one-out, exact folds, generalised cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from mercer.core.arrays import Array, like, namespace, to_numpy
from mercer.core.collections import Collection
from mercer.core.validation import is_real, is_whole
from mercer.decoders.base import Decoder
from mercer.embeddings.base import Embedding
from mercer.selection.criteria import Criterion, to_backend_of
from mercer.solvers.base import Factorization

_ROUNDING = 1e-12
"""Difference of two scores, beside the range of all scores, that is taken as rounding."""

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
    """Whether the fold formula is exact: nothing but the coefficients is learned from the outputs."""
    size: int
    """The number of pairs."""
    groups: np.ndarray | None = None
    sample_weight: np.ndarray | None = None


class RidgeSelection(BaseEstimator):
    """A rule for choosing alpha. Its `path` gives one score for each alpha, the smallest is best."""

    alphas: Any

    def grid(self, scale: float) -> np.ndarray:
        """Return the values to try: those given, or 21 from 1e-8 to 1e2 times `scale`."""
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
        alphas = self.grid(problem.factorization.scale)
        path = self.path(problem, alphas)
        return best_alpha(alphas, path), alphas, path


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
    return float(np.max(alphas[path <= lowest + _ROUNDING * (float(np.max(path)) - lowest)]))


class LeaveOneOut(RidgeSelection):
    r"""Exact leave-one-out for every alpha from one decomposition, for any loss.

    The point predicted for pair j without it is :math:`\psi(y_j) - (S V)_j / S_{jj}` with :math:`S = I - H`. Exact for
    the identity operator with a fixed embedding and the penalty on the function; under ``Exact(penalty="coefficients")`` the
    basis of kernel functions is held. Operators and principal components learned from the outputs are held at
    their fit on all pairs; `KFold` refits them. What kernels learn from data (a median scale, a centre) is held in both.

    Parameters
    ----------
    alphas : sequence of float, optional
        The grid; by default 21 values over ten decades around the scale of the kernel.

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
    """Exact k-fold cross-validation: what refitting on each training part gives, for every alpha.

    Operators, principal components and candidates come from the training part of each fold; what kernels learn from data
    (a median scale, a centre) is held. Where only coefficients are
    learned, the residuals of a fold B are :math:`(S_{BB})^{-1} (S V)_B` and nothing is refitted.

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

    def path(self, problem: SelectionProblem, alphas: np.ndarray) -> np.ndarray:
        """Return the mean loss over all held-out pairs, for each alpha."""
        splits, weight = self.splits(problem.size, problem.groups), problem.sample_weight
        total = problem.size if weight is None else float(np.sum(weight))
        by_formula = problem.closed_form_folds and not problem.criterion.decodes
        losses = (
            self._by_formula(problem, alphas, splits) if by_formula else self._by_refitting(problem, alphas, splits)
        )
        totals = np.zeros(len(alphas))
        for held_out, each in losses:
            totals += each.sum(axis=1) if weight is None else each @ weight[held_out]
        return totals / total

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
        shuffle = self.random_state is not None
        if groups is not None:
            splitter = GroupKFold(self.n_splits, shuffle=shuffle, random_state=self.random_state)
            return list(splitter.split(np.arange(n), groups=groups))
        return list(Splitter(self.n_splits, shuffle=shuffle, random_state=self.random_state).split(np.arange(n)))

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
        for train, held_out in splits:
            predict, embedding, decoder, outputs = problem.refit(train, held_out)
            losses = []
            for alpha in alphas:
                points = to_backend_of(outputs, predict(float(alpha)))
                losses.append(problem.criterion.losses(points, outputs, embedding, decoder))
            yield held_out, np.asarray(losses)


class GCV(RidgeSelection):
    r"""Generalised cross-validation, :math:`\frac{1}{n}\|S V\|^2 / (\frac{1}{n}\mathrm{tr}\,S)^2`.

    Judges by distance in feature space only, so it goes with ``loss=None`` or ``loss="rkhs"``.

    Parameters
    ----------
    alphas : sequence of float, optional
        The grid; by default as for `LeaveOneOut`.

    Examples
    --------
    >>> GCV()
    GCV()
    """

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
    """Return the rule a value of `alpha` stands for; None when it is a number."""
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
    """Return the rule `alpha` stands for, where only leave-one-out is offered; None when it is a number."""
    rule = ridge_selection(alpha)
    if rule is not None and not isinstance(rule, LeaveOneOut):
        raise ValueError(
            f"alpha={alpha!r}; expected a positive number, 'loo' or LeaveOneOut(alphas=...). For folds use GridSearchCV"
        )
    return rule
