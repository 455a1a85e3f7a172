"""Ranking kernels against their definitions, one pair of rankings at a time."""

from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr

from mercer.kernels import Borda, Kemeny, Lehmer, RankHamming
from mercer.losses import Kendall
from mercer.structures.rankings import as_rankings, order_key
from mercer.testing import check_kernel

KERNELS = [Kemeny, RankHamming, Borda, Lehmer]
NAN = np.nan


def rankings(items=5, start=0):
    return st.lists(st.permutations(range(start, items + start)), min_size=2, max_size=5)


def agree(y, z):
    return sum(np.sign(y[i] - y[j]) * np.sign(z[i] - z[j]) for i, j in combinations(range(len(y)), 2))


def code(y):
    return [sum(y[i] > y[j] for i in range(j)) for j in range(len(y))]


DEFINITIONS = {
    Kemeny: agree,
    RankHamming: lambda y, z: sum(a == b for a, b in zip(y, z, strict=True)),
    Borda: lambda y, z: float((np.mean(y) - np.array(y)) @ (np.mean(z) - np.array(z))),
    Lehmer: lambda y, z: float(np.dot(code(y), code(z))),
}


@settings(max_examples=25, deadline=None)
@given(rankings(), st.sampled_from([0, 1]), st.sampled_from([0, 1]))
@pytest.mark.parametrize("kernel", KERNELS)
def test_full_rankings_by_definition_whatever_they_count_from(kernel, rows, left, right):
    expected = [[DEFINITIONS[kernel](y, z) for z in rows] for y in rows]
    for partial in (False, True):
        gram = kernel(partial=partial)(np.array(rows) + left, np.array(rows) + right)
        np.testing.assert_allclose(gram, expected, atol=1e-12)


BUCKETS = [[0, 0, 1, 2], [3, 1, 1, 1], [0, NAN, 2, 1], [NAN, NAN, 0, NAN], [1, 1, 1, 1], [2, 3, 4, 1]]


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_contract_on_partial_rankings(kernel):
    check_kernel(kernel(partial=True), BUCKETS)
    check_kernel(kernel(partial=True).normalized(), BUCKETS)
    check_kernel(0.5 * kernel() + kernel().normalized(), [[0, 2, 1], [1, 2, 0], [1, 0, 2], [0, 2, 1]])


def linear_extensions(row):
    """All full rankings that a ranking with ties allows."""
    said = [(i, j) for i, j in permutations(range(len(row)), 2) if row[i] < row[j]]
    return [full for full in permutations(range(len(row))) if all(full[i] < full[j] for i, j in said)]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("row", [[0, 0, 1, 2], [1, 0, 0, 0], [2, 1, 1, 0], [0, 0, 0, 0], [0, 1, 1, 0]])
def test_a_tie_is_the_mean_of_the_orders_it_allows(kernel, row):
    features = kernel(partial=True).feature_map([row])
    every = np.array(linear_extensions(row))
    np.testing.assert_allclose(features([row])[0], features(every).mean(axis=0), atol=1e-12)


def test_the_numbers_of_a_bucket_order_do_not_matter():
    for kernel in KERNELS:
        same = np.array([[0, 0, 1, 2], [1, 1, 3, 4], [0.5, 0.5, 2, 3]])
        gram = kernel(partial=True)(same)
        np.testing.assert_allclose(gram, gram[0, 0])
    assert order_key(same[0]) == order_key(same[1]) == order_key(same[2]) != order_key([0, 1, 2, 3])
    assert order_key([0, NAN, 1]) != order_key([0, 1, 2])


def test_items_not_ranked_say_nothing_about_their_pairs():
    np.testing.assert_array_equal(Kemeny(True).feature_map([[0, 1, 2]])([[1, NAN, 0]]), [[0, -1, 0]])
    np.testing.assert_array_equal(Borda(True).feature_map([[0, 1, 2]])([[1, NAN, 0]]), [[-0.5, 0, 0.5]])
    np.testing.assert_array_equal(Lehmer(True).feature_map([[0, 1, 2]])([[1, NAN, 0]]), [[0.5, 1.5]])
    matrix = RankHamming(True).feature_map([[0, 1, 2]])([[1, NAN, 0]]).reshape(3, 3)
    np.testing.assert_array_equal(matrix, [[0, 1, 0], [0, 0, 0], [1, 0, 0]])


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(st.integers(0, 4), min_size=5, max_size=5), min_size=2, max_size=4))
def test_cosines_are_tau_b_and_rho(rows):
    tau, rho = Kemeny(True).normalized()(rows), Borda(True).normalized()(rows)
    for i, j in combinations(range(len(rows)), 2):
        if len(set(rows[i])) > 1 and len(set(rows[j])) > 1:
            np.testing.assert_allclose(tau[i, j], kendalltau(rows[i], rows[j]).statistic, atol=1e-12)
            np.testing.assert_allclose(rho[i, j], spearmanr(rows[i], rows[j]).statistic, atol=1e-12)
            np.testing.assert_allclose((1 - tau[i, j]) / 2, Kendall("b")(rows[i], rows[j]), atol=1e-12)


