"""Sets and abstention for estimators that rank the outputs they construct."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from mercer.core.arrays import NumericalWarning
from mercer.core.collections import Collection, as_objects, count, take
from mercer.core.validation import check_whole
from mercer.decoders import Ranked
from mercer.selection.folds import KFold
from mercer.uncertainty.conformal import HELD_OUT, SLACK, Calibration, check_coverage
from mercer.uncertainty.doubts import signs_of
from mercer.uncertainty.prediction_set import PredictionSet
from mercer.uncertainty.strata import KnownPairs, group_numbers, strata

_EVERY = int(np.iinfo(np.int32).max)
IN_FOLDS = "left out in folds"


class RankedAnswers:
    r"""Conformal sets of the outputs an estimator constructs, from the scores of its ranking.

    The score of an output is minus the logarithm of its share among the outputs found for the input,
    :math:`\log \sum_{y'} e^{s(x, y')} - s(x, y)`. An output that is not found has the worst score of all, infinity.

    Attributes
    ----------
    calibration_ : Calibration
        Scores of right answers, after `calibrate`; its `unlisted` of them were not among the outputs found.
    """

    fit: Callable[..., Any]
    rank: Callable[..., list[Ranked]]
    calibration_: Calibration
    _known_pairs_: KnownPairs

    def calibrate(self, X: Any, y: Any, groups: Any = None, cv: int | None = None) -> Self:
        """Take the scores of right answers, the basis of `predict_set` and `abstention_score`.

        Parameters
        ----------
        X, y : collections of the same length
            Pairs that were not trained on, so that sets hold the right answer with the probability asked for, if they are
            constructed at all; with `cv`, the training pairs.
        groups : sequence of labels, optional
            Pairs that belong together; each group counts as one, and stays in one fold.
        cv : int, optional
            Score each pair by a model fitted without its fold, one of `cv`. There is no bound then: about the coverage asked
            for, if a fold changes little.
        """
        inputs, outputs = as_objects(X, "X"), as_objects(y, "y")
        if len(inputs) != len(outputs):
            raise ValueError(f"X has {len(inputs)} objects and y has {len(outputs)}; expected as many of each")
        numbers, scores = group_numbers(groups, len(outputs)), np.empty(len(outputs))
        for model, rows in self._fits(inputs, outputs, numbers, cv):
            scores[rows] = answer_scores(model.rank(take(inputs, rows), _EVERY), take(outputs, rows))
        self.take_calibration(scores, HELD_OUT if cv is None else IN_FOLDS, KnownPairs(len(outputs), numbers, inputs))
        return self

    def predict_set(self, X: Any, coverage: float = 0.9, by: Any = None, weights: Any = None) -> list[PredictionSet]:
        """Return for each input the outputs found that are as good as right answers are, best first, with scores.

        Call `calibrate` first. `by` and `weights` are those of `DependencyEstimator.predict_set`; `any_object` of a set is True
        where right answers are found too seldom for the coverage asked for.
        """
        wanted, (calibration, pairs) = check_coverage(coverage), self._calibration()
        inputs = as_objects(X, "X")
        every = self.rank(inputs, _EVERY)
        limits = calibration.thresholds(wanted, True, strata(pairs, inputs, by, weights), len(every))
        unreached = np.isinf(limits)
        if unreached.any():
            why = f"{1 - calibration.reachable:.1%} of {pairs.size} right answers were not among the outputs found"
            message = f"coverage={wanted:g} cannot be promised by the outputs found: {why}"
            warnings.warn(f"{message}. The sets stand for every output (any_object)", NumericalWarning, stacklevel=2)
        within = (_unfit(ranked) <= limit for ranked, limit in zip(every, limits, strict=True))
        return [
            PredictionSet(ranked.objects[kept], ranked.scores[kept], np.isinf(limit))
            for ranked, kept, limit in zip(every, within, limits, strict=True)
        ]

    def abstention_score(self, X: Any) -> np.ndarray:
        """Return the uncertainty of each prediction, from 0 (sure) to 1: the share of right answers with a better score."""
        calibration, _ = self._calibration()
        return 1.0 - calibration.p_values(np.asarray([_unfit(ranked)[0] for ranked in self.rank(X, _EVERY)]))

    def take_calibration(self, scores: np.ndarray, source: str, pairs: KnownPairs) -> None:
        """Keep the scores of right answers that were found by `answer_scores`."""
        listed, every = np.isfinite(scores), np.arange(pairs.size)
        mass = None if pairs.groups is None else pairs.mass(every)
        slack = SLACK * float(np.max(np.abs(scores[listed]), initial=1.0))
        self.calibration_, self._known_pairs_ = Calibration(scores, listed, source, None, slack, mass), pairs

    def _forget_calibration(self) -> None:
        """Drop the scores of right answers, which belong to an earlier fit."""
        for name in ("calibration_", "_known_pairs_"):
            vars(self).pop(name, None)

    def _calibration(self) -> tuple[Calibration, KnownPairs]:
        if getattr(self, "calibration_", None) is None:
            raise NotFittedError(
                f"{type(self).__name__} is not calibrated; call calibrate(X, y) with pairs that were not trained on, or "
                "calibrate(X, y, cv=5) with the training pairs"
            )
        return self.calibration_, self._known_pairs_

    def _fits(
        self, inputs: Collection, outputs: Collection, groups: np.ndarray | None, cv: int | None
    ) -> Iterator[tuple[Any, np.ndarray]]:
        """Yield a model and the pairs it was not trained on."""
        n = count(outputs)
        if cv is None:
            yield self, np.arange(n)
            return
        check_whole(cv, "cv", 2, n, expected=f"a number of folds from 2 to {n}, or None")
        for train, held_out in KFold(int(cv), random_state=0).splits(n, groups):
            yield clone(self).fit(take(inputs, train), take(outputs, train)), held_out


def answer_scores(ranked: list[Ranked], outputs: Collection) -> np.ndarray:
    """Return the score of each right answer; infinity if it is not among the outputs found.

    Examples
    --------
    >>> found = Ranked(np.array(["ab", "b"], dtype=object), np.log([0.6, 0.2]))
    >>> np.exp(-answer_scores([found, found], ["b", "c"])).round(2).tolist()
    [0.25, 0.0]
    """
    scores = np.full(len(ranked), np.inf)
    for i, (found, right) in enumerate(zip(ranked, outputs, strict=True)):
        places = [j for j, each in enumerate(found.objects) if tuple(each) == tuple(right)]
        if places:
            scores[i] = _unfit(found)[places[0]]
    return scores


def answer_signs(ranked: list[Ranked]) -> np.ndarray:
    """Return signs of doubt about the best output found for each input; see `mercer.uncertainty.doubts.signs_of`."""
    return signs_of([Ranked(found.objects, -_unfit(found)) for found in ranked])


def _unfit(ranked: Ranked) -> np.ndarray:
    """Minus the logarithm of the share of each output found; infinity for those that are impossible."""
    scores = np.asarray(ranked.scores, dtype=float)
    best = scores[0] if len(scores) and np.isfinite(scores[0]) else 0.0
    if not np.isfinite(scores).any():
        return np.full(len(scores), np.inf)
    return np.log(np.sum(np.exp(scores - best))) - (scores - best)
