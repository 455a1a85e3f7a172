"""Image features: each image by itself, what they promise, and the kernel over shifts against its definition."""

import array_api_strict
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import DependencyEstimator
from mercer.core import memory
from mercer.core.arrays import NumericalWarning, to_numpy
from mercer.kernels import Gaussian, Linear
from mercer.kernels.images import Jittered, Move, blurred, deslanted, gradient_histograms, shifted, turned
from mercer.testing import check_kernel

FEATURES = {
    "deslanted": deslanted,
    "blurred": lambda images: blurred(images, 0.8),
    "shifted": lambda images: shifted(images, 1, -2),
    "turned": lambda images: turned(images, 20.0),
    "histograms": gradient_histograms,
    "plain histograms": lambda images: gradient_histograms(images, orientations=5, cells=3, power=1.0),
}


@pytest.fixture
def images():
    return np.random.default_rng(0).uniform(-1.0, 1.0, (6, 9, 7))


@pytest.mark.parametrize("feature", FEATURES.values(), ids=FEATURES)
def test_every_feature_treats_each_image_by_itself(feature, images):
    """A filter that also smooths along the first axis would mix training and test images."""
    order = np.random.default_rng(1).permutation(len(images))
    whole = feature(images)
    np.testing.assert_allclose(feature(images[order]), whole[order], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(feature(images[2:3])[0], whole[2], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("feature", FEATURES.values(), ids=FEATURES)
def test_features_leave_their_input_alone_and_take_other_libraries(feature, images):
    before = images.copy()
    expected = feature(images)
    np.testing.assert_array_equal(images, before)
    np.testing.assert_allclose(feature(torch.asarray(images)), expected)
    np.testing.assert_allclose(feature(array_api_strict.asarray(images)), expected)


def slant(image):
    """Columns per row, by moments of ink, one pixel at a time."""
    ink = image - image.min()
    total = ink.sum()
    row = sum(r * ink[r, c] for r in range(image.shape[0]) for c in range(image.shape[1])) / total
    column = sum(c * ink[r, c] for r in range(image.shape[0]) for c in range(image.shape[1])) / total
    both = sum((r - row) * (c - column) * ink[r, c] for r in range(image.shape[0]) for c in range(image.shape[1]))
    return both / sum((r - row) ** 2 * ink[r, c] for r in range(image.shape[0]) for c in range(image.shape[1]))


@pytest.mark.parametrize("lean", [-0.6, -0.2, 0.0, 0.3, 0.5])
def test_a_leaning_stroke_is_put_upright(lean):
    image = np.full((16, 16), -1.0)
    for r in range(2, 14):
        column = 7.5 + lean * (r - 7.5)
        image[r, int(np.floor(column))] += 2 * (1 - column % 1)
        image[r, int(np.floor(column)) + 1] += 2 * (column % 1)
    assert slant(image) == pytest.approx(lean, abs=1e-9)
    upright = deslanted(image[None])[0]
    assert slant(upright) == pytest.approx(0.0, abs=0.02)
    assert (upright + 1).sum() == pytest.approx((image + 1).sum(), rel=1e-9)  # no ink lost well inside the image


def test_images_that_cannot_lean_stay_as_they_are():
    blank, line = np.zeros((5, 5)), np.zeros((5, 5))
    line[2] = 1.0  # one row of ink has no height
    np.testing.assert_array_equal(deslanted(np.stack([blank, line])), np.stack([blank, line]))


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 9), st.integers(1, 5), st.integers(0, 10**6))
def test_histograms_have_unit_length_and_ignore_brightness_and_contrast(orientations, cells, seed):
    images = np.random.default_rng(seed).standard_normal((3, 8, 10))
    rows = gradient_histograms(images, orientations, cells)
    assert rows.shape == (3, cells**2 * orientations)
    assert (rows >= 0).all()
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0)
    np.testing.assert_allclose(gradient_histograms(3.0 * images + 5.0, orientations, cells), rows, atol=1e-9)


