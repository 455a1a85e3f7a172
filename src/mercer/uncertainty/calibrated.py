"""Answers that say how sure they are, for every estimator of objects."""

from __future__ import annotations

import math
import warnings
from typing import Any, Self

import numpy as np

from mercer.core.arrays import Array, NumericalWarning, eye, to_numpy
from mercer.core.collections import Collection, count, listed, take
from mercer.core.validation import check_choice, check_whole
from mercer.decoders import Decoder, Ranked
from mercer.decoders.pool import Pool
from mercer.embeddings.base import Embedding
from mercer.kernels.base import Kernel
from mercer.learners.base import FittedMap
from mercer.losses.base import alone
from mercer.selection.criteria import to_backend_of
from mercer.uncertainty.answers import Explanation, cut, explained, right_answers
from mercer.uncertainty.conformal import HELD_OUT, LEFT_OUT, Calibration, check_coverage
from mercer.uncertainty.jackknife import LeftOutFits

_EVERY = int(np.iinfo(np.int32).max)
"""How many candidates to rank when all are wanted."""


class CalibratedAnswers:
    """Candidate sets, a score to abstain by, and the training pairs a prediction rests on.

    Attributes
    ----------
    calibration_ : Calibration or None
        How good the scores of right answers are: of pairs held out, or of training pairs left out in turn once they are
        asked for.
    """

    output_kernel_: Kernel
    embedding_: Embedding
    decoder_: Decoder
    calibration_: Calibration | None
    map_: FittedMap
    _codec: Any
    _inputs: Collection | None

    # -- what the estimator defines -------------------------------------------------------------------

    def _inputs_of(self, X: Any) -> Collection:
        raise TypeError(f"{type(self).__name__} must define _inputs_of(X)")

    def _points_of(self, X: Any) -> Array:
        raise TypeError(f"{type(self).__name__} must define _points_of(X)")

    def _rank(self, points: Array, k: int, candidates: Any) -> list[Ranked]:
        raise TypeError(f"{type(self).__name__} must define _rank(points, k, candidates)")

    def decision_weights(self, X: Any) -> Array:
        """h(x) as weights on the training outputs, one row per input."""
        raise TypeError(f"{type(self).__name__} must define decision_weights(X)")

    # -- what a user calls --------------------------------------------------------------------------

    def calibrate(self, X: Any, y: Any) -> Self:
        """Learn from pairs that were not trained on how good the scores of right answers are.

        `predict_set` and `abstention_score` then rest on these pairs: if new pairs are exchangeable with them, a set holds
        the right answer with the probability asked for or more, whatever the model.
        """
        points = self._points_of(X)
        outputs = self._codec.encode(y, self.output_kernel_, "y")
        if count(outputs) != points.shape[0]:
            raise ValueError(f"X has {points.shape[0]} objects and y has {count(outputs)}; expected as many of each")
        self.calibration_ = right_answers(self.decoder_, points, outputs, HELD_OUT, self._origin())
        return self

    def predict_set(self, X: Any, coverage: float = 0.9, candidates: Any = None, method: str = "auto") -> list[Ranked]:
        r"""For each input a set of outputs that holds the right one with probability `coverage`, best first, with scores.

        The set has every candidate whose score (that of `rank`) is at least that of the :math:`\lceil (m+1)c \rceil`-th best
        of m right answers, each predicted by a model that was not trained on its pair. The probability is over inputs, not
        for each of them, and for pairs that are exchangeable:

        ===================  ======================  ====================================================
        calibrated by        how often, at least     what it costs
        ===================  ======================  ====================================================
        pairs held out       c                       pairs that are not trained on
        pairs left out       no bound; c where one   nothing
        in turn              pair changes little
        ``"jackknife+"``     2c − 1                  n scores for each candidate
        ===================  ======================  ====================================================

        The last bound is for parameters that were not chosen on the same pairs.

        A set may be empty: no candidate is as good as right answers are. Right answers that are no candidates count as
        never covered, with the default candidates; your own candidates are taken to hold the right answer.

        Parameters
        ----------
        X : collection
            Inputs, as in `predict`.
        coverage : float, default=0.9
            How often a set should hold the right output.
        candidates : collection, or one collection per input, optional
            Choose among these. By default the distinct training outputs.
        method : {"auto", "jackknife+"}
            "auto" takes the pairs held out, if `calibrate` was called, and else leaves out the training pairs in turn.
            "jackknife+" compares the scores of each candidate under every fit that leaves out one pair with that of the pair;
            for the identity operator, and candidates that are the same for all inputs.
        """
        check_choice(method, "method", ("auto", "jackknife+"))
        if method == "jackknife+":
            sets = self._jackknife_sets(X, check_coverage(coverage), candidates)
            return [Ranked(self._codec.decode(found.objects), found.scores) for found in sets]
        wanted, points = check_coverage(coverage), self._points_of(X)
        calibration, default = self._calibrated(), candidates is None
        threshold = calibration.threshold(wanted, default)
        if threshold == math.inf:
            self._warn_unreachable(calibration, wanted, default)
        every = self.decoder_.rank_training(points, _EVERY) if default else self._rank(points, _EVERY, candidates)
        ranked = cut(every, threshold)
        return [Ranked(self._codec.decode(found.objects), found.scores) for found in ranked]

    def abstention_score(self, X: Any, candidates: Any = None) -> np.ndarray:
        r"""How little each prediction is to be trusted, from 0 (sure) to 1: the ones to leave to someone else are the largest.

        :math:`1 - p(\hat y)`, with the conformal p-value of the prediction: the share of right answers that, predicted without
        having been trained on, had a better score than the prediction has. It says most where outputs are of some number of
        kinds; a vector that is free to go where the point is beats the score of nearly every right answer.

        An input unlike all training inputs gets the mean of their outputs (or no weight at all, without an intercept), whose
        expected loss may well be small. So under `mercer.decoders.ExpectedLoss` the p-value is multiplied by
        :math:`\min(1, s(x) / q)`, where s(x) is how far the weights are from those of such an input, and 95 of 100
        calibration inputs have q or more: their scores stay as they are, and an input like no other has the score 1.
        """
        points, calibration = self._points_of(X), self._calibrated()
        if candidates is None:
            unfit = np.asarray(self.decoder_.objective(points, self.decoder_.decode(points)), dtype=float)
        else:
            unfit = -np.asarray([found.scores[0] for found in self._rank(points, 1, candidates)])
        trust, support = calibration.p_values(unfit), self.decoder_.support(points, self._origin())
        return 1.0 - (trust if support is None else trust * calibration.backed(support))

    def explain(self, x: Any, k: int = 5) -> Explanation:
        """The `k` training pairs with the largest part in the prediction for one input.

        The prediction ŷ is scored by ⟨h(x), ψ(ŷ)⟩ = Σ w_j l(y_j, ŷ): pair j has a part in it by its weight, and by how alike
        its output and the prediction are. `mercer.report` has `explanation_table` and `explanation_html` to show it.
        """
        check_whole(k, "k", expected="how many pairs to show, a positive whole number")
        one = alone(x)
        weights = to_numpy(self.decision_weights(one))[0]
        predicted = self.decoder_.decode(self._points_of(one))
        return explained(x, predicted, weights, self._inputs, self.embedding_, int(k), self._codec.decode)

    # -- pieces -------------------------------------------------------------------------------------

    def _left_out_points(self) -> Array:
        """The point of each training pair, predicted without it."""
        return to_backend_of(self.embedding_.outputs_, self.map_.left_out_points())

    def _jackknife_sets(self, X: Any, coverage: float, candidates: Any) -> list[Ranked]:
        """Sets by the jackknife+, for maps whose fits without one pair follow from weights."""
        inputs = self._inputs_of(X)
        weights = self.map_.weights(inputs) if getattr(self.map_, "leaves_out_by_weights", False) else None
        if weights is None:
            raise ValueError(
                f"{type(self).__name__} has no jackknife+ here, since fits without a pair do not follow from weights; use "
                "method='auto', or calibrate(X, y) first"
            )
        outputs = self.embedding_.outputs_
        left_out = self._left_out_points()
        own = self.embedding_.coordinates_
        own = eye(left_out.shape[0], left_out) if own is None else own[: left_out.shape[0], :]
        points = to_backend_of(outputs, self.map_.points(inputs))
        groups = getattr(self.map_, "groups", None)
        fits = LeftOutFits(points, to_backend_of(outputs, weights), to_backend_of(outputs, own), left_out, groups)
        pool, calibration = self._pool(candidates), self._left_out(left_out)
        return fits.sets(self.decoder_, pool, calibration, coverage, candidates is None)

    def _origin(self) -> Array | None:
        """The point of an input that is like no training input; None where it is zero."""
        return getattr(self.map_, "origin", None)

    def _calibrated(self) -> Calibration:
        """From the pairs held out, or else from the training pairs left out in turn."""
        found = getattr(self, "calibration_", None)
        if found is None:
            found = self.calibration_ = self._left_out(self._left_out_points())
        return found

    def _left_out(self, points: Array) -> Calibration:
        outputs = take(self.embedding_.outputs_, slice(0, points.shape[0]))
        return right_answers(self.decoder_, points, outputs, LEFT_OUT, self._origin())

    def _pool(self, candidates: Any) -> Pool:
        """One collection of candidates for all inputs, with what is needed to score them."""
        if candidates is None:
            return self.decoder_._training_pool()[0]
        return self.decoder_._given(
            self._codec.encode(listed(candidates), self.output_kernel_, "candidates"), "candidates"
        )

    def _warn_unreachable(self, calibration: Calibration, wanted: float, default: bool) -> None:
        pairs, share = len(calibration.scores), float(np.mean(calibration.listed))
        why = f"there are {pairs} calibration pairs"
        if default and share < 1:
            why = f"{1 - share:.1%} of the right answers of {pairs} calibration pairs are no candidates"
        warnings.warn(
            f"coverage={wanted:g} cannot be promised: {why}. Every candidate was kept; pass candidates=..., or more pairs",
            NumericalWarning,
            stacklevel=3,
        )
