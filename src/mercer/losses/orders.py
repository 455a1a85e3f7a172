"""Losses of orders: rankings, and scores that put labels in an order."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

from mercer.core.arrays import Array, float64, is_array, like, namespace, to_numpy
from mercer.core.collections import Collection, as_vectors, hash_key, is_numeric, members
from mercer.losses.base import Loss
from mercer.losses.rows import alone, side_by_side


@dataclass(eq=False, repr=False)
class Kendall(Loss):
    r"""How much two rankings disagree, :math:`(1 - \tau) / 2`: without ties, the share of pairs in another order.

    A ranking is a vector with the rank of each item (or its score: both rankings have to be of one kind). Items with equal
    ranks are tied. An item whose rank is NaN, or below zero where ranks are whole numbers, is not ranked, and its pairs are not
    compared. The mean τ is one minus twice the mean loss.

    Parameters
    ----------
    ties : {"a", "b"}
        τ-a divides the difference of concordant and discordant pairs by the number of pairs, so that a tied pair costs half a
        pair. τ-b divides by :math:`\sqrt{n_y n_{\hat y}}`, the pairs not tied in either: two rankings with the same ties cost 0.

    Examples
    --------
    >>> Kendall()([1, 2, 3], [1, 3, 2])  # one of three pairs
    0.33333333333333337
    >>> Kendall("a")([1, 1, 2], [1, 1, 2]), Kendall("b")([1, 1, 2], [1, 1, 2])
    (0.16666666666666669, 0.0)
    """

    ties: str = "a"

    def pointwise(self, y_true: Any, y_pred: Any) -> float:
        """The loss of two rankings."""
        return float(self.paired(alone(_vector(y_true)), alone(_vector(y_pred)))[0])

    def paired(self, Y_true: Collection, Y_pred: Collection) -> Array:
        """The loss of each pair of rankings."""
        A, B = self._rankings(Y_true, Y_pred, paired=True)
        xp = namespace(A)
        return self._loss(A, B, lambda a, b: xp.sum(a * b, axis=1))

    def matrix(self, A: Collection, B: Collection) -> Array:
        """The loss of all pairs of rankings."""
        A, B = self._rankings(A, B, paired=False)
        return self._loss(A, B, lambda a, b: a @ b.T)

    def _rankings(self, A: Collection, B: Collection, paired: bool) -> tuple[Array, Array]:
        if self.ties not in ("a", "b"):
            raise ValueError(f"ties={self.ties!r} in Kendall; expected 'a' or 'b'")
        A, B = _ranks(A, "Y_true"), _ranks(B, "Y_pred")
        _require_same_width(A, B, "items")
        return side_by_side(A, B, paired=paired)

    def _loss(self, A: Array, B: Array, product: Callable[[Array, Array], Array]) -> Array:
        xp = namespace(A)
        # nothing so far, and all there is for a single item
        agreement = pairs = strict = other_strict = product(xp.zeros_like(A[:, :1]), xp.zeros_like(B[:, :1]))
        for item in range(A.shape[1] - 1):
            a, known_a = _compared(A, item)
            b, known_b = _compared(B, item)
            agreement = agreement + product(a, b)
            if self.ties == "a":
                pairs = pairs + product(known_a, known_b)
            else:
                strict = strict + product(a * a, known_b)
                other_strict = other_strict + product(known_a, b * b)
        if self.ties == "b":
            pairs = xp.sqrt(strict * other_strict)
        nothing = pairs == 0
        tau = agreement / xp.where(nothing, xp.ones_like(pairs), pairs)
        if self.ties == "a":
            return xp.where(nothing, xp.zeros_like(tau), (1.0 - tau) / 2.0)
        alike = (strict == 0) & (other_strict == 0)
        return xp.where(alike, xp.zeros_like(tau), xp.clip((1.0 - tau) / 2.0, 0.0, 1.0))


@dataclass(eq=False, repr=False)
class RocAuc(Loss):
    r"""One minus the area under the ROC curve of one object's labels.

    That is the share of (relevant, irrelevant) pairs of labels that the scores put in the wrong order, ties by half. y says which
    labels are relevant (0 or 1), ŷ gives each label a score. Where all labels or none are relevant, there is no pair and the loss
    is 0.

    Examples
    --------
    >>> RocAuc()([1, 0, 0], [0.5, 0.9, 0.1])
    0.5
    """

    takes_scores = True

    def pointwise(self, y_true: Any, y_pred: Any) -> float:
        """The loss of one object."""
        return float(self.paired(alone(_vector(y_true)), alone(_vector(y_pred)))[0])

    def paired(self, Y_true: Collection, Y_pred: Collection) -> Array:
        """The loss of each object."""
        relevant, scores = _labels_and_scores(Y_true, Y_pred, paired=True)
        return _auc_loss(relevant, scores, lambda a, b: namespace(a).sum(a * b, axis=1))

    def matrix(self, A: Collection, B: Collection) -> Array:
        """The loss of each set of relevant labels under each vector of scores."""
        relevant, scores = _labels_and_scores(A, B, paired=False)
        return _auc_loss(relevant, scores, lambda a, b: a @ b.T)


@dataclass(eq=False, repr=False)
class TopK(Loss):
    r"""The share of the true labels that is not among the k best, :math:`1 - |y \cap \mathrm{top}_k(\hat y)| / \min(k, |y|)`.

    y says which labels are true (0 or 1; or the number of the one that is) and ŷ gives each label a score; ties count against the
    true label. Objects of any other kind: ŷ is a list of guesses, best first, and the loss is whether y is none of the first k.

    Parameters
    ----------
    k : int
        How many labels, or guesses, count.

    Examples
    --------
    >>> TopK(2)([0, 1, 0], [0.2, 0.3, 0.5]), TopK(2)("ab", ["ba", "aa", "ab"])
    (0.0, 1.0)
    """

    k: int = 5
    takes_scores = True

    def pointwise(self, y_true: Any, y_pred: Any) -> float:
        """The loss of one object."""
        if _is_vector(y_pred) and not isinstance(y_true, str):
            return float(
                self.paired(alone(y_true if isinstance(y_true, int) else _vector(y_true)), alone(_vector(y_pred)))[0]
            )
        self._check()
        guesses = y_pred if isinstance(y_pred, list) else [y_pred]
        return float(hash_key(y_true) not in map(hash_key, guesses[: self.k]))

    def paired(self, Y_true: Collection, Y_pred: Collection) -> Array:
        """The loss of each object."""
        if not _are_scores(Y_pred):
            return super().paired(Y_true, Y_pred)
        self._check()
        return self._missed(*_labels_and_scores(Y_true, Y_pred, True), lambda a, b: namespace(a).sum(a * b, axis=1))

    def matrix(self, A: Collection, B: Collection) -> Array:
        """The loss of each true object under each vector of scores."""
        if not _are_scores(B):
            return super().matrix(A, B)
        self._check()
        return self._missed(*_labels_and_scores(A, B, False), lambda a, b: a @ b.T)

    def _missed(self, true: Array, scores: Array, product: Callable[[Array, Array], Array]) -> Array:
        xp = namespace(true)
        first = like((rankdata(-to_numpy(scores), method="max", axis=1) <= self.k).astype(float), true)
        found, sizes = product(true, first), xp.sum(true, axis=1)
        possible = xp.clip(sizes, 1.0, float(self.k))
        empty = sizes == 0
        if found.ndim == 2:
            possible, empty = possible[:, None], empty[:, None]
        return xp.where(empty, xp.zeros_like(found), 1.0 - found / possible)

    def _check(self) -> None:
        if isinstance(self.k, bool) or not isinstance(self.k, numbers.Integral) or self.k < 1:
            raise ValueError(f"k={self.k!r} in TopK; expected how many count, a whole number from 1")


def _auc_loss(relevant: Array, scores: Array, product: Callable[[Array, Array], Array]) -> Array:
    xp = namespace(relevant)
    ranks = like(rankdata(to_numpy(scores), axis=1), relevant)
    above, below = xp.sum(relevant, axis=1), xp.sum(1.0 - relevant, axis=1)
    ordered = product(relevant, ranks)
    if ordered.ndim == 2:
        above, below = above[:, None], below[:, None]
    pairs = above * below
    right = ordered - above * (above + 1.0) / 2.0
    return xp.where(pairs == 0, xp.zeros_like(ordered), 1.0 - right / xp.where(pairs == 0, xp.ones_like(pairs), pairs))


def _compared(rankings: Array, item: int) -> tuple[Array, Array]:
    """For one item and each after it: the sign of the difference of ranks, and whether both have one."""
    xp = namespace(rankings)
    difference = rankings[:, item + 1 :] - rankings[:, item][:, None]
    known = xp.isfinite(difference)
    return xp.sign(xp.where(known, difference, xp.zeros_like(difference))), xp.astype(known, xp.float64)


def _ranks(rankings: Collection, name: str) -> Array:
    """Rankings as rows of doubles, NaN where an item has no rank."""
    rows = rankings if is_numeric(rankings) else np.asarray([_vector(row) for row in _of_one_length(rankings, name)])
    if rows.ndim != 2:
        raise ValueError(f"{name} has shape {tuple(rows.shape)}; expected one row of ranks for each ranking")
    ranks = float64(rows)
    if not namespace(rows).isdtype(rows.dtype, "integral"):
        return ranks
    xp = namespace(ranks)
    return xp.where(ranks < 0, xp.full_like(ranks, xp.nan), ranks)


def _of_one_length(rankings: Collection, name: str) -> list[Any]:
    rows = list(rankings)
    for i, row in enumerate(rows):
        if not _is_vector(row):
            raise TypeError(
                f"{name}[{i}] is {row!r:.60}, a {type(row).__name__}; expected the ranks of the items, numbers"
            )
        if len(row) != len(rows[0]):
            raise ValueError(
                f"{name}[{i}] ranks {len(row)} items and {name}[0] ranks {len(rows[0])}; expected as many in all. "
                "Write NaN for an item that is not ranked"
            )
    return rows


def _is_vector(row: Any) -> bool:
    if is_array(row):
        return is_numeric(row) and row.ndim == 1
    return isinstance(row, list | tuple) and len(row) > 0 and all(isinstance(entry, numbers.Real) for entry in row)


def _vector(row: Any) -> Array:
    return row if is_array(row) else np.asarray(row)


def _are_scores(Y: Collection) -> bool:
    if is_numeric(Y):
        return Y.ndim == 2
    return all(_is_vector(row) for row in Y)


def _labels_and_scores(A: Collection, B: Collection, paired: bool) -> tuple[Array, Array]:
    scores = as_vectors(B, "Y_pred")
    labels = _numbers(A)
    true = as_vectors(A, "Y_true") if labels is None else _one_hot(labels, scores)
    _require_same_width(true, scores, "labels")
    wrong = ~((to_numpy(true) == 0) | (to_numpy(true) == 1))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise ValueError(
            f"row {row} of Y_true holds {to_numpy(true)[row, column]} for label {column}; expected 0 or 1, whether the label "
            "is true"
        )
    return side_by_side(true, scores, paired=paired)


def _numbers(A: Collection) -> np.ndarray | None:
    """The one true label of each object, where `A` names it; None where `A` has a row for each object."""
    if is_numeric(A):
        return None if A.ndim > 1 else to_numpy(A)
    entries = members(A)
    return np.asarray(entries) if all(isinstance(entry, numbers.Integral) for entry in entries) else None


def _one_hot(labels: np.ndarray, scores: Array) -> Array:
    width = scores.shape[1]
    wrong = ~((labels >= 0) & (labels < width) & (labels == np.floor(labels)))
    if wrong.any():
        i = int(np.argmax(wrong))
        raise ValueError(
            f"Y_true[{i}] is label {labels[i]}; expected one from 0 to {width - 1}, as Y_pred has {width} scores"
        )
    return like(np.eye(width)[labels.astype(np.intp)], scores)


def _require_same_width(A: Array, B: Array, what: str) -> None:
    if A.shape[1] != B.shape[1]:
        raise ValueError(f"Y_true has {A.shape[1]} {what} and Y_pred {B.shape[1]}; expected as many in both")
