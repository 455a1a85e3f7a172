"""Images as outputs of the estimators: pixels in their box, one size, and copies that must not help to choose the ridge."""

import numpy as np
import pytest

from mercer import DependencyEstimator, NeighborsEstimator
from mercer.decoders import ClosedForm, FixedPoint
from mercer.estimators import JointKernelMap
from mercer.kernels import Gaussian, Jittered, Linear, Patches, virtual_examples
from mercer.operators import TensorProductJoint
from mercer.selection import LeaveOneOut

rng = np.random.default_rng(0)
IMAGES = rng.random((14, 4, 5))
ANSWERS = np.clip(2.0 * IMAGES - 0.5, 0.0, 1.0)
NEW = rng.random((6, 4, 5))


@pytest.mark.parametrize(
    ("kernel", "free", "boxed"),
    [
        (Linear(), ClosedForm(), ClosedForm(bounds=(0.35, 0.6))),
        (Gaussian(3.0), FixedPoint(bounds=None), FixedPoint(bounds=(0.35, 0.6))),
    ],
    ids=["closed form", "fixed point"],
)
def test_pixels_stay_in_their_box(kernel, free, boxed):
    predictions = [
        DependencyEstimator(Gaussian(1.0), kernel, alpha=1e-3, decoder=decoder).fit(IMAGES, ANSWERS).predict(NEW)
        for decoder in (free, boxed)
    ]
    assert predictions[0].min() < 0.35
    assert predictions[0].max() > 0.6
    assert predictions[1].shape == (6, 4, 5)
    assert predictions[1].min() >= 0.35
    assert predictions[1].max() <= 0.6


@pytest.mark.parametrize(
    "kernel",
    [Gaussian(1.0), Patches((4, 5), 2, 1), Jittered(Gaussian(1.0), (4, 5))],
    ids=lambda kernel: type(kernel).__name__,
)
def test_images_of_two_sizes_are_named(kernel):
    ragged = [*IMAGES[:13], IMAGES[13, :, :4]]
    with pytest.raises(ValueError, match=r"X\[0\] has shape \(4, 5\) and X\[13\] .*images of one size"):
        DependencyEstimator(kernel, Linear()).fit(ragged, ANSWERS)
    with pytest.raises(ValueError, match=r"y\[0\] has shape \(4, 5\) and y\[13\] has shape \(4, 4\)"):
        DependencyEstimator(kernel, Linear()).fit(IMAGES, ragged)


def test_virtual_examples_make_a_shift_harmless():
    """Bars and crosses, each seen in one place when training and in another one when tested."""
    bar, cross = np.zeros((8, 8)), np.zeros((8, 8))
    bar[2:5, 3] = 1.0
    cross[3, 2:5] = cross[2:5, 3] = 1.0
    noise = np.random.default_rng(1).normal(scale=0.2, size=(20, 8, 8))
    images = np.asarray([bar, cross] * 10) + noise
    labels = np.asarray([0.0, 1.0] * 10)
    moved = np.roll(np.asarray([bar, cross] * 10), (1, 1), axis=(1, 2)) + noise[::-1]
    many = virtual_examples(images, labels, reach=1)
    plain = DependencyEstimator(Gaussian("median"), Linear(), alpha=0.1).fit(images, labels)
    taught = DependencyEstimator(Gaussian("median"), Linear(), alpha=0.1).fit(many.inputs, many.outputs)
    errors = [np.mean((model.predict(moved) - labels) ** 2) for model in (plain, taught)]
    assert errors[1] < 0.5 * errors[0]


def test_copies_do_not_choose_the_ridge_when_they_leave_together():
    """With unlearnable outputs, leave-one-out over copies believes in the copies; over groups it does not."""
    answers = np.random.default_rng(2).standard_normal((14, 3))
    many = virtual_examples(IMAGES, answers, reach=0, mirror=True)
    doubled = np.concatenate([IMAGES, IMAGES + 1e-3]).reshape(28, -1)
    alphas = LeaveOneOut([1e-4, 1e2])
    joint = TensorProductJoint(Gaussian(0.3))
    twice = np.concatenate([answers, answers])
    fooled = JointKernelMap(joint, alphas).fit(doubled, twice)
    wise = JointKernelMap(joint, alphas).fit(doubled, twice, groups=many.source)
    assert (fooled.alpha_, wise.alpha_) == (1e-4, 1e2)


def test_neighbours_take_images_too():
    found = NeighborsEstimator(Patches((4, 5), 2, 1), Linear(), k=1).fit(IMAGES, ANSWERS).predict(IMAGES[:3])
    np.testing.assert_allclose(found, ANSWERS[:3])
