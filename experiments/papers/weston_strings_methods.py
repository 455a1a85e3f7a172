"""Methods of Weston's string task on Gram matrices: KDE and k-NN as in the paper, under every reading of its losses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from experiments.papers.toy_strings import StringPairs
from mercer.core.collections import distinct
from mercer.embeddings import PrincipalComponents
from mercer.kernels import Precomputed, Subsequence
from mercer.solvers import GramEigh, RidgePath

METRICS = ("squared", "distance", "squared before", "distance before", "class")
"""‖ψ(y) − ψ(ŷ)‖² and its root; the same with h(x) for ψ(ŷ), before the pre-image; whether the class is wrong."""

RULES = ("left out", "kept")
"""Rules for outputs of zero norm (shorter than the kernel's subsequences) as candidates for the pre-image."""

NEIGHBOURS = 30
"""The largest k tried."""

DECIMALS = 9
"""Distances equal to this many decimals are ties, which go to the first candidate: the rest is rounding."""

Losses = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""(train, test) → mean losses of shape (settings, rules, metrics)."""


@dataclass(frozen=True)
class Task:
    """Pairs of strings and the kernels of the paper on them: subsequences of three letters, decay 0.01."""

    pairs: StringPairs
    normalized: bool = True

    @cached_property
    def inputs(self) -> np.ndarray:
        """Gram matrix of the inputs, before the Gaussian."""
        return self.gram(self.pairs.inputs)

    @cached_property
    def outputs(self) -> np.ndarray:
        """Gram matrix of the outputs, which defines the string loss."""
        return self.gram(self.pairs.outputs)

    @cached_property
    def seen(self) -> np.ndarray:
        """Mask of outputs whose norm is not zero."""
        return np.diag(self.outputs) > 0

    def gram(self, strings: np.ndarray, length: int = 3, decay: float = 0.01) -> np.ndarray:
        """Compute a Gram matrix of strings."""
        kernel = Subsequence(length, decay)
        return (kernel.normalized() if self.normalized else kernel)(strings)

    def losses_of_nearest(
        self, distances: np.ndarray, before: np.ndarray, train: np.ndarray, test: np.ndarray
    ) -> np.ndarray:
        """Compute mean losses, of shape (..., rules, metrics).

        Parameters
        ----------
        distances : array (..., test, train)
            Squared distances of h(x) to each training output, as the method measures them.
        before : array (..., test)
            ‖h(x) − ψ(y)‖² for the true y.
        train, test : int arrays
            Positions.
        """
        first, _ = distinct(self.pairs.outputs[train])
        usable = {"left out": first[self.seen[train[first]]], "kept": first}
        rounded = np.round(distances / np.max(np.diag(self.outputs)), DECIMALS)
        scores = []
        for rule in RULES:
            chosen = train[usable[rule][np.argmin(rounded[..., usable[rule]], axis=-1)]]
            scores.append(self.losses(chosen, before, test))
        return np.stack(scores, axis=-2)

    def losses(self, chosen: np.ndarray, before: np.ndarray, test: np.ndarray) -> np.ndarray:
        """Compute mean losses, of shape (..., metrics), of the outputs at the positions `chosen` (..., test)."""
        norms, classes = np.diag(self.outputs), self.pairs.classes
        after = np.maximum(norms[test] + norms[chosen] - 2.0 * self.outputs[test, chosen], 0.0)
        before = np.maximum(before, 0.0)
        wrong = classes[chosen] != classes[test]
        parts = np.broadcast_arrays(after, np.sqrt(after), before, np.sqrt(before), wrong)
        return np.stack([part.mean(axis=-1) for part in parts], axis=-1)


def bell(gram: np.ndarray, scale: float) -> np.ndarray:
    """Compute exp(−d²/2s²) with the distances of a Gram matrix."""
    norms = np.diag(gram)
    return np.exp(-np.maximum(norms[:, None] + norms - 2.0 * gram, 0.0) / (2.0 * scale**2))


def decomposed(gram: np.ndarray) -> GramEigh:
    """Decompose a matrix that is known to be a Gram matrix."""
    values, vectors = np.linalg.eigh(gram)
    return GramEigh(vectors, np.maximum(values, 0.0), vectors)


def kde_losses(task: Task, scales: np.ndarray, gammas: np.ndarray, penalty: str) -> Losses:
    """Run KDE for every width and γ: principal components of the outputs, ridge onto them, the nearest training output.

    `penalty` is "function", where γ weighs a mean of squares (α = nγ), or "coefficients", where α = γ.
    """
    grams = [bell(task.inputs, scale) for scale in scales]

    def losses(train: np.ndarray, test: np.ndarray) -> np.ndarray:
        embedding = PrincipalComponents().fit(Precomputed(task.outputs), train)
        targets = embedding.coordinates_
        norms = np.sum(targets**2, axis=1)
        inside, across = task.outputs[np.ix_(train, train)], task.outputs[np.ix_(test, train)]
        own = np.diag(task.outputs)[test]
        alphas = gammas * (len(train) if penalty == "function" else 1)
        scores = []
        for gram in grams:
            ridge = RidgePath(decomposed(gram[np.ix_(train, train)]), targets, penalty=penalty)
            values = gram[np.ix_(test, train)]
            points = np.stack([values @ ridge.coefficients(float(alpha))[0] for alpha in alphas])
            weights = embedding.weights(points)
            before = own - 2.0 * np.sum(weights * across, axis=-1) + np.sum(weights @ inside * weights, axis=-1)
            distances = norms - 2.0 * points @ targets.T
            scores.append(task.losses_of_nearest(distances, before, train, test))
        return np.concatenate(scores)

    return losses


def neighbour_losses(task: Task) -> Losses:
    """Run k-NN for every k: the mean of the k nearest outputs, then the nearest training output; k = 1 returns its neighbour."""

    def losses(train: np.ndarray, test: np.ndarray) -> np.ndarray:
        inside, across = task.outputs[np.ix_(train, train)], task.outputs[np.ix_(test, train)]
        apart = np.diag(task.inputs)[train] - 2.0 * task.inputs[np.ix_(test, train)]
        nearest = np.argsort(np.round(apart, DECIMALS), axis=1, kind="stable")[:, : min(NEIGHBOURS, len(train))]
        numbers = np.arange(1, nearest.shape[1] + 1)[:, None, None]
        weights = np.moveaxis(np.cumsum(np.eye(len(train))[nearest], axis=1), 1, 0) / numbers
        products = weights @ inside
        squares = np.sum(products * weights, axis=-1)
        before = squares - 2.0 * np.sum(weights * across, axis=-1) + np.diag(task.outputs)[test]
        scores = task.losses_of_nearest(np.diag(inside) - 2.0 * products, before, train, test)
        scores[0] = task.losses(train[nearest[:, 0]], before[0], test)
        return scores

    return losses


def parts(n: int, folds: int, seed: list[int]) -> list[np.ndarray]:
    """Cut positions 0 … n − 1 into random folds."""
    order = np.random.default_rng(seed).permutation(n)
    return [np.sort(part) for part in np.array_split(order, folds)]


def nested(losses: Losses, train: np.ndarray, test: np.ndarray, seed: list[int], folds: int = 5) -> np.ndarray:
    """Compute test losses of the settings chosen by folds inside the training part, (rules, chosen on, metrics)."""
    inner = np.zeros(())
    for part in parts(len(train), folds, seed):
        inner = inner + losses(np.delete(train, part), train[part]) * len(part)
    outer = losses(train, test)
    best = np.argmin(inner, axis=0)
    return np.stack([outer[best[r], r] for r in range(len(RULES))])
