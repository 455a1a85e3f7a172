"""Rules that choose alpha by folds or by generalised cross-validation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mercer.core.arrays import like, namespace, to_numpy
from mercer.core.collections import to_backend_of
from mercer.core.threads import side_by_side
from mercer.core.validation import is_whole
from mercer.selection.alpha import NAMED, RidgeSelection, SelectionProblem


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


NAMED |= {"kfold": KFold, "gcv": GCV}
