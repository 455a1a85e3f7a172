"""Losses of sequences: positions that differ, and edits."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from mercer.core.arrays import Array, namespace, to_numpy
from mercer.core.collections import Collection, is_numeric, members
from mercer.core.compiled import compiled
from mercer.core.validation import check_real
from mercer.losses.base import Loss, broadcast, require_same_width, side_by_side
from mercer.structures.sequences import encode, is_sequence, require_sequence


@dataclass(eq=False, repr=False)
class Hamming(Loss):
    r"""Positions that differ: for vectors and sequences their share, for sets their number.

    Vectors and sequences: :math:`\frac{1}{\max(|y|, |\hat y|)} \sum_p [y_p \ne \hat y_p]`, where a position only one of the two
    has counts as different. Sets: :math:`|y \triangle \hat y|`, since a set does not say how many labels there are.

    Examples
    --------
    >>> Hamming()("abcd", "abxd"), Hamming()({1, 2}, {2, 3, 4})
    (0.25, 3.0)
    """

    outputs = "sequences of hashable symbols, vectors, or sets"

    def compute(self, Y_true: Collection, Y_pred: Collection, paired: bool) -> Array:
        """Shares of positions, or sizes of symmetric differences."""
        A, B = side_by_side(Y_true, Y_pred, paired=paired)
        if _are_sets(A) and _are_sets(B):
            if paired:
                return np.asarray([float(len(a ^ b)) for a, b in zip(A, B, strict=True)])
            return np.asarray([[float(len(a ^ b)) for b in B] for a in A])
        rows, others, lengths, other_lengths = _aligned(A, B)
        xp = namespace(rows)
        if paired:
            differing = xp.sum(xp.astype(rows != others, xp.float64), axis=1)
        else:
            differing = xp.zeros((rows.shape[0], others.shape[0]), dtype=xp.float64)
            for p in range(rows.shape[1]):
                differing += xp.astype(rows[:, p][:, None] != others[:, p][None, :], xp.float64)
        return differing / xp.maximum(*broadcast(lengths, other_lengths, paired))


@dataclass(eq=False, repr=False)
class EditDistance(Loss):
    r"""Levenshtein distance: the fewest symbols to insert, delete or replace to turn y into ŷ.

    .. math:: \Delta(ya, zb) = \min(\Delta(y, z) + [a \ne b],\; \Delta(y, zb) + 1,\; \Delta(ya, z) + 1)

    Examples
    --------
    >>> EditDistance()("kitten", "sitting")
    3.0
    """

    outputs = "strings, or sequences of hashable symbols"

    def compute(self, Y_true: Collection, Y_pred: Collection, paired: bool) -> Array:
        """Distances."""
        import numba
        from rapidfuzz.distance import Levenshtein
        from rapidfuzz.process import cdist, cpdist

        A, B = side_by_side(Y_true, Y_pred, paired=paired)
        left, right = _as_strings(_sequences(A, "y_true"), _sequences(B, "y_pred"))
        distances = cpdist if paired else cdist
        workers = numba.get_num_threads()
        return distances(left, right, scorer=Levenshtein.distance, dtype=np.float64, workers=workers)


@dataclass(eq=False, repr=False)
class WeightedEditDistance(Loss):
    r"""The least price of the edits that turn y into ŷ.

    .. math:: \Delta(ya, zb) = \min(\Delta(y, z) + r(a, b),\; \Delta(y, zb) + d,\; \Delta(ya, z) + i)

    i is the price of a symbol that only ŷ has, d that of a symbol that only y has, and r(a, b) that of predicting b for a,
    which is 0 for a = b. Not symmetric unless the prices are.

    Parameters
    ----------
    insertion, deletion, replacement : float
        i, d and r(a, b), zero or more.
    pairs : sequence of (a, b, price), optional
        Prices of single replacements, a true and b predicted, instead of `replacement`.

    Examples
    --------
    >>> loss = WeightedEditDistance(insertion=2.0, pairs=[("t", "d", 0.1)])
    >>> loss("cat", "cad"), loss("cad", "cat"), loss("cat", "cats")
    (0.1, 1.0, 2.0)
    """

    outputs = "strings, or sequences of hashable symbols"
    insertion: float = 1.0
    deletion: float = 1.0
    replacement: float = 1.0
    pairs: Sequence[tuple[Hashable, Hashable, float]] = ()

    def compute(self, Y_true: Collection, Y_pred: Collection, paired: bool) -> Array:
        """Prices."""
        A, B = side_by_side(Y_true, Y_pred, paired=paired)
        self._check_parameters()
        sequences = (_sequences(A, "y_true"), _sequences(B, "y_pred"))
        left, right, priced = encode(*sequences, [(a, b) for a, b, _ in self.pairs])
        # only symbols with a price of their own are told apart in the table; all others have the last row and column
        own = np.unique(priced.symbols)
        symbols = 1 + max(codes.symbols.max(initial=-1) for codes in (left, right, priced))
        kind = np.full(symbols, len(own), dtype=np.int64)
        kind[own] = np.arange(len(own))
        table = np.full((len(own) + 1, len(own) + 1), float(self.replacement))
        for (a, b), (_, _, price) in zip(priced.symbols.reshape(-1, 2), self.pairs, strict=True):
            table[kind[a], kind[b]] = float(price)
        prices = _weighted_edits(*left, *right, kind, table, float(self.insertion), float(self.deletion), paired)
        return prices[:, 0] if paired else prices

    def _check_parameters(self) -> None:
        if not is_sequence(self.pairs) or not all(is_sequence(pair) and len(pair) == 3 for pair in self.pairs):
            given = f"pairs={self.pairs!r:.80} in WeightedEditDistance"
            raise ValueError(f"{given}; expected a list of (true, predicted, price)")
        prices = {name: getattr(self, name) for name in ("insertion", "deletion", "replacement")}
        prices |= {f"price of {a!r} → {b!r}": price for a, b, price in self.pairs}
        for name, price in prices.items():
            check_real(price, name, closed="left", expected="a finite number, zero or more, in WeightedEditDistance")


def _aligned(A: Collection, B: Collection) -> tuple[Array, Array, Array, Array]:
    """Rows to compare position by position, and the length of each row (1 at least: a divisor)."""
    if is_numeric(A) and is_numeric(B):
        xp = namespace(A, B)
        A, B = xp.reshape(A, (A.shape[0], -1)), xp.reshape(B, (B.shape[0], -1))
        require_same_width(A, B, "entries per vector")
        lengths = (xp.full((rows.shape[0],), float(A.shape[1])) for rows in (A, B))
        return A, B, *lengths
    left, right = encode(_sequences(A, "y_true"), _sequences(B, "y_pred"))
    width = max(left.lengths.max(), right.lengths.max())
    lengths = (np.maximum(codes.lengths, 1).astype(float) for codes in (left, right))
    return left.padded(width), right.padded(width), *lengths


def _sequences(objects: Collection, name: str) -> list[Any]:
    sequences = [to_numpy(part).tolist() if is_numeric(part) else part for part in members(objects)]
    for i, sequence in enumerate(sequences):
        require_sequence(sequence, f"{name}[{i}]")
    return sequences


def _as_strings(*collections: list[Any]) -> list[list[str]]:
    """Sequences as strings with a character for each symbol; strings themselves are left as they are."""
    if all(type(sequence) is str for sequences in collections for sequence in sequences):
        return list(collections)
    found = []
    for codes in encode(*collections):
        text = "".join(map(chr, codes.symbols.tolist()))
        found.append([text[start:stop] for start, stop in pairwise(codes.starts.tolist())])
    return found


def _are_sets(objects: Collection) -> bool:
    return not is_numeric(objects) and all(isinstance(part, set | frozenset) for part in objects)


@compiled
def _weighted_edits(  # type: ignore[no-untyped-def]  # noqa: PLR0913
    a, a_starts, b, b_starts, kind, table, insertion, deletion, paired
):
    n = len(a_starts) - 1
    prices = np.empty((n, 1 if paired else len(b_starts) - 1))
    row = np.empty(len(b) + 1)
    for i in range(n):
        left = a[a_starts[i] : a_starts[i + 1]]
        for column in range(prices.shape[1]):
            j = i if paired else column
            right = b[b_starts[j] : b_starts[j + 1]]
            for q in range(len(right) + 1):
                row[q] = q * insertion
            for p in range(len(left)):
                diagonal = row[0]
                row[0] = (p + 1) * deletion
                for q in range(len(right)):
                    same = left[p] == right[q]
                    replaced = diagonal + (0.0 if same else table[kind[left[p]], kind[right[q]]])
                    diagonal = row[q + 1]
                    row[q + 1] = min(replaced, min(diagonal + deletion, row[q] + insertion))
            prices[i, column] = row[len(right)]
    return prices
