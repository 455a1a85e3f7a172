"""Sums over all paths of a chain, its best paths, and the slopes of the log-likelihood, compiled.

A chain has for each position a symbol with a run of options, numbered ``starts[s]`` to ``starts[s + 1]``. An option has a
number within its symbol and one within its kind (`labels`), which say where the weights of its features are, and two more
(`ends`) for the tables of neighbouring options.
"""

from __future__ import annotations

import numpy as np

from mercer.core.compiled import compiled

NOWHERE = -1e30
LEAST = -600.0  # logarithm of the least share of a step among those at its position: no sum of paths is zero


@compiled
def scores_of_options(  # noqa: PLR0913
    weights: np.ndarray,
    features: np.ndarray,
    own: int,
    labels: np.ndarray,
    first_scores: np.ndarray,
    starts: np.ndarray,
    symbols: np.ndarray,
) -> np.ndarray:
    """Return the sum of the weights of each option at each position; the first `own` features are those of the symbol.

    An option that is the only one of its symbol has its first score alone: its weights would change no choice.
    """
    most = 1
    for s in symbols:
        most = max(most, starts[s + 1] - starts[s])
    found = np.zeros((len(symbols), most))
    for i in range(len(symbols)):
        first, here = starts[symbols[i]], starts[symbols[i] + 1] - starts[symbols[i]]
        for k in range(here):
            found[i, k] = first_scores[first + k]
        if here > 1:
            for j in range(features.shape[1]):
                place, numbers = features[i, j], labels[int(j >= own)]
                if place >= 0:
                    for k in range(here):
                        found[i, k] += weights[place + numbers[first + k]]
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
def shares_of_paths(options: np.ndarray, steps: np.ndarray, counts: np.ndarray) -> float:
    """Put the share of paths through each two neighbouring options into `steps`, and return the logarithm of the sum of all.

    Sums are scaled at each position, so that no path needs more than one exponential for each step.
    """
    n, most = options.shape
    before, after, scales = np.zeros((n, most)), np.ones((n, most)), np.zeros(n)
    total = 0.0
    for i in range(n):
        here, there = counts[i], 1 if i == 0 else counts[i - 1]
        top = NOWHERE
        for q in range(there):
            for k in range(here):
                steps[i, q, k] += options[i, k]
                top = max(top, steps[i, q, k])
        for q in range(there):
            share = 1.0 if i == 0 else before[i - 1, q]
            for k in range(here):
                steps[i, q, k] = np.exp(max(steps[i, q, k] - top, LEAST))
                before[i, k] += share * steps[i, q, k]
        scales[i] = before[i, :here].sum()
        before[i, :here] /= scales[i]
        total += top + np.log(scales[i])
    for i in range(n - 1, -1, -1):
        for q in range(1 if i == 0 else counts[i - 1]):
            left = 0.0
            for k in range(counts[i]):
                onward = steps[i, q, k] * after[i, k] / scales[i]
                left += onward
                steps[i, q, k] = onward * (1.0 if i == 0 else before[i - 1, q])
            if i:
                after[i - 1, q] = left
    return total


@compiled
def chain_loss(  # noqa: PLR0913
    weights: np.ndarray,
    features: np.ndarray,
    own: int,
    labels: np.ndarray,
    first_scores: np.ndarray,
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
        options = scores_of_options(weights, own_features, own, labels, first_scores, starts, own_symbols)
        steps = scores_of_steps(weights, places, sizes, ends, starts, own_symbols, options.shape[1])
        for i in range(len(own_symbols)):
            loss -= options[i, own_right[i]] + steps[i, 0 if i == 0 else own_right[i - 1], own_right[i]]
        loss += shares_of_paths(options, steps, counts)
        for i in range(len(own_symbols)):
            first, here, there = starts[own_symbols[i]], counts[i], 1 if i == 0 else counts[i - 1]
            if here == 1 and there == 1:
                continue
            steps[i, 0 if i == 0 else own_right[i - 1], own_right[i]] -= 1.0
            for t in range(len(places)):
                for q in range(there):
                    last = sizes[t] - 1 if i == 0 else ends[t, starts[own_symbols[i - 1]] + q]
                    row = places[t] + sizes[t] * last
                    for k in range(here):
                        slope[row + ends[t, first + k]] += steps[i, q, k]
            if here > 1:
                excess = options[i]  # not needed any more
                for k in range(here):
                    excess[k] = steps[i, :there, k].sum()
                _add_to_weights(slope, excess[:here], own_features[i], own, labels[:, first : first + here])
    return loss


@compiled
def _add_to_weights(slope: np.ndarray, excess: np.ndarray, features: np.ndarray, own: int, labels: np.ndarray) -> None:
    """Add the slope of each option's score to those of the weights it is the sum of."""
    for j in range(len(features)):
        place, numbers = features[j], labels[int(j >= own)]
        if place >= 0:
            for k in range(len(excess)):
                slope[place + numbers[k]] += excess[k]


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
