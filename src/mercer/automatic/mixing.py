"""The mixture of the members of a search."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.stats import rankdata

from mercer.automatic.members import MEAN, Member, Scorer
from mercer.core.arrays import to_numpy
from mercer.core.collections import take
from mercer.learners.mixture import feature_residuals
from mercer.selection.mixing import Mixing, check_folds, mix_by_loss, mix_by_squares, supported_share

_NUMBERS = 5e7  # most left-out residuals that are mixed at once
_NONE, _PLENTY = 1.5, 4.0  # evidence of a gain over the mean output, in standard deviations, that is none and enough
_GREEDY = 12  # most members a decoded loss is mixed from


def mixture_of(members: list[Member], scorer: Scorer) -> tuple[Mixing, list[Member]]:
    """Return the weights of the members worth mixing, and these members; drawn to the mean output where little was gained."""
    mixing, kept = _found(members, scorer)
    mean = next((member for member in members if member.learner == MEAN), None)
    if mean is None:
        return mixing, kept
    share = _share(mean, mixing, kept, scorer)
    weights = share * mixing.weights
    if mean not in kept:
        kept, weights = [*kept, mean], np.concatenate([weights, np.zeros((1, *weights.shape[1:]))])
    weights[kept.index(mean)] += 1.0 - share
    return replace(mixing, weights=weights), kept


def _share(mean: Member, mixing: Mixing, kept: list[Member], scorer: Scorer) -> float:
    """The share of the way from the mean output to the mixture that left-out pairs support, by the better of two tests."""
    problem, shares = scorer.problem, [0.0]
    if mean.loss > mixing.checked[mixing.rule]:
        mixed = scorer.score(mixing.apply([member.points for member in kept]))
        shares.append((_evidence(mean.losses - mixed) - _NONE) / (_PLENTY - _NONE))
    if mixing.residuals is not None:  # of few pairs, signed ranks cannot tell a large gain from a small one
        rows, plain = scorer.rows, _residuals([mean.points[scorer.rows]], scorer)
        own = (None if each is None else each[rows] for each in (problem.sample_weight, problem.groups))
        assert plain is not None
        shares.append(supported_share(plain[0], mixing.residuals, *own))
    return min(1.0, max(shares))


def _evidence(gains: np.ndarray) -> float:
    """The signed-rank statistic of gains, in standard deviations; a few large ones do not decide."""
    ranks = rankdata(np.abs(gains)) * (gains != 0)
    spread = float(np.sqrt(np.sum(ranks**2)))
    return float(np.sum(np.sign(gains) * ranks)) / spread if spread > 0 else 0.0


def _found(members: list[Member], scorer: Scorer) -> tuple[Mixing, list[Member]]:
    problem, ranked = scorer.problem, sorted(members, key=lambda member: member.loss)
    folds = check_folds(problem.size, problem.groups)
    if scorer.by_squares:
        most = max(2, int(_NUMBERS // max(1, ranked[0].points.size)))
        kept = ranked[:most]
        residuals = np.stack([member.points for member in kept]) - to_numpy(problem.targets)
        return mix_by_squares(residuals, folds, problem.sample_weight), kept
    rows = scorer.rows
    kept = ranked[: min(_GREEDY, max(3, int(2 * _NUMBERS // (len(rows) * ranked[0].points.shape[1]))))]
    points = [member.points[rows] for member in kept]

    def loss(mixed: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        return scorer.mixed_losses(mixed, rows[chosen])

    residuals = _residuals(points, scorer)
    return mix_by_loss(loss, [scorer.mixable(own) for own in points], folds[rows], residuals), kept


def _residuals(points: list[np.ndarray], scorer: Scorer) -> np.ndarray | None:
    """Return what left-out points leave of the outputs that are compared, in coordinates of their feature space."""
    problem, rows = scorer.problem, scorer.rows
    some = replace(problem, outputs=take(problem.outputs, rows), targets=to_numpy(problem.targets)[rows])
    return feature_residuals(some, points)
