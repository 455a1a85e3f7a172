"""The estimator that needs no more than a loss."""

from __future__ import annotations

import re
from copy import copy
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import ClassifierTags, Tags
from sklearn.utils.validation import check_is_fitted

from mercer.automatic.inputs import families, source_kernel
from mercer.automatic.kinds import Kind, kind_of_inputs, kind_of_outputs
from mercer.automatic.leaderboard import Entry, Leaderboard
from mercer.automatic.members import Member, Scorer
from mercer.automatic.menus import curve_learners, other_learners, word_learners
from mercer.automatic.mixing import mixture_of
from mercer.automatic.outputs import OutputPlan, output_kernel, output_plan
from mercer.automatic.search import EFFORTS, Clock, Search
from mercer.automatic.whole_models import Fit, WholeModel, WholeModels, offers
from mercer.automatic.words import ChoosesWords
from mercer.core.arrays import Array, to_numpy
from mercer.core.collections import Collection, count, listed, take, to_backend_of
from mercer.core.validation import check_choice, check_jobs, check_real, check_whole
from mercer.decoders import Ranked
from mercer.decoders.base import best
from mercer.embeddings import Distinct, Embedding, Features
from mercer.estimators.base import ObjectEstimator
from mercer.estimators.data import Pairs, check_pairs
from mercer.estimators.dependency import DependencyEstimator
from mercer.learners.base import Learner, LearningProblem
from mercer.learners.mixture import FittedMixture
from mercer.losses.base import Loss
from mercer.selection.alpha import DecodedLoss, FeatureDistance, LeaveOneOut, copies_together
from mercer.sequence_models.answers import answer_signs
from mercer.uncertainty import PredictionSet
from mercer.uncertainty.doubts import ScoredAnswers

_EVERY = int(np.iinfo(np.int32).max)
_OF_KIND = re.compile(r"[Xy] (has shape|has the column|is ragged)")
"""Beginnings of errors of values that another kind of inputs or outputs might cure."""
_SHARES = 10**7  # most shares of classes from which probabilities are learned in `fit`


