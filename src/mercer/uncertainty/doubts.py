"""Doubts about answers: the loss to expect of each, and a mark for those likely to be wrong."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mercer.core.arrays import Array, to_numpy
from mercer.core.collections import Collection, concatenate, count, distinct, take
from mercer.decoders import Ranked
from mercer.decoders.base import best
from mercer.decoders.pool import LeftOut, left_out
from mercer.uncertainty.calibrated import CalibratedAnswers
from mercer.uncertainty.doubt_scale import FEWEST_LIMITED, SLACK, DoubtScale, ScoredAnswers
from mercer.uncertainty.nearest import nearest
from mercer.uncertainty.unlikeness import Unlikeness, unlikeness

_MOST, _MOST_CHOSEN = 1000, 400  # most known pairs that are answered, and that are among given candidates
_NEIGHBORS = 10


class Doubts(NamedTuple):
    """Doubts about the answers to some inputs.

    Attributes
    ----------
    expected_loss : array (q,)
        The loss to expect, learned from pairs that were not trained on.
    doubt : array (q,)
        The share of these pairs with less to expect; 1 for an input or an answer beyond all of them, NaN if they are too few.
    marked : array (q,) of bool
        True for a doubtful answer: one at the level from which the losses of these pairs are most clearly higher, or one
        beyond all of them, such as the answer to an input unlike all training inputs.
    """

    expected_loss: np.ndarray
    doubt: np.ndarray
    marked: np.ndarray


class DoubtAnswers(CalibratedAnswers):
    """Expected losses of answers, and marks of doubtful ones."""

    _doubt_scale_: DoubtScale | None = None
    _scored_answers_: ScoredAnswers | None = None
    _unlikeness_: Unlikeness | None = None

    def doubts(self, X: Any, candidates: Any = None, scale: DoubtScale | None = None) -> Doubts:
        """Return the loss to expect of each prediction, and mark the doubtful ones.

        It is learned from pairs that were not trained on: those given to `calibrate`, or training pairs left out in turn. Signs
        of doubt are the score of the answer and its lead over the second best (for a vector its distance from the mean
        output), the distance of the input from all training inputs, and the losses of the known pairs that are nearest to it;
        see `mercer.uncertainty.DoubtScale`. With fewer than 20 known pairs, only answers beyond all of them are marked, and
        with fewer than 8, answers to inputs that are as far from all of theirs as any two of these are from each other.

        Parameters
        ----------
        X : collection
            Inputs.
        candidates : collection, optional
            As for `predict`. With candidates of each input, or in blocks, only the inputs count.
        scale : DoubtScale, optional
            From `doubt_scale` with the same candidates, so that several calls do not compute it again.

        Examples
        --------
        >>> from mercer import DependencyEstimator
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(0, 4, (200, 1))
        >>> y = np.where(X[:, 0] < 3.5, X[:, 0], rng.uniform(0, 9, 200))  # nothing to learn beyond 3.5
        >>> model = DependencyEstimator(alpha=0.1).fit(X, y)
        >>> model.doubts([[1.0], [3.8], [99.0]]).marked.tolist()
        [False, True, True]
        """
        inputs, points = self._inputs_of(X), self._points_of(X)
        scale = self.doubt_scale(candidates) if scale is None else scale
        signs = self._signs_at(inputs, points, candidates) if scale.by_answers else np.empty((count(inputs), 0))
        signs = np.concatenate([signs, self._surroundings(inputs, scale.scored)], axis=1)
        expected, new = scale.expected_losses(signs), scale.beyond(signs) | self._foreign(inputs)
        doubt = np.where(new, 1.0, scale.shares(expected))
        return Doubts(expected, doubt, new | (expected >= scale.level))

    def doubt_scale(self, candidates: Any = None) -> DoubtScale:
        """Return the expected losses of answers among some candidates, from pairs that were not trained on."""
        if candidates is None:
            if self._doubt_scale_ is None:
                # threads may compute it at the same time: the result is the same, and is assigned once it is complete
                self._doubt_scale_ = self._scale_of(self._scored(), True)
            return self._doubt_scale_
        by_answers = self._for_all(candidates)
        return self._scale_of(self._scored_among(candidates) if by_answers else self._scored(), by_answers)

    # -- defined by the estimator ----------------------------------------------------------------------------

    def _for_all(self, candidates: Any) -> bool:
        """True for one collection of candidates for all inputs, in memory."""
        raise TypeError(f"{type(self).__name__} must define _for_all(candidates)")

    def _best_two(self, inputs: Collection | None, points: Array, candidates: Any) -> list[Ranked]:
        """The two best of the candidates for each input."""
        return self._rank(points, 2, candidates)[0]

    def _foreign(self, inputs: Collection) -> np.ndarray:
        """True for inputs that the model cannot know anything about."""
        return np.zeros(count(inputs), dtype=bool)

    # -- answers to known pairs ---------------------------------------------------------------------------------

    def _scored(self) -> ScoredAnswers:
        """Answers to pairs held out, or to training pairs left out in turn."""
        if self._scored_answers_ is None:
            points, outputs, rows, groups = self._some_known(_MOST)
            held_out = self._held_out_ is not None
            leave_out = None if held_out else left_out(rows, self._groups_left_out)
            answers = self.decoder_.decode(points, leave_out)
            signs = self._signs_of(points, answers, leave_out)
            losses = to_numpy(self.loss_.paired(outputs, answers)).astype(float)
            self._scored_answers_ = ScoredAnswers(signs, losses, rows, groups, held_out)
        return self._scored_answers_

    def _scored_among(self, candidates: Any) -> ScoredAnswers:
        """Answers to some of these pairs among given candidates, to which their right answers are added."""
        points, outputs, rows, groups = self._some_known(_MOST_CHOSEN)
        every = concatenate(self._codec.encode(candidates, self.output_kernel_, "candidates"), outputs)
        every = take(every, distinct(every, self.output_kernel_.key)[0])
        held_out, inputs = self._held_out_ is not None, self._known_pairs(True).inputs
        ranked = self._best_two(None if inputs is None else take(inputs, rows), points, self._codec.decode(every))
        losses = to_numpy(self.loss_.paired(outputs, best(ranked))).astype(float)
        return ScoredAnswers(signs_of(ranked), losses, rows, groups, held_out)

    def _some_known(self, most: int) -> tuple[Array, Collection, np.ndarray, np.ndarray]:
        """Points, outputs, positions and groups of at most so many pairs that were not trained on."""
        points, outputs = self._known_answers()
        groups, n = self._known_pairs(True).groups, count(outputs)
        rows = np.sort(np.random.default_rng(0).permutation(n)[:most])
        return take(points, rows), take(outputs, rows), rows, rows if groups is None else groups[rows]

    def _scale_of(self, scored: ScoredAnswers, by_answers: bool) -> DoubtScale:
        signs = scored.signs if by_answers else scored.signs[:, :0]
        inputs = self._inputs_of_scored(scored)
        if inputs is not None:
            signs = np.concatenate([signs, self._surroundings(inputs, scored, among=True)], axis=1)
        scale = DoubtScale.fitted(signs, scored, by_answers)
        if by_answers and scored.signs.shape[1] == 1:
            scale.limits[0] = np.inf  # a vector far from the mean may be right
        if inputs is not None and self._unlikeness_ is not None and len(scored.rows) < FEWEST_LIMITED:
            farthest = self._unlikeness_.of_two(inputs)  # as far from all inputs as these are from each other
            scale.limits[-2] = farthest - SLACK * abs(farthest)
        return scale

    def _inputs_of_scored(self, scored: ScoredAnswers) -> Collection | None:
        inputs = self._held_inputs_ if scored.held_out else self._inputs
        return None if inputs is None or self._inputs is None else take(inputs, scored.rows)

    # -- signs of doubt -----------------------------------------------------------------------------------------

    def _signs_at(self, inputs: Collection, points: Array, candidates: Any) -> np.ndarray:
        if candidates is not None:
            return signs_of(self._best_two(inputs, points, candidates))
        return self._signs_of(points, self.decoder_.decode(points))

    def _signs_of(
        self, points: Array, answers: Collection, leave_out: np.ndarray | LeftOut | None = None
    ) -> np.ndarray:
        if self._codec.row_shape is not None:
            rows, known = (to_numpy(each).reshape(count(each), -1) for each in (answers, self.embedding_.outputs_))
            known = known[: self.embedding_.paired_]
            spread = np.nanstd(known, axis=0)
            away = (rows - np.nanmean(known, axis=0)) / np.where(spread > 0, spread, 1.0)
            return np.mean(away**2, axis=1)[:, None]
        ranked = self.decoder_.rank(points, 2, leave_out)
        unfit = np.asarray(self.decoder_.objective(points, answers), dtype=float)
        return np.column_stack([unfit, signs_of(ranked)[:, 1]])

    def _surroundings(self, inputs: Collection, scored: ScoredAnswers, among: bool = False) -> np.ndarray:
        """Return the signs of inputs (q, 2): how unlike training inputs they are, and the mean loss of the nearest scored pairs.

        Inputs `among` the scored pairs are those of the pairs, and each is compared with those of other groups.
        """
        training, known = self._inputs, self._inputs_of_scored(scored)
        if training is None or known is None:
            return np.empty((count(inputs), 0))
        apart: tuple[Any, Any] = (None, None)
        if among and not scored.held_out:
            groups = self._groups_left_out
            owners = np.arange(count(training)) if groups is None else groups
            apart = (owners[scored.rows], owners)
        unlike = self._unlikeness_ = self._unlikeness_ or unlikeness(self.input_kernel_, training)
        others = (scored.groups, scored.groups) if among else (None, None)
        _, near = nearest(unlike.kernel, inputs, known, _NEIGHBORS, *others)
        return np.column_stack([unlike.of(inputs, training, *apart), scored.losses[near].mean(axis=1)])


def signs_of(ranked: list[Ranked]) -> np.ndarray:
    """Return minus the score of the best answer, and minus its lead over the second, for each input.

    The lead of an answer without a rival is infinite, and that of an impossible answer is zero.

    Examples
    --------
    >>> alone = Ranked(np.array(["a"]), np.array([0.5]))
    >>> signs_of([Ranked(np.array(["a", "b"]), np.array([0.7, 0.4])), alone]).round(2).tolist()
    [[-0.7, -0.3], [-0.5, -inf]]
    """
    scores = [np.append(found.scores[:2], [-np.inf, -np.inf])[:2] for found in ranked]
    first, second = np.asarray(scores, dtype=float).reshape(-1, 2).T
    with np.errstate(invalid="ignore"):
        lead = np.where(np.isfinite(first), first - second, 0.0)
    return np.column_stack([-first, -lead])
