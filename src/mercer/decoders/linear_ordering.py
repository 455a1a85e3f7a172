"""The order of items with the largest sum of pairwise gains, and a bound on that sum for any order."""

from __future__ import annotations

import time
from functools import cache
from itertools import permutations
from typing import NamedTuple

import numpy as np

from mercer.structures.rankings import pair_signs

COMPARED = 6  # most items for which all orders (720) are compared
_ITEMS = 62  # most items of one component: a set of them is the bits of an int64


class Ordered(NamedTuple):
    """Items, best first, the gain of that order, and a bound on how much more any order has (0: it is the best)."""

    order: np.ndarray
    value: float
    gap: float


def best_order(gains: np.ndarray, width: int, time_limit: float) -> Ordered:
    r"""The order of largest gain, :math:`\max_\pi \sum_{i \text{ ahead of } j} g_{ij}` for antisymmetric g.

    Items fall into components: all of one are better than all of the next, pair by pair, so that no order need mix them. Within
    a component the search runs over sets of leading items: of all orders of one set only the best is kept (dynamic programming
    over subsets), and sets whose bound is below the best order known are dropped (branch and bound), as are the least promising
    beyond `width` of one size or after `time_limit` seconds, for which the gap accounts.
    """
    deadline = time.perf_counter() + time_limit
    parts, gap = [], 0.0
    for items in components(gains):
        found = _search(gains[np.ix_(items, items)], width, deadline)
        parts.append(items[found.order])
        gap += found.gap
    order = np.concatenate(parts)
    return Ordered(order, _value(gains, order), gap)


def components(gains: np.ndarray) -> list[np.ndarray]:
    """Items in groups, each group ahead of the next pair by pair; within a group, items beat each other in a cycle."""
    items = len(gains)
    count = wins(gains[None])[0]
    ordered = np.argsort(-count, kind="stable")
    # the first m items win all their pairs with the rest exactly when their wins add up to the most there can be
    m = np.arange(1, items + 1)
    closed = np.cumsum(count[ordered]) == m * (m - 1) // 2 + m * (items - m)
    return np.split(ordered, np.flatnonzero(closed)[:-1] + 1)


def wins(gains: np.ndarray) -> np.ndarray:
    """Number of other items each item should precede, for each matrix of gains; at a gain of 0, the first listed."""
    items = np.arange(gains.shape[-1])
    return np.sum((gains > 0) | ((gains == 0) & (items[:, None] < items)), axis=-1)


def best_of_all(pairs: np.ndarray, items: int) -> np.ndarray:
    """The position of each item in the best of all orders, the first of them, for rows of gains of pairs i < j."""
    orders, signs = _all_orders(items)
    return orders[np.argmax(pairs @ signs.T, axis=1)]


@cache
def _all_orders(items: int) -> tuple[np.ndarray, np.ndarray]:
    places = np.asarray(list(permutations(range(items))), dtype=np.int64)
    return places, pair_signs(places)


def _value(gains: np.ndarray, order: np.ndarray) -> float:
    return float(np.triu(gains[np.ix_(order, order)], 1).sum())


def _search(gains: np.ndarray, width: int, deadline: float) -> Ordered:
    """The best order of one component, by sets of leading items, one size after the other."""
    items = len(gains)
    if items <= COMPARED:
        order = np.argsort(best_of_all(gains[np.triu_indices(items, 1)][None, :], items)[0])
        return Ordered(order, _value(gains, order), 0.0)
    start = _improved(gains, np.argsort(-gains.sum(axis=1), kind="stable"))
    known = _value(gains, start)
    triples, costs = _cycles(gains)
    limit = np.abs(gains).sum() / 2 - costs.sum()
    rounding = 1e-12 * max(1.0, abs(known))
    if items > _ITEMS or limit <= known + rounding:
        return Ordered(start, known, max(float(limit - known) - rounding, 0.0))
    bits = 1 << np.arange(items, dtype=np.int64)
    cycles = bits[triples].sum(axis=1)
    sets, values = np.zeros(1, dtype=np.int64), np.zeros(1)
    history: list[tuple[np.ndarray, np.ndarray]] = []
    dropped = -np.inf
    for _ in range(items):
        lacks = (sets[:, None] & bits) == 0
        # an item that comes next is ahead of all that are left, whatever their order
        grown = values[:, None] + lacks @ gains.T
        parent, item = np.nonzero(lacks)
        wider, value = sets[parent] | bits[item], grown[parent, item]
        by_set = np.lexsort((-value, wider))
        first = by_set[np.r_[True, np.diff(wider[by_set]) != 0]]
        sets, values, parent, item = wider[first], value[first], parent[first], item[first]
        left = ((sets[:, None] & bits) == 0).astype(float)
        reach = values + ((left @ np.abs(gains)) * left).sum(axis=1) / 2 - ((sets[:, None] & cycles) == 0) @ costs
        kept = np.flatnonzero(reach > known + rounding)
        room = width if time.perf_counter() < deadline else 1
        if len(kept) > room:
            by_reach = kept[np.argsort(-reach[kept], kind="stable")]
            dropped = max(dropped, float(reach[by_reach[room]]))
            kept = np.sort(by_reach[:room])
        if len(kept) == 0:
            return Ordered(start, known, max(dropped - known, 0.0))
        sets, values = sets[kept], values[kept]
        history.append((parent[kept], item[kept]))
    items_taken, at = [], 0
    for parent, item in reversed(history):
        items_taken.append(int(item[at]))
        at = int(parent[at])
    order = _improved(gains, np.asarray(items_taken[::-1]))
    value = _value(gains, order)
    return Ordered(order, value, max(dropped - value, 0.0))


def _cycles(gains: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cycles of three items, and a bound on the loss of each, twice its smallest gain; cycles share the gain of a pair."""
    spare = np.maximum(gains, 0.0)
    triples, costs = [], []
    for i, j in zip(*np.nonzero(gains > 0), strict=True):
        loss = np.minimum(np.minimum(spare[j], spare[:, i]), spare[i, j])
        k = int(np.argmax(loss))
        if loss[k] > 0:
            triples.append((i, j, k))
            costs.append(2.0 * loss[k])
            for a, b in ((i, j), (j, k), (k, i)):
                spare[a, b] -= loss[k]
    return np.asarray(triples, dtype=np.intp).reshape(-1, 3), np.asarray(costs)


def _improved(gains: np.ndarray, order: np.ndarray) -> np.ndarray:
    """The order after moving single items to better places until no move helps."""
    order = order.copy()
    moved = True
    while moved:
        moved = False
        for at in range(len(order)):
            item, rest = order[at], np.delete(order, at)
            # gain of standing at each place among the others
            ahead = np.r_[0.0, np.cumsum(gains[rest, item])]
            place = ahead + np.r_[np.cumsum(gains[item, rest][::-1])[::-1], 0.0]
            to = int(np.argmax(place))
            if place[to] > place[at] + 1e-12 * (1.0 + abs(place[at])):
                order, moved = np.insert(rest, to, item), True
    return order