def test_histograms_turn_with_the_image():
    """A quarter turn moves every direction by a quarter of the circle, and every cell to its new place."""
    image = np.random.default_rng(2).standard_normal((1, 8, 8))
    plain = gradient_histograms(image, 8, 2).reshape(2, 2, 8)
    turned = gradient_histograms(np.rot90(image, axes=(1, 2)), 8, 2).reshape(2, 2, 8)
    # np.rot90 turns against the clock; directions are counted from right to down, with it
    np.testing.assert_allclose(turned, np.roll(np.rot90(plain), -2, axis=2), atol=1e-12)


def test_histograms_of_an_image_without_edges_are_zero():
    assert not gradient_histograms(np.ones((2, 6, 6))).any()


def test_shift_moves_by_whole_pixels_and_repeats_the_edge():
    image = np.arange(12.0).reshape(1, 3, 4)
    np.testing.assert_array_equal(shifted(image, 0, 0), image)
    np.testing.assert_array_equal(shifted(image, 1, 0)[0], image[0][[0, 0, 1]])
    np.testing.assert_array_equal(shifted(image, 0, -2)[0], image[0][:, [2, 3, 3, 3]])


def test_jittered_is_the_mean_over_both_shifts():
    rng = np.random.default_rng(3)
    X, Z = rng.standard_normal((4, 12)), rng.standard_normal((3, 12))
    moves = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1)]
    expected = np.mean(
        [
            Gaussian(2.0)(
                shifted(X.reshape(-1, 3, 4), *s).reshape(4, -1), shifted(Z.reshape(-1, 3, 4), *t).reshape(3, -1)
            )
            for s in moves
            for t in moves
        ],
        axis=0,
    )
    kernel = Jittered(Gaussian(2.0), shape=(3, 4))
    np.testing.assert_allclose(kernel(X, Z), expected, rtol=1e-12)
    np.testing.assert_allclose(Jittered(Gaussian(2.0), (3, 4), reach=0)(X, Z), Gaussian(2.0)(X, Z))


def test_turning_by_quarters_is_exact_and_small_turns_go_the_same_way():
    image = np.random.default_rng(6).standard_normal((1, 5, 5))
    np.testing.assert_allclose(turned(image, 90.0)[0], np.rot90(image[0], -1), atol=1e-12)
    np.testing.assert_allclose(turned(image, -90.0)[0], np.rot90(image[0]), atol=1e-12)
    np.testing.assert_allclose(turned(image, 360.0), image, atol=1e-12)
    stroke = np.zeros((1, 9, 9))
    stroke[0, :, 4] = 1.0
    top = turned(stroke, 15.0)[0, 1]  # with the clock: what is above the middle goes right
    assert np.arange(9) @ top / top.sum() > 4.5


def test_jittered_over_turns_and_the_best_match():
    rng = np.random.default_rng(7)
    X, Z = rng.standard_normal((3, 9)), rng.standard_normal((2, 9))
    as_rows = [
        [
            shifted(turned(side.reshape(-1, 3, 3), angle), down, right).reshape(len(side), -1)
            for angle in (0.0, 10.0)
            for down in (-1, 0, 1)
            for right in (-1, 0, 1)
        ]
        for side in (X, Z)
    ]
    every = np.asarray([[Gaussian(2.0)(a, b) for b in as_rows[1]] for a in as_rows[0]])
    kernel = Jittered(Gaussian(2.0), (3, 3), rotations=(10.0,))
    np.testing.assert_allclose(kernel(X, Z), every.mean(axis=(0, 1)), rtol=1e-12)
    best = Jittered(Gaussian(2.0), (3, 3), rotations=(10.0,), match="best")
    np.testing.assert_allclose(best(X, Z), every.max(axis=(0, 1)), rtol=1e-12)
    np.testing.assert_allclose(best(X), best(X).T)
    assert (kernel.is_psd, best.is_psd) == (True, False)


