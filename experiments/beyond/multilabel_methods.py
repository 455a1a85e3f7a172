"""Methods of the multi-label table on one split: neighbours, one-vs-rest logistic regression, IOKR and ours."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

from experiments.beyond.label_inputs import (
    JACCARD,
    RANKS,
    SQUARED,
    STANDARD,
    Recipe,
    around_median,
    gaussian_of_words,
    mean_of,
    written,
)
from experiments.beyond.label_search import (
    ALL_SETS,
    LabelSearch,
    Trial,
    example_f1,
    gaussian_sets,
    seen_sets,
)
from mercer.core.collections import distinct
from mercer.datasets.labels import MultiLabel
from mercer.estimators import NeighborsEstimator
from mercer.kernels import Gaussian, LabelSets, Laplacian, Precomputed
from mercer.losses import F1

NEIGHBORS, LOGISTIC, IOKR, OURS = "k-NN", "one-vs-rest logistic regression", "IOKR", "ridge, outputs matched to F1"
METHODS = (NEIGHBORS, LOGISTIC, IOKR, OURS)
PENALTIES = (0.5, 0.65, 0.8, 1.0)
OUTPUT_SCALES = (0.5, 1.0, 2.0)
KS = (1, 2, 3, 4, 5, 7, 10, 14, 20, 30, 40, 60)
CS = (0.03, 0.1, 0.3, 1.0, 3.0)
THRESHOLDS = tuple(round(0.05 * i, 2) for i in range(2, 12))
FOLDS = 3


@dataclass(frozen=True)
class Grid:
    """Candidates on one data set."""

    recipes: Callable[[np.ndarray], list[Recipe]]
    alphas: tuple[float, ...]


def of_vectors(X: np.ndarray) -> list[Recipe]:
    """Return Laplacians and Gaussians of several widths on standardised inputs and normal scores, and their means."""
    widths: dict[type[Gaussian] | type[Laplacian], tuple[float, ...]] = {
        Laplacian: (0.35, 0.5, 0.7, 1.0, 1.5, 2.5),
        Gaussian: (0.35, 0.5, 0.7, 1.0, 1.5),
    }
    single = [
        around_median(X, how, family, factor)
        for how in (STANDARD, RANKS)
        for family, factors in widths.items()
        for factor in factors
    ]
    laplacians = [recipe for recipe in single if recipe.name.startswith("Laplacian")]
    return [*single, mean_of("mean of the Laplacians", *laplacians)]


def of_words(X: np.ndarray) -> list[Recipe]:
    """Return shares of common words, Gaussians on words weighted by idf and on standardised inputs, and means."""
    gaussians = [gaussian_of_words(gamma) for gamma in (0.25, 1.0)]
    return [
        JACCARD,
        *gaussians,
        mean_of("mean of Jaccard and Gaussian, γ = 1", JACCARD, gaussians[1]),
        around_median(X, STANDARD, Gaussian, 1.0),
    ]


def of_many_words(X: np.ndarray) -> list[Recipe]:
    """Return shares of common words and their squares: with thousands of inputs each kernel costs a decomposition."""
    return [JACCARD, SQUARED]


_ALPHAS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 1.0, 2.0, 4.0)
GRIDS = {
    "emotions": Grid(of_vectors, _ALPHAS),
    "yeast": Grid(of_vectors, _ALPHAS),
    "enron": Grid(of_words, _ALPHAS),
    "corel5k": Grid(of_many_words, (0.25, 0.5, 1.0, 2.0)),
}


def predictions(data: MultiLabel, grid: Grid) -> tuple[dict[str, np.ndarray], dict[str, Any], list[dict[str, Any]]]:
    """Predict sets for the test inputs by each method; return the choices and the leave-one-out table too."""
    recipes = {recipe.name: recipe for recipe in grid.recipes(data.X_train)}
    own, gaussian = [ALL_SETS, *map(seen_sets, PENALTIES)], list(map(gaussian_sets, OUTPUT_SCALES))
    search = LabelSearch(data.Y_train, [*own, *gaussian], grid.alphas)
    neighbours: dict[tuple[str, int], float] = {}
    for name, recipe in recipes.items():
        gram = recipe.gram(data.X_train)
        neighbours |= {(name, k): f1 for k, f1 in _neighbours(data.Y_train, gram).items()}
        search.add(recipe, gram)
    found: dict[str, np.ndarray] = {}
    chosen: dict[str, Any] = {}
    near, k = max(neighbours, key=lambda pair: neighbours[pair])
    model = NeighborsEstimator(Precomputed(), LabelSets(), k=k, loss=F1())
    gram, test_gram = recipes[near].gram(data.X_train), recipes[near].gram(data.X_train, data.X_test)
    found[NEIGHBORS] = model.fit(gram, data.Y_train).predict(test_gram)
    chosen[NEIGHBORS] = {"input kernel": near, "k": k, "inside": neighbours[near, k]}
    found[LOGISTIC], chosen[LOGISTIC] = _logistic(data)
    for method, ways in ((IOKR, gaussian), (OURS, own)):
        best = search.best(ways=[way.name for way in ways])
        recipe = recipes[best.recipe]
        found[method] = search.predict(best, recipe.gram(data.X_train), recipe.gram(data.X_train, data.X_test))
        chosen[method] = _written(best)
    return found, chosen, search.table()


def _written(trial: Trial) -> dict[str, Any]:
    return {"input kernel": trial.recipe, "alpha": trial.alpha, "way": trial.way, "inside": trial.f1}


def _neighbours(Y: np.ndarray, gram: np.ndarray) -> dict[int, float]:
    """Compute the leave-one-out F1 of each number of neighbours, decoded by expected F1."""
    search = LabelSearch(Y, [ALL_SETS], ())
    _, group = distinct(Y)
    distances = np.diag(gram)[None, :] - 2.0 * gram
    np.fill_diagonal(distances, np.inf)
    nearest = np.argsort(distances, axis=1, kind="stable")[:, : max(KS)]
    found = {}
    for k in (k for k in KS if k < len(Y)):
        rows = np.repeat(np.arange(len(Y)), k)
        entries = (np.full(len(rows), 1.0 / k), (rows, group[nearest[:, :k]].ravel()))
        weights = sparse.coo_array(entries, shape=(len(Y), len(search.sets))).toarray()
        found[k] = float(example_f1(Y, dict(search.decode(weights))[ALL_SETS.name]).mean())
    return found


def _logistic(data: MultiLabel) -> tuple[np.ndarray, dict[str, Any]]:
    """Choose regularisation and threshold by F1 over folds of the training examples; the likeliest label is always named."""
    binary = set(np.unique(data.X_train)) <= {0.0, 1.0}
    X: Any = data.X_train if binary else written(data.X_train, data.X_train, STANDARD)
    X_test: Any = data.X_test if binary else written(data.X_train, data.X_test, STANDARD)
    if binary:
        X, X_test = sparse.csr_array(X), sparse.csr_array(X_test)
    folds = list(KFold(FOLDS, shuffle=True, random_state=0).split(np.arange(len(data.Y_train))))
    scores: dict[tuple[float, float], float] = {}
    for C in CS:
        shares = np.empty(data.Y_train.shape)
        for train, held_out in folds:
            shares[held_out] = _probabilities(X[train], data.Y_train[train], X[held_out], C)
        for threshold in THRESHOLDS:
            scores[C, threshold] = float(example_f1(data.Y_train, _above(shares, threshold)).mean())
    C, threshold = max(scores, key=lambda pair: scores[pair])
    predicted = _above(_probabilities(X, data.Y_train, X_test, C), threshold)
    return predicted, {"C": C, "threshold": threshold, "inside": scores[C, threshold]}


def _probabilities(X: Any, Y: np.ndarray, X_test: Any, C: float) -> np.ndarray:
    found = np.empty((X_test.shape[0], Y.shape[1]))
    for label, column in enumerate(Y.T):
        if column.min() == column.max():
            found[:, label] = column[0]
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = LogisticRegression(C=C, solver="liblinear").fit(X, column)
        found[:, label] = model.predict_proba(X_test)[:, 1]
    return found


def _above(shares: np.ndarray, threshold: float) -> np.ndarray:
    chosen = shares > threshold
    chosen[np.arange(len(shares)), shares.argmax(axis=1)] = True
    return chosen.astype(np.int8)
