"""Better recipe for Weston's string task: kernels, alpha and the weight of the class by exact leave-one-out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from experiments.papers.weston_strings_methods import DECIMALS, RULES, Task, bell, decomposed
from mercer.core.arrays import to_numpy
from mercer.solvers import GramEigh, RidgePath

LENGTHS = ((3,), (2,), (1, 2, 3))
"""Lengths of the common subsequences of inputs; for several, the mean of their kernels."""
DECAYS = (0.01, 0.1)
SCALES = (0.5, 1.0, 2.0)
ALPHAS = tuple(float(alpha) for alpha in np.logspace(-2, 2, 9))
OUTPUT_DECAYS = (0.01, 0.5)
CLASS_WEIGHTS = (0.0, 1.0, 3.0)
"""c in l(y, y′) + c·[same class], the output kernel."""

INPUTS = tuple(product(LENGTHS, DECAYS, SCALES))

Recipe = tuple[int, int, int, int]
"""Positions in `INPUTS`, `ALPHAS`, `OUTPUT_DECAYS` and `CLASS_WEIGHTS`."""


@dataclass(frozen=True)
class Step:
    """Part of the grid to choose from, and the number of best recipes that are averaged."""

    name: str
    description: str
    inputs: tuple[int, ...] = tuple(range(len(INPUTS)))
    outputs: tuple[int, ...] = tuple(range(len(OUTPUT_DECAYS)))
    classes: tuple[int, ...] = tuple(range(len(CLASS_WEIGHTS)))
    averaged: int = 1
    zero_norm: str = "left out"


_PAPER = tuple(i for i, (lengths, decay, _) in enumerate(INPUTS) if lengths == (3,) and decay == 0.01)
_STRINGS = (0,)

STEPS = (
    Step("leave-one-out", "all output components, our widths and alphas", _PAPER, (0,), _STRINGS),
    Step("+ outputs", "the decay of the output kernel chosen too", _PAPER, classes=_STRINGS),
    Step("+ inputs", "lengths and decay of the input kernel chosen too", classes=_STRINGS),
    Step("+ classes", "the class added to the output kernel, its weight chosen"),
    Step("+ mean of five", "the five best recipes averaged", averaged=5),
    Step("zero norm kept", "the last, with outputs of zero norm as candidates", averaged=5, zero_norm="kept"),
)
"""Each step adds one choice to the one before, except for the last, which removes one."""

STRINGS_ONLY, BEST = STEPS[2].name, STEPS[4].name


class Recipes:
    """Every recipe of the grid on one task."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.inputs = [bell(gram, scale) for gram in self._input_grams() for scale in SCALES]
        self.outputs = [task.gram(task.pairs.outputs, decay=decay) for decay in OUTPUT_DECAYS]
        self.same = (task.pairs.classes[:, None] == task.pairs.classes).astype(float)

    def _input_grams(self) -> Iterator[np.ndarray]:
        for lengths, decay in product(LENGTHS, DECAYS):
            grams = [self.task.gram(self.task.pairs.inputs, length, decay) for length in lengths]
            yield np.mean(grams, axis=0)

    def tried(self, train: np.ndarray, test: np.ndarray) -> tuple[dict[str, np.ndarray], list[Recipe]]:
        """Compute test losses of every step, with recipes chosen by leave-one-out on the training part; return the best too."""
        spectra = [decomposed(gram[np.ix_(train, train)]) for gram in self.inputs]
        left_out = self._leave_one_out(spectra, train)
        chosen = {step.name: _best(left_out[step.zero_norm], step) for step in STEPS}
        losses = {step.name: self._test(spectra, chosen[step.name], train, test, step.zero_norm) for step in STEPS}
        return losses, chosen[BEST]

    def _leave_one_out(self, spectra: list[GramEigh], train: np.ndarray) -> dict[str, np.ndarray]:
        """Compute the class loss of each recipe plus a tiny multiple of the distance before the pre-image, to break ties."""
        square, own = np.ix_(train, train), np.arange(len(train))
        classes, same = self.task.pairs.classes[train], self.same[square]
        outputs = [gram[square] for gram in self.outputs]
        usable = {rule: self._usable(train, rule) for rule in RULES}
        shape = (len(spectra), len(ALPHAS), len(outputs), len(CLASS_WEIGHTS))
        losses = {rule: np.empty(shape) for rule in RULES}
        for i, a in product(range(shape[0]), range(shape[1])):
            weights = to_numpy(RidgePath(spectra[i], None).left_out_points(ALPHAS[a]))
            by_class = weights @ same
            class_risk = _risk(weights, by_class, same)
            for o, gram in enumerate(outputs):
                by_string = weights @ gram
                string_risk = _risk(weights, by_string, gram)
                for c, weight in enumerate(CLASS_WEIGHTS):
                    distances = np.round(np.diag(gram) - 2.0 * (by_string + weight * by_class), DECIMALS)
                    distances[own, own] = np.inf  # the output of a pair is not a candidate for it
                    risk = (string_risk + weight * class_risk) / (1.0 + weight)
                    for rule in RULES:
                        nearest = usable[rule][np.argmin(distances[:, usable[rule]], axis=1)]
                        losses[rule][i, a, o, c] = np.mean(classes[nearest] != classes) + 1e-6 * risk
        return losses

    def _test(
        self, spectra: list[GramEigh], recipes: list[Recipe], train: np.ndarray, test: np.ndarray, rule: str
    ) -> np.ndarray:
        """Compute the losses of the mean of some recipes: averaging distances amounts to adding output kernels."""
        square, across = np.ix_(train, train), np.ix_(test, train)
        distances, mean = np.zeros((2, len(test), len(train)))
        for i, a, o, c in recipes:
            weights = self.inputs[i][across] @ RidgePath(spectra[i], None).coefficients(ALPHAS[a])[0]
            gram = self.outputs[o][square] + CLASS_WEIGHTS[c] * self.same[square]
            distances += (np.diag(gram) - 2.0 * weights @ gram) / (1.0 + CLASS_WEIGHTS[c]) / len(recipes)
            mean += weights / len(recipes)
        truth = self.task.outputs
        before = np.diag(truth)[test] + np.sum(mean * (mean @ truth[square] - 2.0 * truth[across]), axis=1)
        usable = self._usable(train, rule)
        chosen = usable[np.argmin(np.round(distances, DECIMALS)[:, usable], axis=1)]
        return self.task.losses(train[chosen], before, test)

    def _usable(self, train: np.ndarray, rule: str) -> np.ndarray:
        return np.flatnonzero(self.task.seen[train]) if rule == "left out" else np.arange(len(train))


