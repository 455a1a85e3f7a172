"""Handwritten words, letter by letter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.datasets.store import Table, read_arrays

LETTER_SHAPE = (16, 8)
"""Rows and columns of the image of one letter."""


@dataclass(frozen=True)
class HandwrittenWords(Table):
    """Words as images of their letters, as strings, and the fold each belongs to.

    `images` holds one array (letters × 16 × 8) of zeros and ones per word, `strings` the words, `folds` numbers from 0 to 9.
    """

    images: np.ndarray
    strings: np.ndarray
    folds: np.ndarray


def load_ocr_words() -> HandwrittenWords:
    """Load the 6877 handwritten words of Kassel (1995), as cut into letters and folds by Taskar et al. (2004).

    52,152 letters of 16×8 binary pixels; 55 distinct words, each without its first letter, which was a capital.
    Read from ``$MERCER_DATA/ocr_letters``, checked against a pinned SHA-256.
    """
    shapes = {"pixels_packed": (_LETTERS, 16), "label": (_LETTERS,), "words": (_WORDS,), "word_fold": (_WORDS,)}
    packed, labels, strings, folds = read_arrays("ocr_letters/ocr_letters.npz", shapes)
    if "".join(strings) != "".join(chr(ord("a") + label) for label in labels):
        raise ValueError(
            "the OCR file's letters do not spell its words in order; expected the letters of each word in turn"
        )
    pixels, ends = np.unpackbits(packed, axis=1), np.cumsum([len(word) for word in strings])
    images, words = np.empty(_WORDS, dtype=object), np.empty(_WORDS, dtype=object)
    for i, letters in enumerate(np.split(pixels.reshape(-1, *LETTER_SHAPE), ends[:-1])):
        images[i], words[i] = letters, str(strings[i])
    return HandwrittenWords(images, words, folds.astype(int))


_WORDS, _LETTERS = 6877, 52152
