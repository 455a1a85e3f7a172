"""Alignments against the enumeration of all cuts."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.sequence_models import Aligner
from mercer.sequence_models.alignment_choice import aligners, choose_aligner, left_out_likelihood

WORDS = ["ab", "ba", "a", "xb", "axa", "bbx"]
SOUNDS = ["AB", "BA", "A", "KSB", "AKSA", "BKS"]


def cuts(x, y, longest):
    """Every way to cut y into one chunk per symbol of x."""
    for sizes in product(range(longest + 1), repeat=len(x)):
        if sum(sizes) == len(y):
            ends = np.cumsum(sizes)
            yield [tuple(y[end - size : end]) for size, end in zip(sizes, ends, strict=True)]


def table_by_enumeration(pairs, longest, rounds, smoothing, uneven):
    allowed = {event for x, y in pairs for cut in cuts(x, y, longest) for event in zip(x, cut, strict=True)}
    # events the lattice holds but no whole cut reaches have no expected count, only the smoothing
    table = {event: uneven ** abs(len(event[1]) - 1) for event in allowed}
    for _ in range(rounds):
        counts = dict.fromkeys(allowed, smoothing)
        for x, y in pairs:
            every = list(cuts(x, y, longest))
            weights = np.asarray([np.prod([table[event] for event in zip(x, cut, strict=True)]) for cut in every])
            for cut, weight in zip(every, weights / weights.sum(), strict=True):
                for event in zip(x, cut, strict=True):
                    counts[event] += weight
        table = {event: count / sum(counts.values()) for event, count in counts.items()}
    return table


def test_the_cut_is_the_likeliest_of_all():
    pairs = list(zip(WORDS, SOUNDS, strict=True))
    table = table_by_enumeration(pairs, 2, 4, 1e-9, 0.1)
    aligner = Aligner(longest=2, rounds=4, smoothing=1e-9, consistency=0.0).fit(WORDS, SOUNDS)
    for x, y in pairs:
        found = aligner.align(x, y)
        likelihood = {tuple(cut): np.prod([table[e] for e in zip(x, cut, strict=True)]) for cut in cuts(x, y, 2)}
        assert likelihood[tuple(found)] == pytest.approx(max(likelihood.values()), rel=1e-6)


def test_digraphs_and_double_sounds_are_found():
    aligner = Aligner().fit(["she", "hex", "shed", "he", "so"], ["Se", "heks", "Sed", "he", "so"])
    assert aligner.align("hex", "heks") == [("h",), ("e",), ("k", "s")]
    assert sorted(map(len, aligner.align("she", "Se"))) == [0, 1, 1]


@given(st.lists(st.tuples(st.text("abc", min_size=1, max_size=5), st.text("xyz", max_size=6)), min_size=1, max_size=5))
@settings(max_examples=25, deadline=None)
def test_chunks_are_one_for_each_symbol_and_rebuild_the_output(pairs):
    pairs = [(x, y) for x, y in pairs if len(y) <= 2 * len(x)] or [("a", "x")]
    aligner = Aligner(longest=2, rounds=3).fit(*zip(*pairs, strict=True))
    for x, y in [*pairs, ("cab", "zyx"), ("q", "?!")]:
        chunks = aligner.align(x, y)
        assert len(chunks) == len(x)
        assert "".join(symbol for chunk in chunks for symbol in chunk) == y
        assert max(map(len, chunks)) <= 2


def test_copies_pull_equal_symbols_together():
    pairs = (["aab", "bba"], ["aaab", "bbaa"])
    assert Aligner(copies=10.0).fit(*pairs).align("ab", "ab") == [("a",), ("b",)]


def test_long_sequences_do_not_underflow():
    x, y = "ab" * 400, "xy" * 400
    assert Aligner().fit([x], [y]).align(x, y) == [(s,) for s in y]


def test_unwritten_vowels_go_to_one_side():
    words = ["kn", "kt", "tk", "nk", "tn", "nt", "kan", "tak", "ka", "k"]
    sounds = ["kon", "kot", "tok", "nok", "ton", "not", "kan", "tak", "ka", "ko"]
    aligner = Aligner(consistency=2.0).fit(words, sounds)
    cuts = [aligner.align(x, y) for x, y in zip(words[:6], sounds[:6], strict=True)]
    assert all(cut == [(y[0], "o"), (y[2],)] for cut, y in zip(cuts, sounds[:6], strict=True))


def test_pairs_that_need_longer_chunks_are_cut_evenly():
    aligner = Aligner(longest=1).fit(["ab", "a"], ["xy", "xyz"])
    assert not aligner.can_align("a", "xyz")
    assert aligner.align("a", "xyz") == [("x", "y", "z")]
    assert aligner.align("ab", "wxyz1") == [("w", "x"), ("y", "z", "1")]
    assert aligner.align("", "") == []
    with pytest.raises(ValueError, match="cannot be cut for an empty input"):
        aligner.align("", "x")
    with pytest.raises(ValueError, match="lower longest"):
        Aligner(longest=40).fit(["ab"], ["xy"])


def test_the_chosen_aligner_has_chunks_as_long_as_the_pairs_need():
    words = ["axa", "xa", "ax", "bxb", "xbx", "abx", "xab", "bax"] * 3
    sounds = [w.replace("x", "1234") for w in words]
    chosen = choose_aligner(words, sounds, 4)
    assert chosen.longest == 4
    assert chosen.align("xb", "1234b") == [("1", "2", "3", "4"), ("b",)]
    assert choose_aligner(["a"], ["bb"], 4).align("a", "bb") == [("b", "b")]


@given(st.lists(st.tuples(st.text("sha", min_size=1, max_size=6), st.text("SHA", max_size=6)), min_size=1, max_size=8))
@settings(max_examples=25, deadline=None)
def test_symbols_read_together_leave_their_chunk_to_the_first(pairs):
    words, sounds = zip(*pairs, strict=True)
    aligner = Aligner(longest=6, reads=3).fit(words, sounds)
    for word, sound in pairs:
        units, chunks = aligner.units(word, sound), aligner.align(word, sound)
        assert len(chunks) == len(word)
        assert "".join(symbol for chunk in chunks for symbol in chunk) == sound
        firsts = np.cumsum([0, *(len(read) for read, _ in units)])[:-1]
        assert [chunks[i] for i in firsts] == [chunk for _, chunk in units]


def test_aligners_that_go_on_are_judged_by_more_pairs():
    """With few pairs there is one round, whose best is the most likely of the menu."""
    rng = np.random.default_rng(1)
    words = ["".join(rng.choice(list("abxy"), 5)) for _ in range(40)]
    sounds = [word.replace("x", "12").replace("y", "") for word in words]
    rows = np.random.default_rng(0).permutation(40)
    out, kept = rows[:10].tolist(), rows[10:].tolist()
    menu = aligners(words, sounds, 3, 3)
    likelihoods = [left_out_likelihood(aligner, words, sounds, kept, out) for aligner in menu]
    best, chosen = menu[int(np.argmax(likelihoods))], choose_aligner(words, sounds, 3, 3)
    assert (chosen.longest, chosen.reads, chosen.consistency) == (best.longest, best.reads, best.consistency)
    assert {aligner.reads for aligner in menu} == {1, 2, 3}


def test_alphabets_too_large_for_runs_of_symbols_are_not_cut_by_these():
    words = [[f"{i}"] for i in range(3000)]
    assert {(each.reads, each.longest) for each in aligners(words, words, 4, 3)} == {
        *((1, longest) for longest in (2, 3, 4)),
        *((2, longest) for longest in (2, 3)),
        (3, 2),
    }
    assert not Aligner(longest=4, reads=2).can_number(3000, 3000)
    assert Aligner(longest=2, reads=2).can_number(3000, 3000)