def describe(recipe: Recipe) -> str:
    """Describe a recipe in words, without its alpha."""
    i, _, o, c = recipe
    lengths, decay, scale = INPUTS[i]
    letters = "+".join(map(str, lengths))
    weight = CLASS_WEIGHTS[c]
    return (
        f"inputs {letters} letters, decay {decay:g}, σ {scale:g}; outputs decay {OUTPUT_DECAYS[o]:g}, class {weight:g}"
    )


def grid() -> dict[str, Any]:
    """Return the grid."""
    return {
        "lengths": [list(lengths) for lengths in LENGTHS],
        "decays": list(DECAYS),
        "scales": list(SCALES),
        "alphas": list(ALPHAS),
        "output_decays": list(OUTPUT_DECAYS),
        "class_weights": list(CLASS_WEIGHTS),
    }


def _best(losses: np.ndarray, step: Step) -> list[Recipe]:
    """Return the recipes of a step with the smallest losses."""
    allowed = np.full(losses.shape, np.inf)
    part = np.ix_(step.inputs, range(len(ALPHAS)), step.outputs, step.classes)
    allowed[part] = losses[part]
    order = np.argsort(allowed, axis=None, kind="stable")[: step.averaged]
    found = zip(*np.unravel_index(order, losses.shape), strict=True)
    return [(int(i), int(a), int(o), int(c)) for i, a, o, c in found]


def _risk(weights: np.ndarray, products: np.ndarray, gram: np.ndarray) -> float:
    """Compute the mean of ‖h(x_j) − ψ(y_j)‖² with h(x_j) = Σ w_i ψ(y_i)."""
    return float(np.mean(np.diag(gram) - 2.0 * np.diag(products) + np.sum(products * weights, axis=1)))
