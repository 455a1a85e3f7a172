"""What every estimator of objects has in common: decoding, ranking, scoring."""

from __future__ import annotations

import math
import warnings
from typing import Any, Self

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from mercer.arrays import Array, NumericalWarning, to_numpy
from mercer.conformal import HELD_OUT, LEFT_OUT, Calibration, check_coverage
from mercer.decoders import Blocks, Decoder, Ranked, best_of_blocks
from mercer.embeddings.base import Embedding
from mercer.estimators.answers import Explanation, cut, explained, right_answers
from mercer.estimators.candidates import one_set_each
from mercer.estimators.data import OutputForm, Pairs, check_inputs, listed
from mercer.estimators.values import ValueParameters
from mercer.kernels.base import Kernel
from mercer.losses import Loss
from mercer.losses.rows import alone
from mercer.objects import Objects, count, take
from mercer.selection.judges import beside

_EVERY = int(np.iinfo(np.int32).max)
"""How many candidates to rank when all are wanted."""


class ObjectEstimator(ValueParameters):
    """An estimator that predicts points of the output feature space and decodes them into objects.

    A subclass sets, in `fit`, the fitted attributes named below and defines `_points`.
    """

    input_kernel: Kernel
    output_kernel: Kernel
    loss: Any
    input_kernel_: Kernel
    output_kernel_: Kernel
    embedding_: Embedding
    decoder_: Decoder
    loss_: Loss
    calibration_: Calibration | None
    _form: OutputForm

    # -- what a subclass defines --------------------------------------------------------------------

    def _points(self, inputs: Objects) -> Array:
        """h(x) for each checked input, in the coordinates of `embedding_`."""
        raise TypeError(f"{type(self).__name__} must define _points(inputs)")

    # -- what a user calls --------------------------------------------------------------------------

    def predict(self, X: Any, candidates: Any = None) -> Objects:
        """The object predicted for each input.

        Parameters
        ----------
        X : collection
            Inputs, as in `fit`; kernel values against the training inputs for a precomputed kernel.
        candidates : collection, one collection per input, or `mercer.decoders.Blocks`, optional
            Choose among these outputs. By default the decoder is free (see `decoder_`).

        Returns
        -------
        collection
            An array for vector outputs, in the shape of those passed to `fit`; else a 1-D object array.
        """
        points = self._points_of(X)
        if candidates is None:
            return self._form.outward(self.decoder_.decode(points))
        ranked = self._rank(points, 1, candidates)
        return self._form.outward(_stack([found.objects for found in ranked], self.embedding_.outputs_))

    def rank(self, X: Any, k: int = 5, candidates: Any = None) -> list[Ranked]:
        """The `k` best outputs for each input, best first, with scores (higher is better).

        Outputs are ranked among `candidates`, by default the distinct training outputs. The score of y is
        2⟨h(x), ψ(y)⟩ − l(y, y), which is ‖h(x)‖² − ‖h(x) − ψ(y)‖², or minus the expected loss when the decoder
        minimises one. Equal scores keep the order of the candidates.
        """
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
            raise ValueError(f"k={k!r}; expected a positive whole number")
        ranked = self._rank(self._points_of(X), int(k), candidates)
        return [Ranked(self._form.outward(found.objects), found.scores) for found in ranked]

    def decision_weights(self, X: Any) -> Array:
        """h(x) as weights on the training outputs (then on the extra outputs), one row per input."""
        return self.embedding_.weights(self._points_of(X))

    def score(self, X: Any, y: Any) -> float:
        """Minus the mean loss of the predictions: the user's loss, or the output kernel's (higher is better)."""
        points = self._points_of(X)
        outputs = self._form.inward(y, self.output_kernel_, "y")
        if count(outputs) != points.shape[0]:
            raise ValueError(f"X has {points.shape[0]} objects and y has {count(outputs)}; expected as many of each")
        if self.loss == "rkhs":
            return -float(np.mean(to_numpy(self.embedding_.squared_distances(points, outputs))))
        decoded = self.decoder_.decode(points)
        return -float(np.mean(to_numpy(self.loss_.paired(outputs, decoded))))

    # -- answers that say how sure they are -----------------------------------------------------------

    def calibrate(self, X: Any, y: Any) -> Self:
        """Learn from pairs that were not trained on how good the scores of right answers are.

        `predict_set` and `abstention_score` then rest on these pairs: if new pairs are exchangeable with them, a set holds
        the right answer with the probability asked for or more, whatever the model.
        """
        points = self._points_of(X)
        outputs = self._form.inward(y, self.output_kernel_, "y")
        if count(outputs) != points.shape[0]:
            raise ValueError(f"X has {points.shape[0]} objects and y has {count(outputs)}; expected as many of each")
        self.calibration_ = right_answers(self.decoder_, points, outputs, HELD_OUT)
        return self

    def predict_set(self, X: Any, coverage: float = 0.9, candidates: Any = None) -> list[Ranked]:
        r"""For each input a set of outputs that holds the right one with probability `coverage`, best first, with scores.

        The set has every candidate whose score (that of `rank`) is at least that of the :math:`\lceil (m+1)c \rceil`-th best
        of m right answers, each predicted by a model that was not trained on its pair. With pairs held out (`calibrate`) the
        probability is `coverage` or more for exchangeable pairs (split conformal prediction). Without, training pairs are
        left out in turn, exactly and at no cost in data; then `coverage` is met as far as leaving out one pair and the choice
        of the ridge change little, and no bound holds in general. The probability is over inputs, not for each of them.

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
        """
        wanted, points = check_coverage(coverage), self._points_of(X)
        calibration, default = self._calibrated(), candidates is None
        threshold = calibration.threshold(wanted, default)
        if threshold == math.inf:
            self._warn_unreachable(calibration, wanted, default)
        ranked = cut(self._rank(points, _EVERY, candidates), threshold)
        return [Ranked(self._form.outward(found.objects), found.scores) for found in ranked]

    def abstention_score(self, X: Any, candidates: Any = None) -> np.ndarray:
        r"""How little each prediction is to be trusted, from 0 (sure) to 1.

        :math:`1 - (p_1 - p_2)`, with the conformal p-values of the best and the second-best candidate: it is small where the
        best one is as good as right answers are, and the next one is not. The predictions with the largest scores are those
        to leave to someone else.
        """
        ranked = self._rank(self._points_of(X), 2, candidates)
        calibration, default = self._calibrated(), candidates is None
        scores = np.full((len(ranked), 2), np.inf)
        for i, found in enumerate(ranked):
            scores[i, : len(found.scores)] = -found.scores
        p = calibration.p_values(scores, default)
        p[np.isinf(scores)] = 0.0  # no second candidate
        return 1.0 - (p[:, 0] - p[:, 1])

    def explain(self, x: Any, k: int = 5) -> Explanation:
        """The `k` training pairs with the largest part in the prediction for one input.

        The prediction ŷ is scored by ⟨h(x), ψ(ŷ)⟩ = Σ w_j l(y_j, ŷ): pair j has a part in it by its weight, and by how alike
        its output and the prediction are. `mercer.report` has `explanation_table` and `explanation_html` to show it.
        """
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
            raise ValueError(f"k={k!r}; expected how many pairs to show, a positive whole number")
        one = alone(x)
        weights = to_numpy(self.decision_weights(one))[0]
        predicted = self.decoder_.decode(self._points_of(one))
        inputs, outward = self._training_inputs(), self._form.outward
        return explained(x, predicted, weights, inputs, self.embedding_, int(k), outward)

    # -- pieces -------------------------------------------------------------------------------------

    def _left_out_points(self) -> Array:
        """The point of each training pair without it, for estimators that know it."""
        raise ValueError(
            f"{type(self).__name__} has no exact leave-one-out here; call calibrate(X, y) with pairs that were not trained on"
        )

    def _training_inputs(self) -> Objects | None:
        """The training inputs, where they are kept as objects."""
        return None

    def _calibrated(self) -> Calibration:
        """From the pairs held out, or else from the training pairs left out in turn."""
        found = getattr(self, "calibration_", None)
        if found is None:
            points = beside(self._left_out_points(), self.embedding_.outputs_)
            outputs = take(self.embedding_.outputs_, slice(0, points.shape[0]))
            found = self.calibration_ = right_answers(self.decoder_, points, outputs, LEFT_OUT)
        return found

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

    def _points_of(self, X: Any) -> Array:
        check_is_fitted(self, "embedding_")
        inputs = check_inputs(self, listed(X), self.input_kernel_, reset=False)
        return beside(self._points(inputs), self.embedding_.outputs_)

    def _keep(self, pairs: Pairs, loss: Loss, decoder: Decoder, embedding: Embedding) -> None:
        """The last step of a fit that went well: until then nothing about the estimator has changed."""
        self.input_kernel_, self.output_kernel_ = pairs.input_kernel, pairs.output_kernel
        self._form, self.loss_, self.decoder_, self.embedding_ = pairs.form, loss, decoder, embedding
        self.calibration_ = None
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(pairs.noted, name):
                setattr(self, name, getattr(pairs.noted, name))
            elif hasattr(self, name):
                delattr(self, name)

    def _rank(self, points: Array, k: int, candidates: Any) -> list[Ranked]:
        if candidates is None:
            return self.decoder_.rank(points, k)
        outputs, inward = self.embedding_.outputs_, self._form.inward
        if isinstance(candidates, Blocks):
            own = self.output_kernel_
            return best_of_blocks(
                self.decoder_, points, candidates.blocks, k, lambda block, name: inward(block, own, name)
            )
        candidates = listed(candidates)
        if one_set_each(candidates, outputs, self._form, points.shape[0]):
            sets = [inward(c, self.output_kernel_, f"candidates[{i}]") for i, c in enumerate(candidates)]
            return self.decoder_.choose_each(points, sets, k)
        return self.decoder_.choose(points, inward(candidates, self.output_kernel_, "candidates"), k)

    def __sklearn_tags__(self) -> Tags:
        """Tags that follow the kernels: what X may be, and that outputs may be many."""
        tags = super().__sklearn_tags__()
        kernel = self.input_kernel
        known = isinstance(kernel, Kernel)
        tags.input_tags.pairwise = known and kernel.pairwise
        tags.input_tags.two_d_array = known and (kernel.takes_vectors or kernel.pairwise)
        tags.input_tags.string = not tags.input_tags.two_d_array
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        return tags


def _stack(parts: list[Any], outputs: Objects) -> Objects:
    """The best of each ranking as one collection, of the kind of `outputs`."""
    if isinstance(outputs, np.ndarray):
        return np.concatenate(parts)
    from mercer.arrays import namespace

    return namespace(outputs).concat(parts)
