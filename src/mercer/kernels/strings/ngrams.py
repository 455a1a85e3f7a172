"""The kernel of common n-grams, and its features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from mercer.core.collections import Collection
from mercer.kernels._products import products, squared_lengths
from mercer.kernels.base import Kernel
from mercer.kernels.features import SparseFeatureMap
from mercer.kernels.strings._lengths import Length, length_range, occurring, require_length
from mercer.kernels.strings._ngrams import counted, occurrences
from mercer.kernels.strings._symbols import as_sequences, symbol_codes


@dataclass(eq=False, repr=False)
class Spectrum(Kernel):
    r"""Common n-grams, each as often as it occurs (Leslie et al. 2002).

    .. math:: k(s, t) = \sum_{u \in \Sigma^n} |s|_u\, |t|_u

    where :math:`|s|_u` is how often s contains u as consecutive symbols. A symbol is a character of a string, or any
    hashable member of a list or tuple.

    A sequence shorter than every length that counts has no n-gram: its image is zero, its similarity with everything is
    zero, and `sees` is False for it. n-grams never seen in training are n-grams like any other.

    Parameters
    ----------
    length : int or (int, int)
        n; or the shortest and the longest n, for the sum over all lengths between in one pass.

    Examples
    --------
    >>> Spectrum(length=2)(["banana", "ananas", "nab"])
    array([[9., 8., 2.],
           [8., 9., 2.],
           [2., 2., 2.]])
    >>> Spectrum(length=(1, 2))(["ab", "abc", "a"])
    array([[3., 3., 1.],
           [3., 5., 1.],
           [1., 1., 1.]])
    >>> Spectrum(length=2)([["to", "be", "or"], ["not", "to", "be"]])
    array([[2., 1.],
           [1., 2.]])
    """

    is_psd = True

    length: Length = 3

    def check_parameters(self) -> None:
        """A whole length, or two in order."""
        require_length(self.length, self)

    def check(self, X: Collection, name: str = "X") -> np.ndarray:
        """`X` as an array of sequences."""
        return as_sequences(X, name)

    def pointwise(self, x: Any, z: Any) -> float:
        """The products of the counts, one n-gram at a time."""
        left, right = (Counter(ngrams(sequence, self.length)) for sequence in (x, z))
        return float(sum(times * right[gram] for gram, times in left.items()))

    def sees(self, X: Collection) -> np.ndarray:
        """False for sequences that are shorter than every length that counts."""
        self.check_parameters()
        return np.asarray([len(sequence) >= length_range(self.length)[0] for sequence in self.check(X)])

    def feature_map(self, X: Collection) -> NGramCounts:
        """One column for each n-gram in `X`, in order of first appearance."""
        self.check_parameters()
        X = self.check(X)
        vocabulary = dict.fromkeys(gram for sequence in X for gram in ngrams(sequence, self.length))
        return NGramCounts(list(vocabulary), self.length, isinstance(X[0], str))

    def _matrix(self, X: np.ndarray, Z: np.ndarray | None) -> np.ndarray:
        return products(*self._counts(X, Z))

    def _diag(self, X: np.ndarray) -> np.ndarray:
        return squared_lengths(self._counts(X, None)[0])

    def _counts(self, X: np.ndarray, Z: np.ndarray | None) -> list[sparse.csr_array]:
        """How often each n-gram occurs in each sequence of both collections."""
        codes = symbol_codes(X, Z)
        longest = max(int(part.lengths.max(initial=0)) for part in codes)
        lengths = [occurrences(codes, length) for length in occurring(length_range(self.length), longest)]
        offsets = np.cumsum([0] + [size for _, size in lengths])
        counts = []
        for i, part in enumerate(codes):
            row = np.concatenate([found[i].row for found, _ in lengths])
            column = np.concatenate(
                [found[i].gram + start for (found, _), start in zip(lengths, offsets, strict=False)]
            )
            counts.append(counted(row, column, (len(part.lengths), int(offsets[-1]))))
        return counts


@dataclass
class NGramCounts(SparseFeatureMap):
    """How often each n-gram of a vocabulary occurs; n-grams without a column are left out.

    An n-gram of strings is a string, an n-gram of other sequences a tuple of symbols.
    """

    grams: list[Hashable]
    """The n-gram of each column."""
    length: Length
    text: bool
    """Whether the sequences are strings."""

    @property
    def dimension(self) -> int:  # type: ignore[override]
        """One column per n-gram."""
        return len(self.grams)

    def sparse_rows(self, X: Collection) -> sparse.csr_array:
        """The counts, one row per sequence."""
        X = as_sequences(X)
        if isinstance(X[0], str) != self.text:
            kinds = ("strings", "lists or tuples of symbols")
            raise TypeError(f"X[0] is {X[0]!r:.40}; expected {kinds[not self.text]}, as in training")
        columns = {gram: j for j, gram in enumerate(self.grams)}
        found = [[columns.get(gram, -1) for gram in ngrams(sequence, self.length)] for sequence in X]
        column = np.asarray([j for row in found for j in row], dtype=np.intp)
        row = np.repeat(np.arange(len(found)), [len(each) for each in found])
        known = column >= 0
        return counted(row[known], column[known], (len(found), self.dimension))


def ngrams(sequence: Any, length: Length) -> Iterator[Hashable]:
    """The n-grams of one sequence from left to right, shorter ones first: strings of a string, else tuples.

    Examples
    --------
    >>> list(ngrams("abc", 2)), list(ngrams(["a", "b"], (1, 2)))
    (['ab', 'bc'], [('a',), ('b',), ('a', 'b')])
    """
    symbols = sequence if isinstance(sequence, str) else tuple(sequence)
    for n in occurring(length_range(length), len(symbols)):
        for start in range(len(symbols) - n + 1):
            yield symbols[start : start + n]
