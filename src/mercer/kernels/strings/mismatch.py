"""n-grams of sequences that agree except for a few symbols, and their features."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

from mercer.core import memory
from mercer.core.validation import is_whole
from mercer.kernels._sparse import NumberedFeatures, NumberedKernel
from mercer.kernels.base import whole
from mercer.kernels.strings.base import SequenceKernel, is_text
from mercer.kernels.strings.ngrams import Numbering
from mercer.structures.sequences import Codes

_LARGEST = 2**62
"""Maximum number of n-grams that can be numbered."""


@dataclass(eq=False, repr=False)
class Mismatch(NumberedKernel, SequenceKernel):
    r"""Common n-grams up to m substitutions (Leslie et al. 2004).

    .. math:: k(s, t) = \sum_{u \in \Sigma^n} \phi_u(s)\, \phi_u(t)

    where :math:`\phi_u(s)` is the number of n-grams of s that differ from u in at most m places. ``Mismatch(n, 0)`` is
    ``Spectrum(n)`` on strings over Σ.

    Symbols outside the alphabet Σ match nothing: an n-gram that has some spends a mismatch on each, and one that has more
    than m adds nothing. A sequence without an n-gram that adds anything has the zero image, and `sees` is False for it.

    Parameters
    ----------
    length : int
        n.
    mismatches : int
        m, below n.
    alphabet : str or sequence of symbols, optional
        Σ. By default the symbols of the training objects.

    Examples
    --------
    >>> Mismatch(length=3, mismatches=1, alphabet="ACGT")(["ACGT", "ACGA", "TTTT"])
    array([[20., 14.,  4.],
           [14., 20.,  0.],
           [ 4.,  0., 40.]])
    """

    constraints = {"length": whole(1)}

    length: int = 3
    mismatches: int = 1
    alphabet: str | Sequence[Hashable] | None = None

    def check_parameters(self) -> None:
        """Raise ValueError unless there are fewer mismatches than symbols, and the n-grams over the alphabet can be numbered."""
        super().check_parameters()
        fewer = is_whole(self.mismatches) and 0 <= self.mismatches < self.length
        self._require(fewer, "mismatches", f"a whole number from 0, below length={self.length!r}")
        if self.alphabet is None:
            return
        distinct = isinstance(self.alphabet, str | tuple | list) and len(set(self.alphabet)) == len(self.alphabet)
        self._require(distinct, "alphabet", "a string, or a tuple of symbols, none of them twice")
        if len(self.alphabet) == 0:
            raise ValueError(
                f"alphabet={self.alphabet!r} in Mismatch is empty, so that no n-gram matches; expected a symbol at least, or "
                "None for those of the training objects"
            )
        if len(self.alphabet) ** int(self.length) >= _LARGEST:
            raise ValueError(
                f"length={self.length!r} over an alphabet of {len(self.alphabet)} symbols in Mismatch; expected at most 2**62 "
                "possible n-grams. Use a shorter length, or Spectrum, which has no such limit"
            )

    @property
    def is_resolved(self) -> bool:
        """True if the alphabet is known."""
        return self.alphabet is not None

    def sees(self, X: Any) -> np.ndarray:
        """False for sequences whose image is zero."""
        return self.diag(X) > 0

    def occurrences(self, X: np.ndarray, name: str = "X") -> tuple[np.ndarray, np.ndarray]:
        """Every word near an n-gram of a sequence, once for each such n-gram: the sequence, and the number of the word."""
        index = {symbol: j for j, symbol in enumerate(self.alphabet or ())}
        length, most, size = int(self.length), int(self.mismatches), len(index)
        starts = np.concatenate([[0], np.cumsum([len(sequence) for sequence in X])])
        symbols = np.asarray([index.get(symbol, size) for sequence in X for symbol in sequence], dtype=np.int64)
        found = Numbering(Codes(symbols, starts), length)
        purpose = f"words near the n-grams of {len(X)} sequences under {self!r:.80}"
        near = sum(comb(length, changed) * max(size - 1, 0) ** changed for changed in range(most + 1))
        memory.require(len(found.numbers), near, 4, purpose, "allow fewer mismatches")
        grams, first, which = np.unique(found.numbers, return_index=True, return_inverse=True)
        owner, word = _spread(symbols[found.begin[first][:, None] + np.arange(length)], most, size)
        return _joined(found.row, which, owner, word, len(grams))

    def _resolved(self, X: np.ndarray) -> Mismatch:
        if self.alphabet is not None:
            return self
        symbols = dict.fromkeys(symbol for sequence in X for symbol in sequence)
        if not symbols:
            raise ValueError(
                f"the {len(X)} training objects of {self!r} have no symbols, and so no alphabet; expected longer sequences, "
                "or pass alphabet=..."
            )
        alphabet = "".join(sorted(symbols)) if is_text(X) else tuple(symbols)
        return Mismatch(self.length, self.mismatches, alphabet)

    def _encode(self, X: np.ndarray, name: str) -> NumberedFeatures:
        return NumberedFeatures(*self.occurrences(X), len(X), len(self.alphabet or ()) ** int(self.length))


def _spread(grams: np.ndarray, most: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The words that differ from each n-gram in at most `most` places: the row of the n-gram, and the word as a number."""
    owner, word = np.arange(len(grams)), np.zeros(len(grams), dtype=np.int64)
    spent = np.zeros(len(grams), dtype=np.int64)
    for symbol in grams.T:
        own = symbol[owner]
        same, may = own < size, spent < most
        others = np.tile(np.arange(size), int(may.sum()))
        differ = others != np.repeat(own[may], size)
        changed = (np.repeat(part[may], size)[differ] for part in (owner, word * size, spent + 1))
        new_owner, new_word, new_spent = changed
        owner, word, spent = (
            np.concatenate([owner[same], new_owner]),
            np.concatenate([word[same] * size + own[same], new_word + others[differ]]),
            np.concatenate([spent[same], new_spent]),
        )
    order = np.argsort(owner, kind="stable")
    return owner[order], word[order]


def _joined(
    row: np.ndarray, which: np.ndarray, owner: np.ndarray, word: np.ndarray, grams: int
) -> tuple[np.ndarray, np.ndarray]:
    """The words of the n-gram at every place, from those of each distinct n-gram."""
    counts = np.bincount(owner, minlength=grams)
    begin = np.concatenate([[0], np.cumsum(counts)])[which]
    sizes = counts[which]
    ends = np.cumsum(sizes)
    inside = np.arange(int(sizes.sum())) - np.repeat(ends - sizes, sizes)
    return np.repeat(row, sizes), word[np.repeat(begin, sizes) + inside]
