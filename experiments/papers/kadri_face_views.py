"""Methods of Table 3 on one split of the faces: from the right view to the front view."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.experiment import Piece
from experiments.protocol import Split, best_by_leave_one_out, input_scales, paper_estimator
from mercer.datasets import FacePairs
from mercer.estimators import DependencyEstimator, JointKernelMap, NeighborsEstimator, ObjectEstimator
from mercer.kernels import Gaussian, Linear, Patches
from mercer.operators import (
    ConditionalCovariance,
    CoordinateJoint,
    Covariance,
    Identity,
    PatchwiseJoint,
    TensorProductJoint,
)
from mercer.selection import LeaveOneOut

MEAN, NEIGHBOURS, CORTES = "mean face", "k-NN", "Cortes"
COVARIANCE, CONDITIONAL = "covariance", "conditional"
SCALAR, JOINT = "Cortes, patch kernel", "JKM patch, size chosen"
MIXED = "JKM patch + whole"
RANDOM, NEW_PEOPLE = "random", "new people"

FACTORS, EPS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0), (0.01, 0.1, 1.0)
WIDER = f"{CORTES}, σk = 4"
PATCHES = (4, 6, 10)
ALPHAS = np.logspace(-5, 1, 13)


@dataclass(frozen=True)
class PatchChoices:
    """Grids for patches: sizes, scales in medians, and their weight relative to the whole image."""

    sizes: tuple[int, ...]
    factors: tuple[float, ...]
    weights: tuple[float, ...]


FULL = PatchChoices(PATCHES, (1.0, 2.0, 4.0), (0.25, 0.5, 0.75))
QUICK = PatchChoices((6, 10), (1.0,), (0.5,))


def joint_of(size: int) -> str:
    """Return the name of the joint kernel map with patches of one size."""
    return f"JKM patch {size}×{size}"


METHODS = (
    *(MEAN, NEIGHBOURS, CORTES, COVARIANCE, CONDITIONAL, SCALAR),
    *(joint_of(size) for size in PATCHES),
    *(JOINT, MIXED, WIDER),
)
"""Methods in the order of the table."""


def split_faces(person: np.ndarray, kind: str, seed: int, train: int = 20, test: int = 80) -> Split:
    """Split pairs at random, or into ten people to train on and ten others to test on."""
    rng = np.random.default_rng(seed)
    if kind == RANDOM:
        order = rng.permutation(len(person))
        return Split(order[:train], order[train : train + test])
    people = rng.permutation(np.unique(person))
    known = np.isin(person, people[: len(people) // 2])
    return Split(rng.permutation(np.flatnonzero(known))[:train], rng.permutation(np.flatnonzero(~known))[:test])


def flat_sides(pairs: FacePairs, split: Split) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return training inputs and outputs, then test inputs and outputs, a row of pixels each."""
    X, Y = (views.reshape(len(views), -1) for views in (pairs.inputs, pairs.outputs))
    return X[split.train], Y[split.train], X[split.test], Y[split.test]


@dataclass
class Found:
    """Squared error per pixel of each method, its settings, and its predictions for the test faces."""

    errors: dict[str, float]
    chosen: dict[str, Any]
    predictions: dict[str, np.ndarray]


def compare(pairs: FacePairs, split: Split, choices: PatchChoices = FULL) -> Found:
    """Run every method, with all settings chosen by leave-one-out within the training faces."""
    shape = pairs.inputs.shape[1:]
    inputs, outputs, queries, truth = flat_sides(pairs, split)
    found = Found({}, {}, {})

    def keep(method: str, predicted: np.ndarray, chosen: Any = None) -> None:
        found.errors[method] = float(np.mean((predicted - truth) ** 2))
        found.predictions[method] = predicted.reshape(-1, *shape)
        if chosen is not None:
            found.chosen[method] = chosen

    keep(MEAN, np.broadcast_to(outputs.mean(axis=0), truth.shape))
    for method, models in _whole_image(inputs, shape, choices).items():
        model = best_by_leave_one_out(models, inputs, outputs)
        keep(method, model.predict(queries), _settings(model))
    joints = {
        size: best_by_leave_one_out(_patchwise(inputs, shape, size, choices), inputs, outputs) for size in choices.sizes
    }
    chosen = min(joints.values(), key=_score)
    for size, model in joints.items():
        keep(joint_of(size), model.predict(queries), _settings(model))
    keep(JOINT, chosen.predict(queries), _settings(chosen))
    mixed = best_by_leave_one_out(_mixed(inputs, shape, choices), inputs, outputs)
    keep(MIXED, mixed.predict(queries), _settings(mixed))
    return found


