"""Words chosen among given words."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer.automatic.candidate_order import MIXTURE, CandidateOrder, candidate_order, edit_distances
from mercer.core.arrays import Array, to_numpy
from mercer.core.blocks import as_blocks
from mercer.core.collections import Collection, count, listed, take
from mercer.core.validation import check_whole
from mercer.decoders import Ranked
from mercer.decoders.base import best
from mercer.estimators.base import ObjectEstimator
from mercer.estimators.candidates import sets_of_each
from mercer.estimators.data import Encoding
from mercer.selection.candidates import known_outputs
from mercer.uncertainty.conformal import HELD_OUT, LEFT_OUT, Calibration

WORDS = ("strings", "sequences")
"""Kinds of inputs and outputs that edits turn into each other."""
_EVERY = int(np.iinfo(np.int32).max)
_RANKED = 10**7  # most candidates of several inputs that are ranked at a time


class ChoosesWords(ObjectEstimator):
    """An estimator that chooses words for words also by their edit distance, if outputs kept out of training say so."""

    kinds_: dict[str, str]
    _candidate_order_: CandidateOrder | None = None

    @property
    def candidate_order_(self) -> CandidateOrder:
        """The order of given candidates that were not trained on, with the reason; chosen when it is first needed.

        For inputs and outputs that are strings or sequences see `mercer.automatic.candidate_order`; for others it is that of
        the mixture.
        """
        check_is_fitted(self, "map_")
        if self._candidate_order_ is None:
            self._candidate_order_ = self._choose_order()
        return self._candidate_order_

    def _choose_order(self) -> CandidateOrder:
        if not {self.kinds_["inputs"], self.kinds_["outputs"]} <= set(WORDS):
            return CandidateOrder(reason="inputs and outputs are not both words: the mixture")
        if self._inputs is None:
            return CandidateOrder(reason="a compact model leaves no pairs out: the mixture")
        own: Any = self.map_
        without = getattr(own, "points_without", lambda groups: own.left_out_points())
        decoder, groups = self.candidate_rule_.decoder, getattr(own, "groups", None)
        return candidate_order(decoder, self.loss_, without, self._inputs, groups)

    def predict(self, X: Any, candidates: Any = None, return_std: bool = False) -> Any:
        """Predict an object for each input, among the candidates if there are any; see `DependencyEstimator.predict`."""
        ranked = None if return_std else self._ordered(X, 1, candidates)
        if ranked is None:
            return super().predict(X, candidates, return_std)
        return self._codec.framed(self._codec.decode(best(ranked)))

    def rank(self, X: Any, k: int = 5, candidates: Any = None) -> list[Ranked]:
        """Return the `k` best outputs for each input, best first, with scores; see `DependencyEstimator.rank`."""
        ranked = self._ordered(X, check_whole(k, "k"), candidates)
        if ranked is None:
            return super().rank(X, k, candidates)
        return [Ranked(self._codec.decode(found.objects), found.scores) for found in ranked]

    def score(self, X: Any, y: Any, sample_weight: Any = None, candidates: Any = None) -> float:
        """Return minus the mean loss of the predictions (higher is better)."""
        ranked = self._ordered(X, 1, candidates)
        if ranked is None:
            return super().score(X, y, sample_weight, candidates)
        return self._minus_loss(best(ranked), y, sample_weight)

    def _minus_loss(self, predicted: Collection, y: Any, sample_weight: Any) -> float:
        outputs = self._codec.encode(y, self.output_kernel_, "y")
        if count(outputs) != count(predicted):
            raise ValueError(f"X has {count(predicted)} objects and y has {count(outputs)}; expected as many of each")
        return -float(np.average(to_numpy(self.loss_.paired(outputs, predicted)), weights=sample_weight))

    def _best_two(self, inputs: Collection | None, points: Array, candidates: Any) -> list[Ranked]:
        ranked = None if inputs is None else self._ordered(inputs, 2, candidates, points)
        return super()._best_two(inputs, points, candidates) if ranked is None else ranked

    def _among(
        self, inputs: Collection, points: Array, k: int, candidates: Any
    ) -> tuple[list[Ranked], Calibration, np.ndarray | None]:
        """By edit distance if candidates are ranked by it, with the distances of right answers to their inputs."""
        known = self._known_pairs(True)
        written = known.inputs
        ranked = None if written is None else self._ordered(inputs, k, candidates, points)
        if written is None or ranked is None:
            return super()._among(inputs, points, k, candidates)
        held = self._held_out_
        right = take(self.embedding_.outputs_, slice(0, known.size)) if held is None else held[1]
        each = (edit_distances(x, take(right, [i]), self.candidate_order_.name)[0] for i, x in enumerate(written))
        scores = np.fromiter(each, dtype=float, count=known.size)
        source, mass = LEFT_OUT if held is None else HELD_OUT, known.mass(np.arange(known.size))
        return ranked, Calibration(scores, np.ones(known.size, dtype=bool), source, mass=mass), None

    def _ordered(self, X: Any, k: int, candidates: Any, points: Array | None = None) -> list[Ranked] | None:
        """The best candidates of each input, at given points; None if they are in the order of the mixture."""
        check_is_fitted(self, "map_")
        in_blocks = hasattr(candidates, "blocks") or as_blocks(candidates, "candidates") is not None
        if candidates is None or in_blocks or self.candidate_order_.name == MIXTURE:
            return None
        inputs = self._inputs_of(X)
        sets = sets_of_each(self._codec, listed(candidates), self.embedding_.outputs_, count(inputs))
        encode = Encoding(self._codec, self.output_kernel_)
        encoded = [encode(own, "candidates") for own in ([listed(candidates)] if sets is None else sets)]
        if all(known_outputs(self.decoder_, own, paired=True) for own in encoded):
            return None
        decoder = self.candidate_rule_.decoder
        points = self._points_of(inputs) if points is None else points
        if sets is not None:
            every = decoder.choose_each(points, encoded, _EVERY)
            return self.candidate_order_.apply(list(inputs), every, k)
        step, found = max(1, _RANKED // count(encoded[0])), []
        for start in range(0, count(inputs), step):
            some = slice(start, start + step)
            every = decoder.choose(take(points, some), encoded[0], _EVERY)
            found += self.candidate_order_.apply(list(take(inputs, some)), every, k)
        return found
