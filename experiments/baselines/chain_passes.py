"""Compiled loops of the max-margin chain: the best labelling, and training one sequence at a time."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def best_labelling(nodes: np.ndarray, transitions: np.ndarray) -> np.ndarray:
    """Find labels y that maximise Σ nodes[t, y_t] + Σ transitions[y_t, y_{t+1}] (Viterbi); of equals the first."""
    length, labels = nodes.shape
    best = nodes[0].copy()
    back = np.zeros((length, labels), dtype=np.int64)
    for t in range(1, length):
        reached = np.empty(labels)
        for b in range(labels):
            top, source = best[0] + transitions[0, b], 0
            for a in range(1, labels):
                value = best[a] + transitions[a, b]
                if value > top:
                    top, source = value, a
            reached[b] = top + nodes[t, b]
            back[t, b] = source
        best = reached
    found = np.empty(length, dtype=np.int64)
    found[length - 1] = np.argmax(best)
    for t in range(length - 1, 0, -1):
        found[t - 1] = back[t, found[t]]
    return found


@njit(cache=True)
def _worst_violation(scores: np.ndarray, transitions: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Find the labelling that maximises score + number of wrong labels."""
    augmented = scores + 1.0
    for t in range(len(truth)):
        augmented[t, truth[t]] -= 1.0
    return best_labelling(augmented, transitions)


@njit(cache=True)
def _difference(truth: np.ndarray, other: np.ndarray, labels: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Subtract the features of another labelling from those of the truth (nodes, transitions), and count labels that differ."""
    nodes, edges = np.zeros((len(truth), labels)), np.zeros((labels, labels))
    wrong = 0.0
    for t in range(len(truth)):
        nodes[t, truth[t]] += 1.0
        nodes[t, other[t]] -= 1.0
        wrong += truth[t] != other[t]
        if t > 0:
            edges[truth[t - 1], truth[t]] += 1.0
            edges[other[t - 1], other[t]] -= 1.0
    return nodes, edges, wrong


@njit(cache=True)
def one_pass(  # noqa: PLR0913 - numba takes arrays, not objects
    gram: np.ndarray,
    truth: np.ndarray,
    starts: np.ndarray,
    order: np.ndarray,
    C: float,
    nodes: np.ndarray,
    edges: np.ndarray,
    losses: np.ndarray,
    move: bool,
) -> tuple[float, float]:
    """Run block-coordinate Frank-Wolfe over the sequences in `order`; return the sum of the duality gaps and the gain.

    `nodes` (parts × labels), `edges` (sequences × labels × labels) and `losses` (sequences) are the convex combinations of
    the dual; they are changed in place if `move` is True.
    """
    labels = nodes.shape[1]
    total = np.zeros((labels, labels))
    for i in range(len(edges)):
        total += edges[i]
    gap, gain = 0.0, 0.0
    for i in order:
        part = slice(starts[i], starts[i + 1])
        scores = C * (gram[part] @ nodes)
        worst = _worst_violation(scores, C * total, truth[part])
        towards, crossing, wrong = _difference(truth[part], worst, labels)
        step, bend = towards - nodes[part], crossing - edges[i]
        slope = wrong - losses[i] - np.sum(step * scores) - C * np.sum(bend * total)
        gap += C * slope
        if not move or slope <= 0.0:
            continue
        own = np.ascontiguousarray(gram[part, part])
        curvature = C * (np.sum(step * (own @ step)) + np.sum(bend * bend))
        size = 1.0 if curvature <= slope else slope / curvature
        gain += C * size * (slope - 0.5 * size * curvature)
        nodes[part] += size * step
        edges[i] += size * bend
        total += size * bend
        losses[i] += size * (wrong - losses[i])
    return gap, gain
