"""Contexts of symbols: rows of numbers that say what is around a symbol of a word, and what was read before it."""

from __future__ import annotations

import numpy as np

from mercer.core.compiled import compiled

BEFORE, AFTER = -2, -3  # the symbols before the first of a sequence, and after the last
_NEIGHBOURS = 4
_FAR = 3  # counts of symbols and of syllables are distinguished up to this one

_OFFSETS = [offset for size in range(1, _NEIGHBOURS + 1) for offset in (-size, size)]
INPUT_COLUMNS = (
    "symbol",
    *(f"{kind} {offset:+d}" for kind in ("symbol", "class", "effect") for offset in _OFFSETS),
    *("consonants after", "consonants before", "syllables before", "syllables after", "double after", "double before"),
    *("vowel after", "vowel before", "last three", "last two", "first three"),
)
HISTORY_COLUMNS = ("chunk -1", "chunk -2", "output -1", "output -2", "output vowel before")


@compiled
def input_contexts(word: np.ndarray, vowels: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return a row of `INPUT_COLUMNS` for each symbol of `word`.

    `vowels[s]` is true if symbol s is a vowel; `left[s]` and `right[s]` are its classes to the left and right of what is read.
    """
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
        column += 2 * _NEIGHBOURS
        for size in range(1, _NEIGHBOURS + 1):
            near, far = _at(word, i - size), _at(word, i + size)
            rows[i, column + 2 * size - 1] = left[near] if near >= 0 else near
            rows[i, column + 2 * size] = right[far] if far >= 0 else far
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
    """Return `HISTORY_COLUMNS` for position `i` of each row of `chunks`; ``spelled[c]`` holds the output symbols of chunk c."""
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
