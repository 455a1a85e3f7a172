"""Exact distribution of Weston's toy strings: the strings each class writes, their probabilities, and the class of an input."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np

from experiments.papers.toy_strings import CLEAN, LETTERS, NOISE, STARTS, TRANSITIONS
from mercer.core.collections import as_objects
from mercer.kernels import Kernel, Normalized, Subsequence

KERNEL = Subsequence(3, 0.01).normalized()
"""Kernel of the paper, whose squared distance is the string loss."""

LONGEST = 7
"""Letters of the longest string: there are 21,844."""

HYBRID = 0.4
"""A string is a hybrid if its cosine with two clean strings is at least this."""

Written = dict[str, float]
"""Probability of each string."""


@cache
def written(clean: str) -> Written:
    """Compute the strings a class writes, and their probabilities: up to two insertions, then up to two deletions."""

    def inserted(strings: Written) -> Written:
        found: Written = defaultdict(float)
        for text, probability in strings.items():
            for place, letter in product(range(len(text) + 1), LETTERS):
                found[text[:place] + letter + text[place:]] += probability / ((len(text) + 1) * len(LETTERS))
        return found

    def deleted(strings: Written) -> Written:
        found: Written = defaultdict(float)
        for text, probability in strings.items():
            for place in range(len(text)):
                found[text[:place] + text[place + 1 :]] += probability / len(text)
        return found

    return _noisy(_noisy({clean: 1.0}, inserted), deleted)


def _noisy(strings: Written, step: Callable[[Written], Written]) -> Written:
    """Apply zero, one or two steps, with the probabilities of the noise."""
    found: Written = defaultdict(float)
    for share in NOISE:
        for text, probability in strings.items():
            found[text] += share * probability
        strings = step(strings)
    return dict(found)


@dataclass(frozen=True)
class AllStrings:
    """All strings from one letter to `LONGEST`, with their probabilities and classes."""

    strings: np.ndarray
    number: dict[str, int]
    chances: np.ndarray
    """Probability of each string in each class, of shape (strings, classes)."""
    classes: np.ndarray
    """Class that writes the string most often; if no class writes it, that of the nearest clean string."""
    hybrid: np.ndarray
    """Whether the string is similar to the clean strings of two classes."""

    def places(self, strings: Iterable[str]) -> np.ndarray:
        """Return the positions of some strings in the list."""
        return np.asarray([self.number[text] for text in strings])


@cache
def all_strings() -> AllStrings:
    """Enumerate the strings of up to `LONGEST` letters."""
    strings = as_objects(["".join(text) for n in range(1, LONGEST + 1) for text in product(LETTERS, repeat=n)])
    number = {text: i for i, text in enumerate(strings)}
    chances = np.asarray([[written(clean).get(text, 0.0) for clean in CLEAN] for text in strings])
    rows = features(KERNEL)
    near = rows @ rows[[number[clean] for clean in CLEAN]].T
    classes = np.where(chances.max(axis=1) > 0, chances.argmax(axis=1), near.argmax(axis=1))
    return AllStrings(strings, number, chances, classes, np.sort(near, axis=1)[:, -2] >= HYBRID)


_ROWS: dict[str, np.ndarray] = {}


def features(kernel: Kernel) -> np.ndarray:
    """Compute ψ of every string under a normalised kernel, as rows of numbers."""
    if repr(kernel) not in _ROWS:
        strings = as_objects(["".join(text) for n in range(1, LONGEST + 1) for text in product(LETTERS, repeat=n)])
        assert isinstance(kernel, Normalized)
        inner = kernel.kernel
        if isinstance(inner, Subsequence):
            # a word of r letters has one subsequence of r letters: the kernel with it is that coordinate
            words = as_objects(["".join(text) for text in product(LETTERS, repeat=int(inner.length))])  # type: ignore[arg-type]
            rows = inner(strings, words) / np.sqrt(inner.diag(words))
        else:
            found = inner.feature_map(strings)
            assert found is not None
            rows = np.asarray(found(strings))
        lengths = np.sqrt(np.sum(rows**2, axis=1))
        _ROWS[repr(kernel)] = rows / np.where(lengths > 0, lengths, 1.0)[:, None]
    return _ROWS[repr(kernel)]


def posterior(inputs: Sequence[str]) -> np.ndarray:
    """Compute the probability of each class given each input, of shape (inputs, classes)."""
    chance = np.empty((len(inputs), len(CLEAN)))
    for row, text in zip(chance, inputs, strict=True):
        codes = np.asarray([LETTERS.index(letter) for letter in text])
        row[:] = [
            start[codes[0]] * np.prod(moves[codes[:-1], codes[1:]])
            for start, moves in zip(STARTS, TRANSITIONS, strict=True)
        ]
    return chance / chance.sum(axis=1, keepdims=True)
