"""Calibration, abstention and explanations, for every estimator of objects."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from mercer.core.arrays import Array, to_numpy
from mercer.core.collections import Collection, count, member, take, to_backend_of
from mercer.core.validation import check_whole
from mercer.decoders import Decoder, Ranked
from mercer.embeddings.base import Embedding
from mercer.kernels.base import Kernel
from mercer.learners.base import FittedMap
from mercer.losses.base import Loss, alone
from mercer.uncertainty.answers import Carrier, Explanation
from mercer.uncertainty.conformal import HELD_OUT, LEFT_OUT, Calibration, right_answers
from mercer.uncertainty.strata import KnownPairs, group_numbers


class CalibratedAnswers:
    """Scores of right answers, a score for abstention, and the training pairs behind a prediction.

    Attributes
    ----------
    calibration_ : Calibration or None
        Scores of right answers: of pairs held out, or of training pairs left out in turn once they are needed.
    """

    input_kernel_: Kernel
    output_kernel_: Kernel
    embedding_: Embedding
    decoder_: Decoder
    calibration_: Calibration | None
    map_: FittedMap
    _codec: Any
    _inputs: Collection | None
    _groups: np.ndarray | None = None
    _held_out_: tuple[Array, Collection] | None = None
    _held_inputs_: Collection | None = None
    _held_groups_: np.ndarray | None = None
    _candidate_calibration_: Calibration | None = None
    _constructed_calibration_: Calibration | None = None

    # -- defined by the estimator -------------------------------------------------------------------

    @property
    def loss_(self) -> Loss:
        """The loss that scores predictions."""
        raise TypeError(f"{type(self).__name__} must define loss_")

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
        one group belong together, `groups` has a label for each, and each group counts as one.
        """
        inputs, points = self._inputs_of(X), self._points_of(X)
        outputs = self._codec.encode(y, self.output_kernel_, "y")
        if count(outputs) != points.shape[0]:
            raise ValueError(f"X has {points.shape[0]} objects and y has {count(outputs)}; expected as many of each")
        numbers = group_numbers(groups, count(outputs))
        self.calibration_ = right_answers(self.decoder_, points, outputs, HELD_OUT, self._origin(), numbers)
        self._held_out_, self._held_groups_ = (points, outputs), numbers
        self._held_inputs_ = None if self.input_kernel_.pairwise else inputs
        self._candidate_calibration_ = self._constructed_calibration_ = None
        for name in ("_class_map_", "_label_map_", "_doubt_scale_", "_scored_answers_"):
            vars(self).pop(name, None)
        return self

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
            calibration, support = self._calibrated(decoder), decoder.support(points, self._origin())
        else:
            ranked, calibration, support = self._among(self._inputs_of(X), points, 1, candidates)
            unfit = -np.asarray([found.scores[0] for found in ranked])
        trust = calibration.p_values(unfit)
        return 1.0 - (trust if support is None else trust * calibration.backed(support))

    def _among(
        self, inputs: Collection, points: Array, k: int, candidates: Any
    ) -> tuple[list[Ranked], Calibration, np.ndarray | None]:
        """The k best of given candidates for each input, the calibration of their scores, and the support of the inputs."""
        ranked, decoder = self._rank(points, k, candidates)
        return ranked, self._calibrated(decoder), decoder.support(points, self._origin())

    def explain(self, x: Any, k: int = 5) -> Explanation:
        """Return the `k` training pairs with the largest share in the prediction for one input.

        The score of the prediction ŷ is ⟨h(x), ψ(ŷ)⟩ = Σ w_j l(y_j, ŷ), a sum over training pairs. `mercer.report` shows it
        with `explanation_table` and `explanation_html`.
        """
        check_whole(k, "k", expected="the number of pairs to show, a positive whole number")
        one = alone(x)
        weights = to_numpy(self.decision_weights(one))[0]
        predicted = self._answers(one, self._points_of(one))
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
        if hasattr(x, "to_numpy"):  # a row of a frame, which is shown as those of the carriers
            x = member(self._inputs_of(one), 0)
        return Explanation(x, member(decode(predicted), 0), carriers, float(np.abs(np.delete(shares, largest)).sum()))

    def _answers(self, X: Any, points: Array) -> Collection:
        """The predictions, before they have the form of the user."""
        return self.decoder_.decode(points)

    def _left_out_points(self) -> Array:
        """Return the point of each training pair, predicted without it."""
        points = self.map_.left_out_points()
        if not np.all(np.isfinite(to_numpy(points))):
            raise ValueError("some training outputs are missing; call calibrate(X, y) with pairs that have all outputs")
        return to_backend_of(self.embedding_.outputs_, points)

    @property
    def _groups_left_out(self) -> np.ndarray | None:
        """The group of each training pair, with copies together if the map leaves them out so; None for none."""
        found = getattr(self.map_, "groups", None)
        return self._groups if found is None else found

    def _known_pairs(self, held_out: bool) -> KnownPairs:
        """Return what is known about the pairs held out, or if there are none, or others are asked for, left out in turn."""
        if held_out and self._held_out_ is not None:
            return KnownPairs(count(self._held_out_[1]), self._held_groups_, self._held_inputs_)
        kept = getattr(self, "_kept", None)
        return KnownPairs(self.embedding_.paired_, self._groups_left_out, self._inputs, kept)

    def _known_answers(self) -> tuple[Array, Collection]:
        """Points and right answers of pairs that were not trained on."""
        if self._held_out_ is not None:
            return self._held_out_
        points = self._left_out_points()
        return points, take(self.embedding_.outputs_, slice(0, points.shape[0]))

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
                found = right_answers(decoder, *self._held_out_, HELD_OUT, self._origin(), self._held_groups_)
            else:
                found = self._left_out(self._left_out_points(), decoder)
            setattr(self, name, found)
        return found

    def _left_out(self, points: Array, decoder: Decoder) -> Calibration:
        outputs = take(self.embedding_.outputs_, slice(0, points.shape[0]))
        return right_answers(decoder, points, outputs, LEFT_OUT, self._origin(), self._groups_left_out)
