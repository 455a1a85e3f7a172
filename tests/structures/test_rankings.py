"""Positions and signs of pairs of rankings with ties and items that are not ranked."""

import numpy as np

from mercer.structures.rankings import pair_signs, positions

NAN = np.nan


def test_positions_of_ties_and_of_items_that_are_not_ranked():
    first, last = positions(np.array([[3, 1, 1, NAN]]))
    np.testing.assert_array_equal(first, [[2, 0, 0, NAN]])
    np.testing.assert_array_equal(last, [[2, 1, 1, NAN]])


def test_signs_of_pairs():
    np.testing.assert_array_equal(pair_signs(np.array([[0, 2, 1], [0, 0, NAN]])), [[1, 1, -1], [0, 0, 0]])
