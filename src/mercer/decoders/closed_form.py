"""Vectors under a linear kernel, where the point is the answer; and the parts shared by decoders of vectors."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from mercer.core.arrays import Array, like, namespace, to_numpy
from mercer.core.collections import Collection, as_vectors, concatenate, take
from mercer.decoders.base import Decoder, Ranked, check_count, is_distance_of, layers, register, unscaled
from mercer.decoders.pool import LeftOut
from mercer.embeddings.base import Embedding
from mercer.kernels.base import Kernel
from mercer.kernels.encodings import Encoded, ZScores
from mercer.kernels.vectors import Linear
from mercer.losses import Loss, SquaredError

_SAME = 64 * float(np.finfo(float).eps)  # difference of vectors, relative to the largest coordinate, that is rounding
_TIED = 1e-8  # difference of two scores, relative to the larger of 1 and the score, that a search may leave


@dataclass
class Box:
    """Limits of each coordinate of an answer, two rows each: the outermost value, and the next one for when that is left out."""

    low: Array
    high: Array
    of_data: bool = False
    """True for the range of the training vectors."""

    @classmethod
    def of(cls, bounds: Any, vectors: Array) -> Self:
        """The box for ``bounds="data"`` (the range of the vectors), None (no limits) or a pair."""
        if str(bounds) == "data":
            ordered = namespace(vectors).sort(vectors, axis=0)
            last = vectors.shape[0] - 1
            low, high = (take(ordered, np.asarray(rows)) for rows in ((0, min(1, last)), (last, max(last - 1, 0))))
            return cls(low, high, of_data=True)
        limits = (-np.inf, np.inf) if bounds is None else bounds
        message = (
            f"bounds={bounds!r}; expected 'data', None, or a pair (low, high) with low ≤ high, "
            f"each a number or one number for each of the {vectors.shape[1]} coordinates"
        )
        try:
            low, high = (np.asarray(to_numpy(side), dtype=float).ravel() for side in limits)
            low, high = np.broadcast_arrays(low, high, np.empty(vectors.shape[1]))[:2]
        except (TypeError, ValueError) as error:
            raise ValueError(message) from error
        if not (low <= high).all():
            raise ValueError(message)
        return cls(*(like(np.stack([side, side]), vectors) for side in (low, high)))

    def contains(self, vectors: Array) -> np.ndarray:
        """For each vector, whether it lies in the box."""
        xp = namespace(vectors)
        return to_numpy(xp.all((self.low[:1, :] <= vectors) & (vectors <= self.high[:1, :]), axis=1))

    def sides(self, queries: int, vectors: Array, leave_out: np.ndarray | LeftOut | None) -> tuple[Array, Array]:
        """Lower and upper limits, a row for each query, without those of the training `vectors` that it leaves out."""
        xp, sides = namespace(self.low), []
        if self.of_data and isinstance(leave_out, LeftOut):
            groups, place = np.unique(leave_out.asked, return_inverse=True)
            labels = leave_out.labels(vectors.shape[0])
            rest = [take(vectors, np.flatnonzero(labels != group)) for group in groups]
            rows = [part if part.shape[0] else vectors for part in rest]
            low, high = (xp.stack([side(part, axis=0) for part in rows]) for side in (xp.min, xp.max))
            return take(low, place), take(high, place)
        left_out = None if leave_out is None else take(vectors, np.asarray(leave_out))
        for first, second in ((self.low[:1, :], self.low[1:, :]), (self.high[:1, :], self.high[1:, :])):
            side = first if left_out is None else xp.where(left_out == first, second, first)
            sides.append(xp.broadcast_to(side, (queries, side.shape[1])))
        return sides[0], sides[1]


def clipped(vectors: Array, low: Array, high: Array) -> Array:
    """Each vector, or the nearest to it in its box."""
    xp = namespace(vectors)
    return xp.minimum(xp.maximum(vectors, low), high)


class VectorDecoder(Decoder):
    """Makes the vector of a point within a box; a subclass defines `decode`."""

    constructs = True
    bounds: Any
    vectors_: Any  # the training outputs
    box_: Box  # limits of the answers; infinite where there is no box

    def fit(self, embedding: Embedding, loss: Any = None) -> Self:
        """Keep the training outputs as vectors, and work out the box."""
        super().fit(embedding, loss)
        self.vectors_ = embedding.outputs_
        self.box_ = Box.of(self.bounds, self.vectors_)
        return self

    def reduced(self) -> Self:
        """Return the decoder with one training output in place of all, if points are vectors in themselves."""
        embedding = self.embedding_
        explicit = isinstance(embedding.kernel_, Encoded) and hasattr(embedding, "feature_map_")
        if not (embedding.coordinates_are_outputs or explicit):
            return self
        found, few = copy(self), copy(embedding)
        xp = namespace(self.vectors_)
        # the largest size of each coordinate, by which rounding is measured
        largest = xp.max(xp.abs(self.vectors_), axis=0)[None, :]
        few.outputs_ = found.vectors_ = largest
        few.paired_, few.__dict__["_rows"] = 1, few.transform(largest)
        found.embedding_, found.without_outputs = few, True
        found.__dict__.pop("_pool", None)
        return found

    def rank(self, H: Array, k: int, leave_out: np.ndarray | LeftOut | None = None) -> list[Ranked]:
        """The vector `decode` makes, then the best training outputs in the box, scored ``2⟨h, ψ(y)⟩ - l(y, y)``; k in all."""
        k = check_count(k)
        made = self.decode(H, leave_out)
        scores = -self.objective(H, made)
        firsts = [Ranked(take(made, slice(i, i + 1)), scores[i : i + 1]) for i in range(len(scores))]
        if k == 1:
            return firsts
        pool, candidate_of = self._training_pool()
        points = self._points(H)
        allowed = self._allowed(len(pool), candidate_of, leave_out, points)
        inside = self.box_.contains(as_vectors(pool.objects))[None, :]
        others = self._ranked(points, pool, k, lambda rows: inside if allowed is None else inside & allowed(rows))
        return [_joined(first, own, k) for first, own in zip(firsts, others, strict=True)]


def _joined(first: Ranked, rest: Ranked, k: int) -> Ranked:
    """One ranking of k, in which `rest` does not repeat the first object; scores that tie with the first get its value."""
    own, others = to_numpy(first.objects), to_numpy(rest.objects)
    rounding = _SAME * max(float(np.abs(own).max()), float(np.abs(others).max(initial=0.0)))
    kept = np.flatnonzero(np.abs(others - own).max(axis=1) > rounding)[: k - 1]
    score, scores = first.scores[0], rest.scores[kept]
    tied = scores <= score + _TIED * max(1.0, abs(score))
    scores = np.where(tied, np.minimum(scores, score), scores)
    return Ranked(concatenate(first.objects, take(rest.objects, kept)), np.concatenate([first.scores, scores]))


@register(priority=40)
class ClosedForm(VectorDecoder):
    r"""The vector a point of a linear kernel is, :math:`\hat y = \mu + \sum_j w_j (y_j - \mu)`.

    The origin μ is 0 for `Linear`, and the mean for ``Linear().centered()`` and for z-scores (`mercer.kernels.ZScores`). Every
    vector is a possible answer, so nothing is searched; in a box, each coordinate is moved to its nearest limit. `rank` gives
    the answer first, then the training outputs in the box.

    Parameters
    ----------
    bounds : None, "data" or (low, high), default=None
        No box, the range of each coordinate in the training outputs, or given limits (numbers, or one
        for each coordinate), such as (0, 1) for the pixels of an image.

    Examples
    --------
    >>> from mercer.embeddings import Implicit
    >>> from mercer.kernels import Linear
    >>> embedding = Implicit().fit(Linear(), np.array([[0.0, 1.0], [2.0, 1.0]]))
    >>> ClosedForm().fit(embedding).decode(np.array([[0.5, 0.5]])).tolist()
    [[1.0, 1.0]]
    >>> ClosedForm(bounds=(0.0, 0.5)).fit(embedding).decode(np.array([[0.5, 0.5]])).tolist()
    [[0.5, 0.5]]
    """

    kernels = (Linear, Encoded)
    needs = "Linear()"

    def __init__(self, bounds: Any = None) -> None:
        self.bounds = bounds

    @classmethod
    def decodes(cls, kernel: Kernel) -> bool:
        """For the inner product of vectors, around the origin or around a mean, and for that of z-scores."""
        found = layers(kernel)
        core = found.core.kernel if isinstance(getattr(found.core, "encoding", None), ZScores) else found.core
        return isinstance(core, Linear) and not found.normalized

    @classmethod
    def suits(cls, kernel: Kernel, loss: Loss | None, outputs: Collection | None) -> tuple[Decoder, str] | None:
        """For linear kernels, with their own distance or a loss of scores."""
        within = getattr(unscaled(kernel), "encoding", None)
        name = "the inner product of z-scores" if isinstance(within, ZScores) else repr(unscaled(kernel))
        if getattr(loss, "takes_scores", False):
            return cls(), f"{loss!r} is scored, and under {name} the point is a score for each label"
        if is_distance_of(loss, kernel) or loss == SquaredError():
            return cls(), f"under {name} the point is the vector, so nothing has to be searched"
        return None

    def fit(self, embedding: Embedding, loss: Any = None) -> Self:
        """Work out the box and the mean."""
        self.centre_ = layers(embedding.kernel_).centre
        return super().fit(embedding, loss)

    def decode(self, H: Array, leave_out: np.ndarray | LeftOut | None = None) -> Array:
        """The vector of each point; an output left out does not stretch the box of the data."""
        own = self.embedding_.coordinates_are_outputs
        vectors = like(as_vectors(H, "H"), self.vectors_) if own else self._combined(H)
        return clipped(vectors, *self.box_.sides(vectors.shape[0], self.vectors_, leave_out))

    def _combined(self, H: Array) -> Array:
        """The vector of each point from its weights on the training outputs, or from its features."""
        encoding = getattr(layers(self.embedding_.kernel_).core, "encoding", None)
        if encoding is not None:
            scores = isinstance(self.embedding_.kernel_, Encoded)  # without a factor around it
            explicit = scores and hasattr(self.embedding_, "feature_map_")
            return encoding.inverse(H if explicit else self._weights(H) @ encoding(self.vectors_))
        weights = self._weights(H)
        vectors = weights @ self.vectors_
        if self.centre_ is None:
            return vectors
        mean = like(self.centre_.weights, vectors) @ like(as_vectors(self.centre_.reference), vectors)
        return vectors + (1.0 - namespace(weights).sum(weights, axis=1))[:, None] * mean
