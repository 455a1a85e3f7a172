"""What aligned training pairs are made of: symbols, chunks, and what is known about each."""

from __future__ import annotations

import unicodedata
from collections.abc import Hashable, Sequence
from itertools import chain

import numpy as np

from mercer.sequence_models.alignment import Chunk, Symbols
from mercer.sequence_models.classes import alternating_class, classes_through
from mercer.sequence_models.symbols import Alphabet

_ITSELF = 0.5
"""Weight of which chunk it is among the features of chunks, next to 1 for each character and each symbol."""


class Inventory:
    """The symbols and chunks of aligned pairs, numbered.

    Attributes
    ----------
    inputs_, outputs_, chunks_ : Alphabet
        Input symbols, output symbols and chunks (tuples of output symbols; number 0 is the empty one).
    spelled_ : array (chunks, longest)
        The output symbols of each chunk, padded with −1.
    features_ : array (chunks, features)
        ψ of each chunk: which chunk it is, which characters its symbols have, how many symbols.
    input_vowels_, output_vowels_ : boolean arrays
        The smaller of the two classes of symbols that take turns (see `alternating_class`).
    """

    def fit(self, X: Sequence[Symbols], cuts: Sequence[Sequence[Chunk]]) -> Inventory:
        """Take stock of inputs and their chunks."""
        self.inputs_ = Alphabet(chain.from_iterable(X))
        self.chunks_ = Alphabet(
            [(), *sorted(set(chain.from_iterable(cuts)), key=lambda chunk: (len(chunk), str(chunk)))]
        )
        said = [list(chain.from_iterable(cut)) for cut in cuts]
        self.outputs_ = Alphabet(chain.from_iterable(said))
        chunks: list[Chunk] = self.chunks_.symbols  # type: ignore[assignment]
        self.spelled_ = np.full((len(chunks), max(1, *map(len, chunks))), -1, dtype=np.int64)
        for i, chunk in enumerate(chunks):
            self.spelled_[i, : len(chunk)] = self.outputs_.codes(chunk)
        self.features_ = chunk_features(chunks)
        vowels = alternating_class(said)
        through = classes_through([list(zip(x, cut, strict=True)) for x, cut in zip(X, cuts, strict=True)], vowels)
        self.output_vowels_ = np.asarray([symbol in vowels for symbol in self.outputs_.symbols])
        self.input_vowels_ = np.asarray([symbol in through for symbol in self.inputs_.symbols])
        return self

    def itself(self, symbol: Hashable) -> int:
        """The chunk for a symbol never seen among the inputs: the symbol itself where that is a chunk, else the empty chunk."""
        return max(0, int(self.chunks_.codes([(symbol,)])[0]))

    def said(self, chunks: Sequence[int]) -> tuple[Hashable, ...]:
        """The output that a row of chunk numbers spells."""
        symbols: list[Chunk] = self.chunks_.symbols  # type: ignore[assignment]
        return tuple(chain.from_iterable(symbols[number] for number in chunks))


def chunk_features(chunks: Sequence[Chunk]) -> np.ndarray:
    """One row of features for each chunk, so that chunks alike in spelling are near each other.

    Examples
    --------
    >>> chunk_features([("a",), ("aː",)]).tolist()
    [[0.5, 0.0, 1.0, 0.0, 1.0], [0.0, 0.5, 1.0, 1.0, 1.0]]
    """
    spelled = [unicodedata.normalize("NFD", "".join(s for s in chunk if isinstance(s, str))) for chunk in chunks]
    characters = Alphabet(chain.from_iterable(spelled))
    counts = np.zeros((len(chunks), len(characters)))
    for row, text in zip(counts, spelled, strict=True):
        np.add.at(row, characters.codes(text), 1.0)
    sizes = np.asarray([[float(len(chunk))] for chunk in chunks])
    return np.hstack([_ITSELF * np.eye(len(chunks)), counts, sizes])
