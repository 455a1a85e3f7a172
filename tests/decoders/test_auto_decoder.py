"""The decoder that is picked, and the sentence that says why."""

import numpy as np
import pytest

from mercer.core.collections import as_objects
from mercer.decoders import (
    BeamSearch,
    Candidates,
    ClosedForm,
    ExpectedF1,
    ExpectedLoss,
    FixedPoint,
    LongestPath,
    PerPosition,
    Standardized,
    auto_decoder,
    base,
    register,
)
from mercer.decoders.base import unscaled
from mercer.embeddings import FeaturesOf, Implicit
from mercer.kernels import (
    Classes,
    Gaussian,
    GaussianOf,
    LabelSets,
    Laplacian,
    Linear,
    Mismatch,
    Positions,
    Spectrum,
    Subsequence,
    WeightedDegree,
)
from mercer.losses import KernelLoss, SquaredError, ZeroOne


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (Linear(), ClosedForm),
        (2.0 * (3.0 * Linear()), ClosedForm),
        (Linear().centered().resolve(np.eye(2)), ClosedForm),
        (Gaussian(1.0), FixedPoint),
        (Gaussian("median"), FixedPoint),
        (0.5 * Gaussian(1.0), FixedPoint),
        (GaussianOf(Linear(), 2.0), FixedPoint),
        (GaussianOf(Subsequence(2), 2.0), Candidates),
        (Positions(), PerPosition),
        (2.0 * Positions(), PerPosition),
        (Positions().normalized(), Candidates),
        (Linear() + Gaussian(1.0), Candidates),
        (Laplacian(1.0), Candidates),
        (Subsequence(3).normalized(), Candidates),
        (WeightedDegree(3), LongestPath),
        (2.0 * WeightedDegree(2) + Positions(), LongestPath),
        (WeightedDegree(2, shift=1), Candidates),
        (Spectrum(3), BeamSearch),
        (0.5 * (Spectrum(1) + Spectrum((2, 3))).normalized(), BeamSearch),
        (Mismatch(3, 1, "abcd"), BeamSearch),
        (Spectrum(2) * Spectrum(2), Candidates),
        (GaussianOf(Spectrum(2), 2.0), Candidates),
        (Classes(), Candidates),
        (LabelSets(), Candidates),
    ],
    ids=repr,
)
@pytest.mark.parametrize("loss", [None, "kernel", "rkhs"])
def test_the_kernel_decides(kernel, expected, loss):
    decoder, reason = auto_decoder(kernel, loss)
    assert type(decoder) is expected
    assert repr(unscaled(kernel)) in reason
    assert "\n" not in reason


@pytest.mark.parametrize("kernel", [Linear(), Gaussian(1.0), Positions(), Classes()], ids=repr)
@pytest.mark.parametrize("loss", [ZeroOne(), lambda y, z: 0.0])
def test_a_loss_of_the_users_own_decides_first(kernel, loss):
    decoder, reason = auto_decoder(kernel, loss)
    assert type(decoder) is ExpectedLoss
    assert repr(kernel) in reason


def test_a_loss_that_is_the_kernels_own_leaves_it_to_the_kernel():
    assert type(auto_decoder(Gaussian(2.0), KernelLoss(Gaussian(2.0)))[0]) is FixedPoint
    assert type(auto_decoder(Gaussian(2.0), KernelLoss(Gaussian(1.0)))[0]) is ExpectedLoss
    assert type(auto_decoder(Linear(), SquaredError())[0]) is ClosedForm
    assert type(auto_decoder(Gaussian(2.0), SquaredError())[0]) is ExpectedLoss


def test_too_many_symbols_leave_it_to_the_training_outputs():
    few = as_objects([["to", "be"], ["not", "to"]])
    many = as_objects([list(range(start, start + 100)) for start in range(0, 10_000, 50)])
    for kernel, chosen in ((Spectrum(2), BeamSearch), (WeightedDegree(2), LongestPath)):
        assert type(auto_decoder(kernel, None, few)[0]) is chosen
        assert type(auto_decoder(kernel, None, many)[0]) is Candidates
    letters = tuple("abcdefghijklmnopqrstuvwxyz0123456789")
    texts = as_objects(["".join(np.random.default_rng(i).permutation(letters)) for i in range(60)])
    assert type(auto_decoder(Mismatch(4, 2, letters), None, texts)[0]) is Candidates


