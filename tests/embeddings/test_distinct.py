"""Weights on distinct outputs against weights on all of them."""

import numpy as np
import pytest

from mercer.core import memory
from mercer.core.collections import as_objects
from mercer.decoders import Candidates, ExpectedF1, ExpectedLoss, Standardized
from mercer.embeddings import Distinct, Implicit
from mercer.kernels import Classes, Gaussian, Kemeny, LabelSets, Overlap, Subsequence
from mercer.losses import F1, EditDistance, Kendall, ZeroOne

rng = np.random.default_rng(0)
STRINGS = as_objects(["ab", "ba", "ab", "aab", "ba", "ab", "b"])
SETS = as_objects([frozenset(each) for each in ("ab", "a", "ab", "c", "a", "bc", "abc")])
ORDERS = np.array([[0, 1, 2], [1, 0, 2], [0, 1, 2], [2, 1, 0], [1, 0, 2], [0, 2, 1], [2, 1, 0]])
WEIGHTS = rng.dirichlet(np.ones(7), 12)
CASES = {
    "candidates of strings": (Subsequence(1).normalized(), STRINGS, Candidates(), None),
    "candidates of classes": (Classes(), STRINGS, Candidates(), ZeroOne()),
    "candidates of sets": (Overlap(0.8), SETS, Candidates(), F1()),
    "candidates of rankings": (Kemeny(), ORDERS, Candidates(), Kendall()),
    "expected edit distance": (Subsequence(1).normalized(), STRINGS, ExpectedLoss(), EditDistance()),
    "expected F1": (LabelSets(), SETS, ExpectedF1(), F1()),
    "expected loss of sets": (LabelSets(), SETS, ExpectedLoss(), F1()),
    "standardised": (Overlap(1.0), SETS, Standardized(strength=0.5), F1()),
}


def fitted(name, embedding, extra=0):
    kernel, outputs, decoder, loss = CASES[name]
    paired = len(outputs) - extra
    found = embedding.fit(kernel.resolve(outputs), outputs, paired)
    return decoder.__class__(**decoder.get_params(deep=False)).fit(found, loss), found, paired


@pytest.mark.parametrize("extra", [0, 2], ids=["", "extra outputs"])
@pytest.mark.parametrize("name", CASES)
def test_decoded_as_from_weights_on_all_outputs(name, extra):
    (whole, _, n), (some, embedding, _) = (fitted(name, kind(), extra) for kind in (Implicit, Distinct))
    weights = WEIGHTS[:, :n]
    points = weights @ embedding.coordinates_[:n]
    assert points.shape[1] == len(embedding.distinct_) < n
    if whole.needs_left_out_points:
        whole.calibrate(weights)
        some.calibrate(points)
    assert list(map(repr, some.decode(points))) == list(map(repr, whole.decode(weights)))
    for a, b in zip(some.rank(points, 3), whole.rank(weights, 3), strict=True):
        assert list(map(repr, a.objects)) == list(map(repr, b.objects))
        assert np.allclose(a.scores, b.scores)
    rows = np.arange(n)
    left = WEIGHTS[:n, :n] * (1 - np.eye(n))
    out = list(map(repr, whole.decode(left, leave_out=rows)))
    assert list(map(repr, some.decode(left @ embedding.coordinates_[:n], leave_out=rows))) == out


@pytest.mark.parametrize("name", CASES)
def test_geometry_is_that_of_weights(name):
    (_, whole, n), (_, some, _) = (fitted(name, kind(), 1) for kind in (Implicit, Distinct))
    outputs, weights = CASES[name][1], WEIGHTS[: len(CASES[name][1]), :n]
    points = weights @ some.coordinates_[:n]
    assert np.allclose(some.squared_distances(points, outputs), whole.squared_distances(weights, outputs))
    spread = some.weights(points)
    assert spread.shape == (7, 7)
    assert np.allclose(spread[:, :n] @ some.coordinates_[:n], points)
    assert not spread[:, n:].any()
    assert not some.coordinates_[n:].any()


def test_weights_do_not_depend_on_the_kernel():
    a, b = (Distinct().fit(kernel, SETS).coordinates_ for kernel in (LabelSets().resolve(SETS), Overlap(1.0)))
    assert np.array_equal(a, b)


def test_outputs_in_too_many_forms_are_refused_before_they_are_weighed(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda *device: 2**30)
    labels = as_objects([str(i) for i in range(20_000)])
    with pytest.raises(MemoryError, match="weights on 20000 distinct outputs"):
        Distinct().fit(Classes(), labels)
    Distinct().fit(Classes(), as_objects([str(i % 50) for i in range(20_000)]))


def test_vectors_that_are_equal_share_a_coordinate():
    outputs = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, -0.0]])
    assert Distinct().fit(Gaussian(1.0), outputs).coordinates_.tolist() == [[1, 0], [0, 1], [1, 0]]
