"""Methods of the poster for all settings at once, on Gram matrices, and the choice of a setting by inner folds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from experiments.protocol import Split
from mercer.core.arrays import to_numpy
from mercer.estimators import EntangledRidge, OutputKernelLearning
from mercer.kernels import Precomputed
from mercer.operators import Nystroem, entanglement
from mercer.selection.entanglement import EntanglementObjective, ascend, span_of_outputs

ALPHAS = np.logspace(-3, 2, 11)
"""Values of alpha, for kernels whose mean diagonal is one."""

Path = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""(Gram matrix of all, outputs of all, positions to learn from, positions to predict) → (settings, predictions, p)."""


@dataclass(frozen=True)
class Ascent:
    """Settings for learning an entangled kernel."""

    rank: int
    gamma: float
    steps: int


MEASURES = {
    "product_distance": "distance to the nearest separable kernel",
    "asymmetry": "distance to symmetric blocks",
    "negativity": "negativity",
    "kraus_rank": "Choi–Kraus rank",
    "effective_rank": "effective Choi–Kraus rank",
    "is_entangled": "share proved entangled",
}
"""Measure of a learned kernel (`mercer.operators.Entanglement`) → its name in the tables."""

ASCENTS = tuple(Ascent(50, gamma, steps) for gamma in (0.0, 0.1, 0.9) for steps in (10, 20, 40))


def independent_path(gram: np.ndarray, outputs: np.ndarray, train: np.ndarray, held: np.ndarray) -> np.ndarray:
    """Predict by kernel ridge regression, each output for itself, for every alpha."""
    mean, targets = _around_mean(outputs[train])
    return mean + _ridges(gram[np.ix_(train, train)], gram[np.ix_(held, train)], targets, np.ones(targets.shape[1]))


def covariance_path(gram: np.ndarray, outputs: np.ndarray, train: np.ndarray, held: np.ndarray) -> np.ndarray:
    """Predict with the covariance of the training outputs (of mean eigenvalue one on their span) as separable kernel."""
    mean, targets = _around_mean(outputs[train])
    left, lengths, span = np.linalg.svd(targets, full_matrices=False)
    gains = lengths**2 / max(float(np.mean(lengths**2)), np.finfo(float).tiny)
    return mean + _ridges(gram[np.ix_(train, train)], gram[np.ix_(held, train)], left * lengths, gains) @ span


def output_kernel_path(gram: np.ndarray, outputs: np.ndarray, train: np.ndarray, held: np.ndarray) -> np.ndarray:
    """Predict by output kernel learning (Dinuzzo et al.) for every alpha, in units of the largest singular value to the ⅔."""
    kernel = Precomputed(gram)
    # L scales as the outputs to the power ⅔, and alpha is relative to it
    mean, targets = _around_mean(outputs[train])
    unit = float(np.linalg.norm(targets, 2)) ** (2.0 / 3.0)
    models = (
        OutputKernelLearning(kernel, alpha=float(alpha * unit), tol=1e-4, fit_intercept=False) for alpha in ALPHAS
    )
    return mean + np.stack([model.fit(train, targets).predict(held) for model in models])


