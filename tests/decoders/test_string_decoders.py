"""Decoders that construct strings: exact against the enumeration of all short strings, and sound where they are not exact."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.core.collections import as_objects
from mercer.decoders import BeamSearch, BranchAndBound, EulerianWalk, LongestPath, PerPosition
from mercer.embeddings import Features, Implicit, PrincipalComponents, Spectral
from mercer.kernels import GaussianOf, Linear, Mismatch, Positions, Spectrum, Subsequence, WeightedDegree
from mercer.testing import check_decoder

pytestmark = pytest.mark.filterwarnings("ignore::mercer.core.arrays.NumericalWarning")

ALL = as_objects(["".join(s) for n in range(7) for s in product("abc", repeat=n)])
OUTPUTS = as_objects(["abcabc", "cabb", "bb", "acc", "abca", "", "bacab", "c"])

BY_POSITION = [
    Positions(),
    WeightedDegree(2),
    WeightedDegree(3),
    2.0 * WeightedDegree(2) + 0.5 * Positions(),
]
GROWING = [
    Spectrum(1),
    Spectrum(2),
    Spectrum(3),
    Spectrum((1, 3)),
    0.3 * Spectrum(2),
    Spectrum(1) + 2.0 * Spectrum(3),
    Spectrum(2).normalized(),
    3.0 * (Spectrum(1) + Spectrum(2)).normalized(),
    Mismatch(2, 1, "abc"),
    Mismatch(3, 1, "abc"),
    Mismatch(3, 1, "abcx").normalized(),
    Spectrum(2) + Mismatch(2, 1, "cab"),
    Subsequence(1, 0.8),
    Subsequence(2, 0.5),
    2.0 * Subsequence(2, 0.7),
    Subsequence(2, 0.5).normalized(),
    Subsequence(3, 0.9),
]


def enumerated(kernel, weights, allowed):
    """The scores of all strings of some lengths that the kernel sees, from the kernel's definition alone."""
    words = ALL[[allowed[0] <= len(word) <= allowed[1] for word in ALL]]
    words = words[kernel.sees(words)]
    return words, 2.0 * weights @ kernel(OUTPUTS, words) - kernel.diag(words)


def weights_of(seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(2, len(OUTPUTS))) * rng.choice([0.2, 1.0, 3.0])


def check_exact(decoder, kernel, weights, allowed):
    words, scores = enumerated(kernel, weights, allowed)
    fitted = decoder.fit(Implicit().fit(kernel, OUTPUTS))
    for word, report, own in zip(fitted.decode(weights), fitted.reports(weights), scores, strict=True):
        assert word == report.object
        assert word in words
        np.testing.assert_allclose([report.objective, report.bound], -own.max(), rtol=1e-7, atol=1e-9)
        assert report.optimal


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(BY_POSITION), st.sampled_from([None, 0, 3, (2, 5), (5, 9)]))
def test_the_longest_path_is_the_best_of_all_strings(seed, kernel, length):
    low, high = (0, 6) if length is None else (length, length) if isinstance(length, int) else length
    check_exact(LongestPath(length), kernel, weights_of(seed), (low, high))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(GROWING), st.sampled_from([None, 3, (2, 5), (5, 6)]))
def test_branch_and_bound_finds_the_best_of_all_strings(seed, kernel, length):
    low, high = (0, 6) if length is None else (length, length) if isinstance(length, int) else length
    check_exact(BranchAndBound(60.0, length=length), kernel, weights_of(seed), (low, high))


@pytest.mark.parametrize("kernel", [*GROWING], ids=repr)
def test_beam_search_is_as_good_as_it_says(kernel):
    """A beam as wide as there are strings misses none; a narrow one never claims more than is true."""
    weights = np.concatenate([weights_of(seed) for seed in range(10)])
    _, scores = enumerated(kernel, weights, (0, 6))
    best = scores.max(axis=1)
    for width in (1, 8, 800):
        decoder = BeamSearch(width).fit(Implicit().fit(kernel, OUTPUTS))
        found, bound = np.transpose([[report.objective, report.bound] for report in decoder.reports(weights)])
        assert np.all(found >= -best - 1e-9)
        assert np.all(bound <= -best + 1e-9)
        assert np.mean(np.isclose(found, -best)) >= {1: 0.3, 8: 0.6, 800: 0.95}[width]


@settings(max_examples=30, deadline=None)
@given(st.text("abc", min_size=2, max_size=12), st.integers(1, 3), st.integers(0, 100))
def test_an_eulerian_walk_finds_a_string_with_the_counts_that_were_predicted(word, n, seed):
    if len(word) < n:
        return
    outputs = as_objects([word, "abc", "ccab"])
    noise = np.random.default_rng(seed).uniform(-0.1, 0.1, size=2)
    decoder = EulerianWalk(length=(n, 12)).fit(Implicit().fit(2.0 * Spectrum(n), outputs))
    point = np.asarray([[1.0, 0.01 * noise[0], 0.01 * noise[1]]])
    found = decoder.decode(point)[0]
    assert decoder.reports(point)[0].optimal
    assert Spectrum(n)([found], [word])[0, 0] == Spectrum(n).diag([word])[0] == Spectrum(n).diag([found])[0]
    if len(word) <= 6:
        same = [other for other in ALL if len(other) == len(word)]
        grams = sorted(word[i : i + n] for i in range(len(word) - n + 1))
        equal = [o for o in same if sorted(o[i : i + n] for i in range(len(o) - n + 1)) == grams]
        assert decoder.walks(point) == [len(equal)]
        if len(equal) == 1:
            assert found == word


