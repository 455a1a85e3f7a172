"""Words that are chosen among given words, by the mixture or by edit distance."""

from __future__ import annotations

import numpy as np
import pytest
from rapidfuzz.distance import OSA, Levenshtein
from sklearn.base import clone

import mercer
from mercer import AutoEstimator
from mercer.automatic.candidate_order import EDITS, EXCHANGES, MIXTURE, edit_distances
from mercer.decoders import Blocks, EachOf
from mercer.losses import EditDistance, ZeroOne


def _words(n: int, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return list(dict.fromkeys("".join(rng.choice(list("abcdefgh"), 7)) for _ in range(n)))


def _typo(word: str, rng: np.random.Generator) -> str:
    place, letters = int(rng.integers(len(word) - 1)), list(word)
    if rng.integers(2):
        letters[place : place + 2] = letters[place : place + 2][::-1]
    else:
        letters[place] = "z"
    return "".join(letters)


@pytest.fixture(scope="module")
def words() -> tuple[list[str], list[str], list[str]]:
    """Training words, new words, and typos of the new words."""
    rng, every = np.random.default_rng(0), _words(160, 1)
    return every[:60], every[60:], [_typo(word, rng) for word in every[60:]]


@pytest.fixture(scope="module")
def speller(words: tuple[list[str], list[str], list[str]]) -> AutoEstimator:
    rng = np.random.default_rng(1)
    known, new, _ = words
    return AutoEstimator(ZeroOne(), effort="fast").fit([_typo(word, rng) for word in known], known, extra_outputs=new)


def test_typos_are_chosen_by_edit_distance_and_never_worse_than_the_nearest_word(speller, words) -> None:
    _, new, typos = words
    order = speller.candidate_order_
    assert order.name == EXCHANGES
    assert order.losses[EXCHANGES] < order.losses[MIXTURE]
    assert order.losses[EXCHANGES] <= order.losses[EDITS]
    nearest = [min(new, key=lambda word: Levenshtein.distance(typo, word)) for typo in typos]
    found = speller.predict(typos, candidates=new)
    right = np.mean([a == b for a, b in zip(found, new, strict=True)])
    assert right >= np.mean([a == b for a, b in zip(nearest, new, strict=True)])
    assert right > 0.9
    assert speller.score(typos, new, candidates=new) == pytest.approx(right - 1.0)


def test_ranks_are_by_distance_and_ties_by_the_mixture(speller, words) -> None:
    _, new, typos = words
    everything = speller.rank(typos[:5], len(new), candidates=new)
    points = speller._points_of(typos[:5])
    by_mixture = speller.candidate_rule_.decoder.choose(points, np.array(new, dtype=object), len(new))
    for typo, ranked, kernel in zip(typos, everything, by_mixture, strict=False):
        distances = [OSA.distance(typo, word) for word in ranked.objects]
        assert distances == sorted(distances)
        assert ranked.scores.tolist() == [-distance for distance in distances]
        place = {word: i for i, word in enumerate(kernel.objects)}
        for one, two, d1, d2 in zip(ranked.objects, ranked.objects[1:], distances, distances[1:], strict=False):
            assert d1 < d2 or place[one] < place[two]


def test_sets_and_abstention_follow_the_order_of_the_ranks(speller, words) -> None:
    _, new, typos = words
    sets, ranks = speller.predict_set(typos, 0.8, candidates=new), speller.rank(typos, len(new), candidates=new)
    for found, ranked in zip(sets, ranks, strict=True):
        assert list(found.objects) == list(ranked.objects[: len(found.objects)])
        assert found.scores.tolist() == ranked.scores[: len(found.scores)].tolist()
        assert len(found.objects) == len(new) or ranked.scores[len(found.objects)] < min(found.scores, default=0.0)
    assert np.mean([found.contains(word) for found, word in zip(sets, new, strict=True)]) >= 0.8
    assert np.mean([len(found.objects) for found in sets]) < 3
    strange = [*typos[:3], "zzzzzzzz"]
    unsure = speller.abstention_score(strange, candidates=new)
    assert unsure[-1] > 0.9 > unsure[:3].max()
    held = clone(speller).fit(speller._inputs, words[0]).calibrate(typos[:50], new[:50])
    covered = [
        found.contains(y) for found, y in zip(held.predict_set(typos[50:], 0.8, candidates=new), new[50:], strict=True)
    ]
    assert np.mean(covered) >= 0.8


def test_candidates_of_each_input_and_in_blocks(speller, words) -> None:
    _, new, typos = words
    each = speller.predict(typos[:4], candidates=EachOf([[word, new[50]] for word in new[:4]]))
    assert list(each) == new[:4]
    by_mixture = speller.candidate_rule_.decoder.choose(speller._points_of(typos[:4]), np.array(new, dtype=object), 1)
    in_blocks = speller.predict(typos[:4], candidates=Blocks([new[:60], new[60:]]))
    assert list(in_blocks) == [found.objects[0] for found in by_mixture]


def test_known_candidates_are_those_of_the_mixture(speller, words) -> None:
    known, _, typos = words
    expected = speller.decoder_.choose(speller._points_of(typos[:5]), np.array(known, dtype=object), 3)
    for found, own in zip(speller.rank(typos[:5], 3, candidates=known), expected, strict=True):
        assert list(found.objects) == list(own.objects)


def test_saved_and_compact(speller, words, tmp_path) -> None:
    _, new, typos = words
    assert speller.candidate_order_.reason
    expected = list(speller.predict(typos[:9], candidates=new))
    again = mercer.load(mercer.save(speller, tmp_path / "speller.skops"))
    assert list(again.predict(typos[:9], candidates=new)) == expected
    assert list(speller.compact().predict(typos[:9], candidates=new)) == expected


def test_the_mixture_chooses_where_letters_say_nothing() -> None:
    rng = np.random.default_rng(0)
    X = _words(60, 2)
    # the output is written in other letters, some of them twice: the nearest are the shortest
    turned = str.maketrans(dict(zip("abcdefgh", ["s", "t", "uu", "vv", "w", "x", "yy", "z"], strict=True)))
    y = [x.translate(turned) for x in X]
    model = AutoEstimator(ZeroOne(), effort="fast").fit(X[:45], y[:45], extra_outputs=y[45:])
    assert model.candidate_order_.name == MIXTURE
    assert model.candidate_order_.losses[MIXTURE] < model.candidate_order_.losses[EDITS]
    vectors = AutoEstimator(effort="fast").fit(rng.standard_normal((20, 2)), rng.standard_normal(20))
    assert "not both words" in vectors.candidate_order_.reason


def test_distances_of_sequences() -> None:
    assert edit_distances(("ab", "c"), [("c", "ab"), ("ab", "c", "d")]).tolist() == [2.0, 1.0]
    assert edit_distances(("ab", "c"), [("c", "ab"), ("ab", "c", "d")], EXCHANGES).tolist() == [1.0, 1.0]


def test_few_typos_are_chosen_by_edit_distance(words) -> None:
    rng = np.random.default_rng(2)
    known, new, typos = words
    few = AutoEstimator(ZeroOne(), effort="fast").fit([_typo(word, rng) for word in known[:4]], known[:4])
    assert few.candidate_order_.name == EXCHANGES
    assert "for 4 of 4 pairs" in few.candidate_order_.reason
    found = few.predict(typos, candidates=new)
    assert np.mean([a == b for a, b in zip(found, new, strict=True)]) > 0.9


def test_few_pairs_that_are_unlike_their_inputs_keep_the_order_of_the_mixture() -> None:
    model = AutoEstimator(ZeroOne(), effort="fast").fit(
        ["one", "two", "three", "four"], ["un", "deux", "trois", "quatre"]
    )
    assert model.candidate_order_.name == MIXTURE
    assert "too few distinct outputs" in model.candidate_order_.reason


class CountedEdits(EditDistance):
    """An edit distance that counts the pairs of a table."""

    pairs = 0

    def compute(self, Y_true, Y_pred, paired):
        CountedEdits.pairs += 0 if paired else len(Y_true) * len(Y_pred)
        return super().compute(Y_true, Y_pred, paired)


def test_words_of_a_dictionary_are_compared_with_those_that_have_weight_alone(words, monkeypatch) -> None:
    rng, (known, new, typos) = np.random.default_rng(1), words
    monkeypatch.setattr(CountedEdits, "pairs", 0)
    model = AutoEstimator(CountedEdits(), effort="fast")
    model.fit([_typo(word, rng) for word in known], known, extra_outputs=new)
    table = len(known) * (len(known) + len(new))
    assert CountedEdits.pairs == table  # once for the whole search, not for each member
    assert model.map_.left_out_points().shape == (len(known), len(known))
    assert model.decoder_.scores(model.map_.left_out_points()).shape == (len(known), len(known) + len(new))
    right = np.mean([a == b for a, b in zip(model.predict(typos, candidates=new), new, strict=True)])
    assert right > 0.9
