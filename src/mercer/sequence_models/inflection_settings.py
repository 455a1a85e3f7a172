"""Which columns matter to a decision, learned from rows that were left out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, lapack
from scipy.optimize import minimize

from mercer.sequence_models.hamming import hamming_kernel, weight_slopes

_WIDE_AND_NARROW = (0.15, 0.6)
"""What a difference costs to begin with: the first kernel of the sum reaches further than the second."""
_RIDGE, _TEMPERATURE = 0.1, 0.15
_STRENGTH = 0.02
_STEPS_DOWN, _STEPS_UP = 6.0, 4.0
"""How far a logarithm may move from where it started."""


@dataclass
class Settings:
    r"""The kernel :math:`k(x, z) = \sum_m a_m \exp(-\sum_j w_{mj} [x_j \ne z_j])`, the ridge, and how sharp scores are read."""

    weights: np.ndarray
    """(kernels, columns)."""
    sizes: np.ndarray
    ridge: float = _RIDGE
    temperature: float = _TEMPERATURE

    @classmethod
    def starting(cls, columns: int) -> Settings:
        """What is believed before learning: all columns matter alike."""
        kernels = len(_WIDE_AND_NARROW)
        return cls(np.outer(_WIDE_AND_NARROW, np.ones(columns)), np.full(kernels, 1.0 / kernels))

    def logarithms(self) -> np.ndarray:
        """All of them as one vector without bounds."""
        return np.log(np.concatenate([self.weights.ravel(), self.sizes, [self.ridge, self.temperature]]))

    def at(self, logarithms: np.ndarray) -> Settings:
        """Settings of the same shape with these values."""
        found = np.exp(logarithms)
        kernels, columns = self.weights.shape
        weights, sizes = found[: kernels * columns], found[kernels * columns : -2]
        return Settings(weights.reshape(kernels, columns), sizes, float(found[-2]), float(found[-1]))

    def terms(self, A: np.ndarray, B: np.ndarray) -> list[np.ndarray]:
        """The kernels that are summed."""
        return [size * hamming_kernel(A, B, weights) for size, weights in zip(self.sizes, self.weights, strict=True)]

    def kernel(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """K of each row of `A` with each of `B`."""
        return np.sum(self.terms(A, B), axis=0)


def learn_settings(rows: np.ndarray, targets: np.ndarray, prior: np.ndarray, rounds: int) -> Settings:
    """The settings under which rows left out one at a time are told best, kept near where they start by a penalty.

    `rows` holds numbers, `targets` one-hot rows, and `prior` is what a ridge that knows nothing predicts.
    Without rounds, the settings are those they start from.
    """
    start = Settings.starting(rows.shape[1])
    origin = start.logarithms()
    if not rounds:
        return start
    strength = _STRENGTH / np.sqrt(len(rows))

    def loss(values: np.ndarray) -> tuple[float, np.ndarray]:
        away = values - origin
        found, slope = leave_one_out_loss(start.at(values), rows, targets, prior)
        return found + strength * float(away @ away), slope + 2.0 * strength * away

    bounds = [(value - _STEPS_DOWN, value + _STEPS_UP) for value in origin]
    found = minimize(loss, origin, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": rounds})
    return start.at(found.x)


def leave_one_out_loss(
    settings: Settings, rows: np.ndarray, targets: np.ndarray, prior: np.ndarray
) -> tuple[float, np.ndarray]:
    r"""The mean of :math:`-\log p(y_i)`, each row predicted by the ridge without it, and its slope in the logarithms.

    With B = (K + αI)⁻¹ and Z = B(Y − prior) the prediction of row i without it is :math:`y_i - z_i / B_{ii}`, exactly; p is the
    softmax of predictions over the temperature.
    """
    n = len(rows)
    terms = settings.terms(rows, rows)
    inverse = _inverse(np.sum(terms, axis=0) + settings.ridge * np.eye(n))
    dual, own = inverse @ (targets - prior), np.diag(inverse)
    predicted = targets - dual / own[:, None]
    logs = log_softmax(predicted / settings.temperature)
    loss = -float(np.sum(logs * targets)) / n
    # backwards: through the softmax to the predictions, through them to the inverse, and from there to the kernel
    excess = (np.exp(logs) - targets) / (settings.temperature * n)
    by_temperature = -float(np.sum(excess * predicted))
    carried = inverse @ (excess / own[:, None])
    by_own = np.sum(excess * dual, axis=1) / own**2
    by_kernel = 0.5 * (dual @ carried.T + carried @ dual.T) - (inverse * by_own) @ inverse
    by_weights = [
        weights * weight_slopes(rows, by_kernel * t) for weights, t in zip(settings.weights, terms, strict=True)
    ]
    by_sizes = [float(np.sum(by_kernel * term)) for term in terms]
    by_ridge = settings.ridge * float(np.trace(by_kernel))
    return loss, np.concatenate([*by_weights, by_sizes, [by_ridge, by_temperature]])


def log_softmax(scores: np.ndarray) -> np.ndarray:
    """The logarithm of the softmax of each row."""
    scores = scores - scores.max(axis=1, keepdims=True)
    return scores - np.log(np.sum(np.exp(scores), axis=1, keepdims=True))


def _inverse(system: np.ndarray) -> np.ndarray:
    """The inverse of a positive definite matrix."""
    lower, _ = lapack.dpotri(cholesky(system, lower=True, check_finite=False), lower=1)
    return np.tril(lower) + np.tril(lower, -1).T
