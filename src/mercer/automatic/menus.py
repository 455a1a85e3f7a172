"""Learners that are tried beside the kernel ridges."""

from __future__ import annotations

from mercer.automatic.inputs import table_encoder
from mercer.automatic.kinds import Kind
from mercer.automatic.members import MOST_EXACT, Member
from mercer.automatic.outputs import OutputPlan
from mercer.automatic.search import Effort
from mercer.kernels import NormalScores, ZScores
from mercer.learners import (
    Forest,
    LearnedMetric,
    Learner,
    OnKernel,
    RelevantColumns,
    RelevantWords,
    Ridge,
    SmoothedCurves,
)
from mercer.learners.base import LearningProblem
from mercer.learners.relevance import output_features
from mercer.learners.words import MOST_FEATURES
from mercer.operators import Covariance

_PAIRS, _FEW = 2000, 500  # most pairs for which widths and metrics are found, and for which all of them are
_METRIC, _WIDTHS = 200, 80  # most columns of a metric, and most that have a width each
_RELEVANT = (
    (ZScores(), "standardised", "Gaussian"),
    (ZScores(), "standardised", "Laplacian"),
    (NormalScores(), "normal scores", "Gaussian"),
    (NormalScores(), "normal scores", "Laplacian"),
)
# in trials on training parts, a weight for each column left out better than a whole matrix on every table
_METRICS = ((ZScores(), "standardised", 2.0), (ZScores(), "standardised", 1.0), (NormalScores(), "normal scores", 1.0))
_EACH = 8  # most outputs that have widths of their own
_CURVE_KERNELS = 3
_POWERS = (1.0, 0.5)
_FORESTS = (("extra", 1.0, 1), ("random", 1 / 3, 1), ("extra", 0.5, 1), ("extra", 1 / 3, 3))


def other_learners(
    kinds: tuple[Kind, Kind], problem: LearningProblem, effort: Effort, seed: int, n_jobs: int | None
) -> list[tuple[str, Learner]]:
    """Return names and learners, in the order in which they are tried."""
    found: list[tuple[str, Learner]] = []
    # words are too many columns for trees, which rarely gain from them
    rows = ("vectors", "images", "table", *(["binary rows"] if effort.thorough else []))
    if kinds[0].name not in rows:
        return found
    encoder, columns = None, problem.inputs.shape[1]
    if kinds[0].name == "table":
        encoder = table_encoder(problem.inputs)
        columns = len(encoder.get_feature_names_out())
    for kind, share, leaf in _FORESTS[: effort.most_forests(problem.size * columns)]:
        trees = {"extra": "extra trees", "random": "random forest"}[kind]
        name = f"{trees}, {share:.2g} of the columns" if share < 1 else trees
        found.append((name, Forest(kind, effort.trees, share, leaf, seed, n_jobs, encoder)))
    # label sets are decoded from ridges without a mean output, and gain nothing from widths
    by_column = kinds[0].name == "vectors" and kinds[1].name != "label sets"
    return found + (column_learners(problem, effort) if by_column else [])


def column_learners(problem: LearningProblem, effort: Effort) -> list[tuple[str, Learner]]:
    """Return kernels that learn which columns matter, for vectors of few columns."""
    columns, few = problem.inputs.shape[1], effort.thorough or problem.size <= _FEW
    if problem.size > _PAIRS:
        return []
    widths = [
        (f"widths by column, {shape} + linear, {name}", RelevantColumns(encoding, shape))
        for encoding, name, shape in _RELEVANT[: effort.relevant if few else effort.relevant // 2]
        if columns <= _WIDTHS and output_features(problem) is not None
    ]
    several = problem.embedding.euclidean and 1 < problem.require_targets("widths").shape[1] <= _EACH
    if widths and few and several:
        widths += [
            (f"widths by column and output, {shape} + linear, {name}", RelevantColumns(encoding, shape, each=True))
            for encoding, name, shape in _RELEVANT[:2]
        ]
    metrics = [
        (f"learned metric, {name}, width {width:g}", LearnedMetric(encoding, width=width, diagonal=True))
        for encoding, name, width in _METRICS[: effort.metrics if few else 0]
        if columns <= _METRIC and problem.embedding.euclidean
    ]
    return [*widths, *metrics]


def word_learners(
    problem: LearningProblem, members: list[Member], plan: OutputPlan, effort: Effort
) -> list[tuple[str, Learner]]:
    """Return kernels that learn which words matter, with the alpha of the best member in units of the scale of the kernel."""
    ridges = [member for member in members if member.alpha is not None]
    if not ridges or problem.size > MOST_EXACT or output_features(problem, MOST_FEATURES) is None:
        return []
    best = min(ridges, key=lambda member: member.loss)
    assert best.alpha is not None
    alpha = "loo" if plan.by_squares else RelevantWords.SCALE * best.alpha / best.scale
    return [
        (f"words by relevance, power {power:g}", RelevantWords(power, alpha, plan.fit_intercept))
        for power in _POWERS[: 2 if effort.thorough else 1]
    ]


def curve_learners(problem: LearningProblem, members: list[Member]) -> list[tuple[str, Learner]]:
    """Return learners that know of neighbouring or related points of a curve, with the best kernels of the members."""
    ranked = sorted((member for member in members if member.alpha is not None), key=lambda member: member.loss)
    if not problem.embedding.euclidean:
        return []
    found: list[tuple[str, Learner]] = [
        (f"ridge, smoothed along the curve, {m.kernel}", OnKernel(m.build().ridge.kernel, SmoothedCurves()))
        for m in ranked[:_CURVE_KERNELS]
    ]
    for best in ranked[:1]:
        own = OnKernel(best.build().ridge.kernel, Ridge(Covariance()))
        found.append((f"ridge, covariance of the curve, {best.kernel}", own))
    return found
