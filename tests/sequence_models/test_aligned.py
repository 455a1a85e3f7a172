"""The estimator of aligned sequences: rules learned, every form of sequence, its contract, bad input."""

from copy import copy

import numpy as np
import pytest

import mercer
from mercer.losses import EditDistance
from mercer.sequence_models import AlignedSequences
from mercer.testing.estimators import check_object_estimator

rng = np.random.default_rng(0)


def spell(length):
    return "".join(rng.choice(list("ckst")) + rng.choice(list("aeio")) for _ in range(length))


def sound(word):
    """c is soft before e and i, t is voiced after o, x is two sounds, a final vowel is dropped."""
    said = []
    for before, letter, after in zip("#" + word, word, word[1:] + "#", strict=False):
        if letter == "c":
            said.append("s" if after in "ei" else "k")
        elif letter == "t":
            said.append("d" if before == "o" else "t")
        elif letter == "x":
            said += ["k", "s"]
        elif letter not in "aeio" or after != "#" or before == "#":
            said.append(letter)
    return "".join(said)


WORDS = list(dict.fromkeys([spell(n) for n in (1, 2, 2, 3, 3) for _ in range(14)] + ["axe", "taxi", "oxo", "sexto"]))
SOUNDS = [sound(word) for word in WORDS]
NEW = ["cotico", "tecato", "sakoto", "cicece", "texo"]


@pytest.fixture(scope="module")
def model():
    return AlignedSequences().fit(WORDS, SOUNDS)


def test_the_rules_are_learned(model):
    assert model.predict(NEW).tolist() == [sound(word) for word in NEW]
    assert model.score(NEW, [sound(word) for word in NEW]) == 0.0
    assert model.score(NEW, ["nothing like it"] * len(NEW)) == -1.0


def test_ranks_are_best_first_and_distinct(model):
    for word, ranked in zip(NEW, model.rank(NEW, k=4), strict=True):
        assert np.all(np.diff(ranked.scores) <= 0)
        assert len(set(ranked.objects)) == len(ranked.objects) <= 4
        assert ranked.objects[0] == model.predict([word])[0]


@pytest.mark.parametrize("form", [list, tuple])
def test_lists_and_tuples_of_symbols_are_as_good_as_strings(model, form):
    phones = [form(f"/{s}/" for s in text) for text in SOUNDS]
    letters = [form(ord(s) for s in word) for word in WORDS]
    other = AlignedSequences().fit(letters, phones)
    predicted = other.predict([form(ord(s) for s in word) for word in NEW])
    assert all(type(each) is form for each in predicted)
    assert ["".join(s.strip("/") for s in each) for each in predicted] == model.predict(NEW).tolist()


def test_unseen_symbols_and_empty_inputs_follow_the_stated_rule(model):
    assert model.predict(["ca?te", "", "dcasa"]).tolist() == ["kat", "", "dkas"]
    assert model.rank([""], k=3)[0].scores.tolist() == [0.0]


def test_candidates(model):
    right = [sound(word) for word in NEW]
    assert model.predict(NEW, candidates=right).tolist() == right
    ranked = model.rank(NEW[:1], k=9, candidates=[*right, "", "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"])[0]
    assert ranked.objects[-1] == "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"
    assert ranked.scores[-1] == -np.inf


def test_scores_of_candidates_are_those_of_what_was_built(model):
    for word, ranked in zip(NEW, model.rank(NEW, k=1), strict=True):
        given = model.rank([word], k=1, candidates=list(ranked.objects))[0]
        assert given.scores[0] == pytest.approx(ranked.scores[0])


def test_a_loss_of_the_users_own(model):
    other = copy(model).set_params(loss=EditDistance())
    assert other.score(NEW[:1], [sound(NEW[0]) + "kk"]) == -2.0
    assert copy(model).set_params(loss=lambda y, z: 3.0).score(NEW, NEW) == -3.0


