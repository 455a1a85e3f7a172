"""n-grams of sequences at the same place, or a few places off, and their features."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import cholesky_banded

from mercer.kernels._sparse import counted
from mercer.kernels.base import whole
from mercer.kernels.features import VocabularyMap
from mercer.kernels.strings._lanes import Strings, aligned
from mercer.kernels.strings._weighted_degree import agreement_diagonal, agreement_gram, shift_weights
from mercer.kernels.strings.base import SequenceKernel, as_sequences, as_symbols, is_text


@dataclass(eq=False, repr=False)
class WeightedDegree(SequenceKernel):
    r"""n-grams up to a degree that agree place by place, or a few places off (Rätsch, Sonnenburg and Schölkopf 2005).

    .. math:: k(s, t) = \sum_{d=1}^{D} \beta_d \sum_{p, q} \tau_{|p - q|}\, [s_{p \ldots p+d-1} = t_{q \ldots q+d-1}],
              \qquad \beta_d = \frac{2 (D - d + 1)}{D (D + 1)}

    with :math:`\tau_0 = 1`, :math:`\tau_s = \frac{1}{2(s + 1)}` up to the shift S, and zero beyond it. With no shift every
    place is compared with itself alone.

    Sequences may differ in length: places that only one of the two has never agree. The image of the empty sequence is the
    origin.

    Parameters
    ----------
    degree : int
        D, the length of the longest n-gram that counts.
    shift : int
        S, the number of places that an n-gram may be off, to either side.

    Examples
    --------
    >>> WeightedDegree(degree=2)(["cat", "cut", "at"]).round(3)
    array([[2.667, 1.333, 0.   ],
           [1.333, 2.667, 0.   ],
           [0.   , 0.   , 1.667]])
    >>> WeightedDegree(degree=2, shift=1)(["cat"], ["at"]).round(3)
    array([[0.417]])
    """

    constraints = {"degree": whole(1), "shift": whole(0)}

    degree: int = 3
    shift: int = 0

    def weight(self, length: int) -> float:
        """β, the weight of an n-gram of some length."""
        return 2.0 * (self.degree - length + 1) / (self.degree * (self.degree + 1))

    def feature_map(self, X: Any) -> PlacedNGrams:
        """One column for each place and n-gram in `X`, in order of first appearance."""
        self.check_parameters()
        X = self.check(X)
        found = PlacedNGrams([], WeightedDegree(self.degree, self.shift), is_text(X))
        found.columns = list(dict.fromkeys(key for sequence in X for key, _ in found.entries(sequence)))
        return found

    def _encode(self, X: np.ndarray, name: str) -> Strings:
        return Strings.of(X)

    def _matrix(self, X: Strings, Z: Strings | None) -> np.ndarray:
        return agreement_gram(*aligned(X, Z), int(self.degree), int(self.shift))

    def _diag(self, X: Strings) -> np.ndarray:
        return agreement_diagonal(X, int(self.degree), int(self.shift))


@dataclass
class PlacedNGrams(VocabularyMap):
    r"""Columns for n-grams at places; those without a column are left out.

    The matrix of the weights τ over places is a band, and so is its Cholesky factor C: an n-gram u at place p has the
    entries :math:`\sqrt{\beta_d}\, C_{pq}` in the columns (q, u) for q from p - shift to p. With no shift that is one column.
    """

    columns: list[tuple[int, Hashable]]
    """The place and the n-gram of each column."""
    kernel: WeightedDegree
    text: bool
    """True if the sequences are strings."""

    def sparse_rows(self, X: Any) -> sparse.csr_array:
        """The entries, one row per sequence."""
        X = as_sequences(X, text=self.text)
        index = {key: j for j, key in enumerate(self.columns)}
        found = [(i, index[key], value) for i, x in enumerate(X) for key, value in self.entries(x) if key in index]
        row, column, values = np.asarray(found).reshape(-1, 3).T
        return counted(row.astype(np.intp), column.astype(np.intp), (len(X), self.dimension), values)

    def entries(self, sequence: Any) -> Iterator[tuple[tuple[int, Hashable], float]]:
        """Every column of one sequence, as its place and n-gram, with a value; a column may come more than once."""
        factor, symbols = _band(len(sequence), int(self.kernel.shift)), as_symbols(sequence)
        for d in range(1, min(self.kernel.degree, len(sequence)) + 1):
            scale = self.kernel.weight(d) ** 0.5
            for p in range(len(symbols) - d + 1):
                for back in range(min(p, self.kernel.shift) + 1):
                    yield (p - back, symbols[p : p + d]), scale * factor[back, p - back]


def _band(places: int, shift: int) -> np.ndarray:
    """The Cholesky factor C of the weights over places, by diagonals: entry [s, q] is C[q + s, q].

    Its first rows are the same however many places there are, so that sequences of any length share their columns.
    """
    weights = shift_weights(min(shift, max(places - 1, 0)))
    return cholesky_banded(np.repeat(weights[:, None], max(places, 1), axis=1), lower=True)