def test_an_eulerian_walk_that_is_none_falls_back_to_the_beam():
    weights = np.concatenate([weights_of(seed) for seed in range(15)])
    embedding = Implicit().fit(Spectrum(2), OUTPUTS)
    walks, beam = EulerianWalk().fit(embedding), BeamSearch().fit(embedding)
    assert 0 in walks.walks(weights)
    own, other = ([report.objective for report in decoder.reports(weights)] for decoder in (walks, beam))
    assert np.all(np.asarray(own) <= np.asarray(other) + 1e-9)


@pytest.mark.parametrize("kernel", [Spectrum(2), Spectrum(2).normalized(), Mismatch(2, 1, "abc")], ids=repr)
@pytest.mark.parametrize("embedding", [Implicit(), Features(), Spectral(), PrincipalComponents()], ids=repr)
def test_every_embedding_gives_the_same(kernel, embedding):
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(12, len(OUTPUTS)))
    fitted = embedding.fit(kernel, OUTPUTS)
    H = weights if fitted.coordinates_ is None else weights @ fitted.coordinates_
    decoder = BeamSearch().fit(fitted)
    plain = BeamSearch().fit(Implicit().fit(kernel, OUTPUTS))
    same = fitted.weights(H) if isinstance(embedding, PrincipalComponents) else weights
    objectives = [report.objective for report in decoder.reports(H)]
    np.testing.assert_allclose(objectives, [report.objective for report in plain.reports(same)], rtol=1e-6)
    np.testing.assert_allclose(decoder.objective(H, decoder.decode(H)), objectives, rtol=1e-9)


@pytest.mark.parametrize(
    ("decoder", "kernel"),
    [
        (BeamSearch(), Spectrum(2)),
        (BeamSearch(3), Subsequence(2, 0.5).normalized()),
        (BranchAndBound(20.0), Spectrum(3)),
        (EulerianWalk(), Spectrum(2)),
        (LongestPath(), WeightedDegree(2)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_contract_holds(decoder, kernel):
    rng = np.random.default_rng(1)
    embedding = Implicit().fit(kernel, OUTPUTS)
    check_decoder(decoder, embedding, rng.normal(size=(4, len(OUTPUTS))))
    short = decoder.set_params(length=(2, 4))
    check_decoder(short, embedding, rng.normal(size=(4, len(OUTPUTS))), candidates=["cabb", "abca", "acc"])


@pytest.mark.parametrize("decoder", [BeamSearch(), LongestPath(), BranchAndBound(20.0)], ids=lambda d: type(d).__name__)
def test_rank_gives_the_best_strings_in_order(decoder):
    kernel = WeightedDegree(2) if isinstance(decoder, LongestPath) else Spectrum(2)
    weights = np.abs(weights_of(3))
    embedding = Implicit().fit(kernel, OUTPUTS)
    _, scores = enumerated(kernel, weights, (0, 6))
    for ranked, own in zip(decoder.fit(embedding).rank(weights, 5), scores, strict=True):
        assert len(set(ranked.objects)) == 5
        exact = 2.0 * weights[0] @ kernel(OUTPUTS, ranked.objects) - kernel.diag(ranked.objects)
        if own is scores[0]:
            np.testing.assert_allclose(ranked.scores, exact, rtol=1e-9)
        np.testing.assert_allclose(ranked.scores[0], own.max())
        if type(decoder) is not BeamSearch:
            np.testing.assert_allclose(ranked.scores, np.sort(own)[::-1][:5], rtol=1e-7)


def test_the_longest_path_of_single_positions_is_per_position():
    weights = np.concatenate([weights_of(seed) for seed in range(20)])
    embedding = Implicit().fit(Positions(), OUTPUTS)
    a, b = LongestPath().fit(embedding).decode(weights), PerPosition().fit(embedding).decode(weights)
    np.testing.assert_allclose(
        PerPosition().fit(embedding).objective(weights, a), PerPosition().fit(embedding).objective(weights, b)
    )


@pytest.mark.parametrize("kind", [list, tuple])
def test_sequences_of_tokens_stay_sequences_of_tokens(kind):
    outputs = as_objects([kind(words.split()) for words in ("to be or", "or not so", "not to be")])
    for decoder, kernel in ((BeamSearch(length=(2, 6)), Spectrum(2)), (LongestPath(), WeightedDegree(2))):
        found = decoder.fit(Implicit().fit(kernel, outputs)).decode(np.array([[0.9, 0.9, 0.1]]))[0]
        assert type(found) is kind
        assert set(found) <= {"to", "be", "or", "not", "so"}
    beam = BeamSearch(length=(2, 6)).fit(Implicit().fit(Spectrum(2), outputs))
    assert list(beam.decode(np.array([[0.9, 0.9, 0.1]]))[0]) == ["to", "be", "or", "not", "so"]


def test_the_length_may_be_predicted():
    outputs = as_objects(["ababab", "cc", "bcb"])
    decoder = BeamSearch(length="predicted").fit(Implicit().fit(Spectrum(2), outputs))
    weights = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.5, 0.5, 0.0], [-1.0, 0.0, 0.0]])
    assert [len(word) for word in decoder.decode(weights)] == [6, 2, 4, 3]
    features = BeamSearch(length="predicted").fit(Features().fit(Spectrum(2), outputs))
    rows = weights @ Spectrum(2).feature_map(outputs)(outputs)
    assert [len(word) for word in features.decode(rows)] == [6, 2, 4, 3]


