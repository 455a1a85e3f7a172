"""What a decoder is: a point of the output feature space back to a real object."""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator

from mercer.core.arrays import Array, like, namespace, to_numpy
from mercer.core.collections import Collection, as_vectors, count, is_numeric, reject_non_collection, take
from mercer.decoders.pool import Pool, training_candidates
from mercer.embeddings.base import Embedding
from mercer.losses.base import Loss, resolve_loss

_TOGETHER = 1024
"""Candidates of several examples whose features are found in one go."""


class Ranked(NamedTuple):
    """Collection, best first, and the score of each; a higher score is better."""

    objects: Collection
    scores: np.ndarray


class Decoder(BaseEstimator):
    r"""Finds the object nearest to a point, :math:`\arg\min_y l(y,y) - 2\langle h, \psi(y)\rangle`.

    A point is a row of coordinates in a fitted embedding. Every decoder can `rank` the training
    outputs and `choose` among candidates it is given; a new one defines `decode`, or, to search the
    candidates under another score, `_points` and `_features`.

    Attributes
    ----------
    embedding_ : Embedding
        The embedding the points are given in.
    loss_ : Loss or None
        The loss named at fit.
    constructs : bool
        Whether `rank` gives objects it made itself beside the training outputs.
    """

    batch_size: int | None = None
    constructs: bool = False
    embedding_: Embedding
    loss_: Loss | None

    def fit(self, embedding: Embedding, loss: Any = None) -> Self:
        """Prepare to decode points of a fitted embedding."""
        self.loss_ = None if loss is None else resolve_loss(loss, embedding.kernel_)
        self.embedding_ = embedding
        return self

    def decode(self, H: Array, leave_out: np.ndarray | None = None) -> Collection:
        """The object for each point, a row of `H`.

        `leave_out` names, for each point, one of the fitted outputs that it may not become; an
        equal output elsewhere, or having no other candidate at all, lifts that.
        """
        pool, hidden = self._training_pool()
        points = self._points(H)
        masked = self._masked(hidden, leave_out, points)
        index, _ = pool.best(points, 1, masked, self._batch())
        return take(pool.objects, index[:, 0])

    def rank(self, H: Array, k: int, leave_out: np.ndarray | None = None) -> list[Ranked]:
        """The k best objects for each point, scored ``2⟨h, ψ(y)⟩ - l(y, y)``: training outputs, and what is constructed."""
        return self.rank_training(H, k, leave_out)

    def rank_training(self, H: Array, k: int, leave_out: np.ndarray | None = None) -> list[Ranked]:
        """The k best training outputs for each point, scored as by `rank`."""
        pool, hidden = self._training_pool()
        points = self._points(H)
        return self._ranked(points, pool, k, self._masked(hidden, leave_out, points))

    def choose(self, H: Array, candidates: Collection, k: int = 1) -> list[Ranked]:
        """The k best of the given candidates for each point; the objects are the candidates."""
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
        """What this decoder makes small, for the i-th point and the i-th object."""
        pool = self._given(objects, "objects")
        points = like(self._points(H), pool.features)
        if points.shape[0] != len(pool):
            raise ValueError(f"H has {points.shape[0]} points and objects has {len(pool)} objects")
        products = namespace(points).sum(points * pool.features, axis=1)
        return to_numpy(pool.offsets - products)

    def support(self, H: Array) -> np.ndarray | None:
        """How much weight on the fitted outputs each point has, for scores that a point without any makes look good."""
        return None

    # -- how candidates are scored: points @ features.T - offsets --------------------------------

    def _points(self, H: Array) -> Array:
        """What stands for a point in the scores."""
        return as_vectors(H, "H")

    def _features(self, objects: Collection) -> tuple[Array, Array]:
        """Features and offset of each candidate."""
        return 2.0 * self.embedding_.transform(objects), self.embedding_.norms(objects)

    # -- shared steps ----------------------------------------------------------------------------

    def _training_pool(self) -> tuple[Pool, np.ndarray]:
        """The default candidates, and which of them goes with each output that is left out."""
        index, hidden = training_candidates(self.embedding_)
        return Pool(take(self.embedding_.outputs_, index), *self._training_features(index)), hidden

    def _training_features(self, index: np.ndarray) -> tuple[Array, Array]:
        """`_features` of the outputs at `index`, for a decoder that knows them without working them out."""
        return self._features(take(self.embedding_.outputs_, index))

    def _given(self, candidates: Collection, name: str) -> Pool:
        """A pool of the caller's own candidates, none of them dropped."""
        objects = self._checked(candidates, name)
        return Pool(objects, *self._features(objects))

    def _each_given(self, candidates: Sequence[Collection]) -> Iterator[Pool]:
        """A pool for each collection; the features of many small ones are found in one go."""
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
        features, offsets = self._features(np.concatenate(collections))
        ends = np.cumsum([count(objects) for objects in collections])
        for objects, end in zip(collections, ends, strict=True):
            rows = slice(end - count(objects), end)
            yield Pool(objects, features[rows, ...], offsets[rows, ...])

    def _checked(self, candidates: Collection, name: str) -> Collection:
        """The caller's own candidates, as the output kernel wants them."""
        reject_non_collection(candidates, name)
        if count(candidates) == 0:
            raise ValueError(f"{name} is empty; expected at least one candidate object")
        objects = self.embedding_.kernel_.check(candidates, name)
        if is_numeric(objects) and is_numeric(self.embedding_.outputs_):
            objects = like(objects, self.embedding_.outputs_)
        return objects

    def _ranked(self, points: Array, pool: Pool, k: int, masked: np.ndarray | None = None) -> list[Ranked]:
        self._require_count(k)
        indices, scores = pool.best(points, int(k), masked, self._batch())
        kept = np.isfinite(scores)
        return [
            Ranked(take(pool.objects, row[keep]), score[keep])
            for row, score, keep in zip(indices, scores, kept, strict=True)
        ]

    @staticmethod
    def _require_count(k: Any) -> None:
        if isinstance(k, bool) or not isinstance(k, numbers.Integral) or k < 1:
            raise ValueError(f"k={k!r}; expected how many objects to return, a whole number from 1")

    def _masked(self, hidden: np.ndarray, leave_out: np.ndarray | None, points: Array) -> np.ndarray | None:
        """The candidate each point may not become, or None when nothing is left out."""
        if leave_out is None:
            return None
        left = np.asarray(leave_out)
        if left.shape != (points.shape[0],) or left.dtype.kind not in "iu":
            raise ValueError(
                f"leave_out has shape {left.shape} and dtype {left.dtype}; expected one index for "
                f"each of the {points.shape[0]} points"
            )
        if left.size and not (left.min() >= 0 and left.max() < len(hidden)):
            raise ValueError(
                f"leave_out goes from {left.min()} to {left.max()}; expected indices of the "
                f"{len(hidden)} outputs the embedding was fitted on"
            )
        return hidden[left]

    def _weights(self, H: Array) -> Array:
        """Points as weights on the fitted outputs, in the library of the outputs."""
        H, outputs = as_vectors(H, "H"), self.embedding_.outputs_
        return self.embedding_.weights(like(H, outputs) if is_numeric(outputs) else to_numpy(H))

    def _batch(self) -> int | None:
        size: Any = self.batch_size
        if size is not None and (isinstance(size, bool) or int(size) != size or size < 1):
            raise ValueError(
                f"batch_size={size!r}; expected how many points to score at a time, a whole number "
                "from 1, or None to bound the memory"
            )
        return size


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
