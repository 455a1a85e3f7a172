"""Members of a mixture: learners fitted on all pairs, with what they predict for each pair without it."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer.automatic.outputs import OutputPlan, Way
from mercer.core.arrays import cached_property, to_numpy
from mercer.core.collections import take, to_backend_of
from mercer.decoders.base import Decoder
from mercer.decoders.pool import left_out
from mercer.kernels.base import Kernel
from mercer.learners.base import FittedMap, Learner, LearningProblem
from mercer.learners.ridge import FittedRidge, best_of_each
from mercer.solvers import Auto, Exact, LowRank, RidgePath, RidgeProblem, Solver
from mercer.solvers.kernel_values import check_finite

MEAN = "mean output"
"""Name of the member that predicts the mean output for every input."""
MOST_EXACT = 6000
"""Most pairs whose Gram matrices are decomposed; with more, kernels have low rank."""
RANK = 1500
"""The rank of kernels then."""
_START, _LOWEST, _HIGHEST = (
    -1.0,
    -6.0,
    3.0,
)  # powers of ten of alpha for decoded losses: the first, the least, the largest
MOST_DECODED = 3000
"""Most pairs on which decoded losses are compared."""
_TIE = 1e-6  # weight of the loss with the own output among the candidates, where all left-out losses are equal
_POOLS = 2e8  # most numbers that compare the outputs in every way to decode, to be kept during the search
_HELD = 3e7  # most numbers that coefficients of one member may have to be kept during the search


@dataclass(eq=False)
class Member:
    """A fitted learner, and its left-out points and losses.

    Attributes
    ----------
    learner, kernel : str
        Names, as in the leaderboard.
    alpha : float or None
        The alpha in use, of several coordinates their geometric mean.
    points : array (n, r)
        The point of each pair without it.
    losses : array (n,)
        The loss of each pair at these points.
    seconds : float
        Time it took.
    build : callable
        Gives the fitted map.
    scale : float
        The mean eigenvalue of the kernel, the unit of alpha.
    """

    learner: str
    kernel: str
    alpha: float | None
    points: np.ndarray
    losses: np.ndarray
    seconds: float
    build: Any
    scale: float = 1.0

    @property
    def loss(self) -> float:
        """The mean left-out loss."""
        return float(np.mean(self.losses))

    @property
    def error(self) -> float:
        """Its standard error."""
        return float(np.std(self.losses, ddof=1) / np.sqrt(len(self.losses)))


@dataclass
class Scorer:
    """Losses of left-out points, by distance or decoded.

    Attributes
    ----------
    problem : LearningProblem
        The pairs.
    plan : OutputPlan
        The loss that is scored, and ways to decode.
    own : bool
        True to keep the output of each pair among the candidates, without weight, as for candidates that a user gives.
    way : Way
        The way to decode that is in use; at first that of the plan that comes first.
    decoder : Decoder
        Its decoder, fitted on all outputs.
    """

    problem: LearningProblem
    plan: OutputPlan
    own: bool = False
    way: Way = field(init=False)
    decoder: Decoder = field(init=False)
    _decoders: dict[str, Decoder] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.use(self.plan.ways[0])

    @property
    def by_squares(self) -> bool:
        """True if the loss is the squared distance of coordinates."""
        return self.plan.by_squares

    def use(self, way: Way) -> None:
        """Decode in this way from now on."""
        decoder = self._decoders.get(way.name) or self._decoder_of(way)
        self.way, self.decoder = way, decoder
        if len(self.plan.ways) * to_numpy(self.problem.targets).shape[1] ** 2 <= _POOLS:
            self._decoders[way.name] = decoder

    def settle(self, points: np.ndarray) -> float:
        """Decode in the way of least loss at the left-out points of the pairs that are compared; return that loss."""
        known: dict[Any, np.ndarray] = {}  # ways that differ in the strength of a decoder share its scores
        losses = []
        for way in self.plan.ways:
            self.use(way)
            own = type(way.decoder), repr(way.kernel)
            if own not in known:
                known[own] = self.mixable(points)
            losses.append(float(np.mean(self.mixed_losses(known[own], self.rows))))
        self.use(self.plan.ways[int(np.argmin(losses))])
        return min(losses)

    def _decoder_of(self, way: Way) -> Decoder:
        if self.by_squares:
            return self.problem.decoder
        embedding = self.problem.embedding
        if way.kernel != embedding.kernel_:
            kernel = way.kernel if way.kernel.is_resolved else way.kernel.resolve(embedding.outputs_)
            embedding = clone(embedding).fit(kernel, embedding.outputs_, embedding.paired_)
        return clone(way.decoder).fit(embedding, self.plan.loss)

    @cached_property
    def rows(self) -> np.ndarray:
        """The pairs on which losses are compared: all, or a random choice of many where points are decoded."""
        n = self.problem.size
        if self.by_squares or n <= MOST_DECODED:
            return np.arange(n)
        return np.sort(np.random.default_rng(0).choice(n, MOST_DECODED, replace=False))

    def score(self, points: np.ndarray) -> np.ndarray:
        """Return the loss of each of the pairs that are compared, from the points of all pairs."""
        return self.losses(points[self.rows], self.rows)

    def mixable(self, points: np.ndarray) -> np.ndarray:
        """Return what decides a loss and is mixed as points are: scores of candidates where these are compared, else points."""
        compares = not self.by_squares and self.decoder.compares
        return to_numpy(self.decoder.scores(to_backend_of(self.problem.outputs, points))) if compares else points

    def losses(self, points: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return the weighted loss of each pair at `rows`, from their points."""
        return self.mixed_losses(self.mixable(points), rows)

    def mixed_losses(self, points: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return the weighted loss of each pair at `rows`, from what is `mixable`."""
        problem = self.problem
        if self.by_squares:
            found = np.sum((points - to_numpy(problem.targets)[rows]) ** 2, axis=1)
        else:
            outputs, decoder, loss = take(problem.outputs, rows), self.decoder, self.plan.loss
            points = to_backend_of(outputs, points)
            if decoder.needs_left_out_points and not decoder.compares:
                decoder = copy(decoder).calibrate(points)
            decode = decoder.decode_scores if decoder.compares else decoder.decode
            leave_out = None if self.own else left_out(rows, problem.groups)
            found = to_numpy(loss.paired(outputs, decode(points, leave_out=leave_out)))
            if np.ptp(found) == 0.0:
                # an output that occurs once is never right without its pair; as a candidate without weight it may be
                found = found + _TIE * to_numpy(loss.paired(outputs, decode(points)))
        if problem.sample_weight is None:
            return found
        return found * (problem.sample_weight[rows] / np.mean(problem.sample_weight))


def ridge_member(name: str, kernel: Kernel, scorer: Scorer, known: dict[str, Any], components: bool = False) -> Member:
    """Fit a kernel ridge for every alpha from one decomposition, and keep the best alpha.

    If losses add up it is that of each coordinate, or of each principal component of the outputs (`components`).
    """
    start, problem = monotonic(), replace(scorer.problem, kernel=kernel)
    ridge = problem.ridge(problem.require_targets("a mixture"), scorer.plan.fit_intercept)
    path = ridge_path(ridge, known)
    if scorer.by_squares:
        best = best_of_each(path, ridge, _solver(path), components)
        alpha, points, fitted = best.alpha, to_numpy(best.left_out_points()), lambda: best
    else:
        alpha, points, fitted = _by_decoding(path, ridge, scorer, known)
    losses = scorer.score(points)
    seconds = monotonic() - start
    return Member("ridge", name, alpha, points, losses, seconds, fitted, path.scale or 1.0)


def ridge_path(ridge: RidgeProblem, known: dict[str, Any]) -> RidgePath:
    """Decompose the Gram matrix, from distances that are known if there are some; features and low rank where they are less."""
    features = ridge.kernel.feature_map(ridge.inputs)
    if features is not None and features.dimension < ridge.size:
        return Auto().factorize(ridge)  # type: ignore[return-value]
    if ridge.size > MOST_EXACT:
        return LowRank(RANK).factorize(ridge)  # type: ignore[return-value]
    gram = ridge.kernel.shared_gram(ridge.inputs, known)
    check_finite(gram, ridge.kernel, "input")
    spectrum = ridge.decompose(ridge.scale_gram(gram), f"the input Gram matrix of {ridge.kernel!r}")
    return RidgePath.of(ridge, spectrum, ridge.basis())


def _by_decoding(
    path: RidgePath, ridge: RidgeProblem, scorer: Scorer, known: dict[str, Any]
) -> tuple[float, np.ndarray, Any]:
    """The one alpha of least loss of decoded left-out points; the search begins where that of the last kernel ended."""
    scale = path.scale or 1.0

    def points_at(decade: float) -> np.ndarray:
        return to_numpy(path.some_left_out_points(scale * 10.0**decade, scorer.rows))

    def loss(decade: float) -> float:
        return float(np.mean(scorer.losses(points_at(decade), scorer.rows)))

    if "decade" in known or len(scorer.plan.ways) == 1:
        decade = best_decade(loss, known.get("decade", _START))
    else:  # the first kernel tells how to decode: some ways take more smoothing than others
        decade = best_decade(lambda own: scorer.settle(points_at(own)), _START)
        scorer.settle(points_at(decade))
    known["decade"] = decade
    alpha = scale * 10.0**decade
    points = to_numpy(path.left_out_points(alpha))
    if points.size > _HELD:
        points = points.astype(np.float32)
        return alpha, points, lambda: _solved(ridge, alpha, points)
    parts = (path.basis, *path.coefficients(alpha), ridge, _solver(path), alpha)
    fitted = FittedRidge(*parts, {"alpha_": alpha}, True, points)
    return alpha, points, lambda: fitted


def best_decade(loss: Callable[[float], float], start: float) -> float:
    """Return the power of ten of least loss, found by steps of one and then of a half; the largest of equals.

    Examples
    --------
    >>> best_decade(lambda decade: (decade - 1.4) ** 2, -1.0)
    1.5
    """
    losses = {decade: loss(decade) for decade in (start - 1.0, start, start + 1.0)}

    def best() -> float:
        return min(losses, key=lambda decade: (losses[decade], -decade))

    for step in (1.0, -1.0):
        while (
            best() in (max(losses), min(losses))
            and _LOWEST <= best() + step <= _HIGHEST
            and best() + step not in losses
        ):
            losses[best() + step] = loss(best() + step)
    centre = best()
    for step in (0.5, -0.5):
        losses[centre + step] = loss(centre + step)
    return best()


def _solver(path: RidgePath) -> Solver:
    """The solver that has the same result."""
    return LowRank(RANK) if path.spectrum.pivots is not None else Exact()


def _solved(ridge: RidgeProblem, alpha: float, points: np.ndarray) -> FittedRidge:
    """Solve again for one alpha, where the coefficients of all members would not fit in memory."""
    problem = replace(ridge, alpha=alpha)
    solver = LowRank(RANK) if ridge.size > MOST_EXACT else Auto().choose(problem).part
    found = solver.factorize(problem).map(alpha)
    return FittedRidge(
        found.basis, found.coefficients, found.intercept, ridge, solver, alpha, {"alpha_": alpha}, True, points
    )


def learner_member(name: str, learner: Learner, kernel: str, scorer: Scorer) -> Member:
    """Fit any learner, and leave pairs out in its own way."""
    start = monotonic()
    fitted: FittedMap = learner.fit(scorer.problem)
    points = to_numpy(fitted.left_out_points())
    losses = scorer.score(points)
    return Member(name, kernel, None, points, losses, monotonic() - start, lambda: fitted)
