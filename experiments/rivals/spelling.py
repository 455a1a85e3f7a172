"""Misspelled words, made from a list of words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

TRAIN, TEST, CANDIDATES = 500, 500, 5000
Pairs = tuple[list[str], list[str]]


def misspelled(words: Sequence[str], seed: int = 0) -> tuple[Pairs, Pairs, list[str]]:
    """Return training pairs, test pairs (typo, word), and the words that test words are among; no word trains and tests."""
    random = np.random.default_rng(seed)
    distinct = sorted({word for word in words if len(word) > 4})
    order = [distinct[i] for i in random.permutation(len(distinct))]
    letters = sorted(set("".join(distinct)))
    known, unseen = order[:TRAIN], order[TRAIN : TRAIN + CANDIDATES]
    if len(unseen) < CANDIDATES:
        raise ValueError(f"words has {len(distinct)} words of five letters or more; expected {TRAIN + CANDIDATES}")
    pairs = [([typo(word, letters, random) for word in each], each) for each in (known, unseen[:TEST])]
    return pairs[0], pairs[1], sorted(unseen)


def typo(word: str, letters: Sequence[str], random: np.random.Generator) -> str:
    """Return `word` with two edits at random places: a letter added, dropped or changed, or two swapped."""
    text = list(word)
    for _ in range(2):
        place, kind, letter = (
            int(random.integers(len(text) - 1)),
            int(random.integers(4)),
            int(random.integers(len(letters))),
        )
        if kind == 0:
            text.insert(place, letters[letter])
        elif kind == 1:
            del text[place]
        elif kind == 2:
            text[place] = letters[letter]
        else:
            text[place : place + 2] = text[place : place + 2][::-1]
    return "".join(text)
