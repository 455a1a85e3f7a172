"""The patch-wise kernel against its definition."""

import array_api_strict
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.core.arrays import to_numpy
from mercer.kernels import Gaussian, Linear, Patches, Polynomial, Subsequence
from mercer.kernels.patches import PatchGrid
from mercer.testing import check_kernel

IMAGES = np.random.default_rng(0).random((6, 5, 7))


@pytest.mark.parametrize("inner", [Gaussian(0.7), Gaussian("median"), Linear(), Polynomial(2)], ids=repr)
@pytest.mark.parametrize(("size", "overlap"), [(3, 1), (5, 4), (1, 0), (2, 0)])
def test_contract(inner, size, overlap):
    check_kernel(Patches((5, 7), size, overlap, inner), IMAGES.reshape(6, -1))


def test_definition_on_images():
    found = Patches((5, 7), 3, 1, Gaussian(0.5))(IMAGES[:2], IMAGES)
    corners = [(row, column) for row in (0, 2) for column in (0, 2, 4)]
    for i in range(2):
        for j in range(6):
            squares = [((IMAGES[i] - IMAGES[j])[r : r + 3, c : c + 3] ** 2).sum() for r, c in corners]
            assert found[i, j] == pytest.approx(np.mean(np.exp(np.asarray(squares) / -0.5)))


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_patches_cover_every_pixel_and_lie_inside(data):
    rows, columns = (data.draw(st.integers(1, 12)) for _ in range(2))
    size = data.draw(st.integers(1, min(rows, columns)))
    grid = PatchGrid((rows, columns), size, data.draw(st.integers(0, size - 1)))
    covers = grid.covers()
    assert covers.any(axis=0).all()
    assert (covers.sum(axis=1) == size**2).all()
    assert len({row.tobytes() for row in covers}) == len(grid.corners)
    patches = grid.cut(np.arange(rows * columns)[None, :])
    assert [set(patch[0]) for patch in patches] == [set(np.flatnonzero(row)) for row in covers]


def test_a_patch_as_large_as_the_image_is_the_kernel_itself():
    flat = IMAGES[:, :, :5].reshape(6, -1)
    assert np.allclose(Patches((5, 5), 5, 0, Gaussian(2.0))(flat), Gaussian(2.0)(flat))


def test_images_do_not_see_each_other():
    kernel = Patches((5, 7), 3, 1, Gaussian(0.5))
    order = np.random.default_rng(1).permutation(6)
    assert np.allclose(kernel(IMAGES)[np.ix_(order, order)], kernel(IMAGES[order]), rtol=1e-12)
    assert np.allclose(kernel(IMAGES[:1], IMAGES), kernel(IMAGES)[:1])


def test_median_scale_is_that_of_patches():
    kernel = Patches((5, 7), 3, 1, Gaussian("median")).resolve(IMAGES)
    patches = np.concatenate(PatchGrid((5, 7), 3, 1).cut(IMAGES.reshape(6, -1)))
    distances = np.sqrt(((patches[:, None] - patches[None]) ** 2).sum(-1))
    assert kernel.kernel.scale == pytest.approx(np.median(distances[np.triu_indices(len(patches), 1)]))


@pytest.mark.parametrize("library", [torch, array_api_strict], ids=["torch", "array_api_strict"])
def test_other_libraries(library):
    kernel = Patches((5, 7), 3, 1, Gaussian(0.5))
    given = library.asarray(IMAGES)
    for found, wanted in ((kernel(given), kernel(IMAGES)), (kernel.diag(given), kernel.diag(IMAGES))):
        assert type(found) is type(given)
        assert np.allclose(to_numpy(found), wanted)
    assert np.allclose(to_numpy(kernel(given[:2, ...], given)), kernel(IMAGES[:2], IMAGES))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"shape": (5,)}, r"shape=\(5,\) in Patches; expected the rows and columns"),
        ({"shape": (5, 7), "size": 6}, "size=6 in Patches; expected a whole number from 1 to 5"),
        ({"shape": (5, 7), "size": 3, "overlap": 3}, "overlap=3 in Patches; expected a whole number from 0 to .* = 2"),
        ({"shape": (5, 8), "size": 3}, "X holds images of 5 × 7 pixels; expected 5 × 8"),
        ({"shape": (7, 5), "size": 3}, "X holds images of 5 × 7 pixels; expected 7 × 5"),
    ],
)
def test_parameters_that_do_not_fit(parameters, message):
    with pytest.raises(ValueError, match=message):
        Patches(**({"overlap": 1} | parameters), kernel=Gaussian(1.0))(IMAGES)


def test_rows_of_pixels_that_do_not_fit_and_images_of_two_sizes():
    kernel = Patches((5, 8), 3, 1, Gaussian(1.0))
    with pytest.raises(ValueError, match=r"X has 35 pixels per image; expected 5 × 8 = 40"):
        kernel(IMAGES.reshape(6, -1))
    with pytest.raises(ValueError, match=r"X\[0\] has shape \(5, 7\) and X\[1\] has shape \(5, 8\)"):
        kernel([np.ones((5, 7)), np.ones((5, 8))])


def test_kernel_that_takes_no_vectors():
    with pytest.raises(TypeError, match="expected a kernel on vectors"):
        Patches((5, 7), 3, 1, Subsequence())(IMAGES)
