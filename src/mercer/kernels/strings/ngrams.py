"""n-grams of sequences, every run of n symbols: as integers, the kernel of common ones, and their counts as features."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

from mercer.kernels._sparse import FeatureKernel, counted, located
from mercer.kernels.features import VocabularyMap
from mercer.kernels.strings import base
from mercer.kernels.strings.base import Coded, Length, length_range, occurring
from mercer.structures.sequences import Codes

_LARGEST = 2**62
"""Upper bound of the numbers of n-grams."""


@dataclass(eq=False, repr=False)
class Spectrum(FeatureKernel, base.PartsKernel):
    r"""Common n-grams, each as often as it occurs (Leslie et al. 2002).

    .. math:: k(s, t) = \sum_{u \in \Sigma^n} |s|_u\, |t|_u

    where :math:`|s|_u` is the number of times s contains u as consecutive symbols. A symbol is a character of a string, or any
    hashable member of a list or tuple.

    A sequence shorter than every length that counts has no n-gram: its image is zero, its similarity with everything is
    zero, and `sees` is False for it. n-grams that training did not have count for the norm of a sequence.

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

    length: Length = 3

    def feature_map(self, X: Any) -> NGramCounts:
        """One column for each n-gram in `X`, in order of first appearance."""
        self.check_parameters()
        X = self.check(X)
        vocabulary = dict.fromkeys(gram for sequence in X for gram in ngrams(sequence, self.length))
        return NGramCounts(list(vocabulary), self.length, base.is_text(X))

    def _encode(self, X: np.ndarray, name: str) -> _NGrams:
        return _NGrams(Coded.of(X), length_range(self.length))


class _NGrams(base.SequenceFeatures):
    """Sequences as counts of their n-grams."""

    def __init__(self, coded: Coded, lengths: range) -> None:
        self.coded = coded
        codes = coded.codes
        self.numberings = [Numbering(codes, length) for length in occurring(lengths, int(codes.lengths.max()))]
        super().__init__(self._counts([(each.row, each.numbers) for each in self.numberings], len(codes.lengths)))

    def rows_in(self, other: Self) -> sparse.csr_array:
        """The n-grams that occur in another collection."""
        codes = self.coded.numbered_as(other.coded).codes
        return other._counts([each.of(codes) for each in other.numberings], len(codes.lengths))

    def _counts(self, found: list[tuple[np.ndarray, np.ndarray]], size: int) -> sparse.csr_array:
        """The counts of n-grams given by their rows and numbers, for each length."""
        first = np.cumsum([0] + [each.width for each in self.numberings])
        row = np.concatenate([rows for rows, _ in found])
        column = np.concatenate([numbers + start for (_, numbers), start in zip(found, first, strict=False)])
        return counted(row, column, (size, int(first[-1])))


@dataclass
class NGramCounts(VocabularyMap):
    """Counts of the n-grams of a vocabulary; n-grams without a column are left out.

    An n-gram of strings is a string, an n-gram of other sequences a tuple of symbols.
    """

    grams: list[Hashable]
    """The n-gram of each column."""
    length: Length
    text: bool
    """True if the sequences are strings."""

    def sparse_rows(self, X: Any) -> sparse.csr_array:
        """The counts, one row per sequence."""
        X = base.as_sequences(X, text=self.text)
        columns = {gram: j for j, gram in enumerate(self.grams)}
        found = [[columns.get(gram, -1) for gram in ngrams(sequence, self.length)] for sequence in X]
        column = np.asarray([j for row in found for j in row], dtype=np.intp)
        row = np.repeat(np.arange(len(found)), [len(each) for each in found])
        known = column >= 0
        return counted(row[known], column[known], (len(found), self.dimension))


def ngrams(sequence: Any, length: Length) -> Iterator[Hashable]:
    """The n-grams of one sequence from left to right, shorter ones first: strings of a string, else tuples."""
    symbols = base.as_symbols(sequence)
    for n in occurring(length_range(length), len(symbols)):
        for start in range(len(symbols) - n + 1):
            yield symbols[start : start + n]


class Numbering:
    """Numbers for the n-grams of one length in a collection, and in others where they are the same n-grams.

    An n-gram is a number whose digits are its symbols. Numbers that get too large on the way, or would leave most columns of a
    matrix empty at the end, are replaced by their positions among those that occur.
    """

    def __init__(self, codes: Codes, length: int) -> None:
        self.length = length
        self.row, self.begin = places(codes, length)
        self.alphabet, index = positions(codes.symbols)
        self._renumbered: list[np.ndarray | None] = []
        base = len(self.alphabet)
        numbers, size = index[self.begin], base
        for j in range(1, length if len(self.begin) else 1):
            numbers, size = self._renumber(numbers, size, size >= _LARGEST // base)
            numbers, size = numbers * base + index[self.begin + j], size * base
        self.numbers, self.width = self._renumber(numbers, size, size > 2 * len(numbers) + 1024)

    def of(self, codes: Codes) -> tuple[np.ndarray, np.ndarray]:
        """The row and the number of each n-gram of another collection that occurs in this one."""
        row, begin = places(codes, self.length)
        index, known_symbols = located(codes.symbols, self.alphabet)
        numbers, known = index[begin], known_symbols[begin] & (len(self.begin) > 0)
        for j, values in enumerate(self._renumbered, start=1):
            if values is not None:
                numbers, found = located(numbers, values)
                known &= found
            if j < len(self._renumbered):
                numbers = numbers * len(self.alphabet) + index[begin + j]
                known &= known_symbols[begin + j]
        return row[known], numbers[known]

    def _renumber(self, numbers: np.ndarray, size: int, needed: bool) -> tuple[np.ndarray, int]:
        if not needed:
            self._renumbered.append(None)
            return numbers, size
        distinct, numbers = positions(numbers)
        self._renumbered.append(distinct)
        return numbers, len(distinct)


def places(codes: Codes, length: int) -> tuple[np.ndarray, np.ndarray]:
    """The sequence and the first symbol of each n-gram."""
    row = np.repeat(np.arange(len(codes.lengths)), codes.lengths)
    begin = np.flatnonzero(np.arange(length, length + len(row)) <= codes.starts[row + 1])
    return row[begin], begin


def positions(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct numbers, ascending, and the position of each number among them."""
    distinct = np.unique(numbers)
    return distinct, np.searchsorted(distinct, numbers)
