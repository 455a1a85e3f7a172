"""Collections of sequences: checks, symbols as integers, and the lengths of the parts that a kernel counts."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Self

import numpy as np

from mercer.core.collections import Collection, as_objects, hash_key
from mercer.core.validation import is_whole
from mercer.kernels._sparse import Features, translation
from mercer.kernels.base import Constraint, Kernel
from mercer.structures.sequences import Codes, require_sequence

Length = int | tuple[int, int]
"""One length, or ``(shortest, longest)``."""


class SequenceKernel(Kernel):
    """A kernel whose objects are strings, or lists, tuples or arrays of hashable symbols."""

    is_psd = True

    @property
    def form(self) -> str | None:
        """Sequences, unless a subclass checks more than that."""
        return "sequences" if type(self)._check is SequenceKernel._check else None

    def _check(self, X: Any, name: str) -> np.ndarray:
        return as_sequences(X, name)


class PartsKernel(SequenceKernel):
    """A kernel that counts parts of sequences of one length, or of all lengths from a shortest to a longest."""

    constraints = {
        "length": Constraint(
            lambda length: _is_length(*(length if isinstance(length, tuple | list) else (length, length))),
            "a whole number, 1 or more, or (shortest, longest) for the sum over all lengths between",
        )
    }

    length: Length

    def sees(self, X: Any) -> np.ndarray:
        """False for sequences that are shorter than every length that counts."""
        self.check_parameters()
        return np.asarray([len(sequence) >= length_range(self.length)[0] for sequence in self.check(X)])


def _is_length(*pair: Any) -> bool:
    return len(pair) == 2 and all(map(is_whole, pair)) and 1 <= pair[0] <= pair[1]


def as_sequences(collection: Any, name: str = "X", *, text: bool | None = None) -> np.ndarray:
    """`collection` as an object array of strings, or of sequences of hashable symbols, but not of both.

    `text` says which of the two training had, if it matters.
    """
    sequences = as_objects(collection, name)
    if text not in (None, is_text(sequences)):
        expected = "strings" if text else "lists or tuples of symbols"
        raise TypeError(f"{name}[0] is {sequences[0]!r:.40}; expected {expected}, as in training")
    text = is_text(sequences)
    for i, sequence in enumerate(sequences):
        if isinstance(sequence, str) and text:
            continue
        require_sequence(sequence, f"{name}[{i}]", "a sequence: a string, or a list or tuple of symbols")
        if is_text(sequences[i : i + 1]) != text:
            raise TypeError(
                f"{name} mixes strings and other sequences: {name}[0] is {sequences[0]!r:.40} and {name}[{i}] is "
                f"{sequence!r:.40}; expected one kind. Write list(text) for a string as a list of characters"
            )
        _require_hashable(sequence, f"{name}[{i}]")
    return sequences


def is_text(sequences: Collection) -> bool:
    """True if the first of some sequences is a string, as then all of them are."""
    return isinstance(sequences[0], str)


def as_symbols(sequence: Any) -> Any:
    """A string as it is, another sequence as a tuple, so that parts of it have a hash."""
    return sequence if isinstance(sequence, str) else tuple(sequence)


def _require_hashable(sequence: Any, name: str) -> None:
    try:
        set(sequence)
    except TypeError as error:
        raise TypeError(
            f"{name} is {sequence!r:.60}, with symbols that have no hash; expected symbols such as characters, numbers or tuples"
        ) from error


class Coded:
    """Sequences as integers: the code points of strings, or numbers of symbols in order of first appearance."""

    def __init__(self, codes: Codes, numbers: dict[Hashable, int] | None, first: Any) -> None:
        self.codes = codes
        self.numbers = numbers
        """The number of each symbol, or None for code points."""
        self.first = first

    @classmethod
    def of(cls, sequences: Collection) -> Self:
        """Number the symbols of checked sequences."""
        starts = np.concatenate([[0], np.cumsum([len(sequence) for sequence in sequences])])
        if is_text(sequences):
            # surrogatepass: a lone surrogate is a symbol like any other
            joined = "".join(sequences).encode("utf-32-le", "surrogatepass")
            return cls(Codes(np.frombuffer(joined, dtype=np.int32), starts), None, sequences[0])
        numbers: dict[Hashable, int] = {}
        symbols = [numbers.setdefault(hash_key(part), len(numbers)) for sequence in sequences for part in sequence]
        return cls(Codes(np.asarray(symbols, dtype=np.int64), starts), numbers, sequences[0])

    def numbered_as(self, other: Coded) -> Self:
        """The same sequences with the numbers of another collection; symbols that it lacks get numbers of their own."""
        if self.numbers is None or other.numbers is None:
            return self
        table = translation(self.numbers, other.numbers)
        unknown = np.flatnonzero(table < 0)
        table[unknown] = len(other.numbers) + unknown
        return type(self)(Codes(table[self.codes.symbols], self.codes.starts), other.numbers, self.first)


class SequenceFeatures(Features):
    """Sequences as sparse rows over the features that occur in their collection."""

    coded: Coded

    def products(self, other: Self | None) -> np.ndarray:
        """The inner product of each sequence with each of another collection, or of its own."""
        require_one_kind(self.coded, None if other is None else other.coded)
        return super().products(other)


def require_one_kind(X: Coded, Z: Coded | None) -> None:
    """Raise TypeError if one collection holds strings and the other one does not."""
    if Z is not None and (X.numbers is None) != (Z.numbers is None):
        raise TypeError(
            f"X and Z mix strings and other sequences: X[0] is {X.first!r:.40} and Z[0] is {Z.first!r:.40}; expected one kind. "
            "Write list(text) for a string as a list of characters"
        )


def length_range(length: Length) -> range:
    """The lengths that count."""
    shortest, longest = length if isinstance(length, tuple | list) else (length, length)
    return range(int(shortest), int(longest) + 1)


def occurring(lengths: range, longest: int) -> range:
    """The lengths up to that of the longest sequence; the first one if all are longer."""
    return range(lengths.start, min(lengths.stop, max(lengths.start, longest) + 1))
