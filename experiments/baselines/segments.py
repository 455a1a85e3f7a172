"""Sequences of parts in one array, and the symbols of their parts."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from mercer.core.collections import as_objects, as_vectors


@dataclass(frozen=True)
class Segments:
    """Parts of all sequences as rows; the i-th sequence is ``rows[starts[i]:starts[i + 1]]``."""

    rows: np.ndarray
    starts: np.ndarray

    @classmethod
    def of(cls, X: Any, name: str) -> Segments:
        """Check sequences of vectors, or of images, which are flattened."""
        sequences = as_objects(X, name)
        arrays = []
        for i, sequence in enumerate(sequences):
            if not hasattr(sequence, "__len__") or len(sequence) == 0:
                raise ValueError(f"{name}[{i}] is {sequence!r:.60}; expected a sequence of at least one part")
            plain = isinstance(sequence, np.ndarray) and sequence.ndim > 1 and sequence.dtype.kind in "biuf"
            parts = np.reshape(sequence, (len(sequence), -1)) if plain else as_vectors(sequence, f"{name}[{i}]")
            arrays.append(np.asarray(parts))
        widths = {array.shape[1] for array in arrays}
        if len(widths) > 1:
            raise ValueError(f"{name} has parts of {sorted(widths)} features; expected the same number in all of them")
        starts = np.concatenate([[0], np.cumsum([len(array) for array in arrays])])
        return cls(np.asarray(as_vectors(np.concatenate(arrays), name)), starts.astype(np.int64))

    @property
    def lengths(self) -> np.ndarray:
        """Number of parts of each sequence."""
        return np.diff(self.starts)

    @property
    def positions(self) -> np.ndarray:
        """Position of each part in its sequence, from 0."""
        return np.arange(len(self.rows)) - np.repeat(self.starts[:-1], self.lengths)

    @property
    def owners(self) -> np.ndarray:
        """Number of the sequence of each part."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    def slices(self) -> Iterator[slice]:
        """Yield the rows of each sequence in turn."""
        return (slice(int(a), int(b)) for a, b in zip(self.starts[:-1], self.starts[1:], strict=True))


def as_symbols(y: Any, segments: Segments) -> tuple[list[Hashable], np.ndarray]:
    """Return the distinct symbols of `y`, sorted if possible, and the number of the symbol of each part."""
    labellings = as_objects(y, "y")
    if len(labellings) != len(segments.lengths):
        raise ValueError(
            f"X has {len(segments.lengths)} sequences and y has {len(labellings)}; expected as many of each"
        )
    for i, (labels, length) in enumerate(zip(labellings, segments.lengths, strict=True)):
        if len(labels) != length:
            raise ValueError(
                f"y[{i}] has {len(labels)} symbols and X[{i}] has {length} parts; expected one symbol per part"
            )
    symbols = list(dict.fromkeys(symbol for labels in labellings for symbol in labels))
    if all(isinstance(symbol, str) for symbol in symbols):
        symbols.sort()
    number = {symbol: i for i, symbol in enumerate(symbols)}
    return symbols, np.asarray([number[symbol] for labels in labellings for symbol in labels], dtype=np.int64)


def joined(numbers: Iterable[np.ndarray], symbols: list[Hashable]) -> np.ndarray:
    """Turn numbers into sequences of symbols: strings if every symbol is a single letter, else tuples."""
    text = all(isinstance(symbol, str) and len(symbol) == 1 for symbol in symbols)
    found = [[symbols[i] for i in row] for row in numbers]
    result = np.empty(len(found), dtype=object)
    for i, row in enumerate(found):
        result[i] = "".join(map(str, row)) if text else tuple(row)
    return result


def share_right(predicted: Iterable[Any], truth: Iterable[Any]) -> float:
    """Compute the share of correct symbols, position by position."""
    pairs = [pair for left, right in zip(predicted, truth, strict=True) for pair in zip(left, right, strict=True)]
    return float(np.mean([a == b for a, b in pairs]))


class SequenceLabeller(BaseEstimator):
    """Estimator that predicts a symbol for each part of a sequence."""

    def predict(self, X: Any) -> np.ndarray:
        """Predict a labelling of each sequence."""
        raise TypeError(f"{type(self).__name__} must define predict(X)")

    def score(self, X: Any, y: Any) -> float:
        """Compute the share of correct symbols."""
        return share_right(self.predict(X), y)

    def __sklearn_tags__(self) -> Tags:
        """Declare that X is a collection of sequences of parts."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.target_tags.required = True
        return tags