def test_contract():
    check_object_estimator(AlignedSequences(), WORDS[:24], SOUNDS[:24], grid={"width": [1, 5]})


def test_saved_and_loaded(model, tmp_path):
    loaded = mercer.load(mercer.save(model, tmp_path / "model"))
    before, after = model.rank(NEW, k=3), loaded.rank(NEW, k=3)
    assert [list(r.objects) for r in before] == [list(r.objects) for r in after]
    assert all(np.array_equal(a.scores, b.scores) for a, b in zip(before, after, strict=True))
    assert repr(loaded) == repr(model)


def test_no_pair_is_left_out():
    model = AlignedSequences().fit(["a", "", "", "", *WORDS], ["aaaaaaa", "nothing", "zero", "zero", *SOUNDS])
    assert model.predict(["ca", ""]).tolist() == [sound("ca"), "zero"]
    assert ("a",) * 7 in model.inventory_.chunks_.symbols
    assert model.rank([""], k=2, candidates=["ka", "zero"])[0].scores.tolist() == [0.0, -np.inf]
    assert AlignedSequences(longest=1).fit(["a"], ["bb"]).predict(["aa"]).tolist() == ["bbbb"]


def test_all_outputs_equal():
    model = AlignedSequences().fit(["ab", "ba", "aab", "bb"], ["x"] * 4)
    assert model.predict(["ab", "ba"]).tolist() == ["x", "x"]


def test_a_mark_is_a_symbol_and_scripts_mix():
    words, said = ["e\u0301", "e", "a\u0301", "a", "жa", "ea\u0301"], ["E", "e", "A", "a", "Ja", "eA"]
    model = AlignedSequences().fit(words * 3, said * 3)
    assert model.predict(["жe\u0301", "\U0001d11ea"]).tolist() == ["JE", "a"]
    assert len(model.inventory_.inputs_) == 4


def test_progress_has_the_time_that_is_left(capsys):
    AlignedSequences(verbose=1).fit(["ab", "ba", "aab", "bb"], ["x"] * 4)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(",")[0] for line in lines] == [
        f"4 words: {part}" for part in ("aligned", "models", "weights", "all words")
    ]
    assert all("s left" in line for line in lines[:-1])
    with pytest.raises(ValueError, match="verbose=-1; expected 0, or 1"):
        AlignedSequences(verbose=-1).fit(["a"], ["b"])


def test_threads_change_nothing(model):
    other = AlignedSequences(n_jobs=2).fit(WORDS, SOUNDS)
    assert np.array_equal(other.trust_, model.trust_)
    assert other.predict(NEW).tolist() == model.predict(NEW).tolist()


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (["a", "b"], ["c"], "X has 2 objects and y has 1"),
        ([1, 2], ["a", "b"], r"X\[0\] is 1, a int; expected a string"),
        (["a", "b"], [["x"], 3.0], r"y\[1\] is 3.0, a float; expected a string"),
        (["a", "b"], [[["x"]], ["y"]], "has no hash"),
        (["a", None], ["a", "b"], r"X\[1\] is None"),
        ([], [], "X is empty"),
        ("word", ["a"], "single str"),
        ([""], [""], "every input of X is empty"),
        ([["a"], ["a", float("nan")]], ["x", "y"], r"X\[1\] holds nan, which no symbol is equal to"),
        (["a", "b"], [["x"], [float("nan")]], r"y\[1\] holds nan"),
    ],
)
def test_bad_input(X, y, message):
    with pytest.raises((ValueError, TypeError), match=message):
        AlignedSequences().fit(X, y)


