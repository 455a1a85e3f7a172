"""Losses of rankings, and of scores that rank labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.core.arrays import Array, float64, is_array, like, namespace, to_numpy
from mercer.core.collections import Collection, as_vectors, hash_key, is_numeric, members
from mercer.core.validation import check_choice, check_whole
from mercer.losses.base import Loss, require_same_width, row_products, side_by_side
from mercer.structures.rankings import stacked


@dataclass(eq=False, repr=False)
class Kendall(Loss):
    r"""The disagreement of two rankings, :math:`(1 - \tau) / 2`: without ties, the share of pairs in another order.

    A ranking is a vector with the rank of each item (or its score: both rankings have to be of one kind); equal ranks are a tie.
    An item whose rank is NaN, or below zero where ranks are whole numbers, is not ranked, and its pairs are not compared.

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

    outputs = "rankings: rows of ranks, NaN for items that are not ranked"
    ties: str = "a"

    def compute(self, Y_true: Collection, Y_pred: Collection, paired: bool) -> Array:
        """Losses of rankings."""
        check_choice(self.ties, "ties", ("a", "b"))
        A, B = _ranks(Y_true, "Y_true"), _ranks(Y_pred, "Y_pred")
        require_same_width(A, B, "items")
        A, B = side_by_side(A, B, paired=paired)
        xp = namespace(A)
        zero = row_products(xp.zeros_like(A[:, :1]), xp.zeros_like(B[:, :1]), paired)
        agreement = pairs = strict = other_strict = zero
        for item in range(A.shape[1] - 1):
            a, known_a = _compared(A, item)
            b, known_b = _compared(B, item)
            agreement = agreement + row_products(a, b, paired)
            if self.ties == "a":
                pairs = pairs + row_products(known_a, known_b, paired)
            else:
                strict = strict + row_products(a * a, known_b, paired)
                other_strict = other_strict + row_products(known_a, b * b, paired)
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

    That is the share of (relevant, irrelevant) pairs of labels that the scores put in the wrong order, ties by half; 0 if there
    is no pair. y says which labels are relevant (0 or 1), ŷ gives each label a score.

    Examples
    --------
    >>> RocAuc()([1, 0, 0], [0.5, 0.9, 0.1])
    0.5
    """

    outputs = "rows of 0 and 1, predicted as rows of scores"
    takes_scores = True

    def compute(self, Y_true: Collection, Y_pred: Collection, paired: bool) -> Array:
        """Losses of label sets under scores."""
        from scipy.stats import rankdata

        relevant, scores = _labels_and_scores(Y_true, Y_pred, paired)
        xp = namespace(relevant)
        ordered = row_products(relevant, like(rankdata(to_numpy(scores), axis=1), relevant), paired)
        relevant = relevant if paired else relevant[:, None, :]
        above, below = xp.sum(relevant, axis=-1), xp.sum(1.0 - relevant, axis=-1)
        pairs = above * below
        right = ordered - above * (above + 1.0) / 2.0
        share = right / xp.where(pairs == 0, xp.ones_like(pairs), pairs)
        return xp.where(pairs == 0, xp.zeros_like(ordered), 1.0 - share)


@dataclass(eq=False, repr=False)
class TopK(Loss):
    r"""The share of the true labels that is not among the k best, :math:`1 - |y \cap \mathrm{top}_k(\hat y)| / \min(k, |y|)`.

    y says which labels are true (0 or 1; or the number of the one that is) and ŷ gives each label a score; ties count against the
    true label. For objects of any other kind ŷ is a list of guesses, best first, and the loss is 0 if y is one of the first k,
    else 1.

    Parameters
    ----------
    k : int
        Number of labels, or guesses, that count.

    Examples
    --------
    >>> TopK(2)([0, 1, 0], [0.2, 0.3, 0.5]), TopK(2)("ab", ["ba", "aa", "ab"])
    (0.0, 1.0)
    """

    outputs = "rows of 0 and 1, or class numbers, predicted as rows of scores; other objects, predicted as lists"
    takes_scores = True
    k: int = 5

    def pointwise(self, y_true: Any, y_pred: Any) -> float:
        """The loss of one object."""
        if _is_vector(y_pred):
            return super().pointwise(y_true, y_pred)
        self._check_parameters()
        guesses = y_pred if isinstance(y_pred, list) else [y_pred]
        return float(hash_key(y_true) not in map(hash_key, guesses[: self.k]))

    def compute(self, Y_true: Collection, Y_pred: Collection, paired: bool) -> Array:
        """Losses of labels under scores, or of objects under lists of guesses."""
        if not (Y_pred.ndim == 2 if is_numeric(Y_pred) else all(map(_is_vector, Y_pred))):
            return super().compute(Y_true, Y_pred, paired)
        from scipy.stats import rankdata

        self._check_parameters()
        true, scores = _labels_and_scores(Y_true, Y_pred, paired)
        xp = namespace(true)
        first = like((rankdata(-to_numpy(scores), method="max", axis=1) <= self.k).astype(float), true)
        found, sizes = row_products(true, first, paired), xp.sum(true if paired else true[:, None, :], axis=-1)
        missed = 1.0 - found / xp.clip(sizes, 1.0, float(self.k))
        return xp.where(sizes == 0, xp.zeros_like(found), missed)

    def _check_parameters(self) -> None:
        check_whole(self.k, "k", expected="the number of guesses that count in TopK, a whole number from 1")


def _compared(rankings: Array, item: int) -> tuple[Array, Array]:
    """For one item and each after it: the sign of the difference of ranks, and whether both are ranked."""
    xp = namespace(rankings)
    difference = rankings[:, item + 1 :] - rankings[:, item][:, None]
    known = xp.isfinite(difference)
    return xp.sign(xp.where(known, difference, xp.zeros_like(difference))), xp.astype(known, xp.float64)


def _ranks(rankings: Collection, name: str) -> Array:
    """Rankings as rows of doubles, NaN where an item has no rank."""
    rows = rankings if is_numeric(rankings) else stacked(rankings, name)
    if rows.ndim != 2 or not is_numeric(rows):
        found = f"shape {tuple(rows.shape)} and dtype {rows.dtype}"
        raise ValueError(f"{name} has {found}; expected one row of ranks, numbers, for each ranking")
    ranks = float64(rows)
    if not namespace(rows).isdtype(rows.dtype, "integral"):
        return ranks
    xp = namespace(ranks)
    return xp.where(ranks < 0, xp.full_like(ranks, xp.nan), ranks)


def _is_vector(row: Any) -> bool:
    if is_array(row):
        return is_numeric(row) and row.ndim == 1
    array = _numbers(row)
    return array is not None and array.ndim == 1 and array.size > 0


def _numbers(things: Any) -> np.ndarray | None:
    """A list of numbers, or of lists of numbers, as an array; None for anything else."""
    try:
        array = np.asarray(things)
    except ValueError:  # ragged
        return None
    return array if array.dtype.kind in "biuf" else None


def _labels_and_scores(A: Collection, B: Collection, paired: bool) -> tuple[Array, Array]:
    scores = as_vectors(B, "Y_pred")
    labels = _class_numbers(A)
    true = as_vectors(A, "Y_true") if labels is None else _one_hot(labels, scores)
    require_same_width(true, scores, "labels")
    wrong = ~((to_numpy(true) == 0) | (to_numpy(true) == 1))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        value = to_numpy(true)[row, column]
        raise ValueError(f"row {row} of Y_true holds {value} for label {column}; expected 1 for a true label, else 0")
    return side_by_side(true, scores, paired=paired)


def _class_numbers(A: Collection) -> np.ndarray | None:
    """The one true label of each object, where `A` names it; None where `A` has a row for each object."""
    if is_numeric(A):
        return None if A.ndim > 1 else to_numpy(A)
    array = _numbers(members(A))
    return array if array is not None and array.ndim == 1 and array.dtype.kind in "biu" else None


def _one_hot(labels: np.ndarray, scores: Array) -> Array:
    width = scores.shape[1]
    wrong = ~((labels >= 0) & (labels < width) & (labels == np.floor(labels)))
    if wrong.any():
        i = int(np.argmax(wrong))
        raise ValueError(f"Y_true[{i}] is label {labels[i]}; expected one from 0 to {width - 1}, as Y_pred has scores")
    return like(np.eye(width)[labels.astype(np.intp)], scores)
