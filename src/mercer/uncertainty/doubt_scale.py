"""Expected losses of answers, learned from signs of doubt of pairs that were not trained on."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls
from sklearn.isotonic import isotonic_regression

FEWEST = 20
"""Fewest pairs from which expected losses are learned."""
FEWEST_LIMITED = 8
"""Fewest pairs from which a limit of each sign is learned."""
SLACK = 1e-9
"""Relative difference of expected losses, or distances, that counts as a tie."""
ONE_OF = 1000
"""Ordinary answers of which one is beyond the limit of a sign."""
_FOLDS = 5


class LevelRule(NamedTuple):
    """The rule that sets the level from which answers are doubtful; ``python -m experiments reproduce doubts`` compares some.

    With 1.5 standard errors in place of 2, marks go with losses about as well (a correlation of .27 in place of .25, on training
    parts of sixteen data sets), but where signs say nothing, a level is found three times as often.

    Attributes
    ----------
    clearly : float
        Standard errors by which the mean loss of the pairs at the level or above exceeds that of the others.
    least, most : floats
        Shares of known pairs that may reach it.
    fewest : int
        Fewest pairs that may.
    """

    clearly: float = 2.0
    least: float = 0.02
    most: float = 0.2
    fewest: int = 4


RULE = LevelRule()


class ScoredAnswers(NamedTuple):
    """Answers of a model to pairs that it was not trained on.

    Attributes
    ----------
    signs : array (m, s)
        Signs of doubt of each answer; see `mercer.uncertainty.doubts.signs_of`.
    losses : array (m,)
        Their losses.
    rows : int array (m,)
        Positions of the pairs among those held out, or among the training pairs.
    groups : array (m,)
        The group of each pair, a number of its own for a pair without one.
    held_out : bool
        Whether the pairs were held out.
    """

    signs: np.ndarray
    losses: np.ndarray
    rows: np.ndarray
    groups: np.ndarray
    held_out: bool


@dataclass
class DoubtScale:
    r"""Expected losses by signs of doubt, and the level from which an answer is doubtful.

    A sign is a number that may grow with the loss, such as the distance of an input from all training inputs. Each sign has an
    increasing curve (isotonic regression, with straight lines between the centres of its steps), and the expected loss is

    .. math:: \ell(x) = \beta_0 + \sum_s \beta_s \ell_s(x), \qquad \beta \ge 0,

    with weights by least squares on curves of other folds, so that a sign that says nothing has no weight. The level is the one
    from which losses are higher than those of the rest by most standard errors, among levels that 2 to 20 of 100 known pairs
    reach. It is infinite, so that nothing is marked, if these are fewer than 2. An answer with a sign beyond that of every
    known pair is doubtful in any case.

    Attributes
    ----------
    scored : ScoredAnswers
        The answers it was learned from.
    curves : list of pairs of arrays
        Values of a sign, and the losses there.
    weights : array
        Those of the curves, then that of a constant, the mean loss.
    known : array (m,)
        Expected losses of the known pairs.
    level : float
        The expected loss from which an answer is doubtful.
    mean, marked, others : floats
        Mean loss of the known pairs, of those from the level on, and of the others.
    limits : array
        For each sign a value beyond that of every known pair: their largest, whose distance from the median is stretched to
        that of the largest of 1000, :math:`\log 1000 / \log m` times as far if the tail is exponential; infinite for fewer than
        8 pairs.
    by_answers : bool
        Whether the first signs are those of answers, and not of inputs alone.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> hard = np.arange(200) % 10 == 0
    >>> signs = np.stack([hard + rng.uniform(0, 0.5, 200), rng.uniform(size=200)], axis=1)
    >>> pairs = np.arange(200)
    >>> scale = DoubtScale.fitted(signs, ScoredAnswers(signs, np.where(hard, 1.0, 0.1), pairs, pairs, held_out=True))
    >>> scale.expected_losses(np.array([[1.2, 0.5], [0.2, 0.5]])).round(2).tolist()
    [0.96, 0.1]
    >>> scale.marked, round(scale.others, 3)
    (1.0, 0.1)
    """

    scored: ScoredAnswers
    curves: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)
    weights: np.ndarray = field(default_factory=lambda: np.zeros(0))
    known: np.ndarray = field(default_factory=lambda: np.zeros(0))
    level: float = np.inf
    mean: float = np.nan
    marked: float = np.nan
    others: float = np.nan
    limits: np.ndarray = field(default_factory=lambda: np.zeros(0))
    by_answers: bool = True

    @classmethod
    def fitted(cls, signs: np.ndarray, scored: ScoredAnswers, by_answers: bool = True) -> DoubtScale:
        """Learn from the signs (m, s) of scored answers, of 20 pairs or more; those of a group are in one fold."""
        signs, losses = _finite(signs), scored.losses
        units = np.unique(scored.groups, return_inverse=True)[1]
        if len(np.unique(units)) < FEWEST or signs.shape[1] == 0:
            return cls(
                scored, mean=float(np.mean(losses)), limits=_limits(signs, len(np.unique(units))), by_answers=by_answers
            )
        columns, mean = range(signs.shape[1]), float(np.mean(losses))
        apart = np.empty(signs.shape)
        for train, held_out in _folds(units):
            for j in columns:
                curve = _curve(signs[train, j], losses[train])
                apart[held_out, j] = np.interp(signs[held_out, j], *curve)
        design = np.column_stack([apart, np.full(len(losses), mean)])
        weights = nnls(design, losses)[0]
        expected = design @ weights
        level, marked = doubtful_level(expected, losses)
        return cls(
            scored,
            [_curve(signs[:, j], losses) for j in columns],
            weights,
            expected,
            level,
            mean,
            float(np.mean(losses[marked])) if marked.any() else np.nan,
            float(np.mean(losses[~marked])),
            _limits(signs, len(np.unique(units))),
            by_answers,
        )

    def expected_losses(self, signs: np.ndarray) -> np.ndarray:
        """Return the expected loss of each row of signs; the mean loss of all known pairs if nothing was learned."""
        if not self.curves:
            return np.full(len(signs), self.mean)
        curves = [np.interp(signs[:, j], *curve) for j, curve in enumerate(self.curves)]
        return np.column_stack([*curves, np.full(len(signs), self.mean)]) @ self.weights

    def beyond(self, signs: np.ndarray) -> np.ndarray:
        """Return True for each row with a sign beyond those of all known pairs, or an infinite one."""
        return np.any((signs > self.limits) | np.isposinf(signs), axis=1)

    def shares(self, expected: np.ndarray) -> np.ndarray:
        """Return the share of known pairs with a smaller expected loss, ties counting half; NaN if nothing was learned."""
        if not len(self.known):
            return np.full(len(expected), np.nan)
        known, slack = np.sort(self.known), SLACK * float(np.max(np.abs(self.known)))
        below = np.searchsorted(known, expected - slack, side="left")
        return (below + np.searchsorted(known, expected + slack, side="right")) / (2.0 * len(known))


def _finite(signs: np.ndarray) -> np.ndarray:
    """Signs in which infinite ones are as large as any other of their column."""
    known = np.where(np.isfinite(signs), signs, np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of a column without any finite sign
        low, high = (np.nan_to_num(end(known, axis=0)) for end in (np.nanmin, np.nanmax))
    return np.clip(np.nan_to_num(signs, nan=0.0), low, high) if len(signs) else signs


def _limits(signs: np.ndarray, units: int) -> np.ndarray:
    """The limit of each sign by its largest value of so many units, its distance from the median stretched to that of 1000."""
    if units < FEWEST_LIMITED:
        return np.full(signs.shape[1], np.inf)
    top, farther = np.max(signs, axis=0), max(0.0, np.log(ONE_OF) / np.log(units) - 1.0)
    return top + farther * (top - np.median(signs, axis=0)) + SLACK * np.abs(top)


def _curve(sign: np.ndarray, losses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Increasing losses by a sign: the centre of each step of the isotonic regression, and its loss."""
    values, place, sizes = np.unique(sign, return_inverse=True, return_counts=True)
    steps = isotonic_regression(np.bincount(place, losses) / sizes, sample_weight=sizes)
    heights, step = np.unique(steps, return_inverse=True)
    return np.bincount(step, sizes * values) / np.bincount(step, sizes), heights


