"""Two classes of symbols that take turns, such as vowels and consonants, found from sequences alone."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import numpy as np

from mercer.sequence_models.symbols import Alphabet


def alternating_class(sequences: Sequence[Sequence[Hashable]]) -> set[Hashable]:
    r"""The smaller of two classes whose members like to stand next to the other class: of phones, the vowels.

    With A the counts of neighbours (equal neighbours aside) and D its row sums, the classes are the signs of the eigenvector of
    :math:`D^{-1/2} A D^{-1/2}` with the lowest eigenvalue, which is −1 where classes alternate without exception.

    Examples
    --------
    >>> sorted(alternating_class(["banana", "tomato", "pabulum", "nitoba"]))
    ['a', 'i', 'o', 'u']
    """
    alphabet = Alphabet(symbol for sequence in sequences for symbol in sequence)
    neighbours = np.zeros((len(alphabet), len(alphabet)))
    for sequence in sequences:
        codes = alphabet.codes(sequence)
        np.add.at(neighbours, (codes[:-1], codes[1:]), 1.0)
    neighbours += neighbours.T
    np.fill_diagonal(neighbours, 0.0)
    totals = neighbours.sum(axis=1)
    if not totals.any():
        return set()
    scale = 1.0 / np.sqrt(np.maximum(totals, 1e-9))
    lowest = np.linalg.eigh(neighbours * scale[:, None] * scale)[1][:, 0]
    # of two classes of one size, that of the first symbol, whatever sign the eigenvector came with
    sides = [{s for s, side in zip(alphabet.symbols, lowest * sign, strict=True) if side > 0} for sign in (1.0, -1.0)]
    return min(sides, key=lambda side: (len(side), alphabet.symbols[0] not in side))


def classes_through(
    chunks: Iterable[Iterable[tuple[Hashable, Sequence[Hashable]]]], outputs: set[Hashable]
) -> set[Hashable]:
    """The input symbols that mostly stand for one of `outputs`, from aligned pairs (symbol, chunk).

    Examples
    --------
    >>> classes_through([[("b", "b"), ("o", "o"), ("x", "ks")]], {"o"})
    {'o'}
    """
    balance: dict[Hashable, int] = {}
    for pairs in chunks:
        for symbol, chunk in pairs:
            if chunk:
                member = any(output in outputs for output in chunk)
                balance[symbol] = balance.get(symbol, 0) + (1 if member else -1)
    return {symbol for symbol, votes in balance.items() if votes > 0}
