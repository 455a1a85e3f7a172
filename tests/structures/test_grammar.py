"""Small grammars: every parse, no other, and their probabilities."""

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.structures.grammar import Grammar
from mercer.structures.trees import brackets, leaves

SMALL = """
    S -> A S [0.3] | S A [0.3] | A [0.4]
    A -> 'a' [0.5] | 'b' A [0.2] | A 'a' 'b' [0.3]
"""


ENGLISH = Grammar.read("""
    S  -> NP VP
    VP -> V NP | VP PP
    NP -> D N | NP PP | 'she'
    PP -> P NP
    D  -> 'the'
    V  -> 'opened'
    P  -> 'with'
    N  -> 'box' | 'key'
""")


def derivations(grammar, symbol, longest):
    """Every tree with at most so many words, by rewriting: no chart, no spans."""
    if not isinstance(symbol, tuple):
        return [symbol] if longest >= 1 else []
    found = []
    for label, right in grammar.rules:
        if label != symbol[0] or len(right) > longest:
            continue
        options = [derivations(grammar, part, longest - len(right) + 1) for part in right]
        for children in itertools.product(*options):
            tree = (label, *children)
            if len(leaves(tree)) <= longest:
                found.append(tree)
    return found


@pytest.fixture(scope="module")
def everything():
    return derivations(Grammar.read(SMALL), ("S",), 5)


@given(st.lists(st.sampled_from("ab"), min_size=1, max_size=5))
@settings(max_examples=30, deadline=None)
def test_parses_are_all_derivations(everything, words):
    found = Grammar.read(SMALL).parses(words)
    assert len(found) == len(set(found))
    assert set(found) == {tree for tree in everything if leaves(tree) == words}


def test_probabilities_of_all_trees_of_a_grammar_that_ends():
    grammar = Grammar.read("S -> X X\nX -> 'a' [0.25] | 'b'")
    trees = [tree for words in itertools.product("ab", repeat=2) for tree in grammar.parses(words)]
    assert math.isclose(sum(math.exp(grammar.log_probability(tree)) for tree in trees), 1.0)
    assert grammar.log_probability("(S (X a) (X c))") == -math.inf


def test_a_treebank_gives_its_own_frequencies():
    grammar = Grammar.learned(["(S (X a) (X b))", ("S", ("X", "a"))])
    assert grammar.rules[("X", ("a",))] == pytest.approx(2 / 3)
    assert grammar.rules[("S", (("X",),))] == 0.5
    assert len(grammar.parses(["a", "b"])) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("S NP VP", r"line 1 of the grammar is 'S NP VP'; expected a line such as"),
        ("S -> A\n\nA -> 'a' |", "line 3 of the grammar has an empty alternative"),
        ("S -> A [2]", r"\[2\] in line 1 of the grammar; expected a probability"),
        ("S -> A [x]", r"\[x\] in line 1"),
    ],
)
def test_lines_that_are_no_rules(text, message):
    with pytest.raises(ValueError, match=message):
        Grammar.read(text)


def test_what_cannot_be_parsed():
    assert len(ENGLISH.parses(["she", "opened", "the", "box", "with", "the", "key"])) == 2
    assert ENGLISH.parses(["she", "the", "opened"]) == []
    assert ENGLISH.parses([]) == []
    assert ENGLISH.parses(["she", "opened", "the", "spaceship"]) == []
    with pytest.raises(TypeError, match="words is the text 'she opened'; expected a list of words"):
        ENGLISH.parses("she opened")
    with pytest.raises(ValueError, match="'S' can be rewritten to 'S' alone"):
        Grammar.read("S -> A\nA -> S | 'a'").parses(["a"])
    with pytest.raises(ValueError, match=r"'a a a a' has 5 parses as 'S', and limit=4"):
        Grammar.read("S -> S S | 'a'").parses(list("aaaa"), limit=4)


def test_brackets_count_labels_over_words():
    assert brackets("(S (S (S a) b))") == {("S", 0, 1): 1, ("S", 0, 2): 2}
    assert brackets("(S (X) a)") == {("X", 0, 0): 1, ("S", 0, 1): 1}
