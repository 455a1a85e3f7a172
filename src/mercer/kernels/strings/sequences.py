"""Kernels on sequences of symbols: strings, or lists and tuples of anything hashable."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

from mercer.kernels._sparse import FeatureKernel, incidence, located
from mercer.kernels.base import UP_TO_ONE
from mercer.kernels.features import SparseFeatureMap
from mercer.kernels.strings._lanes import Strings, aligned
from mercer.kernels.strings._subsequence import subsequence_diagonal, subsequence_gram
from mercer.kernels.strings.base import (
    Coded,
    Length,
    PartsKernel,
    SequenceFeatures,
    SequenceKernel,
    as_sequences,
    length_range,
)
from mercer.kernels.strings.ngrams import positions
from mercer.structures.sequences import Codes


@dataclass(eq=False, repr=False)
class Subsequence(PartsKernel):
    r"""Common subsequences, gaps allowed but discounted (Lodhi et al. 2002; Weston et al., eq. 4).

    .. math:: k(s, t) = \sum_{u \in \Sigma^r} \sum_{i:\, u = s[i]} \sum_{j:\, u = t[j]} \lambda^{l(i) + l(j)}

    where i and j are increasing positions and :math:`l(i) = i_r - i_1 + 1` is the stretch they span, gaps included.

    A sequence shorter than every length that counts has no such subsequence: its image is zero, its similarity with
    everything is zero, and `sees` is False for it.

    Parameters
    ----------
    length : int or (int, int)
        r, the number of symbols of a subsequence; or the shortest and the longest, for the sum over all lengths between
        in one pass.
    decay : float
        λ in (0, 1], the weight of one position spanned. 1 ignores gaps.

    Examples
    --------
    >>> Subsequence(length=2, decay=0.5)(["cat", "car", "bar"])
    array([[0.140625, 0.0625  , 0.      ],
           [0.0625  , 0.140625, 0.0625  ],
           [0.      , 0.0625  , 0.140625]])
    """

    constraints = PartsKernel.constraints | {"decay": UP_TO_ONE}

    length: Length = 3
    decay: float = 0.5

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is out of its range, or a common subsequence too small for a double."""
        super().check_parameters()
        if float(self.decay) ** (2 * length_range(self.length)[-1]) < 1e-200:
            raise ValueError(
                f"decay={self.decay!r} to the power of twice length={self.length!r} is too small for a double; expected a decay "
                "closer to 1"
            )

    def _encode(self, X: np.ndarray, name: str) -> Strings:
        return Strings.of(X)

    def _matrix(self, X: Strings, Z: Strings | None) -> np.ndarray:
        return subsequence_gram(*aligned(X, Z), length_range(self.length), float(self.decay))

    def _diag(self, X: Strings) -> np.ndarray:
        return subsequence_diagonal(X, length_range(self.length), float(self.decay))


@dataclass(eq=False, repr=False)
class Positions(FeatureKernel, SequenceKernel):
    r"""The number of positions that agree, :math:`k(s, t) = \sum_p [s_p = t_p]`.

    A sequence is a row of one-hot blocks, one block per position. Sequences may differ in length: a position that only one of
    the two has never agrees. The image of the empty sequence is the origin.

    Examples
    --------
    >>> Positions()(["cat", "cut", "at"])
    array([[3., 2., 0.],
           [2., 3., 0.],
           [0., 0., 2.]])
    """

    def _encode(self, X: np.ndarray, name: str) -> _OneHot:
        return _OneHot(Coded.of(X))

    def feature_map(self, X: Any) -> PositionIndicators:
        """One block of columns for each position, one column in it for each symbol in `X`."""
        X = self.check(X)
        symbols = dict.fromkeys(symbol for sequence in X for symbol in sequence)
        return PositionIndicators(list(symbols), max(map(len, X)))


class _OneHot(SequenceFeatures):
    """Sequences as rows of one-hot blocks."""

    def __init__(self, coded: Coded) -> None:
        self.coded = coded
        self.alphabet, index = positions(coded.codes.symbols)
        self.positions = int(coded.codes.lengths.max())
        super().__init__(_one_hot(coded.codes, index, len(self.alphabet), self.positions))

    def rows_in(self, other: Self) -> sparse.csr_array:
        """The symbols and positions of another collection."""
        codes = self.coded.numbered_as(other.coded).codes
        index, known = located(codes.symbols, other.alphabet)
        return _one_hot(codes, np.where(known, index, -1), len(other.alphabet), other.positions)


@dataclass
class PositionIndicators(SparseFeatureMap):
    """One-hot blocks: column ``position * len(symbols) + index`` is 1 where the sequence has that symbol there.

    Symbols and positions that training did not have are left out.
    """

    symbols: list[Hashable]
    positions: int

    @property
    def dimension(self) -> int:  # type: ignore[override]
        """Positions times symbols."""
        return self.positions * len(self.symbols)

    def sparse_rows(self, X: Any) -> sparse.csr_array:
        """The one-hot rows."""
        index = {symbol: j for j, symbol in enumerate(self.symbols)}
        X = as_sequences(X)
        codes = np.asarray([index.get(symbol, -1) for sequence in X for symbol in sequence], dtype=np.intp)
        starts = np.concatenate([[0], np.cumsum([len(sequence) for sequence in X])])
        return _one_hot(Codes(codes, starts), codes, len(self.symbols), self.positions)


def _one_hot(codes: Codes, index: np.ndarray, symbols: int, positions: int) -> sparse.csr_array:
    """Sequences as rows of one-hot blocks; an index below zero and a position too far have no column."""
    position = np.arange(len(index)) - np.repeat(codes.starts[:-1], codes.lengths)
    row = np.repeat(np.arange(len(codes.lengths)), codes.lengths)
    kept = (index >= 0) & (position < positions)
    counts = np.bincount(row[kept], minlength=len(codes.lengths))
    return incidence(position[kept] * symbols + index[kept], counts, positions * symbols)
