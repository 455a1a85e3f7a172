"""Collections of sequences: what counts as one, and their symbols as integers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer.core.collections import Collection, as_objects
from mercer.structures.sequences import Codes, encode


def as_sequences(collection: Any, name: str = "X") -> np.ndarray:
    """`collection` as an object array of strings, or of sequences of hashable symbols, but not of both."""
    sequences = as_objects(collection, name)
    for i, sequence in enumerate(sequences):
        if not is_sequence(sequence):
            raise TypeError(
                f"{name}[{i}] is {sequence!r:.60}, a {type(sequence).__name__}; expected a "
                "sequence: a string, or a list or tuple of symbols"
            )
        if isinstance(sequence, str) != isinstance(sequences[0], str):
            raise TypeError(
                f"{name} mixes strings and other sequences: {name}[0] is {sequences[0]!r:.40} and "
                f"{name}[{i}] is {sequence!r:.40}; expected one kind. Write list(text) for a string "
                "as a list of characters"
            )
        if not isinstance(sequence, str):
            _require_hashable(sequence, f"{name}[{i}]")
    return sequences


def is_sequence(thing: Any) -> bool:
    """Whether `thing` is a string, a list, a tuple, another sequence, or a 1-D array."""
    return isinstance(thing, Sequence) or (isinstance(thing, np.ndarray) and thing.ndim == 1)


def symbol_codes(X: Collection, Z: Collection | None) -> list[Codes]:
    """The sequences of `X`, and of `Z` if there is one, as integers: the same for the same symbol."""
    collections = [X] if Z is None else [X, Z]
    texts = [isinstance(collection[0], str) for collection in collections]
    if all(texts):
        return [_code_points(collection) for collection in collections]
    if any(texts):
        raise TypeError(
            f"X and Z mix strings and other sequences: X[0] is {X[0]!r:.40} and Z[0] is "
            f"{collections[1][0]!r:.40}; expected one kind. Write list(text) for a string as a list "
            "of characters"
        )
    return encode(*collections)


def _code_points(texts: Collection) -> Codes:
    """Strings as Unicode code points, all at once."""
    # surrogatepass: a lone surrogate is a symbol like any other
    joined = "".join(texts).encode("utf-32-le", "surrogatepass")
    starts = np.concatenate([[0], np.cumsum([len(text) for text in texts])])
    return Codes(np.frombuffer(joined, dtype=np.int32), starts)


def _require_hashable(sequence: Any, name: str) -> None:
    try:
        set(sequence)
    except TypeError as error:
        raise TypeError(
            f"{name} is {sequence!r:.60}, with symbols that have no hash; expected symbols such as "
            "characters, numbers or tuples"
        ) from error