def test_the_best_match_is_no_kernel_and_estimators_say_so():
    """Three strokes: the first and the second can be moved onto each other, so can the second and the third."""
    strokes = np.eye(13)[[4, 6, 8]]
    kernel = Jittered(Gaussian(0.3), (1, 13), match="best")
    assert np.linalg.eigvalsh(kernel(strokes))[0] < -0.1
    with pytest.warns(NumericalWarning, match="was clipped"):
        assert np.linalg.eigvalsh(kernel.clipped().resolve(strokes)(strokes))[0] > -1e-9
    assert np.linalg.eigvalsh(Jittered(Gaussian(0.3), (1, 13))(strokes))[0] > -1e-12
    with pytest.raises(ValueError, match="not positive semi-definite"):
        DependencyEstimator(kernel, alpha=0.1).fit(strokes, np.eye(3))


@pytest.mark.parametrize("inner", [Gaussian(2.0), Linear()], ids=repr)
def test_jittered_keeps_the_contract_of_a_kernel(inner):
    X = np.random.default_rng(4).standard_normal((5, 6))
    check_kernel(Jittered(inner, shape=(2, 3)), np.vstack([X, X[:1], np.zeros((1, 6))]))


@pytest.mark.parametrize("library", [torch, array_api_strict], ids=lambda xp: xp.__name__)
def test_jittered_on_other_libraries(library):
    X = np.random.default_rng(5).standard_normal((4, 6))
    kernel, other = Jittered(Gaussian(1.5), (2, 3)), library.asarray(X)
    assert type(kernel(other)) is type(other)
    np.testing.assert_allclose(to_numpy(kernel(other)), kernel(X))
    np.testing.assert_allclose(to_numpy(kernel.diag(other)), np.diag(kernel(X)))


def test_more_moves_than_memory_holds_are_told_before_they_are_made(monkeypatch):
    X, made = np.ones((3, 100)), []
    monkeypatch.setattr(memory, "available_bytes", lambda *_: 2**23)
    monkeypatch.setattr(Move, "rows", lambda self, X, shape: made.append(self) or X)
    kernel = Jittered(Linear(), (10, 10), reach=10, rotations=(5.0, -5.0, 10.0, -10.0, 15.0, -15.0, 20.0, -20.0))
    message = (
        "3 images after 3969 moves each under Jittered.*GiB are free; lower reach, or pass fewer rotations or images"
    )
    with pytest.raises(MemoryError, match=message):
        kernel(X)
    assert made == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: deslanted(np.ones((3, 4))), r"shape \(3, 4\); expected images × rows × columns"),
        (lambda: blurred(np.full((1, 2, 2), np.nan), 1.0), "NaN or infinity"),
        (lambda: gradient_histograms(np.ones((2, 1, 5))), "at least 2 × 2 pixels"),
        (lambda: gradient_histograms(np.ones((2, 5, 5)), orientations=1), "orientations=1"),
        (lambda: Jittered(Linear(), (2, 3))(np.ones((2, 5))), "5 pixels per image; expected 2 × 3"),
        (lambda: Jittered(Linear(), (2, 3), reach=-1)(np.ones((2, 6))), "reach=-1 in Jittered"),
        (
            lambda: Jittered(Linear(), (2, 3), reach=10**9)(np.ones((2, 6))),
            "reach=1000000000 in Jittered, and images are 2 × 3 pixels; expected at most the longer side",
        ),
        (
            lambda: Jittered(Linear(), (2, 3), rotations="10")(np.ones((2, 6))),
            "rotations='10'; expected a list of angles",
        ),
        (lambda: Jittered(Linear(), (2, 3), match="max")(np.ones((2, 6))), "match='max' in Jittered"),
        (lambda: Jittered(Linear(), (2, 3))(np.ones((2, 3, 2))), "images of 3 × 2 pixels; expected 2 × 3"),
        (
            lambda: blurred([np.ones((2, 3)), np.ones((3, 3))], 1.0),
            r"images\[0\] has shape \(2, 3\) and images\[1\] has shape \(3, 3\)",
        ),
        (lambda: Jittered(Linear(), (6,))(np.ones((2, 6))), r"shape=\(6,\) in Jittered"),
    ],
)
def test_errors_say_what_is_wrong(call, message):
    with pytest.raises(ValueError, match=message):
        call()
