"""Positions and signs of pairs of rankings with ties and items that are not ranked."""

import numpy as np

from mercer.structures.rankings import order_key, pair_signs, positions

NAN = np.nan


def test_positions_of_ties_and_of_items_that_are_not_ranked():
    first, last = positions(np.array([[3, 1, 1, NAN]]))
    np.testing.assert_array_equal(first, [[2, 0, 0, NAN]])
    np.testing.assert_array_equal(last, [[2, 1, 1, NAN]])


def test_signs_of_pairs():
    np.testing.assert_array_equal(pair_signs(np.array([[0, 2, 1], [0, 0, NAN]])), [[1, 1, -1], [0, 0, 0]])


def test_the_key_of_an_order_is_the_first_position_of_each_tie():
    rng = np.random.default_rng(0)
    for _ in range(50):
        row = rng.integers(0, 4, 6).astype(float)
        row[rng.random(6) < 0.2] = NAN
        first, _ = positions(row[None])
        assert order_key(row) == tuple(np.nan_to_num(first[0], nan=-1.0).astype(int).tolist())
        assert order_key(3.0 * row + 1.0) == order_key(row)
