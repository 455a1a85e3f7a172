"""Beam search over the actions of a transducer, and the probability of given actions."""

from __future__ import annotations

import numpy as np

from mercer.core.compiled import compiled
from mercer.sequence_models.transducer_features import (
    COPY,
    DROP,
    REPEATS,
    TEMPLATES,
    WRITE,
    advance,
    feature_key,
    fill_templates,
    letter_at,
    slot_of,
)
from mercer.sequence_models.transducer_learning import log_probabilities

_BEHIND = -5.0  # a partial form so much less likely than the best is dropped
_UNLIKELY = -7.0  # an action with a lower log-probability is not followed, nor a form so much less likely than the best


@compiled
def step_logs(  # noqa: PLR0913
    x: np.ndarray,
    i: int,
    out: np.ndarray,
    m: int,
    region: tuple[int, int],
    act: int,
    views: np.ndarray,
    info: np.ndarray,
    kinds: np.ndarray,
    groups: np.ndarray,
    keys: np.ndarray,
    rows: np.ndarray,
    starts: np.ndarray,
    labels: np.ndarray,
    weights: np.ndarray,
    logs: np.ndarray,
) -> None:
    """Put the log-probabilities of the actions in a state into `logs`."""
    hashes, near = np.empty(TEMPLATES, dtype=np.uint64), np.empty(4, dtype=np.int64)
    sums = np.zeros(len(logs) + REPEATS + len(groups))
    fill_templates(x, i, out, m, region, act, kinds, info, hashes)
    for t in range(TEMPLATES):
        for view in views:
            place = slot_of(keys, feature_key(hashes[t], view))
            if keys[place] != np.uint64(0):
                for q in range(starts[rows[place]], starts[rows[place] + 1]):
                    sums[labels[q]] += weights[q]
    near[0], near[1] = letter_at(x, len(x), i), letter_at(out, m, m - 1)
    near[2], near[3] = letter_at(out, m, m - 2), int(m > region[0])
    log_probabilities(sums, near, len(logs), groups, logs)


@compiled
def forced(  # noqa: PLR0913
    x: np.ndarray,
    views: np.ndarray,
    info: np.ndarray,
    kinds: np.ndarray,
    groups: np.ndarray,
    keys: np.ndarray,
    rows: np.ndarray,
    starts: np.ndarray,
    labels: np.ndarray,
    weights: np.ndarray,
    actions: np.ndarray,
    ends: np.ndarray,
) -> np.ndarray:
    """Return the log-probability of each of several rows of actions, put together in `actions` and ending at `ends`.

    The steps that a row has in common with the one before it are not done again, so rows should be sorted.
    """
    found, longest, start = np.zeros(len(ends)), 0, 0
    for end in ends:
        longest, start = max(longest, end - start), end
    out, logs = np.zeros(longest + 1, dtype=np.int64), np.empty((longest, WRITE + len(groups)))
    states, sums = np.zeros((longest + 1, 5), dtype=np.int64), np.zeros(longest + 1)
    states[0, 4] = 3
    start, before = 0, actions[:0]
    for row in range(len(ends)):
        mine, same = actions[start : ends[row]], 0
        while same < min(len(mine), len(before)) and mine[same] == before[same]:
            same += 1
        for k in range(same, len(mine)):
            i, m, act = states[k, 0], states[k, 1], states[k, 4]
            region = (states[k, 2], states[k, 3])
            if k > same or same == len(before):
                step_logs(
                    x, i, out, m, region, act, views, info, kinds, groups, keys, rows, starts, labels, weights, logs[k]
                )
            sums[k + 1] = sums[k] + logs[k, mine[k]]
            i, m, region, act = advance(x, i, out, m, region, mine[k])
            states[k + 1, 0], states[k + 1, 1], states[k + 1, 4] = i, m, act
            states[k + 1, 2], states[k + 1, 3] = region
        found[row] = sums[len(mine)]
        start, before = ends[row], mine
    return found


@compiled
def beam(  # noqa: PLR0913
    x: np.ndarray,
    views: np.ndarray,
    info: np.ndarray,
    kinds: np.ndarray,
    groups: np.ndarray,
    keys: np.ndarray,
    rows: np.ndarray,
    starts: np.ndarray,
    labels: np.ndarray,
    weights: np.ndarray,
    width: int,
    limit: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the `width` best outputs found, of at most `limit` letters: letters, lengths and log-probabilities, best first."""
    number = WRITE + len(groups)
    outs, after = np.zeros((width, limit + 1), dtype=np.int64), np.zeros((width, limit + 1), dtype=np.int64)
    states, next_states = np.zeros((width, 5), dtype=np.int64), np.zeros((width, 5), dtype=np.int64)
    scores, next_scores = np.zeros(width), np.zeros(width)
    done, lengths, totals = (
        np.zeros((width, limit + 1), dtype=np.int64),
        np.zeros(width, dtype=np.int64),
        np.zeros(width),
    )
    finished, live = 0, 1
    states[0, 4] = 3
    logs, options = np.empty(number), np.empty(width * number)
    parents, chosen = np.empty(width * number, dtype=np.int64), np.empty(width * number, dtype=np.int64)
    while live:
        found = 0
        for b in range(live):
            i, m, act = states[b, 0], states[b, 1], states[b, 4]
            region, out = (states[b, 2], states[b, 3]), outs[b]
            step_logs(x, i, out, m, region, act, views, info, kinds, groups, keys, rows, starts, labels, weights, logs)
            for a in range(number):
                score = scores[b] + logs[a]
                if logs[a] < _UNLIKELY or (finished == width and score <= totals[width - 1]):
                    continue
                if finished and score < totals[0] + _UNLIKELY:
                    continue
                if a == COPY and i == len(x):
                    finished = min(finished + 1, width)
                    place = finished - 1
                    while place > 0 and totals[place - 1] < score:
                        done[place], lengths[place], totals[place] = (
                            done[place - 1],
                            lengths[place - 1],
                            totals[place - 1],
                        )
                        place -= 1
                    done[place], lengths[place], totals[place] = out, m, score
                elif m < limit or a == DROP:
                    options[found], parents[found], chosen[found] = score, b, a
                    found += 1
        live, order = 0, np.argsort(-options[:found])[:width]
        for place in order:
            b = parents[place]
            if options[place] < options[order[0]] + _BEHIND:
                break
            if finished < width or options[place] > totals[width - 1]:
                after[live] = outs[b]
                region = (states[b, 2], states[b, 3])
                i, m, region, act = advance(x, states[b, 0], after[live], states[b, 1], region, chosen[place])
                next_states[live, 0], next_states[live, 1], next_states[live, 4] = i, m, act
                next_states[live, 2], next_states[live, 3] = region
                next_scores[live] = options[place]
                live += 1
        outs, after, states, next_states, scores, next_scores = after, outs, next_states, states, next_scores, scores
    return done[:finished], lengths[:finished], totals[:finished]
