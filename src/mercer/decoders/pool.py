"""Candidates with their features, scored against points in blocks; ties are decided in one way everywhere."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.core.arrays import Array, NumericalWarning, cached_property, is_array, like, namespace, to_numpy
from mercer.core.collections import Collection, count, distinct, take
from mercer.embeddings.base import Embedding

ROUNDING = 256 * float(np.finfo(float).eps)
"""Relative difference of two scores that counts as rounding. A point alone and the same point in a batch go through different
matrix products and differ in the last bits; scores that close tie, and the object listed first wins."""

_SAMPLE = 256  # most candidates from which the size of the terms of a score is estimated
_SCORES = 2**24  # most scores held at a time, 128 MiB of doubles
Allowed = Callable[[slice], np.ndarray]  # for each point of a batch and each candidate, whether it may be the answer


@dataclass(frozen=True)
class LeftOut:
    """Fitted outputs that points may not become: for each point the output at a position, and all outputs of its group.

    Read as an array, it is the positions.

    Parameters
    ----------
    positions : int array (q,)
        An output for each point.
    groups : int array (n,)
        The group of each of the first n outputs; others, which have no input, are never left out.
    """

    positions: np.ndarray
    groups: np.ndarray

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.positions, dtype=dtype)

    @property
    def asked(self) -> np.ndarray:
        """The group of each point."""
        return self.groups[self.positions]

    def labels(self, outputs: int) -> np.ndarray:
        """Return the group of each output, of its own for those without an input."""
        rest = np.arange(outputs - len(self.groups)) + (int(self.groups.max()) + 1)
        return np.concatenate([self.groups, rest])


def left_out(positions: np.ndarray, groups: np.ndarray | None) -> np.ndarray | LeftOut:
    """Return what the points of some training pairs leave out: their own output, or those of their group."""
    return positions if groups is None else LeftOut(positions, groups)


@dataclass
class Pool:
    """Objects a point may be decoded to, with scores ``points @ features.T - offsets``."""

    objects: Collection
    features: Array
    offsets: Array

    def __len__(self) -> int:
        return self.features.shape[0]

    def best(
        self, points: Array, k: int, allowed: Allowed | None = None, batch: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Indices and scores of the k best candidates of each point, ties in their order; -inf for those not allowed."""
        points = like(points, self.features)
        if points.shape[1] != self.features.shape[1]:
            raise ValueError(
                f"H has {points.shape[1]} columns; expected {self.features.shape[1]}, one for each "
                "coordinate of the embedding the decoder was fitted with"
            )
        k, slack, xp = min(k, len(self)), self.slack(points), namespace(points)
        size = max(1, _SCORES // len(self)) if batch is None else batch
        indices, scores = np.empty((2, points.shape[0], k))
        for start in range(0, points.shape[0], size):
            rows = slice(start, min(start + size, points.shape[0]))
            values = points[rows, :] @ self.features.T - self.offsets
            if allowed is not None:
                values = xp.where(like(allowed(rows), values), values, xp.full_like(values, -xp.inf))
            indices[rows], scores[rows] = top(values, k, slack[rows])
        return indices.astype(np.intp), scores

    def slack(self, points: Array) -> Array:
        """Difference in the scores of each point that counts as rounding."""
        features, offset = self._sizes
        return ROUNDING * (namespace(points).abs(points) @ like(features, points) + offset)

    @cached_property
    def _sizes(self) -> tuple[np.ndarray, float]:
        """Size of each feature, and of the offsets, in typical candidates."""
        # of some candidates, without those far longer than the rest, which would blur the others
        step = -(-len(self) // _SAMPLE)
        features = np.abs(to_numpy(self.features)[::step])
        total = features.sum(axis=1)
        usual = np.median(total[total > 0]) if total.any() else 0.0
        return features[total <= 4 * usual].max(axis=0), float(np.median(np.abs(to_numpy(self.offsets)[::step])))


def top(scores: Array, k: int, slack: Array | float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Columns and values of the k largest scores of each row, best first, ties by lowest column.

    Scores at most `slack` (one for each row) below the first of their kind tie with it, and get its value.
    """
    if k == 1:
        xp = namespace(scores)
        highest = xp.max(scores, axis=1)
        near = xp.astype(scores >= (highest - slack)[:, None], xp.int8)
        return to_numpy(xp.argmax(near, axis=1))[:, None], to_numpy(highest)[:, None]
    values, slack = to_numpy(scores), to_numpy(slack) if is_array(slack) else slack
    # only what may tie with the k-th has to be sorted
    limit = np.partition(values, -k, axis=1)[:, -k] - slack
    rivals = int((values >= limit[:, None]).sum(axis=1).max())
    columns = np.argpartition(-values, rivals - 1, axis=1)[:, :rivals]
    values = np.take_along_axis(values, columns, axis=1)
    order = np.argsort(-values, axis=1)
    columns = np.take_along_axis(columns, order, axis=1)
    values = np.take_along_axis(values, order, axis=1)
    for j in range(1, rivals):
        tied = values[:, j] >= values[:, j - 1] - slack
        values[:, j] = np.where(tied, values[:, j - 1], values[:, j])
    order = np.lexsort((columns, -values), axis=1)[:, :k]
    return np.take_along_axis(columns, order, axis=1), np.take_along_axis(values, order, axis=1)


def snapped(values: np.ndarray) -> np.ndarray:
    """Values rounded to a grid, a power of two of about `ROUNDING` times the largest value of their row.

    Values that differ by rounding become equal, and sums of them are exact: a search over them finds the same ties whatever
    batch the row came in.
    """
    largest = np.abs(values).max(axis=tuple(range(1, values.ndim)), keepdims=True, initial=0.0)
    # 0.7: rows whose largest value is a power of two, up to rounding, get one grid
    grid = np.ldexp(1.0, np.frexp(0.7 * ROUNDING * largest)[1])
    return np.rint(values / grid) * grid


def training_candidates(embedding: Embedding) -> tuple[np.ndarray, np.ndarray]:
    """Indices of the outputs that are the default candidates, and the candidate that each output is, -1 for none.

    The candidates are the distinct outputs, each where it first occurs, without those the kernel cannot see.
    """
    outputs, kernel = embedding.outputs_, embedding.kernel_
    # rows of a Gram matrix are all kept: each has a column for every other
    first, group = (np.arange(count(outputs)),) * 2 if kernel.pairwise else distinct(outputs, kernel.key)
    kept = np.flatnonzero(kernel.sees(take(outputs, first)))
    unseen = len(first) - len(kept)
    if len(kept) == 0:
        kept = np.arange(len(first))
    elif unseen:
        warnings.warn(
            f"{unseen} of the {len(first)} distinct outputs cannot be told apart by {kernel!r}; they were left out of the "
            "candidates. Pass candidates=... to choose among your own",
            NumericalWarning,
            stacklevel=4,
        )
    candidate = np.full(len(first), -1)
    candidate[kept] = np.arange(len(kept))
    return first[kept], candidate[group]


def remaining(candidate_of: np.ndarray, candidates: int, leave_out: np.ndarray | LeftOut) -> Allowed:
    """Return the candidates each point may become: those with an output that it does not leave out, or all if there is none.

    Examples
    --------
    >>> remaining(np.array([0, 1, 0]), 2, np.array([0, 1]))(slice(0, 2)).tolist()
    [[True, True], [True, False]]
    >>> remaining(np.array([0, 1, 2]), 3, LeftOut(np.array([0, 2]), np.array([0, 0, 1])))(slice(0, 2)).tolist()
    [[False, False, True], [True, True, False]]
    """
    asked, owner = asked_of(leave_out), owners_of(candidate_of, candidates, leave_out)
    if np.all(owner == owner[0]):  # nothing would remain
        asked = np.where(asked == owner[0], -2, asked)
    return lambda rows: owner != asked[rows, None]


def asked_of(leave_out: np.ndarray | LeftOut) -> np.ndarray:
    """Return the group that each point leaves out: a number of its own for each output if there are no groups."""
    return leave_out.asked if isinstance(leave_out, LeftOut) else leave_out


def owners_of(candidate_of: np.ndarray, candidates: int, leave_out: np.ndarray | LeftOut) -> np.ndarray:
    """Return for each candidate the group of all outputs that are this candidate, -1 if they are of several."""
    outputs = len(candidate_of)
    labels = leave_out.labels(outputs) if isinstance(leave_out, LeftOut) else np.arange(outputs)
    seen = candidate_of >= 0
    first, last = np.full(candidates, np.iinfo(np.intp).max), np.full(candidates, -1)
    np.minimum.at(first, candidate_of[seen], labels[seen])
    np.maximum.at(last, candidate_of[seen], labels[seen])
    return np.where(first == last, first, -1)
