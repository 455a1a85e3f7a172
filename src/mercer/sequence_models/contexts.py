"""Contexts of symbols as rows of numbers, and the cost of a difference in each column, learned from words left out.

A context holds the neighbours of a symbol, its place in the word, and the output before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

from mercer.core.compiled import compiled
from mercer.sequence_models.hamming_ridge import hamming_gram, hamming_kernel, log_softmax, weight_slopes

BEFORE, AFTER = -2, -3
"""The symbols before the first of a sequence, and after the last."""
_NEIGHBOURS = 4
_FAR = 3
"""Counts of symbols and of syllables are distinguished up to this one."""

_OFFSETS = [offset for size in range(1, _NEIGHBOURS + 1) for offset in (-size, size)]
INPUT_COLUMNS = (
    "symbol",
    *(f"{kind} {offset:+d}" for kind in ("symbol", "class") for offset in _OFFSETS),
    *("consonants after", "consonants before", "syllables before", "syllables after", "double after", "double before"),
    *("vowel after", "vowel before", "last three", "last two", "first three"),
)
HISTORY_COLUMNS = ("chunk -1", "chunk -2", "output -1", "output -2", "output vowel before")


@compiled
def input_contexts(word: np.ndarray, vowels: np.ndarray) -> np.ndarray:
    """Return a row of `INPUT_COLUMNS` for each symbol of `word`; `vowels[s]` is true if symbol s is a vowel."""
    n = len(word)
    rows = np.empty((n, len(INPUT_COLUMNS)), dtype=np.int64)
    base = len(vowels) + 4
    is_vowel = np.zeros(n, dtype=np.bool_)
    for i in range(n):
        is_vowel[i] = word[i] >= 0 and vowels[word[i]]
    syllables = np.zeros(n, dtype=np.int64)
    found = 0
    for i in range(n):
        if is_vowel[i] and (i == 0 or not is_vowel[i - 1]):
            found += 1
        syllables[i] = found
    for i in range(n):
        column = 0
        rows[i, column] = word[i]
        for size in range(1, _NEIGHBOURS + 1):
            rows[i, column + 2 * size - 1] = _at(word, i - size)
            rows[i, column + 2 * size] = _at(word, i + size)
        column += 2 * _NEIGHBOURS
        for size in range(1, _NEIGHBOURS + 1):
            rows[i, column + 2 * size - 1] = is_vowel[i - size] if i >= size else BEFORE
            rows[i, column + 2 * size] = is_vowel[i + size] if i + size < n else AFTER
        column += 2 * _NEIGHBOURS + 1
        after = i + 1
        while after < n and not is_vowel[after]:
            after += 1
        before = i - 1
        while before >= 0 and not is_vowel[before]:
            before -= 1
        rows[i, column] = 2 * min(after - i - 1, _FAR) + (after == n)
        rows[i, column + 1] = 2 * min(i - 1 - before, _FAR) + (before < 0)
        rows[i, column + 2] = min(syllables[i], _FAR)
        rows[i, column + 3] = min(found - syllables[i], _FAR)
        rows[i, column + 4] = _at(word, i + 1) == _at(word, i + 2)
        rows[i, column + 5] = _at(word, i - 1) == _at(word, i - 2)
        rows[i, column + 6] = _at(word, after)
        rows[i, column + 7] = _at(word, before)
        last_two = (_at(word, n - 2) + 3) * base + word[n - 1] + 3
        rows[i, column + 8] = (_at(word, n - 3) + 3) * base * base + last_two
        rows[i, column + 9] = last_two
        rows[i, column + 10] = ((word[0] + 3) * base + _at(word, 1) + 3) * base + _at(word, 2) + 3
    return rows


@compiled
def _at(word: np.ndarray, i: int) -> int:
    if i < 0:
        return BEFORE
    return word[i] if i < len(word) else AFTER


@compiled
def history_contexts(chunks: np.ndarray, i: int, spelled: np.ndarray, vowels: np.ndarray) -> np.ndarray:
    """Return `HISTORY_COLUMNS` for position `i` of each row of `chunks`, from the chunks before it.

    ``spelled[c]`` holds the output symbols of chunk c, padded with negative numbers; `vowels[s]` is as for inputs.
    """
    rows = np.full((len(chunks), len(HISTORY_COLUMNS)), BEFORE, dtype=np.int64)
    for hypothesis in range(len(chunks)):
        row = rows[hypothesis]
        for back in range(min(i, 2)):
            row[back] = chunks[hypothesis, i - 1 - back]
        seen = 0
        for j in range(i - 1, -1, -1):
            for k in range(spelled.shape[1] - 1, -1, -1):
                symbol = spelled[chunks[hypothesis, j], k]
                if symbol >= 0:
                    if seen < 2:
                        row[2 + seen] = symbol
                    seen += 1
                    if vowels[symbol] and row[4] == BEFORE:
                        row[4] = symbol
            if seen >= 2 and row[4] != BEFORE:
                break
    return rows


@dataclass
class Settings:
    """The parameters of a ridge over contexts: the cost of a difference in each column, and three numbers."""

    weights: np.ndarray
    alpha: float = 0.1
    offset: float = 0.1
    """Constant added to the kernel."""
    sharpness: float = 5.0
    """s of p(c) ∝ exp(−½ s ‖h − ψ_c‖²)."""

    def kernel(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """Return k(a, b) for each row a of `A` and b of `B`."""
        return hamming_kernel(A, B, self.weights) + self.offset

    def gram(self, A: np.ndarray) -> np.ndarray:
        """Return k(a, a') for all rows of `A`."""
        return hamming_gram(A, self.weights) + self.offset

    def logarithms(self) -> np.ndarray:
        """Return all parameters as one vector without bounds."""
        return np.log(np.concatenate([self.weights, [self.alpha, self.offset, self.sharpness]]))

    @classmethod
    def from_logarithms(cls, values: np.ndarray) -> Settings:
        """Return the settings of a vector of logarithms."""
        found = np.exp(values)
        return cls(found[:-3], *(float(value) for value in found[-3:]))


@dataclass
class Examples:
    """Contexts of input symbols and the chunks they stood for."""

    contexts: np.ndarray
    chunks: np.ndarray
    options: np.ndarray
    """Boolean, (examples, chunks): the chunks each could have stood for."""
    features: np.ndarray
    """ψ of every chunk."""
    folds: np.ndarray
    """The part each example belongs to; those of one word are in one part."""


def learn_settings(groups: Sequence[Examples], start: Settings, strength: float = 0.2, rounds: int = 20) -> Settings:
    r"""Find the settings with the least loss, :math:`-\log p(c_i)` summed over parts left out in turn.

    Each group has its own ridge and all share the settings, which a penalty ½ `strength` ‖θ − θ₀‖² on their logarithms
    keeps near `start`.
    """
    theta = start.logarithms()

    def loss(values: np.ndarray) -> tuple[float, np.ndarray]:
        away = values - theta
        total, slope = 0.5 * strength * away @ away, strength * away
        for group in groups:
            value, change = held_out_loss(values, group)
            total, slope = total + value, slope + change
        return float(total), slope

    bounds = [(-7.0, 3.0)] * len(theta)
    found = minimize(loss, theta, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": rounds})
    return Settings.from_logarithms(found.x)


def held_out_loss(values: np.ndarray, group: Examples) -> tuple[float, np.ndarray]:
    """Return the loss of one group over its parts, each left out in turn, and its slope in the logarithms of the settings."""
    settings = Settings.from_logarithms(values)
    kernel = hamming_gram(group.contexts, settings.weights)
    slopes = np.zeros_like(kernel)
    targets = group.features[group.chunks]
    loss = alpha_slope = sharpness_slope = 0.0
    for part in np.unique(group.folds):
        out, rest = np.flatnonzero(group.folds == part), np.flatnonzero(group.folds != part)
        if not len(rest):
            continue
        system = kernel[np.ix_(rest, rest)] + settings.offset
        system[np.diag_indices(len(rest))] += settings.alpha
        factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
        dual = cho_solve(factor, targets[rest], check_finite=False)
        across = kernel[np.ix_(out, rest)] + settings.offset
        # −½‖h − ψ_c‖² less −½‖h‖², which is the same for all c
        nearness = (across @ dual) @ group.features.T - 0.5 * np.sum(group.features**2, axis=1)
        scores = np.where(group.options[out], settings.sharpness * nearness, -np.inf)
        probabilities = np.exp(log_softmax(scores))
        right = probabilities[np.arange(len(out)), group.chunks[out]]
        loss -= float(np.sum(np.log(np.maximum(right, 1e-300))))
        # the slope runs backwards through the softmax, the scores and the ridge
        excess = probabilities
        excess[np.arange(len(out)), group.chunks[out]] -= 1.0
        sharpness_slope += float(np.sum(excess * nearness))
        by_point = settings.sharpness * excess @ group.features
        by_system = -cho_solve(factor, across.T @ by_point, check_finite=False) @ dual.T
        slopes[np.ix_(out, rest)] += by_point @ dual.T
        slopes[np.ix_(rest, rest)] += by_system
        alpha_slope += float(np.trace(by_system))
    by_weight = weight_slopes(group.contexts, slopes * kernel)
    slope = np.concatenate([by_weight, [alpha_slope, float(slopes.sum()), sharpness_slope]])
    return loss, slope * np.exp(values)


def starting_settings() -> Settings:
    """Return the settings before learning: the nearer a column, the more it matters."""
    columns = INPUT_COLUMNS + HISTORY_COLUMNS
    weights = np.full(len(columns), 0.25)
    for j, name in enumerate(columns):
        kind, _, offset = name.partition(" ")
        if kind in ("symbol", "class") and offset:
            weights[j] = 0.5 / abs(int(offset))
        elif kind in ("last", "first"):
            weights[j] = 0.05
    weights[0] = 1.0
    return Settings(weights)
