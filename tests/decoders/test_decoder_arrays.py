"""Vectors of other array libraries: in their own library out, with NumPy's answers."""

import numpy as np
import pytest

from mercer.core.collections import as_objects
from mercer.decoders import Candidates, ClosedForm, ExpectedLoss, FixedPoint, best
from mercer.embeddings import Features, Implicit, Spectral
from mercer.kernels import Classes, Gaussian, Linear, Subsequence
from mercer.losses import SquaredError, ZeroOne

LIBRARIES = ["torch", "array_api_strict"]
CASES = [
    (Candidates(), Gaussian(1.0), None),
    (Candidates(batch_size=2), Linear(), None),
    (ClosedForm(), Linear(), None),
    (FixedPoint(), Gaussian(1.0), None),
    (FixedPoint(bounds=(-1.0, 1.0)), 2.0 * Gaussian(1.0), None),
    (FixedPoint(bounds=None), Gaussian(1.0), None),
    (ExpectedLoss(), Gaussian(1.0), SquaredError()),
]


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(6, 3)), rng.normal(size=(5, 6))


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(("decoder", "kernel", "loss"), CASES, ids=repr)
@pytest.mark.parametrize("embedding", [Implicit, Spectral])
def test_same_answers_in_the_library_of_the_outputs(library, decoder, kernel, loss, embedding, data):
    xp = pytest.importorskip(library)
    Y, W = data
    plain = embedding().fit(kernel, Y)
    other = embedding().fit(kernel, xp.asarray(Y))
    rows = plain.coordinates_
    H = W if rows is None else W @ rows
    # eigenvectors have no sign of their own: each embedding gets its own coordinates of the points
    own = xp.asarray(W) if rows is None else xp.asarray(W) @ other.coordinates_

    expected = decoder.fit(plain, loss).decode(H)
    ranked = decoder.rank(H, 2)
    chosen = best(decoder.choose(H, Y[:3]))
    left = decoder.decode(H, leave_out=np.arange(5))
    objective = decoder.objective(H, expected)

    decoder.fit(other, loss)
    found = decoder.decode(own)
    assert type(found) is type(xp.asarray(Y))
    np.testing.assert_allclose(np.from_dlpack(found), expected, atol=1e-6)
    again = decoder.decode(own, leave_out=np.arange(5))
    np.testing.assert_allclose(np.from_dlpack(again), left, atol=1e-6)
    for a, b in zip(decoder.rank(own, 2), ranked, strict=True):
        np.testing.assert_allclose(np.from_dlpack(a.objects), b.objects)
        np.testing.assert_allclose(a.scores, b.scores, atol=1e-9)
    for candidates in (xp.asarray(Y[:3]), Y[:3]):  # NumPy candidates are moved over
        other_chosen = best(decoder.choose(own, candidates))
        np.testing.assert_allclose(np.from_dlpack(other_chosen), chosen)
    np.testing.assert_allclose(decoder.objective(own, found), objective, atol=1e-9)


@pytest.mark.parametrize("library", LIBRARIES)
def test_points_of_one_library_and_outputs_of_another(library, data):
    xp = pytest.importorskip(library)
    Y, W = data
    for decoder, kernel in ((Candidates(), Gaussian(1.0)), (ClosedForm(), Linear())):
        expected = decoder.fit(Implicit().fit(kernel, Y)).decode(W)
        np.testing.assert_allclose(decoder.decode(xp.asarray(W)), expected)  # NumPy outputs
        decoder.fit(Implicit().fit(kernel, xp.asarray(Y)))
        found = decoder.decode(W)
        assert type(found) is type(xp.asarray(Y))
        np.testing.assert_allclose(np.from_dlpack(found), expected)


@pytest.mark.parametrize("library", LIBRARIES)
def test_points_of_another_library_for_objects(library):
    xp = pytest.importorskip(library)
    strings = as_objects(["abc", "bca", "aab"])
    embedding = Implicit().fit(Subsequence(2, 0.5), strings)
    for decoder, loss in ((Candidates(), None), (ExpectedLoss(), ZeroOne())):
        found = decoder.fit(embedding, loss).decode(xp.asarray(np.eye(3)))
        assert found.tolist() == strings.tolist()


def test_classes_in_a_tensor():
    torch = pytest.importorskip("torch")
    embedding = Features().fit(Classes(), torch.asarray([7, 3, 7]))
    found = Candidates().fit(embedding).decode(torch.eye(2, dtype=torch.float64))
    assert found.tolist() == [7, 3]
