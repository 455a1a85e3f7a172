"""The base of all estimators of objects: check, embed, learn, choose, decode."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from dataclasses import fields
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import ClassifierTags, Tags, estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from mercer.core.arrays import Array, cached_property, namespace, to_numpy, zeros
from mercer.core.blocks import ArrayBlocks, RowBlocks, as_blocks
from mercer.core.collections import Collection, count, is_in_memory, listed, take, to_backend_of
from mercer.core.threads import at_most
from mercer.core.validation import check_instance, check_jobs, check_whole
from mercer.decoders import ClosedForm, Decoder, Ranked, auto_decoder, best_of_blocks
from mercer.decoders.base import best
from mercer.embeddings import Distinct, Embedding, Features, Implicit, PrincipalComponents
from mercer.estimators.candidates import are_sets, sets_of_each
from mercer.estimators.data import Encoding, Pairs, TargetCodec, check_inputs, check_pairs
from mercer.estimators.html import fitted_html
from mercer.estimators.in_blocks import PREDICTED, new_inputs, outputs_in_memory, points_of_blocks, written
from mercer.estimators.values import ValueParameters
from mercer.kernels.base import Kernel
from mercer.kernels.classes import Classes
from mercer.learners.base import Learner, LearningProblem, fit_embedding
from mercer.learners.compact import compacted
from mercer.losses import Loss, resolve_loss
from mercer.selection.alpha import DecodedLoss, FeatureDistance
from mercer.selection.candidates import CandidateRule, candidate_rule, known_outputs
from mercer.solvers.base import Choice
from mercer.solvers.kernel_values import gram_matrix
from mercer.uncertainty.doubts import DoubtAnswers
from mercer.uncertainty.intervals import IntervalAnswers
from mercer.uncertainty.probabilities import ProbabilityAnswers
from mercer.uncertainty.sets import SetAnswers

_SCALES = (
    "score measures the loss of the output kernel, and output_kernel was set by set_params, as a grid search does: scores of "
    "different output kernels are on different scales. Name the loss you are scored on, such as loss=mercer.losses.ZeroOne()"
)


class ObjectEstimator(SetAnswers, IntervalAnswers, ProbabilityAnswers, DoubtAnswers, ValueParameters):
    """An estimator that predicts points of the output feature space and decodes them into objects.

    A subclass has the parameters `input_kernel`, `output_kernel` and `loss` (or class attributes of these names), and
    `learner_type`, a learner whose fields are parameters of the estimator; or it overrides `learner`.

    Attributes
    ----------
    map_ : FittedMap
        The learned map from inputs to points.
    """

    learner_type: type[Learner]
    input_kernel: Kernel
    output_kernel: Kernel
    loss: Any
    n_jobs: int | None = None
    input_kernel_: Kernel
    reasons_: dict[str, str]
    _candidate_rule_: CandidateRule | None = None
    _codec: TargetCodec
    _kept: np.ndarray | None

    def learner(self) -> Learner:
        """Return the learner with the parameters of this estimator."""
        names = [field.name for field in fields(self.learner_type)]  # type: ignore[arg-type]
        return self.learner_type(**{name: getattr(self, name) for name in names})

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn from pairs.

        Parameters
        ----------
        X, y : collections of the same length
            Inputs and outputs. For kernels on vectors X may be a sparse array, which is not made dense.
        sample_weight : array (n,), optional
            How much each pair counts; a pair of weight 2 counts as two, one of weight 0 as none.
        groups : sequence of n labels, optional
            Pairs that belong together (pictures of one person, virtual examples of one image), which are left out together.
        """
        self.learner()  # parameters are checked before the data
        return self._learn(self._checked_pairs(X, y, sample_weight, groups), *self._parts())

    def predict(self, X: Any, candidates: Any = None, return_std: bool = False) -> Any:
        """Predict an object for each input.

        Parameters
        ----------
        X : collection
            Inputs, as in `fit`; kernel values against the training inputs for a precomputed kernel.
        candidates : collection, one collection per input, `mercer.decoders.EachOf` or `mercer.decoders.Blocks`, optional
            Choose among these outputs. ``EachOf([...])`` says that there is one collection per input; without it, lists of
            objects that look like outputs are taken for that. By default the decoder is free (see `decoder_`). Candidates that
            are not all training outputs are scored by `candidate_rule_`. Those in a memory map, in files and batches
            (`mercer.io`) or in a collection of Dask are compared block by block, in bounded memory, as if they were new.
        return_std : bool, default=False
            True for a pair: predictions, and the standard deviation of a new output at each input, an array. Ridge regression
            onto vectors is then read as a Gaussian process with an independent noise in each coordinate, of the variance that
            makes left-out errors as large as their standard deviations.

        Returns
        -------
        collection
            An array for vector outputs, in the shape of those passed to `fit`, or a frame of the same library and columns; else
            a 1-D object array.
        """
        points = self._points_of(X)
        found = self._codec.framed(self._codec.decode(self._decoded(points, candidates)))
        return (found, self._deviations(X)) if return_std else found

    def compact(self) -> Self:
        """Return a copy for serving, which keeps what predictions take and no more.

        `predict`, `score`, and `rank` work as before, and so do sets and intervals from pairs that `calibrate` is given before
        or after. What leaves training pairs out or names them is dropped: `explain`, `decision_weights`, standard deviations,
        sets or intervals by leave-one-out, and boxes and ellipsoids, whose shape is that of left-out errors. Vectors in closed
        form are predicted without any training output.

        The rule for candidates that were not trained on, `candidate_rule_`, is chosen by leaving pairs out: look at it, or
        predict with such candidates once, before `compact`, and the copy has it.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer import DependencyEstimator
        >>> X = np.random.default_rng(0).standard_normal((50, 2))
        >>> model = DependencyEstimator().fit(X, X)
        >>> bool(np.array_equal(model.compact().predict(X), model.predict(X)))
        True
        """
        check_is_fitted(self, "map_")
        found = copy(self)
        found.map_, found.decoder_ = compacted(self.map_), self.decoder_.reduced()
        found.embedding_, found._inputs = found.decoder_.embedding_, None
        if self._held_out_ is None:
            found.calibration_ = None
        for name in ("_left_out_errors_", "_doubt_scale_", "_scored_answers_", "_unlikeness_"):
            found.__dict__.pop(name, None)
        return found

    def predict_blocks(self, X: Any, candidates: Any = None, out: Any = None) -> Any:
        """Predict a block of inputs at a time, in bounded memory.

        Parameters
        ----------
        X : collection
            Inputs, in memory or read in blocks.
        candidates : collection, optional
            As for `predict`.
        out : array or name of a ``.npy`` file, optional
            Where predictions that are numbers are written. A file is there when all of them are written.

        Returns
        -------
        iterator or array
            The predictions of one block after the other, or all of them in `out`.
        """
        check_is_fitted(self, "map_")
        rows = self._rows_of(X)
        found = (self.predict(block, candidates) for _, block in rows.blocks(PREDICTED))
        return found if out is None else written(found, out, len(rows))

    def _rows_of(self, X: Any) -> RowBlocks:
        """Inputs of any kind as blocks that `predict` takes."""
        found = as_blocks(X)
        return ArrayBlocks(self._inputs_of(X)) if found is None else found

    def set_params(self, **params: Any) -> Self:
        """Set parameters, nested ones by ``part__parameter``."""
        if any(name.partition("__")[0] == "output_kernel" for name in params):
            # as a grid search does: its scores are those of several output kernels
            self._output_kernel_set = True
        return super().set_params(**params)

    def rank(self, X: Any, k: int = 5, candidates: Any = None) -> list[Ranked]:
        """Return the `k` best outputs for each input, best first, with scores (higher is better).

        Outputs are ranked among `candidates`, by default the distinct training outputs, together with what a decoder of
        strings, positions or vectors constructs. The score of y is 2⟨h(x), ψ(y)⟩ − l(y, y), which is
        ‖h(x)‖² − ‖h(x) − ψ(y)‖², or minus the expected loss when the decoder minimises one, or that of `candidate_rule_` for
        candidates that were not trained on. Equal scores keep the order of the candidates.
        """
        ranked, _ = self._rank(self._points_of(X), check_whole(k, "k"), candidates)
        return [Ranked(self._codec.decode(found.objects), found.scores) for found in ranked]

    def decision_weights(self, X: Any) -> Any:
        r"""Return h(x) as weights on the training outputs, then on the extra outputs; one row per input.

        For the identity operator these are :math:`(k + \alpha I)^{-1} k_x` and the share of the intercept. For operators and
        principal components learned from the outputs they are the weights of least norm that give the point. Low-rank
        coordinates have weights on their pivots alone.
        """
        inputs, outputs = self._inputs_of(X), self.embedding_.outputs_
        found = self.map_.weights(inputs)
        if found is None:
            return self.embedding_.weights(to_backend_of(outputs, self.map_.points(inputs)))
        weights = to_backend_of(outputs, found)
        spare = count(outputs) - weights.shape[1]
        if spare == 0:
            return weights
        return namespace(weights).concat([weights, zeros((weights.shape[0], spare), weights)], axis=1)

    def score(self, X: Any, y: Any, sample_weight: Any = None, candidates: Any = None) -> float:
        """Return minus the mean loss of the predictions: the user's loss, or the output kernel's (higher is better).

        Under ``loss="rkhs"`` it is minus the mean of ‖h(x) − ψ(y)‖², outside the coordinates of the embedding too. With
        `candidates`, predictions are chosen among them, as by `predict`. Losses of different output kernels are on different
        scales: name a `loss` to compare them.
        """
        if self.loss is None and getattr(self, "_output_kernel_set", False):
            warnings.warn(_SCALES, UserWarning, stacklevel=2)
        points = self._points_of(X)
        outputs = self._codec.encode(y, self.output_kernel_, "y")
        if count(outputs) != points.shape[0]:
            raise ValueError(f"X has {points.shape[0]} objects and y has {count(outputs)}; expected as many of each")
        if self.loss == "rkhs" and candidates is None:
            losses = self.embedding_.squared_distances(points, outputs) + self.embedding_.outside(outputs)
        else:
            losses = self.loss_.paired(outputs, self._decoded(points, candidates))
        return -float(np.average(to_numpy(losses), weights=sample_weight))

    @property
    def loss_(self) -> Loss:
        """The loss that scores predictions: the one named, or that of the output kernel."""
        check_is_fitted(self, "map_")
        return resolve_loss(self.loss, self.output_kernel_, self._codec.row_shape)

    def losses(self, y_true: Any, y_pred: Any) -> np.ndarray:
        """Return the loss (`loss_`) of each prediction, both in the form of the outputs passed to `fit`."""
        sides = [
            self._codec.encode(y, self.output_kernel_, name) for y, name in ((y_true, "y_true"), (y_pred, "y_pred"))
        ]
        if count(sides[0]) != count(sides[1]):
            raise ValueError(f"y_true has {count(sides[0])} objects and y_pred has {count(sides[1])}; expected as many")
        return to_numpy(self.loss_.paired(*sides)).astype(float)

    @property
    def output_grid_(self) -> np.ndarray | None:
        """The positions of predicted curves, if those passed to `fit` had positions of their own."""
        check_is_fitted(self, "map_")
        return self._codec.grid

    @property
    def training_pairs_(self) -> tuple[Collection | None, Collection]:
        """The training inputs as the input kernel takes them (None for a given Gram matrix), and the outputs as passed."""
        check_is_fitted(self, "map_")
        outputs = take(self.embedding_.outputs_, slice(0, self.embedding_.paired_))
        return self._inputs, self._codec.decode(outputs)

    def _checked_pairs(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Pairs:
        return check_pairs(self, X, y, None, sample_weight, groups)

    def _parts(self) -> tuple[Any, Any]:
        """The decoder and the embedding."""
        return ClosedForm(), Features()

    def _learn(self, pairs: Pairs, decoder: Any, embedding: Any) -> Self:
        """Embed the outputs of checked pairs, learn and keep the map; nothing about the estimator changes before the end."""
        with self._threads():
            return self._learned(pairs, decoder, embedding)

    def _learned(self, pairs: Pairs, decoder: Any, embedding: Any) -> Self:
        learner = self.learner()
        kernel, outputs = pairs.output_kernel, pairs.all_outputs
        decoder, decoder_reason = choose_decoder(decoder, kernel, self.loss, outputs)
        embedding, embedding_reason = choose_embedding(embedding, kernel, outputs, learner, decoder)
        if not kernel.is_psd and not embedding.decomposes:
            gram_matrix(kernel, outputs, "output", 2)
        n = count(pairs.outputs)
        if embedding.looks_at_inputs:
            fit_embedding(embedding, kernel, outputs, n, pairs.input_kernel, pairs.inputs)
        else:
            embedding.fit(kernel, outputs, n)
        loss = None if self.loss is None else resolve_loss(self.loss, kernel, pairs.codec.row_shape)
        decoder.fit(embedding, loss)
        criterion: Any = FeatureDistance(embedding, pairs.outputs, pairs.sample_weight)
        if loss is not None and self.loss != "rkhs":
            criterion = DecodedLoss(loss, decoder, pairs.outputs, pairs.sample_weight, pairs.groups)
        whole, known = embedding.coordinates_, (pairs.sample_weight, pairs.groups, pairs.observed)
        targets = None if whole is None else whole[:n, :]
        data = (pairs.input_kernel, pairs.inputs, pairs.outputs)
        fitted = learner.fit(LearningProblem(*data, embedding, decoder, criterion, *known, targets))
        if decoder.needs_left_out_points:
            decoder.calibrate(to_backend_of(pairs.outputs, fitted.left_out_points()))
        attributes = dict(fitted.attributes)
        solver_reason = attributes.pop("solver_reason_", None) or learner.reason()
        seen = {name: value for name, value in vars(pairs.metadata).items() if name.endswith("_in_")}
        found = {
            "reasons_": {"solver": solver_reason, "decoder": decoder_reason, "embedding": embedding_reason},
            "map_": fitted,
            "input_kernel_": pairs.input_kernel,
            "output_kernel_": kernel,
            "decoder_": decoder,
            "embedding_": embedding,
            "calibration_": None,
            "_codec": pairs.codec,
            "_kept": pairs.kept,
            "_groups": pairs.groups,
            "_inputs": None if pairs.input_kernel.pairwise or not is_in_memory(pairs.inputs) else pairs.inputs,
        }
        # in one step: nothing of an earlier fit stays, and an interrupt finds the old model or the new one
        unfitted = {name: value for name, value in vars(self).items() if not name.endswith("_")}
        self.__dict__ = unfitted | attributes | seen | found
        return self

    def _inputs_of(self, X: Any) -> Collection:
        """Inputs of a fitted model, checked once."""
        check_is_fitted(self, "map_")
        X = X if is_in_memory(X) else outputs_in_memory(X, "X")
        inputs = check_inputs(self, listed(X), self.input_kernel_, reset=False)
        if self._kept is not None and self.input_kernel_.pairwise:
            inputs = take(inputs.T, self._kept).T
        return inputs

    def _points_of(self, X: Any) -> Array:
        check_is_fitted(self, "map_")
        with self._threads():
            blocks = None if is_in_memory(X) else new_inputs(self, X)
            found = self.map_.points(self._inputs_of(X)) if blocks is None else points_of_blocks(self.map_, blocks)
        return to_backend_of(self.embedding_.outputs_, found)

    def _threads(self) -> AbstractContextManager[None]:
        """At most `n_jobs` threads; as many as there are by default."""
        return nullcontext() if self.n_jobs is None else at_most(check_jobs(self.n_jobs))

    @property
    def candidate_rule_(self) -> CandidateRule:
        """The score of candidates that were not trained on, with the reason; chosen when it is first needed.

        A decoder that was given scores them itself. Otherwise see `mercer.selection.candidates.candidate_rule`.
        """
        check_is_fitted(self, "map_")
        if self._candidate_rule_ is None:
            # threads may choose it at the same time: the result is the same, and is assigned once it is complete
            self._candidate_rule_ = self._choose_rule()
        return self._candidate_rule_

    def _choose_rule(self) -> CandidateRule:
        decoder, own = self.decoder_, self.map_
        if self.reasons_["decoder"] == "given":
            return CandidateRule(decoder, "the decoder was given")
        without = getattr(own, "points_without", lambda groups: own.left_out_points())
        return candidate_rule(decoder, self.loss_, without, self._left_out_points, getattr(own, "groups", None))

    def _decoded(self, points: Array, candidates: Any) -> Collection:
        """The best object for each point, among the candidates if there are any."""
        if candidates is None:
            with self._threads():
                return self.decoder_.decode(points)
        return best(self._rank(points, 1, candidates)[0])

    def _rank(self, points: Array, k: int, candidates: Any) -> tuple[list[Ranked], Decoder]:
        """The k best outputs for each point, and the decoder that scored them."""
        with self._threads():
            return self._ranked(points, k, candidates)

    def _ranked(self, points: Array, k: int, candidates: Any) -> tuple[list[Ranked], Decoder]:
        if candidates is None:
            return self.decoder_.rank(points, k), self.decoder_

        encode = Encoding(self._codec, self.output_kernel_)
        rows = as_blocks(candidates, "candidates")
        if rows is not None or hasattr(candidates, "blocks"):  # not known in advance, and so taken for new
            decoder = self.candidate_rule_.decoder
            return best_of_blocks(decoder, points, candidates.blocks if rows is None else rows, k, encode), decoder
        candidates = self._codec.dense(listed(candidates), "candidates")
        each = sets_of_each(self._codec, candidates, self.embedding_.outputs_, points.shape[0])
        if each is not None:
            sets = [encode(c, f"candidates[{i}]") for i, c in enumerate(each)]
            decoder = self._decoder_for(sets)
            return decoder.choose_each(points, sets, k), decoder
        objects = encode(candidates, "candidates")
        decoder = self._decoder_for([objects])
        return decoder.choose(points, objects, k), decoder

    def _for_all(self, candidates: Any) -> bool:
        """True for one collection of candidates for all inputs, in memory."""
        if (
            hasattr(candidates, "sets")
            or hasattr(candidates, "blocks")
            or as_blocks(candidates, "candidates") is not None
        ):
            return False
        return not are_sets(self._codec, listed(candidates), self.embedding_.outputs_)

    def _decoder_for(self, sets: list[Collection]) -> Decoder:
        """The decoder if all candidates are training outputs, which have weights; else that of the rule for new ones."""
        known = all(known_outputs(self.decoder_, candidates) for candidates in sets)
        return self.decoder_ if known else self.candidate_rule_.decoder

    def __sklearn_tags__(self) -> Tags:
        """Return the tags, which follow from the kernels."""
        tags, kernel = super().__sklearn_tags__(), self._source()
        tags.input_tags.pairwise = getattr(kernel, "pairwise", False)
        tables = tags.input_tags.allow_nan = tags.input_tags.categorical = getattr(kernel, "takes_tables", False)
        tags.input_tags.two_d_array = getattr(kernel, "takes_vectors", False) or tags.input_tags.pairwise or tables
        tags.input_tags.sparse = getattr(kernel, "takes_sparse", False)
        tags.input_tags.string = not tags.input_tags.two_d_array
        if isinstance(self.output_kernel, Classes):
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()  # so that folds are stratified
        tags.target_tags.required = tags.target_tags.multi_output = tags.target_tags.single_output = True
        return tags

    def _source(self) -> Any:
        """The part that checks inputs: the input kernel, or an operator with kernels of its own."""
        return self.input_kernel

    def __dir__(self) -> list[str]:
        """Return the names of attributes, without computing those that are made when they are first needed."""
        parts = [vars(kind).items() for kind in type(self).__mro__]
        later = {name for part in parts for name, value in part if isinstance(value, property | cached_property)}
        return [name for name in object.__dir__(self) if name in later or hasattr(self, name)]

    def _get_fitted_attr_html(self, doc_link: str = "") -> Any:
        """The table of fitted attributes in the diagram of scikit-learn, which would compute every property."""
        stored = BaseEstimator()
        stored.__dict__ = {name: value for name, value in vars(self).items() if name.endswith("_")}
        found = stored._get_fitted_attr_html(doc_link)
        found.estimator_class = type(self)
        return found

    def _html_repr(self) -> str:
        """The diagram of scikit-learn and, once fitted, the parts in use with reasons and the path of losses."""
        return estimator_html_repr(self) + (fitted_html(self) if hasattr(self, "reasons_") else "")

    def _repr_html_inner(self) -> str:
        return self._html_repr()


def choose_decoder(decoder: Any, kernel: Kernel, loss: Any, outputs: Collection | None = None) -> Choice:
    """Return the decoder, from ``"auto"`` or the one the user gave."""
    if decoder == "auto":
        return Choice(*auto_decoder(kernel, loss, outputs))
    expected = "'auto' or a decoder from mercer.decoders, such as Candidates()"
    return Choice(clone(check_instance(decoder, "decoder", Decoder, expected=expected)), "given")


def choose_embedding(embedding: Any, kernel: Kernel, outputs: Collection, learner: Learner, decoder: Decoder) -> Choice:
    """Return the embedding, from ``"auto"`` or the one the user gave."""
    if embedding != "auto":
        expected = "'auto' or one of mercer.embeddings, such as PrincipalComponents()"
        return Choice(clone(check_instance(embedding, "embedding", Embedding, expected=expected)), "given")
    wanted = decoder.preferred_embedding(kernel, outputs)
    if wanted is not None and (learner.has_weights or learner.preferred_embedding(kernel, outputs) is None):
        # a learner without weights on training outputs predicts weights on the distinct ones
        weights = isinstance(wanted[0], Implicit) and not learner.has_weights
        return Choice(Distinct() if weights else wanted[0], wanted[1])
    features = kernel.feature_map(outputs)
    if features is not None and features.dimension <= count(outputs):
        return Choice(Features(), f"{kernel!r} has {features.dimension} explicit features")
    preferred = learner.preferred_embedding(kernel, outputs)
    if preferred is not None:
        return Choice(*preferred)
    return Choice(PrincipalComponents(), f"{type(learner).__name__} predicts coordinates")
