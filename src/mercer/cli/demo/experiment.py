"""The experiment of the demonstration: five methods, two pre-images, parameters chosen in training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from mercer.datasets import DigitHalves
from mercer.decoders import Candidates, Decoder, FixedPoint
from mercer.embeddings import PrincipalComponents
from mercer.estimators import DependencyEstimator, NeighborsEstimator
from mercer.estimators.base import ObjectEstimator
from mercer.kernels import Gaussian
from mercer.losses import KernelLoss
from mercer.operators import ConditionalCovariance, Covariance, Identity
from mercer.report import tracked

METRIC = "output-kernel loss"
BASELINE = "k nearest neighbours"
CANDIDATE, CONTINUOUS = "best training half", "continuous"
PRE_IMAGES: dict[str, Decoder] = {CANDIDATE: Candidates(), CONTINUOUS: FixedPoint()}


@dataclass(frozen=True)
class Size:
    """Number of digits, and the settings tried for each method."""

    digits: int
    scales: tuple[float, ...]
    eps: tuple[float, ...]


FULL = Size(1797, (0.25, 0.35, 0.5, 0.7, 1.0), (0.1, 1.0, 10.0))
QUICK = Size(300, (0.35, 0.7), (0.1,))


@dataclass
class Fold:
    """Predictions for all other folds after training on one."""

    test: np.ndarray
    predictions: dict[tuple[str, str], np.ndarray]
    losses: dict[tuple[str, str], np.ndarray]
    chosen: dict[str, dict[str, Any]]


def run_folds(digits: DigitHalves, parts: list[np.ndarray], output_kernel: Gaussian, size: Size) -> list[Fold]:
    """Train on each part in turn, and test on the others."""
    loss, folds = KernelLoss(output_kernel), []
    steps = len(parts) * len(variants(digits.inputs[parts[0]], output_kernel, size))
    # matrices this small lose more to several BLAS threads than they gain
    with tracked("completing digits", steps) as begin, threadpool_limits(1):
        for number, train in enumerate(parts, start=1):
            test = np.setdiff1d(np.concatenate(parts), train)
            fold = Fold(test, {}, {}, {})
            inputs, outputs = digits.inputs[train], digits.outputs[train]
            for method, models in variants(inputs, output_kernel, size).items():
                begin(f"{method}, fold {number} of {len(parts)}")
                model = select(models, inputs, outputs)
                fold.chosen[method] = fix_parameters(model)
                for pre_image, decoder in PRE_IMAGES.items():
                    model.set_params(decoder=decoder).fit(inputs, outputs)
                    predicted = model.predict(digits.inputs[test])
                    fold.predictions[method, pre_image] = predicted
                    fold.losses[method, pre_image] = loss.paired(digits.outputs[test], predicted)
            folds.append(fold)
    return folds


def variants(inputs: np.ndarray, output_kernel: Gaussian, size: Size) -> dict[str, list[ObjectEstimator]]:
    """Return the settings of each method to choose from: the input scale, in medians, and eps."""
    median = Gaussian(scale="median").resolve(inputs).scale
    kernels = [Gaussian(float(factor * median)) for factor in size.scales]
    eps_and_kernels = [(eps, kernel) for eps in size.eps for kernel in kernels]
    return {
        # the order of neighbours does not depend on the scale
        BASELINE: [NeighborsEstimator(kernels[-1], output_kernel, k="loo")],
        "identity (Cortes)": [DependencyEstimator(kernel, output_kernel, Identity()) for kernel in kernels],
        "principal components (Weston)": [
            DependencyEstimator(kernel, output_kernel, embedding=PrincipalComponents()) for kernel in kernels
        ],
        "covariance (Kadri)": [DependencyEstimator(kernel, output_kernel, Covariance()) for kernel in kernels],
        "conditional covariance (Kadri)": [
            DependencyEstimator(kernel, output_kernel, ConditionalCovariance(eps)) for eps, kernel in eps_and_kernels
        ],
    }


def select(models: list[ObjectEstimator], inputs: np.ndarray, outputs: np.ndarray) -> ObjectEstimator:
    """Return the model with the smallest leave-one-out loss over its settings and alpha (or k)."""
    fitted = [clone(model).fit(inputs, outputs) for model in models]
    return min(fitted, key=lambda model: float(np.min(model.loo_path_)))


def fix_parameters(model: ObjectEstimator) -> dict[str, Any]:
    """Set the parameters of a model to those chosen in training, and return them."""
    if "k" in model.get_params(deep=False):
        model.set_params(k=int(model.k_))
        return {"k": model.k}
    model.set_params(alpha=float(model.alpha_))
    eps = getattr(model.operator, "eps", None)
    chosen = {"input scale": model.input_kernel_.scale, "alpha": model.alpha}
    return chosen if eps is None else {**chosen, "eps": eps}


def mean_losses(folds: list[Fold]) -> list[dict[str, Any]]:
    """Return the mean loss of each method and pre-image, with its standard deviation over the folds."""
    return [_row(way, [fold.losses[way] for fold in folds]) for way in folds[0].losses]


def mean_losses_by_digit(folds: list[Fold], labels: np.ndarray) -> list[dict[str, Any]]:
    """Return the mean losses of each digit, for the baseline and the best method."""
    return [
        _row(way, [fold.losses[way][labels[fold.test] == digit] for fold in folds]) | {"digit": int(digit)}
        for digit in np.unique(labels)
        for way in pictured(folds)
    ]


def _row(way: tuple[str, str], losses: list[np.ndarray]) -> dict[str, Any]:
    means = [np.mean(each) for each in losses]
    spread = float(np.std(means, ddof=1))
    return {"method": way[0], "pre-image": way[1], "metric": METRIC, "value": float(np.mean(means)), "error": spread}


def pictured(folds: list[Fold]) -> list[tuple[str, str]]:
    """Return the methods and pre-images to picture: the baseline, and the best method decoded twice."""
    rows = [row for row in mean_losses(folds) if row["method"] != BASELINE]
    best = min(rows, key=lambda row: row["value"])["method"]
    return [(BASELINE, CANDIDATE), (best, CANDIDATE), (best, CONTINUOUS)]