def _folds(units: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    fold = np.random.default_rng(0).permutation(int(units.max()) + 1) % _FOLDS
    for i in range(_FOLDS):
        held_out = fold[units] == i
        yield ~held_out, held_out


def doubtful_level(expected: np.ndarray, losses: np.ndarray, rule: LevelRule = RULE) -> tuple[float, np.ndarray]:
    """Return the level of expected losses from which losses are highest above the others, in standard errors; and who reaches it.

    Examples
    --------
    >>> losses = np.where(np.arange(100) < 10, 1.0, 0.1)
    >>> level, marked = doubtful_level(losses + 0.01 * np.arange(100) % 0.05, losses)
    >>> round(level, 2), int(np.count_nonzero(marked))
    (1.0, 10)
    """
    slack = SLACK * float(np.max(np.abs(expected)))
    best, level, marked = rule.clearly, np.inf, np.zeros(len(expected), dtype=bool)
    for value in np.unique(expected) - slack:
        own = expected >= value
        few = int(np.count_nonzero(own))
        if rule.least * len(own) <= few <= rule.most * len(own) and few >= rule.fewest:
            gap = np.mean(losses[own]) - np.mean(losses[~own])
            error = np.sqrt(np.var(losses[own]) / few + np.var(losses[~own]) / (len(own) - few))
            if gap > best * error:
                best, level, marked = gap / error if error > 0 else np.inf, float(value), own
    return level, marked
