"""Label sets by ridge regression: input kernels, alphas and ways to decode, compared by exact leave-one-out F1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from experiments.beyond.label_inputs import Recipe
from experiments.protocol import paper_estimator
from mercer.core.arrays import to_numpy
from mercer.core.collections import distinct
from mercer.decoders import Candidates, Decoder, ExpectedF1, Standardized
from mercer.decoders.pool import top
from mercer.embeddings import Implicit
from mercer.kernels import GaussianOf, Kernel, LabelSets, Overlap, Precomputed
from mercer.losses import F1
from mercer.solvers import RidgePath, RidgeProblem


@dataclass(frozen=True)
class Way:
    """Way to decode: an output kernel and a decoder."""

    name: str
    kernel: Kernel
    decoder: Decoder


ALL_SETS = Way("all sets, expected F1", LabelSets(), ExpectedF1())


def seen_sets(penalty: float, strength: float = 0.0) -> Way:
    """Return the training set of largest overlap, F1-type with this penalty, with scores standardised to some strength."""
    standard = f", standardised to the power {strength:g}" if strength else ""
    decoder = Standardized(strength=strength) if strength else Candidates()
    return Way(f"training sets, a = {penalty:g}{standard}", Overlap(penalty), decoder)


def gaussian_sets(scale: float) -> Way:
    """Return the nearest training set under a Gaussian output kernel: IOKR."""
    return Way(f"training sets, Gaussian of scale {scale:g}", GaussianOf(LabelSets(), scale), Candidates())


@dataclass(frozen=True)
class Trial:
    """Combination of kernel, alpha and way, and the leave-one-out F1 of each training example."""

    recipe: str
    alpha: float
    way: str
    f1: float


class LabelSearch:
    """Search over ways to decode and alphas, from one decomposition of each input Gram matrix.

    Weights on equal training sets add up, so the leave-one-out weights of n examples are a matrix of n rows and a column for
    each distinct set.
    """

    def __init__(self, Y: np.ndarray, ways: Sequence[Way], alphas: Sequence[float]) -> None:
        self.Y, self.alphas, self.ways = Y, alphas, {way.name: way for way in ways}
        first, group = distinct(Y)
        self.sets = Y[first]
        self.targets = np.eye(len(first))[group]
        # a set that occurs once is not a candidate for its own example
        self.hidden = np.where(np.bincount(group)[group] == 1, group, -1)
        self.families: dict[str, list[Way]] = {}
        for way in ways:
            self.families.setdefault(repr(way.kernel), []).append(way)
        self.trials: list[Trial] = []

    def add(self, recipe: Recipe, gram: np.ndarray) -> None:
        """Return all combinations of one input Gram matrix."""
        ridge = RidgePath(RidgeProblem(Precomputed(), gram, fit_intercept=False).decomposed(), self.targets)
        for alpha in self.alphas:
            for name, decoded in self.decode(to_numpy(ridge.left_out_points(alpha))):
                f1 = 1.0 - float(np.mean(to_numpy(F1().paired(self.Y, decoded))))
                self.trials.append(Trial(recipe.name, alpha, name, f1))

    def decode(self, weights: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
        """Yield for each way the decoded sets of the training examples, from leave-one-out weights on the distinct sets."""
        for ways in self.families.values():
            if isinstance(ways[0].decoder, ExpectedF1):
                decoder = clone(ways[0].decoder).fit(Implicit().fit(ways[0].kernel, self.sets), F1())
                yield ways[0].name, decoder.decode(weights)
                continue
            # one matrix product for all strengths, where `Standardized` would need two for each; all sets have norm 1
            scores = weights @ ways[0].kernel(self.sets)
            mean, spread = scores.mean(axis=0), scores.std(axis=0)
            for way in ways:
                power = way.decoder.strength if isinstance(way.decoder, Standardized) else 0.0
                yield way.name, self._highest((scores - power * mean) / np.maximum(spread, 1e-300) ** power)

    def _highest(self, scores: np.ndarray) -> np.ndarray:
        slack = 1e-12 * float(np.abs(scores).max())
        rows = np.flatnonzero(self.hidden >= 0)
        scores[rows, self.hidden[rows]] = -np.inf
        return self.sets[top(scores, 1, slack)[0][:, 0]]

    def best(self, recipes: Sequence[str] | None = None, ways: Sequence[str] | None = None) -> Trial:
        """Return the combination of highest F1 among some recipes and ways; of equals that of larger alpha."""
        allowed = [
            t for t in self.trials if (recipes is None or t.recipe in recipes) and (ways is None or t.way in ways)
        ]
        return max(allowed, key=lambda trial: (trial.f1, trial.alpha))

    def table(self) -> list[dict[str, Any]]:
        """Return the best alpha for each recipe and way."""
        pairs = dict.fromkeys((trial.recipe, trial.way) for trial in self.trials)
        best = [self.best([recipe], [way]) for recipe, way in pairs]
        return [{"recipe": t.recipe, "way": t.way, "alpha": t.alpha, "f1": t.f1} for t in best]

    def predict(self, trial: Trial, gram: np.ndarray, test_gram: np.ndarray) -> np.ndarray:
        """Predict sets of new inputs under one combination, by the estimator a user would write."""
        way = self.ways[trial.way]
        model = paper_estimator(Precomputed(), way.kernel, alpha=trial.alpha, decoder=way.decoder, loss=F1())
        return model.fit(gram, self.Y).predict(test_gram)


def example_f1(Y: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Compute the F1 of each example."""
    return 1.0 - F1().paired(Y, predicted)


def by_size(Y: np.ndarray, found: Mapping[str, np.ndarray]) -> list[dict[str, Any]]:
    """Return the mean F1 of each method over test examples with 1, 2, … labels, the last class open."""
    sizes, rows = Y.sum(axis=1), []
    last = int(np.quantile(sizes, 0.95, method="higher"))
    for size in range(int(sizes.min()), last + 1):
        chosen = sizes >= size if size == last else sizes == size
        if not chosen.any():
            continue
        scores = {name: float(example_f1(Y[chosen], rows_[chosen]).mean()) for name, rows_ in found.items()}
        rows.append(
            {"labels": f"{size} or more" if size == last else str(size), "examples": int(chosen.sum()), **scores}
        )
    return rows


def by_label(
    Y: np.ndarray, found: Mapping[str, np.ndarray], labels: np.ndarray, count: int = 12
) -> list[dict[str, Any]]:
    """Return the F1 of each method over the examples, for the most frequent labels."""
    rows = []
    for label in np.argsort(-Y.sum(axis=0), kind="stable")[:count]:
        true = Y[:, label] > 0
        scores = {}
        for name, predicted in found.items():
            predicted_label = predicted[:, label] > 0
            scores[name] = float(2 * (true & predicted_label).sum() / max((true.sum() + predicted_label.sum()), 1))
        rows.append({"label": str(labels[label]), "examples": int(true.sum()), **scores})
    return rows