@settings(max_examples=25, deadline=None)
@given(rankings(4))
def test_renaming_items_changes_nothing_but_for_lehmer(rows):
    order = [2, 0, 3, 1]
    rows = np.array(rows)
    for kernel in (Kemeny(), RankHamming(), Borda()):
        np.testing.assert_allclose(kernel(rows), kernel(rows[:, order]), atol=1e-12)


@pytest.mark.parametrize(
    ("rows", "partial", "match"),
    [
        ([[0, 1, 1]], False, r"X\[0\] gives rank 1 to items 1 and 2; expected each rank once. Where ties are meant"),
        ([[0, 1, 2], [0, 1, 3]], False, r"X\[1\] gives item 2 the rank 3; expected whole numbers from 0 to 2"),
        ([[1, 2, 3], [3, 2, 4]], False, r"X\[1\] gives item 2 the rank 4; expected whole numbers from 1 to 3"),
        ([[0, 1, 2], [1, 2, 3]], False, r"X\[1\] gives item 2 the rank 3; expected .* \(or 1 to 3 throughout\)"),
        ([[0, 1.5, 2]], False, r"X\[0\] gives item 1 the rank 1.5; expected whole numbers"),
        ([[0, NAN, 2]], False, r"X\[0\] gives item 1 the rank nan; .* needs partial=True"),
        ([[0, -1, 2]], False, r"X\[0\] gives item 1 the rank -1; .* needs partial=True"),
        ([[0, -1, 2]], True, r"X\[0\] gives item 1 the rank -1; expected ranks between 0 and 3"),
        ([[0, np.inf, 2]], True, r"X\[0\] gives item 1 the rank inf"),
        ([[0, 1, 2], [0, 1]], True, r"X is ragged: X\[0\] ranks 3 items and X\[1\] ranks 2"),
        ([[0], [0]], False, "at least one row and two items"),
        (np.zeros((0, 3)), False, "expected rankings as rows"),
        ([], False, "X is empty"),
        (np.arange(3), False, "expected rankings as rows"),
        ([["a", "b"]], False, "has dtype"),
        (["ab", "cd"], False, r"X\[0\] is 'ab', a str; expected a row of ranks"),
        ([0, 1], False, r"X\[0\] is 0, a int; expected a row of ranks"),
    ],
)
@pytest.mark.parametrize("kernel", KERNELS)
def test_bad_rankings_are_named(kernel, rows, partial, match):
    with pytest.raises((TypeError, ValueError), match=match):
        kernel(partial=partial)(rows)


def test_rankings_of_other_items():
    with pytest.raises(ValueError, match="X ranks 3 items and Z ranks 2"):
        Kemeny()([[0, 1, 2]], [[0, 1]])
    with pytest.raises(ValueError, match="X ranks 2 items; expected 3, as in training"):
        Kemeny().feature_map([[0, 1, 2]])([[0, 1]])


def test_frames_and_other_libraries():
    import array_api_strict
    import torch

    rows = [[0, 2, 1], [2, 1, 0]]
    frame = pd.DataFrame(rows, columns=["tea", "coffee", "milk"])
    np.testing.assert_array_equal(Kemeny()(frame), Kemeny()(rows))
    for library in (torch, array_api_strict):
        array = library.asarray(rows)
        assert type(Kemeny()(array)) is type(array)
        assert type(Kemeny().feature_map(array)(array)) is type(array)
        np.testing.assert_array_equal(np.asarray(Kemeny()(array)), Kemeny()(rows))
    assert as_rankings(np.array(rows, dtype=np.uint8)).dtype == np.uint8


def test_what_says_nothing_is_not_seen():
    assert Kemeny(True).sees(BUCKETS).tolist() == [True, True, True, False, False, True]
    assert Lehmer().sees([[0, 1, 2], [2, 1, 0]]).tolist() == [True, True]
