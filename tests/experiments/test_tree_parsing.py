"""The small experiment on trees: better than chance and rules, the same twice, and a page."""

import numpy as np
import pytest

from experiments.beyond.toy_trees import GRAMMAR, PHRASES, attachments, log_likelihood, make_parsed_sentences
from experiments.beyond.tree_parsing import CHANCE, EXACT, F1, LEARNED, PROCESS, RULES, SECOND
from experiments.registry import experiment
from experiments.runner import reproduce
from mercer.structures.trees import leaves


def test_the_small_experiment(tmp_path):
    found = reproduce(experiment("tree-parsing"), tmp_path / "one", small=True)
    scores = {(row["method"], row["metric"]): row["value"] for row in found.rows}
    assert scores[LEARNED, EXACT] > max(scores[CHANCE, EXACT], scores[RULES, EXACT])
    assert scores[LEARNED, F1] > scores[CHANCE, F1]
    assert scores[LEARNED, EXACT] <= scores[LEARNED, SECOND]
    assert scores[PROCESS, EXACT] > 80
    page = (tmp_path / "one" / "tree-parsing.html").read_text()
    assert "belongs to" in page
    assert "Knowing the process itself" in page
    again = reproduce(experiment("tree-parsing"), tmp_path / "two", small=True)
    assert again.rows == found.rows


def test_the_process_knows_best():
    pairs = make_parsed_sentences(150, random_state=1)
    right = [
        max(GRAMMAR.parses(words), key=log_likelihood) == tree
        for words, tree in zip(pairs.sentences, pairs.trees, strict=True)
    ]
    assert np.mean(right) > 0.85


def test_phrases_and_where_they_belong():
    trees = GRAMMAR.parses(["I", "hit", "the", "dog", "with", "the", "hammer", "with", "the", "handle"])
    assert len(trees) == 5
    found = {tuple(head for _, head, _ in attachments(tree)) for tree in trees}
    assert found == {("hit", "hit"), ("hit", "hammer"), ("dog", "hit"), ("dog", "dog"), ("dog", "hammer")}


def test_sentences_have_their_tree_among_the_parses():
    pairs = make_parsed_sentences(150, random_state=0)
    counts = []
    for words, tree in zip(pairs.sentences, pairs.trees, strict=True):
        parses = GRAMMAR.parses(words)
        counts.append(len(parses))
        assert tree in parses
        assert tuple(leaves(tree)) == words
    assert set(counts) == {2, 5, 14}
    for count, share in zip((2, 5, 14), PHRASES, strict=True):
        assert abs(np.mean(np.array(counts) == count) - share) < 0.1
    again = make_parsed_sentences(150, random_state=0)
    assert again.trees.tolist() == pairs.trees.tolist()
    with pytest.raises(ValueError, match="n=0"):
        make_parsed_sentences(0)
