"""Candidate sets by the jackknife+: every candidate is scored by every fit that leaves out one pair."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.core.arrays import Array, like, to_numpy
from mercer.core.collections import take
from mercer.decoders import Decoder, Ranked
from mercer.decoders.pool import Pool
from mercer.uncertainty.conformal import Calibration


@dataclass
class LeftOutFits:
    r"""The n fits that leave out one pair each, at some new inputs, without refitting.

    Leaving out pair i is training on it with the output its own prediction would have had, so that

    .. math:: h_{-i}(x) = h(x) - w_i(x)\,(\psi(y_i) - h_{-i}(x_i)).

    Attributes
    ----------
    points : array (q, r)
        h(x) of each new input.
    weights : array (q, n)
        w(x), its weights on the training pairs.
    own, left_out : array (n, r)
        ψ(y_i), and h₋ᵢ(x_i).
    groups : int array (n,), optional
        Pairs of one group leave together: their corrections add up.
    """

    points: Array
    weights: Array
    own: Array
    left_out: Array
    groups: np.ndarray | None = None

    def sets(
        self, decoder: Decoder, pool: Pool, calibration: Calibration, coverage: float, default: bool
    ) -> list[Ranked]:
        """Of each input, the candidates that more than a share 1 − coverage of the fits find as fit as their own pair."""
        shift = _products(decoder, self.own, pool) - _products(decoder, self.left_out, pool)
        score = _products(decoder, self.points, pool) - to_numpy(pool.offsets)
        right = calibration.effective(default)
        least = (1.0 - coverage) * (len(right) + 1.0) - 1.0
        found = []
        for own, weights in zip(score, to_numpy(self.weights), strict=True):
            moved = weights[:, None] * shift
            if self.groups is not None:
                sums = np.zeros((int(self.groups.max()) + 1, moved.shape[1]))
                np.add.at(sums, self.groups, moved)
                moved = sums[self.groups]
            unfit = moved - own
            agree = np.sum(right[:, None] >= unfit, axis=0)
            kept = np.flatnonzero(agree > least + 1e-9)
            kept = kept[np.argsort(-own[kept], kind="stable")]
            found.append(Ranked(take(pool.objects, kept), own[kept]))
        return found


def _products(decoder: Decoder, points: Array, pool: Pool) -> np.ndarray:
    """⟨point, features⟩ of each candidate, as the decoder scores them."""
    stood_for = decoder._points(points)
    return to_numpy(like(stood_for, pool.features) @ pool.features.T)
