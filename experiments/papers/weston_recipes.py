"""Image features of digits: from pixels to histograms of gradients, one step at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from experiments.papers.weston_classifiers import FACTORS, kernel_classes
from experiments.protocol import Split, input_scales
from mercer.estimators import DependencyEstimator
from mercer.kernels.images import Jittered, blurred, deslanted, gradient_histograms

BLURS = (0.5, 0.7, 1.0)
"""Candidate widths of the blur, in pixels."""


@dataclass(frozen=True)
class Recipe:
    """Histograms of gradients of some views of a digit, joined."""

    orientations: int = 8
    cells: int = 4
    power: float = 0.5
    views: tuple[str, ...] = ("plain",)

    def features(self, images: np.ndarray) -> np.ndarray:
        """Compute one row per image."""
        parts = [gradient_histograms(_view(images, v), self.orientations, self.cells, self.power) for v in self.views]
        return np.hstack(parts)

    def __str__(self) -> str:
        views = " and ".join(self.views)
        return f"{self.orientations} directions, {self.cells} × {self.cells} cells, power {self.power:g}, {views}"


VIEWS = (("plain",), ("plain", "deslanted"), ("plain", "blurred"))
RECIPES = [Recipe(*choice) for choice in product((8, 12), (4, 5), (0.3, 0.5), VIEWS)]
"""Candidate recipes; one is chosen inside the training digits."""


PLAIN, ROOTS, BOTH = Recipe(power=1.0), Recipe(), Recipe(views=("plain", "deslanted"))

PIXELS, CHOSEN = "pixels", "recipe chosen inside"
STEPS = (
    PIXELS,
    "deslanted",
    "blurred",
    "blurred, jittered",
    "gradient histograms",
    "their square roots",
    "roots, plain + deslanted",
    CHOSEN,
)
"""Steps from the paper's features to the best."""


@dataclass(frozen=True)
class Step:
    """Step from pixels to gradients: its features, its predictions for the test digits, and its settings."""

    name: str
    predicted: np.ndarray
    chosen: str


def ladder(
    images: np.ndarray,
    labels: np.ndarray,
    split: Split,
    recipes: list[Recipe],
    histograms: Callable[[Recipe], np.ndarray],
) -> Iterator[Step]:
    """Fit KDE on each kind of features; every choice is by leave-one-out distance on the training digits."""
    train, test, y = split.train, split.test, labels[split.train]

    def learned(features: np.ndarray) -> DependencyEstimator:
        return kernel_classes(features[train], y)

    upright = _flat(deslanted(images))
    yield Step(STEPS[1], learned(upright).predict(upright[test]), "")

    smooth = {blur: _flat(blurred(images, blur)) for blur in BLURS}
    models = {blur: learned(features) for blur, features in smooth.items()}
    blur = min(models, key=lambda width: _score(models[width]))
    yield Step(STEPS[2], models[blur].predict(smooth[blur][test]), f"{blur:g} pixels")

    scales = input_scales(smooth[blur][train], FACTORS)
    jittered = [Jittered(kernel, (images.shape[1], images.shape[2])) for kernel in scales]
    model = kernel_classes(smooth[blur][train], y, jittered)
    yield Step(STEPS[3], model.predict(smooth[blur][test]), f"{blur:g} pixels")

    for name, recipe in zip(STEPS[4:7], (PLAIN, ROOTS, BOTH), strict=True):
        features = histograms(recipe)
        yield Step(name, learned(features).predict(features[test]), "")

    made = {recipe: histograms(recipe) for recipe in recipes}
    found = {recipe: learned(features) for recipe, features in made.items()}
    best = min(found, key=lambda recipe: _score(found[recipe]))
    yield Step(CHOSEN, found[best].predict(made[best][test]), str(best))


def slants(images: np.ndarray) -> np.ndarray:
    """Measure the slant of each digit: columns per row, by the moments of its ink."""
    ink = images - images.min(axis=(1, 2), keepdims=True)
    ink = ink / ink.sum(axis=(1, 2), keepdims=True)
    rows, columns = (np.arange(length, dtype=float) for length in images.shape[1:])
    down = rows - (ink.sum(axis=2) @ rows)[:, None]
    across = columns - (ink.sum(axis=1) @ columns)[:, None]
    return np.einsum("nrc,nr,nc->n", ink, down, across) / np.einsum("nrc,nr->n", ink, down**2)


def _view(images: np.ndarray, view: str) -> np.ndarray:
    if view == "plain":
        return images
    return deslanted(images) if view == "deslanted" else blurred(images, 1.0)


def _score(model: DependencyEstimator) -> float:
    assert model.loo_path_ is not None
    return float(np.min(model.loo_path_))


def _flat(images: np.ndarray) -> np.ndarray:
    return images.reshape(len(images), -1)
