"""Data of a task: inputs, outputs and the rows of each fold."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

SMALL_TRAIN, SMALL_TEST, SMALL_FOLDS = 60, 20, 2


@dataclass(frozen=True)
class Data:
    """Inputs, outputs, (training rows, test rows) of each fold, and the candidates of a dictionary task."""

    X: Any
    y: Any
    folds: Sequence[tuple[np.ndarray, np.ndarray]]
    candidates: Any = None

    def small(self) -> Data:
        """Return the first rows of the first folds: enough to see that everything runs."""
        folds = [(train[:SMALL_TRAIN], test[:SMALL_TEST]) for train, test in self.folds[:SMALL_FOLDS]]
        return Data(self.X, self.y, folds, self.candidates)

    def digest(self) -> str:
        """SHA-256 of the data and the folds: equal on every machine that has the same files."""
        found = hashlib.sha256()
        for part in _parts([self.X, self.y, *(rows for fold in self.folds for rows in fold), self.candidates]):
            found.update(part)
        return found.hexdigest()


def take(collection: Any, rows: np.ndarray) -> Any:
    """Return the objects at `rows` of an array or a list."""
    return collection[rows] if isinstance(collection, np.ndarray) else [collection[i] for i in rows]


def shuffled(X: Any, y: Any, folds: int, seed: int) -> Data:
    """Return data with shuffled folds."""
    return Data(X, y, list(KFold(folds, shuffle=True, random_state=seed).split(np.arange(len(X)))))


def drawn(n: int, size: int, seed: int = 0) -> np.ndarray:
    """Draw `size` of `n` rows, in order."""
    return np.sort(np.random.default_rng(seed).choice(n, size, replace=False))


def official(train: tuple[Any, Any], test: tuple[Any, Any], candidates: Any = None) -> Data:
    """Return data with the one split that comes with them."""
    X, y = (_joined(one, two) for one, two in zip(train, test, strict=True))
    rows = np.arange(len(X))
    return Data(X, y, [(rows[: len(train[0])], rows[len(train[0]) :])], candidates)


def _joined(one: Any, two: Any) -> Any:
    return np.concatenate([one, two]) if isinstance(one, np.ndarray) else [*one, *two]


def _parts(collections: Sequence[Any]) -> Iterator[bytes]:
    for each in collections:
        if isinstance(each, np.ndarray):
            yield f"{each.dtype.kind}{each.shape}".encode()
            # sizes of integers differ between platforms
            yield np.ascontiguousarray(each, dtype=float if each.dtype.kind == "f" else np.int64).tobytes()
        else:
            yield repr(each).encode()
