"""How much to trust each of several scores of the same candidates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize


def trust_in_scores(
    scores: Sequence[np.ndarray], correct: Sequence[np.ndarray], prior: np.ndarray, strength: float = 10.0
) -> np.ndarray:
    r"""Weights w that make the correct candidates of each list likely.

    .. math:: \min_w \; -\sum_i \log \frac{\sum_{c \text{ correct}} e^{w^\top s_{ic}}}{\sum_c e^{w^\top s_{ic}}}
              + \frac{\text{strength}}{2} \lVert w - \text{prior} \rVert^2

    Parameters
    ----------
    scores : sequence of arrays (candidates, scores)
        One list of candidates for each input.
    correct : sequence of boolean arrays
        Which candidates are correct; lists without a correct candidate, or without a wrong one, take no part.
    prior : array
        The weights to stay near.
    strength : float
        How near.

    Examples
    --------
    >>> lists = [np.array([[0.0, -2.0], [-3.0, 0.0]])] * 20
    >>> trusted = trust_in_scores(lists, [np.array([True, False])] * 20, prior=np.array([0.5, 0.5]))
    >>> bool(trusted[0] > trusted[1])
    True
    """
    useful = [(s, c) for s, c in zip(scores, correct, strict=True) if c.any() and not c.all()]
    if not useful:
        return np.asarray(prior, dtype=float)
    rows = np.concatenate([s for s, _ in useful])
    right = np.concatenate([c for _, c in useful])
    starts = np.cumsum([0] + [len(c) for _, c in useful[:-1]])
    group = np.repeat(np.arange(len(useful)), [len(c) for _, c in useful])

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        values = rows @ w
        values -= np.maximum.reduceat(values, starts)[group]
        all_of = np.exp(values)
        right_of = np.where(right, all_of, 0.0)
        total, hit = np.add.reduceat(all_of, starts), np.maximum(np.add.reduceat(right_of, starts), 1e-300)
        slope = (all_of / total[group] - right_of / hit[group]) @ rows
        away = w - prior
        return float(np.sum(np.log(total / hit)) + 0.5 * strength * away @ away), slope + strength * away

    return minimize(loss, prior, jac=True, method="L-BFGS-B").x