@pytest.mark.parametrize("name", ["longest", "width", "held_out", "together", "sample", "landmarks"])
def test_bad_parameters(name):
    with pytest.raises(ValueError, match=f"{name}=0; expected a positive whole number"):
        AlignedSequences(**{name: 0}).fit(WORDS, SOUNDS)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("seed", "a", "a whole number, zero or positive"),
        ("seed", -1, "a whole number, zero or positive"),
        ("seed", None, "a whole number, zero or positive"),
        ("n_jobs", 0, "a number of jobs"),
        ("n_jobs", "a", "a number of jobs"),
        ("verbose", 2, "0, or 1"),
    ],
)
def test_bad_settings_are_named(name, value, expected):
    with pytest.raises(ValueError, match=f"{name}={value!r}; expected {expected}"):
        AlignedSequences(**{name: value}).fit(WORDS, SOUNDS)


def test_too_many_chunks_are_named_by_what_was_asked_for():
    with pytest.raises(ValueError, match="too many chunks to number; lower longest=60"):
        AlignedSequences(longest=60).fit(WORDS, SOUNDS)


def test_memory_is_checked_before_words_are_aligned(monkeypatch):
    monkeypatch.setattr("mercer.core.memory.available_bytes", lambda near: 10**6)
    with pytest.raises(MemoryError, match="the longest of 300 and 300 symbols.*leave the longest pairs out"):
        AlignedSequences().fit(["ab" * 150, "ab"], ["AB" * 150, "AB"])


def test_one_pair_and_outputs_without_a_choice():
    model = AlignedSequences().fit(["ab"], ["xy"])
    assert model.predict(["ba"]).tolist() == ["yx"]
    assert model.rank(["a"], k=5)[0].objects.tolist() == ["x"]


def test_a_fit_that_fails_leaves_the_model_as_it_was(model):
    fitted = copy(model)
    before = fitted.rank(NEW, k=3)
    with pytest.raises(ValueError, match="every input of X is empty"):
        fitted.fit([""], ["bbbb"])
    for a, b in zip(before, fitted.rank(NEW, k=3), strict=True):
        assert a.objects.tolist() == b.objects.tolist()
        assert np.array_equal(a.scores, b.scores)


def test_k_is_checked(model):
    with pytest.raises(ValueError, match="k=0; expected a positive whole number"):
        model.rank(NEW, k=0)
    with pytest.raises(ValueError, match="X has 5 objects and y has 1"):
        model.score(NEW, ["a"])


def test_letters_that_were_never_seen_are_not_a_sure_answer():
    words = [first + vowel + last for first in "bdgm" for vowel in "aeiou" for last in "nlk"]
    model = AlignedSequences().fit(words, [f"me{word}in" for word in words])
    model.calibrate(words, [f"me{word}in" for word in words])
    scores = model.abstention_score(["qqqxx", "q", "ban"])
    assert scores[:2].tolist() == [1.0, 1.0]
    assert scores[2] < 1.0


def test_symbols_may_be_read_together():
    rng = np.random.default_rng(0)
    units = {"sh": "S", "ch": "C", "s": "s", "c": "k", "h": "h", "a": "a", "o": "o"}
    spelled = [rng.choice(list(units), 5).tolist() for _ in range(60)]
    words, sounds = ["".join(word) for word in spelled], ["".join(units[unit] for unit in word) for word in spelled]
    model = AlignedSequences(reads=3).fit(words, sounds)
    assert 1 <= model.aligner_.reads <= 3
    assert model.score(words, sounds) > -0.2
    with pytest.raises(ValueError, match="reads=0"):
        AlignedSequences(reads=0).fit(words, sounds)


def test_a_symbol_at_the_other_end_counts():
    rng = np.random.default_rng(0)

    def drawn(number):  # x is read as the first letter, 7 to 9 letters before it
        middles = ["".join(rng.choice(list("klmnrs"), rng.integers(6, 9))) for _ in range(number)]
        firsts = rng.choice(list("pt"), number)
        return [f + m + "x" for f, m in zip(firsts, middles, strict=True)], [
            f + m + f.upper() for f, m in zip(firsts, middles, strict=True)
        ]

    words, said = drawn(20)
    assert AlignedSequences().fit(*drawn(80)).predict(words).tolist() == said
