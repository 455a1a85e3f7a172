"""Objects with several labels: label sets, and orders of the labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from mercer.core.validation import check_choice
from mercer.datasets.store import fetch, read_arrays
from mercer.structures.rankings import as_rankings

LABEL_SETS = {
    "bibtex": (4880, 2515, 1836, 159),
    "corel5k": (4500, 500, 499, 374),
    "emotions": (391, 202, 72, 6),
    "enron": (1123, 579, 1001, 53),
    "yeast": (1500, 917, 103, 14),
}
"""Training examples, test examples, features and labels of each set."""

RANKINGS = {
    "authorship": (841, 70, 4),
    "glass": (214, 9, 6),
    "iris": (150, 4, 3),
    "vehicle": (846, 18, 4),
    "housing": (506, 6, 6),
    "sushi": (5000, 10, 10),
}
"""Inputs, features and labels of each set."""


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


@dataclass(frozen=True)
class LabelRanking:
    """Inputs `X` (n, d), and `ranks` (n, K) with the rank of each label, 0 best."""

    X: np.ndarray
    ranks: np.ndarray
    labels: np.ndarray
    features: np.ndarray


def load_multilabel(name: str) -> MultiLabel:
    """Load a multi-label set of the Mulan collection (Tsoumakas et al. 2011), with its official split.

    `name` is "bibtex", "corel5k", "emotions", "enron" or "yeast"; files in ``multilabel``.
    """
    check_choice(name, "name", LABEL_SETS)
    train, test, features, labels = LABEL_SETS[name]
    path = f"multilabel/{name}/{name}.npz"
    with np.load(fetch(path), allow_pickle=False) as arrays:
        X_train, Y_train, X_test, Y_test = (
            _dense(arrays, f"{kind}_{split}", (rows, columns), path)
            for split, rows in (("train", train), ("test", test))
            for kind, columns in (("X", features), ("Y", labels))
        )
    names = read_arrays(path, {"labels": (labels,), "features": (features,)})
    return MultiLabel(X_train, Y_train.astype(np.int8), X_test, Y_test.astype(np.int8), *names)


def load_label_ranking(name: str) -> LabelRanking:
    """Load one of the sets of Cheng, Hühn and Hüllermeier (2009), or the sushi preferences of Kamishima.

    In authorship, glass, iris and vehicle the ranking is the order of the classes under a naive Bayes classifier of the
    original data; in housing it is the order of attributes left out of the inputs. `name` is a key of `RANKINGS`; files in
    ``label_ranking``.
    """
    check_choice(name, "name", RANKINGS)
    n, features, labels = RANKINGS[name]
    shapes = {"X": (n, features), "ranks": (n, labels), "labels": (labels,), "features": (features,)}
    X, ranks, *names = read_arrays(f"label_ranking/{name}.npz", shapes)
    return LabelRanking(X.astype(float), np.array(as_rankings(ranks, "ranks"), dtype=np.int64), *names)


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
