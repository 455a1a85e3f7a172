"""KDE, support vector machines and k-NN of Weston et al. for every setting of the printed grids; the choice by inner folds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.svm import SVC

from mercer.embeddings import PrincipalComponents
from mercer.kernels import Precomputed

MEAN, PRINTED = "mean", "zero"
"""Origins of the projection: the mean output, as kernel PCA has it, and zero, as the equation is printed."""
BEFORE, AFTER, CLASS = "before", "after", "class"
NEIGHBOURS = 15
HARD = 1e6
"""Cost of errors under which the margin of a support vector machine is hard."""

Scores = dict[str, np.ndarray]
"""Metric → scores of the test digits for every setting, (settings, digits)."""
Method = Callable[[np.ndarray, np.ndarray], Scores]
"""(positions to train on, positions to test on) → scores."""


@dataclass(frozen=True)
class Edition:
    """Grids of an edition: widths of the input kernel, values of γ, the penalty it weighs, and the cut-off of components."""

    scales: np.ndarray
    gammas: np.ndarray
    penalty: str
    cutoff: float

    def thinned(self, step: int) -> Edition:
        """Keep every `step`-th width and γ."""
        return replace(self, scales=self.scales[::step], gammas=self.gammas[::step])


NIPS = Edition(1.0 / np.sqrt(2.0 * np.logspace(-3, 3, 7)), np.logspace(-4, 1, 6), "function", 0.0)
REPORT = Edition(2.0 ** np.arange(-6, 4), np.array([1e-6]), "coefficients", 0.01)


@dataclass(frozen=True)
class Task:
    """Distances of inputs, Gram matrix of outputs and classes of all digits."""

    distances: np.ndarray
    outputs: np.ndarray
    labels: np.ndarray

    @classmethod
    def of(cls, inputs: np.ndarray, outputs: np.ndarray, labels: np.ndarray) -> Task:
        """Compute the distances."""
        return cls(cdist(inputs, inputs), outputs, labels)

    def scores(self, nearest: np.ndarray, before: np.ndarray, test: np.ndarray) -> Scores:
        """Score training outputs, (settings, digits) positions, and distances before the pre-image."""
        norms = np.diag(self.outputs)
        after = norms[test] + norms[nearest] - 2.0 * self.outputs[test, nearest]
        return {BEFORE: before, AFTER: after, CLASS: (self.labels[nearest] != self.labels[test]).astype(float)}


def kde(task: Task, edition: Edition, origin: str) -> Method:
    """Run Weston's KDE for every width and γ: kernel PCA of the outputs, ridge, the nearest training output."""

    def scores(train: np.ndarray, test: np.ndarray) -> Scores:
        embedding = PrincipalComponents(edition.cutoff, origin=origin).fit(Precomputed(task.outputs), train)
        targets = np.asarray(embedding.coordinates_)
        truth = np.asarray(embedding.transform(test))
        own = np.diag(task.outputs)[test]
        if origin == MEAN:
            inside = task.outputs[np.ix_(train, train)]
            own = own - 2.0 * task.outputs[np.ix_(test, train)].mean(axis=1) + inside.mean()
        found = []
        for scale in edition.scales:
            gram = np.exp(-(task.distances[:, train] ** 2) / (2.0 * scale**2))
            values, vectors = np.linalg.eigh(gram[train])
            for gamma in edition.gammas:
                if edition.penalty == "function":
                    filters = 1.0 / (np.maximum(values, 0.0) + len(train) * gamma)
                else:
                    filters = values / (values**2 + gamma)
                points = gram[test] @ (vectors @ (filters[:, None] * (vectors.T @ targets)))
                nearest = train[np.argmin(np.sum(targets**2, axis=1) - 2.0 * points @ targets.T, axis=1)]
                before = own - 2.0 * np.sum(points * truth, axis=1) + np.sum(points**2, axis=1)
                found.append((nearest, before))
        return task.scores(np.array([each[0] for each in found]), np.array([each[1] for each in found]), test)

    return scores


def neighbours(task: Task, most: int = NEIGHBOURS) -> Method:
    """Run k-NN for k from 1 to `most`: the mean of the outputs of the nearest inputs, then the nearest training output."""

    def scores(train: np.ndarray, test: np.ndarray) -> Scores:
        near = np.argsort(task.distances[np.ix_(test, train)], axis=1, kind="stable")[:, :most]
        inside, across = task.outputs[np.ix_(train, train)], task.outputs[np.ix_(test, train)]
        answers, before = [], []
        for k in range(1, most + 1):
            weights = np.zeros((len(test), len(train)))
            np.put_along_axis(weights, near[:, :k], 1.0 / k, axis=1)
            products = weights @ inside
            answers.append(near[:, 0] if k == 1 else np.argmin(np.diag(inside) - 2.0 * products, axis=1))
            own = np.diag(task.outputs)[test]
            before.append(own - 2.0 * np.sum(weights * across, axis=1) + np.sum(products * weights, axis=1))
        return task.scores(train[np.array(answers)], np.array(before), test)

    return scores


def machines(task: Task, edition: Edition) -> Method:
    """Run a support vector machine for each class, every width and ridge: hard margins, squared errors where there is a ridge.

    The NIPS edition has the ridge of KDE, nγ, on the diagonal; the report has none.
    """

    def scores(train: np.ndarray, test: np.ndarray) -> Scores:
        classes = np.unique(task.labels[train])
        ridges = len(train) * edition.gammas if edition.penalty == "function" else np.zeros(1)
        wrong = []
        for scale in edition.scales:
            gram = np.exp(-(task.distances[:, train] ** 2) / (2.0 * scale**2))
            for ridge in ridges:
                own = gram[train] + ridge * np.eye(len(train))
                values = [
                    SVC(C=HARD, kernel="precomputed").fit(own, task.labels[train] == each).decision_function(gram[test])
                    for each in classes
                ]
                wrong.append(classes[np.argmax(values, axis=0)] != task.labels[test])
        return {CLASS: np.array(wrong, dtype=float)}

    return scores


def nested(method: Method, train: np.ndarray, test: np.ndarray, judged: str, seed: int) -> dict[str, float]:
    """Return the test scores of the setting of least mean score over five inner folds, judged by one metric."""
    order = np.random.default_rng(seed).permutation(train)
    folds = np.array_split(order, 5)
    inner = np.sum([method(np.setdiff1d(train, fold), np.sort(fold))[judged].sum(axis=1) for fold in folds], axis=0)
    best = int(np.argmin(inner))
    return {name: float(values[best].mean()) for name, values in method(train, test).items()} | {"setting": best}
