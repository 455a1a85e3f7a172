"""Losses of sets, masks, rankings and scores against their definitions, one pair at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau
from sklearn.base import clone
from sklearn.metrics import f1_score, jaccard_score, roc_auc_score

from mercer import DependencyEstimator
from mercer.kernels import LabelSets
from mercer.losses import F1, IoU, Jaccard, Kendall, RocAuc, TopK

SETS = [{1, 2}, set(), frozenset({2}), {3}, {1, 2, 3}, {1, 2}, [2, 3]]
RNG = np.random.default_rng(0)
ROWS = RNG.integers(0, 2, size=(7, 5))
SCORES = RNG.integers(0, 4, size=(7, 5)) / 4.0
RANKS = np.array([RNG.permutation(5) for _ in range(7)])
MASKS = RNG.random((4, 3, 3))


def f1(a, b):
    a, b = set(a), set(b)
    return 1 - (2 * len(a & b) / (len(a) + len(b)) if a or b else 1.0)


def jaccard(a, b):
    a, b = set(a), set(b)
    return 1 - (len(a & b) / len(a | b) if a or b else 1.0)


def discordant(a, b, ties="a"):
    pairs = [(i, j) for i in range(len(a)) for j in range(i) if np.isfinite(a[i] + a[j] + b[i] + b[j])]
    left = np.array([np.sign(a[i] - a[j]) for i, j in pairs])
    right = np.array([np.sign(b[i] - b[j]) for i, j in pairs])
    if ties == "a":
        return (1 - (left * right).mean()) / 2 if pairs else 0.0
    strict = (left**2).sum() * (right**2).sum()
    if strict == 0:
        return 0.0 if not (left.any() or right.any()) else 0.5
    return (1 - (left * right).sum() / np.sqrt(strict)) / 2


def wrong_pairs(y, scores):
    pairs = [(i, j) for i in np.flatnonzero(y) for j in np.flatnonzero(np.asarray(y) == 0)]
    wrong = [(scores[i] < scores[j]) + 0.5 * (scores[i] == scores[j]) for i, j in pairs]
    return np.mean(wrong) if pairs else 0.0


def missed(k):
    def loss(y, scores):
        true = np.flatnonzero(y)
        found = sum(np.sum(scores >= scores[i]) <= k for i in true)
        return 1 - found / min(k, len(true)) if len(true) else 0.0

    return loss


def union_missed(a, b):
    a, b = a > 0.5, b > 0.5
    return 1 - ((a & b).sum() / (a | b).sum() if (a | b).any() else 1.0)


CASES = [
    (F1(), SETS, SETS, f1),
    (F1(), ROWS, ROWS, lambda a, b: f1(np.flatnonzero(a), np.flatnonzero(b))),
    (F1(empty=0.0), SETS, SETS, lambda a, b: f1(a, b) if a or b else 1.0),
    (Jaccard(), SETS, SETS, jaccard),
    (Jaccard(), ROWS.astype(bool), ROWS.astype(bool), lambda a, b: jaccard(np.flatnonzero(a), np.flatnonzero(b))),
    (IoU(), MASKS, MASKS, union_missed),
    (IoU(), np.zeros((3, 2)), np.zeros((3, 2)), union_missed),
    (Kendall(), RANKS, RANKS, discordant),
    (Kendall(), RANKS.tolist(), RANKS.tolist(), discordant),
    (Kendall(), SCORES, RANKS, discordant),
    (Kendall("b"), SCORES, SCORES, lambda a, b: discordant(a, b, "b")),
    (Kendall("b"), np.zeros((3, 4)), np.zeros((3, 4)), lambda a, b: 0.0),
    (RocAuc(), ROWS, SCORES, wrong_pairs),
    (RocAuc(), ROWS, ROWS, wrong_pairs),
    (TopK(2), ROWS, SCORES, missed(2)),
    (TopK(1), np.eye(5), SCORES, missed(1)),
    (TopK(2), ["a", "b", "c"], [["b", "a", "c"], ["a", "c"], "b"], lambda a, b: a not in list(b)[:2]),
]


@pytest.mark.parametrize(
    ("loss", "true", "predicted", "naive"), CASES, ids=lambda case: getattr(case, "__name__", repr(case)[:20])
)
def test_matrix_pairs_and_single_calls_agree_with_the_definition(loss, true, predicted, naive):
    expected = np.array([[float(naive(a, b)) for b in predicted] for a in true])
    np.testing.assert_allclose(loss.matrix(true, predicted), expected, atol=1e-12)
    m = min(len(true), len(predicted))
    np.testing.assert_allclose(loss.paired(true[:m], predicted[:m]), np.diag(expected)[:m], atol=1e-12)
    for i in range(3):
        single = loss(true[i], predicted[1])
        assert type(single) is float
        np.testing.assert_allclose(single, expected[i, 1], atol=1e-12)


def test_public_definitions():
    A, B = ROWS[ROWS.any(axis=1)], np.roll(ROWS[ROWS.any(axis=1)], 1, axis=0)
    np.testing.assert_allclose(1 - F1().paired(A, B).mean(), f1_score(A, B, average="samples"))
    np.testing.assert_allclose(1 - Jaccard().paired(A, B).mean(), jaccard_score(A, B, average="samples"))
    mixed = np.array([row for row in ROWS if 0 < row.sum() < 5])
    np.testing.assert_allclose(
        1 - RocAuc().paired(mixed, SCORES[: len(mixed)]),
        [roc_auc_score(y, s) for y, s in zip(mixed, SCORES, strict=False)],
    )
    for a, b in zip(SCORES, RANKS, strict=True):
        np.testing.assert_allclose(1 - 2 * Kendall("b")(a, b), kendalltau(a, b).statistic, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from([0.0, 1.0, 2.0, float("nan")]), min_size=4, max_size=4), min_size=2, max_size=4),
    st.sampled_from(["a", "b"]),
)
def test_kendall_of_partial_rankings_with_ties(rankings, ties):
    rows = np.array(rankings)
    expected = [[discordant(a, b, ties) for b in rows] for a in rows]
    np.testing.assert_allclose(Kendall(ties).matrix(rows, rows), expected, atol=1e-12)


def test_whole_ranks_below_zero_are_no_ranks():
    assert Kendall()([0, 1, -1], [0, 1, 2]) == 0.0
    assert Kendall()([0, -1, -1], [0, 1, 2]) == 0.0  # nothing to compare
    assert Kendall()(np.array([0.0, 1.0, -1.0]), np.array([0.0, 1.0, 2.0])) > 0.5  # scores may be negative


@pytest.mark.parametrize("library", ["torch", "array_api_strict"])
@pytest.mark.parametrize("loss", [F1(), Jaccard(), IoU(), Kendall(), Kendall("b"), RocAuc(), TopK(2)], ids=repr)
def test_other_array_libraries(library, loss):
    xp = pytest.importorskip(library)
    true, predicted = ROWS.astype(float), ROWS[::-1].astype(float).copy()
    A, B = xp.asarray(true), xp.asarray(predicted)
    np.testing.assert_allclose(np.asarray(loss.matrix(A, B)), loss.matrix(true, predicted), atol=1e-12)
    np.testing.assert_allclose(np.asarray(loss.paired(A, B)), loss.paired(true, predicted), atol=1e-12)


@pytest.mark.parametrize("loss", [F1(0.0), Jaccard(), IoU(0.3), Kendall("b"), RocAuc(), TopK(3)], ids=repr)
def test_values_like_kernels(loss):
    assert eval(repr(loss)) == loss == clone(loss)


@pytest.mark.parametrize("empty", [float("nan"), float("inf"), "1", None, True], ids=repr)
@pytest.mark.parametrize("loss", [F1, Jaccard])
def test_a_value_for_two_empty_sets_that_is_no_number_is_refused(loss, empty):
    message = rf"empty={empty!r}; expected the score of two empty sets in {loss.__name__}, a finite number"
    for call in (
        lambda: loss(empty)({1}, {1}),
        lambda: loss(empty).matrix([{1}], [{1}]),
        lambda: DependencyEstimator(LabelSets(), LabelSets(), loss=loss(empty), alpha=0.1).fit([{1}, {2}], [{1}, {2}]),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_sets_that_cannot_be_compared_are_refused():
    with pytest.raises(ValueError, match=r"row 0 of Y_pred holds -1 in column 1; expected 0 or 1"):
        F1().paired(np.array([[1, 0]]), np.array([[1, -1]]))
    with pytest.raises(
        ValueError, match="Y_true is a collection of sets and Y_pred is an indicator matrix of 2 columns"
    ):
        Jaccard().matrix([{1}], np.eye(2))
    with pytest.raises(ValueError, match="Y_true is an indicator matrix of 3 columns"):
        F1().paired(np.eye(3), np.eye(2))
    with pytest.raises(ValueError, match="Y_true has 2 objects and Y_pred has 1"):
        F1().paired([{1}, {2}], [{1}])
    with pytest.raises(ValueError, match="Y_true has 4 pixels per mask and Y_pred 9"):
        IoU().matrix(np.ones((1, 2, 2)), np.ones((1, 3, 3)))


def test_orders_that_cannot_be_compared_are_refused():
    with pytest.raises(ValueError, match="Y_true has 3 items and Y_pred 2"):
        Kendall().paired(np.ones((1, 3)), np.ones((1, 2)))
    with pytest.raises(ValueError, match=r"Y_true\[0\] ranks 3 items and Y_true\[1\] ranks 2.*Write NaN"):
        Kendall().matrix([[1, 2, 3], [1, 2]], [[1, 2, 3]])
    with pytest.raises(TypeError, match=r"Y_pred\[0\] is 'abc', a str; expected a row of ranks"):
        Kendall().matrix([[1, 2, 3]], ["abc"])
    with pytest.raises(ValueError, match="ties='c'; expected 'a' or 'b'"):
        Kendall("c")([1, 2], [2, 1])
    with pytest.raises(ValueError, match=r"k=0; expected the number of guesses that count in TopK"):
        TopK(0).matrix(np.eye(2), np.eye(2))
    with pytest.raises(ValueError, match=r"Y_true\[1\] is label 7; expected one from 0 to 2"):
        TopK(1).paired(np.array([0, 7]), np.ones((2, 3)))
    with pytest.raises(ValueError, match=r"row 0 of Y_true holds 0.5 for label 1"):
        RocAuc()([0, 0.5], [1.0, 2.0])


def test_top_k_of_class_numbers():
    scores = np.array([[0.1, 0.5, 0.4], [0.3, 0.3, 0.4]])
    assert TopK(1).paired(np.array([1, 0]), scores).tolist() == [0.0, 1.0]
    assert TopK(2).paired(np.array([2, 0]), scores).tolist() == [0.0, 1.0]  # the tie counts against us


@pytest.mark.parametrize("ties", ["a", "b"])
def test_one_item_leaves_nothing_to_disagree_on(ties):
    assert Kendall(ties)([0], [0]) == 0.0
    assert Kendall(ties).matrix([[0], [0]], [[0]]).tolist() == [[0.0], [0.0]]


def test_masks_of_as_many_pixels_in_other_rows_are_refused():
    with pytest.raises(
        ValueError, match=r"Y_true have shape \(2, 3\) and those of Y_pred \(3, 2\); expected one shape"
    ):
        IoU()(np.ones((2, 3)), np.ones((3, 2)))
