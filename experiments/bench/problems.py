"""Synthetic problems for the benchmarks."""

from __future__ import annotations

import numpy as np

SEED = 0

FEATURES = 20
"""Features of the input vectors, and of outputs that are known through a kernel."""

INPUT_SCALE = 6.0
"""Near the median distance of the inputs, √(2·20) ≈ 6.3."""

OUTPUT_SCALE = 5.0
"""Near the median distance of the outputs."""


def vectors(n: int, outputs: int = FEATURES, features: int = FEATURES) -> tuple[np.ndarray, np.ndarray]:
    """Draw normal inputs in 20 dimensions or another number, and outputs that are smooth functions of them with noise."""
    random = np.random.default_rng(SEED)
    inputs = random.standard_normal((n, features))
    mix = random.standard_normal((features, outputs)) / np.sqrt(features)
    return inputs, np.tanh(inputs @ mix) + 0.5 * random.standard_normal((n, outputs))


def clusters(n: int, features: int, outputs: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw inputs from 30 clusters, few of them large, and outputs that are smooth functions of them with noise."""
    random = np.random.default_rng(SEED)
    shares = 1.0 / np.arange(1, 31) ** 1.5
    centres, spread = 3.0 * random.standard_normal((30, features)), 0.5 * random.standard_normal((6, features))
    own = random.choice(30, n, p=shares / shares.sum())
    inputs = centres[own] + random.standard_normal((n, 6)) @ spread
    mix = random.standard_normal((features, outputs)) / np.sqrt(features) / inputs.std()
    return inputs, np.tanh(inputs @ mix) + 0.1 * random.standard_normal((n, outputs))


def strings(n: int, letters: int, shortest: int, longest: int) -> list[str]:
    """Draw strings over the first `letters` letters, lengths uniform between the limits."""
    random = np.random.default_rng(SEED)
    alphabet = [chr(ord("a") + i) for i in range(letters)]
    lengths = random.integers(shortest, longest + 1, size=n)
    return ["".join(random.choice(alphabet, size=length)) for length in lengths]
