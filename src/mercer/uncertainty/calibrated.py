"""Candidate sets, abstention and explanations, for every estimator of objects."""

from __future__ import annotations

import math
import warnings
from typing import Any, Self

import numpy as np

from mercer.core.arrays import Array, NumericalWarning, eye, to_numpy
from mercer.core.collections import Collection, count, distinct, listed, member, take, to_backend_of
from mercer.core.validation import check_choice, check_whole
from mercer.decoders import Decoder, Ranked
from mercer.decoders.pool import Pool
from mercer.embeddings.base import Embedding
from mercer.kernels.base import Kernel
from mercer.learners.base import FittedMap
from mercer.losses.base import alone
from mercer.uncertainty.answers import Carrier, Explanation
from mercer.uncertainty.conformal import HELD_OUT, LEFT_OUT, Calibration, LeftOutFits, check_coverage, right_answers

_EVERY = int(np.iinfo(np.int32).max)  # number of candidates to rank if all are wanted


class CalibratedAnswers:
    """Candidate sets, a score for abstention, and the training pairs behind a prediction.

    Attributes
    ----------
    calibration_ : Calibration or None
        Scores of right answers: of pairs held out, or of training pairs left out in turn once they are needed.
    """

    output_kernel_: Kernel
    embedding_: Embedding
    decoder_: Decoder
    calibration_: Calibration | None
    map_: FittedMap
    _codec: Any
    _inputs: Collection | None
    _held_out_: tuple[Array, Collection] | None = None
    _held_inputs_: Collection | None = None
    _held_groups_: np.ndarray | None = None
    _candidate_calibration_: Calibration | None = None

    # -- defined by the estimator -------------------------------------------------------------------

    def _inputs_of(self, X: Any) -> Collection:
        raise TypeError(f"{type(self).__name__} must define _inputs_of(X)")

    def _points_of(self, X: Any) -> Array:
        raise TypeError(f"{type(self).__name__} must define _points_of(X)")

    def _rank(self, points: Array, k: int, candidates: Any) -> tuple[list[Ranked], Decoder]:
        raise TypeError(f"{type(self).__name__} must define _rank(points, k, candidates)")

    def _decoder_for(self, sets: list[Collection]) -> Decoder:
        raise TypeError(f"{type(self).__name__} must define _decoder_for(sets)")

    def decision_weights(self, X: Any) -> Array:
        """Return h(x) as weights on the training outputs, one row per input."""
        raise TypeError(f"{type(self).__name__} must define decision_weights(X)")

    # -- called by a user ---------------------------------------------------------------------------

    def calibrate(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Take the scores of right answers from pairs that were not trained on.

        They are the basis of `predict_set`, `predict_interval`, `predict_proba` and `abstention_score`: if new pairs are
        exchangeable with them, a set holds the right answer with the given probability or more, whatever the model. If pairs of
        one group belong together, `groups` has a label for each, and `predict_interval` counts each group as one.
        """
        inputs, points = self._inputs_of(X), self._points_of(X)
        outputs = self._codec.encode(y, self.output_kernel_, "y")
        if count(outputs) != points.shape[0]:
            raise ValueError(f"X has {points.shape[0]} objects and y has {count(outputs)}; expected as many of each")
        numbers = None
        if groups is not None:
            numbers = distinct(np.fromiter(listed(groups), dtype=object))[1]
            if len(numbers) != count(outputs):
                raise ValueError(
                    f"groups has {len(numbers)} labels; expected one for each of the {count(outputs)} pairs"
                )
        self.calibration_ = right_answers(self.decoder_, points, outputs, HELD_OUT, self._origin())
        self._held_out_, self._candidate_calibration_ = (points, outputs), None
        self._held_inputs_ = None if self._inputs is None else inputs
        self._held_groups_ = numbers
        for name in ("_class_map_", "_label_map_"):
            vars(self).pop(name, None)
        return self

    def predict_set(self, X: Any, coverage: float = 0.9, candidates: Any = None, method: str = "auto") -> list[Ranked]:
        r"""Return for each input a set that holds the right output with probability `coverage`, best first, with scores.

        The set has every candidate whose score (that of `rank`) is at least that of the :math:`\lceil (m+1)c \rceil`-th best
        of m right answers, each predicted by a model that was not trained on its pair. Scores that differ by rounding tie. The
        probability is over inputs, not for each of them, and for exchangeable pairs:

        ===================  =============================  =======================================
        calibrated by        probability, at least          cost
        ===================  =============================  =======================================
        pairs held out       c                              pairs that are not trained on
        pairs left out       no bound; c if one pair        none
        in turn              changes little
        ``"jackknife+"``     2c − 1, if no parameter was    n scores for each candidate
                             chosen on the same pairs
        ===================  =============================  =======================================

        A set may be empty: no candidate is as good as right answers are. A right answer that is not a default candidate counts
        as never covered (`calibration_.unlisted` of them); candidates that you pass are taken to hold the right answer.

        Parameters
        ----------
        X : collection
            Inputs, as in `predict`.
        coverage : float, default=0.9
            Probability that a set holds the right output.
        candidates : collection, or one collection per input, optional
            Choose among these. By default the distinct training outputs.
        method : {"auto", "jackknife+"}
            "auto" uses the pairs held out, if `calibrate` was called, and otherwise leaves out the training pairs in turn.
            "jackknife+" compares the score of each candidate with that of the left-out pair, under every fit without one pair;
            for the identity operator, and candidates that are the same for all inputs.
        """
        check_choice(method, "method", ("auto", "jackknife+"))
        wanted, default = check_coverage(coverage), candidates is None
        if method == "jackknife+":
            sets = self._jackknife_sets(X, wanted, candidates)
        else:
            points, decoder = self._points_of(X), self.decoder_
            if default:
                every = decoder.rank_training(points, _EVERY)
            else:
                every, decoder = self._rank(points, _EVERY, candidates)
            calibration = self._calibrated(decoder)
            threshold = calibration.threshold(wanted, default)
            if threshold == math.inf:
                self._warn_unreachable(calibration, wanted, default)
            sizes = [int(np.count_nonzero(-found.scores <= threshold)) for found in every]
            sets = [Ranked(take(x.objects, slice(0, n)), x.scores[:n]) for x, n in zip(every, sizes, strict=True)]
        return [Ranked(self._codec.decode(found.objects), found.scores) for found in sets]

    def abstention_score(self, X: Any, candidates: Any = None) -> np.ndarray:
        r"""Return the uncertainty of each prediction, from 0 (sure) to 1, for abstention from the largest.

        This is :math:`1 - p(\hat y)`, with the conformal p-value of the prediction: the share of right answers with a better
        score, each predicted by a model that was not trained on it. It is most informative for outputs of a few kinds; a vector
        in closed form has a better score than nearly every right answer.

        An input unlike all training inputs gets the mean of their outputs (or no weight at all, without an intercept), whose
        expected loss may well be small. So under `mercer.decoders.ExpectedLoss` the p-value is multiplied by
        :math:`\min(1, s(x) / q)`, where s(x) is the distance of the weights from those of such an input, and 95 of 100
        calibration inputs have q or more: their scores do not change, and an input unlike all others has the score 1.
        """
        points, decoder = self._points_of(X), self.decoder_
        if candidates is None:
            unfit = np.asarray(decoder.objective(points, decoder.decode(points)), dtype=float)
        else:
            ranked, decoder = self._rank(points, 1, candidates)
            unfit = -np.asarray([found.scores[0] for found in ranked])
        calibration = self._calibrated(decoder)
        trust, support = calibration.p_values(unfit), decoder.support(points, self._origin())
        return 1.0 - (trust if support is None else trust * calibration.backed(support))

    def explain(self, x: Any, k: int = 5) -> Explanation:
        """Return the `k` training pairs with the largest share in the prediction for one input.

        The score of the prediction ŷ is ⟨h(x), ψ(ŷ)⟩ = Σ w_j l(y_j, ŷ), a sum over training pairs. `mercer.report` shows it
        with `explanation_table` and `explanation_html`.
        """
        check_whole(k, "k", expected="the number of pairs to show, a positive whole number")
        one = alone(x)
        weights = to_numpy(self.decision_weights(one))[0]
        predicted = self.decoder_.decode(self._points_of(one))
        decode, inputs, outputs = self._codec.decode, self._inputs, self.embedding_.outputs_
        similarity = to_numpy(self.embedding_.kernel_(outputs, predicted))[:, 0]
        parts = weights * similarity
        total = float(np.sum(np.abs(parts)))
        shares = parts / total if total > 0 else parts
        largest = np.argsort(-np.abs(shares), kind="stable")[:k]
        shown, carriers = decode(take(outputs, largest)), []
        for i, j in enumerate(largest.tolist()):
            values = (float(weights[j]), float(similarity[j]), float(shares[j]))
            own = None if inputs is None or j >= count(inputs) else member(inputs, j)
            carriers.append(Carrier(j, own, member(shown, i), *values))
        return Explanation(x, member(decode(predicted), 0), carriers, float(np.abs(np.delete(shares, largest)).sum()))

    def _left_out_points(self) -> Array:
        """Return the point of each training pair, predicted without it."""
        points = self.map_.left_out_points()
        if not np.all(np.isfinite(to_numpy(points))):
            raise ValueError("some training outputs are missing; call calibrate(X, y) with pairs that have all outputs")
        return to_backend_of(self.embedding_.outputs_, points)

    def _jackknife_sets(self, X: Any, coverage: float, candidates: Any) -> list[Ranked]:
        """Return sets by the jackknife+, for maps whose fits without one pair follow from weights."""
        inputs = self._inputs_of(X)
        weights = self.map_.weights(inputs) if getattr(self.map_, "leaves_out_by_weights", False) else None
        if weights is None:
            raise ValueError(f"{type(self).__name__} has no jackknife+ here; use method='auto' or calibrate(X, y)")
        outputs, left_out = self.embedding_.outputs_, self._left_out_points()
        own = self.embedding_.coordinates_
        own = eye(left_out.shape[0], left_out) if own is None else own[: left_out.shape[0], :]
        points = to_backend_of(outputs, self.map_.points(inputs))
        groups = getattr(self.map_, "groups", None)
        fits = LeftOutFits(points, to_backend_of(outputs, weights), to_backend_of(outputs, own), left_out, groups)
        pool, decoder = self._pool(candidates)
        calibration = self._left_out(left_out, decoder)
        return fits.sets(decoder, pool, calibration, coverage, candidates is None)

    def _origin(self) -> Array | None:
        """Return the point of an input unlike all training inputs; None if it is zero."""
        return getattr(self.map_, "origin", None)

    def _calibrated(self, decoder: Decoder) -> Calibration:
        """Return the calibration by pairs held out, or otherwise by training pairs left out in turn."""
        name = "calibration_" if decoder is self.decoder_ else "_candidate_calibration_"
        found = getattr(self, name, None)
        if found is None:
            # threads may compute it at the same time: the result is the same, and is assigned once it is complete
            if self._held_out_ is not None:
                found = right_answers(decoder, *self._held_out_, HELD_OUT, self._origin())
            else:
                found = self._left_out(self._left_out_points(), decoder)
            setattr(self, name, found)
        return found

    def _left_out(self, points: Array, decoder: Decoder) -> Calibration:
        outputs = take(self.embedding_.outputs_, slice(0, points.shape[0]))
        return right_answers(decoder, points, outputs, LEFT_OUT, self._origin())

    def _pool(self, candidates: Any) -> tuple[Pool, Decoder]:
        """Return one collection of candidates for all inputs, with their features, and the decoder that scores them."""
        if candidates is None:
            return self.decoder_._training_pool()[0], self.decoder_
        encoded = self._codec.encode(listed(candidates), self.output_kernel_, "candidates")
        decoder = self._decoder_for([encoded])
        return decoder._given(encoded, "candidates"), decoder

    def _warn_unreachable(self, calibration: Calibration, wanted: float, default: bool) -> None:
        pairs, share = len(calibration.scores), float(np.mean(calibration.listed))
        why = f"there are {pairs} calibration pairs"
        if default and share < 1:
            why = f"{1 - share:.1%} of the right answers of {pairs} calibration pairs are not candidates"
        message = f"coverage={wanted:g} cannot be promised: {why}. Every candidate was kept; pass candidates=..., or more pairs"
        warnings.warn(message, NumericalWarning, stacklevel=3)
