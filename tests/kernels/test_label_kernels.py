"""Classes and label sets."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.kernels import Classes, LabelSets

label_sets = st.lists(st.frozensets(st.sampled_from(["a", "b", 3, (1, 2)])), min_size=1, max_size=8)


# -- classes ------------------------------------------------------------------------------------------


@given(st.lists(st.sampled_from(["x", 1, (1, "x"), 2.5, False]), min_size=1, max_size=8), st.data())
@settings(max_examples=25, deadline=None)
def test_classes_are_half_where_equal(X, data):
    Z = data.draw(st.lists(st.sampled_from([*X, "new"]), min_size=1, max_size=5))
    np.testing.assert_array_equal(Classes()(X, Z), [[0.5 * (x == z) for z in Z] for x in X])


def test_the_distance_of_classes_is_the_zero_one_loss():
    X = ["a", "b", "a"]
    norms = Classes().diag(X)
    squared = norms[:, None] + norms - 2 * Classes()(X)
    np.testing.assert_array_equal(squared, [[0, 1, 0], [1, 0, 1], [0, 1, 0]])


@pytest.mark.parametrize(
    ("X", "kind"),
    [
        (np.array([2, 0, 2]), "i"),
        ([2, 0, 2], "i"),
        (np.array([0.5, 1.5]), "f"),
        (pd.Series([2, 0, 2]), "i"),
        (np.array([[2], [0]]), "i"),
        ([True, False], "b"),
        (["a", "b"], "O"),
        (np.array(["a", "b"]), "O"),
        (pd.Series(["a", "b"]), "O"),
        ([1, "b"], "O"),
        ([(1, 2), (3, 4)], "O"),
    ],
)
def test_numbers_stay_numbers_and_the_rest_are_objects(X, kind):
    checked = Classes().check(X)
    assert checked.dtype.kind == kind
    assert checked.ndim == 1
    assert Classes().check(checked) is checked or kind == "O"


def test_a_class_not_seen_in_training_has_no_column():
    features = Classes().feature_map(["b", "a", "b"])
    assert features.classes == ["b", "a"]
    np.testing.assert_allclose(features(["a", "new"]), [[0, np.sqrt(0.5)], [0, 0]])


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (np.array([1.0, np.nan]), ValueError, r"X\[1\] = nan"),
        ([1.0, np.nan], ValueError, r"X\[1\] = nan"),
        ([["a"], ["b"]], TypeError, r"X\[0\] is \['a'\], a list, which has no hash"),
        (np.ones((3, 2)), ValueError, r"shape \(3, 2\); expected one class per object"),
        (np.array([], dtype=int), ValueError, "empty"),
        ([], ValueError, "empty"),
        ("abc", TypeError, "single str"),
        (["a", None], ValueError, r"X\[1\] is None"),
        (None, ValueError, "X is None"),
    ],
)
def test_what_is_no_class(X, error, message):
    with pytest.raises(error, match=message):
        Classes()(X)


# -- label sets ---------------------------------------------------------------------------------------


@given(label_sets, label_sets)
@settings(max_examples=25, deadline=None)
def test_label_sets_count_what_they_share(X, Z):
    np.testing.assert_array_equal(LabelSets()(X, Z), [[len(x & z) for z in Z] for x in X])
    np.testing.assert_array_equal(LabelSets()(X), [[len(x & z) for z in X] for x in X])
    features = LabelSets().feature_map(X)
    np.testing.assert_array_equal(features(Z) @ features(X).T, LabelSets()(Z, X))


def test_more_sets_than_one_block_of_rows():
    rng = np.random.default_rng(0)
    indicators = rng.random((1300, 9)) < 0.3
    sets = [set(np.flatnonzero(row).tolist()) for row in indicators]
    np.testing.assert_array_equal(LabelSets()(sets), LabelSets()(indicators))


@pytest.mark.parametrize("dtype", [bool, int, float, np.uint8])
def test_indicators_keep_their_dtype_and_count_in_doubles(dtype):
    indicators = np.array([[1, 0, 1], [1, 1, 1]], dtype=dtype)
    assert LabelSets().check(indicators).dtype == dtype
    np.testing.assert_array_equal(LabelSets()(indicators), [[2.0, 2.0], [2.0, 3.0]])
    assert LabelSets()(indicators).dtype == float
    frame = pd.DataFrame(indicators)
    np.testing.assert_array_equal(LabelSets()(frame), LabelSets()(indicators))


def test_uint8_counts_do_not_overflow():
    row = np.ones((1, 300), dtype=np.uint8)
    assert LabelSets()(row)[0, 0] == 300
    assert LabelSets().diag(row)[0] == 300


def test_the_empty_set_is_seen_though_it_is_the_origin():
    X = [{"a"}, set()]
    assert LabelSets().sees(X).tolist() == [True, True]
    assert LabelSets().normalized().sees(X).tolist() == [True, False]


def test_features_of_a_normalized_kernel_count_unknown_labels_in_the_length():
    train, new = [{"a"}, {"a", "b"}], [{"a", "unknown"}]
    kernel = LabelSets().normalized()
    features = kernel.feature_map(train)
    np.testing.assert_allclose(features(new) @ features(train).T, kernel(new, train))


def test_columns_do_not_depend_on_the_order_of_a_set():
    assert LabelSets().feature_map([{"b", "a"}, ["d", "c"]]).labels == ["a", "b", "d", "c"]


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (np.array([[0, 1], [2, 0]]), ValueError, "row 1 of X holds 2 in column 0; expected 0 or 1"),
        (np.array([[0.0, np.nan]]), ValueError, "row 0 of X holds nan"),
        (np.array([["a", "b"]]), TypeError, "dtype"),
        (["ab", "c"], TypeError, r"X\[0\] is 'ab', a str; expected a set"),
        ([{"a"}, 3], TypeError, r"X\[1\] is 3, a int"),
        ([{"a"}, [["b"]]], TypeError, r"X\[1\].*no hash"),
        ([], ValueError, "empty"),
        ({"a"}, TypeError, "no order"),
    ],
)
def test_what_is_no_label_set(X, error, message):
    with pytest.raises(error, match=message):
        LabelSets()(X)


def test_sets_and_indicators_do_not_mix():
    with pytest.raises(ValueError, match="X is a collection of sets and Z is an indicator matrix"):
        LabelSets()([{1}], np.eye(2))
    with pytest.raises(ValueError, match="of 2 columns and Z is an indicator matrix of 3"):
        LabelSets()(np.eye(2), np.eye(3))
    with pytest.raises(ValueError, match="expected an indicator matrix of 2 columns, as in training"):
        LabelSets().feature_map(np.eye(2))([{1}])
