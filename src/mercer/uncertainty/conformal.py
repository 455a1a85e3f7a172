"""Conformal calibration: a score compared with the scores of right answers that were not trained on.

Smaller scores are better. If a new pair is exchangeable with the m calibration pairs, the score of its right answer is at most
the ⌈(m + 1)c⌉-th smallest of theirs with probability c or more (split conformal prediction), whatever the model.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.core.arrays import Array, like, to_numpy
from mercer.core.collections import Collection, count, distinct, is_numeric, member, take
from mercer.core.validation import check_real
from mercer.decoders import Decoder, Ranked
from mercer.decoders.pool import ROUNDING, Pool
from mercer.embeddings.base import Embedding

HELD_OUT, LEFT_OUT = "held out", "left out in turn"

SLACK = 1e-9
"""Difference of two scores, relative to the size of their terms, that counts as a tie. An input alone and the same input in a
batch have scores that differ in the last bits; ties are decided for the answer, so that coverage does not fall."""

_UNUSUAL = 0.05  # share of calibration inputs that do not count for the usual support
_SAMPLE = 256  # most right answers from which the size of the terms of a score is estimated


@dataclass
class Calibration:
    """Scores of right answers.

    Parameters
    ----------
    scores : array (m,)
        Score of the right answer of each calibration pair.
    listed : array (m,) of bool
        True if the right answer is among the default candidates.
    source : str
        Origin of the pairs: held out, or left out in turn.
    support : array (m,), optional
        Weight of each calibration input on training outputs, if scores do not show it.
    slack : float, default=0.0
        Largest difference of two scores that counts as a tie.

    Examples
    --------
    >>> calibration = Calibration(np.array([0.3, 0.1, 0.2, 0.4]), np.ones(4, dtype=bool), HELD_OUT)
    >>> calibration.threshold(0.6)
    0.3
    >>> calibration.p_values(np.array([0.05, 0.25, 9.0])).tolist()
    [1.0, 0.6, 0.2]
    """

    scores: np.ndarray
    listed: np.ndarray
    source: str
    support: np.ndarray | None = None
    slack: float = 0.0

    def threshold(self, coverage: float, default_candidates: bool = False) -> float:
        """Return the largest score that is kept, with its slack; infinity if too few pairs, or right answers, are known."""
        scores = np.sort(self.effective(default_candidates))
        # rounded, so that 0.9 · 10 is the 9th and not the 10th
        place = math.ceil(round((len(scores) + 1) * coverage, 9))
        return float(scores[place - 1]) + self.slack if place <= len(scores) else math.inf

    def p_values(self, scores: np.ndarray) -> np.ndarray:
        """Return the share of calibration scores, counting a new one, that are as large as each score."""
        known = np.sort(self.scores)
        at_least = len(known) - np.searchsorted(known, scores - self.slack, side="left")
        return (1.0 + at_least) / (len(known) + 1.0)

    def backed(self, support: np.ndarray) -> np.ndarray:
        """Return each support as a share of the one that 95 of 100 calibration inputs have, at most 1."""
        known = np.ones(1) if self.support is None else self.support
        usual = float(np.quantile(known, _UNUSUAL))
        rounding = SLACK * float(np.max(np.abs(known)))
        return np.clip(support / usual, 0.0, 1.0) if usual > rounding else (support > rounding).astype(float)

    @property
    def unlisted(self) -> int:
        """The number of right answers that are not default candidates."""
        return int(np.count_nonzero(~self.listed))

    def effective(self, default_candidates: bool) -> np.ndarray:
        """Return the scores, infinite for right answers that are not candidates."""
        return np.where(self.listed, self.scores, np.inf) if default_candidates else self.scores


def check_coverage(coverage: Any) -> float:
    """Return `coverage` as a number strictly between 0 and 1."""
    expected = "the probability that a set holds the right answer, between 0 and 1"
    return check_real(coverage, "coverage", 0, 1, expected=expected)


def right_answers(
    decoder: Decoder, points: Array, outputs: Collection, source: str, origin: Array | None = None
) -> Calibration:
    """Return the score of the right answer at each point, with a slack, and whether it is a default candidate."""
    scores = np.asarray(decoder.objective(points, outputs), dtype=float)
    listed = _listed(decoder.embedding_, outputs, 2 if source == LEFT_OUT else 1)
    some = decoder._given(take(outputs, np.arange(0, count(outputs), -(-count(outputs) // _SAMPLE))), "outputs")
    sizes = to_numpy(some.slack(like(decoder._points(points), some.features))) / ROUNDING
    return Calibration(scores, listed, source, decoder.support(points, origin), SLACK * float(np.median(sizes)))


def _listed(embedding: Embedding, outputs: Collection, times: int) -> np.ndarray:
    """Return True for each output that the fitted outputs hold so many times, if the kernel sees it."""
    fitted, kernel = embedding.outputs_, embedding.kernel_
    first, group = distinct(fitted, kernel.key)
    seen = kernel.sees(take(fitted, first))
    sizes = np.bincount(group) * (seen | ~seen.any())
    known = {_key(kernel, fitted, i): size for i, size in zip(first.tolist(), sizes.tolist(), strict=True)}
    return np.asarray([known.get(_key(kernel, outputs, i), 0) >= times for i in range(count(outputs))])


def _key(kernel: Any, objects: Collection, i: int) -> Any:
    one = member(objects, i)
    return kernel.key(to_numpy(one) if is_numeric(objects) else one)


@dataclass
class LeftOutFits:
    r"""The n fits without one pair each, at some new inputs and without refitting (jackknife+).

    Leaving out pair i is training on it with the output that its own prediction would have had, so that

    .. math:: h_{-i}(x) = h(x) - w_i(x)\,(\psi(y_i) - h_{-i}(x_i)).
    """

    points: Array  # h(x) of each new input, (q, r)
    weights: Array  # w(x), its weights on the training pairs, (q, n)
    own: Array  # ψ(y_i), (n, r)
    left_out: Array  # h₋ᵢ(x_i), (n, r)
    groups: np.ndarray | None = None  # pairs of one group are left out together: their corrections add up

    def sets(
        self, decoder: Decoder, pool: Pool, calibration: Calibration, coverage: float, default: bool
    ) -> list[Ranked]:
        """Return, for each input, the candidates as good as the left-out pair in more than a share 1 − coverage of the fits."""
        shift = _products(decoder, self.own, pool) - _products(decoder, self.left_out, pool)
        score = _products(decoder, self.points, pool) - to_numpy(pool.offsets)
        right = calibration.effective(default) + calibration.slack
        least = (1.0 - coverage) * (len(right) + 1.0) - 1.0
        order, best = pool.best(decoder._points(self.points), len(pool))
        found = []
        for own, ranked, scores, weights in zip(score, order, best, to_numpy(self.weights), strict=True):
            moved = left_out_shifts(weights, shift, self.groups)
            agree = np.sum(right[:, None] >= moved - own, axis=0)
            kept = agree[ranked] > least + 1e-9
            found.append(Ranked(take(pool.objects, ranked[kept]), scores[kept]))
        return found


def left_out_shifts(weights: np.ndarray, errors: np.ndarray, groups: np.ndarray | None) -> np.ndarray:
    """Return h(x) − h₋ᵢ(x) for each pair i: its weight times its left-out error, summed over its group."""
    moved = weights[:, None] * errors
    if groups is None:
        return moved
    sums = np.zeros((int(groups.max()) + 1, moved.shape[1]))
    np.add.at(sums, groups, moved)
    return sums[groups]


def _products(decoder: Decoder, points: Array, pool: Pool) -> np.ndarray:
    """Return ⟨point, features⟩ of each candidate, as the decoder scores them."""
    return to_numpy(like(decoder._points(points), pool.features) @ pool.features.T)
