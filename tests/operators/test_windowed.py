"""The windowed joint kernel against its formula, and what it is in the limit."""

import array_api_strict
import numpy as np
import pytest
import torch

from mercer.core.arrays import NumericalWarning, to_numpy
from mercer.estimators import JointKernelMap
from mercer.kernels import Gaussian
from mercer.operators import PatchwiseJoint, TensorProductJoint, WindowedJoint

rng = np.random.default_rng(0)
X, Z = rng.random((5, 12)), rng.random((3, 12))
Y, W = rng.random((5, 12)), rng.random((3, 12))


def literal(x, z, q, width, scale, shape=(3, 4)):
    """Pixel by pixel."""
    row, column = divmod(q, shape[1])
    weights = {
        p: np.exp(-((p // shape[1] - row) ** 2 + (p % shape[1] - column) ** 2) / (2 * width**2)) for p in range(12)
    }
    total = sum(weights.values())
    return np.exp(-sum(w * (x[p] - z[p]) ** 2 for p, w in weights.items()) / total / (2 * scale**2))


@pytest.mark.parametrize("width", [0.5, 1.7])
def test_every_pixel_equals_the_formula(width):
    groups = WindowedJoint((3, 4), width, 0.4).groups(X, Z, 12)
    assert [group.coordinates.tolist() for group in groups] == [[q] for q in range(12)]
    for q, (_, gram) in enumerate(groups):
        expected = [[literal(x, z, q, width, 0.4) for z in Z] for x in X]
        np.testing.assert_allclose(gram, expected, rtol=1e-12)


JOINTS = [
    WindowedJoint((3, 4), 1.0, 0.3),
    0.5 * WindowedJoint((3, 4), 0.8, 0.3) + 0.5 * WindowedJoint((3, 4), 2.0, 0.3),
    WindowedJoint((3, 4), 1.0, 0.3)
    + PatchwiseJoint((3, 4), 2, 1, Gaussian(1.0)) * 0.3
    + TensorProductJoint(Gaussian()),
]


@pytest.mark.parametrize("joint", JOINTS, ids=["alone", "two widths", "beside others"])
def test_it_is_what_the_operator_valued_kernel_induces(joint):
    for inputs, outputs in ((None, None), (Z, W)):
        blocks = joint.blocks(X, inputs, 12)
        expected = np.einsum("ia,ijab,jb->ij", Y, blocks, Y if outputs is None else outputs)
        np.testing.assert_allclose(joint(X, Y, inputs, outputs), expected)
    every = joint.blocks(X, None, 12).transpose(0, 2, 1, 3).reshape(60, 60)
    assert np.linalg.eigvalsh(every)[0] > -1e-10


def test_a_very_wide_window_is_a_gaussian_of_the_whole_image():
    found = WindowedJoint((3, 4), 1e6, 0.5)(X, Y)
    np.testing.assert_allclose(found, TensorProductJoint(Gaussian(0.5 * np.sqrt(12)))(X, Y), rtol=1e-6)


def test_images_do_not_see_each_other():
    joint = WindowedJoint((3, 4), 1.0, 0.3)
    order = rng.permutation(5)
    np.testing.assert_allclose(joint(X[order], Y[order]), joint(X, Y)[np.ix_(order, order)], rtol=1e-12)


def test_the_median_scale_is_that_of_all_pixels_and_pairs():
    scale = WindowedJoint((3, 4), 1.0).resolve(X, Y).scale
    values = [
        np.sqrt(-2 * np.log(literal(X[i], X[j], q, 1.0, 1.0))) for i in range(5) for j in range(i) for q in range(12)
    ]
    assert scale == pytest.approx(np.median(values))
    with pytest.warns(NumericalWarning, match="median distance of 4 objects is zero"):
        assert WindowedJoint((3, 4)).resolve(np.ones((4, 12)), Y).scale == 1.0


@pytest.mark.parametrize("library", [torch, array_api_strict], ids=lambda xp: xp.__name__)
def test_other_libraries(library):
    joint = WindowedJoint((3, 4), 1.0, 0.3)
    given = [library.asarray(side) for side in (X, Y, Z, W)]
    found = joint(*given)
    assert type(found) is type(given[0])
    np.testing.assert_allclose(to_numpy(found), joint(X, Y, Z, W))


def test_parts_of_several_images_can_be_put_together():
    """Left and right halves vary on their own: a window learns each, a kernel of whole images has to see them together."""
    left, right = np.random.default_rng(1).random((2, 60, 1, 1))
    images = np.concatenate([np.repeat(left, 3, axis=2), np.repeat(right, 3, axis=2)], axis=2)
    answers = np.sin(6 * images)
    errors = {}
    for name, joint in (("window", WindowedJoint((1, 6), 0.6)), ("whole", TensorProductJoint())):
        model = JointKernelMap(joint, fit_intercept=True, bounds=(-1, 1)).fit(images[:15], answers[:15])
        errors[name] = np.mean((model.predict(images[15:]) - answers[15:]) ** 2)
    assert errors["window"] < 0.5 * errors["whole"]


@pytest.mark.parametrize(
    ("joint", "message"),
    [
        (WindowedJoint((3,)), r"shape=\(3,\) in WindowedJoint"),
        (WindowedJoint((3, 4), 0.0, 1.0), "width=0.0; expected a finite number above zero"),
        (WindowedJoint((3, 4), 1.0, "mean"), "scale='mean'; expected .* or 'median'"),
        (WindowedJoint((3, 5), 1.0, 1.0), "X has 12 pixels per image; expected 3 × 5 = 15"),
        (WindowedJoint((3, 4)), r"learned from data; call resolve"),
    ],
)
def test_errors_say_what_is_wrong(joint, message):
    with pytest.raises(ValueError, match=message):
        joint(X, Y)
