"""How the user writes sequences: strings, or lists and tuples of symbols."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.core.collections import as_objects

Tokens = tuple[Hashable, ...]


@dataclass
class SequenceForm:
    """Strings, where every sequence is one; else lists or tuples, whichever the first is."""

    kind: str

    @classmethod
    def of(cls, sequences: Iterable[Any], name: str) -> SequenceForm:
        """The form of a collection.

        Examples
        --------
        >>> SequenceForm.of([["a", "b"], ["c"]], "y").outward([("a",)])
        array([list(['a'])], dtype=object)
        """
        sequences = list(sequences)
        if all(isinstance(sequence, str) for sequence in sequences):
            return cls("str")
        return cls("list" if isinstance(sequences[0], list) else "tuple")

    def inward(self, sequences: Iterable[Any], name: str) -> list[Tokens]:
        """Each sequence as a tuple of symbols."""
        found = []
        for i, sequence in enumerate(sequences):
            if not isinstance(sequence, str | list | tuple | np.ndarray) or getattr(sequence, "ndim", 1) != 1:
                raise TypeError(
                    f"{name}[{i}] is {sequence!r:.40}, a {type(sequence).__name__}; expected a string, or a list of symbols"
                )
            tokens = tuple(sequence.tolist() if isinstance(sequence, np.ndarray) else sequence)
            for token in tokens:
                if not isinstance(token, Hashable):
                    raise TypeError(
                        f"{name}[{i}] holds {token!r:.40}, a {type(token).__name__}, which has no hash; expected symbols such as "
                        "strings or numbers"
                    )
            found.append(tokens)
        return found

    def outward(self, sequences: Sequence[Tokens]) -> np.ndarray:
        """Tuples of symbols as the user writes them."""
        if self.kind == "str":
            return as_objects(["".join(map(str, sequence)) for sequence in sequences])
        return as_objects([list(sequence) if self.kind == "list" else sequence for sequence in sequences])
