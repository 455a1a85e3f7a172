"""Models of words that construct their outputs, compared with the kernels on pairs that neither has seen."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any, NamedTuple, Protocol

import numpy as np

from mercer.automatic.kinds import Kind
from mercer.automatic.leaderboard import Entry
from mercer.automatic.search import Clock, Effort
from mercer.core.arrays import NumericalWarning, to_numpy
from mercer.core.collections import Collection, as_objects, take
from mercer.decoders import Ranked
from mercer.learners.base import LearningProblem
from mercer.losses.base import Loss
from mercer.selection.folds import KFold
from mercer.sequence_models import AlignedSequences, Inflection
from mercer.sequence_models.answers import IN_FOLDS, answer_scores, answer_signs
from mercer.uncertainty import PredictionSet
from mercer.uncertainty.doubts import ScoredAnswers
from mercer.uncertainty.strata import KnownPairs

_EVERY = int(np.iinfo(np.int32).max)
_FOLDS = 3
_FEWEST = 12  # pairs, or groups of them, below which a comparison says little
_WORDS = ("strings", "sequences")


class WholeModel(Protocol):
    """A model from inputs to outputs, without points of a feature space between them."""

    def fit(self, X: Any, y: Any) -> Any:
        """Learn from pairs."""

    def predict(self, X: Any) -> Any:
        """Return an output for each input."""

    def rank(self, X: Any, k: int = 5) -> list[Ranked]:
        """Return the `k` best outputs for each input."""

    def calibrate(self, X: Any, y: Any, groups: Any = None) -> Any:
        """Take the scores of right answers from pairs that were not trained on."""

    def take_calibration(self, scores: np.ndarray, source: str, pairs: KnownPairs) -> None:
        """Keep the scores of right answers."""

    def predict_set(self, X: Any, coverage: float, by: Any = None, weights: Any = None) -> list[PredictionSet]:
        """Return a set for each input that holds the right output with probability `coverage`."""

    def abstention_score(self, X: Any) -> np.ndarray:
        """Return the uncertainty of each prediction."""


Fit = Callable[[Collection, Collection], WholeModel]
"""Learns from pairs."""


class Offer(NamedTuple):
    """A whole model that may be tried: its name, its class, and about the seconds that a pair takes to learn from."""

    name: str
    make: Callable[[], WholeModel]
    seconds: float

    def fit(self, X: Collection, y: Collection) -> WholeModel:
        """Return a model fitted on pairs."""
        return self.make().fit(X, y)


def offers(inputs: Kind, outputs: Kind, dictionary: bool = False) -> list[Offer]:
    """Return the whole models for inputs and outputs of these kinds; none where a `dictionary` of outputs is to be chosen from.

    Examples
    --------
    >>> [offer.name for offer in offers(Kind("lemmas with tags", ""), Kind("strings", ""))]
    ['edit scripts']
    """
    found: list[Offer] = []
    if dictionary:
        return found
    if inputs.name in _WORDS and outputs.name in _WORDS:
        # 800 Italian words took 11 seconds of one core, 200 took 3.3; other languages take up to twice as long
        found.append(Offer("aligned sequences", AlignedSequences, 0.015))
    if inputs.name in ("strings", "lemmas with tags") and outputs.name == "strings":
        found.append(Offer("edit scripts", Inflection, 0.02))
    return found


@dataclass
class WholeModels:
    """Compares whole models with a kernel ridge, each fitted on the same pairs and scored on the same others.

    The pairs are at most `Effort.pairs`, drawn at random and cut into three folds, of which `Effort.splits` are left out in turn.
    A model that would take longer than `Effort.patience` seconds to learn from all pairs, or than the time that is left, is not
    tried; models do not take sample weights, so none is tried with them. One that has a lower loss than the ridge is fitted on
    all pairs.

    Attributes
    ----------
    offers : list of Offer
        The models.
    effort, clock : Effort, Clock
        How much is tried, and the time.
    model : WholeModel or None
        The best, fitted on all pairs; None if the kernels are as good.
    scored : ScoredAnswers or None
        Its answers to pairs that were left out.
    entries : list of Entry
        Rows for the leaderboard.
    reason : str
        One sentence why.
    """

    offers: list[Offer]
    effort: Effort
    clock: Clock
    model: WholeModel | None = None
    scored: ScoredAnswers | None = None
    entries: list[Entry] = field(default_factory=list)
    reason: str = ""

    def compare(self, rival: Fit, problem: LearningProblem, loss: Loss) -> None:
        """Compare the models with `rival`, and fit the best on all pairs if it is better."""
        units = problem.size if problem.groups is None else len(np.unique(problem.groups))
        if not self.offers or units < _FEWEST or problem.sample_weight is not None:
            return
        tried = [offer for offer in self.offers if not self._too_long(offer, problem.size)]
        late = [offer.name for offer in self.offers if offer not in tried]
        splits = self._splits(problem)
        losses = {"the best kernel": left_out_losses(rival, problem, loss, splits)} if tried else {}
        answers: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
        for offer in tried:
            start = monotonic()
            try:
                own = losses[offer.name] = left_out_losses(
                    offer.fit, problem, loss, splits, answers.setdefault(offer.name, [])
                )
            except (TypeError, ValueError, MemoryError, np.linalg.LinAlgError) as error:
                warnings.warn(f"{offer.name} were left out: {error}", NumericalWarning, stacklevel=2)
                continue
            about = float(np.std(own, ddof=1) / np.sqrt(len(own)))
            self.entries.append(Entry(offer.name, "", None, float(np.mean(own)), about, monotonic() - start, 0.0))
        # of equal losses the kernel, which comes first
        best = min(losses, key=lambda name: float(np.mean(losses[name])), default="")
        for offer in tried:
            if offer.name == best:
                self.model = offer.fit(problem.inputs, problem.outputs)
                right, signs = (np.concatenate(parts) for parts in zip(*answers[best], strict=True))
                known = _left_out_pairs(problem, splits)
                self.model.take_calibration(right, IN_FOLDS, known)
                rows = np.concatenate([held_out for _, held_out in splits])
                groups = rows if known.groups is None else known.groups
                self.scored = ScoredAnswers(signs, losses[best], rows, groups, held_out=False)
        self.reason = _reason({name: float(np.mean(own)) for name, own in losses.items()}, best, loss, late)
        self.entries = [replace(entry, weight=float(entry.learner == best)) for entry in self.entries]

    def _too_long(self, offer: Offer, n: int) -> bool:
        compared = min(n, self.effort.pairs) * self.effort.splits * (_FOLDS - 1) / _FOLDS
        left = np.inf if self.clock.limit is None else self.clock.limit - self.clock.elapsed
        return offer.seconds * n > self.effort.patience or offer.seconds * (n + compared) > left

    def _splits(self, problem: LearningProblem) -> list[tuple[np.ndarray, np.ndarray]]:
        """The pairs to learn from and to leave out; groups stay together."""
        rows = np.sort(np.random.default_rng(0).permutation(problem.size)[: self.effort.pairs])
        groups = None if problem.groups is None else problem.groups[rows]
        folds = KFold(_FOLDS, random_state=0).splits(len(rows), groups)[: self.effort.splits]
        return [(rows[train], rows[held_out]) for train, held_out in folds]


def left_out_losses(
    fit: Fit,
    problem: LearningProblem,
    loss: Loss,
    splits: list[tuple[np.ndarray, np.ndarray]],
    answers: list[tuple[np.ndarray, np.ndarray]] | None = None,
) -> np.ndarray:
    """Return the loss of each pair that is left out, by a fit on those that are not.

    Scores of right answers, and signs of doubt about those given, are put in `answers`.
    """
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit on all pairs says what there is to say
        for train, held_out in splits:
            model = fit(take(problem.inputs, train), take(problem.outputs, train))
            inputs, outputs = take(problem.inputs, held_out), take(problem.outputs, held_out)
            if answers is None:
                predicted = model.predict(inputs)
            else:
                ranked = model.rank(inputs, _EVERY)
                predicted = as_objects([each.objects[0] for each in ranked])
                answers.append((answer_scores(ranked, outputs), answer_signs(ranked)))
            found.append(to_numpy(loss.paired(outputs, predicted)).astype(float))
    return np.concatenate(found)


def _left_out_pairs(problem: LearningProblem, splits: list[tuple[np.ndarray, np.ndarray]]) -> KnownPairs:
    rows = np.concatenate([held_out for _, held_out in splits])
    groups = None if problem.groups is None else problem.groups[rows]
    return KnownPairs(len(rows), groups, take(problem.inputs, rows))


def _reason(losses: dict[str, float], best: str, loss: Loss, late: list[str]) -> str:
    found = []
    if losses:
        others = ", ".join(f"{value:.4g} by {name}" for name, value in losses.items() if name != best)
        found.append(f"{best}: {loss!r} is {losses[best]:.4g} for pairs left out" + f", {others}" * bool(others))
    if late:
        found.append(f"{' and '.join(late)} would take too long; raise effort or time_limit to try them")
    return "; ".join(found)
