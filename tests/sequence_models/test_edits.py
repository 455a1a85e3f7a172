"""Scripts: what they do, and that the cheapest one found leads back to the form."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.sequence_models.edits import (
    DOUBLE,
    KEPT,
    MOVED,
    Script,
    Vowels,
    changed,
    particle_of,
    particles_moved,
    script_of,
)

words = st.text("aeogtn", min_size=1, max_size=9)
VOWELS = Vowels()


@settings(max_examples=200, deadline=None)
@given(words, st.text("aeogtn ", max_size=9), st.sampled_from(["", "ge", "ant", "to"]))
def test_the_script_found_makes_the_form(lemma, form, particle):
    particle = particle_of(lemma, [particle] if particle else [])
    assert script_of(lemma, form, VOWELS, particle).apply(lemma, particle) == form


@pytest.mark.parametrize(
    ("lemma", "form", "particle", "script"),
    [
        ("walk", "walked", "", Script(ending="ed")),
        ("bake", "baking", "", Script(cut=1, ending="ing")),
        ("hop", "hopping", "", Script(ending=DOUBLE + "ing")),
        ("see", "seeen", "", Script(ending="en")),  # a vowel is not doubled
        ("contar", "no cuente", "", Script(prefix="no ", old="o", new="ue", cut=2, ending="e")),
        ("Haus", "Häuser", "", Script(old="au", new="äu", ending="er")),
        ("Saal", "Säle", "", Script(old="aa", new="ä", ending="e")),
        ("mahlen", "gemahlen", "", Script(prefix="ge")),
        ("abgeben", "gibt ab", "ab", Script(MOVED, old="e", new="i", cut=2, ending="t")),
        ("abbauen", "abgebaut", "ab", Script(KEPT, "ge", cut=2, ending="t")),
        ("be", "was", "", Script(cut=2, ending="was")),
        ("syödä", "älkäämme olko syöneet", "", Script(prefix="älkäämme olko ", cut=2, ending="neet")),
        ("zitar", "no te zites", "", Script(prefix="no te ", cut=2, ending="es")),
    ],
)
def test_scripts_are_those_a_grammar_gives(lemma, form, particle, script):
    assert script_of(lemma, form, VOWELS, particle) == script


def test_steps_that_cannot_be_done():
    assert Script(cut=3).apply("go") is None
    assert Script(old="u", new="ü").apply("Tor") is None
    assert Script(MOVED).apply("geben") is None
    assert Script(cut=2, ending=DOUBLE).apply("go") is None
    assert changed("tu", "u", "ü") is None  # the last letter is not changed


def test_particles_are_what_forms_move():
    lemmas = ["aufgeben", "geben", "Gabel", "wegen wem"]
    assert particles_moved(lemmas, ["gebe auf", "gebe her", "Gabel", "wegen wem"]) == ["auf"]
    assert particle_of("aufgeben", ["auf", "aufge"]) == "aufge"
    assert particle_of("aufn", ["auf"]) == ""


def test_vowels():
    assert VOWELS.kind("é") == "vowel"
    assert VOWELS.kind("y") == "consonant"
    assert VOWELS.kind("") == ""
    assert "y" in Vowels("aeiouy")
    assert "a" not in Vowels("")
    assert VOWELS.last_in("Frosch") == ("r", "o", "sch")
    assert VOWELS.last_in("schlau") == ("", "", "schl")
    assert VOWELS.last_in("") == ("", "", "")
    assert VOWELS.last_in("schlafsaal") == ("s", "aa", "l")
    assert VOWELS.syllables("") == 0
    assert VOWELS.syllables("Haustür") == 2
    assert "Ä" in VOWELS
    assert "ñ" not in VOWELS
