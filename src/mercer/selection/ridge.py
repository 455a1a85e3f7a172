"""Choosing the ridge: exact leave-one-out, exact folds, generalised cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold as Splitter

from mercer.core.arrays import Array, like, namespace, to_numpy
from mercer.core.collections import Collection
from mercer.decoders.base import Decoder
from mercer.embeddings.base import Embedding
from mercer.selection.judges import DecodedLoss, FeatureDistance, Judge, beside
from mercer.solvers.ridge import Ridge

Refit = Callable[[np.ndarray, np.ndarray], tuple[Ridge, Array, Embedding, Decoder, Collection]]
"""(train, held out) → the ridge on the training part, kernel values of the held-out inputs, its embedding and decoder,
and the held-out outputs."""


@dataclass
class Trial:
    """What a selection rule needs to know of the problem at hand."""

    ridge: Ridge
    judge: Judge
    refit: Refit
    closed_form_folds: bool
    """Whether the fold formula is exact: nothing but the coefficients is learned from the outputs."""


class RidgeSelection(BaseEstimator):
    """A rule for choosing alpha. Its `path` gives one figure per alpha, the smallest is best."""

    alphas: Any

    def grid(self, ridge: Ridge) -> np.ndarray:
        """The alphas to try: those given, or 21 from 1e-8 to 1e2 times the scale of the kernel and the operator."""
        if self.alphas is None:
            return default_alphas(ridge)
        try:
            alphas = np.atleast_1d(np.asarray(self.alphas, dtype=float))
        except (TypeError, ValueError):
            alphas = np.empty(0)
        if alphas.ndim != 1 or len(alphas) == 0 or not np.all(np.isfinite(alphas)) or np.any(alphas <= 0):
            raise ValueError(f"alphas={self.alphas!r}; expected positive finite numbers, at least one")
        return alphas

    def path(self, trial: Trial, alphas: np.ndarray) -> np.ndarray:
        """The figure of each alpha."""
        raise TypeError(f"{type(self).__name__} must define path(trial, alphas)")

    def select(self, trial: Trial) -> tuple[float, np.ndarray, np.ndarray]:
        """The best alpha (the largest of equals), all alphas, and their figures."""
        alphas = self.grid(trial.ridge)
        path = self.path(trial, alphas)
        if not np.all(np.isfinite(path)):
            raise ValueError(
                f"the loss at alpha={alphas[~np.isfinite(path)][0]:.3g} is not a finite number; the outputs or the kernel values "
                "are too large for doubles. Scale them"
            )
        best = float(np.max(alphas[path == np.min(path)]))
        return best, alphas, path


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

    def path(self, trial: Trial, alphas: np.ndarray) -> np.ndarray:
        """Mean leave-one-out loss of each alpha."""
        return trial.judge.leave_one_out(trial.ridge, alphas.tolist())


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

    def path(self, trial: Trial, alphas: np.ndarray) -> np.ndarray:
        """Mean loss over all held-out pairs, for each alpha."""
        n = trial.ridge.spectrum.vectors.shape[0]
        if (
            isinstance(self.n_splits, bool)
            or not isinstance(self.n_splits, int | np.integer)
            or not 2 <= self.n_splits <= n
        ):
            short = "alpha='kfold' is short for KFold(n_splits=5); " if self.n_splits == KFold().n_splits else ""
            raise ValueError(
                f"{short}KFold(n_splits={self.n_splits!r}) cannot split {n} pairs; expected a number of folds between 2 and {n}. "
                f"Pass alpha=KFold(n_splits={min(n, 5)}), from mercer.selection"
            )
        splitter = Splitter(self.n_splits, shuffle=self.random_state is not None, random_state=self.random_state)
        splits = list(splitter.split(np.arange(n)))
        if trial.closed_form_folds and isinstance(trial.judge, FeatureDistance):
            folds = [held_out for _, held_out in splits]
            return np.asarray([self._by_formula(trial, float(alpha), folds) / n for alpha in alphas])
        totals = np.zeros(len(alphas))
        for losses in self._by_refitting(trial, alphas, splits):
            totals += losses
        return totals / n

    def _by_formula(self, trial: Trial, alpha: float, folds: list[np.ndarray]) -> float:
        total = 0.0
        assert isinstance(trial.judge, FeatureDistance)
        for residual in trial.ridge.fold_residuals(alpha, folds):
            gram = trial.judge.gram
            moved = residual if gram is None else residual @ like(gram, residual)
            total += float(namespace(residual).sum(moved * residual))
        return total

    def _by_refitting(
        self, trial: Trial, alphas: np.ndarray, splits: list[tuple[np.ndarray, np.ndarray]]
    ) -> Iterator[np.ndarray]:
        for train, held_out in splits:
            ridge, kernel_values, embedding, decoder, outputs = trial.refit(train, held_out)
            totals = []
            for alpha in alphas:
                points = beside(kernel_values @ ridge.coefficients(float(alpha)), outputs)
                totals.append(np.sum(trial.judge.losses(points, outputs, embedding, decoder)))
            yield np.asarray(totals)


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

    def path(self, trial: Trial, alphas: np.ndarray) -> np.ndarray:
        """The GCV figure of each alpha."""
        if isinstance(trial.judge, DecodedLoss):
            raise ValueError(
                "alpha='gcv' judges by distance in feature space and cannot follow a loss on objects; use alpha='loo' or "
                "alpha='kfold' with loss=, or leave loss=None"
            )
        gram = trial.judge.gram if isinstance(trial.judge, FeatureDistance) else None
        return np.asarray([trial.ridge.generalized_risk(float(alpha), gram) for alpha in alphas])


_NAMED: dict[str, type[RidgeSelection]] = {"loo": LeaveOneOut, "kfold": KFold, "gcv": GCV}


def ridge_selection(alpha: Any) -> RidgeSelection | None:
    """The rule a value of `alpha` stands for; None when it is a number."""
    if isinstance(alpha, RidgeSelection):
        return alpha
    if isinstance(alpha, str) and alpha in _NAMED:
        return _NAMED[alpha]()
    if isinstance(alpha, int | float | np.number) and not isinstance(alpha, bool):
        if not (np.isfinite(alpha) and alpha > 0):
            raise ValueError(
                f"alpha={alpha!r}; expected a positive finite number. For hardly any regularisation pass one that is small "
                "beside k(x, x)"
            )
        return None
    raise ValueError(
        f"alpha={alpha!r}; expected a positive number, one of {sorted(_NAMED)}, or a rule from mercer.selection such as "
        "LeaveOneOut(alphas=[0.1, 1.0])"
    )


def default_alphas(ridge: Ridge) -> np.ndarray:
    """Ten decades around the mean eigenvalue of k, times the largest of the operator."""
    n = ridge.spectrum.vectors.shape[0]
    scale = float(np.sum(to_numpy(ridge.spectrum.values))) / n
    scale = scale**2 if ridge.penalty == "coefficients" else scale * float(np.max(to_numpy(ridge.gains)))
    return np.logspace(-8, 2, 21) * (scale if scale > 0 else 1.0)
