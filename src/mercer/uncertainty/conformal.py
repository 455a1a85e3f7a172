"""Conformal calibration: a score compared with the scores of right answers that were not trained on.

Smaller scores are better. If a new pair is exchangeable with the m calibration pairs, the score of its right answer is at most
the ⌈(m + 1)c⌉-th smallest of theirs with probability c or more (split conformal prediction), whatever the model.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.core.arrays import Array, like, to_numpy
from mercer.core.collections import Collection, count, distinct, is_numeric, member, take
from mercer.core.validation import check_real
from mercer.decoders import Decoder
from mercer.decoders.pool import ROUNDING, LeftOut, Pool, asked_of, left_out, owners_of
from mercer.embeddings.base import Embedding
from mercer.uncertainty.prediction_set import PredictionSet
from mercer.uncertainty.regions import quantiles
from mercer.uncertainty.strata import KnownPairs, Stratum

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
    mass : array (m,), optional
        Weight of each pair, one in all for each group; by default ones.

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
    mass: np.ndarray | None = None

    def threshold(self, coverage: float, default_candidates: bool = False) -> float:
        """Return the largest score that is kept, with its slack; infinity if too few pairs, or right answers, are known."""
        found = quantiles(self.effective(default_candidates)[:, None], self._mass, np.ones(1), coverage)
        return float(found[0, 0]) + self.slack

    def thresholds(
        self, coverage: float, default_candidates: bool, parts: Iterable[Stratum], inputs: int
    ) -> np.ndarray:
        """Return the largest score that is kept for each of some new inputs, with its slack."""
        found, scores = np.full(inputs, np.inf), self.effective(default_candidates)[:, None]
        for part in parts:
            found[part.new] = quantiles(scores[part.known], part.weights, part.own, coverage)[:, 0]
        return found + self.slack

    def p_values(self, scores: np.ndarray) -> np.ndarray:
        """Return the share of calibration scores, counting a new one, that are as large as each score."""
        order = np.argsort(self.scores)
        mass = np.concatenate([[0.0], np.cumsum(self._mass[order])])
        below = mass[np.searchsorted(self.scores[order], scores - self.slack, side="left")]
        return (1.0 + mass[-1] - below) / (mass[-1] + 1.0)

    @property
    def _mass(self) -> np.ndarray:
        return np.ones(len(self.scores)) if self.mass is None else self.mass

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

    @property
    def reachable(self) -> float:
        """The share of right answers, by weight, that are default candidates: no larger coverage can be had."""
        return float(np.sum(self._mass[self.listed]) / np.sum(self._mass))

    def effective(self, default_candidates: bool) -> np.ndarray:
        """Return the scores, infinite for right answers that are not candidates."""
        return np.where(self.listed, self.scores, np.inf) if default_candidates else self.scores


def check_coverage(coverage: Any) -> float:
    """Return `coverage` as a number strictly between 0 and 1."""
    expected = "the probability that a set holds the right answer, between 0 and 1"
    return check_real(coverage, "coverage", 0, 1, expected=expected)


def right_answers(  # noqa: PLR0913
    decoder: Decoder,
    points: Array,
    outputs: Collection,
    source: str,
    origin: Array | None = None,
    groups: np.ndarray | None = None,
) -> Calibration:
    """Return the score of the right answer at each point, with a slack, and whether it is a default candidate."""
    scores = np.asarray(decoder.objective(points, outputs), dtype=float)
    listed = _listed(
        decoder.embedding_, outputs, left_out(np.arange(count(outputs)), groups) if source == LEFT_OUT else None
    )
    mass = None if groups is None else KnownPairs(len(scores), groups).mass(np.arange(len(scores)))
    some = decoder._given(take(outputs, np.arange(0, count(outputs), -(-count(outputs) // _SAMPLE))), "outputs")
    sizes = to_numpy(some.slack(like(decoder._points(points), some.features))) / ROUNDING
    slack = SLACK * float(np.median(sizes))
    return Calibration(scores, listed, source, decoder.support(points, origin), slack, mass)


def _listed(embedding: Embedding, outputs: Collection, leave_out: np.ndarray | LeftOut | None) -> np.ndarray:
    """Return True for each output that is among the fitted outputs, without those it leaves out, if the kernel sees it."""
    fitted, kernel = embedding.outputs_, embedding.kernel_
    first, group = distinct(fitted, kernel.key)
    seen = kernel.sees(take(fitted, first))
    seen = seen | ~seen.any()
    known = {_key(kernel, fitted, i): place for place, i in enumerate(first.tolist()) if seen[place]}
    places = np.asarray([known.get(_key(kernel, outputs, i), -1) for i in range(count(outputs))])
    if leave_out is None:
        return places >= 0
    owners = owners_of(group, len(first), leave_out)
    return (places >= 0) & (owners[places] != asked_of(leave_out))


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

    def sets(  # noqa: PLR0913
        self,
        decoder: Decoder,
        pool: Pool,
        calibration: Calibration,
        coverage: float,
        default: bool,
        parts: Iterable[Stratum],
    ) -> list[PredictionSet]:
        """Return, for each input, the candidates as good as the left-out pair in more than a share 1 − coverage of the fits."""
        shift = _products(decoder, self.own, pool) - _products(decoder, self.left_out, pool)
        score = _products(decoder, self.points, pool) - to_numpy(pool.offsets)
        right = calibration.effective(default) + calibration.slack
        order, best = pool.best(decoder._points(self.points), len(pool))
        found, weights = {}, to_numpy(self.weights)
        for part in parts:
            for i, own in zip(part.new.tolist(), part.own, strict=True):
                moved = left_out_shifts(weights[i], shift, self.groups)[part.known]
                agree = part.weights @ (right[part.known, None] >= moved - score[i])
                whole = float(np.sum(part.weights)) + own
                needed = (1.0 - coverage) * whole - own + 1e-9 * whole
                kept = agree[order[i]] > needed
                # an object that is not a candidate is as good as the right answers that are not
                any_object = default and float(part.weights[np.isinf(right[part.known])].sum()) > needed
                found[i] = PredictionSet(take(pool.objects, order[i][kept]), best[i][kept], any_object)
        return [found[i] for i in range(len(found))]


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
