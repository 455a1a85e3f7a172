"""Strings → strings: the artificial task of Weston et al. (2002), section 4.1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mercer.datasets.store import Table

LETTERS = "abcd"
"""The alphabet of the inputs."""

CLEAN = ("abad", "dbbd", "aabc")
"""The output of each class, before noise."""

LENGTHS = (10, 15)
"""Shortest and longest input."""

NOISE = (0.55, 0.3, 0.15)
"""Probability of no, one and two insertions; and then of no, one and two deletions."""

_UNIFORM = np.full((4, 4), 0.25)
_STICKY = np.full((4, 4), 0.1) + 0.6 * np.eye(4)
_TWO_LETTERS = np.zeros((4, 4))
_TWO_LETTERS[2:, 2:] = [[0.7, 0.3], [0.3, 0.7]]

TRANSITIONS = (_UNIFORM, _STICKY, _TWO_LETTERS)
"""Per class, the probability of the next letter given the last."""

STARTS = (np.full(4, 0.25), np.full(4, 0.25), np.array([0.0, 0.0, 0.5, 0.5]))
"""Per class, the probability of the first letter."""


@dataclass(frozen=True)
class StringPairs(Table):
    """Pairs of strings (object arrays) and the class, 0 to 2, each was drawn from."""

    inputs: np.ndarray
    outputs: np.ndarray
    classes: np.ndarray


def make_string_pairs(n: int = 200, random_state: int | None = None, inserted: str = LETTERS) -> StringPairs:
    """Draw pairs from the three classes, each with the same probability.

    Inputs come from a Markov chain over a, b, c, d, of 10 to 15 letters: in class 0 every letter is as likely as any
    other to come next, in class 1 a letter is followed by itself with probability 0.7, in class 2 too but there are
    only c and d. Outputs are `abad`, `dbbd`, `aabc` with noise: one insertion (probability 0.3) or two (0.15), then one
    deletion (0.3) or two (0.15), letters and places at random. Insertions draw from the letters `inserted`: the paper's text
    names four, one of its examples has an `e`.

    Examples
    --------
    >>> pairs = make_string_pairs(3, random_state=0)
    >>> pairs.inputs.tolist(), pairs.outputs.tolist(), pairs.classes.tolist()
    (['ccdddddddcd', 'ddccaaaaaad', 'abbbbcdddddd'], ['aab', 'dcbbc', 'bd'], [2, 1, 1])
    """
    if n < 1:
        raise ValueError(f"n={n!r}; expected a positive whole number of pairs")
    if not inserted:
        raise ValueError("inserted is empty; expected the letters an insertion draws from, such as 'abcd'")
    rng = np.random.default_rng(random_state)
    classes = rng.integers(len(CLEAN), size=n)
    inputs, outputs = np.empty((2, n), dtype=object)
    for i, label in enumerate(classes):
        inputs[i] = _markov(rng, STARTS[label], TRANSITIONS[label])
        outputs[i] = _noisy(rng, CLEAN[label], inserted)
    return StringPairs(inputs, outputs, classes)


def likeliest_class(inputs: Sequence[str]) -> np.ndarray:
    """Return the class under which each input is most probable, the best possible prediction."""
    scores = np.empty((len(inputs), len(CLEAN)))
    with np.errstate(divide="ignore"):  # a letter a class does not have: log 0
        logs = [(np.log(start), np.log(moves)) for start, moves in zip(STARTS, TRANSITIONS, strict=True)]
    for i, string in enumerate(inputs):
        codes = np.array([LETTERS.index(letter) for letter in string])
        scores[i] = [start[codes[0]] + moves[codes[:-1], codes[1:]].sum() for start, moves in logs]
    return np.argmax(scores, axis=1)


def _markov(rng: np.random.Generator, start: np.ndarray, moves: np.ndarray) -> str:
    length = rng.integers(LENGTHS[0], LENGTHS[1] + 1)
    codes = [rng.choice(4, p=start)]
    while len(codes) < length:
        codes.append(rng.choice(4, p=moves[codes[-1]]))
    return "".join(LETTERS[code] for code in codes)


def _noisy(rng: np.random.Generator, clean: str, inserted: str) -> str:
    letters = list(clean)
    for _ in range(rng.choice(3, p=NOISE)):
        letters.insert(rng.integers(len(letters) + 1), inserted[rng.integers(len(inserted))])
    for _ in range(rng.choice(3, p=NOISE)):
        del letters[rng.integers(len(letters))]
    return "".join(letters)