def at_own_settings(pairs: FacePairs, split: Split) -> dict[str, float]:
    """Run the paper's λ and σk as printed, on pixels in [0, 1]; its JKM has no λ, so a tiny one is used."""
    inputs, outputs, queries, truth = flat_sides(pairs, split)
    joint = PatchwiseJoint(pairs.inputs.shape[1:], 10, 5, Gaussian(3.0))
    models: dict[str, DependencyEstimator | JointKernelMap] = {
        CORTES: paper_estimator(Gaussian(1.0), Linear(), alpha=0.1),
        COVARIANCE: paper_estimator(Gaussian(4.0), Linear(), Covariance(), alpha=0.1),
        CONDITIONAL: paper_estimator(Gaussian(4.0), Linear(), ConditionalCovariance(0.1), alpha=0.1),
        joint_of(10): JointKernelMap(joint, alpha=1e-6, fit_intercept=False),
        WIDER: paper_estimator(Gaussian(4.0), Linear(), alpha=0.1),
    }
    return {
        method: float(np.mean((model.fit(inputs, outputs).predict(queries) - truth) ** 2))
        for method, model in models.items()
    }


def _whole_image(inputs: np.ndarray, shape: tuple[int, ...], choices: PatchChoices) -> dict[str, list[ObjectEstimator]]:
    kernels = input_scales(inputs, FACTORS)
    by_patches = [
        Patches((shape[0], shape[1]), 10, 5, kernel) for kernel in _on_patches(inputs, shape, 10, choices.factors)
    ]
    return {
        # the order of neighbours does not depend on the scale
        NEIGHBOURS: [NeighborsEstimator(kernels[0], Linear(), k="loo")],
        CORTES: [paper_estimator(kernel, Linear(), Identity()) for kernel in kernels],
        COVARIANCE: [paper_estimator(kernel, Linear(), Covariance()) for kernel in kernels],
        CONDITIONAL: [
            paper_estimator(kernel, Linear(), ConditionalCovariance(eps)) for kernel in kernels for eps in EPS
        ],
        SCALAR: [paper_estimator(kernel, Linear(), Identity()) for kernel in by_patches],
    }


def _patchwise(inputs: np.ndarray, shape: tuple[int, ...], size: int, choices: PatchChoices) -> list[ObjectEstimator]:
    kernels = _on_patches(inputs, shape, size, choices.factors)
    return [_map(PatchwiseJoint((shape[0], shape[1]), size, size // 2, kernel)) for kernel in kernels]


def _mixed(inputs: np.ndarray, shape: tuple[int, ...], choices: PatchChoices) -> list[ObjectEstimator]:
    """Make joint kernel maps of patches plus the whole image, the latter at the median scale."""
    (whole,) = input_scales(inputs, (1.0,))
    return [
        _map(
            PatchwiseJoint((shape[0], shape[1]), size, size // 2, patch) * weight
            + TensorProductJoint(whole) * (1.0 - weight)
        )
        for size in choices.sizes
        for patch in _on_patches(inputs, shape, size, choices.factors)
        for weight in choices.weights
    ]


def _map(joint: CoordinateJoint) -> JointKernelMap:
    return JointKernelMap(joint, LeaveOneOut(ALPHAS), fit_intercept=False)


def _on_patches(inputs: np.ndarray, shape: tuple[int, ...], size: int, factors: Iterable[float]) -> list[Gaussian]:
    """Make Gaussians on patches, with multiples of the median distance of patches as scales."""
    found = Patches((shape[0], shape[1]), size, size // 2, Gaussian("median")).resolve(inputs).kernel
    assert isinstance(found, Gaussian)
    return [Gaussian(float(found.scale) * factor) for factor in factors]


def _score(model: Any) -> float:
    return float(np.min(model.loo_path_))


def _settings(model: Any) -> dict[str, Any]:
    """Return the settings that leave-one-out chose."""
    if isinstance(model, NeighborsEstimator):
        return {"k": int(model.k_)}
    kernel = model.joint_kernel if isinstance(model, JointKernelMap) else model.input_kernel
    settings = {"kernel": repr(kernel), "alpha": float(model.alpha_)}
    return settings if isinstance(model, JointKernelMap) else settings | {"operator": repr(model.operator)}


def face_pictures(pairs: FacePairs, split: Split, found: Found, methods: Iterable[str]) -> list[Any]:
    """Return the first six test faces: the input, the truth, and each method's prediction."""
    shown = []
    for i, position in enumerate(split.test[:6].tolist()):
        truth = pairs.outputs[position]
        entries = [["given", pairs.inputs[position], ""], ["truth", truth, ""]]
        for method in methods:
            predicted = found.predictions[method][i]
            entries.append([method, predicted, f"{np.mean((predicted - truth) ** 2):.4f}"])
        shown.append([[name, np.round(image, 2).tolist(), score] for name, image, score in entries])
    return shown


def draws(seeds: Sequence[int], small: bool) -> list[Piece]:
    """Return a piece for each draw, at random and of new people."""
    kinds = {RANDOM: "random", NEW_PEOPLE: "new-people"}
    return [
        Piece(f"{key}-{seed}", {"kind": kind, "seed": seed, "small": small})
        for kind, key in kinds.items()
        for seed in seeds
    ]
