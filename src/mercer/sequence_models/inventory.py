"""The symbols and chunks of aligned training pairs: their numbers, their features, vowels and consonants."""

from __future__ import annotations

import unicodedata
from collections.abc import Hashable, Iterable, Sequence
from itertools import chain

import numpy as np

from mercer.sequence_models.classes import effect_classes
from mercer.sequence_models.symbols import Alphabet, Chunk, Symbols

_IDENTITY = 0.5  # weight of a chunk's identity among its features, next to 1 for each character and each symbol


class Inventory:
    """The symbols and chunks of aligned pairs, numbered: alphabets `inputs_`, `outputs_` and `chunks_` (number 0 is empty).

    `spelled_` (chunks, longest) holds the output symbols of each chunk, padded with −1; `features_` is ψ of each chunk
    (see `chunk_features`); `input_vowels_` and `output_vowels_` mark the symbols of the `alternating_class`. `before_` and
    `after_` are the `effect_classes` of an input symbol as the one before, or after, the symbol that is read.
    """

    def fit(self, X: Sequence[Symbols], cuts: Sequence[Sequence[Chunk]]) -> Inventory:
        """List the symbols and chunks of inputs and their cut outputs."""
        self.inputs_ = Alphabet(chain.from_iterable(X))
        known = sorted(set(chain.from_iterable(cuts)), key=lambda chunk: (len(chunk), str(chunk)))
        self.chunks_ = Alphabet([(), *known])
        outputs = [list(chain.from_iterable(cut)) for cut in cuts]
        self.outputs_ = Alphabet(chain.from_iterable(outputs))
        chunks: list[Chunk] = self.chunks_.symbols
        self.spelled_ = np.full((len(chunks), max(1, *map(len, chunks))), -1, dtype=np.int64)
        for i, chunk in enumerate(chunks):
            self.spelled_[i, : len(chunk)] = self.outputs_.codes(chunk)
        self.features_ = chunk_features(chunks)
        vowels = alternating_class(outputs)
        through = classes_through([list(zip(x, cut, strict=True)) for x, cut in zip(X, cuts, strict=True)], vowels)
        self.output_vowels_ = np.asarray([symbol in vowels for symbol in self.outputs_.symbols])
        self.input_vowels_ = np.asarray([symbol in through for symbol in self.inputs_.symbols])
        words, chunked = [self.inputs_.codes(x) for x in X], [self.chunks_.codes(cut) for cut in cuts]
        self.before_, self.after_ = (effect_classes(words, chunked, len(self.inputs_), side) for side in (-1, 1))
        return self

    def chunk_of_unknown(self, symbol: Hashable) -> int:
        """Return the chunk for an unseen input symbol: the symbol itself if that is a chunk, else the empty chunk."""
        return max(0, int(self.chunks_.codes([(symbol,)])[0]))

    def options_of(self, x: Symbols, codes: np.ndarray, known: np.ndarray) -> list[np.ndarray]:
        """Return the chunks that each symbol may stand for: those marked in `known`, or that of an unseen one."""
        found = []
        for symbol, code in zip(x, codes, strict=True):
            own = np.flatnonzero(known[code]) if code >= 0 else np.empty(0, dtype=np.int64)
            found.append(own if len(own) else np.asarray([self.chunk_of_unknown(symbol)]))
        return found

    def spell(self, chunks: Sequence[int]) -> tuple[Hashable, ...]:
        """Return the output symbols of a row of chunk numbers."""
        symbols: list[Chunk] = self.chunks_.symbols
        return tuple(chain.from_iterable(symbols[number] for number in chunks))


def chunk_features(chunks: Sequence[Chunk]) -> np.ndarray:
    """Return one row of features for each chunk: its identity, the counts of its characters, and the number of its symbols."""
    spelled = [unicodedata.normalize("NFD", "".join(s for s in chunk if isinstance(s, str))) for chunk in chunks]
    characters = Alphabet(chain.from_iterable(spelled))
    counts = np.zeros((len(chunks), len(characters)))
    for row, text in zip(counts, spelled, strict=True):
        np.add.at(row, characters.codes(text), 1.0)
    sizes = np.asarray([[float(len(chunk))] for chunk in chunks])
    return np.hstack([_IDENTITY * np.eye(len(chunks)), counts, sizes])


def alternating_class(sequences: Sequence[Symbols]) -> set[Hashable]:
    r"""Find the smaller of two classes of symbols that alternate: among phones, the vowels.

    With A the counts of neighbours (equal neighbours aside) and D its row sums, the classes are the signs of the eigenvector of
    :math:`D^{-1/2} A D^{-1/2}` with the lowest eigenvalue, which is −1 if the classes alternate without exception.
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


def classes_through(chunks: Iterable[Iterable[tuple[Hashable, Chunk]]], outputs: set[Hashable]) -> set[Hashable]:
    """Find the input symbols that mostly stand for one of `outputs`, from aligned pairs (symbol, chunk)."""
    balance: dict[Hashable, int] = {}
    for symbol, chunk in chain.from_iterable(chunks):
        if chunk:
            balance[symbol] = balance.get(symbol, 0) + (1 if any(output in outputs for output in chunk) else -1)
    return {symbol for symbol, votes in balance.items() if votes > 0}