def entangled_paths(ascents: Sequence[Ascent], seed: int) -> tuple[Path, Path]:
    """Return EKL and ptrEKL for every ascent and alpha. They share learned kernels: call one after the other on the same data."""
    kept: dict[bytes, list[tuple[np.ndarray, np.ndarray]]] = {}

    def both(
        gram: np.ndarray, outputs: np.ndarray, train: np.ndarray, held: np.ndarray
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        key = train.tobytes() + held.tobytes() + gram.tobytes()
        if key not in kept:
            kept[key] = entangled_pairs(gram, outputs, Split(train, held), ascents, seed)
        return kept[key]

    def path(mode: int) -> Path:
        return lambda *data: np.concatenate([pair[mode] for pair in both(*data)])

    return path(0), path(1)


def entangled_pairs(
    gram: np.ndarray, outputs: np.ndarray, split: Split, ascents: Sequence[Ascent], seed: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Predict by EKL and by ptrEKL with one learned kernel, (alphas, predictions, p) each: `EntangledRidge` for every alpha.

    Ascents that differ in the number of steps alone are one ascent, left at each of them.
    """
    train, held = split.train, split.test
    mean, targets = _around_mean(outputs[train])
    features = Nystroem(Precomputed(gram), tol=1e-6).fit(train)
    rows, new = to_numpy(features(train)), to_numpy(features(held))
    basis = span_of_outputs(targets)
    learned: dict[Ascent, np.ndarray] = {}
    for rank, gamma in dict.fromkeys((ascent.rank, ascent.gamma) for ascent in ascents):
        own = [ascent for ascent in ascents if (ascent.rank, ascent.gamma) == (rank, gamma)]
        objective = EntanglementObjective(rows, targets, gamma, basis)
        shape = (min(rank, outputs.shape[1] * rows.shape[1]), *objective.shape)
        start = np.random.RandomState(seed).standard_normal(shape)  # as `learn_maps` draws it
        found = ascend(objective, start, [ascent.steps for ascent in own])
        learned |= {ascent: each.maps for ascent, each in zip(own, found, strict=True)}
    pairs = [_predicted(learned[ascent], rows, new, targets, basis) for ascent in ascents]
    return [(mean + whole, mean + scalar) for whole, scalar in pairs]


def _predicted(
    maps: np.ndarray, rows: np.ndarray, new: np.ndarray, targets: np.ndarray, basis: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Predict with the whole kernel of the maps and with its partial trace, for every alpha."""
    n, p = targets.shape
    # a mean diagonal of one, as in EntangledRidge
    maps = maps * np.sqrt(n * p / np.sum((maps @ rows.T) ** 2))
    flat = maps.reshape(-1, maps.shape[2])
    trace = flat.T @ flat / p
    scalar = _ridges(rows @ trace @ rows.T, new @ trace @ rows.T, targets, np.ones(p))
    # the whole kernel: one feature per map, for each sample and each direction of the outputs
    left, right = (np.einsum("im,sqm->iqs", each, maps) for each in (rows, new))
    design, wanted = left.reshape(-1, len(maps)), (targets @ basis).ravel()
    values, vectors = np.linalg.eigh(design.T @ design)
    weights = vectors @ ((vectors.T @ (design.T @ wanted))[:, None] / (np.maximum(values, 0.0)[:, None] + ALPHAS))
    return np.einsum("iqs,sa->aiq", right, weights) @ basis.T, scalar


def measures(gram: np.ndarray, outputs: np.ndarray, train: np.ndarray, ascent: Ascent, seed: int) -> dict[str, float]:
    """Measure the entanglement, on the training samples, of the kernel that EKL learns from them."""
    targets = _around_mean(outputs[train])[1]
    rank = min(ascent.rank, targets.size)
    model = EntangledRidge(Precomputed(gram), kraus_rank=rank, gamma=ascent.gamma, max_iter=ascent.steps)
    model.set_params(random_state=seed, fit_intercept=False, alpha=1.0)
    found = entanglement(model.fit(train, targets).kernel_, train)
    return {name: float(getattr(found, name)) for name in MEASURES}


def inner_errors(
    path: Path, grams: Sequence[np.ndarray], outputs: np.ndarray, train: np.ndarray, seed: int
) -> np.ndarray:
    """Compute squared errors on inner folds, (Gram matrices, settings, folds): one fold per sample up to 15, else five."""
    order = np.random.default_rng(seed).permutation(train)
    folds = np.array_split(order, len(train) if len(train) <= 15 else 5)
    return np.array(
        [
            [
                np.sum((path(gram, outputs, np.setdiff1d(train, fold), fold) - outputs[fold]) ** 2, axis=(1, 2))
                for fold in folds
            ]
            for gram in grams
        ]
    ).transpose(0, 2, 1)


def chosen(
    path: Path, grams: Sequence[np.ndarray], outputs: np.ndarray, train: np.ndarray, seed: int
) -> tuple[int, int]:
    """Choose the Gram matrix and the setting of least squared error over inner folds."""
    return least(inner_errors(path, grams, outputs, train, seed).sum(axis=2))


def least(errors: np.ndarray) -> tuple[int, int]:
    """Return the row and the column of the least error."""
    best, setting = np.unravel_index(int(np.argmin(errors)), errors.shape)
    return int(best), int(setting)


def nested(
    path: Path, grams: Sequence[np.ndarray], outputs: np.ndarray, split: Split, seed: int
) -> tuple[np.ndarray, tuple[int, int]]:
    """Predict the test outputs with the Gram matrix and the setting that inner folds chose, and return those two too."""
    best, setting = chosen(path, grams, outputs, split.train, seed)
    return path(grams[best], outputs, np.sort(split.train), split.test)[setting], (best, setting)


def _around_mean(outputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    mean = outputs.mean(axis=0)
    return mean, outputs - mean


def _ridges(gram: np.ndarray, cross: np.ndarray, targets: np.ndarray, gains: np.ndarray) -> np.ndarray:
    """Predict by ridge regression with gains_d · k in direction d, for every alpha: (alphas, predictions, directions)."""
    values, vectors = np.linalg.eigh(gram)
    scaled = np.maximum(values, 0.0)[:, None] * gains
    rotated = vectors.T @ targets
    return np.stack([cross @ vectors @ (gains * rotated / (scaled + alpha)) for alpha in ALPHAS])
