"""Objects with sets of labels: articles, pictures, genes, music, letters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from mercer.datasets.store import fetch, read_arrays


@dataclass(frozen=True)
class MultiLabel:
    """The official split of a multi-label set: inputs as rows of numbers, label sets as rows of 0 and 1.

    `labels` names the columns of the outputs, `features` those of the inputs.
    """

    X_train: np.ndarray
    Y_train: np.ndarray
    X_test: np.ndarray
    Y_test: np.ndarray
    labels: np.ndarray
    features: np.ndarray

    def names(self, row: np.ndarray) -> list[str]:
        """Return the names of the labels of one row of indicators."""
        return [str(label) for label in self.labels[np.asarray(row) > 0]]


SIZES = {
    "bibtex": (4880, 2515, 1836, 159),
    "corel5k": (4500, 500, 499, 374),
    "emotions": (391, 202, 72, 6),
    "enron": (1123, 579, 1001, 53),
    "yeast": (1500, 917, 103, 14),
}
"""Training examples, test examples, features and labels of each set."""


def load_multilabel(name: str) -> MultiLabel:
    """Load a multi-label set of the Mulan collection (Tsoumakas et al. 2011), with its official split.

    Read from ``$MERCER_DATA/multilabel``, checked against a pinned SHA-256. `name` is "bibtex", "corel5k", "emotions", "enron"
    or "yeast".
    """
    if name not in SIZES:
        raise ValueError(f"name is {name!r}; expected one of {', '.join(SIZES)}")
    train, test, features, labels = SIZES[name]
    path = f"multilabel/{name}/{name}.npz"
    with np.load(fetch(path), allow_pickle=False) as arrays:
        parts = [
            _dense(arrays, f"{kind}_{split}", (rows, columns), path)
            for split, rows in (("train", train), ("test", test))
            for kind, columns in (("X", features), ("Y", labels))
        ]
    names = read_arrays(path, {"labels": (labels,), "features": (features,)})
    X_train, Y_train, X_test, Y_test = parts
    return MultiLabel(X_train, Y_train.astype(np.int8), X_test, Y_test.astype(np.int8), *names)


def _dense(arrays: Mapping[str, np.ndarray], name: str, shape: tuple[int, int], path: str) -> np.ndarray:
    """Return a matrix that is stored whole, or as a sparse matrix (of ones if no values are stored)."""
    if name in arrays:
        matrix = arrays[name].astype(float)
    else:
        columns, starts = arrays[f"{name}_indices"], arrays[f"{name}_indptr"]
        if columns.size and not (columns.min() >= 0 and columns.max() < shape[1]):
            raise ValueError(
                f"{name} in {path} has entries in columns {columns.min()} to {columns.max()}; expected 0 to {shape[1] - 1}"
            )
        values = arrays[f"{name}_data"] if f"{name}_data" in arrays else np.ones(len(columns))
        rows = sparse.csr_array((values, columns, starts), shape=tuple(arrays[f"{name}_shape"]))
        matrix = rows.toarray().astype(float)
    if matrix.shape != shape:
        raise ValueError(f"{name} in {path} has shape {matrix.shape}; expected {shape}")
    return matrix
