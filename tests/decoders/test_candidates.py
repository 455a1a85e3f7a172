"""Candidates: the nearest training output, the ties, what is left out, what the caller gives."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from mercer.core.arrays import NumericalWarning
from mercer.core.collections import as_objects
from mercer.decoders import Candidates, best
from mercer.decoders.pool import top
from mercer.embeddings import Features, Implicit, PrincipalComponents, Spectral
from mercer.kernels import Classes, Gaussian, LabelSets, Linear, Precomputed, Subsequence
from mercer.testing import check_decoder


def naive_scores(embedding, H, candidates):
    """2⟨h, ψ(y)⟩ − l(y, y) from the kernel alone, one pair at a time."""
    kernel, outputs = embedding.kernel_, embedding.outputs_
    weights = embedding.weights(H)
    return np.array(
        [
            [
                2 * sum(w * kernel.pointwise(o, y) for w, o in zip(row, outputs, strict=True)) - kernel.pointwise(y, y)
                for y in candidates
            ]
            for row in weights
        ]
    )


@pytest.fixture
def points():
    return np.random.default_rng(0).normal(size=(7, 5))


@pytest.fixture
def strings():
    return as_objects(["abc", "abd", "bcda", "abc", "ddab"])


@pytest.mark.parametrize("kernel", [Linear(), Gaussian(1.5)])
def test_decodes_to_the_naive_best_vector(kernel, points):
    Y = np.random.default_rng(1).normal(size=(5, 3))
    embedding = Implicit().fit(kernel, Y)
    expected = Y[naive_scores(embedding, points, Y).argmax(axis=1)]
    np.testing.assert_array_equal(Candidates().fit(embedding).decode(points), expected)


def test_the_norm_of_the_candidate_counts():
    # ⟨h, y⟩ alone is largest for the longest vector, which is not the nearest
    embedding = Implicit().fit(Linear(), np.array([[1.0], [10.0]]))
    assert Candidates().fit(embedding).decode(np.array([[1.1, 0.0]])).tolist() == [[1.0]]


def test_strings_and_scores(strings, points):
    embedding = Implicit().fit(Subsequence(2, 0.5), strings)
    scores = naive_scores(embedding, points, ["abc", "abd", "bcda", "ddab"])
    for ranked, row in zip(Candidates().fit(embedding).rank(points, 3), scores, strict=True):
        order = np.argsort(-row, kind="stable")[:3]
        assert ranked.objects.tolist() == [["abc", "abd", "bcda", "ddab"][i] for i in order]
        np.testing.assert_allclose(ranked.scores, row[order])


def test_principal_components_measure_only_what_they_keep(points):
    Y = np.random.default_rng(2).normal(size=(5, 3))
    embedding = PrincipalComponents(n_components=2).fit(Linear(), Y)
    H, V = points[:, :2], embedding.coordinates_
    nearest = ((H[:, None, :] - V[None, :, :]) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(Candidates().fit(embedding).decode(H), Y[nearest])


def test_equal_outputs_are_one_candidate_at_the_first_place(strings):
    decoder = Candidates().fit(Implicit().fit(Subsequence(2, 0.5), strings))
    assert decoder.pool_.objects.tolist() == ["abc", "abd", "bcda", "ddab"]
    (ranked,) = decoder.rank(np.ones((1, 5)), 100)
    assert len(ranked.objects) == 4


def test_ties_go_to_the_candidate_listed_first():
    # every class but one has the same score
    embedding = Implicit().fit(Classes(), np.array([3, 1, 4, 1, 5]))
    H = np.array([[0.0, 0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0, 0.0]])
    decoder = Candidates().fit(embedding)
    assert [r.objects.tolist() for r in decoder.rank(H, 2)] == [[5, 3], [3, 1]]
    assert [r.objects.tolist() for r in decoder.rank(H, 3)] == [[5, 3, 1], [3, 1, 4]]
    assert decoder.decode(H).tolist() == [5, 3]


def test_ties_hold_up_to_rounding():
    # of the mean of two outputs both are equally near; only rounding tells them apart
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(30, 4))
    pairs = np.array([(i, j) for i in range(30) for j in range(i)])
    H = np.zeros((len(pairs), 30))
    H[np.arange(len(pairs))[:, None], pairs] = 0.5
    decoder = Candidates().fit(Implicit().fit(Gaussian(3.0), Y))
    plain = decoder.pool_.features @ H.T - decoder.pool_.offsets[:, None]
    assert (plain.argmax(axis=0) != decoder.pool_.best(H, 1)[0][:, 0]).any()  # it did matter
    order = np.random.default_rng(1).permutation(30)
    shuffled = Candidates().fit(Implicit().fit(Gaussian(3.0), Y[order]))
    found, ranked = decoder.decode(H), decoder.rank(H, 3)
    twin = shuffled.choose(H[:, order], Y)
    for i, (row, three) in enumerate(zip(found, ranked, strict=True)):
        nearest = decoder.objective(np.repeat(H[i : i + 1], 30, axis=0), Y)
        expected = np.flatnonzero(nearest <= nearest.min() + 1e-12)
        np.testing.assert_array_equal(row, Y[expected[0]])
        np.testing.assert_array_equal(three.objects[: len(expected)], Y[expected[:3]])
        np.testing.assert_array_equal(twin[i].objects[0], Y[expected[0]])
        assert (np.diff(three.scores) <= 0).all()


def test_a_very_long_candidate_does_not_blur_the_others():
    embedding = Implicit().fit(Linear(), np.array([[1e7], [1.0], [1.001]]))
    H = np.array([[0.0, 0.0, 1.0]])
    assert Candidates().fit(embedding).decode(H).tolist() == [[1.001]]


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 3), min_size=6, max_size=6), min_size=1, max_size=4),
    st.integers(1, 6),
)
def test_top_is_a_stable_sort(rows, k):
    scores = np.array(rows, dtype=float)
    columns, values = top(scores, k)
    expected = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(columns, expected)
    np.testing.assert_array_equal(values, np.take_along_axis(scores, expected, axis=1))


def test_batches_change_nothing(points):
    embedding = Implicit().fit(Gaussian(1.0), np.random.default_rng(3).normal(size=(5, 2)))
    whole = Candidates().fit(embedding)
    for size in (1, 2, 7, 100):
        batched = Candidates(batch_size=size).fit(embedding)
        np.testing.assert_array_equal(batched.decode(points), whole.decode(points))
        for a, b in zip(batched.rank(points, 3), whole.rank(points, 3), strict=True):
            np.testing.assert_array_equal(a.objects, b.objects)


def test_default_batches_are_bounded_by_the_number_of_scores(points, monkeypatch):
    embedding = Implicit().fit(Gaussian(1.0), np.random.default_rng(3).normal(size=(5, 2)))
    decoder = Candidates().fit(embedding)
    whole, sizes = decoder.decode(points), []
    monkeypatch.setattr("mercer.decoders.pool._SCORES", 11)  # two queries of five candidates
    real = top
    monkeypatch.setattr("mercer.decoders.pool.top", lambda s, k, e: sizes.append(s.shape[0]) or real(s, k, e))
    np.testing.assert_array_equal(decoder.decode(points), whole)
    assert sizes == [2, 2, 2, 1]


# -- leaving out -----------------------------------------------------------------------------------


def test_an_output_left_out_is_no_candidate_unless_it_has_an_equal(strings):
    decoder = Candidates().fit(Implicit().fit(Subsequence(2, 0.5).normalized(), strings))
    H = np.eye(5)  # each point is an output
    assert decoder.decode(H).tolist() == strings.tolist()
    left = decoder.decode(H, leave_out=np.arange(5))
    assert left[0] == left[3] == "abc"  # the other "abc" stays
    assert all(left[i] != strings[i] for i in (1, 2, 4))


def test_leaving_out_equals_deleting_the_output():
    rng = np.random.default_rng(4)
    Y = rng.integers(0, 2, size=(8, 3)).astype(float)  # with repetitions
    H = rng.normal(size=(8, 8))
    decoder = Candidates().fit(Implicit().fit(Linear(), Y))
    found = decoder.rank(H, 8, leave_out=np.arange(8))
    for i in range(8):
        H_i = H[i : i + 1].copy()
        (ranked,) = decoder.choose(H_i, np.delete(Y, i, axis=0), 8)
        seen = list(dict.fromkeys(map(tuple, ranked.objects)))
        assert sorted(seen) == sorted(map(tuple, found[i].objects))
        np.testing.assert_allclose(found[i].scores[0], ranked.scores[0])
        assert np.isfinite(found[i].scores).all()


def test_the_only_candidate_cannot_be_left_out():
    decoder = Candidates().fit(Implicit().fit(Linear(), np.array([[2.0]])))
    assert decoder.decode(np.ones((1, 1)), leave_out=np.array([0])).tolist() == [[2.0]]


@pytest.mark.parametrize(
    ("leave_out", "message"),
    [
        (np.arange(3), "one index for each of the 2 points"),
        (np.array([0.0, 1.0]), "dtype float64"),
        (np.array([0, 9]), r"leave_out=\[0, 9\].*from 0 to 4, of the outputs"),
        (np.array([-1, 0]), r"leave_out=\[-1, 0\]"),
    ],
)
def test_a_wrong_leave_out_is_refused(strings, leave_out, message):
    decoder = Candidates().fit(Implicit().fit(Subsequence(2, 0.5), strings))
    with pytest.raises(ValueError, match=message):
        decoder.decode(np.ones((2, 5)), leave_out=leave_out)


# -- what the kernel cannot see --------------------------------------------------------------------


def test_outputs_without_norm_are_no_candidates_and_that_is_said():
    outputs = as_objects(["abcd", "ab", "", "dcba", "ab"])
    embedding = Implicit().fit(Subsequence(3, 0.5), outputs)
    with pytest.warns(NumericalWarning, match="2 of the 4 distinct outputs cannot be told apart by Subsequence"):
        decoder = Candidates().fit(embedding)
    assert decoder.pool_.objects.tolist() == ["abcd", "dcba"]
    # the zero image would be nearest to a point at the origin
    assert decoder.decode(np.zeros((1, 5)))[0] in ("abcd", "dcba")
    assert decoder.decode(np.zeros((1, 5)), leave_out=np.array([1]))[0] in ("abcd", "dcba")


def test_outputs_without_norm_stay_when_there_are_no_others():
    embedding = Implicit().fit(Subsequence(3, 0.5), as_objects(["ab", "ba"]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Candidates().fit(embedding).decode(np.zeros((1, 2))).tolist() == ["ab"]


def test_candidates_that_are_given_are_never_dropped():
    embedding = Implicit().fit(Subsequence(3, 0.5), as_objects(["abcd", "dcba"]))
    (ranked,) = Candidates().fit(embedding).choose(np.zeros((1, 2)), ["abcd", "ab"], k=5)
    assert ranked.objects.tolist() == ["ab", "abcd"]


# -- candidates that are given ---------------------------------------------------------------------


def test_choose_returns_the_candidate_and_not_the_output_with_its_index(strings, points):
    embedding = Implicit().fit(Subsequence(2, 0.5), strings)
    given_ = ["zzzz", "abda", "cdab"]
    scores = naive_scores(embedding, points, given_)
    found = best(Candidates().fit(embedding).choose(points, given_))
    assert found.tolist() == [given_[i] for i in scores.argmax(axis=1)]


def test_choose_each_keeps_to_each_examples_own_candidates(strings, points):
    embedding = Implicit().fit(Subsequence(2, 0.5), strings)
    decoder = Candidates().fit(embedding)
    own = [["aab", "bab"], ["zz"], ["abc", "aab", "cab"]]
    ranked = decoder.choose_each(points[:3], own, k=2)
    assert [len(r.objects) for r in ranked] == [2, 1, 2]
    for i, (each, candidates) in enumerate(zip(ranked, own, strict=True)):
        row = naive_scores(embedding, points[i : i + 1], candidates)[0]
        assert each.objects[0] == candidates[int(row.argmax())]
        np.testing.assert_allclose(each.scores[0], row.max())


def test_bad_candidates_are_refused_with_the_example(strings, points):
    decoder = Candidates().fit(Implicit().fit(Subsequence(2, 0.5), strings))
    with pytest.raises(ValueError, match=r"candidates\[1\] is empty"):
        decoder.choose_each(points[:3], [["ab"], [], ["ba"]])
    with pytest.raises(ValueError, match="candidates is empty"):
        decoder.choose(points, [])
    with pytest.raises(ValueError, match="2 collections for 3 examples"):
        decoder.choose_each(points[:3], [["ab"], ["ba"]])
    with pytest.raises(TypeError, match="single str"):
        decoder.choose(points, "ab")


@pytest.mark.parametrize("k", [0, -1, 1.5, True, "2"])
def test_a_wrong_k_is_refused(strings, points, k):
    decoder = Candidates().fit(Implicit().fit(Subsequence(2, 0.5), strings))
    with pytest.raises(ValueError, match="k="):
        decoder.rank(points, k)


def test_wrong_points_are_refused(strings):
    decoder = Candidates().fit(Implicit().fit(Subsequence(2, 0.5), strings))
    with pytest.raises(ValueError, match="H has 4 columns; expected 5"):
        decoder.decode(np.ones((2, 4)))
    with pytest.raises(ValueError, match="H contains NaN"):
        decoder.decode(np.full((2, 5), np.nan))
    with pytest.raises(ValueError, match="batch_size=0"):
        Candidates(batch_size=0).fit(decoder.embedding_).decode(np.ones((2, 5)))


def test_kinds_of_outputs(points):
    sets = as_objects([{1, 2}, {2}, {3}, {1, 2}, set()])
    found = Candidates().fit(Features().fit(LabelSets(), sets)).decode(np.array([[0.9, 0.8, 0.1]]))
    assert found.dtype == object
    assert found[0] == {1, 2}
    gram = np.cov(np.random.default_rng(5).normal(size=(5, 20)))
    numbers = np.array([4, 2, 2, 0])
    decoder = Candidates().fit(Implicit().fit(Precomputed(gram), numbers))
    assert set(decoder.decode(points[:, :4]).tolist()) <= {0, 2, 4}
    # a Gram matrix as the collection itself: equal rows must not break its square
    whole = Candidates().fit(Implicit().fit(Precomputed(), np.ones((3, 3))))
    assert whole.decode(np.ones((1, 3))).shape == (1, 3)


@pytest.mark.parametrize("embedding", [Implicit(), Spectral(), PrincipalComponents(cutoff=0.0)])
def test_contract_for_strings(embedding, strings):
    fitted = clone(embedding).fit(Subsequence(2, 0.5).normalized(), strings)
    width = fitted.transform(strings).shape[1]
    check_decoder(Candidates(), fitted, np.random.default_rng(6).normal(size=(6, width)))


@pytest.mark.parametrize("together", [1, 3, 1000])
def test_collections_of_their_own_are_scored_in_groups_as_one_by_one(together, monkeypatch):
    monkeypatch.setattr("mercer.decoders.base._TOGETHER", together)
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abc"), 5)) for _ in range(8)]
    decoder = Candidates().fit(Implicit().fit(Subsequence(2), words))
    H = rng.standard_normal((6, 8))
    sets = [["".join(rng.choice(list("abcd"), 4)) for _ in range(size)] for size in (1, 4, 2, 7, 1, 3)]
    for i, found in enumerate(decoder.choose_each(H, sets, k=2)):
        alone = decoder.choose(H[i : i + 1], sets[i], k=2)[0]
        assert found.objects.tolist() == alone.objects.tolist()
        np.testing.assert_allclose(found.scores, alone.scores)
