"""Which columns of a context matter, learned from words that were left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

from mercer.sequence_models.hamming import hamming_gram, weight_slopes


@dataclass
class Settings:
    """What a ridge over contexts is told: what a difference in each column costs, and three numbers."""

    weights: np.ndarray
    ridge: float = 0.1
    offset: float = 0.1
    """Added to the kernel: how near everything is to everything."""
    sharpness: float = 5.0
    """How sure the nearest chunk is: p(c) ∝ exp(−½ sharpness ‖h − ψ_c‖²)."""

    def logarithms(self) -> np.ndarray:
        """All of them as one vector without bounds."""
        return np.log(np.concatenate([self.weights, [self.ridge, self.offset, self.sharpness]]))

    @classmethod
    def from_logarithms(cls, values: np.ndarray) -> Settings:
        """The opposite way."""
        found = np.exp(values)
        return cls(found[:-3], *(float(value) for value in found[-3:]))


@dataclass
class Examples:
    """Contexts of input symbols and the chunks they stood for."""

    contexts: np.ndarray
    chunks: np.ndarray
    options: np.ndarray
    """Boolean, (examples, chunks): what each could have stood for."""
    features: np.ndarray
    """ψ of every chunk."""
    folds: np.ndarray
    """Which part each example belongs to; those of one word are in one part."""


def learn_settings(groups: Sequence[Examples], start: Settings, strength: float = 0.2, rounds: int = 20) -> Settings:
    r"""The settings with the least loss, :math:`-\log p(c_i)` summed over parts left out in turn.

    Each group has its own ridge and all share the settings, which a penalty ½ `strength` ‖θ − θ₀‖² on their logarithms
    keeps near `start`.
    """
    theta = start.logarithms()

    def loss(values: np.ndarray) -> tuple[float, np.ndarray]:
        away = values - theta
        total, slope = 0.5 * strength * away @ away, strength * away
        for group in groups:
            value, change = held_out_loss(values, group)
            total, slope = total + value, slope + change
        return float(total), slope

    bounds = [(-7.0, 3.0)] * len(theta)
    found = minimize(loss, theta, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": rounds})
    return Settings.from_logarithms(found.x)


def held_out_loss(values: np.ndarray, group: Examples) -> tuple[float, np.ndarray]:
    """The loss of one group over its parts, each left out in turn, and its slope in the logarithms of the settings."""
    settings = Settings.from_logarithms(values)
    kernel = hamming_gram(group.contexts, settings.weights)
    slopes = np.zeros_like(kernel)
    targets = group.features[group.chunks]
    loss = ridge_slope = sharpness_slope = 0.0
    for part in np.unique(group.folds):
        out, rest = np.flatnonzero(group.folds == part), np.flatnonzero(group.folds != part)
        if not len(rest):
            continue
        system = kernel[np.ix_(rest, rest)] + settings.offset
        system[np.diag_indices(len(rest))] += settings.ridge
        factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
        dual = cho_solve(factor, targets[rest], check_finite=False)
        across = kernel[np.ix_(out, rest)] + settings.offset
        nearness = nearness_to_chunks(across @ dual, group.features)
        probabilities = np.exp(log_softmax(settings.sharpness * nearness, group.options[out]))
        right = probabilities[np.arange(len(out)), group.chunks[out]]
        loss -= float(np.sum(np.log(np.maximum(right, 1e-300))))
        # the slope runs backwards through the softmax, the scores and the ridge
        excess = probabilities
        excess[np.arange(len(out)), group.chunks[out]] -= 1.0
        sharpness_slope += float(np.sum(excess * nearness))
        by_point = settings.sharpness * excess @ group.features
        by_system = -cho_solve(factor, across.T @ by_point, check_finite=False) @ dual.T
        slopes[np.ix_(out, rest)] += by_point @ dual.T
        slopes[np.ix_(rest, rest)] += by_system
        ridge_slope += float(np.trace(by_system))
    by_weight = weight_slopes(group.contexts, slopes * kernel)
    slope = np.concatenate([by_weight, [ridge_slope, float(slopes.sum()), sharpness_slope]])
    return loss, slope * np.exp(values)


def nearness_to_chunks(points: np.ndarray, features: np.ndarray) -> np.ndarray:
    """−½‖h − ψ_c‖² for each point h and chunk c, less −½‖h‖², which is the same for all c."""
    return points @ features.T - 0.5 * np.sum(features**2, axis=1)


def log_softmax(scores: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """The logarithm of the softmax of each row over its allowed entries, −∞ elsewhere."""
    scores = np.where(allowed, scores, -np.inf)
    scores = scores - scores.max(axis=1, keepdims=True)
    return scores - np.log(np.sum(np.exp(scores), axis=1, keepdims=True))