@pytest.mark.parametrize("kernel", [Linear(), Gaussian(1.0), Laplacian(1.0)], ids=repr)
def test_what_is_picked_can_be_fitted(kernel):
    decoder, _ = auto_decoder(kernel)
    decoder.fit(Implicit().fit(kernel, np.eye(3)), KernelLoss(kernel))
    assert decoder.decode(np.eye(3)).shape == (3, 3)


@pytest.fixture
def registered():
    """The registry, put back afterwards."""
    before = dict(base._REGISTERED)
    yield base._REGISTERED
    base._REGISTERED.clear()
    base._REGISTERED.update(before)


def test_a_decoder_of_ones_own_is_registered_in_one_line_and_asked_first(registered):
    @register()
    class Nearest(Candidates):
        @classmethod
        def suits(cls, kernel, loss, outputs):
            return (cls(), "mine") if kernel == Gaussian(7.0) else None

    assert type(auto_decoder(Gaussian(7.0))[0]) is Nearest
    assert type(auto_decoder(Gaussian(6.0))[0]) is FixedPoint
    register(priority=-1)(Nearest)  # again, at the end
    assert type(auto_decoder(Gaussian(7.0))[0]) is FixedPoint
    assert sum(name.endswith("Nearest") for name in registered) == 1


def test_of_one_priority_the_last_registered_is_asked_first(registered):
    for name in ("First", "Second"):
        register(50)(type(name, (Candidates,), {"suits": classmethod(lambda cls, *_: (cls(), cls.__name__))}))
    assert auto_decoder(Linear())[1] == "Second"


def test_each_decoder_says_alone_what_it_suits():
    assert FixedPoint.suits(Gaussian(1.0), ZeroOne(), None) is None
    assert ExpectedLoss.suits(Gaussian(1.0), KernelLoss(Gaussian(1.0)), None) is None
    assert type(Candidates.suits(Gaussian(1.0), ZeroOne(), None)[0]) is Candidates
    assert Standardized.suits(Gaussian(1.0), KernelLoss(Gaussian(1.0)), None) is None


def test_what_a_decoder_needs_is_declared():
    assert Standardized().needs_left_out_points
    assert not Candidates().needs_left_out_points
    assert [ExpectedF1(strength).needs_left_out_points for strength in (0.0, 0.3)] == [False, True]
    outputs = as_objects([{"a"}, {"b"}, {"a"}])
    assert Candidates().preferred_embedding(LabelSets(), outputs) is None
    assert type(ExpectedLoss().preferred_embedding(LabelSets(), outputs)[0]) is Implicit
    assert type(ExpectedF1().preferred_embedding(LabelSets(), outputs)[0]) is FeaturesOf
    assert type(ExpectedF1().preferred_embedding(LabelSets(), outputs[:1])[0]) is FeaturesOf
    assert type(ExpectedF1().preferred_embedding(LabelSets(), as_objects([{"a", "b"}]))[0]) is Implicit


def test_a_decoder_is_asked_about_kernels_it_decodes_and_suits_their_distance_for_its_reason(registered):
    @register()
    class Widest(Candidates):
        needs = "Gaussian(7.0)"
        reason = "{kernel} is the widest"
        suits = classmethod(Standardized.suits.__func__)  # the one of every decoder

        @classmethod
        def decodes(cls, kernel):
            return unscaled(kernel) == Gaussian(7.0)

    decoder, reason = auto_decoder(2.0 * Gaussian(7.0))
    assert (type(decoder), reason) == (Widest, "Gaussian(scale=7.0) is the widest")
    assert type(auto_decoder(Gaussian(7.0), ZeroOne())[0]) is ExpectedLoss
    assert type(auto_decoder(Gaussian(6.0))[0]) is FixedPoint
    with pytest.raises(
        TypeError, match=r"Widest needs Gaussian\(7.0\) as output kernel, and came with Gaussian\(scale=6"
    ):
        Widest().fit(Implicit().fit(Gaussian(6.0), np.eye(2)))
