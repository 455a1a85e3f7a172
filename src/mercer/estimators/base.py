"""What every estimator of objects has in common: decoding, ranking, scoring."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from mercer.core.arrays import Array, to_numpy
from mercer.core.collections import Collection, count
from mercer.decoders import Blocks, Decoder, Ranked, best_of_blocks
from mercer.embeddings.base import Embedding
from mercer.estimators.candidates import one_set_each
from mercer.estimators.data import OutputForm, Pairs, check_inputs, listed
from mercer.estimators.values import ValueParameters
from mercer.kernels.base import Kernel
from mercer.losses import Loss
from mercer.selection.judges import beside
from mercer.uncertainty.calibrated import CalibratedAnswers


class ObjectEstimator(CalibratedAnswers, ValueParameters):
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
    _form: OutputForm

    # -- what a subclass defines --------------------------------------------------------------------

    def _points(self, inputs: Collection) -> Array:
        """h(x) for each checked input, in the coordinates of `embedding_`."""
        raise TypeError(f"{type(self).__name__} must define _points(inputs)")

    # -- what a user calls --------------------------------------------------------------------------

    def predict(self, X: Any, candidates: Any = None) -> Collection:
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

        Outputs are ranked among `candidates`, by default the distinct training outputs, together with what a decoder of
        strings, positions or vectors constructs. The score of y is 2⟨h(x), ψ(y)⟩ − l(y, y), which is
        ‖h(x)‖² − ‖h(x) − ψ(y)‖², or minus the expected loss when the decoder minimises one. Equal scores keep the order of
        the candidates.
        """
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
            raise ValueError(f"k={k!r}; expected a positive whole number")
        ranked = self._rank(self._points_of(X), int(k), candidates)
        return [Ranked(self._form.outward(found.objects), found.scores) for found in ranked]

    def decision_weights(self, X: Any) -> Array:
        """h(x) as weights on the training outputs (then on the extra outputs), one row per input."""
        points = self._points_of(X)
        return self.embedding_.weights(points)

    def score(self, X: Any, y: Any) -> float:
        """Minus the mean loss of the predictions: the user's loss, or the output kernel's (higher is better).

        Under ``loss="rkhs"`` it is minus the mean of ‖h(x) − ψ(y)‖², what lies outside the coordinates of the embedding
        included, so that models with other embeddings can be compared.
        """
        points = self._points_of(X)
        outputs = self._form.inward(y, self.output_kernel_, "y")
        if count(outputs) != points.shape[0]:
            raise ValueError(f"X has {points.shape[0]} objects and y has {count(outputs)}; expected as many of each")
        if self.loss == "rkhs":
            embedding = self.embedding_
            whole = embedding.squared_distances(points, outputs) + embedding.outside(outputs)
            return -float(np.mean(to_numpy(whole)))
        decoded = self.decoder_.decode(points)
        return -float(np.mean(to_numpy(self.loss_.paired(outputs, decoded))))

    # -- pieces -------------------------------------------------------------------------------------

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
        candidates = self._form.dense(listed(candidates), "candidates")
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


def _stack(parts: list[Any], outputs: Collection) -> Collection:
    """The best of each ranking as one collection, of the kind of `outputs`."""
    if isinstance(outputs, np.ndarray):
        return np.concatenate(parts)
    from mercer.core.arrays import namespace

    return namespace(outputs).concat(parts)
