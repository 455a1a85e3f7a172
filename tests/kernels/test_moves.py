"""Virtual examples: what is made, from what, and that nothing of one image reaches another."""

import array_api_strict
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.core.arrays import to_numpy
from mercer.kernels import virtual_examples
from mercer.kernels.images import Move, moves, number_of_moves, shifted, turned

IMAGES = np.random.default_rng(0).random((3, 4, 5))


def test_the_first_move_stays_put_and_all_are_different():
    every = moves(2, (-5.0, 5.0), mirror=True)
    assert every[0] == Move()
    assert len(set(every)) == len(every) == 2 * 3 * 25 == number_of_moves(2, (-5.0, 5.0), mirror=True)
    assert len(moves(1, (0.0, 5.0))) == number_of_moves(1, (0.0, 5.0)) == 18


def test_more_moves_than_memory_holds_are_told_before_they_are_made():
    with pytest.raises(MemoryError, match="3 images after 4000000004000000001 moves each.*free; lower reach"):
        virtual_examples(IMAGES, [1, 2, 3], reach=10**9)


def test_copies_follow_the_order_of_the_moves():
    made = virtual_examples(IMAGES, ["a", "b", "c"], reach=1, rotations=(8.0,), mirror=True)
    every = moves(1, (8.0,), mirror=True)
    assert made.inputs.shape == (3 * len(every), 4, 5)
    assert made.outputs == ["a", "b", "c"] * len(every)
    assert made.source.tolist() == [0, 1, 2] * len(every)
    for k, move in enumerate(every):
        expected = shifted(turned(IMAGES, move.degrees), move.down, move.right)
        expected = expected[:, :, ::-1] if move.mirror else expected
        np.testing.assert_allclose(made.inputs[3 * k : 3 * k + 3], expected, atol=1e-12)


def test_outputs_move_along_where_asked():
    made = virtual_examples(IMAGES, 2.0 * IMAGES, reach=1, mirror=True, outputs_move=True)
    np.testing.assert_allclose(made.outputs, 2.0 * made.inputs)
    still = virtual_examples(IMAGES, 2.0 * IMAGES, reach=1)
    np.testing.assert_array_equal(still.outputs[:3], still.outputs[-3:])


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_the_order_of_the_images_does_not_matter(seed):
    order = np.random.default_rng(seed).permutation(3)
    made = virtual_examples(IMAGES, np.arange(3), reach=1, rotations=(7.0,))
    again = virtual_examples(IMAGES[order], order, reach=1, rotations=(7.0,))
    for k in range(len(made.inputs) // 3):
        np.testing.assert_array_equal(again.inputs[3 * k : 3 * k + 3], made.inputs[3 * k : 3 * k + 3][order])
    np.testing.assert_array_equal(again.outputs, np.tile(order, len(again.outputs) // 3))


@pytest.mark.parametrize("library", [torch, array_api_strict], ids=lambda xp: xp.__name__)
def test_rows_stay_in_their_library(library):
    flat = IMAGES.reshape(3, -1)
    for move in (Move(1, -1), Move(0, 1, 12.0, True)):
        found = move.rows(library.asarray(flat), (4, 5))
        assert type(found) is type(library.asarray(flat))
        np.testing.assert_allclose(to_numpy(found), move.rows(flat, (4, 5)), atol=1e-15)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: virtual_examples(IMAGES, [1, 2]), "X has 3 images and y has 2 objects"),
        (lambda: virtual_examples(IMAGES, [1, 2, 3], reach=0.5), r"reach=0.5; expected a whole number"),
        (lambda: virtual_examples(IMAGES, [1, 2, 3], rotations=(np.nan,)), "rotations=.*expected a list of angles"),
        (
            lambda: virtual_examples([IMAGES[0], IMAGES[1, :, :4]], [1, 2]),
            r"X\[0\] has shape \(4, 5\) and X\[1\] has shape \(4, 4\)",
        ),
        (lambda: virtual_examples(IMAGES, [1, 2, 3], outputs_move=True), r"y has shape \(3,\); expected images × rows"),
    ],
)
def test_errors_say_what_is_wrong(call, message):
    with pytest.raises(ValueError, match=message):
        call()
