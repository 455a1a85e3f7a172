"""Sums over all paths of a chain, its best paths, and the slopes of the log-likelihood, compiled.

A chain has for each position a symbol with a run of options, numbered ``starts[s]`` to ``starts[s + 1]``. An option has a
number within its symbol and one within its kind (`labels`), which say where the weights of its features are, and two more
(`ends`) for the tables of neighbouring options.
"""

from __future__ import annotations

import numpy as np

from mercer.core.compiled import compiled

NOWHERE = -1e30


@compiled
def scores_of_options(  # noqa: PLR0913
    weights: np.ndarray, features: np.ndarray, own: int, labels: np.ndarray, starts: np.ndarray, symbols: np.ndarray
) -> np.ndarray:
    """Return the sum of the weights of each option at each position; the first `own` features are those of the symbol."""
    most = 1
    for s in symbols:
        most = max(most, starts[s + 1] - starts[s])
    found = np.zeros((len(symbols), most))
    for i in range(len(symbols)):
        first = starts[symbols[i]]
        for j in range(features.shape[1]):
            place = features[i, j]
            if place >= 0:
                for k in range(starts[symbols[i] + 1] - first):
                    found[i, k] += weights[place + labels[int(j >= own), first + k]]
    return found


@compiled
def scores_of_steps(  # noqa: PLR0913
    tables: np.ndarray,
    places: np.ndarray,
    sizes: np.ndarray,
    ends: np.ndarray,
    starts: np.ndarray,
    symbols: np.ndarray,
    most: int,
) -> np.ndarray:
    """Return the score of each option (last axis) after each option of the position before; at the first, after the start."""
    found = np.zeros((len(symbols), most, most))
    for i in range(len(symbols)):
        first, here = starts[symbols[i]], starts[symbols[i] + 1] - starts[symbols[i]]
        before = 0 if i == 0 else starts[symbols[i - 1]]
        there = 1 if i == 0 else starts[symbols[i - 1] + 1] - before
        for t in range(len(places)):
            for q in range(there):
                row = places[t] + sizes[t] * (sizes[t] - 1 if i == 0 else ends[t, before + q])
                for k in range(here):
                    found[i, q, k] += tables[row + ends[t, first + k]]
    return found


@compiled
def log_sum(values: np.ndarray) -> float:
    """Return log Σ exp of some numbers."""
    top = values.max()
    return top + np.log(np.sum(np.exp(values - top)))


@compiled
def forward_sums(options: np.ndarray, steps: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the logarithm of the sum over all paths up to each option; `counts` are the numbers of options."""
    found = np.full(options.shape, NOWHERE)
    found[0, : counts[0]] = options[0, : counts[0]] + steps[0, 0, : counts[0]]
    for i in range(1, len(options)):
        for k in range(counts[i]):
            found[i, k] = options[i, k] + log_sum(found[i - 1, : counts[i - 1]] + steps[i, : counts[i - 1], k])
    return found


@compiled
def backward_sums(options: np.ndarray, steps: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the logarithm of the sum over all paths from each option, itself not counted, to the end."""
    n = len(options)
    found = np.zeros(options.shape)
    for i in range(n - 2, -1, -1):
        after = counts[i + 1]
        for k in range(counts[i]):
            found[i, k] = log_sum(found[i + 1, :after] + options[i + 1, :after] + steps[i + 1, k, :after])
    return found


@compiled
def chain_loss(  # noqa: PLR0913
    weights: np.ndarray,
    features: np.ndarray,
    own: int,
    labels: np.ndarray,
    places: np.ndarray,
    sizes: np.ndarray,
    ends: np.ndarray,
    starts: np.ndarray,
    symbols: np.ndarray,
    words: np.ndarray,
    right: np.ndarray,
    slope: np.ndarray,
) -> float:
    """Return −Σ log p(right options) over words, which begin at the positions `words`, and add its derivative to `slope`."""
    loss = 0.0
    for word in range(len(words) - 1):
        mine = slice(words[word], words[word + 1])
        own_symbols, own_features, own_right = symbols[mine], features[mine], right[mine]
        counts = starts[own_symbols + 1] - starts[own_symbols]
        options = scores_of_options(weights, own_features, own, labels, starts, own_symbols)
        steps = scores_of_steps(weights, places, sizes, ends, starts, own_symbols, options.shape[1])
        before, after = forward_sums(options, steps, counts), backward_sums(options, steps, counts)
        total = log_sum(before[-1, : counts[-1]])
        loss += total
        for i in range(len(own_symbols)):
            first = starts[own_symbols[i]]
            truth, previous = own_right[i], 0 if i == 0 else own_right[i - 1]
            loss -= options[i, truth] + steps[i, previous, truth]
            for k in range(counts[i]):
                excess = np.exp(before[i, k] + after[i, k] - total) - (k == truth)
                if abs(excess) > 1e-9:
                    for j in range(own_features.shape[1]):
                        place = own_features[i, j]
                        if place >= 0:
                            slope[place + labels[int(j >= own), first + k]] += excess
                there = 1 if i == 0 else counts[i - 1]
                for q in range(there):
                    path = steps[i, q, k] + options[i, k] + after[i, k] - total + (0.0 if i == 0 else before[i - 1, q])
                    excess = np.exp(path) - (k == truth and q == previous)
                    if abs(excess) > 1e-9:
                        for t in range(len(places)):
                            last = sizes[t] - 1 if i == 0 else ends[t, starts[own_symbols[i - 1]] + q]
                            slope[places[t] + sizes[t] * last + ends[t, first + k]] += excess
    return loss


@compiled
def best_paths(options: np.ndarray, steps: np.ndarray, counts: np.ndarray, width: int) -> np.ndarray:
    """Return the `width` best paths, or all there are, best first: the number of an option for each position."""
    n, most = options.shape
    scores = np.full((n, most, width), NOWHERE)
    origins = np.zeros((n, most, width), dtype=np.int64)
    for i in range(n):
        for k in range(counts[i]):
            if i == 0:
                scores[0, k, 0] = options[0, k] + steps[0, 0, k]
                continue
            values = np.empty(counts[i - 1] * width)
            for q in range(counts[i - 1]):
                values[q * width : (q + 1) * width] = scores[i - 1, q] + steps[i, q, k]
            order = np.argsort(-values, kind="mergesort")[:width]
            scores[i, k, : len(order)] = values[order] + options[i, k]
            origins[i, k, : len(order)] = order
    last = scores[n - 1, : counts[n - 1]].copy().ravel()
    order = np.argsort(-last, kind="mergesort")[:width]
    order = order[last[order] > 0.5 * NOWHERE]
    paths = np.zeros((len(order), n), dtype=np.int64)
    for row in range(len(order)):
        place = order[row]
        for i in range(n - 1, -1, -1):
            paths[row, i] = place // width
            place = origins[i, place // width, place % width]
    return paths
