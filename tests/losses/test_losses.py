"""Losses: each vectorised form against its definition, one pair at a time."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from mercer.core.collections import as_objects
from mercer.kernels import Classes, Gaussian, LabelSets, Linear, Precomputed, Subsequence
from mercer.losses import (
    CallableLoss,
    EditDistance,
    Hamming,
    KernelLoss,
    Loss,
    SquaredError,
    ZeroOne,
    resolve_loss,
)
from mercer.structures.sequences import encode

STRINGS = ["abc", "", "abd", "é日abc", "cba", "abc"]
VECTORS = np.random.default_rng(0).integers(0, 3, size=(6, 4)).astype(float)
SETS = [{1, 2}, set(), frozenset({2}), {3}, {1, 2, 3}, {1, 2}]


def levenshtein(a, b):
    @cache
    def away(i, j):
        if i == 0 or j == 0:
            return i + j
        replaced = away(i - 1, j - 1) + (a[i - 1] != b[j - 1])
        return min(replaced, away(i - 1, j) + 1, away(i, j - 1) + 1)

    return away(len(a), len(b))


def share_differing(a, b):
    longest = max(len(a), len(b))
    same = sum(x == y for x, y in zip(a, b, strict=False))
    return (longest - same) / longest if longest else 0.0


CASES = [
    (ZeroOne(), STRINGS, lambda a, b: a != b),
    (ZeroOne(), VECTORS, lambda a, b: (a != b).any()),
    (ZeroOne(), SETS, lambda a, b: a != b),
    (ZeroOne(), [3, 1, 3, "x", (1, 2), 0], lambda a, b: a != b),
    (Hamming(), STRINGS, share_differing),
    (Hamming(), [(1, "a"), (1,), (2, "a"), ()], share_differing),
    (Hamming(), VECTORS, lambda a, b: (a != b).mean()),
    (Hamming(), VECTORS.astype(int), lambda a, b: (a != b).mean()),
    (Hamming(), np.array([1, 2, 1]), lambda a, b: a != b),
    (Hamming(), SETS, lambda a, b: len(a ^ b)),
    (SquaredError(), VECTORS, lambda a, b: ((a - b) ** 2).sum()),
    (SquaredError(), VECTORS.tolist(), lambda a, b: sum((np.array(a) - np.array(b)) ** 2)),
    (EditDistance(), STRINGS, levenshtein),
    (EditDistance(), [(1, 2), (2, "x"), ()], levenshtein),
    (EditDistance(), VECTORS.astype(int), lambda a, b: levenshtein(tuple(a), tuple(b))),
    (CallableLoss(levenshtein), STRINGS, levenshtein),
    (KernelLoss(Linear()), VECTORS, lambda a, b: ((a - b) ** 2).sum()),
    (KernelLoss(Gaussian(2.0)), VECTORS, lambda a, b: 2 - 2 * np.exp(-((a - b) ** 2).sum() / 8)),
    (KernelLoss(Classes()), ["a", "b", "a"], lambda a, b: a != b),
    (KernelLoss(LabelSets()), SETS, lambda a, b: len(a ^ b)),
]


@pytest.mark.parametrize(("loss", "objects", "naive"), CASES)
def test_matrix_pairs_and_single_calls_agree_with_the_definition(loss, objects, naive):
    expected = np.array([[float(naive(a, b)) for b in objects] for a in objects])
    np.testing.assert_allclose(loss.matrix(objects, objects), expected, atol=1e-12)
    np.testing.assert_allclose(loss.matrix(objects, objects[:2]), expected[:, :2], atol=1e-12)
    np.testing.assert_allclose(loss.paired(objects, objects[::-1]), np.diag(expected[:, ::-1]), atol=1e-12)
    for i, j in ((0, 1), (1, 2), (2, 2)):
        single = loss(objects[i], objects[j])
        assert type(single) is float
        np.testing.assert_allclose(single, expected[i, j], atol=1e-12)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text("ab日", max_size=7), min_size=2, max_size=5))
def test_edit_distance_of_any_strings(texts):
    expected = [[levenshtein(a, b) for b in texts] for a in texts]
    np.testing.assert_array_equal(EditDistance().matrix(texts, texts), expected)
    shifted = texts[1:] + texts[:1]
    pairs = [levenshtein(a, b) for a, b in zip(texts, shifted, strict=True)]
    np.testing.assert_array_equal(EditDistance().paired(texts, shifted), pairs)


def test_kernel_loss_on_more_rows_than_one_block():
    rng = np.random.default_rng(1)
    A, B = rng.normal(size=(71, 3)), rng.normal(size=(71, 3))
    loss = KernelLoss(Gaussian(1.0))
    np.testing.assert_allclose(loss.paired(A, B), np.diag(loss.matrix(A, B)), atol=1e-12)


def test_kernel_loss_is_never_below_zero_by_rounding_but_may_be_by_the_kernel():
    rng = np.random.default_rng(2)
    A = 1e3 * rng.normal(size=(50, 7))
    assert (KernelLoss(Linear()).matrix(A, A) >= 0).all()
    indefinite = Precomputed(np.array([[0.0, 1.0], [1.0, 0.0]]))
    assert KernelLoss(indefinite).matrix([0], [1]).tolist() == [[-2.0]]


def test_kernel_loss_of_strings_is_the_distance_of_the_subsequence_kernel():
    kernel = Subsequence(2, 0.5)
    a, b = "abca", "acb"
    expected = kernel.pointwise(a, a) + kernel.pointwise(b, b) - 2 * kernel.pointwise(a, b)
    np.testing.assert_allclose(KernelLoss(kernel)(a, b), expected)


@pytest.mark.parametrize("library", ["torch", "array_api_strict"])
@pytest.mark.parametrize(
    "loss",
    [
        ZeroOne(),
        Hamming(),
        SquaredError(),
        KernelLoss(Gaussian(1.0)),
        CallableLoss(lambda a, b: abs(float(a[0] - b[0]))),
    ],
)
def test_other_array_libraries(library, loss):
    xp = pytest.importorskip(library)
    A = xp.asarray(VECTORS)
    expected = loss.matrix(VECTORS, VECTORS)
    np.testing.assert_allclose(np.asarray(loss.matrix(A, A)), expected, atol=1e-12)
    moved = loss.matrix(A, VECTORS)
    np.testing.assert_allclose(np.asarray(moved), expected, atol=1e-12)
    found = loss.paired(A, xp.flip(A, axis=0) if library != "torch" else A.flip(0))
    np.testing.assert_allclose(np.asarray(found), np.diag(expected[:, ::-1]), atol=1e-12)


def test_zero_one_sees_through_dtype_and_kind_of_set():
    assert ZeroOne()(np.array([1, 0]), np.array([1.0, -0.0])) == 0
    assert ZeroOne()({1}, frozenset({1})) == 0
    assert ZeroOne()({"a": 1}, {"a": 1}) == 0  # no hash: by ==
    assert ZeroOne().matrix([{"a": 1}], [{"a": 1}, {"b": 1}]).tolist() == [[0.0, 1.0]]
    assert ZeroOne().matrix([{"a": 1}], ["a"]).tolist() == [[1.0]]


def test_lengths_and_widths_that_do_not_match_are_refused():
    for loss in (ZeroOne(), Hamming(), EditDistance(), CallableLoss(levenshtein)):
        with pytest.raises(ValueError, match="Y_true has 2 objects and Y_pred has 1"):
            loss.paired(["a", "b"], ["a"])
    for loss in (Hamming(), SquaredError()):
        with pytest.raises(ValueError, match="Y_true has 2 entries per vector and Y_pred 3"):
            loss.matrix(np.ones((1, 2)), np.ones((1, 3)))


def test_what_is_no_sequence_is_refused():
    with pytest.raises(TypeError, match=r"y_true\[1\] is 3, a int; expected a sequence"):
        EditDistance().matrix(["a", 3], ["a"])
    with pytest.raises(TypeError, match="expected a sequence"):
        Hamming().matrix([{1}], ["a"])


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None, "far"])
def test_a_value_that_is_no_finite_number_names_the_pair(value):
    def strange(y, z):
        return value if z == "c" else 0.0

    with pytest.raises(ValueError, match=r"CallableLoss\(strange\) returned .*y_true\[0\] = 'a'"):
        CallableLoss(strange).matrix(["a", "b"], ["b", "c"])
    with pytest.raises(ValueError, match=r"y_pred\[1\] = 'c'; expected a finite number"):
        CallableLoss(strange).paired(["a", "b"], ["b", "c"])


# -- which loss is meant ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", [None, "kernel", "rkhs"])
def test_the_kernels_own_loss(name):
    assert resolve_loss(name, Linear()) == KernelLoss(Linear())


def test_losses_stay_and_functions_are_wrapped():
    loss = Hamming()
    assert resolve_loss(loss, Linear()) is loss
    assert resolve_loss(levenshtein, Linear()) == CallableLoss(levenshtein)


@pytest.mark.parametrize("loss", ["hamming", 3, ["kernel"]])
def test_anything_else_is_refused_with_the_choices(loss):
    with pytest.raises(ValueError, match=r"expected None or 'kernel' .*'rkhs'.* a callable"):
        resolve_loss(loss, Linear())


def test_a_class_in_place_of_a_loss_is_refused():
    with pytest.raises(TypeError, match=r"loss is the class ZeroOne; write ZeroOne\(\)"):
        resolve_loss(ZeroOne, Linear())


def test_values_like_kernels():
    for loss in (ZeroOne(), Hamming(), SquaredError(), EditDistance()):
        assert eval(repr(loss)) == loss == clone(loss)
    assert ZeroOne() != Hamming()
    assert KernelLoss(Gaussian(1.0)) == clone(KernelLoss(Gaussian(1.0)))
    assert KernelLoss(Gaussian(1.0)) != KernelLoss(Gaussian(2.0))
    assert repr(KernelLoss(Gaussian(1.0))) == "KernelLoss(kernel=Gaussian(scale=1.0))"
    assert KernelLoss(Gaussian(1.0)).set_params(kernel__scale=2.0).kernel == Gaussian(2.0)


def test_a_new_loss_is_one_method():
    class Lengths(Loss):
        def pointwise(self, y_true, y_pred):
            return abs(len(y_true) - len(y_pred))

    class Many(Loss):
        def compute(self, Y_true, Y_pred, paired):
            sizes, others = (np.array([len(y) for y in Y]) for Y in (Y_true, Y_pred))
            return np.abs((sizes if paired else sizes[:, None]) - others).astype(float)

    for loss in (Lengths(), Many()):
        assert loss.matrix(["a", "bcd"], ["", "xy"]).tolist() == [[1.0, 1.0], [3.0, 1.0]]
        assert loss.paired(["a", "bcd"], ["", "xy"]).tolist() == [1.0, 1.0]
        assert loss("bcd", "") == 3.0
    with pytest.raises(TypeError, match="must define pointwise"):
        Loss()("a", "b")


def test_every_loss_says_which_outputs_it_takes():
    import mercer.losses as room

    losses = [getattr(room, name) for name in room.__all__ if name != "resolve_loss"]
    assert all(loss.outputs for loss in losses)
    of_any_kind = {loss.__name__ for loss in losses if loss.outputs == Loss.outputs}
    assert of_any_kind == {"Loss", "CallableLoss", "ZeroOne"}
    assert {loss.__name__ for loss in losses if loss.takes_scores} == {"RocAuc", "TopK"}


def test_codes():
    left, right = encode([["x", 1], []], as_objects([(1, "x", "x")]))
    assert left.symbols.tolist() == [0, 1]
    assert left.lengths.tolist() == [2, 0]
    assert right.symbols.tolist() == [1, 0, 0]
    assert left.padded(3).tolist() == [[0, 1, -1], [-1, -1, -1]]


def test_edit_distances_of_strings_and_of_the_same_symbols_as_tokens_are_equal():
    random = np.random.default_rng(0)
    words = ["".join(random.choice(list("abcé𝒳"), size)) for size in random.integers(0, 9, 40)]
    tokens = [tuple(word) for word in words]
    numbers = [[ord(letter) for letter in word] for word in words]
    expected = [[levenshtein(a, b) for b in words[:15]] for a in words]
    for objects in (words, tokens, numbers):
        objects = as_objects(objects)
        assert np.array_equal(EditDistance().matrix(objects, objects[:15]), expected)
        assert np.array_equal(EditDistance().paired(objects[:15], objects[15:30]), np.diag(np.asarray(expected)[15:30]))
    mixed = as_objects([list(word) if i % 2 else word for i, word in enumerate(words)])
    assert np.array_equal(EditDistance().matrix(mixed, as_objects(words[:15])), expected)
