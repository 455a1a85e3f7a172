"""Sets of objects that hold the right output with a given probability."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer.core.arrays import Array, NumericalWarning, eye
from mercer.core.collections import Collection, count, keys, listed, take, to_backend_of
from mercer.core.validation import check_choice
from mercer.decoders import Decoder, Ranked
from mercer.decoders.base import merged
from mercer.decoders.pool import Pool, left_out
from mercer.uncertainty.calibrated import CalibratedAnswers
from mercer.uncertainty.conformal import Calibration, LeftOutFits, check_coverage
from mercer.uncertainty.prediction_set import PredictionSet
from mercer.uncertainty.strata import Stratum, strata

_EVERY = int(np.iinfo(np.int32).max)  # number of candidates to rank if all are wanted
_MADE = 20  # objects that a decoder makes for a set


class SetAnswers(CalibratedAnswers):
    """Sets that hold the right output, for every estimator of objects."""

    _constructed_calibration_: Calibration | None = None

    def predict_set(  # noqa: PLR0913 - each option is independent of the others
        self,
        X: Any,
        coverage: float = 0.9,
        candidates: Any = None,
        method: str = "auto",
        by: Any = None,
        weights: Any = None,
    ) -> list[PredictionSet]:
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

        A set may be empty: no candidate is as good as right answers are. A right answer that is not a default candidate has the
        worst score of all (`calibration_.unlisted` right answers had it). If more coverage is asked for than the candidates can
        reach (`calibration_.reachable` of the right answers are among them), a set stands for every object: its `any_object` is
        True, it has every candidate, and a `NumericalWarning` gives the share. So the probability holds for
        ``found.contains(y)``, with `any_object` counted, whether or not right answers are candidates. Candidates that you pass
        are taken to hold the right answer.

        If pairs come in groups (of `fit`, or of `calibrate`), whole groups are left out, each group counts as one, and the
        probability is that for an input of a new group.

        Parameters
        ----------
        X : collection
            Inputs, as in `predict`.
        coverage : float, default=0.9
            Probability that a set holds the right output.
        candidates : collection, one collection per input, or "constructed", optional
            Choose among these. By default the distinct training outputs. "constructed" adds the best objects that the decoder
            makes for each input: strings, sequences, label sets or rankings that may be new.
        method : {"auto", "jackknife+"}
            "auto" uses the pairs held out, if `calibrate` was called, and otherwise leaves out the training pairs in turn.
            "jackknife+" compares the score of each candidate with that of the left-out pair, under every fit without one pair;
            for the identity operator, and candidates that are the same for all inputs.
        by : function of one input, or (labels of calibration pairs, labels of X), optional
            Inputs with different labels are calibrated apart, so that the probability holds for each label (Mondrian).
        weights : function of one input, or (weights of calibration pairs, weights of X), optional
            Density ratio of new to calibration inputs, up to a factor, under a shift of the inputs (weighted conformal).
        """
        check_choice(method, "method", ("auto", "jackknife+"))
        wanted, makes = check_coverage(coverage), isinstance(candidates, str)
        if makes:
            self._check_constructs(candidates, method)
        inputs = self._inputs_of(X)
        parts = list(strata(self._known_pairs(method == "auto"), inputs, by, weights))
        if method == "jackknife+":
            sets = self._jackknife_sets(inputs, wanted, candidates, parts)
        else:
            points = to_backend_of(self.embedding_.outputs_, self.map_.points(inputs))
            if makes:
                every, calibration = self._with_constructed(points), self._calibrated_with_constructed()
            elif candidates is None:
                every = self.decoder_.rank_training(points, _EVERY)
                calibration = self._calibrated(self.decoder_)
            else:
                every, calibration, _ = self._among(inputs, points, _EVERY, candidates)
            sets = self._within(every, calibration, wanted, makes or candidates is None, parts)
        return [PredictionSet(self._codec.decode(found.objects), found.scores, found.any_object) for found in sets]

    def _within(
        self, every: list[Ranked], calibration: Calibration, coverage: float, default: bool, parts: list[Stratum]
    ) -> list[PredictionSet]:
        """Return the candidates that are as good as right answers are."""
        thresholds = calibration.thresholds(coverage, default, parts, len(every))
        unreached = np.isinf(thresholds)
        if unreached.any():
            self._warn_unreachable(calibration, coverage, default)
        sizes = [int(np.count_nonzero(-x.scores <= limit)) for x, limit in zip(every, thresholds, strict=True)]
        return [
            PredictionSet(take(x.objects, slice(0, n)), x.scores[:n], default and one)
            for x, n, one in zip(every, sizes, unreached.tolist(), strict=True)
        ]

    # -- sets with objects that the decoder constructs ---------------------------------------------------------

    def _check_constructs(self, candidates: str, method: str) -> None:
        check_choice(candidates, "candidates", ("constructed",))
        if method != "auto":
            raise ValueError(f"candidates='constructed' with method={method!r}; expected method='auto'")
        check_is_fitted(self, "map_")
        if self._codec.row_shape is not None:
            raise ValueError("candidates='constructed', and the outputs are vectors; use predict_interval(X)")

    def _with_constructed(self, points: Array, leave_out: Any = None) -> list[Ranked]:
        """Return the training outputs and what the decoder makes of each point, best first."""
        decoder = self.decoder_
        known = decoder.rank_training(points, _EVERY, leave_out)
        if decoder.constructs:
            made = decoder.rank(points, _MADE, leave_out)
        else:
            objects = decoder.decode(points, leave_out)
            scores = -np.asarray(decoder.objective(points, objects), dtype=float)
            made = [Ranked(take(objects, slice(i, i + 1)), scores[i : i + 1]) for i in range(len(scores))]
        key = decoder.embedding_.kernel_.key
        return [merged(ours, theirs, key) for ours, theirs in zip(known, made, strict=True)]

    def _calibrated_with_constructed(self) -> Calibration:
        """Return the calibration in which a right answer that the decoder makes is a candidate."""
        found = self._constructed_calibration_
        if found is None:
            plain, held_out = self._calibrated(self.decoder_), self._held_out_
            points, outputs = self._known_answers()
            rows, groups = np.arange(count(outputs)), self._groups_left_out
            every = self._with_constructed(points, None if held_out is not None else left_out(rows, groups))
            key = self.embedding_.kernel_.key
            own = list(keys(outputs, key))
            listed = np.asarray([own[i] in set(keys(every[i].objects, key)) for i in rows.tolist()])
            found = self._constructed_calibration_ = replace(plain, listed=listed)
        return found

    def _jackknife_sets(
        self, inputs: Collection, coverage: float, candidates: Any, parts: list[Stratum]
    ) -> list[PredictionSet]:
        """Return sets by the jackknife+, for maps whose fits without one pair follow from weights."""
        weights = self.map_.weights(inputs) if getattr(self.map_, "leaves_out_by_weights", False) else None
        if weights is None:
            raise ValueError(f"{type(self).__name__} has no jackknife+ here; use method='auto' or calibrate(X, y)")
        outputs, left_out = self.embedding_.outputs_, self._left_out_points()
        own = self.embedding_.coordinates_
        own = eye(left_out.shape[0], left_out) if own is None else own[: left_out.shape[0], :]
        points = to_backend_of(outputs, self.map_.points(inputs))
        groups = self._groups_left_out
        fits = LeftOutFits(points, to_backend_of(outputs, weights), to_backend_of(outputs, own), left_out, groups)
        pool, decoder = self._pool(candidates)
        calibration = self._left_out(left_out, decoder)
        sets = fits.sets(decoder, pool, calibration, coverage, candidates is None, parts)
        if any(found.any_object for found in sets):
            self._warn_unreachable(calibration, coverage, True)
        return sets

    def _pool(self, candidates: Any) -> tuple[Pool, Decoder]:
        """Return one collection of candidates for all inputs, with their features, and the decoder that scores them."""
        if candidates is None:
            return self.decoder_._training_pool()[0], self.decoder_
        encoded = self._codec.encode(listed(candidates), self.output_kernel_, "candidates")
        decoder = self._decoder_for([encoded])
        return decoder._given(encoded, "candidates"), decoder

    def _warn_unreachable(self, calibration: Calibration, wanted: float, default: bool) -> None:
        pairs, share = len(calibration.scores), calibration.reachable
        why = f"there are {pairs} calibration pairs (those of a label or weight, with by= or weights=)"
        if default and share < 1:
            why = f"{1 - share:.1%} of the right answers of {pairs} calibration pairs are not candidates"
        kept = "Every candidate was kept" + (", and the sets stand for every object (any_object)" if default else "")
        cure = "pass candidates=..., 'constructed' for those that the decoder makes, or more pairs"
        warnings.warn(
            f"coverage={wanted:g} cannot be promised by candidates: {why}. {kept}; {cure}",
            NumericalWarning,
            stacklevel=4,
        )
