"""Sentences → trees: a small language in which words, not rules, decide where a phrase is attached."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mercer.datasets.store import Table
from mercer.structures.grammar import Grammar
from mercer.structures.trees import Tree, is_node, leaves

OF_VERBS: dict[str, list[str]] = {
    "saw": ["with telescope", "with binoculars", "from tower", "at noon"],
    "hit": ["with hammer", "with stick", "at noon", "in anger"],
    "opened": ["with key", "with knife", "at dawn", "in anger"],
    "painted": ["with brush", "with roller", "from ladder", "at dawn"],
    "fed": ["with spoon", "with bottle", "at noon", "from tower"],
    "drew": ["with pencil", "with brush", "from ladder", "at dawn"],
}
"""Phrases of each verb: means, place, time."""

OF_NOUNS: dict[str, list[str]] = {
    "man": ["with hat", "with beard", "with telescope", "from village"],
    "woman": ["with hat", "with camera", "with stick", "from village"],
    "dog": ["with collar", "with spots", "from farm"],
    "horse": ["with saddle", "with spots", "from farm"],
    "house": ["with garden", "with tower", "in village"],
    "box": ["with lid", "with key", "in house"],
    "hat": ["with feather", "with ribbon", "from village"],
    "telescope": ["with handle", "from house"],
    "hammer": ["with handle", "from box"],
    "brush": ["with handle", "from box"],
    "key": ["with ribbon", "in box"],
    "tower": ["with clock", "in village"],
    "garden": ["with pond", "in village"],
    "farm": ["with pond", "in village"],
}
"""Phrases of each noun: parts, place, origin."""

OBJECTS = ("man", "woman", "dog", "horse", "house", "box")
SUBJECTS = ("I", "we", "she")

PHRASES = (0.4, 0.4, 0.2)
"""Probability of one, two and three phrases after the object."""

NOISE = 0.05
"""Probability that a phrase is drawn from all phrases."""

_ANY = sorted({phrase for phrases in (*OF_VERBS.values(), *OF_NOUNS.values()) for phrase in phrases})

GRAMMAR = Grammar.read(
    "\n".join(
        [
            "S -> NP VP",
            "VP -> V NP | VP PP",
            "NP -> D N | N | NP PP | " + " | ".join(f"'{word}'" for word in SUBJECTS),
            "PP -> P NP",
            "D -> 'the'",
            "V -> " + " | ".join(f"'{verb}'" for verb in OF_VERBS),
            "P -> " + " | ".join(f"'{word}'" for word in sorted({phrase.split()[0] for phrase in _ANY})),
            "N -> " + " | ".join(f"'{word}'" for word in sorted({phrase.split()[1] for phrase in _ANY} | set(OBJECTS))),
        ]
    )
)
"""Rules under which every phrase may be attached to the verb or to any noun before it."""

_BARE = ("noon", "dawn", "anger")
"""Nouns that go without an article."""


@dataclass(frozen=True)
class ParsedSentences(Table):
    """Sentences, as tuples of words, and the tree of each (object arrays)."""

    sentences: np.ndarray
    trees: np.ndarray


def make_parsed_sentences(n: int = 200, random_state: int | None = None) -> ParsedSentences:
    """Draw sentences such as *she opened the box with the key in anger*, with their trees.

    A verb and an object are followed by one to three phrases. Each is attached to the verb, the object or a noun in a phrase
    before it, with equal probability among those still open, and is drawn from the phrases of that verb or noun, or from all
    phrases (`NOISE`). Under `GRAMMAR` a sentence has 2, 5 or 14 trees.

    Examples
    --------
    >>> from mercer.structures.trees import bracketed
    >>> pairs = make_parsed_sentences(1, random_state=1)
    >>> " ".join(pairs.sentences[0])
    'she opened the horse with the saddle'
    >>> bracketed(pairs.trees[0][2])
    '(VP (V opened) (NP (NP (D the) (N horse)) (PP (P with) (NP (D the) (N saddle)))))'
    """
    if n < 1:
        raise ValueError(f"n={n!r}; expected a positive whole number of sentences")
    rng = np.random.default_rng(random_state)
    sentences, trees = np.empty((2, n), dtype=object)
    for i in range(n):
        trees[i] = _sentence(rng)
        sentences[i] = tuple(leaves(trees[i]))
    return ParsedSentences(sentences, trees)


def log_likelihood(tree: Tree) -> float:
    """Return the log-probability of a tree up to a constant of its sentence; its maximum is the best possible prediction."""
    total, opened = 0.0, 2
    for depth, head, phrase in attachments(tree):
        known = _phrases_of(head)
        share = (1.0 - NOISE) * (phrase in known) / len(known) + NOISE / len(_ANY) if known else 1.0 / len(_ANY)
        total += math.log(share) - math.log(opened)
        opened = depth + 2
    return total


def attachments(tree: Tree) -> list[tuple[int, str, str]]:
    """List the phrases from left to right: depth of the attachment, the verb (depth 0) or noun, and the phrase.

    The verb phrase of "I hit the dog with the hammer" gives ``[(0, 'hit', 'with hammer')]``.
    """
    action, after = tree[2], []
    while action[1][0] == "VP":
        after.append(action[2])
        action = action[1]
    found = _of_thing(action[2], 1)[1]
    for phrase in reversed(after):
        found += _of_phrase(phrase, 0, action[1][1])
    return found


def _of_thing(thing: Tree, depth: int) -> tuple[str, list[tuple[int, str, str]]]:
    """Return the noun of a noun phrase, and the phrases inside it."""
    after = []
    while is_node(thing[1]) and thing[1][0] == "NP":
        after.append(thing[2])
        thing = thing[1]
    noun = thing[-1][1] if is_node(thing[-1]) else thing[-1]
    return noun, [each for phrase in reversed(after) for each in _of_phrase(phrase, depth, noun)]


def _of_phrase(phrase: Tree, depth: int, head: str) -> list[tuple[int, str, str]]:
    noun, below = _of_thing(phrase[2], depth + 1)
    return [(depth, head, f"{phrase[1][1]} {noun}"), *below]


def _phrases_of(head: str) -> list[str]:
    return OF_VERBS.get(head) or OF_NOUNS.get(head) or []


def _sentence(rng: np.random.Generator) -> Tree:
    """Draw one tree: open places of attachment are a stack, and one that is taken closes those after it."""
    verb = _Place(str(rng.choice(list(OF_VERBS))), [])
    thing = _Place(str(rng.choice(OBJECTS)), [])
    subject, opened = str(rng.choice(SUBJECTS)), [verb, thing]
    for _ in range(1 + rng.choice(len(PHRASES), p=PHRASES)):
        at = int(rng.integers(len(opened)))
        known = _phrases_of(opened[at].word)
        link, noun = str(rng.choice(_ANY if not known or rng.random() < NOISE else known)).split()
        below = _Place(noun, [])
        opened[at].phrases.append((link, below))
        opened = [*opened[: at + 1], below]
    action: Tree = ("VP", ("V", verb.word), _noun_phrase(thing))
    for link, place in verb.phrases:
        action = ("VP", action, ("PP", ("P", link), _noun_phrase(place)))
    return ("S", ("NP", subject), action)


class _Place(NamedTuple):
    """A verb or noun, and the phrases attached to it."""

    word: str
    phrases: list[tuple[str, _Place]]


def _noun_phrase(place: _Place) -> Tree:
    tree: Tree = ("NP", ("N", place.word)) if place.word in _BARE else ("NP", ("D", "the"), ("N", place.word))
    for link, below in place.phrases:
        tree = ("NP", tree, ("PP", ("P", link), _noun_phrase(below)))
    return tree
