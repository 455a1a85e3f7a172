"""The process that makes the sentences of `mercer.datasets.toy_trees`: attachments of phrases, and their probability."""

from __future__ import annotations

import math

from mercer.datasets.toy_trees import ALL_PHRASES, NOISE, phrases_of
from mercer.structures.trees import Tree, is_node


def log_likelihood(tree: Tree) -> float:
    """Return the log-probability of a tree up to a constant of its sentence; its maximum is the best possible prediction."""
    total, opened = 0.0, 2
    for depth, head, phrase in attachments(tree):
        known = phrases_of(head)
        share = (
            (1.0 - NOISE) * (phrase in known) / len(known) + NOISE / len(ALL_PHRASES)
            if known
            else 1.0 / len(ALL_PHRASES)
        )
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
