"""Label ranking: inputs with an order of the labels, best first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer.datasets.store import read_arrays
from mercer.structures.rankings import as_rankings

SHAPES = {
    "authorship": (841, 70, 4),
    "glass": (214, 9, 6),
    "iris": (150, 4, 3),
    "vehicle": (846, 18, 4),
    "housing": (506, 6, 6),
    "sushi": (5000, 10, 10),
}
"""Inputs, features and labels of each set."""


@dataclass(frozen=True)
class LabelRanking:
    """Inputs `X` (n, d), and `ranks` (n, K) with the rank of each label, 0 best."""

    X: np.ndarray
    ranks: np.ndarray
    labels: np.ndarray
    features: np.ndarray


def load_label_ranking(name: str) -> LabelRanking:
    """Load one of the sets of Cheng, Hühn and Hüllermeier (2009), or the sushi preferences of Kamishima.

    In authorship, glass, iris and vehicle the ranking is the order of the classes under a naive Bayes classifier of the
    original data; in housing it is the order of attributes left out of the inputs. Read from ``$MERCER_DATA/label_ranking``,
    checked against a pinned SHA-256. `name` is a key of `SHAPES`.
    """
    if name not in SHAPES:
        raise ValueError(f"name={name!r}; expected one of {', '.join(SHAPES)}")
    n, features, labels = SHAPES[name]
    shapes = {"X": (n, features), "ranks": (n, labels), "labels": (labels,), "features": (features,)}
    X, ranks, *names = read_arrays(f"label_ranking/{name}.npz", shapes)
    return LabelRanking(X.astype(float), as_rankings(ranks, "ranks").astype(np.int64), *names)
