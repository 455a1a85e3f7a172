"""Decoders that make a vector, and what they rank beside it."""

from __future__ import annotations

import numpy as np

from mercer.core.arrays import Array, to_numpy
from mercer.core.collections import as_vectors, concatenate, take
from mercer.decoders.base import Decoder, Ranked
from mercer.decoders.box import Box
from mercer.decoders.pool import Pool

_SAME = 64 * float(np.finfo(float).eps)
"""Difference of two vectors, relative to the largest coordinate, that is taken as rounding."""

_TIED = 1e-8
"""Difference of two scores, relative to the larger of 1 and the score, that a search may leave."""


class VectorDecoder(Decoder):
    """Makes the vector of a point within a box; a subclass defines `decode` and lays out the box in `fit`.

    Attributes
    ----------
    box_ : Box
        What answers lie in; without limits where there is no box.
    """

    constructs = True
    box_: Box

    def rank(self, H: Array, k: int, leave_out: np.ndarray | None = None) -> list[Ranked]:
        """The vector `decode` makes, then the best training outputs in the box, scored ``2⟨h, ψ(y)⟩ - l(y, y)``; k in all."""
        self._require_count(k)
        made = self.decode(H, leave_out)
        scores = -self.objective(H, made)
        firsts = [Ranked(take(made, slice(i, i + 1)), scores[i : i + 1]) for i in range(len(scores))]
        pool, masked = self._rivals(H, leave_out) if k > 1 else (None, None)
        if not pool:  # a box without training outputs
            return firsts
        rivals = self._ranked(self._points(H), pool, k, masked)
        return [_before(first, own, k) for first, own in zip(firsts, rivals, strict=True)]

    def _rivals(self, H: Array, leave_out: np.ndarray | None) -> tuple[Pool, np.ndarray | None]:
        """The training outputs in the box, and which of them each point may not become."""
        pool, hidden = self._training_pool()
        masked = self._masked(hidden, leave_out, as_vectors(H, "H"))
        inside = np.flatnonzero(self.box_.holds(as_vectors(pool.objects)))
        place = np.full(len(pool) + 1, -1)  # the last one is that of -1, nothing left out
        place[inside] = np.arange(len(inside))
        within = Pool(take(pool.objects, inside), take(pool.features, inside), take(pool.offsets, inside))
        return within, None if masked is None else place[masked]


def _before(first: Ranked, rest: Ranked, k: int) -> Ranked:
    """One ranking of k, without what is in `rest` a second time; scores that tie with the first one are given its value."""
    own, others = to_numpy(first.objects), to_numpy(rest.objects)
    rounding = _SAME * max(float(np.abs(own).max()), float(np.abs(others).max()))
    kept = np.flatnonzero(np.abs(others - own).max(axis=1) > rounding)[: k - 1]
    score, scores = first.scores[0], rest.scores[kept]
    tied = scores <= score + _TIED * max(1.0, abs(score))
    scores = np.where(tied, np.minimum(scores, score), scores)
    return Ranked(concatenate(first.objects, take(rest.objects, kept)), np.concatenate([first.scores, scores]))