class AutoEstimator(ChoosesWords):
    r"""Name the loss, and get the best mixture of learners from a menu.

    The kinds of inputs and outputs are recognised, and a menu of kernels, forests and other learners is tried for them. All are
    compared on predictions of the same training pairs, each made without the pair (exact leave-one-out for ridges, out of bag or
    by folds for others), under the loss. The good ones are mixed,

    .. math:: h(x) = \sum_m \beta_m h_m(x), \qquad \beta_m \ge 0, \quad \sum_m \beta_m = 1,

    with weights found on left-out predictions and checked on pairs they were not found on. The mixture is decoded in the way
    that has the least left-out loss.

    Strings and sequences into strings and sequences are also tried with models that construct new outputs: `AlignedSequences`,
    and `Inflection` for strings, alone or as pairs (lemma, tags); not with `extra_outputs`, a dictionary to choose from. If one
    leaves out better than the best kernel, it answers `predict`, `rank`, `score`, `predict_set` and `abstention_score`, unless
    candidates are given. Everything else is answered by the mixture; `explain` names its pairs that speak for the answer.

    Words among given candidates that were not trained on are chosen for words by the mixture or by their edit distance to the
    input, whichever has less loss for outputs kept out of training (`candidate_order_`). Sets and abstention follow that order;
    candidates in blocks are the mixture's.

    The same pairs in the same order give the same model. In another order, ridges leave out with the same loss but for rounding,
    while forests draw other pairs, folds hold others, and of equal losses another may come first: predictions differ a little.

    Parameters
    ----------
    loss : Loss or callable, optional
        The loss you are scored by. By default squared errors, of columns in units of their deviation and of the points of curves
        and images as they are, `ZeroOne` for classes and
        words, `F1` for label sets, `Kendall` for rankings, and the distance of the output kernel for other objects.
    inputs, outputs : str
        The kinds, "auto" to recognise them; `mercer.automatic.INPUTS` and `OUTPUTS` list them.
    effort : {"fast", "balanced", "best"}
        How much is tried: seconds, half a minute, or minutes for a thousand pairs.
    time_limit : float, optional
        Seconds after which nothing new is tried, and the best found so far is returned. At least one learner is fitted.
    n_jobs : int, optional
        Trees grown at a time, as in scikit-learn.
    random_state : int, optional
        Seed of the forests.
    verbose : int
        1 to write a line to standard error for each learner that was tried.

    Attributes
    ----------
    leaderboard_ : Leaderboard
        The learners, best first, with left-out loss, time and weight in the mixture.
    kinds_ : dict
        The kinds of inputs and outputs.
    reasons_ : dict
        The reason for each choice.
    left_out_loss_ : float
        Mean loss on training pairs that the mixture, or the model in its place, was not fitted on.
    map_ : FittedMap
        The mixture.
    model_ : AlignedSequences, Inflection or None
        The model that answers in place of the mixture, if there is one.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import AutoEstimator
    >>> X = np.random.default_rng(0).uniform(0, 3, (40, 2))
    >>> model = AutoEstimator(effort="fast").fit(X, np.sin(X).sum(axis=1))
    >>> model.kinds_
    {'inputs': 'vectors', 'outputs': 'numbers'}
    >>> bool(abs(model.predict([[1.0, 2.0]])[0] - np.sin(1.0) - np.sin(2.0)) < 0.1)
    True
    """

    leaderboard_: Leaderboard
    kinds_: dict[str, str]
    left_out_loss_: float
    model_: WholeModel | None

    def __init__(  # noqa: PLR0913
        self,
        loss: Any = None,
        inputs: str = "auto",
        outputs: str = "auto",
        effort: str = "balanced",
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.inputs = inputs
        self.outputs = outputs
        self.effort = effort
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(  # type: ignore[override]
        self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None, extra_outputs: Any = None
    ) -> Self:
        """Learn from pairs.

        Parameters
        ----------
        X, y : collections of the same length
            Inputs and outputs: arrays, frames, sparse matrices, lists of objects.
        groups : sequence of n labels, optional
            Pairs that belong together, which are left out together.
        sample_weight : array (n,), optional
            How much each pair counts.
        extra_outputs : collection, optional
            Outputs without an input, for the candidates.
        """
        clock = Clock(self._checked_limit())
        effort = EFFORTS[check_choice(self.effort, "effort", tuple(EFFORTS))]
        seed = self._checked_seed()
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        X, y = listed(X), listed(y)
        loss = self._named_loss()
        kinds = kind_of_inputs(X, self.inputs), kind_of_outputs(y, self.outputs, loss)
        pairs = self._checked(X, y, kinds, (extra_outputs, sample_weight, groups))
        plan = output_plan(kinds[1].name, loss, pairs.output_kernel, pairs.outputs, pairs.codec.row_shape)
        problem = self._problem(pairs, plan)
        search = Search(Scorer(problem, plan), effort, clock, int(self.verbose))
        whole = WholeModels(offers(*kinds, extra_outputs is not None), effort, clock)

        def between() -> None:
            if search.tried and len(plan.ways) > 1:
                search.rescore()
                best = min(search.tried, key=lambda member: member.loss)
                search.scorer.settle(best.points[search.scorer.rows])
                search.rescore()
            if whole.offers and search.tried:
                extra = take(pairs.all_outputs, slice(problem.size, None))
                whole.compare(_alone(search, extra), problem, plan.loss)

        menu = families(kinds[0].name, pairs.input_kernel, pairs.inputs)

        def others() -> list[tuple[str, Learner]]:
            found = other_learners(kinds, problem, effort, seed, self.n_jobs)
            if kinds[0].name == "binary rows" and not effort.core:
                found += word_learners(problem, search.members, plan, effort)
            if kinds[1].name == "curves":
                found += curve_learners(problem, search.members)
            return found

        search.run(menu, others, between)
        if not search.tried:
            raise ValueError("no learner of the menu could be fitted; the warnings above say why")
        return self._keep(pairs, plan, search, kinds, whole)

    def predict(self, X: Any, candidates: Any = None, return_std: bool = False) -> Any:
        """Predict an object for each input, among the candidates if there are any; see `DependencyEstimator.predict`."""
        model = self._constructing(candidates)
        if model is None or return_std:
            return super().predict(X, candidates, return_std)
        return self._codec.framed(self._codec.decode(model.predict(self._inputs_of(X))))

    def rank(self, X: Any, k: int = 5, candidates: Any = None) -> list[Ranked]:
        """Return the `k` best outputs for each input, best first, with scores; see `DependencyEstimator.rank`."""
        model = self._constructing(candidates)
        return super().rank(X, k, candidates) if model is None else model.rank(self._inputs_of(X), k)

    def score(self, X: Any, y: Any, sample_weight: Any = None, candidates: Any = None) -> float:
        """Return minus the mean loss of the predictions (higher is better)."""
        model = self._constructing(candidates)
        if model is None:
            return super().score(X, y, sample_weight, candidates)
        return self._minus_loss(model.predict(self._inputs_of(X)), y, sample_weight)

    def calibrate(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Take the scores of right answers from pairs that were not trained on; see `DependencyEstimator.calibrate`."""
        super().calibrate(X, y, groups)
        if self.model_ is not None:
            model, inputs = copy(self.model_), self._inputs_of(X)
            outputs = self._codec.encode(y, self.output_kernel_, "y")
            model.calibrate(inputs, outputs, groups)
            ranked, rows = model.rank(inputs, _EVERY), np.arange(count(outputs))
            losses = to_numpy(self.loss_.paired(outputs, best(ranked))).astype(float)
            own = rows if self._held_groups_ is None else self._held_groups_
            self.model_, self._scored_answers_ = model, ScoredAnswers(answer_signs(ranked), losses, rows, own, True)
        return self

    def predict_set(  # noqa: PLR0913
        self,
        X: Any,
        coverage: float = 0.9,
        candidates: Any = None,
        method: str = "auto",
        by: Any = None,
        weights: Any = None,
    ) -> list[PredictionSet]:
        """Return for each input a set that holds the right output; see `DependencyEstimator.predict_set`.

        If `model_` answers in place of the mixture, it is among the outputs that it constructs, calibrated by pairs held out
        (`calibrate`) or by the folds it was compared on. Given candidates, or the jackknife+, are the mixture's.
        """
        model = self._constructing(candidates)
        if model is None or method != "auto":
            return super().predict_set(X, coverage, candidates, method, by, weights)
        sets = model.predict_set(self._inputs_of(X), coverage, by, weights)
        return [PredictionSet(self._codec.decode(found.objects), found.scores, found.any_object) for found in sets]

    def abstention_score(self, X: Any, candidates: Any = None) -> np.ndarray:
        """Return the uncertainty of each prediction, from 0 (sure) to 1; see `DependencyEstimator.abstention_score`."""
        model = self._constructing(candidates)
        if model is None:
            return super().abstention_score(X, candidates)
        return model.abstention_score(self._inputs_of(X))

    def _signs_at(self, inputs: Collection, points: Array, candidates: Any) -> np.ndarray:
        model = self._constructing(candidates)
        if model is None:
            return super()._signs_at(inputs, points, candidates)
        return answer_signs(model.rank(inputs, _EVERY))

    def _foreign(self, inputs: Collection) -> np.ndarray:
        has_new_symbols = getattr(self.model_, "has_new_symbols", super()._foreign)
        return has_new_symbols(inputs)

    def _answers(self, X: Any, points: Array) -> Collection:
        return super()._answers(X, points) if self.model_ is None else self.model_.predict(self._inputs_of(X))

    def _constructing(self, candidates: Any) -> WholeModel | None:
        """The model that answers in place of the mixture, which knows best how to choose among candidates."""
        check_is_fitted(self, "map_")
        return self.model_ if candidates is None else None

    def _checked_limit(self) -> float | None:
        if self.time_limit is None:
            return None
        return check_real(self.time_limit, "time_limit", expected="a number of seconds above zero, or None")

    def _checked_seed(self) -> int:
        """The seed of forests, whose other parameters are checked too: a forest that cannot be grown is left out."""
        if not isinstance(self.verbose, bool):
            check_whole(self.verbose, "verbose", 0, expected="0, or 1 for a line for each learner")
        check_jobs(self.n_jobs)
        if isinstance(self.random_state, np.random.RandomState):
            return int(self.random_state.randint(2**31 - 1))
        expected = "a whole number from 0, or None"
        return check_whole(self.random_state or 0, "random_state", 0, 2**32 - 1, expected=expected)

    def _named_loss(self) -> Any:
        if isinstance(self.loss, type) or not (self.loss is None or callable(self.loss) or isinstance(self.loss, Loss)):
            raise ValueError(
                f"loss={self.loss!r:.60}; expected a loss such as mercer.losses.F1(), a function of two objects, or None"
            )
        return self.loss

    def _checked(self, X: Any, y: Any, kinds: tuple[Kind, Kind], further: tuple[Any, Any, Any]) -> Pairs:
        shim: Any = copy(self)
        shim.input_kernel = source_kernel(kinds[0].name, X)
        shim.output_kernel = output_kernel(kinds[1].name, self.loss, y)
        try:
            return check_pairs(shim, X, y, *further)
        except (TypeError, ValueError) as error:
            if isinstance(error, ValueError) and not _OF_KIND.match(str(error)):
                raise
            taken = f"X was taken for {kinds[0].name} ({kinds[0].reason}), y for {kinds[1].name} ({kinds[1].reason})"
            raise type(error)(
                f"{str(error).rstrip('.')}. {taken}; inputs=... and outputs=... name another kind"
            ) from error

    def _problem(self, pairs: Pairs, plan: OutputPlan) -> LearningProblem:
        kernel, outputs, n = pairs.output_kernel, pairs.all_outputs, count(pairs.outputs)
        embedding: Embedding = (Features() if plan.by_squares else Distinct()).fit(kernel, outputs, n)
        decoder = clone(plan.ways[0].decoder).fit(embedding, plan.loss)
        criterion: Any = FeatureDistance(embedding, pairs.outputs, pairs.sample_weight)
        if not plan.by_squares:
            criterion = DecodedLoss(plan.loss, decoder, pairs.outputs, pairs.sample_weight, pairs.groups)
        coordinates = embedding.coordinates_
        assert coordinates is not None
        known = (pairs.sample_weight, pairs.groups, None, coordinates[:n, :])
        problem = LearningProblem(
            pairs.input_kernel, pairs.inputs, pairs.outputs, embedding, decoder, criterion, *known
        )
        return copies_together(problem, LeaveOneOut())  # once for all members

    def _keep(
        self, pairs: Pairs, plan: OutputPlan, search: Search, kinds: tuple[Kind, Kind], whole: WholeModels
    ) -> Self:
        """Mix the members, and set all attributes in one step."""
        scorer = search.scorer
        if whole.model is not None:  # the mixture chooses among given candidates alone, by the first way
            scorer.own = True
            scorer.use(plan.ways[0])
            search.rescore()
        mixing, kept = mixture_of(search.members, scorer)
        fitted = FittedMixture(
            [member.build() for member in kept], mixing.weights, mixing.apply([m.points for m in kept]), {}
        )
        decoder = scorer.decoder
        if decoder.needs_left_out_points:
            decoder.calibrate(to_backend_of(pairs.outputs, fitted.left_out_points()))
        share, answers = float(whole.model is None), [entry for entry in whole.entries if entry.weight]
        weights = {
            id(member): share * float(np.mean(weight)) for member, weight in zip(kept, mixing.weights, strict=True)
        }
        seen = {name: value for name, value in vars(pairs.metadata).items() if name.endswith("_in_")}
        reasons = {
            "inputs": kinds[0].reason,
            "outputs": kinds[1].reason,
            "loss": plan.loss_reason,
            "decoder": scorer.way.name,
            "mixture": f"{mixing.rule}: " + ", ".join(f"{rule} {loss:.4g}" for rule, loss in mixing.checked.items()),
        }
        if whole.reason:
            reasons["model"] = whole.reason
        if search.stopped:
            reasons["stopped"] = search.stopped
        found = {
            "kinds_": {"inputs": kinds[0].name, "outputs": kinds[1].name},
            "reasons_": reasons,
            "leaderboard_": _leaderboard(search.members, weights, whole.entries),
            "left_out_loss_": answers[0].loss if answers else float(np.mean(scorer.score(fitted.left_out))),
            "map_": fitted,
            "model_": whole.model,
            "input_kernel_": pairs.input_kernel,
            "output_kernel_": decoder.embedding_.kernel_,
            "decoder_": decoder,
            "embedding_": decoder.embedding_,
            "calibration_": None,
            "_scored_answers_": whole.scored,
            "_loss": plan.loss,
            "_codec": pairs.codec,
            "_kept": pairs.kept,
            "_groups": pairs.groups,
            "_inputs": pairs.inputs,
        }
        unfitted = {name: value for name, value in vars(self).items() if not (name.endswith("_") or name in found)}
        complete: Any = copy(self)
        complete.__dict__ = unfitted | seen | found
        if kinds[1].name == "classes" and count(pairs.outputs) * len(complete.classes_) <= _SHARES:
            _ = complete._class_map_  # now, so that asking for probabilities changes nothing
        self.__dict__ = complete.__dict__
        return self

    @property
    def loss_(self) -> Loss:
        """The loss that scores predictions."""
        check_is_fitted(self, "map_")
        return self._loss

    def __sklearn_tags__(self) -> Tags:
        """Return the tags: any inputs and outputs."""
        tags = super(ObjectEstimator, self).__sklearn_tags__()
        tags.input_tags.two_d_array = tags.input_tags.string = tags.input_tags.sparse = tags.input_tags.allow_nan = True
        tags.classifier_tags = ClassifierTags()  # with predict_proba where outputs are objects
        if "classes" in (self.outputs, getattr(self, "kinds_", {}).get("outputs")):
            tags.estimator_type = "classifier"  # so that folds are stratified
        tags.target_tags.required = tags.target_tags.multi_output = tags.target_tags.single_output = True
        return tags


def _alone(search: Search, extra: Collection) -> Fit:
    """The fit of the best kernel ridge of a search on other pairs."""
    best = min((member for member in search.members if member.alpha is not None), key=lambda member: member.loss)
    way = search.scorer.way
    parts = (best.build().ridge.kernel, way.kernel)
    model = DependencyEstimator(*parts, alpha=best.alpha, loss=search.scorer.plan.loss, decoder=way.decoder)
    return lambda X, y: model.fit(X, y, extra_outputs=extra if count(extra) else None)


def _leaderboard(members: list[Member], weights: dict[int, float], whole: list[Entry]) -> Leaderboard:
    rows = [Entry(m.learner, m.kernel, m.alpha, m.loss, m.error, m.seconds, weights.get(id(m), 0.0)) for m in members]
    return Leaderboard(sorted([*rows, *whole], key=lambda row: row.loss))
