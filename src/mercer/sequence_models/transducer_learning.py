"""The log-linear model of a transducer's steps: labels of features, probabilities, and learning by stochastic descent."""

from __future__ import annotations

import numpy as np

from mercer.core.compiled import compiled
from mercer.sequence_models.transducer_features import DROP, REPEATS, WRITE

_SURE = -0.005  # a step with a higher log-probability teaches nothing


@compiled
def labels_of(action: int, near: np.ndarray, actions: int, groups: np.ndarray, found: np.ndarray) -> int:
    """Put the labels whose weights an action's score sums into `found`, and return their number."""
    found[0] = action
    if action < WRITE:
        return 1
    letter, k = action - WRITE, 1
    for repeat, other in ((0, near[1]), (1, near[2]), (2, near[0])):
        if letter == other:
            found[k] = actions + repeat
            k += 1
    found[k] = actions + REPEATS + groups[letter]
    return k + 1


@compiled
def label_lists(  # noqa: C901, PLR0913
    rows: np.ndarray,
    row_starts: np.ndarray,
    per_template: np.ndarray,
    counts: np.ndarray,
    taken: np.ndarray,
    near: np.ndarray,
    actions: int,
    groups: np.ndarray,
    fewest: int,
) -> tuple[np.ndarray, np.ndarray]:
    """List the labels that each feature has a weight for, as starts and labels.

    A feature seen `fewest` times or more has those that occurred in its context with any tags, so that tags can be against them.
    """
    known = len(counts)
    head = np.full(known, -1, dtype=np.int64)
    room = len(rows) + 1024
    link, label = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int16)
    found = np.empty(REPEATS + 2, dtype=np.int64)
    used = 0
    for step in range(len(taken)):
        number = labels_of(taken[step], near[step], actions, groups, found)
        for q in range(row_starts[step], row_starts[step + 1], per_template[step]):  # the empty view of each template
            for j in range(number):
                place = head[rows[q]]
                while place >= 0 and label[place] != found[j]:
                    place = link[place]
                if place < 0:
                    link[used], label[used] = head[rows[q]], found[j]
                    head[rows[q]] = used
                    used += 1
                    if used == room:
                        link, label, room = np.append(link, link), np.append(label, label), 2 * room
    for step in range(len(taken)):
        for q in range(row_starts[step], row_starts[step + 1]):
            r = rows[q]
            if counts[r] >= fewest and head[r] < 0:
                place = head[rows[q - (q - row_starts[step]) % per_template[step]]]
                while place >= 0:
                    link[used], label[used] = head[r], label[place]
                    head[r] = used
                    used += 1
                    if used == room:
                        link, label, room = np.append(link, link), np.append(label, label), 2 * room
                    place = link[place]
    starts, labels = np.zeros(known + 1, dtype=np.int64), np.empty(used, dtype=np.int16)
    end = 0
    for r in range(known):
        place = head[r]
        while place >= 0:
            labels[end] = label[place]
            end += 1
            place = link[place]
        starts[r + 1] = end
    return starts, labels


@compiled
def log_probabilities(sums: np.ndarray, near: np.ndarray, actions: int, groups: np.ndarray, logs: np.ndarray) -> None:
    """Put the log-probability of each action into `logs`, from the sums of weights of all labels."""
    highest = -np.inf
    for a in range(actions):
        value = sums[a]
        if a == DROP and (
            near[0] == 0 or near[3] > 0
        ):  # nothing is left to drop, or letters are dropped before writing
            value = -np.inf
        elif a >= WRITE:
            letter = a - WRITE
            if letter == near[1]:
                value += sums[actions]
            if letter == near[2]:
                value += sums[actions + 1]
            if letter == near[0]:
                value += sums[actions + 2]
            value += sums[actions + REPEATS + groups[letter]]
        logs[a] = value
        highest = max(highest, value)
    total = 0.0
    for a in range(actions):
        total += np.exp(logs[a] - highest)
    total = highest + np.log(total)
    for a in range(actions):
        logs[a] -= total


@compiled
def descend(  # noqa: PLR0913
    order: np.ndarray,
    rows: np.ndarray,
    row_starts: np.ndarray,
    taken: np.ndarray,
    near: np.ndarray,
    starts: np.ndarray,
    labels: np.ndarray,
    weights: np.ndarray,
    actions: int,
    groups: np.ndarray,
    rate: float,
) -> float:
    """Go once through the steps in `order`, each a step down the slope of −log p, and return the sum of −log p before each."""
    sums, logs = np.zeros(actions + REPEATS + len(groups)), np.zeros(actions)
    excess, found = np.zeros(len(sums)), np.empty(REPEATS + 2, dtype=np.int64)
    loss = 0.0
    for step in order:
        sums[:] = 0.0
        for z in range(row_starts[step], row_starts[step + 1]):
            for q in range(starts[rows[z]], starts[rows[z] + 1]):
                sums[labels[q]] += weights[q]
        log_probabilities(sums, near[step], actions, groups, logs)
        loss -= logs[taken[step]]
        if logs[taken[step]] > _SURE:
            continue
        excess[:] = 0.0
        for a in range(actions):
            change = np.exp(logs[a]) - int(a == taken[step])
            for j in range(labels_of(a, near[step], actions, groups, found)):
                excess[found[j]] += change
        pace = rate / (row_starts[step + 1] - row_starts[step])
        for z in range(row_starts[step], row_starts[step + 1]):
            for q in range(starts[rows[z]], starts[rows[z] + 1]):
                weights[q] -= pace * excess[labels[q]]
    return loss
