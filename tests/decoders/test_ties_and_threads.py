"""Ties do not depend on the batch or on the last bit, and threads that share a fitted decoder get their own answers."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from mercer.core.collections import as_objects, members
from mercer.decoders import (
    Assignment,
    BeamSearch,
    BranchAndBound,
    Candidates,
    ClosedForm,
    EulerianWalk,
    ExpectedF1,
    ExpectedLoss,
    FixedPoint,
    KemenyOrder,
    LongestPath,
    PerPosition,
    Sorting,
    Standardized,
    Thresholded,
)
from mercer.embeddings import Implicit, PrincipalComponents, Spectral
from mercer.kernels import (
    Borda,
    Gaussian,
    Kemeny,
    LabelSets,
    Lehmer,
    Linear,
    Mismatch,
    Positions,
    RankHamming,
    Spectrum,
    Subsequence,
    WeightedDegree,
)
from mercer.losses import EditDistance, ZeroOne

pytestmark = pytest.mark.filterwarnings("ignore::mercer.core.arrays.NumericalWarning")

rng = np.random.default_rng(0)
WORDS = as_objects(["abcabc", "cabb", "bb", "acc", "abca", "ba", "bacab", "ccb"])
SETS = as_objects([{"a"}, {"a", "b"}, {"c"}, {"b", "c", "d"}, {"a", "d"}, set(), {"e"}, {"d"}])
ORDERS = np.array([rng.permutation(5) for _ in range(8)])
MANY = np.array([rng.permutation(8) for _ in range(8)])
VECTORS = np.array([[x, y] for x in (0.0, 1.0, 2.0, 3.0) for y in (0.0, 1.0)])

CASES = [
    (Candidates(), Gaussian(1.0), VECTORS, None),
    (ClosedForm("data"), Linear(), VECTORS, None),
    (FixedPoint(), Gaussian(1.0), VECTORS, None),
    (Standardized(), Gaussian(1.0), VECTORS, None),
    (ExpectedLoss(), Spectrum(2), WORDS, EditDistance()),
    (ExpectedLoss(), Spectrum(2), WORDS, ZeroOne()),
    (Thresholded(), LabelSets(), SETS, None),
    (Thresholded(0.3), LabelSets(), SETS, None),
    (ExpectedF1(), LabelSets(), SETS, None),
    (PerPosition(), 0.3 * Positions(), WORDS, None),
    (LongestPath(), WeightedDegree(2), WORDS, None),
    (BeamSearch(5), Spectrum(2), WORDS, None),
    (BeamSearch(5), 0.3 * Spectrum((1, 2)).normalized(), WORDS, None),
    (BeamSearch(5, length="predicted"), Mismatch(2, 1, "abc"), WORDS, None),
    (BeamSearch(5), Subsequence(2, 0.7), WORDS, None),
    (BeamSearch(5), Subsequence(2, 0.7).normalized(), WORDS, None),
    (BranchAndBound(30.0, length=(2, 5)), Spectrum(2), WORDS, None),
    (EulerianWalk(), Spectrum(2), WORDS, None),
    (Assignment(), RankHamming(), ORDERS, None),
    (Sorting(), Borda(), ORDERS, None),
    (Sorting(), Lehmer(), ORDERS, None),
    (KemenyOrder(), Kemeny(), ORDERS, None),
    (KemenyOrder(), Kemeny(), MANY, None),
]
EACH = pytest.mark.parametrize(("decoder", "kernel", "outputs", "loss"), CASES, ids=lambda part: f"{part!r:.30}")


def plain(objects):
    """Objects as values that can be compared, vectors to five places."""
    return [np.round(one, 5).tolist() if hasattr(one, "tolist") else one for one in members(objects)]


def answers(decoder, H):
    return plain(decoder.decode(H)), [plain(ranked.objects) for ranked in decoder.rank(H, 3)]


@EACH
@pytest.mark.parametrize("embedding", [Implicit(), Spectral(), PrincipalComponents()], ids=lambda e: type(e).__name__)
def test_ties_do_not_depend_on_the_batch_or_on_the_last_bit(decoder, kernel, outputs, loss, embedding):
    fitted = embedding.fit(kernel, kernel.check(outputs))
    decoder = decoder.fit(fitted, loss)
    weights = rng.integers(-1, 4, size=(12, len(outputs))) / 8  # few different values: many ties
    weights[:3] = [np.full(8, 0.125), np.eye(8)[2], np.zeros(8)]
    H = weights if fitted.coordinates_ is None else weights @ fitted.coordinates_
    decoded, ranked = answers(decoder, H)
    for i in range(len(H)):
        alone = answers(decoder, H[i : i + 1])
        assert alone == ([decoded[i]], [ranked[i]])
    eps = np.finfo(float).eps
    for _ in range(3):
        noise = rng.integers(-2, 3, size=H.shape) * eps * np.abs(H).max(axis=1, keepdims=True)
        assert answers(decoder, H + noise) == (decoded, ranked)


@EACH
def test_threads_that_share_a_decoder_get_their_own_answers(decoder, kernel, outputs, loss):
    decoder = decoder.fit(Implicit().fit(kernel, kernel.check(outputs)), loss)
    if isinstance(decoder, Standardized):
        decoder.calibrate(rng.normal(size=(8, 8)))
    points = [rng.normal(size=(2, len(outputs))) for _ in range(12)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(6) as pool:
            found = list(pool.map(lambda H: answers(decoder, H), points))
    finally:
        sys.setswitchinterval(interval)
    assert found == [answers(decoder, H) for H in points]


def test_reports_belong_to_their_points():
    decoder = BeamSearch().fit(Implicit().fit(Spectrum(2), WORDS))
    points = [rng.normal(size=(3, 8)) for _ in range(12)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(6) as pool:
            found = list(pool.map(decoder.reports, points))
    finally:
        sys.setswitchinterval(interval)
    for H, reports in zip(points, found, strict=True):
        assert [report.object for report in reports] == decoder.decode(H).tolist()
        np.testing.assert_allclose([report.objective for report in reports], decoder.objective(H, decoder.decode(H)))


def test_numba_is_imported_when_a_loop_is_first_called():
    code = "import sys, mercer.decoders; assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
