"""Pairs made up from training pairs: stems are swapped, endings stay."""

import numpy as np
import pytest

from mercer.sequence_models.edits import Vowels
from mercer.sequence_models.harmony import Harmony
from mercer.sequence_models.made_up_pairs import MadeUpPairs, with_made_up_pairs

VOWELS = Vowels("aeiouyäö")
LEMMAS = ["talossa", "katu", "kylä", "hölmö", "Berlin", "kaunotar"]


@pytest.fixture
def maker():
    return MadeUpPairs(LEMMAS, VOWELS, Harmony().fit(LEMMAS, VOWELS))


def test_the_common_part_is_swapped_in_both_for_the_same_letters(maker):
    rng = np.random.default_rng(0)
    stems = set()
    for _ in range(20):
        lemma, form = maker.of("kaunotar", "olisi kaunottaressa", rng)
        # the longest part in common is "kaunot", of which the last two letters stay
        assert lemma.endswith("otar")
        assert form.startswith("olisi ")
        assert form.endswith("ottaressa")
        assert lemma[:4] == form[6:10]
        assert [letter in VOWELS for letter in lemma[:4]] == [False, True, True, False]
        stems.add(lemma[:4])
    assert len(stems) > 10


def test_capitals_and_other_symbols_keep_their_places(maker):
    lemma, form = maker.of("Be-lin", "Be-lins", np.random.default_rng(1))
    assert lemma[0].isupper()
    assert lemma[2] == "-"
    assert (lemma[-2:], form) == ("in", f"{lemma}s")


def test_pairs_with_little_in_common_make_none(maker):
    rng = np.random.default_rng(0)
    assert maker.of("go", "went", rng) is None
    known = (["go", "kaunotar"], [("PST",), ("PL",)], ["went", "kaunottaret"])
    lemmas, tags, forms = with_made_up_pairs(known, maker, 3, rng)
    assert lemmas[:2] == known[0]
    assert tags == [("PST",), *[("PL",)] * 4]
    assert len(forms) == 5
    assert known[0] == ["go", "kaunotar"]
    assert with_made_up_pairs(known, maker, 0, rng) == known
