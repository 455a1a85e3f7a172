"""Features of a step of a transducer: hashes of the letters read and written around it, with each view of the tags."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.core.compiled import compiled

COPY, DROP, WRITE = 0, 1, 2  # actions; WRITE + letter writes that letter
TEMPLATES = 25
LEMMA_COLUMNS = 7  # harmony, the last two vowels, syllables, the last three letters
REPEATS = 3  # extra labels of a written letter that repeats the last one, the last but one, or the next to be read


@compiled(inline="always")
def mixed(h: Any, value: Any) -> Any:
    """Return the hash `h` with one more value in it."""
    h = (
        h ^ (np.uint64(value) + np.uint64(0x9E3779B97F4A7C15) + (h << np.uint64(6)) + (h >> np.uint64(2)))
    ) * np.uint64(0xBF58476D1CE4E5B9)
    return h ^ (h >> np.uint64(29))


@compiled(inline="always")
def letter_at(x: np.ndarray, n: int, i: int) -> int:
    """Return letter `i` of the first `n`, 0 outside of them."""
    return x[i] if 0 <= i < n else 0


@compiled
def fill_templates(  # noqa: PLR0913
    x: np.ndarray,
    i: int,
    out: np.ndarray,
    m: int,
    region: tuple[int, int],
    act: int,
    vowels: np.ndarray,
    info: np.ndarray,
    hashes: np.ndarray,
) -> None:
    """Hash the state: `i` letters of the lemma `x` are read and out[:m] is written.

    `region` is where both were when the last letter was copied, `act` the kind of the last action, `info` columns of the lemma.
    """
    n, (written, read) = len(x), region
    first, end, left = int(read == 0), int(i == n), min(n - i, 6)
    s, d = np.uint64(7), np.uint64(11)
    for k in range(written, m):
        s = mixed(s, out[k])
    for k in range(read, i):
        d = mixed(d, x[k])
    sd = mixed(mixed(s, d), first)
    s = mixed(s, first)
    r0, r1 = letter_at(x, n, i), letter_at(x, n, i + 1)
    r2, r3 = letter_at(x, n, i + 2), letter_at(x, n, i + 3)
    l1, l2 = letter_at(x, n, read - 1), letter_at(x, n, read - 2)
    o1, o2 = letter_at(out, m, m - 1), letter_at(out, m, m - 2)
    o3, o4 = letter_at(out, m, m - 3), letter_at(out, m, m - 4)
    v = 0
    for k in range(m - 1, -1, -1):
        if vowels[out[k]]:
            v = out[k]
            break
    c0, c1, c2 = vowels[r0] + int(r0 > 0), vowels[r1] + int(r1 > 0), vowels[r2] + int(r2 > 0)
    for k in range(TEMPLATES):
        hashes[k] = mixed(np.uint64(100 + k), act * 4 + first * 2 + end)
    hashes[0] = mixed(hashes[0], s)
    hashes[1] = mixed(mixed(mixed(hashes[1], s), r0), left)
    hashes[2] = mixed(mixed(hashes[2], s), info[0])
    hashes[3] = mixed(mixed(mixed(hashes[3], s), l1), r0)
    hashes[4] = mixed(mixed(mixed(mixed(hashes[4], s), info[4]), info[5]), left)
    hashes[5] = mixed(mixed(mixed(mixed(hashes[5], r0), r1), r2), r3)
    hashes[6] = mixed(mixed(mixed(hashes[6], o1), o2), o3)
    hashes[7] = mixed(mixed(mixed(mixed(hashes[7], s), l1), l2), r0)
    hashes[8] = mixed(mixed(mixed(mixed(mixed(hashes[8], sd), info[4]), info[5]), info[6]), left)
    hashes[9] = mixed(mixed(mixed(hashes[9], l1), r0), r1)
    hashes[10] = mixed(mixed(mixed(mixed(mixed(hashes[10], c0), c1), c2), vowels[l1]), vowels[l2])
    hashes[11] = mixed(mixed(mixed(hashes[11], sd), info[3]), r0)
    hashes[12] = mixed(mixed(mixed(hashes[12], s), info[1]), info[2])
    hashes[13] = mixed(mixed(hashes[13], v), s)
    hashes[14] = mixed(mixed(mixed(mixed(hashes[14], sd), l1), r0), r1)
    hashes[15] = mixed(mixed(hashes[15], o1), o2)
    hashes[16] = mixed(mixed(mixed(mixed(hashes[16], o1), o2), o3), o4)
    hashes[17] = mixed(mixed(hashes[17], o1), r0)
    hashes[18] = mixed(mixed(mixed(mixed(hashes[18], o1), o2), r0), r1)
    hashes[19] = mixed(hashes[19], info[0])
    hashes[20] = mixed(mixed(hashes[20], info[0]), o1)
    hashes[21] = mixed(hashes[21], sd)
    hashes[22] = mixed(mixed(mixed(mixed(mixed(hashes[22], l1), l2), r0), r1), left)
    hashes[23] = mixed(mixed(mixed(mixed(hashes[23], o1), r0), c1), c2)
    hashes[24] = mixed(hashes[24], vowels[r0])


@compiled
def slot_of(keys: np.ndarray, key: Any) -> Any:
    """Return the place of `key` in a table with open addressing, or the empty place where it would be."""
    mask = np.uint64(len(keys) - 1)
    place = key & mask
    while keys[place] != np.uint64(0) and keys[place] != key:
        place = (place + np.uint64(1)) & mask
    return np.int64(place)


@compiled
def feature_key(template: np.uint64, view: int) -> np.uint64:
    """Return the key of a template with a view of the tags; never zero, which marks empty places."""
    return mixed(template, view) | np.uint64(1)


@compiled
def collect(  # noqa: PLR0913
    lemmas: np.ndarray,
    lemma_starts: np.ndarray,
    actions: np.ndarray,
    action_starts: np.ndarray,
    views: np.ndarray,
    view_starts: np.ndarray,
    vowels: np.ndarray,
    info: np.ndarray,
    keys: np.ndarray,
    row_of: np.ndarray,
    rows: np.ndarray,
    row_starts: np.ndarray,
    counts: np.ndarray,
    near: np.ndarray,
) -> int:
    """Number the features of every step of training words, and return how many there are.

    The first view of a word is the empty one. `near` takes the next letter, the last two written, and whether any was written
    since the last copy.
    """
    hashes = np.empty(TEMPLATES, dtype=np.uint64)
    longest = 0
    for word in range(len(lemma_starts) - 1):
        longest = max(longest, action_starts[word + 1] - action_starts[word])
    out = np.zeros(longest + 1, dtype=np.int64)
    step = entry = known = 0
    for word in range(len(lemma_starts) - 1):
        x = lemmas[lemma_starts[word] : lemma_starts[word + 1]]
        i = m = 0
        region, act = (0, 0), 3
        for a in actions[action_starts[word] : action_starts[word + 1]]:
            fill_templates(x, i, out, m, region, act, vowels, info[word], hashes)
            for t in range(TEMPLATES):
                for z in range(view_starts[word], view_starts[word + 1]):
                    key = feature_key(hashes[t], views[z])
                    place = slot_of(keys, key)
                    if keys[place] == np.uint64(0):
                        keys[place] = key
                        row_of[place] = known
                        known += 1
                    rows[entry] = row_of[place]
                    counts[rows[entry]] += 1
                    entry += 1
            near[step, 0] = letter_at(x, len(x), i)
            near[step, 1] = letter_at(out, m, m - 1)
            near[step, 2] = letter_at(out, m, m - 2)
            near[step, 3] = int(m > region[0])
            step += 1
            row_starts[step] = entry
            i, m, region, act = advance(x, i, out, m, region, a)
    return known


@compiled
def advance(  # noqa: PLR0913
    x: np.ndarray, i: int, out: np.ndarray, m: int, region: tuple[int, int], a: int
) -> tuple[int, int, tuple[int, int], int]:
    """Do an action, and return the state after it: letters read and written, the region, the kind of the action."""
    if a == COPY:
        if i < len(x):
            out[m] = x[i]
            return i + 1, m + 1, (m + 1, i + 1), 0
        return i, m, region, 0
    if a == DROP:
        return i + 1, m, region, 1
    out[m] = a - WRITE
    return i, m + 1, region, 2