def test_other_symbols_may_be_allowed_or_forbidden():
    embedding = Implicit().fit(Spectrum(2), OUTPUTS)
    weights = np.abs(weights_of(0))
    for word in BeamSearch(alphabet="ab", length=(2, 5)).fit(embedding).decode(weights):
        assert set(word) <= set("ab") or word in OUTPUTS
    beam = BeamSearch(alphabet="abcz").fit(embedding)
    assert beam.alphabet_ == list("abcz")
    assert not any("z" in word for word in beam.decode(weights))


@pytest.mark.parametrize(
    ("decoder", "kernel", "error", "message"),
    [
        (BeamSearch(), GaussianOf(Spectrum(2), 1.0), TypeError, "BeamSearch needs Spectrum, Mismatch or Subsequence"),
        (BeamSearch(), Subsequence((1, 2)), TypeError, "Subsequence, plain or normalised"),
        (LongestPath(), Spectrum(2), TypeError, "LongestPath needs Positions"),
        (LongestPath(), WeightedDegree(2, shift=1), TypeError, "without shifts"),
        (LongestPath(), Positions().normalized(), TypeError, "LongestPath needs Positions"),
        (EulerianWalk(), Spectrum((1, 2)), TypeError, "Spectrum of one length"),
        (EulerianWalk(), Spectrum(2).normalized(), TypeError, "Spectrum of one length"),
        (BeamSearch(length=1), Spectrum(2), ValueError, "sees nothing in a sequence of fewer than 2"),
        (LongestPath(length=7), WeightedDegree(2), ValueError, "longest training output has 6"),
        (
            BeamSearch(length=2.5),
            Spectrum(2),
            ValueError,
            r"length=2.5; expected a whole number, \(shortest, longest\)",
        ),
        (BeamSearch(length=(4, 2)), Spectrum(2), ValueError, "length="),
        (BeamSearch(length="long"), Spectrum(2), ValueError, "length='long'"),
        (BeamSearch(width=0), Spectrum(2), ValueError, "width=0"),
        (BeamSearch(alphabet=""), Spectrum(2), ValueError, "at least one symbol"),
        (BeamSearch(alphabet=3), Spectrum(2), ValueError, "alphabet=3; expected at least one symbol"),
        (BeamSearch(alphabet=["ab"]), Spectrum(2), ValueError, "single characters"),
        (BeamSearch(alphabet="abz"), Mismatch(2, 1, "abc"), ValueError, "alphabet holds 'z'"),
        (BranchAndBound(time_limit=0), Spectrum(2), ValueError, "time_limit=0"),
        (EulerianWalk(threshold=0), Spectrum(2), ValueError, "threshold=0"),
        (BeamSearch(), Spectrum(9), ValueError, "sees none of the training outputs, the longest of which has 6"),
    ],
)
def test_what_cannot_work_is_refused(decoder, kernel, error, message):
    with pytest.raises(error, match=message):
        decoder.fit(Implicit().fit(kernel, OUTPUTS))


def test_vectors_are_refused_by_the_kernel_they_come_with():
    with pytest.raises(TypeError, match="BeamSearch needs"):
        BeamSearch().fit(Implicit().fit(Linear(), np.eye(3)))


def test_one_letter_strings_and_one_letter_alphabets():
    outputs = as_objects(["a", "aa", "aaa"])
    for kernel, decoder in (
        (Spectrum(1), BranchAndBound()),
        (Spectrum(2), EulerianWalk()),
        (WeightedDegree(2), LongestPath()),
    ):
        found = decoder.fit(Implicit().fit(kernel, outputs)).decode(np.eye(3))
        assert found[2] == "aaa"


def test_time_over_still_gives_a_sound_gap():
    rng = np.random.default_rng(0)
    outputs = as_objects(["".join(rng.choice(list("abcdefgh"), size=14)) for _ in range(40)])
    kernel = Mismatch(3, 1, "abcdefgh")
    decoder = BranchAndBound(0.02).fit(Implicit().fit(kernel, outputs))
    for report in decoder.reports(rng.uniform(0.0, 0.2, size=(3, 40))):
        assert np.isfinite(report.bound)
        assert report.bound <= report.objective
        assert report.gap > 0
        assert not report.optimal
