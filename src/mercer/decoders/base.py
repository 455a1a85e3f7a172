"""Decoders: from a point of the output feature space back to an object."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator

from mercer.core.arrays import Array, cached_property, like, namespace, to_numpy
from mercer.core.collections import (
    Collection,
    as_vectors,
    concatenate,
    count,
    is_numeric,
    keys,
    reject_non_collection,
    take,
)
from mercer.core.validation import check_whole
from mercer.decoders.pool import ROUNDING, Allowed, LeftOut, Pool, remaining, top, training_candidates
from mercer.embeddings.base import Embedding
from mercer.kernels.algebra import Normalized, Scaled
from mercer.kernels.base import Kernel
from mercer.kernels.centering import CenteredAt
from mercer.losses.base import KernelLoss, Loss, resolve_loss

_TOGETHER = 1024  # candidates of several examples whose features are computed in one call


class Ranked(NamedTuple):
    """Objects, best first, and the score of each; a higher score is better."""

    objects: Collection
    scores: np.ndarray


class Decoder(BaseEstimator):
    r"""The object nearest to a point, :math:`\arg\min_y l(y,y) - 2\langle h, \psi(y)\rangle`.

    A point is a row of coordinates in a fitted embedding. Every decoder can `rank` the training outputs and `choose` among given
    candidates. A new decoder defines `decode`; one that compares candidates by another score defines `_points` and `_features`
    instead. With `suits`, and `register` beside the class, ``decoder="auto"`` finds it.

    Only `fit` and `calibrate` change a decoder, so that threads can share a fitted one.

    Attributes
    ----------
    embedding_ : Embedding
        The embedding the points are given in.
    loss_ : Loss or None
        The loss given to `fit`.
    kernels, losses : tuple of types
        The kernels, inside their factors, their mean and their cosine, and the losses it is made for; empty for any.
    needs : str
        The kernels it `decodes`, in words.
    reason : str
        The sentence of `suits`, with the kernel in place of ``{kernel}``.
    by_weights : bool
        Whether points are weights on the training outputs, scored by the kernel itself rather than in their coordinates.
    constructs : bool
        Whether `rank` returns objects made by the decoder as well as training outputs.
    needs_left_out_points : bool
        Whether the estimator calls `calibrate` with left-out points of the training inputs.
    without_outputs : bool
        Whether the training outputs have been dropped by `reduced`.
    """

    kernels: ClassVar[tuple[type[Kernel], ...]] = ()
    losses: ClassVar[tuple[type[Loss], ...]] = ()
    needs: ClassVar[str] = "another kernel"
    reason: ClassVar[str] = ""
    batch_size: int | None = None
    by_weights: bool = False
    constructs: bool = False
    needs_left_out_points: bool = False
    without_outputs: bool = False
    embedding_: Embedding
    loss_: Loss | None

    @classmethod
    def decodes(cls, kernel: Kernel) -> bool:
        """Whether it works with a resolved output kernel; `fit` refuses any other."""
        return True

    @classmethod
    def suits(cls, kernel: Kernel, loss: Loss | None, outputs: Collection | None) -> tuple[Decoder, str] | None:
        """A decoder of this class and one sentence why, if it suits a loss and a kernel it decodes; None otherwise.

        `outputs` are the training outputs, or None where they are not known. By default, a decoder with a `reason` suits the
        distance of the kernel.
        """
        if not cls.reason or not is_distance_of(loss, kernel):
            return None
        return cls(), cls.reason.format(kernel=unscaled(kernel))

    def preferred_embedding(self, kernel: Kernel, outputs: Collection) -> tuple[Embedding, str] | None:
        """The embedding this decoder works best with, and why; None where any will do."""
        return None

    def fit(self, embedding: Embedding, loss: Any = None) -> Self:
        """Prepare to decode points of a fitted embedding."""
        if not self.decodes(embedding.kernel_):
            raise TypeError(
                f"{type(self).__name__} needs {self.needs} as output kernel, and came with {embedding.kernel_!r}; use that, "
                "decoder='auto', or Candidates() to choose among the training outputs"
            )
        self._batch()  # a batch size that is none is named before anything is learned
        self.loss_ = None if loss is None else resolve_loss(loss, embedding.kernel_)
        self.embedding_ = embedding
        self.__dict__.pop("_pool", None)
        return self

    def calibrate(self, points: Array) -> Self:
        """Take the left-out points of the training inputs, where `needs_left_out_points`."""
        return self

    def reduced(self) -> Self:
        """The decoder without what it does not need to decode; most need all training outputs, as candidates."""
        return self

    def decode(self, H: Array, leave_out: np.ndarray | LeftOut | None = None) -> Collection:
        """The object for each point, a row of `H`.

        `leave_out` names, for each point, a fitted output it may not become, or is a `mercer.decoders.pool.LeftOut`, with the
        groups of outputs that leave together. It has no effect where an equal output remains, or where there is no other
        candidate.
        """
        pool, candidate_of = self._training_pool()
        points = self._points(H)
        index, _ = pool.best(points, 1, self._allowed(len(pool), candidate_of, leave_out, points), self._batch())
        return take(pool.objects, index[:, 0])

    @property
    def compares(self) -> bool:
        """Whether `decode` compares the training outputs, and nothing else, by `scores`."""
        return type(self).decode is Decoder.decode

    def scores(self, H: Array) -> Array:
        """The score of each default candidate at each point; those of a mean of points are the means of theirs."""
        pool, _ = self._training_pool()
        return like(self._points(H), pool.features) @ pool.features.T - pool.offsets

    def decode_scores(self, scores: Array, leave_out: np.ndarray | LeftOut | None = None) -> Collection:
        """The candidate of highest score in each row of `scores`; as `decode` from points, with left-out scores of all rows."""
        pool, candidate_of = self._training_pool()
        xp, allowed = namespace(scores), self._allowed(len(pool), candidate_of, leave_out, scores)
        slack = ROUNDING * xp.max(xp.abs(scores), axis=1)
        if allowed is not None:
            scores = xp.where(like(allowed(slice(None)), scores), scores, xp.full_like(scores, -xp.inf))
        return take(pool.objects, top(scores, 1, slack)[0][:, 0])

    def rank(self, H: Array, k: int, leave_out: np.ndarray | LeftOut | None = None) -> list[Ranked]:
        """The k best objects for each point, training outputs or made by the decoder, scored ``2⟨h, ψ(y)⟩ - l(y, y)``."""
        return self.rank_training(H, k, leave_out)

    def rank_training(self, H: Array, k: int, leave_out: np.ndarray | LeftOut | None = None) -> list[Ranked]:
        """The k best training outputs for each point, scored as by `rank`."""
        pool, candidate_of = self._training_pool()
        points = self._points(H)
        return self._ranked(points, pool, k, self._allowed(len(pool), candidate_of, leave_out, points))

    def choose(self, H: Array, candidates: Collection, k: int = 1) -> list[Ranked]:
        """The k best of the given candidates for each point."""
        return self._ranked(self._points(H), self._given(candidates, "candidates"), k)

    def choose_each(self, H: Array, candidates: Sequence[Collection], k: int = 1) -> list[Ranked]:
        """The k best for each point, each with its own collection of candidates."""
        points = self._points(H)
        if len(candidates) != points.shape[0]:
            raise ValueError(
                f"candidates has {len(candidates)} collections for {points.shape[0]} examples; "
                "expected one collection for each example"
            )
        pools = self._each_given(candidates)
        return [self._ranked(points[i : i + 1, :], pool, k)[0] for i, pool in enumerate(pools)]

    def objective(self, H: Array, objects: Collection) -> np.ndarray:
        """The quantity this decoder minimises, for the i-th point and the i-th object."""
        pool = self._given(objects, "objects")
        points = like(self._points(H), pool.features)
        if points.shape[0] != len(pool):
            raise ValueError(f"H has {points.shape[0]} points and objects has {len(pool)} objects")
        products = namespace(points).sum(points * pool.features, axis=1)
        return to_numpy(pool.offsets - products)

    def support(self, H: Array, origin: Array | None = None) -> np.ndarray | None:
        """Distance of the weights of each point from those at `origin`, the point of an input unlike any training input.

        For decoders whose scores look good at such an input; None for all others.
        """
        return None

    def _points(self, H: Array) -> Array:
        """Rows that stand for the points in the scores ``points @ features.T - offsets``."""
        return self._weights(H) if self.by_weights else as_vectors(H, "H")

    def _features(self, objects: Collection) -> tuple[Array, Array]:
        """Features and offset of each candidate."""
        kernel = self.embedding_.kernel_
        if self.by_weights:
            return 2.0 * kernel(objects, self.embedding_.outputs_), kernel.diag(objects)
        return 2.0 * self.embedding_.transform(objects), self.embedding_.norms(objects)

    def _training_pool(self) -> tuple[Pool, np.ndarray]:
        """The default candidates, and for each output the candidate it is."""
        if self.without_outputs:
            raise ValueError("a compact model of vectors does not keep the training outputs to rank; pass candidates")
        return self._pool

    @cached_property
    def _pool(self) -> tuple[Pool, np.ndarray]:
        index, candidate_of = training_candidates(self.embedding_)
        return Pool(take(self.embedding_.outputs_, index), *self._training_features(index)), candidate_of

    def _training_features(self, index: np.ndarray) -> tuple[Array, Array]:
        """`_features` of the outputs at `index`; overridden where they need not be computed."""
        return self._features(take(self.embedding_.outputs_, index))

    def _given(self, candidates: Collection, name: str) -> Pool:
        """A pool of all the given candidates."""
        objects = self._checked(candidates, name)
        return Pool(objects, *self._features(objects))

    def _each_given(self, candidates: Sequence[Collection]) -> Iterator[Pool]:
        """A pool for each collection; the features of many small ones are computed in one call."""
        waiting: list[Collection] = []
        for i, own in enumerate(candidates):
            waiting.append(self._checked(own, f"candidates[{i}]"))
            if i + 1 == len(candidates) or sum(map(count, waiting)) >= _TOGETHER:
                yield from self._pools(waiting)
                waiting = []

    def _pools(self, collections: list[Collection]) -> Iterator[Pool]:
        if any(map(is_numeric, collections)):
            yield from (Pool(objects, *self._features(objects)) for objects in collections)
            return
        features, offsets = self._features(namespace(*collections).concat(collections))
        ends = np.cumsum([count(objects) for objects in collections])
        for objects, end in zip(collections, ends, strict=True):
            rows = slice(end - count(objects), end)
            yield Pool(objects, features[rows, ...], offsets[rows, ...])

    def _checked(self, candidates: Collection, name: str) -> Collection:
        """The given candidates in the form the output kernel works on."""
        reject_non_collection(candidates, name)
        if count(candidates) == 0:
            raise ValueError(f"{name} is empty; expected at least one candidate object")
        objects = self.embedding_.kernel_.check(candidates, name)
        if is_numeric(objects) and is_numeric(self.embedding_.outputs_):
            objects = like(objects, self.embedding_.outputs_)
        return objects

    def _ranked(self, points: Array, pool: Pool, k: int, allowed: Allowed | None = None) -> list[Ranked]:
        found = zip(*pool.best(points, check_count(k), allowed, self._batch()), strict=True)
        kept = [(row[np.isfinite(scores)], scores[np.isfinite(scores)]) for row, scores in found]
        return [Ranked(take(pool.objects, row), scores) for row, scores in kept]

    def _allowed(
        self, candidates: int, candidate_of: np.ndarray, leave_out: np.ndarray | LeftOut | None, points: Array
    ) -> Allowed | None:
        """The candidates each point may become, all but those `leave_out` hides; None for all."""
        if leave_out is None:
            return None
        left, n, outputs = np.asarray(leave_out), points.shape[0], len(candidate_of)
        if left.shape != (n,) or left.dtype.kind not in "iu" or not ((left >= 0) & (left < outputs)).all():
            raise ValueError(
                f"leave_out={left.tolist()!r:.60}, of dtype {left.dtype}; expected one index for each of the {n} points, from 0 "
                f"to {outputs - 1}, of the outputs the embedding was fitted on"
            )
        return remaining(candidate_of, candidates, leave_out if isinstance(leave_out, LeftOut) else left)

    def _weights(self, H: Array) -> Array:
        """Points as weights on the fitted outputs, in the library of the outputs."""
        return self.embedding_.weights(self._checked_points(H))

    def _checked_points(self, H: Array) -> Array:
        """Checked points, in the library of the outputs."""
        H, outputs = as_vectors(H, "H"), self.embedding_.outputs_
        return like(H, outputs) if is_numeric(outputs) else to_numpy(H)

    def _expectations(self, H: Array, kernel: type[Kernel], features: Callable[[Collection], Array]) -> np.ndarray:
        """Expectation of the features of a kernel under each point; the point itself where these are its coordinates."""
        if hasattr(self.embedding_, "feature_map_") and type(self.embedding_.kernel_) is kernel:
            return to_numpy(as_vectors(H, "H"))
        return self.embedding_.expectations(self._checked_points(H), features)

    def _batch(self) -> int | None:
        expected = "the number of points to score at a time, a whole number from 1, or None to bound the memory"
        return None if self.batch_size is None else check_whole(self.batch_size, "batch_size", expected=expected)


def best(ranked: Sequence[Ranked]) -> Collection:
    """The first object of each ranking, as one collection.

    Examples
    --------
    >>> best([Ranked(np.array([[1.0, 2.0]]), np.ones(1)), Ranked(np.eye(2), np.zeros(2))])
    array([[1., 2.],
           [1., 0.]])
    """
    firsts = [take(each.objects, slice(0, 1)) for each in ranked]
    return namespace(firsts[0]).concat(firsts)


def merged(first: Ranked, second: Ranked, key: Callable[[Any], Any]) -> Ranked:
    """One ranking of both, best first, each object once; of equal scores the first ranking first.

    Examples
    --------
    >>> first = Ranked(np.array(["a", "b"], dtype=object), np.array([2.0, 0.0]))
    >>> merged(first, Ranked(np.array(["c", "b"], dtype=object), np.array([1.0, 0.0])), str).objects.tolist()
    ['a', 'c', 'b']
    """
    known = set(keys(first.objects, key))
    new = np.asarray([i for i, each in enumerate(keys(second.objects, key)) if each not in known], dtype=np.intp)
    if not len(new):
        return first
    objects = concatenate(first.objects, take(second.objects, new))
    scores = np.concatenate([first.scores, second.scores[new]])
    order = np.argsort(-scores, kind="stable")
    return Ranked(take(objects, order), scores[order])


def check_count(k: Any) -> int:
    """Return k as an int, or raise ValueError unless it is a positive whole number."""
    return check_whole(k, "k", expected="how many objects to return, a whole number from 1")


# -- the decoders that decoder="auto" chooses from ------------------------------------------------------

D = TypeVar("D", bound=type[Decoder])

_REGISTERED: dict[str, tuple[int, type[Decoder]]] = {}
"""Priority and class, by full name: a class defined again takes the place of the first."""


def register(priority: int = 100) -> Callable[[D], D]:
    """Offer a decoder class to `auto_decoder`, which asks its classmethod `suits`.

    Classes are asked from the highest priority down, of one priority the last registered first, and so by default before those
    of the library. A class is asked only about kernels it `decodes` and, where it names `kernels` or `losses`, about those.

    Examples
    --------
    >>> from mercer.decoders import Candidates, auto_decoder
    >>> from mercer.kernels import Laplacian
    >>> class Nearest(Candidates):
    ...     @classmethod
    ...     def suits(cls, kernel, loss, outputs):
    ...         return (cls(), "distances are city blocks") if repr(kernel) == "Laplacian(scale=0.125)" else None
    >>> _ = register()(Nearest)  # or @register() above the class
    >>> auto_decoder(Laplacian(0.125))
    (Nearest(), 'distances are city blocks')
    """

    def add(decoder: D) -> D:
        name = f"{decoder.__module__}.{decoder.__qualname__}"
        _REGISTERED.pop(name, None)
        _REGISTERED[name] = (priority, decoder)
        return decoder

    return add


def auto_decoder(kernel: Kernel, loss: Any = None, outputs: Collection | None = None) -> tuple[Decoder, str]:
    """The decoder for a resolved output kernel and a loss, and one sentence why.

    The registered decoders are asked in turn, and the first that suits is taken:

    ========  ==============  ===============================================================
    priority  decoder         suits
    ========  ==============  ===============================================================
    40        `ExpectedF1`    the loss `F1`
    40        `Thresholded`   `LabelSets` with the loss `Hamming`
    40        `ClosedForm`    `Linear`, also with the loss `SquaredError`, `RocAuc` or `TopK`
    40        `FixedPoint`    `Gaussian` on vectors
    40        `PerPosition`   `Positions`
    40        `KemenyOrder`   `Kemeny`, also with the loss `Kendall`
    40        `Assignment`    `RankHamming`, also with the loss `Hamming`
    40        `Sorting`       `Borda`, also with the loss `SquaredError`, and `Lehmer`
    30        `LongestPath`   `WeightedDegree` without shifts, sums with `Positions`
    20        `BeamSearch`    `Spectrum`, `Mismatch`, their sums, normalised or not
    10        `ExpectedLoss`  any loss that is not the distance of the kernel
    0         `Candidates`    any kernel
    ========  ==============  ===============================================================

    Where no loss is named, `suits` gets None, which stands for the distance of the kernel. Factors around the kernel change
    nothing. `LongestPath` and `BeamSearch` do not suit training `outputs` with too many symbols.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> auto_decoder(0.5 * Linear())
    (ClosedForm(), 'under Linear() the point is the vector, so nothing has to be searched')
    """
    named, core = None if loss is None else resolve_loss(loss, kernel), layers(kernel).core
    for _, decoder in sorted(_REGISTERED.values(), key=lambda entry: entry[0])[::-1]:
        asked = not (decoder.kernels or decoder.losses)
        if asked or isinstance(core, decoder.kernels) or isinstance(named, decoder.losses):
            found = decoder.suits(kernel, named, outputs) if decoder.decodes(kernel) else None
            if found is not None:
                return found
    raise TypeError(f"no registered decoder suits {kernel!r} with {named!r}; pass decoder=Candidates()")


# -- the layers around an output kernel, which decoders look through ------------------------------------


class Layers(NamedTuple):
    """A kernel without its factors, its mean and its cosine, and which of the last two it had."""

    core: Kernel
    normalized: bool
    centre: CenteredAt | None


def layers(kernel: Kernel) -> Layers:
    """Take a kernel apart; factors are removed at every level."""
    kernel = unscaled(kernel)
    centre = kernel if isinstance(kernel, CenteredAt) else None
    kernel = kernel if centre is None else unscaled(centre.kernel)
    if isinstance(kernel, Normalized):
        return Layers(unscaled(kernel.kernel), True, centre)
    return Layers(kernel, False, centre)


def unscaled(kernel: Kernel) -> Kernel:
    """The kernel inside its factors, which do not move the nearest object."""
    return unscaled(kernel.kernel) if isinstance(kernel, Scaled) else kernel


def factor(kernel: Kernel) -> float:
    """The product of all factors around a kernel."""
    return float(kernel.factor) * factor(kernel.kernel) if isinstance(kernel, Scaled) else 1.0


def is_distance_of(loss: Loss | None, kernel: Kernel) -> bool:
    """Whether a loss is the squared distance of the kernel, with its factors or without; None is."""
    return loss is None or loss in (KernelLoss(kernel), KernelLoss(unscaled(kernel)))
